/** Arithmetic with partly known dimensions. Uncertain results are null. */

import { TensorError } from "../../../core/errors.ts";
import { unifyDims, type Dim, type PartialShape } from "../../../core/tensor/shape.ts";

/**
 * Creates the error that a rule throws for a certainly invalid node. `outputsOf` catches the error and treats the
 * outputs as unknown.
 */
export const wrongNode = (sentence: string): TensorError =>
  new TensorError("shape-mismatch", sentence, { key: "shape" });

export const unknownDims = (count: number): Dim[] => Array<Dim>(count).fill(null);

/** Returns a computed size; null if the size is too large to be exact. */
export function sizeDim(size: number): Dim {
  if (size < 0) throw wrongNode(`a dimension must be 0 or more, got ${size}`);
  return Number.isSafeInteger(size) ? size + 0 : null;
}

export const givenDim = (given: Dim): Dim => (typeof given === "number" ? sizeDim(given) : given);

export function sameDim(a: Dim, b: Dim): Dim {
  if (typeof a === "number" && typeof b === "number" && a !== b)
    throw wrongNode(`${a} and ${b} must be equal`);
  return unifyDims(a, b);
}

export function unifyShapes(a: PartialShape, b: PartialShape): PartialShape {
  if (a === null || b === null) return a ?? b;
  if (a.length !== b.length) throw wrongNode(`ranks ${a.length} and ${b.length} must be equal`);
  return a.map((dim, axis) => sameDim(dim, b[axis]));
}

export function broadcastDim(a: Dim, b: Dim): Dim {
  if (a === 1 || a === b) return b;
  if (b === 1) return a;
  // A known size other than 1 is the result, because the other dimension must be 1 or equal to it.
  if (typeof a === "number") return typeof b === "number" ? sameDim(a, b) : a;
  return typeof b === "number" ? b : null;
}

/** Broadcasts shapes to each other. ONNX: Broadcasting. */
export function broadcastShapes(shapes: readonly PartialShape[]): PartialShape {
  let result: readonly Dim[] = [];
  for (const shape of shapes) {
    if (shape === null) return null;
    const [long, short] = shape.length > result.length ? [shape, result] : [result, shape];
    const more = long.length - short.length;
    result = long.map((dim, axis) => (axis < more ? dim : broadcastDim(dim, short[axis - more])));
  }
  return result;
}

const isNumber = (dim: Dim): dim is number => typeof dim === "number";

export function sumDims(dims: readonly Dim[]): Dim {
  const others = dims.filter((dim) => !isNumber(dim));
  const sum = dims.filter(isNumber).reduce((total, dim) => total + dim, 0);
  if (others.length === 0) return sizeDim(sum);
  return others.length === 1 && sum === 0 ? others[0] : null;
}

const productOf = (dims: readonly Dim[]): number =>
  dims.filter(isNumber).reduce((total, dim) => total * dim, 1);

export function productDims(dims: readonly Dim[]): Dim {
  if (dims.includes(0)) return 0;
  const others = dims.filter((dim) => !isNumber(dim));
  const size = productOf(dims);
  if (others.length === 0) return sizeDim(size);
  return others.length === 1 && size === 1 ? others[0] : null;
}

/**
 * Returns the missing factor with which the product of `parts` equals the product of `dims`. Equal names cancel,
 * because a name stands for one size.
 */
export function quotientDims(dims: readonly Dim[], parts: readonly Dim[]): Dim {
  const rest = dims.filter((dim) => !isNumber(dim));
  const isCancelled = parts.every((dim) => {
    if (isNumber(dim)) return true;
    const place = dim === null ? -1 : rest.indexOf(dim);
    if (place >= 0) rest.splice(place, 1);
    return place >= 0;
  });
  if (!isCancelled || rest.includes(null)) return null;
  const [size, divisor] = [productOf(dims), productOf(parts)];
  if (divisor === 0 || !Number.isSafeInteger(size) || !Number.isSafeInteger(divisor)) return null;
  if (rest.length === 1) return size === divisor ? rest[0] : null;
  if (rest.length > 1) return null;
  if (size % divisor !== 0)
    throw wrongNode(`the number of elements must be a multiple of ${divisor}, got ${size}`);
  return sizeDim(size / divisor);
}

export function countedAxis(axis: number, rank: number): number {
  if (axis < -rank || axis >= rank)
    throw wrongNode(`an axis must be from ${-rank} to ${rank - 1}, got ${axis}`);
  return axis < 0 ? axis + rank : axis;
}

/** Returns distinct axes, counted from the front. */
export function countedAxes(axes: readonly number[], rank: number): number[] {
  const counted = axes.map((axis) => countedAxis(axis, rank));
  if (new Set(counted).size < counted.length) throw wrongNode("an axis must not be named twice");
  return counted;
}

/** Changes the dimension at an axis. If the axis is unknown, only the rank is known. */
export function atAxis(
  dims: readonly Dim[],
  axis: number | null,
  change: (dim: Dim) => Dim,
): readonly Dim[] {
  return atAxes(dims, axis === null ? null : [axis], change);
}

/**
 * Changes the dimensions at the given axes, by default at all axes. The callback also gets an axis's position in the
 * list. If the axes are unknown, only the rank is known.
 */
export function atAxes(
  dims: readonly Dim[],
  axes: readonly number[] | null | undefined,
  change: (dim: Dim, at: number) => Dim,
): readonly Dim[] {
  if (axes === null) return unknownDims(dims.length);
  const counted = countedAxes(axes ?? [...dims.keys()], dims.length);
  return dims.map((dim, axis) => {
    const at = counted.indexOf(axis);
    return at < 0 ? dim : change(dim, at);
  });
}
