/** Converts options for a new array to metadata. */

import type { ChunkedArray } from "../boxes/array.ts";
import { checkNames, isArray, optionsOf, wrongOption } from "../../core/foreign.ts";
import { isTensorError, TensorError } from "../../core/errors.ts";
import { checkDType, isNumericStorage, rowOf, type DType } from "../../core/tensor/dtype.ts";
import { bytesOf, classOf } from "../../core/tensor/storage.ts";
import { tensor } from "../../core/tensor/tensor.ts";
import type { ScalarInput } from "../../core/tensor/arguments.ts";
import { ZarrArray } from "./array.ts";
import { nameOfShuffle } from "./codecs/blosc.ts";
import { isFilter } from "./codecs/filters.ts";
import { CODECS } from "./codecs/registry.ts";
import { printDataType, zeroOf } from "./data-types.ts";
import { parseShape } from "./fields.ts";
import { isList, isObject, type Json, type JsonObject } from "./json.ts";
import {
  areNames,
  checkGrid,
  newAttributes,
  parseCodecs,
  type Codec,
  type Metadata,
} from "./metadata.ts";
import { checkEncodable, makePipeline, parseOrder } from "./chunks/pipeline.ts";
import { STORE_OPTIONS, type StoreOptions } from "./stores/store-options.ts";

/** Options of `createArray`. */
export interface CreateOptions extends StoreOptions {
  /** An array that provides the default data type, chunk shape, codecs and fill value. */
  readonly like?: ChunkedArray | undefined;
  readonly dtype?: DType | undefined;
  readonly shape?: readonly number[] | undefined;
  /** The chunk shape, which with shards is the shape of the chunks within a shard. */
  readonly chunkShape?: readonly number[] | undefined;
  /** The shape of a shard, a multiple of the chunk shape. With shards, each file contains several chunks. */
  readonly shards?: readonly number[] | null | undefined;
  /**
   * The codecs as names, or as names with configurations, as in Zarr v3; `bytes` may be omitted. By default, chunks are
   * not compressed.
   */
  readonly codecs?: readonly (string | Codec)[] | undefined;
  /** The Zarr version, 3 by default. Many older programs read only version 2, which has no shards. */
  readonly zarrFormat?: 2 | 3 | undefined;
  /** The value of elements that were never written; zero by default. */
  readonly fillValue?: ScalarInput | undefined;
  readonly attributes?: JsonObject | undefined;
  readonly dimensionNames?: readonly (string | null)[] | undefined;
  /** True to replace an existing array, except in object storage, where arrays are never replaced. */
  readonly overwrite?: boolean | undefined;
}

const NAMES = [
  ..."like dtype shape chunkShape shards codecs zarrFormat fillValue attributes".split(" "),
  ..."dimensionNames overwrite".split(" "),
  ...STORE_OPTIONS,
];

/** Alternative option names, from zarr-python and from Zarr's metadata. */
export const MEANT: Readonly<Record<string, string>> = {
  chunks: "chunkShape",
  data_type: "dtype",
  zarr_format: "zarrFormat",
  compressor: "codecs",
  compressors: "codecs",
  filters: "codecs",
  attrs: "attributes",
};

/** Throws an `attribute` error for a value that is not an object, and for an unknown or misspelled option. */
export function createOptionsOf(given: unknown): CreateOptions {
  const options = optionsOf(given, NAMES, {}, "options", MEANT);
  const { overwrite, zarrFormat = 3 } = options;
  checkOverwrite(overwrite);
  if (zarrFormat !== 2 && zarrFormat !== 3) throw wrongOption("zarrFormat", "2 or 3", zarrFormat);
  return options;
}

export function checkOverwrite(overwrite: unknown): void {
  if (overwrite === undefined || typeof overwrite === "boolean") return;
  throw wrongOption("overwrite", "true or false", overwrite);
}

/**
 * Throws an `attribute`, `dtype`, `shape-mismatch`, `rank` or `too-large` error for options that do not describe a
 * valid array, and `attribute` for codecs that support only reading.
 */
export function metadataOf(given: CreateOptions, where: string): Metadata {
  const options = createOptionsOf(given);
  try {
    const metadata = newMetadata(options, where);
    const { dtype, chunkShape, codecs } = metadata;
    checkEncodable(makePipeline(dtype, chunkShape, codecs, where), where);
    return metadata;
  } catch (error) {
    // The parser reports a file error, but here an option is wrong.
    if (!isTensorError(error, "malformed-file", "unsupported-codec", "unsupported-dtype"))
      throw error;
    const { message, key = "options", got, expected, allowed, limit, file } = error;
    const fields = { key, got, expected, allowed, limit, file };
    throw new TensorError("attribute", message, fields, { cause: error });
  }
}

