/**
 * Gradients of `mul`, `max`, `min` and `none`, in which an update's gradient depends on other updates of its target.
 * Engines with kernels for these gradients compute the same bits.
 */

import { MOVE } from "../limits.ts";
import { absoluteOffsets, type Plan } from "../plan/plan.ts";
import type { PackedPlan, SortedPlan } from "../plan/targets.ts";
import {
  allocate,
  DTYPES,
  type DType,
  type NumericStorage,
  type Step,
  type Storage,
} from "../tensor/dtype.ts";
import { decodeHalf, encodeHalf, floatFormat } from "../tensor/scalar.ts";
import { combineNumbers, nanWriter } from "./combine.ts";
import { divider } from "./divide.ts";

export const TIES = ["even", "first", "last", "all"] as const;

/** Rule that selects which operands equal to the maximum or minimum receive its gradient. */
export type Ties = (typeof TIES)[number];

/** Storage of float32, float64 and complex numbers. */
type Floats = Float32Array | Float64Array;

/** Writes the product of two elements, rounded like the step of a `mul`. */
type Multiply = (to: number, a: Storage, i: number, b: Storage, j: number) => void;

/**
 * Computes the gradients of `out = data * u1 * u2 ...` backwards, step by step: the gradient of an update is the
 * gradient of the value after its step, times the value before. The method has no division, so zeros need no special
 * case.
 * @param values packed targets of data, which become the targets of the result
 * @param share packed gradient of the result, which becomes the gradient of data
 * @param gradient gradient of updates, to be written
 */
export function productGradients(
  { plan, isFirst }: Pick<PackedPlan, "plan" | "isFirst">,
  dtype: DType,
  includeSelf: boolean,
  values: Storage,
  updates: Storage,
  share: Storage,
  gradient: Storage,
): void {
  const { offsets, slice, source } = plan;
  const multiplied = multiplier(dtype, values, false);
  const [v, u, s, g] = [units(values), units(updates), units(share), units(gradient)];
  const width = plan.size === 0 ? 1 : v.length / plan.size;
  for (let p = 0; p < offsets.length; p++) {
    const replaces = !includeSelf && isFirst[p] === 1;
    for (let i = 0, t = offsets[p], q = (source?.[p] ?? p) * slice; i < slice; i++, t++, q++) {
      for (let unit = 0; unit < width; unit++) g[q * width + unit] = v[t * width + unit];
      if (!replaces) multiplied(t, values, t, updates, q);
      else for (let unit = 0; unit < width; unit++) v[t * width + unit] = u[q * width + unit];
    }
  }
  const ofUpdates = multiplier(dtype, gradient, true);
  const ofBefore = multiplier(dtype, share, true);
  for (let p = offsets.length - 1; p >= 0; p--) {
    const replaces = !includeSelf && isFirst[p] === 1;
    for (let i = 0, t = offsets[p], q = (source?.[p] ?? p) * slice; i < slice; i++, t++, q++) {
      if (replaces) {
        for (let unit = 0; unit < width; unit++) {
          g[q * width + unit] = s[t * width + unit];
          s[t * width + unit] = 0;
        }
      } else {
        ofUpdates(q, share, t, gradient, q);
        ofBefore(t, share, t, updates, q);
      }
    }
  }
}

/**
 * Returns a function that multiplies elements of a data type.
 * @param conjugates true to conjugate the second factor, as in gradients of complex products
 */
function multiplier(dtype: DType, out: Storage, conjugates: boolean): Multiply {
  const { family } = DTYPES[dtype];
  if (family === "half") {
    const format = floatFormat(dtype);
    return (to, a, i, b, j) => {
      const product = decodeHalf(Number(a[i]), format) * decodeHalf(Number(b[j]), format);
      out[to] = encodeHalf(Math.fround(product), format);
    };
  }
  const floats = out as Floats;
  const write = (at: number, value: number): void => {
    if (value === value) floats[at] = value;
    else nanWriter(floats)(at);
  };
  if (family === "float") {
    return (to, a, i, b, j) => write(to, (a as Floats)[i] * (b as Floats)[j]);
  }
  const round = dtype === "complex64" ? Math.fround : (value: number) => value;
  return (to, a, i, b, j) => {
    const [re, im] = [Number(a[2 * i]), Number(a[2 * i + 1])];
    const re2 = Number(b[2 * j]);
    const im2 = conjugates ? -Number(b[2 * j + 1]) : Number(b[2 * j + 1]);
    write(2 * to, round(re * re2) - round(im * im2));
    write(2 * to + 1, round(re * im2) + round(im * re2));
  };
}

