/** Shapes of operators that reduce axes, or that count, select or expand elements along an axis. */

import type { Dim, PartialShape } from "../../../core/tensor/shape.ts";
import { atAxes, atAxis, countedAxes, countedAxis, givenDim, unknownDims } from "./dims.ts";
import { output, type NodeView, type TypeRule } from "./node-view.ts";
import { fromFirst, type ShapeOf } from "./rule-kinds.ts";
import { axesOf } from "./shaping.ts";

/** The shape of a reduction whose axes are an attribute before version `since`, and an input since this version. */
export const reduced =
  (since: number): ShapeOf =>
  (view) => {
    const dims = view.shape(0);
    const axes = axesOf(view, since);
    const keeps = view.int("keepdims", 1);
    const isAll = axes === undefined || axes?.length === 0;
    const noop = isAll && view.opset >= since ? view.int("noop_with_empty_axes", 0) : 0;
    if (noop !== 0) return noop === null ? null : dims;
    if (isAll && keeps === 0) return [];
    if (dims === null || keeps === null) return null;
    if (keeps !== 0) return atAxes(dims, isAll ? undefined : axes, () => 1);
    return axes === null ? null : without(dims, axes ?? []);
  };

function without(dims: readonly Dim[], axes: readonly number[]): readonly Dim[] {
  const removed = countedAxes(axes, dims.length);
  return dims.filter((_, axis) => !removed.includes(axis));
}

export const argExtreme = fromFirst((dims, view) => {
  const axis = view.int("axis", 0);
  const keeps = view.int("keepdims", 1);
  if (keeps === null) return null;
  if (keeps !== 0) return atAxis(dims, axis, () => 1);
  return axis === null ? unknownDims(Math.max(0, dims.length - 1)) : without(dims, [axis]);
});

/** `TopK`: the number k is an attribute before version 10. */
export const topK = fromFirst((dims, view) => {
  const k = view.opset < 10 ? view.int("k", null) : view.integer(1);
  return atAxis(dims, view.int("axis", -1), () => givenDim(k));
});

/** `OneHot`: the output has an additional axis with `depth` elements. */
export const oneHot = fromFirst((dims, view) => {
  const axis = view.int("axis", -1);
  const rank = dims.length + 1;
  if (axis === null) return unknownDims(rank);
  return dims.toSpliced(countedAxis(axis, rank), 0, givenDim(view.integer(1)));
});

/**
 * `NonZero`: the number of results depends on values. For a scalar, runtimes return one row, but the specification
 * defines no rows.
 */
export const nonZero = (view: NodeView): PartialShape => [view.shape(0)?.length || null, null];

export const unique: TypeRule = (view) => {
  const dims = view.shape(0);
  const axis = view.int("axis", null);
  const isChanged = dims !== null && axis !== null;
  const found = isChanged
    ? atAxis(dims, axis, () => null)
    : view.hasAttribute("axis")
      ? null
      : [null];
  return [output(view.dtype(0), found), ...[1, 2, 3].map(() => output("int64", [null]))];
};