function newMetadata(options: CreateOptions, where: string): Metadata {
  const like = likeOf(options.like);
  const { dtype, fillValue } = options;
  const type = dtype ?? like?.dtype;
  checkDType(type, {});
  printDataType(type);
  const shape = parseShape(needed(options.shape ?? like?.shape, "shape"), "shape", where);
  const own = options.chunkShape ?? like?.inner;
  const inner = parseShape(needed(own, "chunkShape"), "chunkShape", where);
  const shards = options.shards === undefined ? like?.shards : options.shards;
  const chunkShape = shards == null ? inner : parseShape(needed(shards, "shards"), "shards", where);
  checkGrid(shape, inner, where);
  checkGrid(shape, chunkShape, where);
  const codecs = codecsOf(options, like?.codecs ?? [], type, shape.length, where);
  const { attributes } = options;
  return {
    version: 3,
    dtype: type,
    shape,
    chunkShape,
    codecs: shards == null ? codecs : [shardsOf(inner, codecs)],
    fill: fillOf(type, fillValue, like?.dtype === type ? like.fill : undefined),
    keys: { name: "default", separator: "/" },
    attributes: attributes === undefined ? (like?.attributes ?? {}) : newAttributes(attributes),
    dimensionNames: namesOf(options.dimensionNames, shape.length, like?.dimensionNames ?? null),
  };
}

/** Converts a list of integers, which may be a typed array, to JSON. */
function needed(value: unknown, name: string): Json {
  if (isArray(value)) return [...value] as Json;
  if (classOf(value) !== undefined) return Array.from(value as Int32Array, Number);
  throw wrongOption(name, "a list of integers", value);
}

/** Returns the given dimension names or, if the rank is the same, those of the array in `like`. */
function namesOf(
  names: unknown,
  rank: number,
  inherited: Metadata["dimensionNames"],
): Metadata["dimensionNames"] {
  if (names === undefined) return inherited?.length === rank ? inherited : null;
  if (areNames(names, rank)) return [...names];
  const must = `a list of names or nulls, one for each of the axes (${rank})`;
  throw wrongOption("dimensionNames", must, names, { expected: rank });
}

/** The defaults that the array in `like` provides. */
interface Pattern {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly inner: readonly number[];
  readonly shards: readonly number[] | null;
  readonly codecs: readonly Codec[];
  readonly fill: Uint8Array | undefined;
  readonly attributes: JsonObject;
  readonly dimensionNames: Metadata["dimensionNames"];
}

function likeOf(array: ChunkedArray | undefined): Pattern | null {
  if (array === undefined) return null;
  if (typeof array !== "object" || array === null || !("dtype" in array)) {
    throw wrongOption("like", "an array that openArray has opened", array);
  }
  const { dtype, shape, chunkShape } = array;
  const pattern = {
    dtype,
    shape,
    inner: chunkShape,
    shards: null,
    codecs: [],
    dimensionNames: null,
  };
  if ((array.source ?? array) !== array) return likeSlice(array, pattern);
  if (!(array instanceof ZarrArray)) return { ...pattern, fill: undefined, attributes: {} };
  const { attributes, metadata, dimensionNames } = array;
  const newer = newerCodecs(array.codecs, shape.length, array.location.path);
  const [first] = newer;
  const isSharded = newer.length === 1 && first.name === "sharding_indexed";
  const shared = { ...pattern, codecs: newer, fill: metadata.fill, attributes, dimensionNames };
  if (!isSharded || array.innerChunkShape === null) return shared;
  const inner = parseCodecs(first.configuration?.codecs, array.location.path);
  return { ...shared, inner: array.innerChunkShape, shards: chunkShape, codecs: inner };
}

/**
 * Replaces codecs of older files. The codec zlib of Zarr v2 becomes gzip, which is the same compression in another
 * container. The axis orders "C" and "F" become lists, and numbers of blosc's shuffles become names.
 */
function newerCodecs(
  codecs: readonly Codec[],
  rank: number,
  where: string,
  zarrFormat: 2 | 3 = 3,
): Codec[] {
  return codecs.map((codec): Codec => {
    const { name, configuration = {} } = codec;
    if (name === "zlib" && zarrFormat === 3) return { ...codec, name: "gzip" };
    if (name === "blosc" && typeof configuration.shuffle === "number") {
      const shuffle = nameOfShuffle(configuration.shuffle, configuration.typesize);
      return { ...codec, configuration: { ...configuration, shuffle } };
    }
    if (name === "transpose") {
      return { ...codec, configuration: { order: parseOrder(codec, rank, where) } };
    }
    if (name !== "sharding_indexed") return codec;
    const inner = newerCodecs(parseCodecs(configuration.codecs, where), rank, where);
    return {
      ...codec,
      configuration: { ...configuration, codecs: inner.map((one) => ({ ...one })) },
    };
  });
}

