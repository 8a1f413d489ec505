/**
 * Codecs from elements to elements. In metadata, these codecs precede the codec `bytes`. The pipeline runs them after
 * `bytes`, on little-endian bytes, which gives the same result, so a filter is a `ByteCodec` that changes the data
 * type. This file checks the configurations; `filter-steps.ts` does the arithmetic, and is loaded with the first chunk.
 */

import { factOf, printValue } from "../../../core/foreign.ts";
import { malformed, unsupported } from "../../../core/errors.ts";
import { DTYPES, isUnsigned, rowOf, type DType } from "../../../core/tensor/dtype.ts";
import { parseDataType, parseElement, parseNumpyType } from "../data-types.ts";
import { isList, isObject, type Json, type JsonObject } from "../json.ts";
import { broken, type ByteCodec } from "./byte-codec.ts";
import { oneOf } from "./registry.ts";

type Steps = typeof import("./filter-steps.ts");

export interface Filter {
  readonly codec: ByteCodec;
  /** The data type of the encoded elements. */
  readonly dtype: DType;
  /** True if the result depends on the order of the elements, so that axes cannot be transposed afterwards. */
  readonly isOrdered: boolean;
}

type Decode = (steps: Steps, bytes: Uint8Array, size: number) => Uint8Array;

interface Work {
  readonly dtype?: DType;
  readonly decode: Decode;
  /** Absent if encoding would lose values. */
  readonly encode?: (steps: Steps, bytes: Uint8Array) => Uint8Array;
  readonly isOrdered?: true;
  /** Converts the decoded size to the encoded size, in bytes. Absent if every encoded element takes whole bytes. */
  readonly sizeOf?: (size: number) => number;
}

type MakeFilter = (configuration: JsonObject, dtype: DType, where: string) => Work;

const same: Decode = (_, bytes) => bytes;

/** The object has no prototype, because a codec name from a file might equal the name of an inherited member. */
const FILTERS: Readonly<Record<string, MakeFilter | undefined>> = Object.assign(
  Object.create(null),
  {
    "numcodecs.delta": (configuration, dtype, where) => {
      const stored = typesOf("delta", configuration, dtype, where);
      const isExact = stored === dtype && !isFloat(dtype);
      return {
        dtype: stored,
        decode: (steps, bytes) => steps.sums(bytes, stored, dtype),
        ...(isExact && { encode: (steps, bytes) => steps.differences(bytes, dtype) }),
        isOrdered: true,
      };
    },
    "numcodecs.fixedscaleoffset": (configuration, dtype, where) => {
      const stored = typesOf("fixedscaleoffset", configuration, dtype, where);
      const [scale, offset] = (["scale", "offset"] as const).map((key) =>
        parseNumber(configuration[key], key, where),
      );
      const decode: Decode = (steps, bytes) => steps.scaled(bytes, stored, dtype, scale, offset);
      return { dtype: stored, decode };
    },
    "numcodecs.quantize": castFrom("quantize"),
    "numcodecs.astype": castFrom("astype"),
    "numcodecs.bitround": () => ({ decode: same }),
    bitround: () => ({ decode: same }),
    "numcodecs.packbits": (_, dtype, where) => {
      if (dtype !== "bool") throw wrongType("packbits", dtype, where);
      return {
        dtype: "uint8",
        decode: (steps, bytes, size) => steps.unpackBools(bytes, size),
        encode: (steps, bytes) => steps.packBools(bytes),
        isOrdered: true,
        sizeOf: (size) => 1 + Math.ceil(size / 8),
      };
    },
    scale_offset: (configuration, dtype, where) => {
      checkNumeric("scale_offset", dtype, where);
      checkKeys("scale_offset", configuration, ["scale", "offset"], where);
      const { scale = 1, offset = 0 } = configuration;
      const by = parseElement(dtype, scale, where, "scale");
      const plus = parseElement(dtype, offset, where, "offset");
      return { decode: (steps, bytes) => steps.scaledExactly(bytes, dtype, by, plus) };
    },
    cast_value: (configuration, dtype, where) => {
      const keys = ["data_type", "rounding", "out_of_range", "scalar_map"];
      checkKeys("cast_value", configuration, keys, where);
      const stored = parseDataType(configuration.data_type, where);
      for (const one of [dtype, stored]) checkNumeric("cast_value", one, where);
      const { rounding: round = ROUNDINGS[0], out_of_range: range = "error" } = configuration;
      const settings = {
        rounding: oneOf(round, "rounding of cast_value", ROUNDINGS, where),
        range: oneOf(range, "out_of_range of cast_value", ["error", "clamp", "wrap"], where),
        map: mapOf(configuration.scalar_map, stored, dtype, where),
      };
      return {
        dtype: stored,
        decode: (steps, bytes) => steps.castExactly(bytes, stored, dtype, settings),
      };
    },
  } satisfies Record<string, MakeFilter>,
);

