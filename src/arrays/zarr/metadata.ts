/**
 * Defines array metadata for Zarr v2 and v3, and reads and writes `zarr.json`. The file `pipeline.ts` checks the
 * codecs.
 */

import { factOf, isArray, printValue, wrongOption } from "../../core/foreign.ts";
import { malformed, TensorError, unsupported } from "../../core/errors.ts";
import type { OwnCodec } from "./codecs/own.ts";
import type { DType } from "../../core/tensor/dtype.ts";
import { MAX_RANK, printShape, product } from "../../core/tensor/shape.ts";
import { gridOf } from "../boxes/boxes.ts";
import { parseDataType, parseFillValue, printDataType, printFillValue } from "./data-types.ts";
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

const FIELDS = new Set([
  "zarr_format",
  "node_type",
  "shape",
  "data_type",
  "chunk_grid",
  "chunk_key_encoding",
  "fill_value",
  "codecs",
  "attributes",
  "storage_transformers",
  "dimension_names",
]);

/**
 * Errors call the array `where`. Throws `malformed-file` for invalid metadata, `unsupported-file` for unsupported
 * features, or `dtype` for an unsupported data type.
 */
export function parseMetadata(json: JsonObject, where: string): Metadata {
  if (json.zarr_format !== 3) throw wrongFormat(null, json, where, [2, 3]);
  if (json.node_type !== "array") {
    const advice = json.node_type === "group" ? "; name an array in it" : "";
    const refuse = json.node_type === "group" ? unsupported : malformed;
    throw refuse(`${where} must be an array, got ${printValue(json.node_type)}${advice}`, {
      key: "node_type",
      file: where,
      got: factOf(json.node_type),
      expected: "array",
    });
  }
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
    dimensionNames: parseNames(json.dimension_names, shape.length, where),
  };
}

/** Rejects unknown fields, unless they allow readers to ignore them. */
function checkFields(json: JsonObject, where: string): void {
  for (const [name, value] of Object.entries(json)) {
    if (FIELDS.has(name)) continue;
    if (isObject(value) && value.must_understand === false) continue;
    throw unsupported(
      `${where} has the extension ${printValue(name)}, which is required to read the array, but is not supported`,
      { key: name, file: where },
    );
  }
  const { storage_transformers: transformers = [] } = json;
  if (isList(transformers) && transformers.every(mayIgnore)) return;
  const fields = { key: "storage_transformers", file: where };
  if (!isList(transformers)) {
    throw malformed(`the storage_transformers of ${where} must be a list`, fields);
  }
  throw unsupported(`${where} has storage transformers, which are not supported`, fields);
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
  throw malformed(
    `a ${field} of ${where} must be a name, or an object with a name and a configuration`,
    { key: field, file: where },
  );
}

/** The maximum number of codecs; real lists have at most five. */
const MAX_CODECS = 32;

export function parseCodecs(value: Json | undefined, where: string): Codec[] {
  if (!isList(value) || value.length > MAX_CODECS) {
    throw (isList(value) ? unsupported : malformed)(
      `the codecs of ${where} must be a list of at most ${MAX_CODECS}`,
      {
        key: "codecs",
        file: where,
        limit: MAX_CODECS,
      },
    );
  }
  return value.map((one) => {
    const codec = extensionOf(one, "codec", where);
    return mayIgnore(one) ? { ...codec, mayIgnore: true } : codec;
  });
}

