/**
 * A model's nodes by name and path, at any depth. The index covers the graph, bodies and functions, and every lookup of
 * a node by name uses it.
 */

import { malformed, TensorError } from "../../core/errors.ts";
import { nearestName } from "../../core/foreign.ts";
import { isOperator } from "../../core/operators/registry.ts";
import { checkNode, modelFrom, modelOfLists } from "./foreign-model.ts";
import { findIn, objectsFrom } from "./foreign.ts";
import { MAX_NAMES, quote } from "./graph.ts";
import { isConstantNode } from "./inline.ts";
import type { Constant, Graph, Model, ModelNode } from "./model.ts";
import { ownPlace, walkNodes, type Place, type PlacedNode } from "./places.ts";
import { hasStandardBody } from "./standard-function.ts";
import { inlinedFrom, isWithin, withoutToken } from "./runtime-names.ts";
import { walkTyped } from "./typed-walk.ts";

/** A constant or a node with a constant result, with its location. */
export type ConstantSource = Constant | PlacedNode;

/**
 * An index of a model's nodes by name. The index reads the model on demand and visits each node at most once. Create a
 * new index after the model has changed.
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 *
 * const model = readModel(readFileSync("model.onnx"));
 * const index = new NodeIndex(model);
 * const { node } = index.find("sums");
 * node.op; // "ScatterND"
 * index.family.length; // 2
 * ```
 */
export class NodeIndex {
  /** The model's opset versions and graph. */
  readonly model: Pick<Model, "opsets" | "graph">;
  readonly #given: Model;
  readonly #own: Place;
  #all: readonly PlacedNode[] | null = null;
  #defining: readonly PlacedNode[] | null = null;
  readonly #names = new Map<Graph, Map<string, number>>();

  /** @throws TensorError `malformed-file` for a value that is not a model */
  constructor(given: Model) {
    this.#given = given;
    this.model = modelOfLists(given);
    this.#own = ownPlace(this.model);
  }

