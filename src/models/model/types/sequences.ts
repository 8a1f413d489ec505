/** Type rules for sequences and optionals, and for tensors taken from them. The tensors in a sequence share a type. */

import type { TensorType } from "../../../core/operators/operator.ts";
import { eitherKnown, NOTHING_KNOWN, typeOnly, type Known } from "../known.ts";
import { countedAxis } from "./dims.ts";
import { output, type NodeView, type TypeRule } from "./rules.ts";

/** A sequence or an optional whose tensors have this type. */
const holding = (item: TensorType | null): Known =>
  item === null ? NOTHING_KNOWN : { ...NOTHING_KNOWN, item };

/** Returns the facts that hold for all types; null if a type is unknown, or if data types differ. */
const common = (types: readonly (TensorType | null)[]): TensorType | null =>
  types.reduce(
    (one, other) => one && other && eitherKnown(typeOnly(one), typeOnly(other)).type,
    types[0] ?? null,
  );

const itemOf = (view: NodeView): TensorType | null => view.input(0).item ?? null;

export const construct: TypeRule = (view) => [
  holding(common(view.inputs().map(({ type }) => type))),
];

export const empty: TypeRule = (view) => {
  const dtype = view.dtypeOf("dtype", "float32");
  return [holding(dtype && { dtype, shape: null })];
};

export const insert: TypeRule = (view) => [holding(common([itemOf(view), view.input(1).type]))];

export const erase: TypeRule = (view) => [holding(itemOf(view))];

/** `SplitToSequence`: all parts have the same size along the axis, or lack the axis. */
export const split: TypeRule = (view) => {
  const { type } = view.input(0);
  const axis = view.int("axis", 0);
  const keeps = view.has(1) ? 1 : view.int("keepdims", 1);
  if (type === null) return [];
  const { dtype, shape } = type;
  if (shape === null || axis === null || keeps === null) return [holding({ dtype, shape: null })];
  const at = countedAxis(axis, shape.length);
  const size = view.has(1) ? null : 1;
  return [holding({ dtype, shape: keeps === 0 ? shape.toSpliced(at, 1) : shape.with(at, size) })];
};

/** `SequenceAt` and `OptionalGetElement` return a tensor of the sequence or the optional. */
export const element: TypeRule = (view) => {
  const item = view.input(0).type ?? itemOf(view);
  return [item === null ? NOTHING_KNOWN : typeOnly(item)];
};

/** `Optional` of a tensor. An optional of a sequence is unknown. */
export const optional: TypeRule = (view) => [holding(view.input(0).type)];

export const concatenate: TypeRule = (view) => {
  const { dtype = null, shape = null } = itemOf(view) ?? {};
  const axis = view.int("axis", null);
  const isNew = view.int("new_axis", 0);
  if (shape === null || axis === null || isNew === null) return [output(dtype, null)];
  const at = countedAxis(axis, shape.length + isNew);
  return [output(dtype, isNew === 1 ? shape.toSpliced(at, 0, null) : shape.with(at, null))];
};
