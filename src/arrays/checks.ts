/** What every array checks of its arguments before it reads or writes. */

import { isArray, printValue, TensorError } from "../errors.ts";
import { printShape, product } from "../tensor/shape.ts";
import type { ArrayType } from "./array.ts";
import { gridOf } from "./boxes.ts";

/** A list of integers from 0 on, of the rank of an array: a copy, because the caller may change the list. */
export function checkCoordinates(given: unknown, rank: number, name: string): number[] {
  if (!isArray(given) || given.length !== rank) {
    const got = isArray(given) ? given.length : printValue(given);
    throw new TensorError("rank", `${name} must be a list of ${rank} integers, got ${got}`);
  }
  return given.map((one) => {
    if (Number.isSafeInteger(one) && Number(one) >= 0) return Number(one) + 0;
    const sentence = `${name} must be integers from 0 on, got ${printValue(one)}`;
    throw new TensorError("shape-mismatch", sentence);
  });
}

/** Checks that the box that begins at `start` and has `shape` lies in an array. */
export function checkBox(
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
    { axis, got: end, expected: [0, array[axis]] },
  );
}

/** The coordinates of a chunk, checked against the grid. */
export function checkChunk(at: unknown, { shape, chunkShape }: ArrayType): number[] {
  const checked = checkCoordinates(at, shape.length, "coordinates of a chunk");
  const grid = gridOf(shape, chunkShape);
  const axis = checked.findIndex((one, d) => one >= grid[d]);
  if (axis === -1) return checked;
  throw new TensorError(
    "index-out-of-range",
    `there is no chunk ${printShape(checked)}; the array has ${printShape(grid)} chunks`,
    { axis, got: checked[axis], expected: [0, grid[axis] - 1] },
  );
}

/**
 * The memory of a box in `bytes`, which may be longer.
 * @param name what the bytes are in errors
 */
export function checkBytes(
  bytes: unknown,
  shape: readonly number[],
  width: number,
  name: string,
): Uint8Array {
  const expected = product(shape) * width;
  if (bytes instanceof Uint8Array && bytes.length >= expected) return bytes.subarray(0, expected);
  const got = bytes instanceof Uint8Array ? `${bytes.length} bytes` : printValue(bytes);
  throw new TensorError(
    "shape-mismatch",
    `${name} must be a Uint8Array of at least ${expected} bytes, for elements of shape ${printShape(shape)}, got ${got}`,
  );
}
