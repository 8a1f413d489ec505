/**
 * Translates Zarr v2's `.zarray` to v3 metadata. Writing to a v2 array changes only chunks and the shape, never other
 * metadata.
 */

import { factOf, malformed, printValue } from "../../core/errors.ts";
import { DTYPES } from "../../core/tensor/dtype.ts";
import { parseFillValue, parseNumpyType } from "./data-types.ts";
import { isList, isObject, type Json, type JsonObject } from "./json.ts";
import {
  checkGrid,
  parseAttributes,
  parseSeparator,
  parseShape,
  type Codec,
  type Metadata,
  wrongFormat,
} from "./metadata.ts";

/**
 * @param attributes the contents of `.zattrs`, if it exists
 * @throws TensorError like `parseMetadata`
 */
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
    fill: parseFillValue(dtype, json.fill_value ?? null, where),
    keys: { name: "v2", separator: parseSeparator(json.dimension_separator ?? ".", where) },
    attributes: named,
    dimensionNames: namesIn(named, shape.length),
  };
}

/** Returns the axis names that xarray writes into the attributes, because v2 has no field for them. */
function namesIn({ _ARRAY_DIMENSIONS: names }: JsonObject, rank: number): readonly string[] | null {
  const areNames =
    isList(names) && names.length === rank && names.every((name) => typeof name === "string");
  return areNames ? (names as readonly string[]) : null;
}

function checkFilters(filters: Json | undefined, where: string): void {
  if (filters === undefined || filters === null) return;
  if (isList(filters) && filters.length === 0) return;
  const ids = isList(filters)
    ? filters.map((one) => printValue(isObject(one) ? one.id : one)).slice(0, 5)
    : ["no list"];
  throw malformed(`${where} has filters (${ids.join(", ")}), but filters are not supported`, {
    key: "filters",
    file: where,
  });
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

/** The names of blosc's shuffles, by their numbers in numcodecs; -1 means that the encoder chose. */
const SHUFFLES: readonly string[] = ["noshuffle", "shuffle", "bitshuffle"];

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
    // For zlib and gzip, -1 is the default of the library, which is 6; Zarr v3 has no such level.
    const number = level === -1 && id !== "zstd" ? 6 : level;
    return [{ name: id, configuration: number === undefined ? {} : { level: number } }];
  }
  if (id === "blosc") {
    const kind = SHUFFLES[Number(shuffle)] ?? (typesize === 1 ? "bitshuffle" : "shuffle");
    const given = { cname, clevel, shuffle: kind, typesize, blocksize };
    const known = Object.entries(given).filter(([, value]) => value !== undefined);
    return [{ name: "blosc", configuration: Object.fromEntries(known) as JsonObject }];
  }
  throw malformed(
    `the compressor ${printValue(id)} of ${where} is not supported; the supported compressors are zlib, gzip, zstd and blosc`,
    { key: "compressor", file: where, got: factOf(id), allowed: ["zlib", "gzip", "zstd", "blosc"] },
  );
}
