/**
 * Some of a graph's nodes as a separate model: the nodes that compute some values, a list of nodes, or the nodes of a
 * level, between which the graph is cut.
 */

import { malformed, TensorError } from "../../core/errors.ts";
import type { TensorType } from "../../core/operators/operator.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { quote } from "../model/graph.ts";
import { sameType, unifyTypes } from "../model/known.ts";
import type { Constant, Graph, Model, ModelNode, ValueInfo } from "../model/model.ts";
import { needsOf, type GraphUses } from "../model/uses.ts";
import { scopeOf } from "./types.ts";

export const needsTensor = (input: string): TensorError =>
  new TensorError("shape-mismatch", `the input ${quote(input)} of the model needs a tensor`, {
    input,
  });

/**
 * Returns the nodes that compute some values, and all values between them. The names in `given` are known values: graph
 * inputs, and values of enclosing graphs. Throws `shape-mismatch` for an input without a tensor, `malformed-file` for a
 * value that no node computes.
 */
export function neededNodes(
  graph: Graph,
  wanted: readonly string[],
  given: { has(name: string): boolean },
): { readonly nodes: ReadonlySet<ModelNode>; readonly names: ReadonlySet<string> } {
  const makers = new Map<string, ModelNode>();
  for (const node of graph.nodes) for (const name of node.outputs) makers.set(name, node);
  const constants = new Set(graph.constants.map(({ name }) => name));
  const nodes = new Set<ModelNode>();
  const names = new Set<string>();
  const open = [...wanted];
  const isWanted = new Set(wanted);
  const isInput = new Set(graph.inputs.map(({ name }) => name));
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (name === "" || names.has(name)) continue;
    names.add(name);
    if (given.has(name)) continue;
    const node = makers.get(name);
    if (node !== undefined && !nodes.has(node)) {
      nodes.add(node);
      for (const need of needsOf(node)) open.push(need);
    } else if (node === undefined && !constants.has(name)) {
      if (isInput.has(name)) throw needsTensor(name);
      // The part must not require inputs that the requested values do not depend on.
      if (isWanted.has(name)) throw malformed(`no node computes ${quote(name)}`, { input: name });
    }
  }
  return { nodes, names };
}

/**
 * Returns a model whose outputs are the given names. The model's inputs are the known values that it uses, which are
 * not computed again. The errors are those of `neededNodes`.
 */
export const cutModel = (
  model: Model,
  graph: Graph,
  wanted: readonly string[],
  given: ReadonlyMap<string, Tensor>,
): Model =>
  neededPart(model, graph, wanted, given, (names) => ({
    inputs: [...given].flatMap(([name, { dtype, shape }]) =>
      names.has(name) ? [{ name, type: { dtype, shape } }] : [],
    ),
    constants: graph.constants.filter(({ name }) => names.has(name) && !given.has(name)),
  }));

/** Returns the part of a graph that computes some values. The names in `given` are known values. */
export function neededPart(
  model: Model,
  graph: Graph,
  wanted: readonly string[],
  given: { has(name: string): boolean },
  partWith: (
    names: ReadonlySet<string>,
  ) => Pick<PartSpec, "inputs" | "constants"> & Partial<Pick<PartSpec, "outputs">>,
): Model {
  const { nodes, names } = neededNodes(graph, wanted, given);
  return partOf(model, {
    ...{ graph, opsets: model.opsets, nodes: graph.nodes.filter((node) => nodes.has(node)) },
    outputs: wanted.map((name) => ({ name, type: null })),
    ...partWith(names),
  });
}

/** The nodes and values of a part. Values keep their names. */
export interface PartSpec {
  /** The graph of the nodes. Declared types of inner values are dropped, because runtimes do not need them. */
  readonly graph: Graph;
  readonly opsets: Readonly<Record<string, number>>;
  readonly nodes: readonly ModelNode[];
  readonly inputs: readonly ValueInfo[];
  readonly outputs: readonly ValueInfo[];
  readonly constants: readonly Constant[];
  /** Returns a value's certain type in the whole model. */
  readonly typeOf?: (name: string) => TensorType | null;
}

