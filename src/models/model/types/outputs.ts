/**
 * What a node makes of what is known of its inputs, by the rule of its operator: a row of `table.ts`, or the one rule
 * for this package's own operators. An operator without a rule makes values of which nothing is known.
 *
 * Nothing is known of what a wrong node makes, so `outputsOf` throws no TensorError. Finding out why a node is wrong is
 * the work of `inspect/`.
 */

import { isTensorError } from "../../../core/errors.ts";
import { findVersion } from "../../../core/operators/registry.ts";
import { familyOutputs } from "../family.ts";
import { inlineOperator } from "../inline.ts";
import type { Known } from "../known.ts";
import type { ModelNode } from "../model.ts";
import { NodeView, type TypeRule } from "./node-view.ts";
import { gathered } from "./parts.ts";
import { TYPE_RULES } from "./table.ts";

/**
 * @param opset of the node's domain, null where the model imports none
 * @param inputs in the order of the node's inputs, `NOTHING_KNOWN` for one that is left out
 * @returns what is known of the node's outputs, in order; fewer than it has where nothing is known of the others
 */
export function outputsOf(
  node: ModelNode,
  opset: number | null,
  inputs: readonly Known[],
): readonly Known[] {
  // Operators that run without a Plan run in every version.
  const version = opset ?? (inlineOperator(node) === null ? null : Infinity);
  if (version === null) return [];
  try {
    return ruleOf(node, version)(new NodeView(node, version, inputs));
  } catch (error) {
    if (isTensorError(error)) return [];
    throw error;
  }
}

function ruleOf({ domain, op }: ModelNode, opset: number): TypeRule {
  if (findVersion({ domain, op, opset }) !== null) return op === "Gather" ? gather : family;
  if (!Object.hasOwn(TYPE_RULES, domain) || !Object.hasOwn(TYPE_RULES[domain], op)) return () => [];
  return TYPE_RULES[domain][op];
}

const family: TypeRule = (view) => familyOutputs(view.node, view.opset, view.inputs());

const gather: TypeRule = (view) => gathered(view, family(view));
