/**
 * The arithmetic of the codecs in `filters.ts`. Each function decodes or encodes whole elements, in the byte order of
 * memory, exactly as NumPy or the codec's specification does.
 */

import { printValue } from "../../../core/foreign.ts";
import {
  allocate,
  integerRange,
  isUnsigned,
  rowOf,
  type DType,
  type NumericStorage,
} from "../../../core/tensor/dtype.ts";
import { reader, writer } from "../../../core/tensor/scalar.ts";
import { bytesOf, keepBits } from "../../../core/tensor/storage.ts";
import { broken, OtherKind } from "./byte-codec.ts";
import type { Casting } from "./filters.ts";
import { newBytes } from "../chunks/buffers.ts";

type Scalar = number | bigint;
type Entries = Record<number, Scalar>;

/** Copies bytes, which may be unaligned, to elements without their unused bits. */
function elementsOf(bytes: Uint8Array, dtype: DType): NumericStorage {
  const { bytes: width, bits, storage } = rowOf(dtype);
  if (bytes.length % width !== 0) throw broken("it ends within an element");
  const data = allocate(dtype, bytes.length / width) as NumericStorage;
  bytesOf(data).set(bytes);
  if (bits !== undefined) keepBits(bytesOf(data), bits, storage === Int8Array);
  return data;
}

/** Applies `change` to every element. */
function mapElements(
  bytes: Uint8Array,
  stored: DType,
  dtype: DType,
  change: (value: Scalar) => Scalar,
): Uint8Array {
  const from = elementsOf(bytes, stored);
  const into = allocate(dtype, from.length) as NumericStorage;
  const read = reader(stored, from) as (at: number) => Scalar;
  const write = rowOf(dtype).family === "int" ? integerWriter(dtype, into) : writer(dtype, into);
  for (let at = 0; at < from.length; at++) {
    const value = change(read(at));
    if (!write(at, value)) throw notA(value, dtype);
  }
  return bytesOf(into);
}

/** Like `writer`, for integers of at most 32 bits, without `writer`'s comparison of numbers with bigints. */
function integerWriter(
  dtype: DType,
  into: NumericStorage,
): (position: number, value: Scalar) => boolean {
  const [low, high] = (integerRange(dtype) ?? []).map(Number);
  return (position, value) => {
    const number = Number(value);
    if (!(number >= low && number <= high)) return false;
    into[position] = number;
    return true;
  };
}

const notA = (value: Scalar, dtype: DType): Error =>
  broken(`its value ${printValue(value)} does not fit ${dtype}`);

const unscaled = (value: Scalar, dtype: DType): Error =>
  broken(`its value ${printValue(value)} cannot be scaled as ${dtype}`);

/** Decodes `numcodecs.delta`: sums in the type of the result, as `np.cumsum`. */
export function sums(bytes: Uint8Array, stored: DType, dtype: DType): Uint8Array {
  const from = elementsOf(bytes, stored);
  const into = allocate(dtype, from.length) as NumericStorage;
  const entries: Entries = into;
  if (isWide(stored) !== isWide(dtype)) {
    let sum = 0n;
    for (let at = 0; at < from.length; at++) {
      sum = BigInt.asIntN(64, sum + BigInt(from[at]));
      entries[at] = isWide(dtype) ? sum : Number(BigInt.asIntN(32, sum));
    }
    return bytesOf(into);
  }
  if (dtype === "float32" && rowOf(stored).bytes >= 4 && stored !== dtype) {
    // NumPy adds in float64, the type that can hold both types. Each sum is rounded when it is stored.
    let sum = 0;
    for (let at = 0; at < from.length; at++) {
      sum = at === 0 ? Number(from[at]) : sum + Number(from[at]);
      entries[at] = sum;
    }
    return bytesOf(into);
  }
  // Either the entries of both arrays are numbers, or the entries of both are bigints. Each element is converted before
  // it is added, so that floats are rounded as in NumPy.
  const numbers = into as Float64Array;
  if (from.length > 0) entries[0] = from[0];
  for (let at = 1; at < from.length; at++) {
    entries[at] = from[at];
    numbers[at] += numbers[at - 1];
  }
  return bytesOf(into);
}

/** Encodes `numcodecs.delta` for integers, whose differences wrap around. */
export function differences(bytes: Uint8Array, dtype: DType): Uint8Array {
  const result = elementsOf(bytes, dtype);
  const numbers = result as Float64Array;
  for (let at = numbers.length - 1; at > 0; at--) numbers[at] -= numbers[at - 1];
  return bytesOf(result);
}

/** Decodes `numcodecs.fixedscaleoffset`. Integers are divided as float64, and float32 as float32. */
export function scaled(
  bytes: Uint8Array,
  stored: DType,
  dtype: DType,
  scale: number,
  offset: number,
): Uint8Array {
  const round = rounderOf(rowOf(stored).family.startsWith("int") ? "float64" : stored);
  const [by, plus] = [round(scale), round(offset)];
  const convert = converter(dtype, true);
  return mapElements(bytes, stored, dtype, (x) => convert(round(round(Number(x) / by) + plus)));
}

/** Decodes `numcodecs.astype` and `numcodecs.quantize`, as NumPy casts. */
export function cast(bytes: Uint8Array, stored: DType, dtype: DType): Uint8Array {
  if (stored === dtype) return bytes;
  const isRounded = stored.startsWith("float") && !dtype.startsWith("float");
  const isHalf = stored === "float16" || dtype === "float16";
  if (!isRounded && !isHalf && isWide(stored) === isWide(dtype)) {
    // Typed arrays convert as NumPy does.
    const into = allocate(dtype, bytes.length / rowOf(stored).bytes) as Float64Array;
    into.set(elementsOf(bytes, stored) as Float64Array);
    return bytesOf(into);
  }
  return mapElements(bytes, stored, dtype, converter(dtype, stored.startsWith("float")));
}

