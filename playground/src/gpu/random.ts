/** Generates seeded tensors that include the values most likely to expose arithmetic errors. */

import { DTYPES, zeros, type DType, type Tensor } from "ndscatter";

/** Returns a random integer from 0 to `below - 1`. */
export type Random = (below: number) => number;

/** Creates a random number generator from a 32-bit Weyl sequence. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return Math.floor((((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32) * below);
  };
}

/** The highest 16 bits of special values: zeros, ones, infinities, NaNs and subnormal numbers, with both signs. */
const HIGH = [
  0x0000, 0x8000, 0x3c00, 0x3f80, 0xbf80, 0x7c00, 0xfc00, 0x7f80, 0xff80, 0x7e01, 0x7fc1,
];

/** Returns a tensor of random bits in which half of the elements are special values. */
export function randomTensor(dtype: DType, shape: readonly number[], random: Random): Tensor {
  const result = zeros(dtype, shape);
  const { data } = result;
  if (Array.isArray(data)) throw new TypeError(`cannot generate a random ${dtype} tensor`);
  const { bytes: width } = DTYPES[dtype];
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  for (let p = 0; p < bytes.length; p++) bytes[p] = random(2) === 0 ? 0 : random(256);
  if (width === 1) narrow(dtype, bytes);
  else {
    for (let p = width - 2; p < bytes.length; p += width) {
      const high = random(2) === 0 ? HIGH[random(HIGH.length)] : random(2 ** 16);
      bytes[p] = high & 255;
      bytes[p + 1] = high >> 8;
    }
  }
  return result;
}

/** Limits the bytes of data types that do not use every bit pattern, such as bool. */
function narrow(dtype: DType, bytes: Uint8Array): void {
  const row = DTYPES[dtype];
  const isUnsigned = row.storage === Uint8Array;
  for (const [p, byte] of bytes.entries()) {
    if (dtype === "bool") bytes[p] = byte & 1;
    else if ("bits" in row) {
      const unused = 32 - row.bits;
      bytes[p] = isUnsigned ? (byte << unused) >>> unused : (byte << unused) >> unused;
    }
  }
}

/** Returns random indices, some of which are negative. */
export function randomIndices(
  dtype: "int32" | "int64",
  shape: readonly number[],
  axisOf: (position: number) => number,
  random: Random,
): Tensor {
  const result = zeros(dtype, shape);
  const cells: Int32Array | BigInt64Array = result.data;
  for (let p = 0; p < cells.length; p++) {
    const length = axisOf(p);
    const index = random(length) - (random(4) === 0 ? length : 0);
    if (cells instanceof Int32Array) cells[p] = index;
    else cells[p] = BigInt(index);
  }
  return result;
}
