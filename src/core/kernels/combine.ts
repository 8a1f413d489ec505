/**
 * Combines slices according to a Plan, for scatters with a reduction. Each family of data types has one kernel. The
 * reduction `none` is a move, in `move.ts`.
 *
 * Each loop handles at most four array classes, because V8 takes at least 28 ns per element for five or more classes,
 * instead of 2 ns. Loops test the reduction for each element: the result never changes within a call, so the branch is
 * predicted and costs a fraction of a nanosecond, whereas calling a function value costs several nanoseconds.
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
import { decodeHalf, encodeHalf, floatFormat } from "../tensor/scalar.ts";
import { absoluteOffsets, type Plan } from "../plan/plan.ts";

/** Arguments of a kernel in addition to the two arrays. */
interface CombineArgs {
  readonly dtype: DType;
  readonly reduction: Step;
  /** Number of elements per offset. */
  readonly slice: number;
  /** Start of each slice in the output. */
  readonly offsets: Uint32Array;
  /** Number of the update slice for each offset; by default, the p-th offset uses the p-th slice. */
  readonly source: Uint32Array | undefined;
}

/** Families of data types with arithmetic. */
type Combined = Exclude<Family, "minifloat">;

type CombineKernel<S extends Storage> = (out: S, updates: S, args: CombineArgs) => void;

/**
 * Computes `out[offset p] = f(out[offset p], updates[p])` in the order of p, and rounds to the data type at each step.
 * @throws TensorError `too-large` if text exceeds the maximum string length; `out` is then partly written
 */
export function scatterCombine(
  plan: Plan,
  dtype: DType,
  reduction: Step,
  updates: Storage,
  out: Storage,
): void {
  const { slice, source } = plan;
  const args = { dtype, reduction, slice, offsets: absoluteOffsets(plan), source };
  const kernel = KERNELS[DTYPES[dtype].family as Combined] as CombineKernel<Storage>;
  kernel(out, updates, args);
}

/**
 * Combines float32 and float64 as IEEE 754 specifies. Each step is computed as a double, which is rounded to float32
 * when it is stored. Rounding twice gives the same bits as rounding once, because a double has 53 bits, which is at
 * least 2 * 24 + 2.
 */
function combineFloat(
  out: Floats,
  updates: Floats,
  { reduction, slice, offsets, source }: CombineArgs,
): void {
  let nan: NaNWriter | null = null;
  // Single-element updates have their own loop, which takes 3.3 ns per update instead of 4.2 ns.
  if (slice === 1 && source === undefined) {
    for (let p = 0; p < offsets.length; p++) {
      const t = offsets[p];
      const value = combineNumbers(reduction, out[t], updates[p]);
      if (value === value) out[t] = value;
      else (nan ??= stepNaN(reduction, out, updates))(t, p);
    }
    return;
  }
  for (let p = 0; p < offsets.length; p++) {
    let t = offsets[p];
    let u = (source === undefined ? p : source[p]) * slice;
    for (const end = t + slice; t < end; t++, u++) {
      const value = combineNumbers(reduction, out[t], updates[u]);
      if (value === value) out[t] = value;
      else (nan ??= stepNaN(reduction, out, updates))(t, u);
    }
  }
}

/**
 * Computes one step on floats, before rounding. V8 inlines this function. Math.max and Math.min treat NaN and -0 as
 * IEEE 754 requires.
 */
export function combineNumbers(reduction: Step, a: number, b: number): number {
  if (reduction === "add") return a + b;
  if (reduction === "mul") return a * b;
  if (reduction === "max") return Math.max(a, b);
  if (reduction === "min") return Math.min(a, b);
  if (reduction === "sub") return a - b;
  // A comparison with NaN is false, and 0 equals -0: the operand that stays is named.
  if (reduction === "max_data") return b > a ? b : a;
  if (reduction === "min_data") return b < a ? b : a;
  if (reduction === "max_update") return a > b ? a : b;
  return a < b ? a : b;
}

type NaNWriter = (position: number, update: number) => void;

/**
 * Returns a function that writes the NaN of a step at a position of `out`. A step that returns an operand keeps the
 * NaN's bits, which are copied as words, because a NaN may lose bits as a number.
 */
function stepNaN(step: Step, out: Floats, updates: Floats): NaNWriter {
  if (step.endsWith("_data")) return () => {};
  if (!step.endsWith("_update")) return nanWriter(out);
  const [to, from] = [out, updates].map(wordsOf);
  const width = out.BYTES_PER_ELEMENT / 4;
  return (position, update) => {
    for (let word = 0; word < width; word++)
      to[position * width + word] = from[update * width + word];
  };
}

