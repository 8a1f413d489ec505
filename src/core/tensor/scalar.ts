/**
 * Converts an element of storage to and from its JavaScript value, for creating and printing tensors. Kernels do not
 * use this file, because they work directly on the storage.
 */

import { isArray } from "../foreign.ts";
import { DTYPES, integerRange, type DType, type Scalar, type Storage } from "./dtype.ts";

export const halfFormat = (dtype: DType): HalfFormat => (dtype === "float16" ? FLOAT16 : BFLOAT16);

/** Returns a function that reads the element at a position in `data`. */
export function reader<D extends DType>(
  dtype: D,
  data: Storage<D>,
): (position: number) => Scalar<D>;
export function reader(dtype: DType, data: Storage): (position: number) => Scalar {
  switch (DTYPES[dtype].family) {
    case "bool":
      return (position) => data[position] !== 0;
    case "half": {
      const format = halfFormat(dtype);
      return (position) => decodeHalf(Number(data[position]), format);
    }
    case "minifloat": {
      const { values } = minifloat(dtype as MinifloatName);
      return (position) => values[Number(data[position])];
    }
    case "complex":
      return (position) => [Number(data[2 * position]), Number(data[2 * position + 1])];
    default:
      return (position) => data[position];
  }
}

/**
 * Returns a function that writes `value` at a position in `data` and returns true, or returns false if the type cannot
 * hold the value. Integers must fit exactly; floats are rounded to roundedToOdd.
 */
