/**
 * Facts about a graph before it runs: the nodes that run in this package, the values that are constants for a runtime
 * that has loaded the whole model, and the values that are sequences or optionals.
 */

import { layoutOf } from "../control-flow/iterations.ts";
import { functionOf } from "../model/bound-graph.ts";
import { findOpset } from "../model/graph.ts";
import { constantOf as constantOfNode } from "../model/inline.ts";
import {
  renamed,
  valueNames,
  type Constant,
  type Graph,
  type Model,
  type ModelNode,
} from "../model/model.ts";
import { bodiesIn, needsOf } from "../model/uses.ts";
import { DEFAULTS_SINCE, type Scope } from "../model/values.ts";
import { scopeOf } from "../split/types.ts";

export type Opsets = Model["opsets"];

export interface Planned {
  readonly model: Model;
  /** The replaced nodes with their paths. A function's nodes are added per call. */
  readonly replaced: Map<ModelNode, string>;
  /** For each node examined so far, the path of a replaced node that the node is or contains; null for none. */
  readonly ours: Map<ModelNode, string | null>;
  /** Values that count as constants although nodes compute them. These nodes do not run. */
  readonly folded: Map<Graph, Map<string, Constant>>;
  /** The number of planned graphs. */
  graphs: number;
}

/** Returns true if the node is replaced, or if its bodies or its function contain a replaced node. */
export const isOurs = (planned: Planned, node: ModelNode): boolean =>
  replacedIn(planned, node) !== null;

/** Returns the path of the replaced node that a node is or contains; null for other nodes. */
export function replacedIn(planned: Planned, node: ModelNode): string | null {
  const { model, replaced, ours } = planned;
  const known = ours.get(node);
  if (known !== undefined) return known;
  // A recursive function is examined once, because no runtime accepts recursion.
  ours.set(node, null);
  let path = replaced.get(node) ?? null;
  for (const { nodes } of [functionOf(model, node)?.graph ?? [], ...bodiesIn(node)].flat())
    for (const one of nodes) path ??= replacedIn(planned, one);
  ours.set(node, path);
  return path;
}

/** A graph's values before the graph runs. */
export interface GraphFacts {
  readonly scope: Scope;
  /** The names of the graph's own values. */
  readonly own: ReadonlySet<string>;
  /** The graph's constants, including the values of `Constant` nodes and of folded nodes. */
  readonly constants: ReadonlyMap<string, Constant>;
  /** The constants that nodes other than `Constant` compute. */
  readonly folded: ReadonlyMap<string, Constant>;
}

/** The callback `isOuterConstant` returns true for a constant of an enclosing graph. */
export function factsOf(
  { model, folded }: Planned,
  graph: Graph,
  opsets: Opsets,
  outer: { readonly scope: Scope } | null,
  isOuterConstant: (name: string) => boolean,
): GraphFacts {
  const scope = scopeOf(graph, opsets, outer?.scope ?? null, model.irVersion);
  const own = new Set(valueNames(graph));
  const before = folded.get(graph) ?? [];
  const irVersion = outer === null ? model.irVersion : Infinity;
  const constants = new Map([...constantsOf(graph, opsets, irVersion), ...before]);
  const isConstant = (name: string): boolean =>
    constants.has(name) || (!own.has(name) && isOuterConstant(name));
  const all = new Map([...before, ...tracedConstants(model, graph, scope, isConstant)]);
  return { scope, own, constants: new Map([...constants, ...all]), folded: all };
}

/** Returns a graph's initializers and the values of its `Constant` nodes. For a body, `irVersion` is Infinity. */
function constantsOf(
  { constants, inputs, nodes }: Graph,
  opsets: Opsets,
  irVersion: number,
): ReadonlyMap<string, Constant> {
  const isInput = new Set(irVersion < DEFAULTS_SINCE ? [] : inputs.map(({ name }) => name));
  const all = new Map<string, Constant>();
  for (const one of constants) if (!isInput.has(one.name)) all.set(one.name, one);
  for (const node of nodes) {
    const opset = findOpset(opsets, node);
    const made = opset === null ? null : constantOfNode(node, opset);
    if (made !== null) all.set(made.name, made);
  }
  return all;
}

