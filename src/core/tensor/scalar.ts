/**
 * Converts elements between array entries and JavaScript values, for creating and printing tensors. Kernels work
 * directly on the entries; only the kernels of 16-bit floats use this file. Node 20 does not have Float16Array, and no
 * JavaScript engine has bfloat16, so all narrow floats are computed from a description of their format.
 */

import { isArray } from "../foreign.ts";
import { DTYPES, integerRange, type DType, type Scalar, type Storage } from "./dtype.ts";

type Entry = number | bigint | string;

/** Converts single entries; `encode` returns null for a value that the data type cannot hold. */
interface Codec {
  readonly decode: (entry: Entry) => Scalar;
  readonly encode: (value: unknown) => Entry | null;
}

// Codecs never change after they are created, so they are cached.
const codecs = new Map<DType, Codec>();

/** Returns the codec of a data type. The codec of a complex type converts one of the two parts. */
function codecOf(dtype: DType): Codec {
  let codec = codecs.get(dtype);
  if (codec === undefined) codecs.set(dtype, (codec = newCodec(dtype)));
  return codec;
}

function newCodec(dtype: DType): Codec {
  const { family, bytes, lanes } = DTYPES[dtype];
  // `Number` already rounds to a double, so float64 needs no other rounding.
  const toNumber = bytes / lanes === 8 ? Number : roundToOdd;
  const ofNumber =
    (encode: (value: number) => number | null) =>
    (value: unknown): number | null =>
      isNumber(value) ? encode(toNumber(value)) : null;
  switch (family) {
    case "string":
      return { decode: same, encode: (value) => (typeof value === "string" ? value : null) };
    case "bool":
      return { decode: (entry) => entry !== 0, encode: bitOf };
    case "float":
    case "complex":
      return { decode: same, encode: (value) => (isNumber(value) ? toNumber(value) : null) };
    case "half": {
      const format = floatFormat(dtype);
      return {
        decode: (entry) => decodeHalf(Number(entry), format),
        encode: ofNumber((value) => encodeHalf(value, format)),
      };
    }
    case "minifloat": {
      const format = minifloat(dtype);
      return {
        decode: (entry) => decodeMinifloat(Number(entry), format),
        encode: ofNumber((value) => encodeMinifloat(value, format)),
      };
    }
    case "int":
    case "int64": {
      const [low, high] = integerRange(dtype) as readonly [bigint, bigint];
      const encode = (value: unknown): Entry | null => {
        if (typeof value === "number" ? !Number.isSafeInteger(value) : typeof value !== "bigint") {
          return null;
        }
        const whole = value as number | bigint;
        if (whole < low || whole > high) return null;
        return family === "int" ? Number(whole) : BigInt(whole);
      };
      return { decode: same, encode };
    }
  }
}

const same = <T>(value: T): T => value;

function bitOf(value: unknown): 0 | 1 | null {
  const bit = typeof value === "boolean" || typeof value === "bigint" ? Number(value) : value;
  return bit === 0 || bit === 1 ? bit : null;
}

/** Returns a function that reads the element at a position in `data`. */
export function reader<D extends DType>(
  dtype: D,
  data: Storage<D>,
): (position: number) => Scalar<D>;
export function reader(dtype: DType, data: Storage): (position: number) => Scalar {
  if (DTYPES[dtype].lanes === 2) {
    return (position) => [Number(data[2 * position]), Number(data[2 * position + 1])];
  }
  const { decode } = codecOf(dtype);
  return decode === same ? (position) => data[position] : (position) => decode(data[position]);
}

/**
 * Returns a function that writes `value` at a position in `data` and returns true, or returns false if the type cannot
 * hold the value. Integers must fit exactly; floats are rounded to nearest.
 */
export function writer(dtype: DType, data: Storage): (position: number, value: unknown) => boolean {
  // The cast is needed because the compiler cannot see that the codec creates entries of the row's array class.
  const store = data as Record<number, unknown>;
  const { encode } = codecOf(dtype);
  const write = (position: number, value: unknown): boolean => {
    const entry = encode(value);
    if (entry === null) return false;
    store[position] = entry;
    return true;
  };
  if (DTYPES[dtype].lanes === 1) return write;
  return (position, value) => {
    const pair = pairOf(value);
    return pair !== null && write(2 * position, pair[0]) && write(2 * position + 1, pair[1]);
  };
}

