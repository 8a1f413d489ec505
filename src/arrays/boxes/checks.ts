/** Checks the arguments of an array's methods before anything is read or written. */

import {
  factOf,
  isArray,
  printCount,
  printValue,
  readForeign,
  wrongOption,
  wrongValue,
} from "../../core/foreign.ts";
import { TensorError } from "../../core/errors.ts";
import { isNumericStorage, rowOf } from "../../core/tensor/dtype.ts";
import { printShape, product } from "../../core/tensor/shape.ts";
import { bytesOf, classOf, isUint8Array, typedLength } from "../../core/tensor/storage.ts";
import { asTensor, Tensor } from "../../core/tensor/tensor.ts";
import type { ArrayType, RowRuns } from "./array.ts";
import { gridOf } from "./boxes.ts";
import { Grid, type Box } from "./grid.ts";

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
export function checkCoordinates(given: unknown, rank: number, key: string): number[] {
  if (!isArray(given) || given.length !== rank) {
    const got = isArray(given) ? given.length : printValue(given);
    const sentence = `${key} must be a list of ${rank} integers, got ${got}`;
    throw new TensorError("rank", sentence, { key, got, expected: rank });
  }
  return Array.from(given, (one, axis) => {
    if (Number.isSafeInteger(one) && Number(one) >= 0) return Number(one) + 0;
    throw wrongValue("shape-mismatch", `${key} must be integers of 0 or more`, one, { key, axis });
  });
}

/** Returns the checked coordinates at which a box begins; zeros by default. */
export const checkStart = (given: unknown, { shape }: ArrayType): number[] =>
  given === undefined
    ? shape.map(() => 0)
    : checkCoordinates(given, shape.length, "the start of a box");

/** A box of the array, and the memory from which or to which its elements are copied. */
export interface CheckedBox extends Box {
  readonly bytes: Uint8Array;
}

function checkedBox(start: unknown, shape: unknown, array: ArrayType): Box {
  const from = checkStart(start, array);
  const dims = checkCoordinates(shape, array.shape.length, "the shape of a box");
  checkBox(from, dims, array.shape);
  return { start: from, shape: dims };
}

/** Checks a box and the memory that will receive its elements. */
export function checkRead(
  start: unknown,
  shape: unknown,
  into: unknown,
  array: ArrayType,
): CheckedBox {
  const box = checkedBox(start, shape, array);
  return { ...box, bytes: checkBytes(into, box.shape, array, "into") };
}

/** Runs of rows of a box, and the memory into which the runs are read one after another. */
export interface CheckedRows extends CheckedBox, RowRuns {
  /** The size of a row, in bytes. */
  readonly rowBytes: number;
}

/** Checks runs of rows of a box, and the memory that will receive the rows. */
export function checkRows(
  start: unknown,
  shape: unknown,
  runs: RowRuns,
  into: unknown,
  array: ArrayType,
): CheckedRows {
  const box = checkedBox(start, shape, array);
  const { starts, counts } = checkRuns(runs, box);
  const rest = box.shape.slice(1);
  const rows = counts.reduce((sum, count) => sum + count, 0);
  const bytes = checkBytes(into, [rows, ...rest], array, "into");
  const rowBytes = product(rest) * rowOf(array.dtype).bytes;
  return { ...box, starts, counts, bytes, rowBytes };
}

/** Checks runs, which must be ascending and lie in the box. */
function checkRuns(runs: unknown, { shape: [size = 0] }: Pick<Box, "shape">): RowRuns {
  const own = copiesOf(runs);
  const { starts, counts } = own;
  for (let i = 0, end = 0; i < starts.length; end = starts[i] + counts[i++]) {
    if (starts[i] >= end && starts[i] + counts[i] <= size) continue;
    const sentence = `runs of rows must be ascending and lie in a box of ${printCount(size, "row")}, got ${counts[i]} at ${starts[i]}`;
    const facts = { key: "runs", axis: 0, got: starts[i], size, expected: [0, size] } as const;
    throw new TensorError("index-out-of-range", sentence, facts);
  }
  return own;
}

/** Copies runs, because the caller may change the lists while an array awaits a file. */
function copiesOf(runs: unknown): RowRuns {
  const sentence = `runs must have two Uint32Arrays of the same length, starts and counts, got ${printValue(runs)}`;
  const copies = readForeign(
    () => {
      const { starts, counts } = runs as RowRuns;
      const areIntegers = [starts, counts].every((list) => classOf(list) === "Uint32Array");
      return areIntegers
        ? { starts: new Uint32Array(starts), counts: new Uint32Array(counts) }
        : null;
    },
    "attribute",
    sentence,
    "runs",
  );
  if (copies !== null && copies.starts.length === copies.counts.length) return copies;
  throw new TensorError("attribute", sentence, { key: "runs", got: factOf(runs) });
}

