/**
 * Translates the metadata of Zarr v2 to v3 and back. In v2, codecs are a memory order, a byte order, filters and a
 * compressor, which have the names of numcodecs.
 */

import { factOf, printValue } from "../../core/foreign.ts";
import { TensorError } from "../../core/errors.ts";
import { DTYPES, rowOf, type DType } from "../../core/tensor/dtype.ts";
import { nameOfShuffle, SHUFFLES } from "./codecs/blosc.ts";
import { isFilter, typeKeys } from "./codecs/filters.ts";
import { CODEC_NAMES, CODECS } from "./codecs/registry.ts";
import {
  parseNumpyType,
  printDataType,
  printFillValue,
  printNumpyType,
  wrongFillValue,
} from "./data-types.ts";
import { oneOf, parseShape, unsupportedCodec, wrongField } from "./fields.ts";
import { isList, isObject, printJson, type Json, type JsonObject } from "./json.ts";
import { areNames, parseMetadata, wrongFormat, type Codec, type Metadata } from "./metadata.ts";

/** `attributes` contains the file `.zattrs`, if it exists. Throws the errors of `parseMetadata`. */
export function parseMetadataV2(
  json: JsonObject,
  attributes: JsonObject | undefined,
  where: string,
  own?: Metadata["own"],
): Metadata {
  if (json.zarr_format !== 2) throw wrongFormat(".zarray", json, where, [2]);
  const { dtype, bigEndian } = parseNumpyType(json.dtype, where);
  const { length: rank } = parseShape(json.shape, "shape", where);
  const names = attributes?._ARRAY_DIMENSIONS;
  // xarray writes the axis names into the attributes, because v2 metadata has no field for them.
  const areAll = areNames(names, rank) && !names.includes(null);
  const separator = json.dimension_separator ?? null;
  const translated: JsonObject = {
    zarr_format: 3,
    node_type: "array",
    shape: json.shape,
    data_type: printDataType(dtype),
    chunk_grid: { name: "regular", configuration: { chunk_shape: json.chunks } },
    chunk_key_encoding: { name: "v2", configuration: { separator: separator ?? "." } },
    fill_value: fillFrom(dtype, json.fill_value ?? null, where),
    codecs: [
      ...orderFrom(json.order, rank, where),
      ...codecsFrom(json, dtype, bigEndian, where, own),
    ],
    attributes: attributes ?? {},
    dimension_names: areAll ? names : null,
  };
  const { keys, ...metadata } = parseMetadata(translated, where);
  // A missing separator means a dot, but older writers also omitted the separator if it was a slash.
  const isAssumed = separator === null && { isAssumed: true as const };
  return { ...metadata, version: 2, keys: { ...keys, ...isAssumed } };
}

/** Returns a transpose codec for column-major chunks. */
function orderFrom(order: Json = "C", rank: number, where: string): JsonObject[] {
  if (oneOf(order, "order", ["C", "F"], where) === "C" || rank < 2) return [];
  const reversed = Array.from({ length: rank }, (_, axis) => rank - 1 - axis);
  return [{ name: "transpose", configuration: { order: reversed } }];
}

/** The maximum number of filters; real lists have at most three. */
const MAX_FILTERS = 16;

/**
 * Translates the filters and the compressor: filters of elements precede the codec `bytes`, and filters of bytes follow
 * it. Zarr v2 states the data types and byte orders of each filter's elements. The decoded type of the first filter
 * must be the array's type, and the decoded type of any other filter must be the encoded type of the filter before it,
 * as in v3.
 */
function codecsFrom(
  { filters, compressor }: JsonObject,
  dtype: DType,
  isBig: boolean,
  where: string,
  own: Metadata["own"],
): JsonObject[] {
  const list = filters ?? [];
  if (!isList(list)) throw wrongField("filters", where, "null or a list", filters);
  if (list.length > MAX_FILTERS) {
    const sentence = `${where} has ${list.length} filters, more than ${MAX_FILTERS}`;
    throw unsupportedCodec(sentence, where, { key: "filters", limit: MAX_FILTERS });
  }
  const [elements, bytes]: [JsonObject[], JsonObject[]] = [[], []];
  let stored = { dtype, bigEndian: isBig };
  for (const filter of list) {
    const id = isObject(filter) ? String(filter.id) : "";
    const name = `numcodecs.${id}`;
    const size = DTYPES[stored.dtype].bytes;
    if (!isObject(filter) || !isFilter(name)) {
      bytes.push(codecFrom("filter", filter, size, where, own));
      continue;
    }
    const [decoded, encoded] = typeKeys(id).map((key) => filter[key]);
    const from = decoded == null ? null : parseNumpyType(decoded, where);
    const to = encoded == null ? from : parseNumpyType(encoded, where);
    const isSwapped = from !== null && from.bigEndian !== stored.bigEndian && size > 1;
    if (bytes.length > 0 || (from !== null && from.dtype !== stored.dtype) || isSwapped) {
      const expected = printNumpyType(stored.dtype, stored.bigEndian);
      const type = `has the type ${printValue(decoded)}, but its elements are ${expected}`;
      const why = bytes.length > 0 ? "follows a filter of bytes" : type;
      const sentence = `the filter ${printValue(id)} of ${where} ${why}, which is not supported`;
      throw unsupportedCodec(sentence, where, { key: "filters" });
    }
    const { id: _, ...configuration } = filter;
    const types = typeKeys(id).map((key, at): [string, Json | undefined] => {
      const one = [from, to][at];
      return [key, one === null ? filter[key] : printNumpyType(one.dtype, false)];
    });
    const named = Object.fromEntries(types.filter(([, type]) => type !== undefined)) as JsonObject;
    elements.push({ name, configuration: { ...configuration, ...named } });
    stored = id === "packbits" ? { dtype: "uint8", bigEndian: false } : (to ?? stored);
  }
  const { bytes: typesize } = DTYPES[stored.dtype];
  const last =
    compressor == null ? [] : [codecFrom("compressor", compressor, typesize, where, own)];
  const endian = stored.bigEndian ? "big" : "little";
  return [...elements, { name: "bytes", configuration: { endian } }, ...bytes, ...last];
}