/** Parses a list of dimensions. Throws a `malformed-file`, `rank` or `too-large` error. */
export function parseShape(value: Json | undefined, field: string, where: string): number[] {
  if (!isList(value))
    throw malformed(`the ${field} of ${where} must be a list of integers`, {
      key: field,
      file: where,
      got: factOf(value),
    });
  if (value.length > MAX_RANK) {
    const sentence = `the ${field} of ${where} has ${value.length} axes, more than ${MAX_RANK}`;
    throw new TensorError("rank", sentence, {
      key: field,
      file: where,
      got: value.length,
      limit: MAX_RANK,
    });
  }
  return value.map((dim) => {
    if (typeof dim === "bigint" && dim > Number.MAX_SAFE_INTEGER) {
      const sentence = `the ${field} of ${where} has the dimension ${dim}, greater than 2^53 - 1`;
      throw new TensorError("too-large", sentence, {
        key: field,
        file: where,
        got: dim,
        limit: Number.MAX_SAFE_INTEGER,
      });
    }
    if (typeof dim === "number" && Number.isSafeInteger(dim) && dim >= 0) return dim + 0;
    throw malformed(`the ${field} of ${where} must be a list of integers of 0 or more`, {
      key: field,
      file: where,
      got: factOf(dim),
    });
  });
}

/** Checks that the numbers of elements and chunks are exact, and that chunks are not empty. */
export function checkGrid(
  shape: readonly number[],
  chunkShape: readonly number[],
  where: string,
): void {
  if (chunkShape.length !== shape.length) {
    throw malformed(
      `the chunks of ${where} have the shape ${printShape(chunkShape)}, but the array has ${printShape(shape)}`,
      { key: "chunk_shape", file: where, got: chunkShape, expected: shape },
    );
  }
  if (chunkShape.includes(0)) {
    throw malformed(
      `the chunks of ${where} have the shape ${printShape(chunkShape)}, which has no elements`,
      { key: "chunk_shape", file: where, got: chunkShape },
    );
  }
  const counts: readonly (readonly [string, number])[] = [
    ["elements", product(shape)],
    ["elements in a chunk", product(chunkShape)],
    ["chunks", product(gridOf(shape, chunkShape))],
  ];
  const many = counts.find(([, count]) => !Number.isSafeInteger(count));
  if (many === undefined) return;
  throw new TensorError("too-large", `${where} has more than 2^53 - 1 ${many[0]}`, {
    key: "shape",
    file: where,
    limit: Number.MAX_SAFE_INTEGER,
  });
}

function parseKeys(value: Json | undefined, where: string): KeyEncoding {
  const { name, configuration = {} } = extensionOf(value, "chunk_key_encoding", where);
  if (name !== "default" && name !== "v2") {
    throw unknownExtension("chunk_key_encoding", name, where);
  }
  const { separator = name === "default" ? "/" : "." } = configuration;
  return { name, separator: parseSeparator(separator, where) };
}

/** Returns the error for chunks with nested keys in a Zarr v2 array without a separator. */
export const nestedKeys = ({ path }: { readonly path: string }, got: string, expected: string) =>
  malformed(
    `${path} has the chunk ${got} in folders, but its .zarray has no dimension_separator, so the chunk must be ${expected}; ` +
      'add "dimension_separator": "/" to .zarray',
    { key: "dimension_separator", file: path, got, expected },
  );

export function parseSeparator(value: Json, where: string): "/" | "." {
  if (value === "/" || value === ".") return value;
  throw malformed(`the separator of chunk keys of ${where} must be "/" or "."`, {
    key: "separator",
    file: where,
    allowed: ["/", "."],
  });
}

export function parseAttributes(value: Json | undefined, where: string): JsonObject {
  if (value === undefined) return {};
  if (isObject(value)) return value;
  throw malformed(`the attributes of ${where} must be an object`, {
    key: "attributes",
    file: where,
  });
}

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

function parseNames(
  value: Json | undefined,
  rank: number,
  where: string,
): Metadata["dimensionNames"] {
  // The value null means that the array has no names, as in zarr-python.
  if (value === undefined || value === null) return null;
  if (isList(value) && value.length === rank && value.every(isName)) return value as string[];
  throw malformed(
    `the dimension_names of ${where} must be a list of names or nulls, one for each of the axes (${rank})`,
    {
      key: "dimension_names",
      file: where,
      expected: rank,
    },
  );
}

const isName = (value: Json): boolean => value === null || typeof value === "string";

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
