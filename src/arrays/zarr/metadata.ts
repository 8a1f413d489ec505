/**
 * Defines array metadata, and reads and writes `zarr.json`. `metadata-v2.ts` translates Zarr v2; `pipeline.ts` checks
 * the codecs.
 */

import { factOf, isArray, printValue, wrongOption } from "../../core/foreign.ts";
import { malformed, TensorError, unsupported } from "../../core/errors.ts";
import type { OwnCodec } from "./codecs/own.ts";
import type { DType } from "../../core/tensor/dtype.ts";
import { printShape, product } from "../../core/tensor/shape.ts";
import { gridOf } from "../boxes/boxes.ts";
import { parseDataType, parseFillValue, printDataType, printFillValue } from "./data-types.ts";
import { objectIn, oneOf, parseShape, unsupportedCodec, wrongField } from "./fields.ts";
import {
  isList,
  isObject,
  mapNumbers,
  MAX_DEPTH,
  printJson,
  type Json,
  type JsonObject,
} from "./json.ts";

/** A codec, as described by metadata. */
export interface Codec {
  readonly name: string;
  readonly configuration?: JsonObject;
  /** True if readers that do not know the codec may ignore it. */
  readonly mayIgnore?: true;
}

export interface Metadata {
  /** The Zarr version. */
  readonly version: 2 | 3;
  readonly dtype: DType;
  readonly shape: readonly number[];
  /** The shape of the elements in one stored object, which is the shape of a shard if the array has shards. */
  readonly chunkShape: readonly number[];
  readonly codecs: readonly Codec[];
  /** The fill value, as the bytes of one element. */
  readonly fill: Uint8Array;
  readonly keys: KeyEncoding;
  readonly attributes: JsonObject;
  readonly dimensionNames: readonly (string | null)[] | null;
  /** Codecs of the caller, which are not part of the file. */
  readonly own?: ReadonlyMap<string, OwnCodec>;
}

/** The format of chunk keys, such as `c/0/1` or `0.1`. */
export interface KeyEncoding {
  readonly name: "default" | "v2";
  readonly separator: "/" | ".";
  /** True if Zarr v2 metadata omits the separator. */
  readonly isAssumed?: true;
}

export function printKey({ name, separator }: KeyEncoding, at: readonly number[]): string {
  if (name === "default") return ["c", ...at].join(separator);
  return at.length === 0 ? "0" : at.join(separator);
}

/** Parses the chunk coordinates in a key, or returns null for the key of another object. */
export function parseKey(keys: KeyEncoding, rank: number, key: string): number[] | null {
  const parts = key.split(keys.separator);
  const words = keys.name === "default" ? parts.slice(1) : parts;
  const at = rank === 0 ? [] : words.map(Number);
  const isRight = at.length === rank && at.every((one) => Number.isSafeInteger(one) && one >= 0);
  return isRight && printKey(keys, at) === key ? at : null;
}

/** Creates the error for metadata of another format, which mentions a separate metadata file. */
export function wrongFormat(
  file: string | null,
  { zarr_format: got }: JsonObject,
  where: string,
  allowed: readonly number[],
): TensorError {
  const title = file === null ? where : `the ${file} of ${where}`;
  const must = `${title} must be of Zarr format ${allowed.join(" or ")}`;
  const fields = { key: "zarr_format", file: where, got: factOf(got), allowed };
  const isOther = Number.isSafeInteger(got) && got !== 2 && got !== 3;
  return (isOther ? unsupported : malformed)(`${must}, got ${printValue(got)}`, fields);
}

const FIELDS = new Set(
  "zarr_format node_type shape data_type chunk_grid chunk_key_encoding fill_value codecs attributes".split(
    " ",
  ),
)
  .add("storage_transformers")
  .add("dimension_names");

/**
 * Errors call the array `where`. Throws `malformed-file` for invalid metadata, `unsupported-file` for unsupported
 * features, `unsupported-codec`, or `unsupported-dtype`.
 */