const isWide = (dtype: DType): boolean => rowOf(dtype).family === "int64";

/**
 * Returns a function that casts as NumPy does: integers wrap around, and floats lose their fraction. NumPy's result is
 * undefined for a float outside the range of an integer type, which is an error here.
 */
function converter(dtype: DType, isFromFloat: boolean): (value: Scalar) => Scalar {
  if (integerRange(dtype) === null) return (value) => wideFloat(value, dtype);
  if (!isFromFloat) return (value) => wrap(value, dtype);
  return (value) => exactInteger(Math.trunc(value as number));
}

/** Returns an integer in the form that `writer` accepts. */
const exactInteger = (value: Scalar): Scalar =>
  Number.isSafeInteger(value) || !Number.isFinite(Number(value)) ? value : BigInt(value);

/** Converts an integer to a float that rounds to the same value of `dtype` as the integer itself. */
function wideFloat(value: Scalar, dtype: DType): number {
  if (typeof value === "number" || dtype === "float64") return Number(value);
  const low = value & 0x7ffn;
  const isSmall = BigInt.asIntN(53, value) === value;
  // The lowest of the 53 bits is set if any dropped bit is set, which is all that later rounding needs.
  return isSmall ? Number(value) : Number((value >> 11n) | (low === 0n ? 0n : 1n)) * 2048;
}

function wrap(value: Scalar, dtype: DType): Scalar {
  const { bytes, bits = 8 * bytes } = rowOf(dtype);
  return (isUnsigned(dtype) ? BigInt.asUintN : BigInt.asIntN)(bits, BigInt(value));
}

/** Returns a function that rounds a number to a float type. */
function rounderOf(dtype: DType): (value: number) => number {
  if (dtype === "float64") return Number;
  if (dtype === "float32") return Math.fround;
  const one = allocate(dtype, 1);
  const [read, write] = [reader(dtype, one), writer(dtype, one)];
  return (value) => (write(0, value) ? (read(0) as number) : NaN);
}

/** Decodes numcodecs' packed bools: the number of padding bits, then bits, highest first. */
export function unpackBools(bytes: Uint8Array, most: number): Uint8Array {
  const padding = bytes.length === 0 ? 0 : bytes[0];
  const count = 8 * (bytes.length - 1) - padding;
  if (padding > 7 || count < 0 || count > most) throw broken("its number of bits is wrong");
  const into = newBytes(count);
  for (let at = 0; at < count; at++) into[at] = (bytes[1 + (at >> 3)] >> (7 - (at & 7))) & 1;
  return into;
}

export function packBools(bytes: Uint8Array): Uint8Array {
  const into = newBytes(1 + Math.ceil(bytes.length / 8));
  into[0] = 8 * (into.length - 1) - bytes.length;
  for (let at = 0; at < bytes.length; at++) into[1 + (at >> 3)] |= bytes[at] << (7 - (at & 7));
  return into;
}

/** Decodes `scale_offset`. A result that the data type cannot represent is an error, except that floats are rounded. */
export function scaledExactly(
  bytes: Uint8Array,
  dtype: DType,
  scale: Scalar,
  offset: Scalar,
): Uint8Array {
  const { family } = rowOf(dtype);
  if (family === "int64") {
    const [by, plus] = [BigInt(scale), BigInt(offset)];
    return mapElements(bytes, dtype, dtype, (x) => {
      if (by === 0n || BigInt(x) % by !== 0n) throw unscaled(x, dtype);
      return BigInt(x) / by + plus;
    });
  }
  const [by, plus] = [Number(scale), Number(offset)];
  const isFloat = family !== "int";
  const round = isFloat ? rounderOf(dtype) : Number;
  return mapElements(bytes, dtype, dtype, (x) => {
    const value = round(round(Number(x) / by) + plus);
    if (isFloat ? !Number.isFinite(value) && Number.isFinite(x) : Number(x) % by !== 0) {
      throw unscaled(x, dtype);
    }
    return value;
  });
}

/** Decodes `cast_value`. Values that need rounding are rounded to nearest, ties to even, or refused. */
export function castExactly(
  bytes: Uint8Array,
  stored: DType,
  dtype: DType,
  { rounding, range }: Casting,
): Uint8Array {
  const range64 = integerRange(dtype);
  const limits = isWide(dtype) ? range64 : (range64?.map(Number) ?? null);
  const nearest = rounderOf(limits === null ? dtype : "float64");
  const checkExact = (near: Scalar, value: Scalar): void => {
    // A bigint is compared exactly, and comparisons with NaN are false.
    if (rounding !== "nearest-even" && near >= value !== near <= value)
      throw new OtherKind(`rounding ${rounding} to ${dtype} is not supported`);
  };
  return mapElements(bytes, stored, dtype, (value) => {
    if (limits === null) {
      const wide = wideFloat(value, dtype);
      const near = nearest(wide);
      checkExact(near, value);
      const isLost = !Number.isFinite(near) && Number.isFinite(wide);
      if (isLost && range === "error") throw notA(value, dtype);
      return near;
    }
    if (typeof value === "number" && !Number.isFinite(value)) throw notA(value, dtype);
    const whole = typeof value === "bigint" ? value : nearestEven(value);
    checkExact(whole, value);
    const [low, high] = limits;
    if ((whole >= low && whole <= high) || range === "error") return exactInteger(whole);
    return range === "wrap" ? wrap(whole, dtype) : whole < low ? low : high;
  });
}

function nearestEven(value: number): number {
  const low = Math.floor(value);
  const part = value - low;
  return part < 0.5 || (part === 0.5 && low % 2 === 0) ? low : low + 1;
}
