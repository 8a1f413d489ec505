/**
 * What a node makes of what is known of its inputs, as rules: one for this package's operators, one for those that run
 * without a Plan. An operator without a rule makes values of which nothing is known.
 *
 * Nothing is known of what a wrong node makes, so rules throw no TensorError. Finding out why a node is wrong is the
 * work of `inspect/`.
 */

import { isTensorError } from "../errors.ts";
import { findVersion } from "../operators/registry.ts";
import { familyOutputs } from "./family.ts";
import { constantOf, destinationOf, inlineOperator } from "./inline.ts";
import { knownConstant, NOTHING_KNOWN, type Known } from "./known.ts";
import type { ModelNode } from "./model.ts";

/**
 * @param opset of the node's domain, null where the model imports none
 * @param inputs in the order of the node's inputs, `NOTHING_KNOWN` for one that is left out
 * @returns what is known of the node's outputs, in order; fewer than it has where nothing is known of the others
 */
type TypeRule = (
  node: ModelNode,
  opset: number | null,
  inputs: readonly Known[],
) => readonly Known[];

export const outputsOf: TypeRule = (node, opset, inputs) => {
  try {
    return ruleOf(node, opset)(node, opset, inputs);
  } catch (error) {
    if (isTensorError(error)) return [];
    throw error;
  }
};

function ruleOf(node: ModelNode, opset: number | null): TypeRule {
  const { domain, op } = node;
  if (inlineOperator(node) !== null) return INLINE_RULES[op];
  const isFamily = opset !== null && findVersion({ domain, op, opset }) !== null;
  return isFamily ? familyOutputs : () => [];
}

const castTo: TypeRule = (node, opset, [input = NOTHING_KNOWN]) => {
  const dtype = destinationOf(node);
  const cast = inlineOperator(node);
  if (dtype === null || cast === null) return [];
  const { type, constant: source } = input;
  const known = { dtype, shape: type?.shape ?? null };
  if (source === null) return [{ type: known, constant: null }];
  const { name, shape } = source;
  const read = () => cast(node, [source.read()], opset ?? Infinity)[0];
  return [{ type: { dtype, shape }, constant: { name, dtype, shape, read } }];
};

/** By the names of operators, which the two domains do not share. */
const INLINE_RULES: Readonly<Record<string, TypeRule>> = {
  Constant(node, opset) {
    const made = constantOf(node, opset ?? Infinity);
    return made === null ? [] : [knownConstant(made)];
  },
  Identity: (_node, _opset, [input = NOTHING_KNOWN]) => [input],
  Cast: castTo,
  Convert: castTo,
};