const ROUNDINGS = [
  "nearest-even",
  "towards-zero",
  "towards-positive",
  "towards-negative",
  "nearest-away",
] as const;

/** The settings of `cast_value` for decoding. */
export interface Casting {
  readonly rounding: (typeof ROUNDINGS)[number];
  readonly range: "error" | "clamp" | "wrap";
  readonly map: ReadonlyMap<unknown, unknown>;
}

export const FILTER_NAMES: readonly string[] = Object.keys(FILTERS);

/** Returns the filter with this name for elements of `dtype`, or null if the name is not a filter's. */
export function makeFilter(
  name: string,
  configuration: JsonObject,
  dtype: DType,
  where: string,
): Filter | null {
  const work = FILTERS[name]?.(configuration, dtype, where);
  if (work === undefined) return null;
  const { dtype: stored = dtype, decode, encode, isOrdered = false } = work;
  const [width, storedWidth] = [DTYPES[dtype].bytes, DTYPES[stored].bytes];
  const sizeOf = work.sizeOf ?? ((size: number) => Math.ceil(size / width) * storedWidth);
  const refusal = `the codec ${name} can lose values, so it is read but not written`;
  const codec: ByteCodec = {
    name,
    fixedSize: sizeOf,
    mostEncoded: sizeOf,
    ratio: work.sizeOf === undefined ? width / storedWidth : 8,
    // Elements are copied, because bytes may be unaligned.
    held: { decode: sizeOf, encode: (size) => size },
    decode: async (bytes, { size }) => decode(await import("./filter-steps.ts"), bytes, size),
    async encode(bytes) {
      if (encode === undefined) throw broken(refusal);
      return encode(await import("./filter-steps.ts"), bytes);
    },
    ...(encode === undefined && { unwritable: () => refusal }),
  };
  return { codec, dtype: stored, isOrdered };
}

function castFrom(name: string): MakeFilter {
  return (configuration, dtype, where) => {
    const stored = typesOf(name, configuration, dtype, where);
    return { dtype: stored, decode: (steps, bytes) => steps.cast(bytes, stored, dtype) };
  };
}

const isFloat = (dtype: DType): boolean => dtype.startsWith("float");

/** The keys of a filter's configuration that hold the types of decoded and of encoded elements. */
export const typeKeys = (id: string): readonly [string, string] =>
  id === "astype" ? ["decode_dtype", "encode_dtype"] : ["dtype", "astype"];

/** Returns the type of encoded elements, after a check that the type of decoded elements is `dtype`. */
function typesOf(id: string, configuration: JsonObject, dtype: DType, where: string): DType {
  const [decoded, encoded] = typeKeys(id).map((key) => configuration[key]);
  const own = decoded == null ? dtype : parseNative(decoded, where);
  const stored = encoded == null ? own : parseNative(encoded, where);
  if (own !== dtype) throw wrongType(id, own, where, dtype);
  for (const one of [own, stored]) {
    if (!/^(?:u?int|float)(?:8|16|32|64)$/.test(one)) throw wrongType(id, one, where);
  }
  if (id === "delta" && !areSummed(stored, dtype)) throw wrongType(id, stored, where);
  return stored;
}