/**
 * For a slice, the defaults come from the underlying array. Codecs that transpose axes are inherited only if the rank
 * is the same.
 */
function likeSlice(
  { source, dimensionNames = null }: ChunkedArray,
  own: Omit<Pattern, "fill" | "attributes">,
): Pattern {
  const { codecs, fill, attributes } = likeOf(source) as Pattern;
  const isTurned = source.shape.length !== own.shape.length;
  const kept = codecs.filter(({ name }) => !(isTurned && name === "transpose"));
  return { ...own, codecs: kept, fill, attributes, dimensionNames };
}

/** Returns the codecs, including `bytes` unless a codec already converts elements to bytes. */
function codecsOf(
  { codecs: own, zarrFormat }: CreateOptions,
  inherited: readonly Codec[],
  dtype: DType,
  rank: number,
  where: string,
): Codec[] {
  const given: unknown = own ?? inherited;
  if (!isArray(given)) throw wrongOption("codecs", "a list", given);
  for (const one of given) checkCodec(one, zarrFormat);
  const newer = newerCodecs(parseCodecs(given as Json, where), rank, where, zarrFormat);
  const isFiltered = newer.some(({ name }) => isFilter(name));
  const codecs = newer.map((codec) => withDefaults(codec, dtype, isFiltered));
  if (codecs.some(({ name }) => TO_BYTES.has(name))) return codecs;
  const before = codecs.findLastIndex(({ name }) => name === "transpose" || isFilter(name)) + 1;
  return codecs.toSpliced(before, 0, withDefaults({ name: "bytes" }, dtype, isFiltered));
}

/** The codecs that convert elements to bytes. */
const TO_BYTES = new Set(["bytes", "sharding_indexed", "packbits"]);

/**
 * Checks a codec and the codecs within shards. A misspelled key would be written into the file and ignored, so unknown
 * keys are an `attribute` error.
 */
function checkCodec(codec: unknown, zarrFormat: number | undefined): void {
  const given = isObject(codec as Json) ? (codec as JsonObject) : { name: codec as Json };
  const { name, configuration, ...rest } = given;
  const meant = { id: "name", config: "configuration" };
  checkNames("key of a codec", rest, ["name", "configuration"], {}, meant);
  if (name === "zlib" && zarrFormat !== 2) {
    const sentence =
      "zlib is a codec of Zarr v2, which readers of v3 do not know; use gzip, the same compression";
    throw new TensorError("attribute", sentence, { key: "codecs", got: "zlib", nearest: "gzip" });
  }
  const row = typeof name === "string" ? CODECS[name] : undefined;
  if (row === undefined || !isObject(configuration)) return;
  checkNames(`key of the configuration of ${String(name)}`, configuration, row.keys, {});
  for (const inner of [configuration.codecs, configuration.index_codecs]) {
    if (isList(inner)) inner.forEach((one) => checkCodec(one, zarrFormat));
  }
}

/** Completes codec configurations with zarr-python's defaults. */
function withDefaults(codec: Codec, dtype: DType, isFiltered: boolean): Codec {
  const { name } = codec;
  const { bytes, lanes } = rowOf(dtype);
  // For one-byte elements, an `endian` setting would mislead other readers. A filter may widen elements.
  if (name === "bytes" && bytes / lanes === 1 && !isFiltered) return { name };
  const configuration = { ...CODECS[name]?.defaults?.(dtype), ...codec.configuration };
  // zarr-python requires a configuration for the codecs of numcodecs.
  const isEmpty = Object.keys(configuration).length === 0 && !name.startsWith("numcodecs.");
  return isEmpty ? { name } : { name, configuration };
}

/** Returns a sharding codec with the index codecs that the specification recommends. */
const shardsOf = (inner: readonly number[], codecs: readonly Codec[]): Codec => ({
  name: "sharding_indexed",
  configuration: {
    chunk_shape: inner,
    codecs: codecs.map((codec) => ({ ...codec })),
    index_codecs: [{ name: "bytes", configuration: { endian: "little" } }, { name: "crc32c" }],
    index_location: "end",
  },
});

function fillOf(
  dtype: DType,
  value: ScalarInput | undefined,
  inherited: Uint8Array | undefined,
): Uint8Array {
  if (value === undefined) return inherited ?? zeroOf(dtype);
  const { data } = tensor(dtype, [], value as never);
  if (isNumericStorage(data)) return bytesOf(data).slice();
  throw new TensorError("dtype", `the fill value must be a number, got ${dtype}`, {
    key: "fill",
    got: dtype,
  });
}
