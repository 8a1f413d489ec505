/**
 * Converts codecs to encoding steps: optionally transpose axes, convert elements to bytes or to a shard, then compress
 * the bytes. This file checks codecs and builds pipelines, which `decode.ts` and `encode.ts` run.
 */

import { malformed, TensorError } from "../../../core/errors.ts";
import { rowOf, type DType } from "../../../core/tensor/dtype.ts";
import { printShape, product } from "../../../core/tensor/shape.ts";
import type { ByteCodec } from "../codecs/byte-codec.ts";
import { makeFilter } from "../codecs/filters.ts";
import { makePackbitsCodec, makeSwapCodec } from "../codecs/packbits.ts";
import { CODECS, wrongCodec } from "../codecs/registry.ts";
import { makeOwnCodec, type OwnCodec } from "../codecs/own.ts";
import type { Json } from "../json.ts";
import { oneOf, parseShape, unsupportedCodec } from "../fields.ts";
import { parseCodecs, type Codec } from "../metadata.ts";

export interface Pipeline {
  readonly dtype: DType;
  /** The size of an element, in bytes. */
  readonly width: number;
  /** The shape of a whole chunk, in array axis order. */
  readonly shape: readonly number[];
  /** The axis order: axis i of the stored chunk is axis `order[i]` of the chunk; null without transposition. */
  readonly order: readonly number[] | null;
  /** The shape of a whole chunk, in stored axis order. */
  readonly storedShape: readonly number[];
  readonly bigEndian: boolean;
  readonly shards: Sharding | null;
  readonly compression: readonly ByteCodec[];
  /** True if the stored bytes of a chunk are exactly its elements in row-major order. */
  readonly isPlain: boolean;
}

export interface Sharding {
  /** The pipeline for inner chunks. */
  readonly inner: Pipeline;
  /** The number of inner chunks along each axis. */
  readonly grid: readonly number[];
  readonly count: number;
  readonly index: ShardIndex;
}

/** The offset and the size of each inner chunk. */
export interface ShardIndex {
  readonly isAtStart: boolean;
  /** The pipeline of the index, an array of uint64 whose shape is the grid and 2. */
  readonly pipeline: Pipeline;
  /** The size of the encoded index, in bytes. */
  readonly size: number;
}

/** Returns the number of rows that are decoded at once; null if nothing is compressed. */
export function decodedRows({ compression, shape, shards }: Pipeline): number | null {
  if (compression.length > 0) return shape[0];
  return shards === null ? null : decodedRows(shards.inner);
}

type OwnCodecs = ReadonlyMap<string, OwnCodec>;

/** The offset and the size, in an index, of an inner chunk that is not stored. */
export const MISSING = 2n ** 64n - 1n;

/** The maximum number of nested shard levels; real arrays have one level. */
const MAX_DEPTH = 4;

/** The maximum number of inner chunks in a shard, because a longer index would take more than 256 MB. */
const MAX_INNER = 2 ** 24;

/**
 * Errors call the array `where`. Throws `unsupported-codec` for unknown codecs, or `malformed-file` for codecs that do
 * not fit together.
 */
export function makePipeline(
  dtype: DType,
  shape: readonly number[],
  codecs: readonly Codec[],
  where: string,
  depth = 0,
  own?: OwnCodecs,
): Pipeline {
  let order: readonly number[] | null = null;
  let bytes: Pick<Pipeline, "bigEndian" | "shards"> | null = null;
  let [stored, isOrdered] = [dtype, false];
  const compression: ByteCodec[] = [];
  for (const codec of codecs) {
    const { name, configuration = {} } = codec;
    const ownCodec = own?.get(name);
    const make = CODECS[name]?.make;
    const filter = bytes === null ? makeFilter(name, configuration, stored, where) : null;
    if (filter !== null) {
      compression.push(filter.codec);
      stored = filter.dtype;
      isOrdered ||= filter.isOrdered;
    } else if (name === "transpose" && bytes === null && !isOrdered) {
      order = compose(order, parseOrder(codec, shape.length, where));
    } else if (name === "bytes" && bytes === null) {
      const bigEndian = parseEndian(codec, stored, where);
      // After a filter, elements may have another type, so a separate step swaps their bytes.
      const isFiltered = compression.length > 0;
      bytes = { bigEndian: bigEndian && !isFiltered, shards: null };
      if (bigEndian && isFiltered) compression.push(makeSwapCodec(stored));
    } else if (name === "packbits" && bytes === null) {
      bytes = { bigEndian: false, shards: null };
      compression.push(makePackbitsCodec(configuration, stored, where));
    } else if (name === "sharding_indexed" && bytes === null && compression.length === 0) {
      const shards = makeSharding(dtype, transposed(shape, order), codec, where, depth, own);
      bytes = { bigEndian: false, shards };
    } else if (ownCodec !== undefined && bytes !== null) {
      compression.push(makeOwnCodec(name, ownCodec, configuration));
    } else if (make !== undefined && bytes !== null) {
      compression.push(make(configuration, where, rowOf(dtype).bytes));
    } else if (codec.mayIgnore !== true) {
      throw wrongCodec(name, bytes === null ? compression.at(-1) : undefined, where);
    }
  }
  if (bytes === null) {
    const sentence = `the codecs of ${where} must include a codec that converts elements to bytes`;
    throw malformed(sentence, { key: "codecs", file: where });
  }
  const isNatural = bytes.shards === null && !bytes.bigEndian;
  return {
    dtype,
    width: rowOf(dtype).bytes,
    shape,
    order,
    storedShape: transposed(shape, order),
    ...bytes,
    compression,
    isPlain: isNatural && order === null && compression.length === 0,
  };
}

