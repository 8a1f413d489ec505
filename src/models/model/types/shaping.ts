/** Shapes of operators that reshape or reduce tensors, or that create tensors from shapes. */

import type { Dim, PartialShape } from "../../../core/tensor/shape.ts";
import {
  atAxes,
  atAxis,
  broadcastShapes,
  countedAxes,
  countedAxis,
  givenDim,
  productDims,
  quotientDims,
  sizeDim,
  unknownDims,
  wrongNode,
} from "./dims.ts";
import { fromFirst, output, type NodeView, type ShapeOf, type TypeRule } from "./rules.ts";

/** Returns the elements of `Shape`'s result. Attributes can select a range of dimensions since version 15. */
export function shapePart(view: NodeView): readonly Dim[] | null {
  const dims = view.shape(0);
  if (dims === null || view.opset < 15) return dims;
  const { length: rank } = dims;
  const [start, end] = [view.int("start", 0), view.int("end", rank)];
  if (start === null || end === null) return null;
  const from = (axis: number): number => Math.max(0, Math.min(rank, axis < 0 ? axis + rank : axis));
  return dims.slice(from(start), from(end));
}

/** `Reshape`: the target shape is an attribute before version 5. */
export function reshaped(view: NodeView): PartialShape {
  const target = view.opset < 5 ? (view.ints("shape") ?? null) : view.elements(1);
  const zeros = view.opset < 14 ? 0 : view.int("allowzero", 0);
  if (target === null || zeros === null) return target && unknownDims(target.length);
  return reshapeDims(view.shape(0), target, zeros === 0);
}

function reshapeDims(input: PartialShape, target: readonly Dim[], isCopying: boolean): Dim[] {
  const rest = input === null ? null : [...input];
  const dims = target.map((dim, axis): Dim => {
    if (dim !== 0 || !isCopying) return dim === -1 ? dim : givenDim(dim);
    if (input === null) return null;
    if (axis >= input.length)
      throw wrongNode(
        `a 0 in shape must have a dimension to copy, but the input has no axis ${axis}`,
      );
    // A copied dimension occurs in both products and cancels. A product of 0 cannot be divided.
    if (rest !== null && input[axis] !== 0) rest[axis] = 1;
    return input[axis];
  });
  const copied = (axis: number): boolean => isCopying && target[axis] === 0 && input?.[axis] !== 0;
  const parts = dims.filter((dim, axis) => dim !== -1 && !copied(axis));
  const open = dims.filter((dim) => dim === -1).length;
  if (open > 1) throw wrongNode("at most one dimension may be -1");
  const missing = rest === null ? null : quotientDims(rest, parts);
  const isWhole = open === 0 && rest !== null && parts.every((dim) => typeof dim === "number");
  if (isWhole && rest.every((dim) => typeof dim === "number")) {
    const [before, after] = [productDims(rest), productDims(parts)];
    if (before !== after) throw wrongNode(`${before} and ${after} elements`);
  }
  // An unknown dimension may be the -1 itself.
  return dims.map((dim) => (dim === -1 ? (target.includes(null) ? null : missing) : dim));
}

export function flattened(view: NodeView): PartialShape {
  const dims = view.shape(0);
  const axis = view.int("axis", 1);
  if (dims === null || axis === null) return [null, null];
  const { length: rank } = dims;
  if (axis < -rank || axis > rank) throw wrongNode(`rank ${rank} has no axis ${axis}`);
  const at = axis < 0 ? axis + rank : axis;
  return [productDims(dims.slice(0, at)), productDims(dims.slice(at))];
}

/** Returns the axes; null if unknown. The axes are an attribute before version `since`, and the second input later. */
export function axesOf(view: NodeView, since: number): readonly number[] | null | undefined {
  if (view.opset < since) return view.ints("axes");
  return view.has(1) ? view.integers(1) : undefined;
}

/** Returns a shape of unknown dimensions. The number of axes in an input may be known even if the axes are unknown. */
function rankWith(view: NodeView, rankOf: (count: number) => number): PartialShape {
  const count = view.opset < 13 ? undefined : view.elements(1)?.length;
  if (count === undefined) return null;
  const rank = rankOf(count);
  if (rank < 0) throw wrongNode("axes must not name more axes than the input has");
  return unknownDims(rank);
}

export const unsqueezed = /* @__PURE__ */ fromFirst((dims, view) => {
  const axes = axesOf(view, 13);
  if (axes === undefined) return null;
  if (axes === null) return rankWith(view, (count) => dims.length + count);
  const rank = dims.length + axes.length;
  const added = countedAxes(axes, rank);
  const rest = dims.values();
  return unknownDims(rank).map((_, axis) =>
    added.includes(axis) ? 1 : (rest.next().value ?? null),
  );
});

export const squeezed = /* @__PURE__ */ fromFirst((dims, view) => {
  const axes = axesOf(view, 13);
  if (axes === null) return rankWith(view, (count) => dims.length - count);
  if (axes === undefined)
    return dims.every((dim) => typeof dim === "number") ? dims.filter((dim) => dim !== 1) : null;
  for (const axis of countedAxes(axes, dims.length)) {
    const { [axis]: dim } = dims;
    if (typeof dim === "number" && dim !== 1)
      throw wrongNode(`axis ${axis} must have the size 1, got ${dim}`);
  }
  return without(dims, axes);
});

export function transposed(view: NodeView): PartialShape {
  const dims = view.shape(0);
  const perm = view.ints("perm");
  if (dims === null || perm === null) {
    const rank = dims?.length ?? perm?.length;
    return rank === undefined ? null : unknownDims(rank);
  }
  const axes = countedAxes(perm ?? [...dims.keys()].reverse(), dims.length);
  if (axes.length < dims.length) throw wrongNode("perm must name all axes");
  return axes.map((axis) => dims[axis]);
}

/** Reads a shape from a value's elements. If the elements are unknown, only the rank is known. */
export const shapeFrom = (view: NodeView, position: number): PartialShape =>
  view.elements(position)?.map(givenDim) ?? null;

export const expanded = (view: NodeView): PartialShape =>
  broadcastShapes([view.shape(0), shapeFrom(view, 1)]);

/** Returns the start, the limit and the step of a `Range`. */
export const rangeOf = (view: NodeView): Dim[] =>
  [0, 1, 2].map((position) => view.integer(position));

export function ranged(view: NodeView): PartialShape {
  const [start, limit, delta] = rangeOf(view);
  const isFromZero = start === 0 && delta === 1;
  if (typeof start !== "number" || typeof limit !== "number" || typeof delta !== "number")
    return [isFromZero && typeof limit === "string" ? limit : null];
  if (delta === 0) throw wrongNode("delta is 0");
  return [sizeDim(Math.max(0, Math.ceil((limit - start) / delta)))];
}

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

export const argExtreme = /* @__PURE__ */ fromFirst((dims, view) => {
  const axis = view.int("axis", 0);
  const keeps = view.int("keepdims", 1);
  if (keeps === null) return null;
  if (keeps !== 0) return atAxis(dims, axis, () => 1);
  return axis === null ? unknownDims(Math.max(0, dims.length - 1)) : without(dims, [axis]);
});

/** `TopK`: the number k is an attribute before version 10. */
export const topK = /* @__PURE__ */ fromFirst((dims, view) => {
  const k = view.opset < 10 ? view.int("k", null) : view.integer(1);
  return atAxis(dims, view.int("axis", -1), () => givenDim(k));
});

/** `OneHot`: the output has an additional axis with `depth` elements. */
export const oneHot = /* @__PURE__ */ fromFirst((dims, view) => {
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
