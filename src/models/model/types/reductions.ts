/** Type rules for operators that reduce axes, or that count, select or expand elements along an axis. */

import type { DType } from "../../../core/tensor/dtype.ts";
import type { Dim, PartialShape } from "../../../core/tensor/shape.ts";
import { countedAxes, countedAxis, givenDim, unknownDims } from "./dims.ts";
import { output, type NodeView, type TypeRule } from "./node-view.ts";
import { axesOf } from "./shaping.ts";

/** The rule for reductions whose axes are an attribute before version `since`, and an input since this version. */
export const reduction =
  (since: number): TypeRule =>
  (view) => {
    const keeps = view.int("keepdims", 1);
    return [output(view.dtype(0), reducedDims(view, axesOf(view, since), keeps, since))];
  };

function reducedDims(
  view: NodeView,
  axes: readonly number[] | null | undefined,
  keeps: number | null,
  since: number,
): PartialShape {
  const dims = view.shape(0);
  const isAll = axes === undefined || axes?.length === 0;
  const noop = isAll && view.opset >= since ? view.int("noop_with_empty_axes", 0) : 0;
  if (noop !== 0) return noop === null ? null : dims;
  if (isAll && keeps === 0) return [];
  if (dims === null || keeps === null) return null;
  if (axes === null) return keeps === 0 ? null : unknownDims(dims.length);
  const reduced = countedAxes(isAll ? dims.map((_, axis) => axis) : (axes ?? []), dims.length);
  return keepOrDrop(dims, reduced, keeps !== 0);
}

function keepOrDrop(dims: readonly Dim[], reduced: readonly number[], isKept: boolean): Dim[] {
  return isKept
    ? dims.map((dim, axis) => (reduced.includes(axis) ? 1 : dim))
    : dims.filter((_, axis) => !reduced.includes(axis));
}

export const argExtreme: TypeRule = (view) => {
  const dims = view.shape(0);
  const axis = view.int("axis", 0);
  const keeps = view.int("keepdims", 1);
  if (dims === null || keeps === null) return [output("int64", null)];
  if (axis === null)
    return [output("int64", unknownDims(Math.max(0, dims.length - (keeps === 0 ? 1 : 0))))];
  return [output("int64", keepOrDrop(dims, [countedAxis(axis, dims.length)], keeps !== 0))];
};

/** `TopK`: the number k is an attribute before version 10. */
export const topK: TypeRule = (view) => {
  const dims = view.shape(0);
  const dtype = view.dtype(0);
  const both = (shape: PartialShape) => [output(dtype, shape), output("int64", shape)];
  const axis = view.int("axis", -1);
  if (dims === null) return both(null);
  if (axis === null) return both(unknownDims(dims.length));
  const k = view.opset < 10 ? view.int("k", null) : view.integer(1);
  const along = countedAxis(axis, dims.length);
  const taken = givenDim(k);
  return both(dims.map((dim, at) => (at === along ? taken : dim)));
};

/** `OneHot`: the output has an additional axis with `depth` elements. */
export const oneHot: TypeRule = (view) => {
  const dims = view.shape(0);
  const dtype = view.dtype(2);
  const axis = view.int("axis", -1);
  if (dims === null) return [output(dtype, null)];
  const rank = dims.length + 1;
  if (axis === null) return [output(dtype, unknownDims(rank))];
  const at = countedAxis(axis, rank);
  const depth = view.integer(1);
  const added = givenDim(depth);
  return [output(dtype, [...dims.slice(0, at), added, ...dims.slice(at)])];
};

/**
 * `NonZero`: the number of results depends on values. For a scalar, runtimes return one row, but the specification
 * defines no rows.
 */
export const nonZero: TypeRule = (view) => [output("int64", [view.shape(0)?.length || null, null])];

export const unique: TypeRule = (view) => {
  const dims = view.shape(0);
  const counts = [null];
  const isFlat = !view.hasAttribute("axis");
  const axis = view.int("axis", null);
  const found = isFlat
    ? counts
    : dims !== null && axis !== null
      ? dims.map((dim, at) => (at === countedAxis(axis, dims.length) ? null : dim))
      : null;
  const integers: DType = "int64";
  return [output(view.dtype(0), found), ...[1, 2, 3].map(() => output(integers, counts))];
};