/** Creates a model from some nodes of a graph. The model's functions are kept, because the nodes may call them. */
export function partOf(
  model: Model,
  { graph, opsets, nodes, inputs, outputs, constants, typeOf }: PartSpec,
): Model {
  const part: Model = {
    ...model,
    opsets: { ...model.opsets, ...opsets },
    graph: {
      ...graph,
      nodes: [...nodes],
      inputs: [...inputs],
      outputs: [...outputs],
      constants: [...constants],
      values: [],
    },
  };
  return typeOf === undefined ? part : withLostTypes(part, typeOf);
}

/**
 * Adds types that follow from the whole model but not from the part alone. An example is a Reshape to a shape that
 * another part computes. A runtime fuses fewer operators if it does not know a rank, so its results may differ.
 */
function withLostTypes(part: Model, typeOf: (name: string) => TensorType | null): Model {
  const scope = scopeOf(part.graph, part.opsets, null, part.irVersion);
  const lost = new Map<string, TensorType>();
  for (const name of part.graph.nodes.flatMap(({ outputs }) => outputs)) {
    const whole = name === "" ? null : typeOf(name);
    const { type } = scope.get(name).certain;
    const both = whole && type ? unifyTypes(type, whole) : whole;
    if (both !== null && !sameType(both, type)) lost.set(name, both);
  }
  if (lost.size === 0) return part;
  const outputs = part.graph.outputs.map((one) => ({
    ...one,
    type: one.type ?? lost.get(one.name) ?? null,
  }));
  for (const { name } of outputs) lost.delete(name);
  const values = Array.from(lost, ([name, type]) => ({ name, type }));
  return { ...part, graph: { ...part.graph, outputs, values } };
}

/**
 * The levels of a graph's nodes. A node's level is the greatest number of cuts on any path from the graph's inputs to
 * the node. This choice minimizes the number of parts.
 */
export type Levels = Map<ModelNode, number>;

/** Returns true if the graph is cut between the node that computes a value and a node that uses the value. */
export type IsCut = (name: string, maker: ModelNode, user: ModelNode) => boolean;

/** Returns the number of levels. A model may have more nodes than a call may have arguments. */
export const countLevels = (levels: Levels): number =>
  [...levels.values()].reduce((most, level) => Math.max(most, level), 0) + 1;

export function levelsOf(uses: GraphUses, isCut: IsCut): Levels {
  const levels: Levels = new Map();
  for (const node of uses.nodes) {
    let level = 0;
    for (const name of uses.needsOf(node)) {
      const maker = uses.makers.get(name);
      if (maker === undefined) continue;
      const before = (levels.get(maker) ?? 0) + (isCut(name, maker, node) ? 1 : 0);
      level = Math.max(level, before);
    }
    levels.set(node, level);
  }
  return levels;
}

/**
 * Moves nodes to the last possible level, next to the nodes that use their results. A runtime fuses two operators only
 * if no other node or output uses the value between them. After the move, no such value passes between levels, because
 * a fused convolution and addition rounds differently from separate operators. A node that reduces its input is moved
 * only if the later level needs the input anyway.
 */
export function sinkNodes(
  graph: Graph,
  uses: GraphUses,
  levels: Levels,
  mayMove: (node: ModelNode) => boolean,
): void {
  const outputs = new Set(graph.outputs.map(({ name }) => name));
  for (const node of uses.nodes.toReversed()) {
    if (!mayMove(node) || node.outputs.some((name) => outputs.has(name))) continue;
    const users = node.outputs.flatMap((name) => uses.usersOf(name));
    if (users.length === 0) continue;
    const level = users.reduce((least, user) => Math.min(least, levels.get(user) ?? 0), Infinity);
    const isThere = (name: string): boolean =>
      !uses.makers.has(name) ||
      uses.usersOf(name).some((user) => user !== node && levels.get(user) === level);
    if (!REDUCES.test(node.op) || uses.needsOf(node).every(isThere)) levels.set(node, level);
  }
}

/** Operators with outputs much smaller than their inputs. */
const REDUCES = /^(Arg|Global|Reduce|Shape|Size)/;