/** Translates a compressor, or a filter of bytes. */
function codecFrom(
  kind: "compressor" | "filter",
  codec: Json,
  typesize: number,
  where: string,
  own: Metadata["own"],
): JsonObject {
  const key = kind === "filter" ? "filters" : kind;
  if (!isObject(codec) || typeof codec.id !== "string") {
    const must = kind === "filter" ? "a list of objects with ids" : "null or an object with an id";
    throw wrongField(key, where, must, codec);
  }
  const { id, ...configuration } = codec;
  if (id === "gzip" || id === "zlib" || id === "zstd") {
    const { level, checksum } = configuration;
    // Zarr v3 has no level -1, which in zlib and gzip means the default level 6.
    const number = level === -1 && id !== "zstd" ? 6 : level;
    const kept = {
      ...(number !== undefined && { level: number }),
      ...(id === "zstd" && checksum === true && { checksum }),
    };
    return { name: id, configuration: kept };
  }
  if (id === "blosc") {
    const { cname, clevel, shuffle, blocksize } = configuration;
    const given = { cname, clevel, shuffle: nameOfShuffle(shuffle, typesize), typesize, blocksize };
    const known = Object.entries(given).filter(([, value]) => value !== undefined);
    return { name: "blosc", configuration: Object.fromEntries(known) as JsonObject };
  }
  const name = `numcodecs.${id}`;
  const isKnown = CODECS[name] !== undefined && !isFilter(name);
  if (isKnown || own?.has(name) === true) return { name, configuration };
  const allowed = CODEC_NAMES.flatMap((one) => {
    const isAllowed = one.startsWith("numcodecs.") && (kind === "filter" || !isFilter(one));
    return isAllowed ? [one.slice("numcodecs.".length)] : [];
  });
  const sentence = `the ${kind} ${printValue(id)} of ${where} is not supported; the supported ${kind}s are ${allowed.join(", ")}`;
  throw unsupportedCodec(sentence, where, { key, got: factOf(id), allowed });
}

/**
 * Converts the text of numbers in a fill value, such as "7", "1e20" or "inf", to numbers, as zarr-python does. Text for
 * a bool is not converted, because zarr-python reads any such text as true.
 */
function fillFrom(dtype: DType, value: Json, where: string): Json {
  if (isList(value)) return value.map((one) => fillFrom(dtype, one, where));
  const { family } = rowOf(dtype);
  // TensorStore writes the byte of a float4 in base64.
  const [, digits] = (dtype === "float4e2m1" && /^([A-P][AQgw])==$/.exec(String(value))) || [];
  if (digits !== undefined) return `0x${atob(digits).charCodeAt(0).toString(16)}`;
  if (typeof value !== "string" || family === "bool" || family === "string") return value;
  // Hexadecimal bits are a form of Zarr v3, while in v2 TensorStore reads this text as a number.
  if (/^0x/i.test(value)) throw wrongFillValue(dtype, value, where);
  const text = value.trim().replaceAll(/(\d)_(?=\d)/g, "$1");
  const number = Number(text);
  if (family === "int" || family === "int64") {
    if (!/^[+-]?\d{1,20}$/.test(text)) return value;
    // BigInt rejects a plus sign, and integers have no -0.
    return Number.isSafeInteger(number) ? number + 0 : BigInt(text.replace("+", ""));
  }
  const [, sign = "", word = ""] = /^([+-]?)(inf(?:inity)?|nan)$/i.exec(text) ?? [];
  if (word !== "") return Number(`${sign}${/^n/i.test(word) ? "NaN" : "Infinity"}`);
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? number : value;
}

/** The metadata of a new array. */
interface NewMetadata {
  readonly metadata: Metadata;
  /** The text of `.zarray`, and of `.zattrs` if the array has attributes. */
  readonly array: string;
  readonly attributes: string | null;
}

