/**
 * Combining slices by a Plan: scatters with a reduction, one kernel for each family of arithmetic.
 *
 * Each loop meets at most four array classes: with five and more, V8 falls from 2 ns an element to 28 and more. Which
 * reduction it is gets asked inside the loop, where the answer is always the same and costs a fraction of a
 * nanosecond; a call through a function value costs several.
 */

import {
  DTYPES,
  isUnsigned,
  type DType,
  type Family,
  type Step,
  type Storage,
} from "../tensor/dtype.ts";
import { TensorError } from "../errors.ts";
import { decodeHalf, encodeHalf } from "../tensor/half.ts";
import { absoluteOffsets, type Plan } from "../plan/plan.ts";
import { halfFormat } from "../tensor/scalar.ts";

/** What a kernel is told beside the two arrays. */
interface Work {
  readonly dtype: DType;
  readonly reduction: Step;
  /** Elements per offset, and where each slice begins in the output. */
  readonly slice: number;
  readonly offsets: Uint32Array;
  /** The position of each slice in updates; its own by default. */
  readonly source: Uint32Array | undefined;
}

/** The families that there is arithmetic for. */
type Combined = Exclude<Family, "minifloat">;

type Kernel<S extends Storage> = (out: S, updates: S, work: Work) => void;

/** `out[offset p] = f(out[offset p], updates[p])` in the order of p, rounded to the data type at each step. */
export function scatterCombine(
  plan: Plan,
  dtype: DType,
  reduction: Step,
  updates: Storage,
  out: Storage,
): void {
  const { slice, source } = plan;
  const work = { dtype, reduction, slice, offsets: absoluteOffsets(plan), source };
  const kernel = KERNELS[DTYPES[dtype].family as Combined] as Kernel<Storage>;
  kernel(out, updates, work);
}

/** IEEE 754. A double computes each step; storing it rounds to float32, and once is enough: 53 >= 2 * 24 + 2. */
function combineFloat(
  out: Float32Array | Float64Array,
  updates: Float32Array | Float64Array,
  { reduction, slice, offsets, source }: Work,
): void {
  const canonicalNaN = nanWriter(out);
  for (let p = 0; p < offsets.length; p++) {
    let t = offsets[p];
    let u = (source === undefined ? p : source[p]) * slice;
    for (const end = t + slice; t < end; t++, u++) {
      const value = combineNumbers(reduction, out[t], updates[u]);
      if (value === value) out[t] = value;
      else canonicalNaN(t);
    }
  }
}

/** One step of floats, before it is rounded. V8 inlines it. Math.max and min have NaN and -0 as they should be. */
function combineNumbers(reduction: Step, a: number, b: number): number {
  if (reduction === "add") return a + b;
  if (reduction === "mul") return a * b;
  if (reduction === "max") return Math.max(a, b);
  if (reduction === "min") return Math.min(a, b);
  return a - b;
}

/**
 * Writes the canonical quiet NaN, 7FC00000 or 7FF80000 00000000, as bits: what a NaN that was computed looks like
 * depends on the machine.
 */
export function nanWriter(out: Float32Array | Float64Array): (position: number) => void {
  const words = new Uint32Array(out.buffer, out.byteOffset, out.byteLength / 4);
  if (out instanceof Float32Array) return (position) => void (words[position] = 0x7fc00000);
  return (position) => {
    words[2 * position] = 0;
    words[2 * position + 1] = 0x7ff80000;
  };
}

/** float16 and bfloat16: each step is computed in float32 and rounded to nearest even. */
function combineHalf(
  out: Uint16Array,
  updates: Uint16Array,
  { dtype, reduction, slice, offsets, source }: Work,
): void {
  const format = halfFormat(dtype);
  for (let p = 0; p < offsets.length; p++) {
    let t = offsets[p];
    let u = (source === undefined ? p : source[p]) * slice;
    for (const end = t + slice; t < end; t++, u++) {
      const a = decodeHalf(out[t], format);
      const b = decodeHalf(updates[u], format);
      out[t] = encodeHalf(Math.fround(combineNumbers(reduction, a, b)), format);
    }
  }
}

