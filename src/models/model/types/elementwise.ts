/** Rules for element-wise operators: outputs like an input, and broadcasting. */

import type { DType } from "../../../core/tensor/dtype.ts";
import type { PartialShape } from "../../../core/tensor/shape.ts";
import type { Known } from "../known.ts";
import { broadcastShapes, unifyShapes } from "./dims.ts";
import { FOLDS, foldElements, knownElements } from "./elements.ts";
import { output, type NodeView, type TypeRule } from "./node-view.ts";

/** The rule for outputs with the type of the first input. */
export const sameAsInput: TypeRule = (view) => {
  const known = output(view.dtype(0), view.shape(0));
  return [folded(view, [0], known)];
};

/** The rule for outputs with the shape of the first input and another data type. */
export const sameShape =
  (dtype: DType): TypeRule =>
  (view) => [folded(view, [0], output(dtype, view.shape(0)))];

/** The shape of the first input with the data type of an attribute, by default the input's. */
export const likeInput: TypeRule = (view) => [
  output(view.dtypeOf("dtype", view.dtype(0)), view.shape(0)),
];

/** `BitCast`: the shape of the first input with the data type of an attribute. */
export const bitCast: TypeRule = (view) => [output(view.dtypeOf("to", null), view.shape(0))];

/** The rule for operators whose first output is like the first input; other outputs are unknown. */
export const firstLikeInput: TypeRule = (view) => [output(view.dtype(0), view.shape(0))];

/**
 * The version of the arithmetic operators that broadcasts both inputs; earlier versions broadcast only the second input
 * to the first.
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

/** The rule for operators that broadcast all inputs to a boolean output. */
export const comparison: TypeRule = (view) => {
  const positions = positionsOf(view);
  view.sharedDType(positions);
  return [folded(view, positions, output("bool", broadcastOf(view, positions)))];
};

/** The rule for operators that broadcast all inputs; the output has the data type of the first input. */
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
 * `Sum`, `Mean`, `Max` and `Min`, which broadcast since version 8; in earlier versions all inputs have the same shape.
 */
export const variadic: TypeRule = (view) => (view.opset >= 8 ? broadcast : alike)(view);

/** The rule for operators whose inputs and output have the same type. */
export const alike: TypeRule = (view) => {
  const dtype = view.sharedDType(positionsOf(view));
  const shape = view
    .inputs()
    .reduce<PartialShape>((all, { type }) => unifyShapes(all, type?.shape ?? null), null);
  return [output(dtype, shape)];
};

/** `Dropout`: the output and the mask have the shape of data; the mask is boolean since version 10. */
export const dropout: TypeRule = (view) => {
  const dtype = view.dtype(0);
  const shape = view.shape(0);
  return [output(dtype, shape), output(view.opset >= 10 ? "bool" : dtype, shape)];
};

/** Returns an output, with its elements if the operator's results are traced. */
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