const isNumber = (value: unknown): value is number | bigint =>
  typeof value === "number" || typeof value === "bigint";

/** Reads the two numbers of a list or typed array, each once. */
export function pairOf(value: unknown): readonly [number | bigint, number | bigint] | null {
  if (!isArray(value) && !ArrayBuffer.isView(value)) return null;
  const list: Partial<ArrayLike<unknown>> = value as readonly unknown[];
  if (list.length !== 2) return null;
  const { 0: real, 1: imaginary } = list;
  return isNumber(real) && isNumber(imaginary) ? [real, imaginary] : null;
}

/**
 * Returns a double that can then be rounded to a float. Rounding twice must give the same result as rounding once, so a
 * bigint keeps its upper 53 bits, and the lowest of these is set if any dropped bit was set ("round to odd").
 */
function roundToOdd(value: number | bigint): number {
  if (typeof value === "number" || BigInt.asIntN(54, value) === value) return Number(value);
  // The length of a negative value includes the sign, so a negative value keeps 52 bits, still more than a float needs.
  const excess = BigInt(value.toString(2).length - 53);
  const kept = value >> excess;
  const odd = kept << excess === value ? kept : kept | 1n;
  return Number(odd) * 2 ** Number(excess);
}

/**
 * A binary format (IEEE 754-2019, section 3.4): number of fraction bits, and exponent of the smallest normal number.
 */
export interface FloatFormat {
  readonly fractionBits: number;
  readonly minExponent: number;
}

const FLOAT32 = { fractionBits: 23, minExponent: -126 };
const FLOAT64 = { fractionBits: 52, minExponent: -1022 };
const FLOATS: Readonly<Partial<Record<DType, FloatFormat>>> = {
  float16: { fractionBits: 10, minExponent: -14 },
  bfloat16: { fractionBits: 7, minExponent: -126 },
  float32: FLOAT32,
  complex64: FLOAT32,
};

/** Returns the format of a float type, or of the parts of a complex type; float64's format for other data types. */
export const floatFormat = (dtype: DType): FloatFormat => FLOATS[dtype] ?? FLOAT64;

// The scratch memory holds a value as a double and as its bits. Each call writes the value before reading it, so no
// state is kept between calls.
const scratch = new Float64Array(1);
const words = new Uint32Array(scratch.buffer);
// The whole package assumes a little-endian platform, like all current browsers and the common platforms of Node.
const LOW = 0;
const HIGH = 1;

/** Returns 2 to the power `exponent`, in the normal range of a double. `2 ** n` is several times slower in a loop. */
function powerOfTwo(exponent: number): number {
  words[LOW] = 0;
  words[HIGH] = (exponent + 1023) << 20;
  return scratch[0];
}

/** Returns the number that 16 bits of `format` represent; NaN for every NaN, regardless of its payload. */
export function decodeHalf(bits: number, { fractionBits, minExponent }: FloatFormat): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const biased = (bits & 0x7fff) >> fractionBits;
  const fraction = bits & ((1 << fractionBits) - 1);
  if (biased === 0x7fff >> fractionBits) return fraction === 0 ? sign * Infinity : NaN;
  if (biased === 0) return sign * fraction * powerOfTwo(minExponent - fractionBits);
  return (
    sign * ((1 << fractionBits) | fraction) * powerOfTwo(biased - 1 + minExponent - fractionBits)
  );
}

/** Returns the 16 bits of `format` nearest to `value`, ties to even; the canonical quiet NaN (7E00, 7FC0) for NaN. */
export function encodeHalf(value: number, { fractionBits, minExponent }: FloatFormat): number {
  const infinity = 0x7fff & (-1 << fractionBits);
  if (value !== value) return infinity | (1 << (fractionBits - 1));
  scratch[0] = value;
  const sign = (words[HIGH] >>> 16) & 0x8000;
  const exponent = Math.max(((words[HIGH] >>> 20) & 0x7ff) - 1023, minExponent);
  // The magnitude is less than 2^(fractionBits + 1) units of the last place. Adding 2^52 rounds the magnitude to the
  // nearest integer, ties to even. A carry out of the fraction correctly increments the exponent, up to infinity.
  const units = Math.abs(value) * powerOfTwo(fractionBits - exponent);
  const bits = ((exponent - minExponent) << fractionBits) + (units + 2 ** 52 - 2 ** 52);
  return sign | (bits < infinity ? bits : infinity);
}

