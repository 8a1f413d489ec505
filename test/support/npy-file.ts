/** Valid and invalid NPY files, assembled by hand without the code under test. */

import { isNumericStorage, rowOf } from "../../src/core/tensor/dtype.ts";
import { bytesOf } from "../../src/core/tensor/storage.ts";
import type { Tensor } from "../../src/core/tensor/tensor.ts";

/** The bytes of these characters, each below 256. */
export const latin1 = (text: string): Uint8Array =>
  Uint8Array.from(text, (character) => character.charCodeAt(0));

/** The bytes of a hexadecimal text. */
export const hexBytes = (text: string): Uint8Array =>
  Uint8Array.from(text.replaceAll(" ", "").match(/../g) ?? [], (byte) => parseInt(byte, 16));

/** A file with exactly this header and these bytes after it. */
export function npyFile(header: string, payload: ArrayLike<number> = [], version = 1): Uint8Array {
  const text = latin1(header);
  const shifts = version === 1 ? [0, 8] : [0, 8, 16, 24];
  const length = shifts.map((shift) => (text.length >>> shift) & 255);
  const magic = [0x93, ...latin1("NUMPY")];
  return Uint8Array.from([...magic, version, 0, ...length, ...text, ...Array.from(payload)]);
}

/** The dictionary of a header in NumPy's format, without padding. `tuple` is the shape: `(2, 3)`. */
export const npyDictionary = (descr: string, tuple: string, fortranOrder = "False"): string =>
  `{'descr': '${descr}', 'fortran_order': ${fortranOrder}, 'shape': ${tuple}, }\n`;

/** The orders of bytes and axes that a file may have. */
export const ORDERS = [
  { isBigEndian: false, isFortran: false },
  { isBigEndian: true, isFortran: false },
  { isBigEndian: false, isFortran: true },
  { isBigEndian: true, isFortran: true },
] as const;

/** A file of a tensor, whose data type is not string, in either byte order and either order of axes. */
export function npyOf(
  { dtype, shape, data }: Tensor,
  { isBigEndian = false, isFortran = false },
): Uint8Array {
  const { npy, bytes, lanes } = rowOf(dtype);
  const unit = bytes / lanes;
  const own = isNumericStorage(data) ? bytesOf(data) : new Uint8Array();
  const payload: number[] = [];
  for (let position = 0; position < own.length / bytes; position++) {
    let [rest, place, stride] = [position, 0, own.length / bytes];
    // In Fortran order, the first coordinate of the position-th element varies fastest.
    for (const dim of shape) {
      stride /= dim;
      place += (rest % dim) * stride;
      rest = Math.floor(rest / dim);
    }
    const start = (isFortran ? place : position) * bytes;
    for (let lane = start; lane < start + bytes; lane += unit) {
      const cell = [...own.subarray(lane, lane + unit)];
      payload.push(...(isBigEndian ? cell.reverse() : cell));
    }
  }
  const tuple = `(${shape.map((dim) => `${dim}, `).join("")})`;
  const descr = `${unit === 1 ? "|" : isBigEndian ? ">" : "<"}${npy}`;
  return npyFile(npyDictionary(descr, tuple, isFortran ? "True" : "False"), payload);
}
