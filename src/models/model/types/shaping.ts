/** Type rules for operators that reshape tensors or create tensors from shapes. */

import type { Dim, PartialShape } from "../../../core/tensor/shape.ts";
import type { Known } from "../known.ts";
import {
  countedAxes,
  broadcastShapes,
  givenDim,
  productDims,
  quotientDims,
  sizeDim,
  unknownDims,
  wrongNode,
} from "./dims.ts";
import { elementsOf, knownElements, MAX_ELEMENTS } from "./elements.ts";
import { output, type NodeView, type TypeRule } from "./node-view.ts";

/** `Shape`: attributes can select a range of dimensions since version 15. */
export const shape: TypeRule = (view) => {
  const dims = view.shape(0);
  if (dims === null) return [output("int64", [null])];
  const { length: rank } = dims;
  const isPart = view.opset >= 15;
  const start = isPart ? view.int("start", 0) : 0;
  const end = isPart ? view.int("end", rank) : rank;
  if (start === null || end === null) return [output("int64", [null])];
  const from = (axis: number): number => Math.max(0, Math.min(rank, axis < 0 ? axis + rank : axis));
  return [knownElements("int64", 1, dims.slice(from(start), from(end)))];
};

export const size: TypeRule = (view) => {
  const dims = view.shape(0);
  return [knownElements("int64", 0, [dims === null ? null : productDims(dims)])];
};

/**
 * Returns the input's facts with another shape. The elements stay known if the result has at most one axis and the same
 * number of elements.
 */
function reshaped(view: NodeView, dims: PartialShape): Known {
  const dtype = view.dtype(0);
  const elements = elementsOf(view.input(0));
  const isShort = dims !== null && dims.length <= 1 && dims[0] !== null;
  return isShort && elements !== null
    ? knownElements(dtype, dims.length, elements)
    : output(dtype, dims);
}

/** `Reshape`: the target shape is an attribute before version 5. */
export const reshape: TypeRule = (view) => {
  const target = view.opset < 5 ? (view.ints("shape") ?? null) : view.elements(1);
  const zeros = view.opset < 14 ? 0 : view.int("allowzero", 0);
  if (target === null) return [output(view.dtype(0), null)];
  if (zeros === null) return [output(view.dtype(0), unknownDims(target.length))];
  return [reshaped(view, reshapeDims(view.shape(0), target, zeros === 0))];
};