/**
 * Integers of 8, 16 and 32 bits, which wrap: the low bits of a sum or product are the same with and without sign, so
 * all go through the three signed classes. `flip` turns the order of signed integers into that of unsigned ones.
 */
function combineInt(
  out: Storage,
  updates: Storage,
  { dtype, reduction, slice, offsets, source }: Work,
): void {
  const to = signed(out as IntStorage);
  const from = signed(updates as IntStorage);
  const flip = isUnsigned(dtype) ? -(2 ** (8 * DTYPES[dtype].bytes - 1)) : 0;
  for (let p = 0; p < offsets.length; p++) {
    let t = offsets[p];
    let u = (source === undefined ? p : source[p]) * slice;
    for (const end = t + slice; t < end; t++, u++) {
      to[t] = combineInts(reduction, to[t], from[u], flip);
    }
  }
}

/** One step of integers, before it wraps. V8 inlines it. */
function combineInts(reduction: Step, a: number, b: number, flip: number): number {
  if (reduction === "add") return a + b;
  if (reduction === "mul") return Math.imul(a, b);
  if (reduction === "sub") return a - b;
  return (a ^ flip) < (b ^ flip) === (reduction === "max") ? b : a;
}

type IntStorage = Int8Array | Int16Array | Int32Array | Uint8Array | Uint16Array | Uint32Array;

function signed(data: IntStorage): Int8Array | Int16Array | Int32Array {
  const { buffer, byteOffset, length } = data;
  switch (data.BYTES_PER_ELEMENT) {
    case 1:
      return new Int8Array(buffer, byteOffset, length);
    case 2:
      return new Int16Array(buffer, byteOffset, length);
    default:
      return new Int32Array(buffer, byteOffset, length);
  }
}

/** int64 and uint64 as two 32-bit words, the low one first: a bigint would be an allocation each. */
function combineInt64(
  out: BigInt64Array | BigUint64Array,
  updates: BigInt64Array | BigUint64Array,
  { dtype, reduction, slice, offsets, source }: Work,
): void {
  const to = new Int32Array(out.buffer, out.byteOffset, 2 * out.length);
  const from = new Int32Array(updates.buffer, updates.byteOffset, 2 * updates.length);
  const flip = isUnsigned(dtype) ? -(2 ** 31) : 0;
  for (let p = 0; p < offsets.length; p++) {
    let t = 2 * offsets[p];
    let u = 2 * (source === undefined ? p : source[p]) * slice;
    for (const end = t + 2 * slice; t < end; t += 2, u += 2) {
      const low = to[t];
      const high = to[t + 1];
      const lowB = from[u];
      const highB = from[u + 1];
      if (reduction === "add") {
        const sum = (low + lowB) | 0;
        to[t] = sum;
        to[t + 1] = high + highB + (sum >>> 0 < low >>> 0 ? 1 : 0);
      } else if (reduction === "mul") {
        to[t] = Math.imul(low, lowB);
        to[t + 1] = highProduct(low, lowB) + Math.imul(high, lowB) + Math.imul(low, highB);
      } else if (reduction === "sub") {
        to[t] = low - lowB;
        to[t + 1] = high - highB - (low >>> 0 < lowB >>> 0 ? 1 : 0);
      } else {
        const isLess = high === highB ? low >>> 0 < lowB >>> 0 : (high ^ flip) < (highB ^ flip);
        if (isLess === (reduction === "max")) {
          to[t] = lowB;
          to[t + 1] = highB;
        }
      }
    }
  }
}

/** The high word of the product of two unsigned words, from products of their halves. */
function highProduct(a: number, b: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16);
  const carry = aLow * bHigh + (middle & 0xffff);
  return (aHigh * bHigh + (middle >>> 16) + (carry >>> 16)) | 0;
}

