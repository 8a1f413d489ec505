/**
 * The graphs of a model: the main graph, function graphs, and the bodies of nodes. Every walk through graphs and every
 * graph path comes from this file.
 */

import { MAX_BODY_DEPTH, type Graph, type Model, type ModelNode } from "./model.ts";

/** A graph in a model, with its location. */
export interface Place {
  readonly graph: Graph;
  /** The opset versions for the graph's nodes, from the model or the function. */
  readonly opsets: Readonly<Record<string, number>>;
  /**
   * The location of the graph, as a list of enclosing nodes and attributes, or a function. The list is empty for the
   * model's own graph.
   */
  readonly path: readonly string[];
  /** The enclosing graph, whose values a body can use; null for the model's graph and for function graphs. */
  readonly outer: Place | null;
  readonly kind: PlaceKind;
}

export type PlaceKind =
  | { readonly is: "model" }
  | { readonly is: "function"; readonly name: string; readonly domain: string }
  | { readonly is: "body"; readonly op: string; readonly attribute: string }
  /** A body in the standard's definition of an operator. The file does not contain this body. */
  | { readonly is: "definition"; readonly op: string };

/** A node with its graph's location. */
export interface PlacedNode {
  readonly node: ModelNode;
  readonly place: Place;
}

/** Callbacks of a walk through a model. */
export interface Visitor {
  /** Called for each graph, before the graph's nodes. */
  readonly place?: (place: Place) => void;
  /** Called for each node in order. Nodes in a body follow the node that contains the body. */
  readonly node: (placed: PlacedNode) => void;
  /** Called with the path of a graph that is nested too deeply to be read. */
  readonly tooDeep?: (path: readonly string[]) => void;
}

export const ownPlace = ({ graph, opsets }: Pick<Model, "opsets" | "graph">): Place => ({
  graph,
  opsets,
  path: [],
  outer: null,
  kind: { is: "model" },
});

/**
 * Returns the outermost operator whose standard definition contains the graph; null for a graph of the model itself.
 */
export function definedOperator({ kind, outer }: Place): string | null {
  const around = outer && definedOperator(outer);
  return around ?? (kind.is === "definition" ? kind.op : null);
}

/** Visits all nodes of a model, which `modelFrom` must have checked. */
export function walkNodes(model: Model, visitor: Visitor): void {
  walkPlace(ownPlace(model), visitor);
  const titles = new Set<string>();
  for (const { name, domain, opsets, graph } of model.functions ?? []) {
    const path = [uniqueTitle(`function ${domain}.${name}`, titles)];
    const kind = { is: "function", name, domain } as const;
    walkPlace({ graph, opsets, path, outer: null, kind }, visitor);
  }
}

export function walkPlace(place: Place, visitor: Visitor, depth = 0): void {
  visitor.place?.(place);
  const titles = new Set<string>();
  for (const node of place.graph.nodes) {
    visitor.node({ node, place });
    let title = "";
    for (const attribute of Object.keys(node.attributes)) {
      const one = node.attributes[attribute];
      if (one.type !== "other" || one.graphs === undefined) continue;
      title ||= uniqueTitle(placeName(node), titles);
      const outer = [...place.path, title];
      if (one.graphs === null || depth >= MAX_BODY_DEPTH) {
        visitor.tooDeep?.([...outer, attribute]);
        continue;
      }
      const isOnly = one.graphs.length === 1;
      for (const [position, graph] of one.graphs.entries()) {
        const path = [...outer, isOnly ? attribute : `${attribute} ${position}`];
        const kind = { is: "body", op: node.op, attribute } as const;
        walkPlace({ ...place, graph, path, outer: place, kind }, visitor, depth + 1);
      }
    }
  }
}

/** Returns a title such as `If "x"`, made from a node's name or an output. */
export function placeName({ op, name, outputs }: ModelNode): string {
  const called = name || outputs[0] || "";
  return called === "" ? op : `${op} ${JSON.stringify(called)}`;
}

/**
 * Returns a title that is not yet in `titles`. Several nodes may have the same name, but a path must identify one
 * graph.
 */
function uniqueTitle(title: string, titles: Set<string>): string {
  let unique = title;
  for (let count = 2; titles.has(unique); count++) unique = `${title} #${count}`;
  titles.add(unique);
  return unique;
}
