/**
 * Finds the differing elements of two tensors with the same data type and shape. All NaN values are considered equal.
 */

import { DTYPES, isNumericStorage, type Storage } from "../../core/tensor/dtype.ts";
import { reader } from "../../core/tensor/scalar.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";

/** Tensor cells in a form that can be compared with tensors of the same data type and shape. */
export interface Cells {
  readonly count: number;
  isSame(other: Cells, cell: number): boolean;
  isSameAs(other: Cells, cell: number, otherCell: number): boolean;
  readonly words: ArrayLike<number | string>;
}

export function cellsOf(tensor: Tensor): Cells {
  const words = wordsOf(tensor);
  const per = tensor.size === 0 ? 1 : words.length / tensor.size;
  const isSameAs = (other: Cells, cell: number, otherCell: number): boolean => {
    for (let w = 0; w < per; w++) {
      if (words[cell * per + w] !== other.words[otherCell * per + w]) return false;
    }
    return true;
  };
  return {
    count: tensor.size,
    words,
    isSame: (other, cell) =>
      per === 1 ? words[cell] === other.words[cell] : isSameAs(other, cell, cell),
    isSameAs,
  };
}

/** Returns the positions of differing cells. */
export function differingCells(a: Cells, b: Cells): Uint32Array {
  const found = new Uint32Array(a.count);
  let count = 0;
  for (let cell = 0; cell < a.count; cell++) if (!a.isSame(b, cell)) found[count++] = cell;
  return found.slice(0, count);
}

/** Returns element bits as words of at most 32 bits, with identical bits for every NaN. Text does not change. */
function wordsOf({ dtype, data }: Tensor): ArrayLike<number | string> {
  if (!isNumericStorage(data)) return data;
  const { family } = DTYPES[dtype];
  const floats = family === "float" || family === "complex" ? withOneNaN(data) : data;
  const { buffer, byteOffset, byteLength, BYTES_PER_ELEMENT: bytes } = floats;
  if (family === "half") {
    const read = reader(dtype, data);
    return (data as Uint16Array).map((bits, p) => (Number.isNaN(read(p)) ? 0x7fff : bits));
  }
  if (bytes === 1) return new Uint8Array(buffer, byteOffset, byteLength);
  if (bytes === 2) return new Uint16Array(buffer, byteOffset, byteLength / 2);
  return new Uint32Array(buffer, byteOffset, byteLength / 4);
}

function withOneNaN(data: Storage): Float32Array | Float64Array {
  const floats = data as Float32Array | Float64Array;
  const isNarrow = floats instanceof Float32Array;
  const same = floats.slice();
  const words = new Uint32Array(same.buffer);
  for (let p = 0; p < same.length; p++) {
    if (same[p] === same[p]) continue;
    // NaN is stored as explicit bits, because the bits of JavaScript's NaN depend on the machine.
    if (isNarrow) words[p] = 0x7fc00000;
    else [words[2 * p], words[2 * p + 1]] = [0, 0x7ff80000];
  }
  return same;
}