/** Truth values, 0 or 1: add and max are OR, mul and min are AND, sub is XOR. */
function combineBool(
  out: Uint8Array,
  updates: Uint8Array,
  { reduction, slice, offsets, source }: Work,
): void {
  const isOr = reduction === "add" || reduction === "max";
  const isAnd = reduction === "mul" || reduction === "min";
  for (let p = 0; p < offsets.length; p++) {
    let t = offsets[p];
    let u = (source === undefined ? p : source[p]) * slice;
    for (const end = t + slice; t < end; t++, u++) {
      const a = out[t];
      const b = updates[u];
      out[t] = isOr ? a | b : isAnd ? a & b : a ^ b;
    }
  }
}

/**
 * Interleaved pairs. Every product and sum is rounded to the component type, never fused. The order of max and min
 * is lexicographic; an operand with a NaN part wins, that of data first.
 */
function combineComplex(
  out: Float32Array | Float64Array,
  updates: Float32Array | Float64Array,
  { reduction, slice, offsets, source }: Work,
): void {
  const isSingle = out instanceof Float32Array;
  const canonicalNaN = nanWriter(out);
  for (let p = 0; p < offsets.length; p++) {
    let t = 2 * offsets[p];
    let u = 2 * (source === undefined ? p : source[p]) * slice;
    for (const end = t + 2 * slice; t < end; t += 2, u += 2) {
      const a = out[t];
      const b = out[t + 1];
      const c = updates[u];
      const d = updates[u + 1];
      let re: number;
      let im: number;
      if (reduction === "add") {
        re = a + c;
        im = b + d;
      } else if (reduction === "sub") {
        re = a - c;
        im = b - d;
      } else if (reduction === "mul") {
        re = isSingle ? Math.fround(a * c) - Math.fround(b * d) : a * c - b * d;
        im = isSingle ? Math.fround(a * d) + Math.fround(b * c) : a * d + b * c;
      } else {
        const isKept =
          a !== a ||
          b !== b ||
          (c === c && d === d && isBefore(a, b, c, d) === (reduction === "min"));
        re = isKept ? a : c;
        im = isKept ? b : d;
      }
      if (re === re) out[t] = re;
      else canonicalNaN(t);
      if (im === im) out[t + 1] = im;
      else canonicalNaN(t + 1);
    }
  }
}

/** Whether a + bi comes before c + di: by value, and where the values are equal by the signs of zeros. */
function isBefore(a: number, b: number, c: number, d: number): boolean {
  if (a !== c) return a < c;
  if (b !== d) return b < d;
  if (!Object.is(a, c)) return Object.is(a, -0);
  return Object.is(b, -0);
}

/**
 * Text: add appends, max and min compare by code point.
 * @throws TensorError `too-large` half-way, where a text outgrows what a string holds
 */
function combineString(
  out: string[],
  updates: string[],
  { reduction, slice, offsets, source }: Work,
): void {
  for (let p = 0; p < offsets.length; p++) {
    let t = offsets[p];
    let u = (source === undefined ? p : source[p]) * slice;
    for (const end = t + slice; t < end; t++, u++) {
      const a = out[t];
      const b = updates[u];
      if (reduction === "add") out[t] = concatenate(a, b);
      else if (compareCodePoints(a, b) < 0 === (reduction === "max")) out[t] = b;
    }
  }
}

function concatenate(a: string, b: string): string {
  try {
    return a + b;
  } catch (cause) {
    const length = a.length + b.length;
    throw new TensorError(
      "too-large",
      `a text of ${length} characters does not fit in a string`,
      {},
      { cause },
    );
  }
}

/** The order of code points, which is not that of UTF-16 units: pairs of surrogates stand above all others. */
function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.codePointAt(i) ?? 0;
    const y = b.codePointAt(i) ?? 0;
    if (x !== y) return x - y;
    if (x > 0xffff) i++;
  }
  return a.length - b.length;
}

const KERNELS = {
  float: combineFloat,
  half: combineHalf,
  int: combineInt,
  int64: combineInt64,
  bool: combineBool,
  complex: combineComplex,
  string: combineString,
} satisfies Record<Combined, Kernel<never>>;
