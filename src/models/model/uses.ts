/** The names of values that graphs and nodes use, including names that bodies use from enclosing graphs. */

import { TensorError } from "../../core/errors.ts";
import { MAX_BODY_DEPTH, valueNames, type Attribute, type Graph, type ModelNode } from "./model.ts";

/** Returns an attribute's graphs. Throws `too-large` for graphs nested too deeply to be read. */
function bodiesOf(graphs: readonly Graph[] | null | undefined): readonly Graph[] {
  if (graphs !== null) return graphs ?? [];
  throw tooDeep();
}

/** Returns the graphs in a node's attributes. */
export const bodiesIn = ({ attributes }: ModelNode): readonly Graph[] =>
  Object.values(attributes).flatMap((one) => (one.type === "other" ? bodiesOf(one.graphs) : []));

/** Returns a node with changed bodies; the same node if no body changes. */
export function withBodies(node: ModelNode, change: (body: Graph) => Graph): ModelNode {
  let isSame = true;
  const attributes = Object.entries(node.attributes).map(([name, one]): [string, Attribute] => {
    if (one.type !== "other") return [name, one];
    const before = bodiesOf(one.graphs);
    const graphs = before.map((body) => change(body));
    if (graphs.every((body, at) => body === before[at])) return [name, one];
    isSame = false;
    return [name, { ...one, graphs }];
  });
  return isSame ? node : { ...node, attributes: Object.fromEntries(attributes) };
}

export const tooDeep = (): TensorError =>
  new TensorError(
    "too-large",
    `the model has graphs nested more than ${MAX_BODY_DEPTH} deep, which is too deep to read; real models nest a few, so check where the file comes from`,
    { limit: MAX_BODY_DEPTH },
  );

/** Returns all names that a graph and its bodies use. A body's own values may have the same names. */
export function usesOf({ nodes, outputs }: Graph, uses = new Set<string>()): Set<string> {
  for (const { name } of outputs) uses.add(name);
  for (const node of nodes) {
    for (const name of node.inputs) uses.add(name);
    for (const body of bodiesIn(node)) usesOf(body, uses);
  }
  return uses;
}

/** Returns the names that a graph uses but does not define, so that they come from enclosing graphs. */
export function freeNames(graph: Graph): Set<string> {
  const { nodes, outputs } = graph;
  const own = new Set(valueNames(graph));
  const used = [...outputs.map(({ name }) => name), ...nodes.flatMap((one) => [...needsOf(one)])];
  return new Set(used.filter((name) => name !== "" && !own.has(name)));
}

/** Returns the names that a node and its bodies use from the node's graph and enclosing graphs. */
export function needsOf(node: ModelNode): Set<string> {
  const needs = new Set(node.inputs.filter((name) => name !== ""));
  for (const body of bodiesIn(node)) for (const name of freeNames(body)) needs.add(name);
  return needs;
}

/** The nodes of a graph with their dependencies. A value that a node's body uses counts as used by the node. */
export class GraphUses {
  readonly nodes: readonly ModelNode[];
  readonly makers = new Map<string, ModelNode>();
  readonly users = new Map<string, ModelNode[]>();
  /** The names that each node needs from its graph and enclosing graphs. */
  readonly needs = new Map<ModelNode, readonly string[]>();

  constructor(nodes: readonly ModelNode[]) {
    this.nodes = nodes;
    for (const node of nodes) {
      for (const name of node.outputs) if (name !== "") this.makers.set(name, node);
      const needs = [...needsOf(node)];
      this.needs.set(node, needs);
      for (const name of needs) {
        const users = this.users.get(name);
        if (users === undefined) this.users.set(name, [node]);
        else users.push(node);
      }
    }
  }

  needsOf(node: ModelNode): readonly string[] {
    return this.needs.get(node) ?? [];
  }

  usersOf(name: string): readonly ModelNode[] {
    return this.users.get(name) ?? [];
  }
}
