/** `Constant`, `Identity` and `Cast` in another opset of ONNX. */

import type { DType } from "../tensor/dtype.ts";
import { constantOf, destinationOf, inlineOperator, SHORT_VALUES } from "../model/inline.ts";
import type { ModelNode } from "../model/model.ts";
import { refusal } from "./meaning.ts";
import type { Scope } from "../model/values.ts";
import { opsetOfDType, type CheckedTarget } from "./target.ts";

/** Since this version of Cast the attribute `to` is a number; before it was a word. */
const NUMBERED = 6;

/** Attributes that came to Cast later; they only matter for floats narrower than 16 bits. */
const CAST_SINCE: Readonly<Record<string, number>> = { saturate: 19, round_mode: 24 };

/**
 * The node in another opset.
 * @returns the same object where nothing changes, null for other operators and where the data type is not known
 * @throws TensorError `unsupported-model` where the opset does not take the data type
 */
export function convertInline(
  node: ModelNode,
  opset: number,
  { opset: target }: CheckedTarget,
  scope: Scope,
): ModelNode | null {
  if (inlineOperator(node) === null || (node.op === "Cast" && Math.min(opset, target) < NUMBERED))
    return null;
  const dtype = outputType(node, opset, scope);
  if (dtype === null) return null;
  checkTakes(node.op, dtype, target);
  if (node.op === "Cast") return withoutLater(node, target);
  if (node.op !== "Constant" || "value" in node.attributes || target >= SHORT_VALUES) return node;
  const value = constantOf(node, opset);
  return value && { ...node, attributes: { value: { type: "tensor", value } } };
}

/** The data type of the output, null where it is not known. */
function outputType(node: ModelNode, opset: number, scope: Scope): DType | null {
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

/** The `Cast` without attributes that the opset does not have. */
function withoutLater(node: ModelNode, target: number): ModelNode {
  const entries = Object.entries(node.attributes);
  const kept = entries.filter(([name]) => target >= (CAST_SINCE[name] ?? 0));
  return kept.length === entries.length ? node : { ...node, attributes: Object.fromEntries(kept) };
}