export function parseMetadata(json: JsonObject, where: string): Metadata {
  checkNode(json, "array", "; name an array in it", where);
  checkFields(json, where);
  const dtype = parseDataType(json.data_type, where);
  const shape = parseShape(json.shape, "shape", where);
  const grid = extensionOf(json.chunk_grid, "chunk_grid", where);
  if (grid.name !== "regular") throw unknownExtension("chunk_grid", grid.name, where);
  const chunkShape = parseShape(grid.configuration?.chunk_shape, "chunk_shape", where);
  checkGrid(shape, chunkShape, where);
  return {
    version: 3,
    dtype,
    shape,
    chunkShape,
    codecs: parseCodecs(json.codecs, where),
    fill: parseFillValue(dtype, json.fill_value, where),
    keys: parseKeys(json.chunk_key_encoding, where),
    attributes: parseAttributes(json.attributes, where),
    dimensionNames: parseNames(json.dimension_names ?? null, shape.length, where),
  };
}

/** Checks the version and the type of a node of Zarr v3. A node of the other type is valid, but not supported here. */
export function checkNode(
  json: JsonObject,
  expected: "array" | "group",
  advice: string,
  where: string,
): void {
  if (json.zarr_format !== 3) throw wrongFormat(null, json, where, [2, 3]);
  const { node_type: got } = json;
  if (got === expected) return;
  const isOther = got === "array" || got === "group";
  const must = `${where} must be ${expected === "array" ? "an array" : "a group"}`;
  const sentence = `${must}, got ${printValue(got)}${isOther ? advice : ""}`;
  const fields = { key: "node_type", file: where, got: factOf(got), expected };
  throw (isOther ? unsupported : malformed)(sentence, fields);
}

/** Rejects unknown fields, unless they allow readers to ignore them. */
function checkFields(json: JsonObject, where: string): void {
  for (const [name, value] of Object.entries(json)) {
    if (FIELDS.has(name) || mayIgnore(value)) continue;
    const need = "which is required to read the array, but is not supported";
    const sentence = `${where} has the extension ${printValue(name)}, ${need}`;
    throw unsupported(sentence, { key: name, file: where });
  }
  const key = "storage_transformers";
  const { storage_transformers: transformers = [] } = json;
  if (!isList(transformers)) throw wrongField(key, where, "a list", transformers);
  if (transformers.every(mayIgnore)) return;
  const sentence = `${where} has storage transformers, which are not supported`;
  throw unsupported(sentence, { key, file: where });
}

const mayIgnore = (value: Json): boolean => isObject(value) && value.must_understand === false;

const unknownExtension = (field: string, name: string, where: string): TensorError =>
  unsupported(`the ${field} ${printValue(name)} of ${where} is not supported`, {
    key: field,
    file: where,
    got: factOf(name),
  });

/** Parses an extension, which is a name or an object with a name. */
function extensionOf(value: Json | undefined, field: string, where: string): Codec {
  if (typeof value === "string") return { name: value };
  if (isObject(value) && typeof value.name === "string") {
    const { name, configuration } = value;
    if (configuration === undefined) return { name };
    if (isObject(configuration)) return { name, configuration };
  }
  throw wrongField(field, where, "a name, or an object with a name and a configuration", value);
}

/** The maximum number of codecs; real lists have at most five. */
const MAX_CODECS = 32;

export function parseCodecs(value: Json | undefined, where: string): Codec[] {
  if (!isList(value)) throw wrongField("codecs", where, "a list", value);
  if (value.length > MAX_CODECS) {
    const sentence = `${where} has ${value.length} codecs, more than ${MAX_CODECS}`;
    throw unsupportedCodec(sentence, where, { limit: MAX_CODECS });
  }
  return value.map((one) => {
    const codec = extensionOf(one, "codec", where);
    return mayIgnore(one) ? { ...codec, mayIgnore: true } : codec;
  });
}

/** Checks that the numbers of elements and chunks are exact, and that chunks are not empty. */
export function checkGrid(
  shape: readonly number[],
  chunkShape: readonly number[],
  where: string,
): void {
  const title = `the chunks of ${where} have the shape ${printShape(chunkShape)}`;
  const fields = { key: "chunk_shape", file: where, got: chunkShape };
  if (chunkShape.length !== shape.length) {
    const sentence = `${title}, but the array has ${printShape(shape)}`;
    throw malformed(sentence, { ...fields, expected: shape });
  }
  if (chunkShape.includes(0)) throw malformed(`${title}, which has no elements`, fields);
  const counts: readonly (readonly [string, number])[] = [
    ["elements", product(shape)],
    ["elements in a chunk", product(chunkShape)],
    ["chunks", product(gridOf(shape, chunkShape))],
  ];
  const many = counts.find(([, count]) => !Number.isSafeInteger(count));
  if (many === undefined) return;
  const sentence = `${where} has more than 2^53 - 1 ${many[0]}`;
  const limit = Number.MAX_SAFE_INTEGER;
  throw new TensorError("too-large", sentence, { key: "shape", file: where, limit });
}