/** Returns false for pairs of types whose sums in NumPy are inexact, and for pairs that do not occur in files. */
function areSummed(stored: DType, dtype: DType): boolean {
  if (stored === "float16" || dtype === "float16") return false;
  if (isFloat(dtype)) return rowOf(stored).family !== "int64";
  // NumPy adds uint64 and signed integers as float64.
  const isMixed = isUnsigned(stored) !== isUnsigned(dtype);
  return !isFloat(stored) && !(isMixed && (stored === "uint64" || dtype === "uint64"));
}

/** Parses NumPy's name of a data type, such as `<i4` or `int32`, in the byte order of memory. */
function parseNative(value: Json, where: string): DType {
  const isName = typeof value === "string" && /^[a-z]+\d+$/.test(value) && value.length > 3;
  if (isName) return parseDataType(value, where);
  const { dtype, bigEndian } = parseNumpyType(value, where);
  if (!bigEndian || DTYPES[dtype].bytes === 1) return dtype;
  throw unsupported(
    `a codec of ${where} has the big-endian type ${printValue(value)}, which is not supported`,
    {
      key: "codecs",
      file: where,
      got: factOf(value),
    },
  );
}

function wrongType(name: string, got: DType, where: string, expected?: DType): Error {
  const but = expected === undefined ? "" : `, where the elements are ${expected}`;
  return unsupported(`the codec ${name} of ${where} is not supported for ${got}${but}`, {
    key: "codecs",
    file: where,
    got,
    expected,
  });
}

function checkNumeric(name: string, dtype: DType, where: string): void {
  if (/^(?:bool|string|complex)/.test(dtype)) throw wrongType(name, dtype, where);
}

function checkKeys(
  name: string,
  configuration: JsonObject,
  known: readonly string[],
  where: string,
): void {
  const other = Object.keys(configuration).find((key) => !known.includes(key));
  if (other === undefined) return;
  const sentence = `the codec ${name} of ${where} has the setting ${printValue(other)}, which is not supported`;
  throw unsupported(sentence, { key: "codecs", file: where, got: other });
}

function parseNumber(value: Json | undefined, key: string, where: string): number {
  const number = typeof value === "bigint" ? Number(value) : value;
  if (typeof number === "number" && Number.isFinite(number)) return number;
  throw malformed(`the ${key} of fixedscaleoffset of ${where} must be a number`, {
    key,
    file: where,
    got: factOf(value),
  });
}

/** Returns the values that decoding replaces. Of a repeated key, the first value counts. */
function mapOf(
  value: Json | undefined,
  stored: DType,
  dtype: DType,
  where: string,
): ReadonlyMap<unknown, unknown> {
  const { decode = [] } = (isObject(value) ? value : {}) as { readonly decode?: Json };
  const pairs =
    (value === undefined || isObject(value)) &&
    isList(decode) &&
    decode.every((pair) => isList(pair) && pair.length === 2);
  if (!pairs || decode.length > MOST_MAPPED) {
    throw malformed(`the scalar_map of ${where} must hold at most ${MOST_MAPPED} pairs`, {
      key: "scalar_map",
      file: where,
    });
  }
  const parse = (type: DType, one: Json): number | bigint =>
    parseElement(type, one, where, "scalar_map");
  const entries = (decode as readonly (readonly Json[])[]).map(
    ([from, to]) => [parse(stored, from), parse(dtype, to)] as const,
  );
  return new Map(entries.toReversed());
}

/** The maximum length of a scalar map; real maps have a few entries. */
const MOST_MAPPED = 65_536;