function reshapeDims(input: PartialShape, target: readonly Dim[], isCopying: boolean): Dim[] {
  const rest = input === null ? null : [...input];
  const dims = target.map((dim, axis): Dim => {
    if (dim !== 0 || !isCopying) return typeof dim === "number" && dim !== -1 ? sizeDim(dim) : dim;
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

export const flatten: TypeRule = (view) => {
  const dims = view.shape(0);
  const axis = view.int("axis", 1);
  if (dims === null || axis === null) return [output(view.dtype(0), [null, null])];
  const { length: rank } = dims;
  if (axis < -rank || axis > rank) throw wrongNode(`rank ${rank} has no axis ${axis}`);
  const at = axis < 0 ? axis + rank : axis;
  return [output(view.dtype(0), [productDims(dims.slice(0, at)), productDims(dims.slice(at))])];
};

/**
 * Returns the axes; null if unknown. The axes are an attribute before version `since`, and the input at `position`
 * since this version.
 */
export function axesOf(
  view: NodeView,
  since: number,
  position = 1,
): readonly number[] | null | undefined {
  if (view.opset < since) return view.ints("axes");
  return view.has(position) ? view.integers(position) : undefined;
}

/** Returns the number of axes in an input, which may be known even if the axes are unknown. */
const axisCount = (view: NodeView): number | null =>
  view.opset < 13 ? null : (view.elements(1)?.length ?? null);

export const unsqueeze: TypeRule = (view) => {
  const dims = view.shape(0);
  const axes = axesOf(view, 13);
  if (dims === null || axes === undefined) return [output(view.dtype(0), null)];
  if (axes === null) {
    const count = axisCount(view);
    return [output(view.dtype(0), count === null ? null : unknownDims(dims.length + count))];
  }
  const rank = dims.length + axes.length;
  const added = countedAxes(axes, rank);
  const rest = [...dims];
  const made = Array.from({ length: rank }, (_, axis): Dim =>
    added.includes(axis) ? 1 : (rest.shift() ?? null),
  );
  return [reshaped(view, made)];
};

export const squeeze: TypeRule = (view) => {
  const dims = view.shape(0);
  const axes = axesOf(view, 13);
  if (dims === null) return [output(view.dtype(0), null)];
  if (axes === null) {
    const count = axisCount(view);
    if (count !== null && count > dims.length)
      throw wrongNode("axes must not name more axes than the input has");
    return [output(view.dtype(0), count === null ? null : unknownDims(dims.length - count))];
  }
  if (axes === undefined) {
    const isKnown = dims.every((dim) => typeof dim === "number");
    return [
      isKnown
        ? reshaped(
            view,
            dims.filter((dim) => dim !== 1),
          )
        : output(view.dtype(0), null),
    ];
  }
  const removed = countedAxes(axes, dims.length);
  for (const axis of removed) {
    const { [axis]: dim } = dims;
    if (typeof dim === "number" && dim !== 1) throw wrongNode(`axis ${axis} has ${dim} elements`);
  }
  return [
    reshaped(
      view,
      dims.filter((_, axis) => !removed.includes(axis)),
    ),
  ];
};

export const transpose: TypeRule = (view) => {
  const dims = view.shape(0);
  const perm = view.ints("perm");
  if (perm === null) return [output(view.dtype(0), dims && unknownDims(dims.length))];
  if (dims === null)
    return [output(view.dtype(0), perm === undefined ? null : unknownDims(perm.length))];
  const order = perm ?? dims.map((_, axis) => dims.length - 1 - axis);
  const axes = countedAxes(order, dims.length);
  if (axes.length < dims.length) throw wrongNode("perm must name all axes");
  return [
    reshaped(
      view,
      axes.map((axis) => dims[axis]),
    ),
  ];
};

/** Reads a shape from a value's elements. If the elements are unknown, only the rank is known. */
function shapeFrom(view: NodeView, position: number): readonly Dim[] | null {
  const dims = view.elements(position);
  return dims?.map(givenDim) ?? null;
}

export const expand: TypeRule = (view) => {
  const target = shapeFrom(view, 1);
  const dims = broadcastShapes([view.shape(0), target]);
  const elements = elementsOf(view.input(0));
  const [count = 1] = dims ?? [null];
  const isRepeated = elements?.length === 1 && dims !== null && dims.length <= 1;
  if (isRepeated && typeof count === "number" && count <= MAX_ELEMENTS) {
    const repeated = Array.from({ length: count }, () => elements[0]);
    return [knownElements(view.dtype(0), dims.length, repeated)];
  }
  return [output(view.dtype(0), dims)];
};

/** `ConstantOfShape`: the elements are float32 zeros unless an attribute gives another value. */
export const constantOfShape: TypeRule = (view) => {
  const dims = shapeFrom(view, 0);
  const isGiven = view.hasAttribute("value");
  const value = view.tensor("value");
  const dtype = isGiven ? (value?.dtype ?? null) : "float32";
  if (dims === null || dims.length > 1) return [output(dtype, dims)];
  const [count = 1] = dims;
  if (typeof count !== "number" || count > MAX_ELEMENTS) return [output(dtype, dims)];
  const [element = null] = elementsOf({ type: null, constant: value, elements: null }) ?? [];
  return [
    knownElements(
      dtype,
      dims.length,
      Array.from({ length: count }, () => element),
    ),
  ];
};

export const range: TypeRule = (view) => {
  const dtype = view.sharedDType([0, 1, 2]);
  const [start, limit, delta] = [0, 1, 2].map((position) => view.integer(position));
  const isFromZero = start === 0 && delta === 1;
  if (typeof start !== "number" || typeof limit !== "number" || typeof delta !== "number")
    return [output(dtype, [isFromZero && typeof limit === "string" ? limit : null])];
  if (delta === 0) throw wrongNode("delta is 0");
  const count = Math.max(0, Math.ceil((limit - start) / delta));
  if (count > MAX_ELEMENTS) return [output(dtype, [sizeDim(count)])];
  const elements = Array.from({ length: count }, (_, position) => start + position * delta);
  return [knownElements(dtype, 1, elements)];
};

/** The rule for operators with a shape attribute and a data type attribute. */
export const shapeAttribute: TypeRule = (view) => {
  const dims = view.ints("shape");
  return [output(view.dtypeOf("dtype", "float32"), dims?.map(sizeDim) ?? null)];
};