/** A format of at most 8 bits. */
interface MinifloatFormat extends FloatFormat {
  /** Sign bit; the bit above the format's 8 bits if all numbers are positive. */
  readonly sign: number;
  /** Bits of the largest number, of numbers that are rounded past it, and of the canonical NaN. */
  readonly last: number;
  readonly beyond: number;
  readonly nan: number | null;
}

// ONNX's "Float stored in 8 bits", "6 bits" and "4 bits", and the OCP Microscaling formats (MX) 1.0, section 5.3. Above
// the largest number, a format has infinity and NaNs as in IEEE 754 (float8e5m2), only NaN (`fn`), NaN in place of -0
// (`fnuz`), or nothing, so larger numbers become the largest.
// prettier-ignore
const MINIFLOATS = {
  float8e4m3fn:   { fractionBits: 3, minExponent: -6,   sign: 0x80,  last: 0x7e, beyond: 0x7f, nan: 0x7f },
  float8e4m3fnuz: { fractionBits: 3, minExponent: -7,   sign: 0x80,  last: 0x7f, beyond: 0x80, nan: 0x80 },
  float8e5m2:     { fractionBits: 2, minExponent: -14,  sign: 0x80,  last: 0x7b, beyond: 0x7c, nan: 0x7e },
  float8e5m2fnuz: { fractionBits: 2, minExponent: -15,  sign: 0x80,  last: 0x7f, beyond: 0x80, nan: 0x80 },
  float8e8m0:     { fractionBits: 0, minExponent: -127, sign: 0x100, last: 0xfe, beyond: 0xff, nan: 0xff },
  float6e2m3:     { fractionBits: 3, minExponent: 0,    sign: 0x20,  last: 0x1f, beyond: 0x1f, nan: null },
  float6e3m2:     { fractionBits: 2, minExponent: -2,   sign: 0x20,  last: 0x1f, beyond: 0x1f, nan: null },
  float4e2m1:     { fractionBits: 1, minExponent: 0,    sign: 0x8,   last: 0x7,  beyond: 0x7,  nan: null },
} as const satisfies Record<string, MinifloatFormat>;

export type MinifloatName = keyof typeof MINIFLOATS;

export const minifloat = (dtype: DType): MinifloatFormat => MINIFLOATS[dtype as MinifloatName];

/** Returns the number that the bits of a narrow float represent. */
export function decodeMinifloat(bits: number, format: MinifloatFormat): number {
  const { fractionBits, minExponent, sign, last, beyond, nan } = format;
  const magnitude = bits & (sign - 1);
  if (bits === nan || magnitude === nan) return NaN;
  let value = magnitude === beyond ? Infinity : NaN;
  if (magnitude <= last) {
    // The format without fraction bits has no sign, no zero and no subnormals.
    value = fractionBits === 0 ? 2 ** (bits + minExponent) : decodeHalf(magnitude, format);
  }
  return bits & sign ? -value : value;
}

/**
 * Returns the bits of the narrow float nearest to a number, ties to even, or up in float8e8m0, where evenness is
 * undefined. Returns null for NaN in a format without it, and for 0 and negative numbers in float8e8m0.
 */
export function encodeMinifloat(value: number, format: MinifloatFormat): number | null {
  const { fractionBits, sign, last, beyond, nan } = format;
  if (value !== value) return nan;
  if (fractionBits === 0 && value <= 0) return null;
  // Without subnormals, all bits are one less. The limit keeps powers of two in the range of a double.
  const skipped = fractionBits === 0 ? 1 : 0;
  const rounded = encodeHalf(Math.min(Math.abs(value), 2 ** 200), format) - skipped;
  const magnitude = rounded > last ? beyond : Math.max(rounded, 0);
  const isNegative = value < 0 || Object.is(value, -0);
  // A format whose NaN replaces -0 has a single zero.
  return isNegative && (magnitude > 0 || nan !== sign) ? magnitude | sign : magnitude;
}