/** Arguments of the gradients of a Plan's `max` or `min`. */
export interface Extremes {
  readonly dtype: DType;
  /** The reduction, a max or min. */
  readonly step: Step;
  readonly includesSelf: boolean;
  readonly ties: Ties;
  /** Number of elements of an update. */
  readonly slice: number;
  readonly data: NumericStorage;
  readonly updates: NumericStorage;
  readonly gradient: NumericStorage;
  /** Gradient of data to write, which may be `gradient` itself; null if unwanted. */
  readonly ofData: NumericStorage | null;
  /** Gradient of updates to write; null if unwanted. */
  readonly ofUpdates: NumericStorage | null;
}

/** Writes the gradients of a `max` or `min`, target by target and element by element. */
export function extremeGradients(call: Extremes, { targets, ends, positions }: SortedPlan): void {
  const { dtype, step, includesSelf, ties, slice, data, updates } = call;
  const { lanes, family } = DTYPES[dtype];
  const infinity = family === "half" ? (dtype === "float16" ? 0x7c00 : 0x7f80) : 0;
  const sign = step.startsWith("min") ? -1 : 1;
  const isOrdered = step !== "max" && step !== "min";
  const share = allocate(dtype, 1) as NumericStorage;
  const divided = divider(dtype, share);
  const shares = units(share);
  const width = shares.length;
  const given = units(call.gradient);
  const ofData = call.ofData && units(call.ofData);
  const ofUpdates = call.ofUpdates && units(call.ofUpdates);
  const isOne = ties === "first" || ties === "last";
  // The operands of a target are data, numbered -1, and the updates at its positions.
  for (let t = 0, begin = 0; t < targets.length; begin = ends[t], t++) {
    for (let i = 0; i < slice; i++) {
      const cell = targets[t] + i;
      let [re, im, count, taker] = [0, 0, 0, -2];
      if (isOrdered) re = folded(call, cell, positions.subarray(begin, ends[t]), i, infinity);
      for (let p = includesSelf ? begin - 1 : begin; p < ends[t]; p++) {
        const [from, at] = p < begin ? [data, cell] : [updates, positions[p] * slice + i];
        const a = read(from, at * lanes, infinity);
        const b = lanes === 1 ? 0 : read(from, at * lanes + 1, infinity);
        const isFirst = count === 0 && !isOrdered;
        const order = isFirst ? 1 : compare(sign, a, b, re, im);
        if (isOrdered ? order !== 0 : order < 0) continue;
        if (count === 0 || order > 0 || ties === "last") taker = p;
        if (order > 0) [re, im, count] = [a, b, 1];
        else count++;
      }
      for (let word = 0; word < width; word++) shares[word] = given[cell * width + word];
      if (ties === "even" && count > 1) {
        for (let lane = 0; lane < lanes; lane++) divided(lane, count);
      }
      for (let p = begin - 1; p < ends[t]; p++) {
        const [from, at] = p < begin ? [data, cell] : [updates, positions[p] * slice + i];
        const to = p < begin ? ofData : ofUpdates;
        if (to === null) continue;
        const a = read(from, at * lanes, infinity);
        const b = lanes === 1 ? 0 : read(from, at * lanes + 1, infinity);
        const isEqual = isOne ? p === taker : compare(sign, a, b, re, im) === 0;
        const has = isEqual && (includesSelf || p >= begin);
        for (let word = 0; word < width; word++) to[at * width + word] = has ? shares[word] : 0;
      }
    }
  }
}

/**
 * Returns the result of a step that returns one operand. A NaN makes the result depend on the order of the operands, so
 * the result is not always the greatest or least operand.
 */