/** Returns true for big-endian elements. The byte order may be missing only for one-byte types. */
function parseEndian({ configuration }: Codec, dtype: DType, where: string): boolean {
  const endian = configuration?.endian;
  const { bytes, lanes } = rowOf(dtype);
  if (endian === undefined && bytes === 1) return false;
  return oneOf(endian, "endian of bytes", ["little", "big"], where) === "big" && bytes / lanes > 1;
}

/** Returns the axes in stored order. Throws a `malformed-file` error unless the list contains each axis once. */
export function parseOrder(
  { configuration }: Codec,
  rank: number,
  where: string,
): readonly number[] {
  const order = configuration?.order;
  // The orders "C" and "F" come from drafts of the format, and zarrita still writes them.
  if (order === "C") return Array.from({ length: rank }, (_, axis) => axis);
  if (order === "F") return Array.from({ length: rank }, (_, axis) => rank - 1 - axis);
  const axes = parseShape(order, "order", where);
  const isPermutation = axes.length === rank && axes.every((axis) => axis < rank);
  if (isPermutation && new Set(axes).size === rank) return axes;
  const sentence = `the order ${printShape(axes)} of the codec transpose of ${where} must name each axis once`;
  throw malformed(sentence, { key: "order", file: where, got: axes });
}

/** Combines two transpositions, or returns null for the identity. */
function compose(first: readonly number[] | null, second: readonly number[]): number[] | null {
  const order = second.map((axis) => (first === null ? axis : first[axis]));
  return order.every((axis, at) => axis === at) ? null : order;
}

const transposed = (shape: readonly number[], order: readonly number[] | null): readonly number[] =>
  order === null ? shape : order.map((axis) => shape[axis]);

function makeSharding(
  dtype: DType,
  shape: readonly number[],
  { configuration = {} }: Codec,
  where: string,
  depth: number,
  own: OwnCodecs | undefined,
): Sharding {
  if (depth >= MAX_DEPTH) {
    const sentence = `${where} nests more than ${MAX_DEPTH} levels of shards`;
    throw unsupportedCodec(sentence, where, { limit: MAX_DEPTH });
  }
  const inner = parseShape(configuration.chunk_shape, "chunk_shape of shards", where);
  const fits = inner.length === shape.length && inner.every((dim, d) => shape[d] % dim === 0);
  if (!fits || inner.includes(0)) {
    const sentence = `the chunks ${printShape(inner)} of ${where} do not divide its shards ${printShape(shape)}`;
    throw malformed(sentence, { key: "chunk_shape", file: where, got: inner, expected: shape });
  }
  const grid = shape.map((dim, axis) => dim / inner[axis]);
  const count = product(grid);
  if (count > MAX_INNER) {
    const sentence = `the shards of ${where} have ${count} chunks, more than ${MAX_INNER}`;
    throw unsupportedCodec(sentence, where, { got: count, limit: MAX_INNER });
  }
  const codecs = parseCodecs(configuration.codecs, where);
  const { index_location: given = "end" } = configuration;
  const location = oneOf(given, "index_location", ["start", "end"], where);
  return {
    inner: makePipeline(dtype, inner, codecs, where, depth + 1, own),
    grid,
    count,
    index: makeIndex(configuration.index_codecs, grid, location === "start", where),
  };
}

/** Builds the codecs of a shard's index, which must not compress, because the index size must be known. */
function makeIndex(
  codecs: Json | undefined,
  grid: readonly number[],
  isAtStart: boolean,
  where: string,
): ShardIndex {
  const named = `the index of shards of ${where}`;
  const list = parseCodecs(codecs, named);
  const pipeline = makePipeline("uint64", [...grid, 2], list, named, MAX_DEPTH - 1);
  let size: number | null = 16 * product(grid);
  for (const codec of pipeline.compression) size = size === null ? null : codec.fixedSize(size);
  if (size !== null && pipeline.shards === null) return { isAtStart, pipeline, size };
  const sentence = `${named} must have a fixed size, so its codecs cannot compress it or divide it into shards`;
  throw malformed(sentence, { key: "index_codecs", file: where });
}

/**
 * Checks that chunks can be encoded, before the first chunk is written. Throws an `attribute` error for a codec that
 * supports only reading.
 */
export function checkEncodable(pipeline: Pipeline, where: string): void {
  const reason = unwritableReason(pipeline);
  if (reason === null) return;
  const sentence = `${where} cannot be written: ${reason}; choose another codec (ndscatter array a.zarr -o b.zarr --codec zstd)`;
  throw new TensorError("attribute", sentence, { key: "codecs", file: where });
}

/** Returns the reason why chunks cannot be encoded, or null if they can be encoded. */
function unwritableReason(pipeline: Pipeline): string | null {
  const { shards, compression } = pipeline;
  const sizes = sizesOf(pipeline);
  const reasons = compression.map((codec, at) => codec.unwritable?.(sizes[at]) ?? null);
  const inner = shards === null ? null : unwritableReason(shards.inner);
  return inner ?? reasons.find((reason) => reason !== null) ?? null;
}

/** Returns the maximum size of a chunk or shard before each compression codec and after the last codec, in bytes. */
export function sizesOf({ shards, storedShape, width, compression }: Pipeline): number[] {
  const sizes = [
    shards === null
      ? product(storedShape) * width
      : shards.count * mostStored(shards.inner) + shards.index.size,
  ];
  for (const [at, codec] of compression.entries()) sizes.push(codec.mostEncoded(sizes[at]));
  return sizes;
}

/** Returns the maximum stored size of a whole chunk or shard, in bytes. */
export const mostStored = (pipeline: Pipeline): number =>
  sizesOf(pipeline)[pipeline.compression.length];
