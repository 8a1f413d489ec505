/** Random Zarr arrays: boxes must equal those of a plain array for any data type, shape, chunks and codecs. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { makePipeline } from "../../src/arrays/zarr/chunks/pipeline.ts";
import { messageOf } from "../../src/core/errors.ts";
import { DTYPE_NAMES, DTYPES, isNumericStorage, type DType } from "../../src/core/tensor/dtype.ts";
import { product } from "../../src/core/tensor/shape.ts";
import { bytesOf } from "../../src/core/tensor/storage.ts";
import { full, type Tensor } from "../../src/core/tensor/tensor.ts";
import type { Decoded } from "../../src/arrays/zarr/codecs/byte-codec.ts";
import type { CreateOptions } from "../../src/arrays/zarr/create.ts";
import type { Codec } from "../../src/arrays/zarr/metadata.ts";
import type { ChunkedArray } from "../../src/arrays/boxes/array.ts";
import { boxOf, replaceBox } from "./boxes.ts";
import { randomFrom, randomTensor, ROWS, type Random } from "./random.ts";

const NUMERIC = DTYPE_NAMES.filter((dtype) => dtype !== "string");

export const elements = ({ data }: Tensor): Uint8Array =>
  isNumericStorage(data) ? bytesOf(data) : assert.fail();

const axis = fc.record({
  dim: fc.integer({ min: 0, max: 9 }),
  chunk: fc.integer({ min: 1, max: 4 }),
  perShard: fc.integer({ min: 1, max: 3 }),
  start: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.double({ min: 0, max: 1, noNaN: true }),
});

/** An axis whose chunks end beside vectors of 4, 8, 16 and 32 elements. */
const longAxis = fc
  .tuple(axis, fc.constantFrom(...ROWS), fc.nat(200))
  .map(([one, chunk, dim]) => ({ ...one, chunk, dim }));

/** The codecs after `bytes` or shards. A test requires each codec that can be written. */
export const COMPRESSION: readonly (readonly (string | Codec)[])[] = [
  [],
  ["crc32c"],
  ["gzip"],
  ["zstd"],
  ["blosc"],
  [{ name: "blosc", configuration: { cname: "lz4", shuffle: "bitshuffle" } }],
  ["zstd", "crc32c"],
  ["gzip", "zstd"],
  ["numcodecs.shuffle", "numcodecs.lz4", "numcodecs.crc32"],
  ["numcodecs.gzip", "numcodecs.crc32c"],
];

/** The names of all codecs, from the error for an unknown one. */
export function codecNames(): readonly string[] {
  try {
    makePipeline("uint8", [1], [{ name: "unheard-of" }], "x.zarr");
  } catch (error) {
    const [, names] =
      /is not supported; the supported codecs are (.*)$/.exec(messageOf(error)) ?? assert.fail();
    return names.split(", ");
  }
  return assert.fail("an unknown codec is refused");
}

/** A codec of numcodecs has the name that it has in Zarr v2. */
const plainName = (name: string): string => name.replace(/^numcodecs\./, "");

const OF_ELEMENTS = new Set([
  ...["bytes", "transpose", "sharding_indexed", "packbits", "delta", "fixedscaleoffset"],
  ...["quantize", "astype", "bitround", "scale_offset", "cast_value"],
]);

/** The codecs from bytes to bytes that arrays can be created with; zlib is written only in v2. */
export const writtenCodecs = (): readonly string[] => [
  ...new Set(
    codecNames()
      .map(plainName)
      .filter((name) => !OF_ELEMENTS.has(name) && name !== "zlib"),
  ),
];

/** Codecs that are in no list of `lists`. */
export function missingCodecs(lists: readonly (readonly (string | Codec)[])[]): readonly string[] {
  const named = lists.flat().map((codec) => (typeof codec === "string" ? codec : codec.name));
  const names = new Set(named.map(plainName));
  return writtenCodecs().filter((name) => !names.has(name));
}

