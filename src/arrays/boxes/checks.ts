/** Checks the arguments of an array's methods before anything is read or written. */

import {
  factOf,
  isArray,
  printCount,
  printValue,
  wrongOption,
  wrongValue,
} from "../../core/foreign.ts";
import { TensorError } from "../../core/errors.ts";
import { isNumericStorage, rowOf } from "../../core/tensor/dtype.ts";
import { printShape, product } from "../../core/tensor/shape.ts";
import { bytesOf, isUint8Array, typedLength } from "../../core/tensor/storage.ts";
import { asTensor, Tensor } from "../../core/tensor/tensor.ts";
import type { ArrayType } from "./array.ts";
import { gridOf } from "./boxes.ts";
import { Grid } from "./grid.ts";

/** Throws an `attribute` error for a value, such as a path, that no function of this package has opened as an array. */
export function checkOpened(input: string, array: unknown): void {
  if (typeof array === "object" && array !== null && "location" in array) return;
  const advice =
    typeof array === "string"
      ? "; pass await openArray(path)"
      : Tensor.isTensor(array)
        ? "; for tensors, use gather or scatterND of ndscatter"
        : "";
  const sentence = `${input} must be an array that openArray has opened, got ${printValue(array)}${advice}`;
  throw new TensorError("attribute", sentence, { input, key: input, got: factOf(array) });
}

/**
 * Checks a list of non-negative integers, one per axis. Returns a copy, because the caller may change the original
 * list.
 */
export function checkCoordinates(given: unknown, rank: number, name: string): number[] {
  if (!isArray(given) || given.length !== rank) {
    const got = isArray(given) ? given.length : printValue(given);
    throw new TensorError("rank", `${name} must be a list of ${rank} integers, got ${got}`, {
      key: name,
      got,
      expected: rank,
    });
  }
  return Array.from(given, (one, axis) => {
    if (Number.isSafeInteger(one) && Number(one) >= 0) return Number(one) + 0;
    const must = `${name} must be integers of 0 or more`;
    throw wrongValue("shape-mismatch", must, one, { key: name, axis });
  });
}

/** Returns the checked coordinates at which a box begins; zeros by default. */
export const checkStart = (given: unknown, { shape }: ArrayType): number[] =>
  given === undefined
    ? shape.map(() => 0)
    : checkCoordinates(given, shape.length, "the start of a box");

/** A box of the array, and the memory from which or to which its elements are copied. */
export interface CheckedBox {
  readonly start: readonly number[];
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

/** Checks a box and the memory that will receive its elements. */
export function checkRead(
  start: unknown,
  shape: unknown,
  into: unknown,
  array: ArrayType,
): CheckedBox {
  const from = checkStart(start, array);
  const dims = checkCoordinates(shape, array.shape.length, "the shape of a box");
  checkBox(from, dims, array.shape);
  const bytes = checkBytes(into, dims, rowOf(array.dtype).bytes, "into");
  return { start: from, shape: dims, bytes };
}

/** Checks a box and the values that will be written to it. */
export function checkWrite(values: unknown, start: unknown, array: ArrayType): CheckedBox {
  const { dtype, shape, data } = asTensor(values, {}, "values");
  if (dtype !== array.dtype || !isNumericStorage(data)) {
    const sentence = `the values must be ${array.dtype}, the data type of the array, got ${dtype}`;
    throw new TensorError("dtype", sentence, {
      input: "values",
      got: dtype,
      expected: array.dtype,
    });
  }
  const from = checkStart(start, array);
  if (shape.length !== array.shape.length) {
    const sentence = `the values must have the rank of the array, ${printShape(array.shape)}, got ${printShape(shape)}`;
    throw new TensorError("rank", sentence, {
      input: "values",
      got: shape.length,
      expected: array.shape.length,
    });
  }
  checkBox(from, shape, array.shape);
  return { start: from, shape, bytes: bytesOf(data) };
}

/** Checks a chunk's coordinates and the memory for its elements. */
export function checkChunkBytes(
  at: unknown,
  bytes: unknown,
  array: ArrayType,
  name: "from" | "into",
): CheckedBox & { readonly at: readonly number[] } {
  const checked = checkChunk(at, array);
  const { start, shape } = new Grid(array.shape, array.chunkShape).boxAt(checked);
  return {
    at: checked,
    start,
    shape,
    bytes: checkBytes(bytes, shape, rowOf(array.dtype).bytes, name),
  };
}

/** Checks that a box lies within an array. */
function checkBox(
  start: readonly number[],
  shape: readonly number[],
  array: readonly number[],
): void {
  const axis = array.findIndex((dim, d) => start[d] + shape[d] > dim);
  if (axis === -1) return;
  const end = start[axis] + shape[axis];
  throw new TensorError(
    "index-out-of-range",
    `the box ends at ${end} along axis ${axis}, but the array has the shape ${printShape(array)}`,
    { key: "box", axis, got: end, size: array[axis], expected: [0, array[axis]] },
  );
}

/** Returns a chunk's coordinates, checked against the grid. */
export function checkChunk(at: unknown, { shape, chunkShape }: ArrayType): number[] {
  const checked = checkCoordinates(at, shape.length, "coordinates of a chunk");
  const grid = gridOf(shape, chunkShape);
  const axis = checked.findIndex((one, d) => one >= grid[d]);
  if (axis === -1) return checked;
  throw new TensorError(
    "index-out-of-range",
    `chunk ${printShape(checked)} lies outside the grid of ${printShape(grid)} chunks`,
    {
      key: "chunk",
      at: checked,
      axis,
      got: checked[axis],
      size: grid[axis],
      expected: [0, grid[axis] - 1],
    },
  );
}

/**
 * Checks that `bytes` is long enough for a box, and returns exactly the bytes of the box. Errors call the argument
 * `name`.
 */
function checkBytes(
  bytes: unknown,
  shape: readonly number[],
  width: number,
  name: string,
): Uint8Array {
  const expected = product(shape) * width;
  const length = isUint8Array(bytes) ? typedLength(bytes) : -1;
  if (isUint8Array(bytes) && length >= expected) return bytes.subarray(0, expected);
  const got = isUint8Array(bytes) ? printCount(length, "byte") : printValue(bytes);
  throw new TensorError(
    "shape-mismatch",
    `${name} must be a Uint8Array of at least ${printCount(expected, "byte")}, for elements of shape ${printShape(shape)}, got ${got}`,
    { key: name, got: isUint8Array(bytes) ? length : factOf(bytes), expected },
  );
}

/**
 * Throws an `attribute` error unless the value is an AbortSignal, possibly from another realm such as a test sandbox.
 */
export function checkSignal(signal: unknown): asserts signal is AbortSignal | undefined {
  if (signal === undefined || nameOf(signal) === "[object AbortSignal]") return;
  throw wrongOption("signal", "an AbortSignal", signal);
}

/** Returns the class name of a value, or an empty string for a Proxy that throws. */
function nameOf(value: unknown): string {
  try {
    return Object.prototype.toString.call(value);
  } catch {
    return "";
  }
}