/** Throws an `attribute` or `dtype` error for metadata that Zarr v2 cannot express. */
export function metadataV2Of(metadata: Metadata, where: string): NewMetadata {
  const { dtype, shape, chunkShape, codecs, fill, dimensionNames: names } = metadata;
  // Neither zarr-python nor TensorStore has a name for these types in v2.
  if (/^(?:uint[24]$|float6e)/.test(dtype)) {
    const sentence = `Zarr v2 has no ${dtype}; choose another data type, or Zarr v3`;
    throw new TensorError("dtype", sentence, { key: "dtype", got: dtype });
  }
  if (names?.includes(null) === true) {
    throw refused("dimensionNames", "Zarr v2 names either all axes or none", "other names");
  }
  const attributes: JsonObject = {
    ...metadata.attributes,
    ...(names !== null && { _ARRAY_DIMENSIONS: names }),
  };
  const json: JsonObject = {
    zarr_format: 2,
    shape,
    chunks: chunkShape,
    ...codecsTo(codecs, dtype, shape.length),
    fill_value: fillTo(dtype, fill),
    dimension_separator: ".",
  };
  const isEmpty = Object.keys(attributes).length === 0;
  return {
    metadata: parseMetadataV2(json, attributes, where),
    array: `${printJson(json)}\n`,
    attributes: isEmpty ? null : `${printJson(attributes)}\n`,
  };
}

const refused = (key: string, sentence: string, others: string, got?: Json): TensorError =>
  new TensorError("attribute", `${sentence}; choose ${others}, or Zarr v3`, {
    key,
    got: factOf(got),
  });

const COMPRESSORS = new Set(["zlib", "gzip", "zstd", "blosc", "lz4"]);

function codecsTo(codecs: readonly Codec[], dtype: DType, rank: number): JsonObject {
  const { configuration: endian } = codecs.find(({ name }) => name === "bytes") ?? {};
  const isBig = endian?.endian === "big";
  let order = "C";
  const list: JsonObject[] = [];
  for (const { name, configuration = {} } of codecs) {
    const id = name.replace(/^numcodecs\./, "");
    if (name === "transpose") {
      const axes = configuration.order as readonly number[];
      const isReversed = axes.every((axis, at) => axis === rank - 1 - at);
      const isSame = axes.every((axis, at) => axis === at);
      if (order === "F" || list.length > 0 || !(isReversed || isSame)) {
        const only = "Zarr v2 can only reverse the order of all axes, before other codecs";
        throw refused("codecs", only, "other codecs");
      }
      order = isReversed && rank > 1 ? "F" : "C";
    } else if (id === "blosc") {
      const { typesize: _, shuffle, ...rest } = configuration;
      const number = typeof shuffle === "string" ? SHUFFLES[shuffle] : shuffle;
      list.push({ id, ...rest, ...(number !== undefined && { shuffle: number }) });
    } else if (id === "zstd") {
      const { checksum, ...rest } = configuration;
      // TensorStore refuses the key `checksum`.
      list.push({ id, ...rest, ...(checksum === true && { checksum }) });
    } else if (id !== name || name === "zlib" || name === "gzip" || name === "crc32c") {
      list.push({ id, ...withOrder(id, configuration, isBig) });
    } else if (name !== "bytes") {
      throw refused("codecs", `Zarr v2 has no codec ${printValue(name)}`, "other codecs", name);
    }
  }
  const isCompressed = COMPRESSORS.has(list.at(-1)?.id as string);
  const filters = isCompressed ? list.slice(0, -1) : list;
  return {
    dtype: printNumpyType(dtype, isBig && rowOf(dtype).bytes > 1),
    order,
    filters: filters.length === 0 ? null : filters,
    compressor: isCompressed ? (list.at(-1) as JsonObject) : null,
  };
}

/** Gives the types of a filter the byte order of the array. */
function withOrder(id: string, configuration: JsonObject, isBig: boolean): JsonObject {
  if (!isBig) return configuration;
  const types = typeKeys(id).flatMap((key) => {
    const type = configuration[key];
    return typeof type === "string" ? [[key, type.replace(/^</, ">")]] : [];
  });
  return { ...configuration, ...Object.fromEntries(types) };
}

function fillTo(dtype: DType, fill: Uint8Array): Json {
  const printed = printFillValue(dtype, fill);
  // TensorStore writes the byte of a float4 in base64.
  if (dtype === "float4e2m1") return btoa(String.fromCharCode(fill[0]));
  const hasBits = [printed].flat().some((one) => typeof one === "string" && one.startsWith("0x"));
  if (!hasBits) return printed;
  // In v2, null stands for zero bits.
  if (fill.every((byte) => byte === 0)) return null;
  const sentence = `Zarr v2 cannot hold the fill value ${printValue(printed)} of ${dtype}`;
  throw refused("fillValue", sentence, "another fill value", printed);
}