export const zarrCases = fc.record({
  dtype: fc.constantFrom(...NUMERIC),
  axes: fc.oneof(
    { weight: 7, arbitrary: fc.array(axis, { maxLength: 4 }) },
    { weight: 1, arbitrary: fc.array(longAxis, { minLength: 1, maxLength: 1 }) },
  ),
  isSharded: fc.boolean(),
  transposes: fc.integer({ min: 0, max: 2 }),
  endian: fc.constantFrom("little", "big"),
  compression: fc.constantFrom(...COMPRESSION),
  seed: fc.nat(),
});

export type ZarrCase = typeof zarrCases extends fc.Arbitrary<infer C> ? C : never;

function optionsOf({ dtype, axes, isSharded, transposes, endian, compression, seed }: ZarrCase) {
  const chunkShape = axes.map(({ chunk }) => chunk);
  const order = axes.map((_, d) => (d + seed) % axes.length);
  const orders = [order, order.toReversed()].slice(0, transposes);
  const codecs = [
    ...orders.map((one) => ({ name: "transpose", configuration: { order: one } })),
    { name: "bytes", configuration: { endian } },
    ...compression,
  ];
  const shards = isSharded ? axes.map(({ chunk, perShard }) => chunk * perShard) : null;
  return { dtype, shape: axes.map(({ dim }) => dim), chunkShape, shards, codecs };
}

const fillOf = (dtype: DType): CreateOptions["fillValue"] & {} => {
  const { family } = DTYPES[dtype];
  if (family === "bool") return true;
  return family === "complex" ? [1, -2] : 1;
};

/** Writes boxes into an array, and reads them back. */
export async function checkBoxes(
  one: ZarrCase,
  make: (options: CreateOptions) => Promise<ChunkedArray>,
): Promise<void> {
  const { dtype, axes, seed } = one;
  const options = optionsOf(one);
  const array = await make({ ...options, fillValue: fillOf(dtype) });
  const { bytes: width } = DTYPES[dtype];
  const { shape } = options;
  const model = elements(full(dtype, shape, fillOf(dtype) as never)).slice();
  const random = randomFrom(seed);
  for (let turn = 0; turn < 3; turn++) {
    const start = axes.map(({ start, dim }) => Math.floor(((start * (turn + 1)) % 1) * dim));
    const box = axes.map(({ length, dim }, d) => Math.ceil(length * (dim - start[d])));
    const values = randomTensor(dtype, box, random);
    await array.write(values, start);
    const source = elements(values);
    replaceBox(model, shape, start, box, source, width);
    const read = await array.read(start, box);
    assert.deepEqual([...elements(read)], [...source]);
  }
  const whole = await array.read();
  assert.deepEqual([...elements(whole)], [...model]);
  const start = shape.map((dim) => random(dim + 1));
  const box = shape.map((dim, d) => random(dim - start[d] + 1));
  const into = new Uint8Array(product(box) * width);
  await array.readBytes(start, box, into);
  assert.deepEqual([...into], boxOf(model, shape, start, box, width));
}

/** Bytes with one thing wrong. */
export function mutate(bytes: Uint8Array, random: Random): Uint8Array {
  const copy = bytes.slice();
  const at = random(Math.max(1, bytes.length));
  switch (random(5)) {
    case 0:
      return copy.subarray(0, at);
    case 1:
      return Uint8Array.from([...copy, ...copy.subarray(at)]);
    case 2:
      return Uint8Array.from([...copy.subarray(0, at), ...copy.subarray(at + 1 + random(4))]);
    case 3: {
      for (let i = at; i < Math.min(at + 8, copy.length); i++) copy[i] = random(2) * 255;
      return copy;
    }
    default:
      if (copy.length > 0) copy[at] ^= 1 << random(8);
      return copy;
  }
}

/** Describes decoded bytes to a decoder, and allocates memory with arbitrary contents, as reused memory has. */
export const decodedOf = (size: number, isExact = true): Decoded => ({
  size,
  isExact,
  allocate: (needed) => new Uint8Array(needed).fill(0xa5),
});