type Floats = Float32Array | Float64Array;

const wordsOf = ({ buffer, byteOffset, byteLength }: Floats): Uint32Array =>
  new Uint32Array(buffer, byteOffset, byteLength / 4);

/**
 * Returns a function that writes the canonical quiet NaN, 7FC00000 or 7FF80000 00000000, at a position. The returned
 * function writes bits, because the bits of a computed NaN depend on the machine. Call `nanWriter` only at the first
 * NaN, because reading the buffer of a small new array takes 0.3 µs.
 */
export function nanWriter(out: Floats): (position: number) => void {
  const words = wordsOf(out);
  const isSingle = out instanceof Float32Array;
  return (position) => {
    if (isSingle) words[position] = 0x7fc00000;
    else {
      words[2 * position] = 0;
      words[2 * position + 1] = 0x7ff80000;
    }
  };
}

/**
 * Combines float16 and bfloat16: each step is computed in float32, and rounded to nearest even. A step that returns an
 * operand keeps the bits of a NaN.
 */
function combineHalf(
  out: Uint16Array,
  updates: Uint16Array,
  { dtype, reduction, slice, offsets, source }: CombineArgs,
): void {
  const format = floatFormat(dtype);
  const keepsUpdate = reduction.endsWith("_update");
  const keepsBits = keepsUpdate || reduction.endsWith("_data");
  for (let p = 0; p < offsets.length; p++) {
    let t = offsets[p];
    let u = (source === undefined ? p : source[p]) * slice;
    for (const end = t + slice; t < end; t++, u++) {
      const a = decodeHalf(out[t], format);
      const b = decodeHalf(updates[u], format);
      const value = combineNumbers(reduction, a, b);
      if (value === value || !keepsBits) out[t] = encodeHalf(Math.fround(value), format);
      else if (keepsUpdate) out[t] = updates[u];
    }
  }
}

/**
 * Combines integers of 8, 16 and 32 bits, with wraparound. The low bits of sums and products do not depend on the sign,
 * so signed and unsigned types share the three signed array classes. `flip` inverts the sign bit of unsigned types for
 * comparisons.
 */
function combineInt(
  out: Storage,
  updates: Storage,
  { dtype, reduction, slice, offsets, source }: CombineArgs,
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

/** Computes one step on integers, before wraparound. V8 inlines this function. */
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

/**
 * Combines int64 and uint64 as two 32-bit words, low word first, because a bigint would need an allocation per element.
 */
function combineInt64(
  out: BigInt64Array | BigUint64Array,
  updates: BigInt64Array | BigUint64Array,
  { dtype, reduction, slice, offsets, source }: CombineArgs,
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

/** Returns the high word of the 64-bit product of two unsigned words, computed from the products of their halves. */
function highProduct(a: number, b: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16);
  const carry = aLow * bHigh + (middle & 0xffff);
  return (aHigh * bHigh + (middle >>> 16) + (carry >>> 16)) | 0;
}

/** Combines booleans, which are 0 or 1: add and max are OR, mul and min are AND, and sub is XOR. */
function combineBool(
  out: Uint8Array,
  updates: Uint8Array,
  { reduction, slice, offsets, source }: CombineArgs,
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
 * Combines complex numbers, which are interleaved pairs. Every product and sum is rounded to the type of the parts, and
 * never fused. max and min compare lexicographically. An operand with a NaN part is the result. If both operands have a
 * NaN part, the result is the operand from data.
 */
function combineComplex(
  out: Floats,
  updates: Floats,
  { reduction, slice, offsets, source }: CombineArgs,
): void {
  const isSingle = out instanceof Float32Array;
  let nan: ((position: number) => void) | null = null;
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
      else (nan ??= nanWriter(out))(t);
      if (im === im) out[t + 1] = im;
      else (nan ??= nanWriter(out))(t + 1);
    }
  }
}

/**
 * Returns true if a + bi comes before c + di, compared by value and, if all values are equal, by the signs of zeros.
 */
function isBefore(a: number, b: number, c: number, d: number): boolean {
  if (a !== c) return a < c;
  if (b !== d) return b < d;
  if (!Object.is(a, c)) return Object.is(a, -0);
  return Object.is(b, -0);
}

/**
 * Combines text: add appends, and max and min compare code points.
 * @throws TensorError `too-large` if a text exceeds the maximum string length; `out` then contains the earlier updates
 */
function combineString(
  out: string[],
  updates: string[],
  { reduction, slice, offsets, source }: CombineArgs,
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

/** Compares code points, not UTF-16 units: a surrogate pair (above U+FFFF) is greater than U+E000 to U+FFFF. */
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
} satisfies Record<Combined, CombineKernel<never>>;
