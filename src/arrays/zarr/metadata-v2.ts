/**
 * Translates Zarr v2's `.zarray` to v3 metadata. Writing to a v2 array changes only chunks and the shape, never other
 * metadata.
 */

import { factOf, malformed, printValue, unsupported } from "../../core/errors.ts";
import { DTYPES, rowOf, type DType } from "../../core/tensor/dtype.ts";
import { nameOfShuffle } from "./codecs/blosc.ts";
import { parseFillValue, parseNumpyType, wrongFillValue } from "./data-types.ts";
import { isList, isObject, type Json, type JsonObject } from "./json.ts";
import {
  checkGrid,
  parseAttributes,
  parseSeparator,
  parseShape,
  type Codec,
  type KeyEncoding,
  type Metadata,
  wrongFormat,
} from "./metadata.ts";

/** `attributes` is the contents of `.zattrs`, if it exists. Throws the errors of `parseMetadata`. */
export function parseMetadataV2(
  json: JsonObject,
  attributes: JsonObject | undefined,
  where: string,
): Metadata {
  if (json.zarr_format !== 2) throw wrongFormat(".zarray", json, where, [2]);
  const { dtype, bigEndian } = parseNumpyType(json.dtype, where);
  const shape = parseShape(json.shape, "shape", where);
  const chunkShape = parseShape(json.chunks, "chunks", where);
  checkGrid(shape, chunkShape, where);
  checkFilters(json.filters, where);
  const named = parseAttributes(attributes, where);
  const endian = bigEndian ? "big" : "little";
  const codecs: Codec[] = [
    ...orderOf(json.order, shape.length, where),
    { name: "bytes", configuration: { endian } },
    ...compressorOf(json.compressor, DTYPES[dtype].bytes, where),
  ];
  return {
    version: 2,
    dtype,
    shape,
    chunkShape,
    codecs,
    fill: parseFillValue(dtype, fillFrom(dtype, json.fill_value ?? null, where), where),
    keys: keysOf(json.dimension_separator ?? null, where),
    attributes: named,
    dimensionNames: namesIn(named, shape.length),
  };
}

/** A missing separator is a dot, but older writers also omitted a slash. */
const keysOf = (separator: Json, where: string): KeyEncoding =>
  separator === null
    ? { name: "v2", separator: ".", isAssumed: true }
    : { name: "v2", separator: parseSeparator(separator, where) };

/** Returns the axis names that xarray writes into the attributes, because v2 has no field for them. */
function namesIn({ _ARRAY_DIMENSIONS: names }: JsonObject, rank: number): readonly string[] | null {
  const areNames =
    isList(names) && names.length === rank && names.every((name) => typeof name === "string");
  return areNames ? (names as readonly string[]) : null;
}

function checkFilters(filters: Json | undefined, where: string): void {
  if (filters === undefined || filters === null) return;
  if (isList(filters) && filters.length === 0) return;
  const fields = { key: "filters", file: where };
  if (!isList(filters)) {
    throw malformed(`the filters of ${where} must be null or a list`, fields);
  }
  const ids = filters.map((one) => printValue(isObject(one) ? one.id : one)).slice(0, 5);
  throw unsupported(
    `${where} has filters (${ids.join(", ")}), but filters are not supported`,
    fields,
  );
}

/**
 * Returns a fill value with numbers instead of their text, such as "7", "1e20" or "inf", which zarr-python reads as
 * Python does. Text of a bool is not converted, because zarr-python reads any such text as true.
 */
function fillFrom(dtype: DType, value: Json, where: string): Json {
  if (isList(value)) return value.map((one) => fillFrom(dtype, one, where));
  const { family } = rowOf(dtype);
  if (typeof value !== "string" || family === "bool" || family === "string") return value;
  // Bits in hexadecimal are a form of Zarr v3; TensorStore reads this text as a number in v2.
  if (/^0x/i.test(value)) throw wrongFillValue(dtype, value, where);
  const text = value.trim().replaceAll(/(\d)_(?=\d)/g, "$1");
  const number = Number(text);
  if (family === "int" || family === "int64") {
    if (!/^[+-]?\d{1,20}$/.test(text)) return value;
    // BigInt accepts no plus, and an integer has no -0.
    return Number.isSafeInteger(number) ? number + 0 : BigInt(text.replace("+", ""));
  }
  const [, sign = "", word = ""] = /^([+-]?)(inf(?:inity)?|nan)$/i.exec(text) ?? [];
  if (word !== "") return Number(`${sign}${/^n/i.test(word) ? "NaN" : "Infinity"}`);
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? number : value;
}

/** Returns a transpose codec for column-major chunks. */
function orderOf(order: Json | undefined, rank: number, where: string): Codec[] {
  if (order === "C" || order === undefined) return [];
  if (order !== "F")
    throw malformed(`the order of ${where} must be "C" or "F"`, {
      key: "order",
      file: where,
      allowed: ["C", "F"],
    });
  if (rank < 2) return [];
  const reversed = Array.from({ length: rank }, (_, axis) => rank - 1 - axis);
  return [{ name: "transpose", configuration: { order: reversed } }];
}

function compressorOf(compressor: Json | undefined, typesize: number, where: string): Codec[] {
  if (compressor === null || compressor === undefined) return [];
  if (!isObject(compressor) || typeof compressor.id !== "string") {
    throw malformed(`the compressor of ${where} must be null or an object with an id`, {
      key: "compressor",
      file: where,
    });
  }
  const { id, level, cname, clevel, shuffle, blocksize } = compressor;
  if (id === "gzip" || id === "zlib" || id === "zstd") {
    // The level -1 of zlib and gzip means the library's default, 6; Zarr v3 has no such level.
    const number = level === -1 && id !== "zstd" ? 6 : level;
    return [{ name: id, configuration: number === undefined ? {} : { level: number } }];
  }
  if (id === "blosc") {
    const given = { cname, clevel, shuffle: nameOfShuffle(shuffle, typesize), typesize, blocksize };
    const known = Object.entries(given).filter(([, value]) => value !== undefined);
    return [{ name: "blosc", configuration: Object.fromEntries(known) as JsonObject }];
  }
  throw unsupported(
    `the compressor ${printValue(id)} of ${where} is not supported; the supported compressors are zlib, gzip, zstd and blosc`,
    { key: "compressor", file: where, got: factOf(id), allowed: ["zlib", "gzip", "zstd", "blosc"] },
  );
}