/** Checks a box and the values that will be written to it. */
export function checkWrite(values: unknown, start: unknown, array: ArrayType): CheckedBox {
  const { dtype, shape, data } = asTensor(values, {}, "values");
  const input = "values";
  if (dtype !== array.dtype || !isNumericStorage(data)) {
    const expected = array.dtype;
    const sentence = `the values must be ${expected}, the data type of the array, got ${dtype}`;
    throw new TensorError("dtype", sentence, { input, got: dtype, expected });
  }
  const from = checkStart(start, array);
  const [got, expected] = [shape.length, array.shape.length];
  if (got !== expected) {
    const sentence = `the values must have the rank of the array, ${printShape(array.shape)}, got ${printShape(shape)}`;
    throw new TensorError("rank", sentence, { input, got, expected });
  }
  checkBox(from, shape, array.shape);
  return { start: from, shape, bytes: bytesOf(data) };
}

/** Checks a chunk's coordinates, the memory for its elements, and runs of its rows, if any. */
export function checkChunkBytes(
  at: unknown,
  bytes: unknown,
  array: ArrayType,
  name: "from" | "into",
  runs?: unknown,
): CheckedBox & { readonly at: readonly number[]; readonly runs: RowRuns | undefined } {
  const checked = checkChunk(at, array);
  const box = new Grid(array.shape, array.chunkShape).boxAt(checked);
  const own = runs === undefined ? undefined : checkRuns(runs, box);
  return { at: checked, ...box, runs: own, bytes: checkBytes(bytes, box.shape, array, name) };
}

/** Checks that a box lies within an array. */
function checkBox(
  start: readonly number[],
  shape: readonly number[],
  array: readonly number[],
): void {
  const axis = array.findIndex((dim, d) => start[d] + shape[d] > dim);
  if (axis === -1) return;
  const [got, size] = [start[axis] + shape[axis], array[axis]];
  const sentence = `the box ends at ${got} along axis ${axis}, but the array has the shape ${printShape(array)}`;
  const facts = { key: "box", axis, got, size, expected: [0, size] } as const;
  throw new TensorError("index-out-of-range", sentence, facts);
}

/** Returns a chunk's coordinates, checked against the grid. */
export function checkChunk(given: unknown, { shape, chunkShape }: ArrayType): number[] {
  const at = checkCoordinates(given, shape.length, "coordinates of a chunk");
  const grid = gridOf(shape, chunkShape);
  const axis = at.findIndex((one, d) => one >= grid[d]);
  if (axis === -1) return at;
  const sentence = `chunk ${printShape(at)} lies outside the grid of ${printShape(grid)} chunks`;
  const [got, size] = [at[axis], grid[axis]];
  const facts = { key: "chunk", at, axis, got, size, expected: [0, size - 1] } as const;
  throw new TensorError("index-out-of-range", sentence, facts);
}

/** Checks that `bytes` is long enough for a box, and returns exactly the bytes of the box. */
function checkBytes(
  bytes: unknown,
  shape: readonly number[],
  { dtype }: ArrayType,
  key: string,
): Uint8Array {
  const expected = product(shape) * rowOf(dtype).bytes;
  const isBytes = isUint8Array(bytes);
  const length = isBytes ? typedLength(bytes) : -1;
  if (isBytes && length >= expected) return bytes.subarray(0, expected);
  const given = isBytes ? printCount(length, "byte") : printValue(bytes);
  const sentence = `${key} must be a Uint8Array of at least ${printCount(expected, "byte")}, for elements of shape ${printShape(shape)}, got ${given}`;
  const got = isBytes ? length : factOf(bytes);
  throw new TensorError("shape-mismatch", sentence, { key, got, expected });
}

/**
 * Throws an `attribute` error unless the value is an AbortSignal, possibly from another realm such as a test sandbox.
 */
export function checkSignal(signal: unknown): asserts signal is AbortSignal | undefined {
  let name = "";
  try {
    name = Object.prototype.toString.call(signal);
  } catch {
    // A Proxy that throws is not a signal.
  }
  if (signal !== undefined && name !== "[object AbortSignal]")
    throw wrongOption("signal", "an AbortSignal", signal);
}
