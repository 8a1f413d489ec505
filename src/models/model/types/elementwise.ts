/** Type rules for element-wise operators, which copy an input's type or broadcast inputs. */

import type { DType } from "../../../core/tensor/dtype.ts";
import type { PartialShape } from "../../../core/tensor/shape.ts";
import type { Known } from "../known.ts";
import { broadcastShapes, unifyShapes } from "./dims.ts";
import { FOLDS, foldElements, knownElements } from "./elements.ts";
import { output, type NodeView, type TypeRule } from "./node-view.ts";

export const sameAsInput: TypeRule = (view) => {
  const known = output(view.dtype(0), view.shape(0));
  return [folded(view, [0], known)];
};

/** The rule for an output with the first input's shape and another data type. */
export const sameShape =
  (dtype: DType): TypeRule =>
  (view) => [folded(view, [0], output(dtype, view.shape(0)))];

/** The rule for an output with the first input's shape. An attribute can change the data type. */
export const likeInput: TypeRule = (view) => [
  output(view.dtypeOf("dtype", view.dtype(0)), view.shape(0)),
];

/** `BitCast`: the output has the first input's shape and the data type in an attribute. */
export const bitCast: TypeRule = (view) => [output(view.dtypeOf("to", null), view.shape(0))];

export const firstLikeInput: TypeRule = (view) => [output(view.dtype(0), view.shape(0))];

/**
 * The first version of arithmetic operators that broadcasts both inputs. Earlier versions broadcast only the second
 * input.
 */
const BROADCAST_SINCE = 7;

const positionsOf = (view: NodeView): readonly number[] => view.node.inputs.map((_, at) => at);

const broadcastOf = (view: NodeView, positions: readonly number[]): PartialShape =>
  view.opset < BROADCAST_SINCE
    ? view.shape(positions[0] ?? 0)
    : broadcastShapes(positions.map((position) => view.shape(position)));

/** The rule for operators that broadcast all inputs and keep their data type. */
export const broadcast: TypeRule = (view) => {
  const positions = positionsOf(view);
  const dtype = view.sharedDType(positions);
  return [folded(view, positions, output(dtype, broadcastOf(view, positions)))];
};

export const comparison: TypeRule = (view) => {
  const positions = positionsOf(view);
  view.sharedDType(positions);
  return [folded(view, positions, output("bool", broadcastOf(view, positions)))];
};

/** The rule for operators that broadcast all inputs and return the first input's data type. */
export const broadcastToFirst: TypeRule = (view) => {
  const positions = positionsOf(view);
  return [output(view.dtype(0), broadcastOf(view, positions))];
};

/** `Where`: the condition is broadcast with both choices. */
export const where: TypeRule = (view) => {
  const shape = broadcastShapes([0, 1, 2].map((position) => view.shape(position)));
  return [folded(view, [0, 1, 2], output(view.sharedDType([1, 2]), shape))];
};

/**
 * `Sum`, `Mean`, `Max` and `Min` broadcast all inputs since version 8. In earlier versions, all inputs have the same
 * shape.
 */
export const variadic: TypeRule = (view) => (view.opset >= 8 ? broadcast : alike)(view);

/** The rule for operators whose inputs and output share one type. */
export const alike: TypeRule = (view) => {
  const dtype = view.sharedDType(positionsOf(view));
  const shape = view
    .inputs()
    .reduce<PartialShape>((all, { type }) => unifyShapes(all, type?.shape ?? null), null);
  return [output(dtype, shape)];
};

/** `Dropout`: the output and the mask have data's shape. The mask is boolean since version 10. */
export const dropout: TypeRule = (view) => {
  const dtype = view.dtype(0);
  const shape = view.shape(0);
  return [output(dtype, shape), output(view.opset >= 10 ? "bool" : dtype, shape)];
};

/** Returns an output, including its elements if the operator is traced. */
function folded(view: NodeView, positions: readonly number[], known: Known): Known {
  const { op } = view.node;
  const { type } = known;
  if (type === null || type.shape === null || type.shape.length > 1) return known;
  const [length = 1] = type.shape;
  if (!Object.hasOwn(FOLDS, op) || typeof length !== "number") return known;
  if (op === "Mod" && view.int("fmod", 0) !== 0) return known;
  const lists = positions.map((position) => view.elements(position));
  const elements = foldElements(lists, length, FOLDS[op]);
  return elements === null ? known : knownElements(type.dtype, type.shape.length, elements);
}