function parseKeys(value: Json | undefined, where: string): KeyEncoding {
  const { name, configuration = {} } = extensionOf(value, "chunk_key_encoding", where);
  if (name !== "default" && name !== "v2") {
    throw unknownExtension("chunk_key_encoding", name, where);
  }
  const { separator = name === "default" ? "/" : "." } = configuration;
  return { name, separator: oneOf(separator, "separator of chunk keys", ["/", "."], where) };
}

/** Returns the error for chunks with nested keys in a Zarr v2 array without a separator. */
export const nestedKeys = ({ path }: { readonly path: string }, got: string, expected: string) =>
  malformed(
    `${path} has the chunk ${got} in folders, but its .zarray has no dimension_separator, so the chunk must be ${expected}; ` +
      'add "dimension_separator": "/" to .zarray',
    { key: "dimension_separator", file: path, got, expected },
  );

export const parseAttributes = (value: Json | undefined, where: string): JsonObject =>
  value === undefined ? {} : objectIn(value, "attributes", where);

/**
 * Converts attributes from a program to JSON. NaN and infinities become text, because most JSON readers reject them,
 * unless the attributes were copied from a file.
 */
export function newAttributes(value: Json): JsonObject {
  if (!isObject(value)) throw wrongOption("attributes", "an object", value);
  checkJson(value, "attributes");
  return mapNumbers(value, (one) => (Number.isFinite(one) ? one : String(one))) as JsonObject;
}

/** The maximum depth of a value in attributes, which are themselves at depth 4 in consolidated metadata. */
const MOST_LEVELS = MAX_DEPTH - 4;

/**
 * Throws an `attribute` error for a value such as undefined or a Date, which JSON cannot hold, and for deeper nesting,
 * which could not be read.
 */
function checkJson(value: unknown, name: string, depth = 0): void {
  if (depth > MOST_LEVELS) {
    const sentence = `attributes must not contain themselves, or nest more than ${MOST_LEVELS} levels`;
    throw new TensorError("attribute", sentence, { key: "attributes", limit: MOST_LEVELS });
  }
  const kind = printValue(value);
  if (kind === "an object" || kind === "a list") {
    // A copy of a list has undefined in place of holes.
    const parts = isArray(value) ? [...value] : (value as object);
    for (const [key, one] of Object.entries(parts)) checkJson(one, key, depth + 1);
  } else if (value !== null && !/^(?:string|number|bigint|boolean)$/.test(typeof value)) {
    const sentence = `the attribute ${printValue(name)} must be a value of JSON, got ${kind}`;
    throw new TensorError("attribute", sentence, { key: name, got: factOf(value) });
  }
}

/** The value null means that the array has no names, as in zarr-python. */
function parseNames(value: Json, rank: number, where: string): Metadata["dimensionNames"] {
  if (value === null || areNames(value, rank)) return value;
  const must = `a list of names or nulls, one for each of the axes (${rank})`;
  throw wrongField("dimension_names", where, must, value, { expected: rank });
}

/** Returns true for a list with a name or null for each axis. */
export const areNames = (value: unknown, rank: number): value is readonly (string | null)[] =>
  isArray(value) &&
  value.length === rank &&
  value.every((one) => one === null || typeof one === "string");

/** Returns the text of `zarr.json`. */
export function printMetadata(metadata: Metadata): string {
  const { dtype, shape, chunkShape, codecs, fill, keys, attributes, dimensionNames } = metadata;
  const json: JsonObject = {
    zarr_format: 3,
    node_type: "array",
    shape,
    data_type: printDataType(dtype),
    chunk_grid: { name: "regular", configuration: { chunk_shape: chunkShape } },
    chunk_key_encoding: { name: keys.name, configuration: { separator: keys.separator } },
    fill_value: printFillValue(dtype, fill),
    codecs: codecs.map(({ name, configuration }): JsonObject =>
      configuration === undefined ? { name } : { name, configuration },
    ),
    attributes,
    ...(dimensionNames !== null && { dimension_names: dimensionNames }),
  };
  return `${printJson(json)}\n`;
}
