/**
 * Places of the graphs in a model: its main graph, the graphs of its functions, and the bodies of nodes. All walks over
 * graphs, and all paths of graphs, come from this file.
 */

import { MAX_BODY_DEPTH, type Graph, type Model, type ModelNode } from "./model.ts";

/** A graph of a model. */
export interface Place {
  readonly graph: Graph;
  /** The operator set versions of its nodes: the model's, or its function's. */
  readonly opsets: Readonly<Record<string, number>>;
  /** The enclosing nodes and attributes, or the function; empty for the model's own graph. */
  readonly path: readonly string[];
  /** The place of the node with this body, whose values the body sees; null for the model's graph and a function's. */
  readonly outer: Place | null;
  readonly kind: PlaceKind;
}

export type PlaceKind =
  | { readonly is: "model" }
  | { readonly is: "function"; readonly name: string; readonly domain: string }
  | { readonly is: "body"; readonly op: string; readonly attribute: string }
  /** A body by which a standard defines an operator; it is not in the file. */
  | { readonly is: "definition"; readonly op: string };

/** A node and the graph that it is in. */
export interface PlacedNode {
  readonly node: ModelNode;
  readonly place: Place;
}

/** Callbacks of a walk through a model. */
export interface Visitor {
  /** A function that is called for each graph before its nodes. */
  readonly place?: (place: Place) => void;
  /** A function that is called for nodes in order; the nodes of a body follow the node that contains the body. */
  readonly node: (placed: PlacedNode) => void;
  /** A function that is called with the path of a graph that is nested too deeply to have been read. */
  readonly tooDeep?: (path: readonly string[]) => void;
}

/** Returns the model's own graph. */
export const ownPlace = ({ graph, opsets }: Pick<Model, "opsets" | "graph">): Place => ({
  graph,
  opsets,
  path: [],
  outer: null,
  kind: { is: "model" },
});

/** Returns the place of the body by which a standard defines a node's operator. */
export const placeInside = (
  outer: Place,
  node: ModelNode,
  graph: Graph,
  opsets: Place["opsets"],
): Place => ({
  graph,
  opsets,
  path: [...outer.path, placeName(node)],
  outer,
  kind: { is: "definition", op: node.op },
});

/** Returns the outermost operator whose definition contains a place; null for a place in the model itself. */
export function definedOperator({ kind, outer }: Place): string | null {
  const around = outer && definedOperator(outer);
  return around ?? (kind.is === "definition" ? kind.op : null);
}

/** Visits the nodes of a graph and of the bodies in it. */
export const walkPlace = (place: Place, visitor: Visitor): void => walk(place, visitor, 0);

/** @param model checked by `modelFrom` */
export function walkNodes(model: Model, visitor: Visitor): void {
  walk(ownPlace(model), visitor, 0);
  const titles = new Set<string>();
  for (const { name, domain, opsets, graph } of model.functions ?? []) {
    const path = [uniqueTitle(`function ${domain}.${name}`, titles)];
    const kind = { is: "function", name, domain } as const;
    walk({ graph, opsets, path, outer: null, kind }, visitor, 0);
  }
}

function walk(place: Place, visitor: Visitor, depth: number): void {
  visitor.place?.(place);
  const titles = new Set<string>();
  for (const node of place.graph.nodes) {
    visitor.node({ node, place });
    const bodies = attributeBodies(node);
    if (bodies.length === 0) continue;
    const outer = [...place.path, uniqueTitle(placeName(node), titles)];
    for (const { attribute, graphs } of bodies) {
      if (graphs === null || depth >= MAX_BODY_DEPTH) {
        visitor.tooDeep?.([...outer, attribute]);
        continue;
      }
      for (const [position, graph] of graphs.entries()) {
        const path = [...outer, graphs.length === 1 ? attribute : `${attribute} ${position}`];
        const kind = { is: "body", op: node.op, attribute } as const;
        const body = { ...place, graph, path, outer: place, kind };
        walk(body, visitor, depth + 1);
      }
    }
  }
}

interface Bodies {
  readonly attribute: string;
  /** The bodies; null if they are nested too deeply to have been read. */
  readonly graphs: readonly Graph[] | null;
}

function attributeBodies({ attributes }: ModelNode): readonly Bodies[] {
  const bodies: Bodies[] = [];
  for (const name of Object.keys(attributes)) {
    const attribute = attributes[name];
    if (attribute.type !== "other" || attribute.graphs === undefined) continue;
    bodies.push({ attribute: name, graphs: attribute.graphs });
  }
  return bodies;
}

/** Returns a title such as `If "x"`, from the node's name or an output. */
function placeName({ op, name, outputs }: ModelNode): string {
  const called = name || outputs[0] || "";
  return called === "" ? op : `${op} ${JSON.stringify(called)}`;
}

/** Returns a title that is unique among `titles`, so that a path identifies one place: nodes may share a name. */
function uniqueTitle(title: string, titles: Set<string>): string {
  let unique = title;
  for (let count = 2; titles.has(unique); count++) unique = `${title} #${count}`;
  titles.add(unique);
  return unique;
}
