/**
 * The gradients of products, and of greatest and least values: the two cases in which an update's gradient depends on other
 * updates of its target. All engines use these loops in JavaScript, so their bits are the same.
 */

import type { PackedPlan } from "../plan/targets.ts";
import { DTYPES, type DType, type Storage } from "../tensor/dtype.ts";
import { decodeHalf, encodeHalf } from "../tensor/half.ts";
import { halfFormat } from "../tensor/scalar.ts";
import { nanWriter } from "./combine.ts";
import { divide } from "./divide.ts";

/** Selects which of the operands equal to a greatest or least value get its gradient. */
export type Ties = "even" | "first" | "last" | "all";

export const TIES: readonly Ties[] = ["even", "first", "last", "all"];

/** The storage of data types that have gradients. */
type Floats = Float32Array | Float64Array;

/**
 * Writes the product of two elements, rounded as a `mul` does it, with the second factor conjugated if the multiplier
 * was created so.
 */
type Multiply = (to: number, a: Storage, i: number, b: Storage, j: number) => void;

/**
 * The gradients of `out = data * u1 * u2 ...`, computed backwards step by step: the gradient of an update is the
 * gradient of the value after its step, times the value before. Nothing is divided, so zeros are like other values.
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

/*
 * These loops have no branches: whether an operand equals the extreme value is practically random, and a mispredicted
 * branch takes 5 to 20 ns.
 */

/** 1 for each element in which `a` and `b` are equal, and 0 for others. 0 equals -0, and NaN equals NaN. */
export function equalMarks(dtype: DType, a: Storage, b: Storage, size: number): Uint32Array {
  const [x, y] = [comparable(dtype, a), comparable(dtype, b)];
  const marks = new Uint32Array(size);
  const width = size === 0 ? 1 : x.length / size;
  for (let at = 0; at < size; at++) {
    let bits = x[at * width] ^ y[at * width];
    for (let word = 1; word < width; word++) bits |= x[at * width + word] ^ y[at * width + word];
    marks[at] = 1 - ((bits | -bits) >>> 31);
  }
  return marks;
}

/** Divides the elements of `share` that several operands contribute to. */
export function divideShares(dtype: DType, share: Storage, counts: Uint32Array): void {
  let found = 0;
  for (let t = 0; t < counts.length; t++) if (counts[t] > 1) found++;
  const cells = new Uint32Array(found);
  for (let t = 0, at = 0; at < found; t++) if (counts[t] > 1) cells[at++] = t;
  divide(
    dtype,
    share,
    1,
    cells,
    cells.map((cell) => counts[cell]),
  );
}

/** Writes 0 to every element without a mark. */
export function keepMarked(data: Storage, marks: Uint32Array): void {
  const words = units(data);
  const width = marks.length === 0 ? 1 : words.length / marks.length;
  for (let at = 0; at < marks.length; at++) {
    for (let word = 0; word < width; word++) words[at * width + word] &= -marks[at];
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
