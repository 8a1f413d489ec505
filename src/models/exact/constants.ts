/** A graph's constants, as a runtime sees them after it has loaded the whole model. */

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
import { needsOf } from "../model/uses.ts";
import { DEFAULTS_SINCE, type Scope } from "../model/values.ts";
import type { Opsets } from "./steps.ts";

/** Returns the graphs in a node's attributes. Graphs that are nested too deeply to be read are left out. */
export const bodiesIn = ({ attributes }: ModelNode): readonly Graph[] =>
  Object.values(attributes).flatMap((one) => (one.type === "other" ? (one.graphs ?? []) : []));

export const namesOf = (graph: Graph): ReadonlySet<string> => new Set(valueNames(graph));

/** Returns a graph's initializers and the values of its `Constant` nodes. For a body, `irVersion` is Infinity. */
export function constantsOf(
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
export function tracedConstants(
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

/**
 * Returns the constants that a call passes to a function, by their names in the function. The runtime inlines such a
 * function.
 */
export function boundConstants(
  { inputs }: Graph,
  call: ModelNode,
  constantOf: (name: string) => Constant | undefined,
): Map<string, Constant> {
  const bound = new Map<string, Constant>();
  for (const [at, { name }] of inputs.entries()) {
    const { [at]: given = "" } = call.inputs;
    const constant = given === "" ? undefined : constantOf(given);
    if (constant !== undefined) bound.set(name, renamed(constant, name));
  }
  return bound;
}
