/**
 * Codecs from elements to elements. In metadata, these codecs precede the codec `bytes`. The pipeline runs them after
 * `bytes`, on little-endian bytes, which gives the same result, so a filter is a `ByteCodec` that changes the data
 * type. This file checks the configurations; `filter-steps.ts` does the arithmetic, and is loaded with the first chunk.
 */

import { factOf, printValue } from "../../../core/foreign.ts";
import { DTYPES, isUnsigned, rowOf, type DType } from "../../../core/tensor/dtype.ts";
import { parseDataType, parseElement, parseNumpyType } from "../data-types.ts";
import type { Json, JsonObject } from "../json.ts";
import { oneOf, unsupportedCodec, wrongField } from "../fields.ts";
import { broken, makeFixedCodec, type ByteCodec } from "./byte-codec.ts";

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

type MakeWork = (configuration: JsonObject, dtype: DType, where: string) => Work;

interface FilterRow {
  /** The keys of the configuration. */
  readonly keys: readonly string[];
  readonly filter: MakeWork;
}

const same: Decode = (_, bytes) => bytes;

const TYPES = ["dtype", "astype"];

/** The object has no prototype, because a codec name from a file might equal the name of an inherited member. */
export const FILTERS: Readonly<Record<string, FilterRow | undefined>> = Object.assign(
  Object.create(null),
  {
    "numcodecs.delta": {
      keys: TYPES,
      filter(configuration, dtype, where) {
        const stored = typesOf("delta", configuration, dtype, where);
        const isExact = stored === dtype && !isFloat(dtype);
        return {
          dtype: stored,
          decode: (steps, bytes) => steps.sums(bytes, stored, dtype),
          ...(isExact && { encode: (steps, bytes) => steps.differences(bytes, dtype) }),
          isOrdered: true,
        };
      },
    },
    "numcodecs.fixedscaleoffset": {
      keys: [...TYPES, "scale", "offset"],
      filter(configuration, dtype, where) {
        const stored = typesOf("fixedscaleoffset", configuration, dtype, where);
        const [scale, offset] = ["scale", "offset"].map((key) => {
          const value = configuration[key];
          const number = typeof value === "bigint" ? Number(value) : value;
          if (typeof number === "number" && Number.isFinite(number)) return number;
          throw wrongField(`${key} of fixedscaleoffset`, where, "a number", value);
        });
        const decode: Decode = (steps, bytes) => steps.scaled(bytes, stored, dtype, scale, offset);
        return { dtype: stored, decode };
      },
    },
    "numcodecs.quantize": { keys: [...TYPES, "digits"], filter: castFrom("quantize") },
    "numcodecs.astype": { keys: ["decode_dtype", "encode_dtype"], filter: castFrom("astype") },
    "numcodecs.bitround": { keys: ["keepbits"], filter: () => ({ decode: same }) },
    bitround: { keys: ["keepbits"], filter: () => ({ decode: same }) },
    "numcodecs.packbits": {
      keys: [],
      filter(_, dtype, where) {
        if (dtype !== "bool") throw wrongType("packbits", dtype, where);
        return {
          dtype: "uint8",
          decode: (steps, bytes, size) => steps.unpackBools(bytes, size),
          encode: (steps, bytes) => steps.packBools(bytes),
          isOrdered: true,
          sizeOf: (size) => 1 + Math.ceil(size / 8),
        };
      },
    },
    scale_offset: {
      keys: ["scale", "offset"],
      filter(configuration, dtype, where) {
        checkNumeric("scale_offset", dtype, where);
        checkKeys("scale_offset", configuration, where);
        const { scale = 1, offset = 0 } = configuration;
        const by = parseElement(dtype, scale, where, "scale");
        const plus = parseElement(dtype, offset, where, "offset");
        return { decode: (steps, bytes) => steps.scaledExactly(bytes, dtype, by, plus) };
      },
    },
    cast_value: { keys: ["data_type", "rounding", "out_of_range"], filter: makeCast },
  } satisfies Record<string, FilterRow>,
);

function makeCast(configuration: JsonObject, dtype: DType, where: string): Work {
  checkKeys("cast_value", configuration, where);
  const stored = parseDataType(configuration.data_type, where);
  for (const one of [dtype, stored]) checkNumeric("cast_value", one, where);
  const { rounding: round = ROUNDINGS[0], out_of_range: outside = "error" } = configuration;
  const rounding = oneOf(round, "rounding of cast_value", ROUNDINGS, where);
  const allowed = ["error", "clamp", "wrap"] as const;
  const range = oneOf(outside, "out_of_range of cast_value", allowed, where);
  return {
    dtype: stored,
    decode: (steps, bytes) => steps.castExactly(bytes, stored, dtype, { rounding, range }),
  };
}

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
}

export const isFilter = (name: string): boolean => FILTERS[name] !== undefined;

/** Returns the filter with this name for elements of `dtype`, or null if the name is not a filter's. */
export function makeFilter(
  name: string,
  configuration: JsonObject,
  dtype: DType,
  where: string,
): Filter | null {
  const work = FILTERS[name]?.filter(configuration, dtype, where);
  if (work === undefined) return null;
  const { dtype: stored = dtype, decode, encode, isOrdered = false } = work;
  const [width, storedWidth] = [DTYPES[dtype].bytes, DTYPES[stored].bytes];
  const sizeOf = work.sizeOf ?? ((size: number) => Math.ceil(size / width) * storedWidth);
  const refusal = `the codec ${name} can lose values, so it is read but not written`;
  const codec = makeFixedCodec(
    {
      name,
      ratio: work.sizeOf === undefined ? width / storedWidth : 8,
      // Elements are copied, because bytes may be unaligned.
      held: { decode: sizeOf, encode: (size) => size },
      decode: async (bytes, { size }) => decode(await import("./filter-steps.ts"), bytes, size),
      async encode(bytes) {
        if (encode === undefined) throw broken(refusal);
        return encode(await import("./filter-steps.ts"), bytes);
      },
      ...(encode === undefined && { unwritable: () => refusal }),
    },
    sizeOf,
  );
  return { codec, dtype: stored, isOrdered };
}

function castFrom(name: string): MakeWork {
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
  const sentence = `a codec of ${where} has the big-endian type ${printValue(value)}, which is not supported`;
  throw unsupportedCodec(sentence, where, { got: factOf(value) });
}

function wrongType(name: string, got: DType, where: string, expected?: DType): Error {
  const but = expected === undefined ? "" : `, where the elements are ${expected}`;
  const sentence = `the codec ${name} of ${where} is not supported for ${got}${but}`;
  return unsupportedCodec(sentence, where, { got, expected });
}

function checkNumeric(name: string, dtype: DType, where: string): void {
  if (/^(?:bool|string|complex)/.test(dtype)) throw wrongType(name, dtype, where);
}

function checkKeys(name: string, configuration: JsonObject, where: string): void {
  const other = Object.keys(configuration).find((key) => !FILTERS[name]?.keys.includes(key));
  if (other === undefined) return;
  const sentence = `the codec ${name} of ${where} has the setting ${printValue(other)}, which is not supported`;
  throw unsupportedCodec(sentence, where, { got: other });
}
