/**
 * Derives known facts about a node's outputs from facts about its inputs, with the rule of its operator: a row of
 * `table.ts`, or the common rule for scatters and gathers. Outputs of an operator without a rule are unknown.
 *
 * Outputs of an invalid node are unknown too, so `outputsOf` throws no TensorError. The code in `inspect/` finds the
 * reason why a node is invalid.
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
 * @param opset the opset of the node's domain; null if the model does not import the domain
 * @param inputs in the order of the node's inputs, `NOTHING_KNOWN` for one that is left out
 * @returns the known facts about the node's outputs, in order; unknown ones at the end may be left out
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
