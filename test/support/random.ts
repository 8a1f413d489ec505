/** Seeded random tensors for properties: values that break arithmetic, and indices of every legal kind. */

import {
  allocate,
  DTYPES,
  integerRange,
  isNumericStorage,
  storedRange,
  type DType,
  type Storage,
} from "../../src/core/tensor/dtype.ts";
import { product } from "../../src/core/tensor/shape.ts";
import { Tensor } from "../../src/core/tensor/tensor.ts";

/** A number in [0, below), from a seeded generator (a 32-bit Weyl sequence with mixing). */
export type Random = (below: number) => number;

/** The seed of the run: runners derive it from the commit, and `SEED` repeats it. */
export const SEED = Number(process.env["SEED"] ?? 1);

/** Draws that differ from run to run. @param purpose distinguishes the generators of a run */
export const randomFrom = (purpose: number): Random => fixedRandom(mixed(purpose ^ mixed(SEED)));

/** A seed of its own for each name, which differs from run to run; fast-check takes it. */
export function seedOf(name: string): number {
  let hash = SEED;
  for (const letter of name) hash = mixed(hash ^ (letter.codePointAt(0) ?? 0));
  return hash >>> 1;
}

/** Draws that are the same in every run, for tests that assert something about these very draws. */
export function fixedRandom(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + WEYL) >>> 0;
    return Math.floor((mixed(state) / 2 ** 32) * below);
  };
}

/** Lengths of rows at which loops change: one to a few elements, and vectors of 4, 8, 16 and 32 with their neighbours. */
export const ROWS: readonly number[] = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33];

/** Numbers of updates: around a vector and a block, and hundreds, at which engines change their method. */
export const COUNTS: readonly number[] = [
  1, 2, 3, 7, 9, 31, 33, 63, 65, 650, 683, 700, 729, 768, 800,
];

const WEYL = 0x9e3779b9;

/** Mixes the bits of a 32-bit number. */
function mixed(bits: number): number {
  let mix = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35);
  return (mix ^ (mix >>> 16)) >>> 0;
}

/** Bit patterns by width: zeros, ones, infinities, quiet and signalling NaNs with payloads, subnormals, extremes. */
// prettier-ignore
const PATTERNS: Readonly<Record<number, readonly bigint[]>> = {
  1: [0x00n, 0x01n, 0x7fn, 0x80n, 0xffn, 0x10n],
  2: [
    0x0000n, 0x8000n, 0x3c00n, 0x3f80n, 0x7c00n, 0x7f80n, 0xff80n, 0x7e01n, 0x7c01n, 0x7fc1n, 0x0001n,
    0x8001n, 0x7bffn, 0x7f7fn, 0xffffn, 0x6800n, 0x4500n,
  ],
  4: [
    0x00000000n, 0x80000000n, 0x3f800000n, 0x7f800000n, 0xff800000n, 0x7fc00001n, 0x7fa00001n, 0xffc00000n,
    0x00000001n, 0x7f7fffffn, 0x7fffffffn, 0xffffffffn, 0x4b800000n,
  ],
  8: [
    0n, 0x8000000000000000n, 0x3ff0000000000000n, 0x7ff0000000000000n, 0xfff0000000000000n,
    0x7ff8000000000001n, 0x7ff4000000000001n, 0x1n, 0x7fefffffffffffffn, 0x7fffffffffffffffn,
    0xffffffffffffffffn, 0x00000000ffffffffn, 0xffffffff00000000n, 0x0000000100000000n,
  ],
};

/** The same patterns as the bytes of an element. */
const PATTERN_BYTES = new Map(
  Object.entries(PATTERNS).map(([bytes, all]) => [
    Number(bytes),
    all.map((bits) => new Uint8Array(BigUint64Array.of(bits).buffer, 0, Number(bytes))),
  ]),
);

const TEXTS = ["", "a", "ab", "b", "\u{ffff}", "\u{10000}", "\u{e000}x", "ä", "\u{d800}"];

/** A tensor of `dtype` with values from the patterns, small numbers and random bits. */
export function randomTensor(dtype: DType, shape: readonly number[], random: Random): Tensor {
  const size = product(shape);
  const data: Storage = allocate(dtype, size);
  if (!isNumericStorage(data)) {
    for (let p = 0; p < size; p++) data[p] = TEXTS[random(TEXTS.length)];
    return new Tensor(dtype, shape, size, data);
  }
  const { BYTES_PER_ELEMENT: bytes, length } = data;
  const all = new Uint8Array(data.buffer);
  const patterns = PATTERN_BYTES.get(bytes) ?? [];
  const narrow = storedRange(dtype);
  for (let lane = 0; lane < length; lane++) {
    const kind = random(3);
    if (narrow !== null) data[lane] = narrow[0] + random(narrow[1] - narrow[0] + 1);
    else if (kind === 0) all.set(patterns[random(patterns.length)], lane * bytes);
    else if (kind === 1) data[lane] = small(dtype, random) as never;
    else for (let byte = 0; byte < bytes; byte++) all[lane * bytes + byte] = random(256);
  }
  return new Tensor(dtype, shape, size, data);
}

/** A small value in the type's storage: near 1 for half floats, an integer or tenths for the others. */
function small(dtype: DType, random: Random): number | bigint {
  const { family } = DTYPES[dtype];
  if (family === "half") return (dtype === "float16" ? 0x3c00 : 0x3f80) + random(0x800) - 0x400;
  if (family === "int64") return BigInt(random(7));
  return integerRange(dtype) === null ? random(200) / 10 - 10 : random(7);
}

/** Indices of a shape, each legal for its axis of `dims`: from the front or back, and often repeated. */
export function randomIndices(
  dtype: "int32" | "int64",
  shape: readonly number[],
  dimAt: (position: number) => number,
  random: Random,
): Tensor {
  const size = product(shape);
  const data = allocate(dtype, size);
  for (let p = 0; p < size; p++) {
    const dim = dimAt(p);
    const index = random(dim) - (random(3) === 0 ? dim : 0);
    data[p] = dtype === "int64" ? BigInt(index) : index;
  }
  return new Tensor(dtype, shape, size, data);
}
