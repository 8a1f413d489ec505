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

/** A big-endian file of a tensor, whose data type is not string. */
export function bigEndianNpy({ dtype, shape, data }: Tensor): Uint8Array {
  const { npy, bytes, lanes } = rowOf(dtype);
  const unit = bytes / lanes;
  const payload = isNumericStorage(data) ? Array.from(bytesOf(data)) : [];
  const swapped = payload.map((_, at) => payload[at - (at % unit) + unit - 1 - (at % unit)]);
  const tuple = `(${shape.map((dim) => `${dim}, `).join("")})`;
  return npyFile(npyDictionary(`${unit === 1 ? "|" : ">"}${npy}`, tuple), swapped);
}
