/**
 * The gradients of products, and of greatest and least values: the two cases in which an update's gradient depends on other
 * updates of its target. All engines use these loops in JavaScript, so their bits are the same.
 */

import type { Plan } from "../plan/plan.ts";
import type { PackedPlan } from "../plan/targets.ts";
import { DTYPES, type DType, type Storage } from "../tensor/dtype.ts";
import { decodeHalf, encodeHalf } from "../tensor/half.ts";
import { halfFormat } from "../tensor/scalar.ts";
import { nanWriter } from "./combine.ts";
import { divide } from "./divide.ts";

/** Which of the operands that equal a greatest or least value gets its gradient. */
export type Ties = "even" | "first" | "last" | "all";

export const TIES: readonly Ties[] = ["even", "first", "last", "all"];

/** The storage of data types that have gradients. */
type Floats = Float32Array | Float64Array;

/** Writes the product of two elements, rounded as a `mul` does it, with the second factor conjugated where it says so. */
type Multiply = (to: number, a: Storage, i: number, b: Storage, j: number) => void;

/**
 * The gradients of `out = data * u1 * u2 ...`, by the steps taken backwards: the gradient of an update is that of the value
 * after its step times the value before. Nothing is divided, so zeros are like other values.
 * @param values the packed targets of data; they become those of the result
 * @param share the packed gradient of the result; it becomes that of data
 * @param gradient of updates, to be written
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

/** @param conjugates the second factor, as the gradient of a product of complex numbers does */
function multiplier(dtype: DType, out: Storage, conjugates: boolean): Multiply {
  const { family } = DTYPES[dtype];
  if (family === "half") {
    const format = halfFormat(dtype);
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

/** What the gradients of a greatest or least value are made of; all but updates are packed. */
export interface Extremes {
  readonly result: Storage;
  readonly updates: Storage;
  /** Null where the first update of a target replaces data. */
  readonly data: Storage | null;
  /** The gradient of the result. */
  readonly share: Storage;
}

/**
 * The gradients of a greatest or least value: operands that equal it have its gradient, as `ties` says where there are
 * several. 0 equals -0, and NaN equals NaN.
 * @param to where the gradients of updates and data go; every element is written
 */
export function extremeGradients(
  { plan }: Pick<PackedPlan, "plan">,
  dtype: DType,
  ties: Ties,
  { result, updates, data, share }: Extremes,
  to: { readonly updates: Storage; readonly data: Storage },
): void {
  const { size } = plan;
  const best = comparable(dtype, result);
  const width = size === 0 ? 1 : best.length / size;
  // Data as a scatter of one slice, which is as long as all packed targets.
  const whole = { offsets: new Uint32Array(1), slice: size, source: undefined };
  const ofData = data === null ? null : { plan: whole, values: comparable(dtype, data), width };
  const ofUpdates = { plan, values: comparable(dtype, updates), width };
  if (ties === "even") {
    const counts = new Uint32Array(size);
    countEqual(ofUpdates, best, counts);
    if (ofData !== null) countEqual(ofData, best, counts);
    const cells = cellsAbove(counts, 1);
    divide(
      dtype,
      share,
      1,
      cells,
      cells.map((cell) => counts[cell]),
    );
  }
  const taken = new Uint8Array(ties === "first" || ties === "last" ? size : 0);
  const given = { best, share: units(share), taken, isLast: ties === "last" };
  const giveData = (): void => {
    if (ofData === null) units(to.data).fill(0);
    else give(ofData, given, units(to.data));
  };
  if (ties !== "last") giveData();
  give(ofUpdates, given, units(to.updates));
  if (ties === "last") giveData();
}

/** Operands of packed targets, as words that are equal where the values are. */
interface Operands {
  readonly plan: Pick<Plan, "offsets" | "slice" | "source">;
  readonly values: Words;
  /** Words an element. */
  readonly width: number;
}

/*
 * Whether an operand equals the result is as good as random, and a branch that is predicted wrongly takes 5 to 20 ns. So
 * these loops have none: a difference of words becomes 1 or 0, and that a mask.
 */

/** 1 where two elements differ, and 0 where they are equal. */
function differ(a: Words, i: number, b: Words, j: number, width: number): number {
  let bits = a[i * width] ^ b[j * width];
  for (let word = 1; word < width; word++) bits |= a[i * width + word] ^ b[j * width + word];
  return (bits | -bits) >>> 31;
}

/** Adds how many operands equal the result to the counts of the packed elements. */
function countEqual(
  { plan: { offsets, slice, source }, values, width }: Operands,
  best: Words,
  counts: Uint32Array,
): void {
  for (let p = 0; p < offsets.length; p++) {
    let t = offsets[p];
    let u = (source === undefined ? p : source[p]) * slice;
    for (const end = t + slice; t < end; t++, u++) {
      counts[t] += 1 - differ(best, t, values, u, width);
    }
  }
}

/** The positions of the counts above a number. */
function cellsAbove(counts: Uint32Array, most: number): Uint32Array {
  let found = 0;
  for (let t = 0; t < counts.length; t++) if (counts[t] > most) found++;
  const cells = new Uint32Array(found);
  for (let t = 0, at = 0; at < found; t++) if (counts[t] > most) cells[at++] = t;
  return cells;
}

interface Given {
  readonly best: Words;
  readonly share: Words;
  /** 1 for the packed elements that have given their share, where one operand has it; empty where all that are equal do. */
  readonly taken: Uint8Array;
  /** Whether positions come in reverse, so that the last one takes it. */
  readonly isLast: boolean;
}

/** Gives the shares to the operands that equal the result, and 0 to all others. */
function give(
  { plan: { offsets, slice, source }, values, width }: Operands,
  { best, share, taken, isLast }: Given,
  to: Words,
): void {
  const takesOne = taken.length > 0;
  const total = offsets.length;
  for (let p = 0; p < total; p++) {
    const position = isLast ? total - 1 - p : p;
    let t = offsets[position];
    let u = (source === undefined ? position : source[position]) * slice;
    for (const end = t + slice; t < end; t++, u++) {
      let mask = differ(best, t, values, u, width) - 1;
      if (takesOne) {
        mask &= taken[t] - 1;
        taken[t] |= mask & 1;
      }
      for (let word = 0; word < width; word++)
        to[u * width + word] = share[t * width + word] & mask;
    }
  }
}

type Words = Uint16Array | Uint32Array;

/** The elements as words, which move with all their bits. */
function units(data: Storage): Words {
  if (data instanceof Uint16Array) return data;
  const { buffer, byteOffset, byteLength } = data as Floats;
  return new Uint32Array(buffer, byteOffset, byteLength / 4);
}

/** The elements as words in which -0 is 0 and every NaN the same; those of `data` itself where that has neither. */
function comparable(dtype: DType, data: Storage): Words {
  if (data instanceof Uint16Array) {
    const infinity = dtype === "float16" ? 0x7c00 : 0x7f80;
    let copy: Uint16Array | null = null;
    for (let at = 0; at < data.length; at++) {
      const magnitude = data[at] & 0x7fff;
      if (magnitude <= infinity && data[at] !== 0x8000) continue;
      copy ??= data.slice();
      copy[at] = magnitude === 0 ? 0 : 0x7fff;
    }
    return copy ?? data;
  }
  const floats = data as Floats;
  let copy: Floats | null = null;
  for (let at = 0; at < floats.length; at++) {
    const value = floats[at];
    if (value === value && (value !== 0 || 1 / value > 0)) continue;
    copy ??= floats.slice();
    if (value === 0) copy[at] = 0;
    else nanWriter(copy)(at);
  }
  return units(copy ?? floats);
}
