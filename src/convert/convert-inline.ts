/** The few operators that are run beside the family: `Constant`, `Identity`, `Cast` and OpenVINO's `Convert`. */

import type { DType } from "../tensor/dtype.ts";
import { constantOf, destinationOf, inlineOperator, SHORT_VALUES } from "../model/inline.ts";
import type { ModelNode } from "../model/model.ts";
import { refusal } from "./meaning.ts";
import type { Scope } from "../model/values.ts";
import { opsetOfDType, type Target } from "./target.ts";

/** The version of Cast whose attribute `to` is a number; before it was a word. */
const NUMBERED = 6;

/** What came to Cast later, and says how floats that are narrower than 16 bits are made. */
const CAST_SINCE: Readonly<Record<string, number>> = { saturate: 19, round_mode: 24 };

/**
 * The node in another opset of ONNX: the same object where it does not change, null where it is none of these or nothing
 * can be said of it.
 * @throws TensorError `unsupported-model`
 */
export function convertInline(
  node: ModelNode,
  opset: number,
  { opset: target }: Target,
  scope: Scope,
): ModelNode | null {
  if (inlineOperator(node) === null || (node.op === "Cast" && Math.min(opset, target) < NUMBERED))
    return null;
  const dtype = madeBy(node, opset, scope);
  if (dtype === null) return null;
  checkTakes(node.op, dtype, target);
  if (node.op === "Cast") return withoutLater(node, target);
  if (node.op !== "Constant" || "value" in node.attributes || target >= SHORT_VALUES) return node;
  const value = constantOf(node, opset);
  return value && { ...node, attributes: { value: { type: "tensor", value } } };
}

function madeBy(node: ModelNode, opset: number, scope: Scope): DType | null {
  if (node.op === "Cast") return destinationOf(node);
  if (node.op === "Constant") return constantOf(node, opset)?.dtype ?? null;
  return scope.typeOf(node.inputs[0] ?? "")?.dtype ?? null;
}

/** @throws TensorError `unsupported-model` where an opset of ONNX has no version of `op` with the data type */
export function checkTakes(op: string, dtype: DType, target: number): void {
  const since = opsetOfDType(dtype);
  if (target >= since) return;
  throw refusal(`${op} of opset ${target} does not take ${dtype}; opset ${since} can say it`);
}

function withoutLater(node: ModelNode, target: number): ModelNode {
  const entries = Object.entries(node.attributes);
  const kept = entries.filter(([name]) => target >= (CAST_SINCE[name] ?? 0));
  return kept.length === entries.length ? node : { ...node, attributes: Object.fromEntries(kept) };
}