/**
 * Returns the integers that a runtime computes while it loads the model, because they follow from constants and certain
 * shapes. The runtime uses these integers to infer ranks, such as the output rank of a Reshape.
 */
function tracedConstants(
  model: Model,
  { nodes }: Graph,
  scope: Scope,
  isConstant: (name: string) => boolean,
): ReadonlyMap<string, Constant> {
  const traced = new Map<string, Constant>();
  for (const node of nodes) {
    const isShape = node.op === "Shape" && node.domain === "ai.onnx";
    const needs = [...needsOf(node)];
    const isFolded =
      needs.length > 0 &&
      needs.every((name) => traced.has(name) || isConstant(name)) &&
      mayFold(model, node);
    if (!isShape && !isFolded) continue;
    const made = node.outputs.filter((name) => name !== "");
    const known = made.map((name) => scope.get(name).certain);
    // A list that contains named or unknown elements is not constant.
    if (known.some(({ elements, constant }) => elements === null || constant === null)) continue;
    for (const [at, name] of made.entries())
      traced.set(name, renamed(known[at].constant as Constant, name));
  }
  return traced;
}

/** Returns true if a runtime computes this node at load time when all of its inputs are constants. */
export const mayFold = (model: Model, node: ModelNode): boolean =>
  FOLDED_DOMAINS.has(node.domain) &&
  !MAKES_RANDOM.test(node.op) &&
  bodiesIn(node).length === 0 &&
  functionOf(model, node) === null;

const FOLDED_DOMAINS: ReadonlySet<string> = new Set(["ai.onnx", "com.microsoft"]);

/** Operators that give different results each time, even for constant inputs. */
const MAKES_RANDOM = /Bernoulli|Dropout|Multinomial|Random|Sampling/;

/** Operators whose first output is a sequence or an optional, which cannot be passed between sessions. */
const MAKES_NO_TENSOR: ReadonlySet<string> = new Set([
  "Optional",
  "SequenceConstruct",
  "SequenceEmpty",
  "SequenceErase",
  "SequenceInsert",
  "SequenceMap",
  "SplitToSequence",
]);

/** Returns the names of a graph's sequences and optionals. The names of enclosing graphs are given in `outer`. */
export function namesOfNoTensors(graph: Graph, outer: ReadonlySet<string>): ReadonlySet<string> {
  const names = new Set(outer);
  for (const { name } of [...graph.inputs, ...graph.constants]) names.delete(name);
  const wrapped = new Map<string, string>();
  for (const node of graph.nodes) {
    const [input = ""] = node.inputs;
    const [output = ""] = node.outputs;
    for (const name of node.outputs) names.delete(name);
    if (node.domain !== "ai.onnx") continue;
    if (MAKES_NO_TENSOR.has(node.op)) names.add(output);
    if (node.op === "Optional") wrapped.set(output, input);
    if (node.op === "Identity" && names.has(input)) names.add(output);
    // An optional of unknown origin is assumed to contain a tensor.
    if (node.op === "OptionalGetElement" && names.has(wrapped.get(input) ?? "")) names.add(output);
    for (const name of madeByBodies(node, names)) names.add(name);
  }
  names.delete("");
  return names;
}

/** Returns the outputs of an If or a Loop that are sequences or optionals in its bodies. */
function madeByBodies(node: ModelNode, names: ReadonlySet<string>): readonly string[] {
  const { first, skipped } = layoutOf(node);
  return bodiesIn(node).flatMap((body) => {
    const states = node.inputs.flatMap((name, at) =>
      at >= first && names.has(name) ? (body.inputs[at]?.name ?? []) : [],
    );
    const inner = namesOfNoTensors({ ...body, inputs: [] }, new Set([...names, ...states]));
    return body.outputs
      .slice(skipped)
      .flatMap(({ name }, at) => (inner.has(name) ? [node.outputs[at] ?? ""] : []));
  });
}
