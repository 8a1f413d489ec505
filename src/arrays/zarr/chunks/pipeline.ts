/**
 * Converts codecs to encoding steps: optionally transpose axes, convert elements to bytes or to a shard, then compress
 * the bytes. This file checks codecs and builds pipelines, which `decode.ts` and `encode.ts` run.
 */

import { factOf, printValue, wrongValue } from "../../../core/foreign.ts";
import { malformed, TensorError, unsupported } from "../../../core/errors.ts";
import { rowOf, type DType } from "../../../core/tensor/dtype.ts";
import { printShape, product } from "../../../core/tensor/shape.ts";
import { makeBloscCodec, COMPRESSORS, nameOfShuffle, SHUFFLES } from "../codecs/blosc.ts";
import type { ByteCodec } from "../codecs/byte-codec.ts";
import { makeCrc32cCodec } from "../codecs/crc32c.ts";
import { makeDeflateCodec } from "../codecs/gzip.ts";
import type { Json, JsonObject } from "../json.ts";
import { parseCodecs, parseShape, type Codec } from "../metadata.ts";
import { makeZstdCodec } from "../codecs/zstd.ts";

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

export interface ShardIndex {
  readonly isAtStart: boolean;
  /** The axis order of the index, whose shape is the grid and 2; null for the usual order. */
  readonly order: readonly number[] | null;
  readonly bigEndian: boolean;
  readonly compression: readonly ByteCodec[];
  /** The size of the encoded index, in bytes. */
  readonly size: number;
}

/** The offset and the size, in an index, of an inner chunk that is not stored. */
export const MISSING = 2n ** 64n - 1n;

/** The maximum number of nested shard levels; real arrays have one level. */
const MAX_DEPTH = 4;

/** The maximum number of inner chunks in a shard, because a longer index would take more than 256 MB. */
const MAX_INNER = 2 ** 24;

/**
 * Errors call the array `where`. Throws `unsupported-file` for unknown codecs, or `malformed-file` for codecs that do
 * not fit together.
 */