  /** All nodes. Nodes in a body follow the node that contains the body, and nodes in functions come last. */
  get nodes(): readonly PlacedNode[] {
    if (this.#all !== null) return this.#all;
    const all: PlacedNode[] = [];
    walkNodes(modelFrom(this.#given), { node: (placed) => all.push(placed) });
    this.#all = all;
    return all;
  }

  /** The scatters and gathers. */
  get family(): readonly PlacedNode[] {
    return this.nodes.filter(({ node }) => isOperator(node));
  }

  /** Returns the location of a node; the model's own graph for an unknown node. */
  placeOf(node: ModelNode): Place {
    // The main graph is searched first, because visiting every node takes a thousand times as long.
    if (findIn(this.model.graph.nodes, (one) => one === node) !== undefined) return this.#own;
    const isIt = (placed: PlacedNode): boolean => placed.node === node;
    return (this.nodes.find(isIt) ?? this.#defining?.find(isIt))?.place ?? this.#own;
  }

  /** Returns nodes in the standard definitions of the model's operators. These nodes are not part of the model. */
  #inside(): readonly PlacedNode[] {
    if (this.#defining !== null) return this.#defining;
    const found: PlacedNode[] = [];
    this.#defining = found;
    if (!this.nodes.some(({ node }) => hasStandardBody(node))) return found;
    walkTyped(modelFrom(this.#given), { defining: (placed) => found.push(placed) });
    return found;
  }

  readonly #isCalled =
    (name: string) =>
    (placed: PlacedNode): boolean =>
      placed.node.name === name || this.pathOf(placed) === name;

  /**
   * Returns the only node with a given name. The name may be a path, a node name, an output, an operator, or a name
   * that ONNX Runtime gave the node or an output. The first of these kinds with a match counts. In the model's own
   * graph, a node's path is its name. The last part of a path may also be a value or an operator.
   * @throws TensorError `unsupported-model` if no node or several nodes match; the sentence lists their paths
   */
  find(name: string): PlacedNode {
    const own = name === "" ? [] : this.#candidates(name);
    const found = own.length > 0 || name === "" ? own : this.#inside().filter(this.#isCalled(name));
    if (found.length === 1) return found[0];
    const near = found.length === 0 ? this.#near(name) : null;
    const question = near === null ? "" : `did you mean ${near.shown}? `;
    const sentence =
      found.length === 0
        ? `the model has no node ${quote(name)}; ${question}its scatters and gathers are ${listNodes(this.family)}`
        : `the model has ${found.length} nodes ${quote(name)}; choose one of ${listNodes(found)}`;
    throw new TensorError("unsupported-model", sentence, {
      key: "node",
      got: name,
      nearest: near?.name,
    });
  }

  /**
   * Returns true if an input is a constant of the graph or an enclosing graph. The caller need not supply a tensor for
   * such an input.
   */
  isConstant({ place }: PlacedNode, name: string): boolean {
    return constantSource(place, name) !== null;
  }

  /** Returns a node's path, which `find` accepts. */
  pathOf({ node, place }: PlacedNode): string {
    const [output = node.name] = node.outputs;
    const called = this.#namesOf(place.graph).get(node.name) === 1 ? calledOf(node) : output;
    return [...place.path, called || calledOf(node)].join(" / ");
  }

  #namesOf(graph: Graph): ReadonlyMap<string, number> {
    const known = this.#names.get(graph) ?? new Map<string, number>();
    if (known.size > 0) return known;
    for (const { name } of graph.nodes) known.set(name, (known.get(name) ?? 0) + 1);
    this.#names.set(graph, known);
    return known;
  }

  /** Returns the scatter or gather with the most similar name: the name that `find` accepts, and the name as shown. */
  #near(name: string): { readonly name: string; readonly shown: string } | null {
    const known = new Map<string, string>();
    for (const placed of this.family) {
      const { node } = placed;
      for (const one of [node.name, ...node.outputs, node.op]) known.set(one, quote(one));
      known.set(this.pathOf(placed), labelOf(placed));
    }
    const near = nearestName(name, known.keys());
    return near === null || near === "" ? null : { name: near, shown: known.get(near) ?? near };
  }

  #candidates(name: string): readonly PlacedNode[] {
    const { nodes } = this;
    const own = nodes.filter(({ place }) => place.kind.is === "model");
    const lists = [
      () => own.filter(hasName(name)),
      () => this.#atPath(name),
      () => nodes.filter(hasName(name)),
      () => own.filter(makes(name)),
      () => nodes.filter(makes(name)),
      () => nodes.filter(isOf(name)),
      () => this.#inlined(name),
      () => (withoutToken(name) === name ? [] : this.#candidates(withoutToken(name))),
    ];
    return firstOf(lists);
  }

  /**
   * Returns the nodes at a path. The last part of the path is a name, a value or an operator, with or without quotes.
   */
  #atPath(name: string): readonly PlacedNode[] {
    return this.#places().flatMap(({ path, place }) => {
      const prefix = `${path} / `;
      if (path !== "" && !name.startsWith(prefix)) return [];
      const last = path === "" ? name : name.slice(prefix.length);
      const here = this.nodes.filter((placed) => placed.place === place);
      const isQuoted = ({ node }: PlacedNode): boolean => JSON.stringify(calledOf(node)) === last;
      const ways = [hasName(last), makes(last), isQuoted, isOf(last)];
      // In the model's own graph, a node's path is its quoted name. An unquoted name may belong to nodes of other
      // graphs.
      return firstOf((path === "" ? [isQuoted] : ways).map((way) => () => here.filter(way)));
    });
  }

  #places(): readonly { readonly place: Place; readonly path: string }[] {
    const places = new Set(this.nodes.map(({ place }) => place));
    return [...places].map((place) => ({ place, path: place.path.join(" / ") }));
  }

