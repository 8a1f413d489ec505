/**
 * A model's nodes by name and path, at any depth. The index covers the graph, bodies and functions, and every lookup of
 * a node by name uses it.
 */

import { malformed, TensorError } from "../../core/errors.ts";
import { nearestName } from "../../core/foreign.ts";
import { isOperator } from "../../core/operators/registry.ts";
import { checkNode, findIn, modelFrom, modelOfLists, objectsFrom } from "./foreign-model.ts";
import { quote, shortList } from "./graph.ts";
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
  readonly #names = new Map<Graph, ReadonlyMap<string, number>>();

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

  /**
   * Returns the only node with a given name. The name may be a path, a node name, an output, an operator, or a name
   * that ONNX Runtime gave the node or an output. The first of these kinds with a match counts. In the model's own
   * graph, a node's path is its name. The last part of a path may also be a value or an operator.
   * @throws TensorError `unsupported-model` if no node or several nodes match; the sentence lists their paths
   */
  find(name: string): PlacedNode {
    const own = name === "" ? [] : this.#candidates(name);
    const isCalled = (placed: PlacedNode): boolean =>
      placed.node.name === name || this.pathOf(placed) === name;
    const found = own.length > 0 || name === "" ? own : this.#inside().filter(isCalled);
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
    const names = this.#names.get(graph) ?? countOf(graph.nodes, ({ name }) => name);
    this.#names.set(graph, names);
    return names;
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
    return firstOf([
      () => matching(own, name, [hasName]),
      () => this.#atPath(name),
      () => matching(nodes, name, [hasName]),
      () => matching(own, name, [makes]),
      () => matching(nodes, name, [makes, isOf]),
      () => this.#inlined(name),
      () => (withoutToken(name) === name ? [] : this.#candidates(withoutToken(name))),
    ]);
  }

  get #places(): readonly Place[] {
    return [...new Set(this.nodes.map(({ place }) => place))];
  }

  /**
   * Returns the nodes at a path. The last part of the path is a name, a value or an operator, with or without quotes.
   */
  #atPath(name: string): readonly PlacedNode[] {
    return this.#places.flatMap((place) => {
      const prefix = place.path.map((part) => `${part} / `).join("");
      if (!name.startsWith(prefix)) return [];
      const here = this.nodes.filter((placed) => placed.place === place);
      // In the model's own graph, a node's path is its quoted name. An unquoted name may belong to nodes of other
      // graphs.
      const ways = prefix === "" ? [isQuoted] : [hasName, makes, isQuoted, isOf];
      return matching(here, name.slice(prefix.length), ways);
    });
  }

  /** Returns the nodes that ONNX Runtime may have renamed to this name when it inlined a body or a function. */
  #inlined(name: string): readonly PlacedNode[] {
    const found = inlinedFrom(name, this.#places).flatMap(({ place, rest }) => {
      const within = this.nodes.filter((placed) => isWithin(placed, place));
      // Nodes of an inlined function keep their names, but nodes of an inlined branch do not.
      const ways = place.kind.is === "function" ? [hasName, makes] : [makes, isOf];
      const deeper = this.#inlined(rest);
      return firstOf([
        () => matching(within, rest, ways),
        () => deeper.filter((placed) => isWithin(placed, place)),
        // The path may contain a function that was inlined into the branch.
        () => deeper,
        () => matching(within, withoutToken(rest), ways),
      ]);
    });
    return [...new Set(found)];
  }
}

/** A way in which a node may match a name. */
type Way = (node: ModelNode, name: string) => boolean;

const hasName: Way = (node, name) => name !== "" && node.name === name;
const makes: Way = (node, value) => value !== "" && node.outputs.includes(value);
const isOf: Way = (node, op) => node.op === op;
const isQuoted: Way = (node, quoted) => JSON.stringify(calledOf(node)) === quoted;

/** Returns the nodes that match a name in the first way with a match. */
const matching = (nodes: readonly PlacedNode[], name: string, ways: readonly Way[]) =>
  firstOf(ways.map((way) => () => nodes.filter(({ node }) => way(node, name))));

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
  const shown = nodes.map((placed) => {
    const called = calledOf(placed.node);
    const label = labelOf(placed);
    if (names.get(called) === 1) return quote(called);
    return labels.get(label) === 1 ? label : labelOf(placed, placed.node.outputs[0] || called);
  });
  return shortList(shown);
}

const isPlaced = ({ node, place }: Partial<PlacedNode>): boolean =>
  typeof node === "object" && typeof place === "object";

function countOf<T>(list: readonly T[], textOf: (one: T) => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const text of list.map(textOf)) counts.set(text, (counts.get(text) ?? 0) + 1);
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
