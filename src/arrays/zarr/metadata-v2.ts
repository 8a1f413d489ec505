/** Translates a Zarr v2 file `.zarray` to v3 metadata. In an existing v2 array, only chunks and the shape are written. */

import { factOf, printValue } from "../../core/foreign.ts";
import { malformed, unsupported } from "../../core/errors.ts";
import { DTYPES, rowOf, type DType } from "../../core/tensor/dtype.ts";
import { nameOfShuffle } from "./codecs/blosc.ts";
import { FILTER_NAMES, typeKeys } from "./codecs/filters.ts";
import { BYTE_CODECS } from "./codecs/registry.ts";
import { parseFillValue, parseNumpyType, printNumpyType, wrongFillValue } from "./data-types.ts";
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
  own?: Metadata["own"],
): Metadata {
  if (json.zarr_format !== 2) throw wrongFormat(".zarray", json, where, [2]);
  const { dtype, bigEndian: isBig } = parseNumpyType(json.dtype, where);
  const shape = parseShape(json.shape, "shape", where);
  const chunkShape = parseShape(json.chunks, "chunks", where);
  checkGrid(shape, chunkShape, where);
  const named = parseAttributes(attributes, where);
  const { typesize, bigEndian, elements, bytes } = filtersOf(
    json.filters,
    dtype,
    isBig,
    where,
    own,
  );
  const codecs: Codec[] = [
    ...orderOf(json.order, shape.length, where),
    ...elements,
    { name: "bytes", configuration: { endian: bigEndian ? "big" : "little" } },
    ...bytes,
    ...(json.compressor == null
      ? []
      : codecOf("compressor", json.compressor, typesize, where, own)),
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

/** Zarr v2 filters as codecs of v3: filters of elements precede the codec `bytes`, and filters of bytes follow it. */
interface Filters {
  readonly elements: readonly Codec[];
  readonly bytes: readonly Codec[];
  /** The byte order and the size of the elements after the filters. */
  readonly bigEndian: boolean;
  readonly typesize: number;
}

/**
 * Translates filters. Zarr v2 states the data types and byte orders of each filter's elements. The decoded type of the
 * first filter must be the array's type, and the decoded type of any other filter must be the encoded type of the
 * filter before it, as in v3.
 */
function filtersOf(
  filters: Json | undefined,
  dtype: DType,
  isBig: boolean,
  where: string,
  own: Metadata["own"],
): Filters {
  const fields = { key: "filters", file: where };
  if (!isList(filters ?? []) || (isList(filters) && filters.length > MAX_FILTERS)) {
    throw (isList(filters) ? unsupported : malformed)(
      `the filters of ${where} must be null or a list of at most ${MAX_FILTERS}`,
      fields,
    );
  }
  const [elements, bytes]: [Codec[], Codec[]] = [[], []];
  let [stored, bigEndian] = [dtype, isBig];
  for (const filter of (filters ?? []) as readonly Json[]) {
    const id = isObject(filter) ? filter.id : filter;
    const isOfElements = FILTER_NAMES.includes(`numcodecs.${String(id)}`);
    if (!isObject(filter) || !isOfElements) {
      bytes.push(...codecOf("filter", filter, DTYPES[stored].bytes, where, own));
      continue;
    }
    const { id: _, ...configuration } = filter;
    const [decoded, encoded] = typeKeys(String(id)).map((key) => filter[key]);
    const from = decoded == null ? null : parseNumpyType(decoded, where);
    const to = encoded == null ? from : parseNumpyType(encoded, where);
    const isOther = from !== null && (from.dtype !== stored || isOtherOrder(from, bigEndian));
    if (bytes.length > 0 || isOther) {
      const expected = printNumpyType(stored, bigEndian);
      const why =
        bytes.length > 0
          ? "follows a filter of bytes"
          : `has the type ${printValue(decoded)}, but its elements are ${expected}`;
      throw unsupported(
        `the filter ${printValue(id)} of ${where} ${why}, which is not supported`,
        fields,
      );
    }
    const types = [from, to].map((one) => one && printNumpyType(one.dtype, false));
    const named = typeKeys(String(id)).flatMap((key, at) => (types[at] ? [[key, types[at]]] : []));
    elements.push({
      name: `numcodecs.${String(id)}`,
      configuration: { ...configuration, ...Object.fromEntries(named) },
    });
    if (to !== null) ({ dtype: stored, bigEndian } = to);
    if (id === "packbits") [stored, bigEndian] = ["uint8", false];
  }
  return { elements, bytes, bigEndian, typesize: DTYPES[stored].bytes };
}

const isOtherOrder = (
  from: { readonly dtype: DType; readonly bigEndian: boolean },
  bigEndian: boolean,
): boolean => from.bigEndian !== bigEndian && DTYPES[from.dtype].bytes > 1;

/** The maximum number of filters; real lists have at most three. */
const MAX_FILTERS = 16;

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

/** Translates a compressor, or a filter of bytes. */
function codecOf(
  key: "compressor" | "filter",
  codec: Json,
  typesize: number,
  where: string,
  own: Metadata["own"],
): Codec[] {
  const fields = { key: key === "filter" ? "filters" : key, file: where };
  if (!isObject(codec) || typeof codec.id !== "string") {
    const title = key === "filter" ? "each filter" : "the compressor";
    const or = key === "filter" ? "" : "null or ";
    throw malformed(`${title} of ${where} must be ${or}an object with an id`, fields);
  }
  const { id, ...configuration } = codec;
  if (id === "gzip" || id === "zlib" || id === "zstd") {
    const { level, checksum } = configuration;
    // Zarr v3 has no level -1, which in zlib and gzip means the default level 6.
    const number = level === -1 && id !== "zstd" ? 6 : level;
    const kept: JsonObject = {
      ...(number !== undefined && { level: number }),
      ...(id === "zstd" && checksum === true && { checksum }),
    };
    return [{ name: id, configuration: kept }];
  }
  if (id === "blosc") {
    const { cname, clevel, shuffle, blocksize } = configuration;
    const given = { cname, clevel, shuffle: nameOfShuffle(shuffle, typesize), typesize, blocksize };
    const known = Object.entries(given).filter(([, value]) => value !== undefined);
    return [{ name: "blosc", configuration: Object.fromEntries(known) as JsonObject }];
  }
  const name = `numcodecs.${id}`;
  if (BYTE_CODECS[name] !== undefined || own?.has(name) === true) return [{ name, configuration }];
  const allowed = IDS.filter(
    (one) => key === "filter" || !FILTER_NAMES.includes(`numcodecs.${one}`),
  );
  throw unsupported(
    `the ${key} ${printValue(id)} of ${where} is not supported; the supported ${key}s are ${allowed.join(", ")}`,
    { ...fields, got: factOf(id), allowed },
  );
}

/** The codecs of numcodecs that arrays of Zarr v2 may have. */
const IDS = [...FILTER_NAMES, ...Object.keys(BYTE_CODECS)].flatMap((name) =>
  name.startsWith("numcodecs.") ? [name.slice("numcodecs.".length)] : [],
);
