/** Represents a call's arrays, and converts a library's call to an operator's form. */

import { TensorError, type DType } from "ndscatter";
import { printShape } from "ndscatter/operators";
import { checkShape } from "../../values/limits.ts";
import { coordinatesOf, positionOf, sizeOf } from "../../values/shape.ts";
import type { TensorText } from "../../values/state.ts";

export interface Arr extends TensorText {
  /** True if the text names the data type. Otherwise, the library and the elements determine it. */
  readonly isSaid: boolean;
}

const wrong = (sentence: string): TensorError =>
  new TensorError("shape-mismatch", sentence, { key: "array" });

export const numbers = (values: readonly number[], shape: readonly number[]): Arr => ({
  dtype: "int64",
  shape,
  values: values.map(String),
  isSaid: false,
});

export const filledWith = (like: Arr, shape: readonly number[], text: string): Arr => {
  checkShape(shape, "the array");
  return { ...like, shape, values: Array<string>(sizeOf(shape)).fill(text) };
};

/** Broadcasts an array to a shape by NumPy's rules. */
export function broadcast(array: Arr, shape: readonly number[]): Arr {
  if (String(array.shape) === String(shape)) return array;
  checkShape(shape, "the array");
  const lead = shape.length - array.shape.length;
  const fits = lead >= 0 && array.shape.every((dim, d) => dim === 1 || dim === shape[d + lead]);
  if (!fits) {
    throw wrong(
      `an array of shape ${printShape(array.shape)} does not broadcast to ${printShape(shape)}`,
    );
  }
  const values = Array.from({ length: sizeOf(shape) }, (_, position) => {
    const at = coordinatesOf(position, shape).slice(lead);
    return array.values[
      positionOf(
        at.map((one, d) => (array.shape[d] === 1 ? 0 : one)),
        array.shape,
      )
    ];
  });
  return { ...array, shape, values };
}

export function commonShape(shapes: readonly (readonly number[])[]): number[] {
  const rank = Math.max(...shapes.map(({ length }) => length));
  return Array.from({ length: rank }, (_, d) => {
    const dims = shapes.map((shape) => shape[d - rank + shape.length] ?? 1);
    return dims.find((dim) => dim !== 1) ?? 1;
  });
}

/** Combines one array per axis into index tuples. */
export function stacked(components: readonly Arr[]): Arr {
  const [first] = components;
  const shape = commonShape(components.map((one) => one.shape));
  const parts = components.map((one) => broadcast(one, shape));
  const values = Array.from({ length: sizeOf(shape) }, (_, position) =>
    parts.map((one) => one.values[position]),
  ).flat();
  return { ...first, shape: [...shape, components.length], values };
}

/** Crops an array to the first elements along each axis. */
export function cropped(array: Arr, shape: readonly number[]): Arr {
  const values = Array.from(
    { length: sizeOf(shape) },
    (_, position) => array.values[positionOf(coordinatesOf(position, shape), array.shape)],
  );
  return { ...array, shape, values };
}

/** Reshapes a 1-D array so that it indexes one axis of an array with the given shape. */
export function alongAxis(index: Arr, axis: number, shape: readonly number[]): Arr {
  const full = shape.map((dim, d) => (d === axis ? index.values.length : dim));
  const thin = { ...index, shape: full.map((_, d) => (d === axis ? index.values.length : 1)) };
  return broadcast(thin, full);
}

export const reshapedTo = (array: Arr, shape: readonly number[]): Arr => ({ ...array, shape });

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