function folded(
  { step, includesSelf, slice, data, updates }: Extremes,
  cell: number,
  positions: Uint32Array,
  element: number,
  infinity: number,
): number {
  const operands = Array.from(positions, (p) => read(updates, p * slice + element, infinity));
  if (includesSelf) operands.unshift(read(data, cell, infinity));
  return operands.reduce((result, operand) => combineNumbers(step, result, operand));
}

/**
 * Reads a real or imaginary part. The bits of a half become an integer of the same order.
 * @param infinity bits of the half type's infinity; 0 for other types
 */
function read(data: Storage, at: number, infinity: number): number {
  const value = Number(data[at]);
  if (infinity === 0) return value;
  const magnitude = value & 0x7fff;
  if (magnitude > infinity) return NaN;
  return value > 0x7fff ? 0 - magnitude : magnitude;
}

/**
 * Returns a positive number if an operand beats the best operand so far, and 0 if the two are equal. NaN beats every
 * number and equals NaN.
 * @param sign 1 for the greatest operand, -1 for the least
 */
function compare(sign: number, re: number, im: number, bestRe: number, bestIm: number): number {
  const isNumber = re === re && im === im;
  if (bestRe === bestRe && bestIm === bestIm) {
    if (!isNumber) return 1;
    return re === bestRe ? (im === bestIm ? 0 : sign * (im - bestIm)) : sign * (re - bestRe);
  }
  return isSame(re, bestRe) && isSame(im, bestIm) ? 0 : -1;
}

const isSame = (a: number, b: number): boolean => a === b || (a !== a && b !== b);

/** Moves slices to the sequential side, from the last position to the first, and leaves zeros. */
export function take(plan: Plan, random: Storage, sequential: Storage): void {
  const offsets = absoluteOffsets(plan);
  const { source } = plan;
  let last = offsets.length - 1;
  const isFew = offsets.length * plan.slice <= MOVE.few && source === undefined;
  if (isFew && random instanceof Float32Array && sequential instanceof Float32Array) {
    last = takeFloats(plan, offsets, random, sequential);
    if (last < 0) return;
  }
  const from = units(random);
  const to = units(sequential);
  const width = plan.size === 0 ? 1 : from.length / plan.size;
  const length = plan.slice * width;
  if (length === 1 && source === undefined) return takeSingles(offsets, last, from, to);
  for (let p = last; p >= 0; p--) {
    const far = offsets[p] * width;
    const near = (source === undefined ? p : source[p]) * length;
    if (length < MOVE.long) {
      for (let i = 0; i < length; i++) {
        to[near + i] = from[far + i];
        from[far + i] = 0;
      }
    } else {
      to.set(from.subarray(far, far + length), near);
      from.fill(0, far, far + length);
    }
  }
}

/**
 * Runs `take` on float32 as numbers, because views would take longer than a small call (see `MOVE.few`). A NaN may lose
 * bits as a number, so the loop stops at a slice with a NaN. Returns the position of that slice, or -1 if all slices
 * were moved.
 */
function takeFloats(
  { slice, size }: Plan,
  offsets: Uint32Array,
  from: Float32Array,
  to: Float32Array,
): number {
  const width = size === 0 ? 1 : from.length / size;
  const length = slice * width;
  let p = offsets.length - 1;
  for (; p >= 0; p--) {
    const begin = offsets[p] * width;
    for (let i = 0; i < length; i++) if (from[begin + i] !== from[begin + i]) return p;
    for (let i = 0; i < length; i++) {
      to[p * length + i] = from[begin + i];
      from[begin + i] = 0;
    }
  }
  return p;
}

/** Moves single words, in 2 ns each instead of 10 ns in the loop for slices. */
function takeSingles(offsets: Uint32Array, last: number, from: Words, to: Words): void {
  for (let p = last; p >= 0; p--) {
    const at = offsets[p];
    to[p] = from[at];
    from[at] = 0;
  }
}

type Words = Uint16Array | Uint32Array;

/** Returns the elements as words, which move with all their bits. */
function units(data: Storage): Words {
  if (data instanceof Uint16Array) return data;
  const { buffer, byteOffset, byteLength } = data as Floats;
  return new Uint32Array(buffer, byteOffset, byteLength / 4);
}
