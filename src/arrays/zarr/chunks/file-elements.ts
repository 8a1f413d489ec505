/** Converts elements between a file and memory, by swapping bytes and clearing unused bits. */

import { fillBytes } from "../../boxes/boxes.ts";
import { malformed } from "../../../core/errors.ts";
import { ZARR } from "../../../core/limits.ts";
import { swapBytes } from "../../npy/layout.ts";
import { rowOf, type DType } from "../../../core/tensor/dtype.ts";
import { findNonBool, keepBits } from "../../../core/tensor/storage.ts";

/** Returns true if elements in a file differ from elements in memory. */
export const needsChange = (dtype: DType, bigEndian: boolean): boolean =>
  bigEndian || dtype === "bool" || rowOf(dtype).bits !== undefined;

/**
 * Converts a file's elements to their form in memory, in place. Throws a `malformed-file` error for a bool other than 0
 * or 1.
 */
export function toMemory(dtype: DType, bigEndian: boolean, bytes: Uint8Array, where: string): void {
  if (bigEndian) swapElements(dtype, bytes);
  if (dtype === "bool") {
    const position = findNonBool(bytes);
    if (position === -1) return;
    const got = bytes[position];
    throw malformed(`${where} has the byte ${got} where a bool must be 0 or 1`, { got });
  }
  const { bits, storage } = rowOf(dtype);
  // Zarr stores small elements in one byte each, whose unused upper bits must be ignored.
  if (bits !== undefined) keepBits(bytes, bits, storage === Int8Array);
}

/** Reverses the bytes of each number in place. */
export function swapElements(dtype: DType, bytes: Uint8Array): void {
  const { bytes: width, lanes } = rowOf(dtype);
  swapBytes(bytes, width / lanes);
}

/** Returns `missing` bytes of padding in pieces, which consist of copies of an element. */
export function padding(missing: number, fill: Uint8Array): readonly Uint8Array[] {
  const { padding: most } = ZARR;
  const piece = new Uint8Array(Math.min(missing, most));
  fillBytes(piece, fill);
  const count = Math.ceil(missing / most);
  return Array.from({ length: count }, (_, at) => piece.subarray(0, missing - at * most));
}
