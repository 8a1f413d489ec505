/**
 * Converts an element of storage to and from its JavaScript value, for creating and printing tensors. Kernels do not
 * use this file, because they work directly on the storage.
 */

import { isArray } from "../errors.ts";
import { DTYPES, integerRange, type DType, type Scalar, type Storage } from "./dtype.ts";
import { BFLOAT16, decodeHalf, encodeHalf, FLOAT16, type HalfFormat } from "./half.ts";
import { minifloat, type MinifloatName } from "./minifloat.ts";

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
 * hold the value. Integers must fit exactly; floats are rounded to nearest.
 */
export function writer(dtype: DType, data: Storage): (position: number, value: unknown) => boolean {
  // The casts are needed because the compiler cannot see that each branch stores values of the row's array class.
  const store = data as Record<number, unknown>;
  const { family, bytes, lanes } = DTYPES[dtype];
  // `Number` already rounds to a double, so float64 needs no other rounding.
  const toNumber = bytes / lanes === 8 ? Number : nearest;
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
function nearest(value: number | bigint): number {
  if (typeof value === "number" || BigInt.asIntN(54, value) === value) return Number(value);
  // The length of a negative value includes the sign, so a negative value keeps 52 bits, still more than a float needs.
  const excess = BigInt(value.toString(2).length - 53);
  const kept = value >> excess;
  const odd = kept << excess === value ? kept : kept | 1n;
  return Number(odd) * 2 ** Number(excess);
}