export function makePipeline(
  dtype: DType,
  shape: readonly number[],
  codecs: readonly Codec[],
  where: string,
  depth = 0,
): Pipeline {
  let order: readonly number[] | null = null;
  let bytes: Pick<Pipeline, "bigEndian" | "shards"> | null = null;
  const compression: ByteCodec[] = [];
  for (const codec of codecs) {
    const make = BYTE_CODECS[codec.name];
    const isElements = codec.name === "bytes" || codec.name === "sharding_indexed";
    if (codec.name === "transpose" && bytes === null) {
      order = compose(order, parseOrder(codec, shape.length, where));
    } else if (isElements && bytes === null) {
      const stored = transposed(shape, order);
      bytes =
        codec.name === "bytes"
          ? { bigEndian: parseEndian(codec, dtype, where), shards: null }
          : { bigEndian: false, shards: makeSharding(dtype, stored, codec, where, depth) };
    } else if (make !== undefined && bytes !== null) {
      compression.push(make(codec.configuration ?? {}, where));
    } else if (codec.mayIgnore !== true) {
      throw wrongCodec(codec.name, make !== undefined || isElements, where);
    }
  }
  if (bytes === null)
    throw malformed(`the codecs of ${where} must include a codec that converts elements to bytes`, {
      key: "codecs",
      file: where,
    });
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

function wrongCodec(name: string, isKnown: boolean, where: string): Error {
  if (isKnown || name === "transpose") {
    return malformed(`the codec ${printValue(name)} of ${where} is in the wrong position`, {
      key: "codecs",
      file: where,
      got: factOf(name),
    });
  }
  const known = ["bytes", "transpose", "sharding_indexed", ...Object.keys(BYTE_CODECS)].join(", ");
  return unsupported(
    `the codec ${printValue(name)} of ${where} is not supported; the supported codecs are ${known}`,
    { key: "codecs", file: where, got: factOf(name) },
  );
}

type MakeByteCodec = (configuration: JsonObject, where: string) => ByteCodec;

/** The object has no prototype, because a codec name from a file might equal the name of an inherited member. */
const BYTE_CODECS: Readonly<Record<string, MakeByteCodec | undefined>> = Object.assign(
  Object.create(null),
  {
    gzip: ({ level = 5 }: JsonObject, where: string) =>
      makeDeflateCodec("gzip", parseInteger(level, "the level of gzip", 0, 9, where)),
    zlib: ({ level = 1 }: JsonObject, where: string) =>
      makeDeflateCodec("zlib", parseInteger(level, "the level of zlib", -1, 9, where)),
    zstd: ({ level = 0, checksum = false }: JsonObject, where: string) =>
      makeZstdCodec(
        parseInteger(level, "the level of zstd", -131072, 22, where),
        parseBoolean(checksum, "the checksum of zstd", where),
      ),
    blosc: parseBlosc,
    crc32c: makeCrc32cCodec,
  } satisfies Record<string, MakeByteCodec>,
);

function parseBlosc(configuration: JsonObject, where: string): ByteCodec {
  const { cname = "lz4", clevel = 5, shuffle: given = "noshuffle" } = configuration;
  const { blocksize = 0, typesize = 1 } = configuration;
  const shuffle = nameOfShuffle(given, typesize);
  if (!isNameIn(COMPRESSORS, cname)) {
    throw malformed(`blosc of ${where} has the unknown compressor ${printValue(cname)}`, {
      key: "cname",
      file: where,
      got: factOf(cname),
    });
  }
  if (!isNameIn(SHUFFLES, shuffle)) {
    throw malformed(`blosc of ${where} has the unknown shuffle ${printValue(shuffle)}`, {
      key: "shuffle",
      file: where,
      got: factOf(shuffle),
    });
  }
  return makeBloscCodec({
    cname,
    clevel: parseInteger(clevel, "the clevel of blosc", 0, 9, where),
    shuffle: SHUFFLES[shuffle],
    blocksize: parseInteger(blocksize, "the blocksize of blosc", 0, 2 ** 31 - 1, where),
    typesize: parseInteger(typesize, "the typesize of blosc", 1, 2 ** 31 - 1, where),
  });
}

const isNameIn = (names: object, name: Json): name is string =>
  typeof name === "string" && Object.hasOwn(names, name);

function parseInteger(value: Json, what: string, low: number, high: number, where: string): number {
  const isOne = typeof value === "number" && Number.isInteger(value);
  if (isOne && value >= low && value <= high) return value;
  throw malformed(
    `${what} of ${where} must be an integer from ${low} to ${high}, got ${printValue(value)}`,
    { key: what, file: where, got: factOf(value), expected: [low, high] },
  );
}

function parseBoolean(value: Json, what: string, where: string): boolean {
  if (typeof value === "boolean") return value;
  throw wrongValue("malformed-file", `${what} of ${where} must be true or false`, value, {
    key: what,
    file: where,
  });
}

/** Returns true for big-endian elements. The byte order may be missing only for one-byte types. */
function parseEndian({ configuration }: Codec, dtype: DType, where: string): boolean {
  const endian = configuration?.endian;
  const { bytes, lanes } = rowOf(dtype);
  if (endian === "little" || endian === "big") return endian === "big" && bytes / lanes > 1;
  if (endian === undefined && bytes === 1) return false;
  throw malformed(`the endian of the codec bytes of ${where} must be "little" or "big"`, {
    key: "endian",
    file: where,
    allowed: ["little", "big"],
  });
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
  throw malformed(
    `the order ${printShape(axes)} of the codec transpose of ${where} must name each axis once`,
    { key: "order", file: where, got: axes },
  );
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
): Sharding {
  if (depth >= MAX_DEPTH)
    throw unsupported(`${where} nests more than ${MAX_DEPTH} levels of shards`, {
      file: where,
      limit: MAX_DEPTH,
    });
  const inner = parseShape(configuration.chunk_shape, "chunk_shape of shards", where);
  const fits = inner.length === shape.length && inner.every((dim, d) => shape[d] % dim === 0);
  if (!fits || inner.includes(0)) {
    throw malformed(
      `the chunks ${printShape(inner)} of ${where} do not divide its shards ${printShape(shape)}`,
      { key: "chunk_shape", file: where, got: inner, expected: shape },
    );
  }
  const grid = shape.map((dim, axis) => dim / inner[axis]);
  const count = product(grid);
  if (count > MAX_INNER) {
    throw unsupported(`the shards of ${where} have ${count} chunks, more than ${MAX_INNER}`, {
      file: where,
      got: count,
      limit: MAX_INNER,
    });
  }
  const codecs = parseCodecs(configuration.codecs, where);
  const { index_location: location = "end" } = configuration;
  if (location !== "start" && location !== "end") {
    throw malformed(`the index_location of ${where} must be "start" or "end"`, {
      key: "index_location",
      file: where,
      allowed: ["start", "end"],
    });
  }
  const index = makeIndex(configuration.index_codecs, grid, where);
  return {
    inner: makePipeline(dtype, inner, codecs, where, depth + 1),
    grid,
    count,
    index: { ...index, isAtStart: location === "start" },
  };
}

/** Builds the codecs of a shard's index, which must not compress, because the index size must be known. */
function makeIndex(
  codecs: Json | undefined,
  grid: readonly number[],
  where: string,
): Omit<ShardIndex, "isAtStart"> {
  const named = `the index of shards of ${where}`;
  const { bigEndian, compression, shards, order } = makePipeline(
    "uint64",
    [...grid, 2],
    parseCodecs(codecs, named),
    named,
    MAX_DEPTH - 1,
  );
  let size: number | null = 16 * product(grid);
  for (const codec of compression) size = size === null ? null : codec.fixedSize(size);
  if (size === null || shards !== null) {
    const sentence = `${named} must have a fixed size, so its codecs cannot compress it or divide it into shards`;
    throw malformed(sentence, { key: "index_codecs", file: where });
  }
  return { order, bigEndian, compression, size };
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
  const { shards, storedShape, width, compression } = pipeline;
  let reason = shards === null ? null : unwritableReason(shards.inner);
  let size =
    shards === null ? product(storedShape) * width : mostStored({ ...pipeline, compression: [] });
  for (const codec of compression) {
    reason ??= codec.unwritable?.(size) ?? null;
    size = codec.mostEncoded(size);
  }
  return reason;
}

/** Returns the maximum stored size of a whole chunk or shard, in bytes. */
export function mostStored(pipeline: Pipeline): number {
  const { shards, storedShape, width, compression } = pipeline;
  let size =
    shards === null
      ? product(storedShape) * width
      : shards.count * mostStored(shards.inner) + shards.index.size;
  for (const codec of compression) size = codec.mostEncoded(size);
  return size;
}
