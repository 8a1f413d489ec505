/** Compares two tensors, bit by bit. */

import { TensorError } from "../errors.ts";
import {
  DTYPES,
  isNumericStorage,
  type DType,
  type NumericStorage,
  type Storage,
} from "./dtype.ts";
import { coordinatesOf, printShape, sameShape } from "./shape.ts";
import { bytesOf } from "./storage.ts";
import { asTensor, type RuntimeTensor, type Tensor } from "./tensor.ts";

/**
 * Returns true if two tensors have equal data types, shapes and bits; equal NaN bits are equal, but 0 is not -0.
 *
 * @param a a tensor, of this package or of onnxruntime
 * @param b a tensor, of this package or of onnxruntime
 * @throws TensorError `dtype` for a value that is not a tensor, `disposed`
 *
 * @example
 * ```ts
 * equals(tensor("float32", [2], [0, NaN]), tensor("float32", [2], [0, NaN])); // true
 * equals(tensor("float32", [1], [0]), tensor("float32", [1], [-0])); // false
 * ```
 */
export function equals(a: Tensor | RuntimeTensor, b: Tensor | RuntimeTensor): boolean {
  const [left, right] = [asTensor(a, {}, "a"), asTensor(b, {}, "b")];
  if (left.dtype !== right.dtype || !sameShape(left.shape, right.shape)) return false;
  return differenceAt(left, right) === -1;
}

/**
 * Returns the coordinates of the first element in which two tensors differ in any bit; null if all bits are equal.
 *
 * @param a a tensor, of this package or of onnxruntime
 * @param b a tensor, of this package or of onnxruntime
 * @throws TensorError `dtype` or `shape-mismatch` for tensors of different types or shapes, `disposed`
 *
 * @example
 * ```ts
 * firstDifference(tensor("int8", [2, 1], [1, 2]), tensor("int8", [2, 1], [1, 3])); // [1, 0]
 * ```
 */
export function firstDifference(
  a: Tensor | RuntimeTensor,
  b: Tensor | RuntimeTensor,
): number[] | null {
  const [left, right] = [asTensor(a, {}, "a"), asTensor(b, {}, "b")];
  if (left.dtype !== right.dtype) {
    const sentence = `the data types differ: ${left.dtype} and ${right.dtype}`;
    const types = { got: right.dtype, expected: left.dtype };
    throw new TensorError("dtype", sentence, { input: "b", other: "a", ...types });
  }
  if (!sameShape(left.shape, right.shape)) {
    const sentence = `the shapes differ: ${printShape(left.shape)} and ${printShape(right.shape)}`;
    const shapes = { got: right.shape, expected: left.shape };
    throw new TensorError("shape-mismatch", sentence, { input: "b", other: "a", ...shapes });
  }
  const position = differenceAt(left, right);
  return position === -1 ? null : coordinatesOf(position, left.shape);
}

interface Elements {
  readonly dtype: DType;
  readonly data: Storage;
}

/** Returns the position of the first element in which two tensors of the same data type and shape differ, or -1. */
export function differenceAt({ dtype, data }: Elements, other: Elements): number {
  if (!isNumericStorage(data)) {
    return data.findIndex((text, position) => text !== other.data[position]);
  }
  const left = bytesOf(data);
  const right = bytesOf(other.data as NumericStorage);
  for (let at = 4 * equalWords(left, right); at < left.length; at++) {
    if (left[at] !== right[at]) return Math.floor(at / DTYPES[dtype].bytes);
  }
  return -1;
}

/** Returns the number of equal 4-byte words before the first difference; 0 if an address is not a multiple of 4. */
function equalWords(a: Uint8Array, b: Uint8Array): number {
  if (a.byteOffset % 4 !== 0 || b.byteOffset % 4 !== 0) return 0;
  const count = Math.floor(a.length / 4);
  const left = new Uint32Array(a.buffer, a.byteOffset, count);
  const right = new Uint32Array(b.buffer, b.byteOffset, count);
  let at = 0;
  while (at < count && left[at] === right[at]) at++;
  return at;
}