  /** Returns the nodes that ONNX Runtime may have renamed to this name when it inlined a body or a function. */
  #inlined(name: string): readonly PlacedNode[] {
    const places = this.#places().map(({ place }) => place);
    const found = inlinedFrom(name, places).flatMap(({ place, rest }) => {
      const within = this.nodes.filter((placed) => isWithin(placed, place));
      const byText = (text: string): (() => readonly PlacedNode[])[] => [
        // Nodes of an inlined function keep their names, but nodes of an inlined branch do not.
        () => (place.kind.is === "function" ? within.filter(hasName(text)) : []),
        () => within.filter(makes(text)),
        () => (place.kind.is === "body" ? within.filter(isOf(text)) : []),
      ];
      const deeper = this.#inlined(rest);
      return firstOf([
        ...byText(rest),
        () => deeper.filter((placed) => isWithin(placed, place)),
        // The path may contain a function that was inlined into the branch.
        () => deeper,
        ...byText(withoutToken(rest)),
      ]);
    });
    return [...new Set(found)];
  }
}

const hasName =
  (name: string) =>
  ({ node }: PlacedNode): boolean =>
    name !== "" && node.name === name;

const makes =
  (value: string) =>
  ({ node }: PlacedNode): boolean =>
    value !== "" && node.outputs.includes(value);

const isOf =
  (op: string) =>
  ({ node }: PlacedNode): boolean =>
    node.op === op;

function firstOf(lists: readonly (() => readonly PlacedNode[])[]): readonly PlacedNode[] {
  for (const list of lists) {
    const found = list();
    if (found.length > 0) return found;
  }
  return [];
}

const calledOf = ({ name, outputs, op }: ModelNode): string => name || outputs[0] || op;

/** Returns a node's path. The path contains the full name in quotes, so that the path can be looked up. */
const labelOf = ({ node, place }: PlacedNode, called = calledOf(node)): string =>
  [...place.path, JSON.stringify(called)].join(" / ");

/**
 * Lists up to 20 nodes, separated by commas. Each node has its name, its path if names repeat, or a value if paths also
 * repeat.
 *
 * @param nodes nodes from a `NodeIndex`
 * @throws TensorError `malformed-file` for other values
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 *
 * const model = readModel(readFileSync("model.onnx"));
 * listNodes(new NodeIndex(model).family); // '"sums", "row"'
 * ```
 */
export function listNodes(nodes: readonly PlacedNode[]): string {
  if (objectsFrom("nodes", nodes).some((one) => !isPlaced(one))) {
    const must = "nodes must come from a NodeIndex: its nodes, or its family";
    throw malformed(`${must}, got other objects`, { key: "nodes" });
  }
  if (nodes.length === 0) return "none";
  const names = countOf(nodes, ({ node }) => calledOf(node));
  const labels = countOf(nodes, (placed) => labelOf(placed));
  const shown = nodes.slice(0, MAX_NAMES).map((placed) => {
    const called = calledOf(placed.node);
    const label = labelOf(placed);
    if (names.get(called) === 1) return quote(called);
    return labels.get(label) === 1 ? label : labelOf(placed, placed.node.outputs[0] || called);
  });
  const more = nodes.length - shown.length;
  return shown.join(", ") + (more === 0 ? "" : ` and ${more} more`);
}

const isPlaced = ({ node, place }: Partial<PlacedNode>): boolean =>
  typeof node === "object" && typeof place === "object";

function countOf(
  nodes: readonly PlacedNode[],
  textOf: (placed: PlacedNode) => string,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const placed of nodes) {
    const text = textOf(placed);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return counts;
}

/**
 * Returns the constant, or the node with a constant result, that a name refers to in a graph. Names in the graph hide
 * names in enclosing graphs. The result is null for a value that depends on inputs, and for a value that does not
 * exist.
 */
export function constantSource(place: Place, name: string): ConstantSource | null {
  for (let at: Place | null = place; at !== null; at = at.outer) {
    const { nodes, constants, inputs } = at.graph;
    const constant = findIn(constants, (one) => one.name === name);
    if (constant !== undefined) return constant;
    const node = findIn(nodes, ({ outputs }) => outputs.includes(name));
    if (node !== undefined) {
      checkNode(node);
      return isConstantNode(node) ? { node, place: at } : null;
    }
    if (findIn(inputs, (one) => one.name === name) !== undefined) return null;
  }
  return null;
}
