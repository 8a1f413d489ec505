/** Represents a call's arrays, and converts a library's call to an operator's form. */

import { TensorError, type DType } from "ndscatter";
import { printShape } from "ndscatter/operators";
import { checkShape } from "../../values/limits.ts";
import { coordinatesOf, positionOf, sizeOf } from "../../values/shape.ts";
import type { TensorText } from "../../values/state.ts";

type Shape = readonly number[];

export interface Arr extends TensorText {
  /** True if the text names the data type. Otherwise, the library and the elements determine it. */
  readonly isSaid: boolean;
}

export const filledWith = (like: Arr, shape: Shape, text: string): Arr => {
  checkShape(shape, "the array");
  return { ...like, shape, values: Array<string>(sizeOf(shape)).fill(text) };
};

/** Returns an array whose elements are those at the places that `from` returns. */
function picked(array: Arr, shape: Shape, from: (at: Shape) => Shape): Arr {
  const places = Array.from({ length: sizeOf(shape) }, (_, p) => from(coordinatesOf(p, shape)));
  return { ...array, shape, values: places.map((at) => array.values[positionOf(at, array.shape)]) };
}

/** Crops an array to the first elements along each axis. */
export const cropped = (array: Arr, shape: Shape): Arr => picked(array, shape, (at) => at);

/** Repeats a 1-D array so that it indexes one axis of an array with the given shape. */
export const alongAxis = (index: Arr, axis: number, shape: Shape): Arr =>
  picked(index, shape.with(axis, index.values.length), (at) => [at[axis]]);

/** Checks whether a shape can be broadcast to another one by NumPy's rules. */
const fitsIn = (own: Shape, shape: Shape): boolean =>
  own.length <= shape.length &&
  own.every((dim, d) => dim === 1 || dim === shape[d + shape.length - own.length]);

/** Broadcasts an array to a shape by NumPy's rules. */
export function broadcast(array: Arr, shape: Shape): Arr {
  if (String(array.shape) === String(shape)) return array;
  checkShape(shape, "the array");
  if (!fitsIn(array.shape, shape)) {
    const sentence = `an array of shape ${printShape(array.shape)} does not broadcast to ${printShape(shape)}`;
    throw new TensorError("shape-mismatch", sentence, { key: "array" });
  }
  const lead = shape.length - array.shape.length;
  return picked(array, shape, (at) => array.shape.map((dim, d) => (dim === 1 ? 0 : at[d + lead])));
}

/** Broadcasts an array to a shape; an array that does not fit stays as it is, and the page reports its shape. */
export const grownTo = (array: Arr, shape: Shape): Arr =>
  fitsIn(array.shape, shape) ? broadcast(array, shape) : array;

/** Combines one array per axis into index tuples. */
export function stacked(components: readonly Arr[]): Arr {
  const [first] = components;
  const rank = Math.max(...components.map(({ shape }) => shape.length));
  const shape = Array.from({ length: rank }, (_, d) => {
    const dims = components.map((one) => one.shape[d - rank + one.shape.length] ?? 1);
    return dims.find((dim) => dim !== 1) ?? 1;
  });
  const parts = components.map((one) => broadcast(one, shape));
  const values = Array.from({ length: sizeOf(shape) }, (_, position) =>
    parts.map((one) => one.values[position]),
  ).flat();
  return { ...first, shape: [...shape, components.length], values };
}

/** Returns a library's default data type for untyped elements. */
export function inferredType(
  words: readonly { text: string; isQuoted: boolean }[],
  library: string,
): DType {
  const isNarrow = library === "tf" || library === "jax";
  const isWide = library === "numpy";
  if (words.length > 0 && words.every(({ isQuoted }) => isQuoted)) return "string";
  if (words.length > 0 && words.every(({ text }) => /^(?:np\.)?(?:true|false)_?$/i.test(text)))
    return "bool";
  if (words.some(({ text }) => /\dj$/i.test(text))) return isWide ? "complex128" : "complex64";
  if (words.length > 0 && words.every(({ text }) => /^[-+]?(?:\d+n?|0x[\da-f]+)$/i.test(text))) {
    return isNarrow ? "int32" : "int64";
  }
  return isWide ? "float64" : "float32";
}
