/**
 * Translates a Zarr v2 file `.zarray` to v3 metadata. In a v2 array, only chunks and the shape are ever written, but no
 * other metadata.
 */

import { factOf, printValue } from "../../core/foreign.ts";
import { malformed, unsupported } from "../../core/errors.ts";
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

/** `attributes` contains the file `.zattrs`, if it exists. Throws the errors of `parseMetadata`. */
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

/** A missing separator means a dot, but older writers also omitted the separator if it was a slash. */
const keysOf = (separator: Json, where: string): KeyEncoding =>
  separator === null
    ? { name: "v2", separator: ".", isAssumed: true }
    : { name: "v2", separator: parseSeparator(separator, where) };

/** Returns the axis names that xarray writes into the attributes, because v2 metadata has no field for axis names. */
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
 * Converts the text of numbers in a fill value, such as "7", "1e20" or "inf", to numbers, as zarr-python does. Text for
 * a bool is not converted, because zarr-python reads any such text as true.
 */
function fillFrom(dtype: DType, value: Json, where: string): Json {
  if (isList(value)) return value.map((one) => fillFrom(dtype, one, where));
  const { family } = rowOf(dtype);
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
    // Zarr v3 has no level -1, which in zlib and gzip means the default level 6.
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