export function writer(dtype: DType, data: Storage): (position: number, value: unknown) => boolean {
  // The casts are needed because the compiler cannot see that each branch stores values of the row's array class.
  const store = data as Record<number, unknown>;
  const { family, bytes, lanes } = DTYPES[dtype];
  // `Number` already rounds to a double, so float64 needs no other rounding.
  const toNumber = bytes / lanes === 8 ? Number : roundedToOdd;
  const keep = (position: number, value: unknown): true => {
    store[position] = value;
    return true;
  };
  switch (family) {
    case "string":
      return (position, value) => typeof value === "string" && keep(position, value);
    case "bool":
      return (position, value) => {
        const bit = typeof value === "boolean" || typeof value === "bigint" ? Number(value) : value;
        return (bit === 0 || bit === 1) && keep(position, bit);
      };
    case "float":
      return (position, value) => isNumber(value) && keep(position, toNumber(value));
    case "half": {
      const format = halfFormat(dtype);
      return (position, value) =>
        isNumber(value) && keep(position, encodeHalf(toNumber(value), format));
    }
    case "minifloat": {
      const { encode } = minifloat(dtype as MinifloatName);
      return (position, value) => {
        const bits = isNumber(value) ? encode(toNumber(value)) : null;
        return bits !== null && keep(position, bits);
      };
    }
    case "complex":
      return (position, value) => {
        const pair = pairOf(value);
        return (
          pair !== null &&
          keep(2 * position, toNumber(pair[0])) &&
          keep(2 * position + 1, toNumber(pair[1]))
        );
      };
    case "int":
    case "int64": {
      const [low, high] = integerRange(dtype) as readonly [bigint, bigint];
      return (position, value) => {
        if (typeof value === "number" ? !Number.isSafeInteger(value) : typeof value !== "bigint") {
          return false;
        }
        const whole = value as number | bigint;
        if (whole < low || whole > high) return false;
        return keep(position, family === "int" ? Number(whole) : BigInt(whole));
      };
    }
  }
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
function roundedToOdd(value: number | bigint): number {
  if (typeof value === "number" || BigInt.asIntN(54, value) === value) return Number(value);
  // The length of a negative value includes the sign, so a negative value keeps 52 bits, still more than a float needs.
  const excess = BigInt(value.toString(2).length - 53);
  const kept = value >> excess;
  const odd = kept << excess === value ? kept : kept | 1n;
  return Number(odd) * 2 ** Number(excess);
}

/**
 * A 16-bit binary format (IEEE 754-2019, section 3.4): number of fraction bits, and exponent of the smallest normal
 * number.
 */
export interface HalfFormat {
  readonly fractionBits: number;
  readonly minExponent: number;
}

export const FLOAT16: HalfFormat = { fractionBits: 10, minExponent: -14 };
export const BFLOAT16: HalfFormat = { fractionBits: 7, minExponent: -126 };

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
export function decodeHalf(bits: number, { fractionBits, minExponent }: HalfFormat): number {
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
export function encodeHalf(value: number, { fractionBits, minExponent }: HalfFormat): number {
  const infinity = 0x7fff & (-1 << fractionBits);
  if (value !== value) return infinity | (1 << (fractionBits - 1));
  scratch[0] = value;
  const sign = (words[HIGH] >>> 16) & 0x8000;
  const exponent = Math.max(((words[HIGH] >>> 20) & 0x7ff) - 1023, minExponent);
  if (exponent > 1 - minExponent) return sign | infinity;
  // The magnitude is less than 2^(fractionBits + 1) units of the last place. Adding 2^52 rounds the magnitude to the
  // nearest integer, ties to even. A carry out of the fraction correctly increments the exponent, up to infinity.
  const units = Math.abs(value) * powerOfTwo(fractionBits - exponent);
  const rounded = units + 2 ** 52 - 2 ** 52;
  return sign | (((exponent - minExponent) << fractionBits) + rounded);
}

/** Special values of a format: infinity and NaN as in IEEE 754, only NaN (which replaces -0 in `fnuz`), or none. */
type Ends = "ieee" | "fn" | "fnuz" | "finite";

interface BitLayout {
  readonly exponentBits: number;
  readonly fractionBits: number;
  readonly ends: Ends;
}

// ONNX's "Float stored in 8 bits", "6 bits" and "4 bits", and the OCP Microscaling formats (MX) 1.0, section 5.3.
// prettier-ignore
const LAYOUTS = {
  float8e4m3fn:   { exponentBits: 4, fractionBits: 3, ends: "fn"     },
  float8e4m3fnuz: { exponentBits: 4, fractionBits: 3, ends: "fnuz"   },
  float8e5m2:     { exponentBits: 5, fractionBits: 2, ends: "ieee"   },
  float8e5m2fnuz: { exponentBits: 5, fractionBits: 2, ends: "fnuz"   },
  float8e8m0:     { exponentBits: 8, fractionBits: 0, ends: "fn"     },
  float6e2m3:     { exponentBits: 2, fractionBits: 3, ends: "finite" },
  float6e3m2:     { exponentBits: 3, fractionBits: 2, ends: "finite" },
  float4e2m1:     { exponentBits: 2, fractionBits: 1, ends: "finite" },
} as const satisfies Record<string, BitLayout>;

export type MinifloatName = keyof typeof LAYOUTS;

export interface Minifloat {
  /** Number that each bit pattern represents. */
  readonly values: Float64Array;
  /**
   * Returns the bit pattern nearest to a number; null for NaN in a format without it, and for 0 and negative numbers in
   * float8e8m0.
   */
  encode(value: number): number | null;
}

// A format never changes after it is created, so formats are cached.
const made = new Map<MinifloatName, Minifloat>();

/** Returns a format. Its list of values is created on first use, so that importing this file costs nothing. */
export function minifloat(name: MinifloatName): Minifloat {
  let format = made.get(name);
  if (format === undefined) made.set(name, (format = formatOf(LAYOUTS[name])));
  return format;
}

function formatOf(layout: BitLayout): Minifloat {
  const { exponentBits, fractionBits, ends } = layout;
  const signBit = 1 << (exponentBits + fractionBits);
  // The format without fraction bits has no sign, no zero and no subnormals.
  const isScale = fractionBits === 0;
  const values = Float64Array.from({ length: isScale ? signBit : 2 * signBit }, (_, code) => {
    if (ends === "fnuz" && code === signBit) return NaN;
    const magnitude = magnitudeOf(code & (signBit - 1), layout);
    return code >= signBit ? -magnitude : magnitude;
  });
  // Finite magnitudes increase with their bit patterns, so the last finite bit pattern has the largest magnitude.
  const finite = values.subarray(0, signBit).findLastIndex(Number.isFinite);
  const nan = values.findIndex(Number.isNaN);
  const beyond = ends === "ieee" ? finite + 1 : ends === "finite" ? finite : nan;
  // IEEE 754 formats have several NaNs; the canonical NaN is quiet, so its first fraction bit is set.
  const canonicalNaN = ends === "ieee" ? beyond + (1 << (fractionBits - 1)) : nan;

  return {
    values,
    encode(value) {
      if (value !== value) return nan === -1 ? null : canonicalNaN;
      if (isScale && value <= 0) return null;
      const magnitude = Math.abs(value);
      const isNegative = value < 0 || Object.is(value, -0);
      const code = nearestCode(values, finite, magnitude, beyond, isScale);
      if (ends === "fnuz" && code === 0) return code;
      return isNegative ? code | signBit : code;
    },
  };
}

function magnitudeOf(code: number, { exponentBits, fractionBits, ends }: BitLayout): number {
  const bias = 2 ** (exponentBits - 1) - (ends === "fnuz" ? 0 : 1);
  const exponent = code >> fractionBits;
  const fraction = code & ((1 << fractionBits) - 1);
  const isLast = exponent === (1 << exponentBits) - 1;
  if (ends === "ieee" && isLast) return fraction === 0 ? Infinity : NaN;
  if (ends === "fn" && isLast && fraction === (1 << fractionBits) - 1) return NaN;
  if (exponent === 0 && fractionBits > 0) return fraction * 2 ** (1 - bias - fractionBits);
  return (1 + fraction / 2 ** fractionBits) * 2 ** (exponent - bias);
}

/**
 * Returns the code, from 0 to `finite`, of the value nearest to `magnitude`; `beyond` if rounding goes past the last
 * value.
 */
function nearestCode(
  values: Float64Array,
  finite: number,
  magnitude: number,
  beyond: number,
  tiesGoUp: boolean,
): number {
  let low = 0;
  let high = finite;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (values[middle] <= magnitude) low = middle;
    else high = middle - 1;
  }
  // Magnitudes above the last value are rounded as if the next value existed.
  const next = low < finite ? values[low + 1] : 2 * values[finite] - values[finite - 1];
  const half = values[low] + (next - values[low]) / 2;
  const roundsUp = magnitude > half || (magnitude === half && (tiesGoUp || low % 2 === 1));
  if (!roundsUp) return low;
  return low < finite ? low + 1 : beyond;
}
