/**
 * Derives facts about a node's outputs from facts about its inputs. Each operator has a rule in `table.ts`, and
 * scatters and gathers share one rule. `traces.ts` adds the elements of short integer lists.
 *
 * Outputs are unknown for an operator without a rule, and for an invalid node. `outputsOf` throws no TensorError; the
 * code in `inspect/` explains why a node is invalid.
 */

import { recovering } from "../../../core/errors.ts";
import { findVersion } from "../../../core/operators/registry.ts";
import { familyOutputs } from "../family.ts";
import { inlineOperator } from "../inline.ts";
import type { Known } from "../known.ts";
import type { ModelNode } from "../model.ts";
import { NodeView, type TypeRule } from "./node-view.ts";
import { TYPE_RULES } from "./table.ts";
import { traced } from "./traces.ts";

/**
 * Returns the known facts about a node's outputs, in order; trailing unknown outputs may be missing. The inputs follow
 * the node's order, with `NOTHING_KNOWN` for an omitted input. If the model does not import the node's domain, `opset`
 * is null.
 */
export function outputsOf(
  node: ModelNode,
  opset: number | null,
  inputs: readonly Known[],
): readonly Known[] {
  // Operators without a Plan have the same rule in every version.
  const version = opset ?? (inlineOperator(node) === null ? null : Infinity);
  if (version === null) return [];
  const view = new NodeView(node, version, inputs);
  return recovering(
    () => ruleOf(node, version)(view).map((known, at) => traced(view, known, at)),
    () => [],
  );
}

function ruleOf({ domain, op }: ModelNode, opset: number): TypeRule {
  if (findVersion({ domain, op, opset }) !== null) return family;
  if (!Object.hasOwn(TYPE_RULES, domain) || !Object.hasOwn(TYPE_RULES[domain], op)) return () => [];
  return TYPE_RULES[domain][op];
}

const family: TypeRule = (view) => familyOutputs(view.node, view.opset, view.inputs());
