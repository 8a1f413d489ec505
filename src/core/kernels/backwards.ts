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
  { plan, isFirst }: PackedPlan,
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
  { plan }: PackedPlan,
  dtype: DType,
  ties: Ties,
  { result, updates, data, share }: Extremes,
  to: { readonly updates: Storage; readonly data: Storage },
): void {
  const { slice, source, size } = plan;
  const offsets = ties === "last" ? plan.offsets.toReversed() : plan.offsets;
  const total = offsets.length;
  const positionOf = (p: number): number => {
    const position = ties === "last" ? total - 1 - p : p;
    return (source?.[position] ?? position) * slice;
  };
  const { lanes } = DTYPES[dtype];
  const best = decoded(dtype, result);
  const values = decoded(dtype, updates);
  const own = data === null ? null : decoded(dtype, data);
  if (ties === "even") {
    const counts = countEqual(plan, best, values, own, lanes);
    const isShared = Uint32Array.from(counts.keys()).filter((cell) => counts[cell] > 1);
    divide(
      dtype,
      share,
      1,
      isShared,
      isShared.map((cell) => counts[cell]),
    );
  }
  const takesOne = ties === "first" || ties === "last";
  const taken = new Uint8Array(takesOne ? size : 0);
  const from = units(share);
  const [ofUpdates, ofData] = [units(to.updates), units(to.data)];
  const width = size === 0 ? 1 : from.length / size;
  const give = (target: typeof from, at: number, cell: number, equal: boolean): void => {
    const isGiven = equal && taken[cell] !== 1;
    if (isGiven && takesOne) taken[cell] = 1;
    for (let unit = 0; unit < width; unit++) {
      target[at * width + unit] = isGiven ? from[cell * width + unit] : 0;
    }
  };
  const giveData = (): void => {
    for (let t = 0; t < size; t++) {
      give(ofData, t, t, own !== null && isSame(best, t, own, t, lanes));
    }
  };
  if (ties !== "last") giveData();
  for (let p = 0; p < total; p++) {
    for (let i = 0, t = offsets[p], u = positionOf(p); i < slice; i++, t++, u++) {
      give(ofUpdates, u, t, isSame(best, t, values, u, lanes));
    }
  }
  if (ties === "last") giveData();
}

/** How many operands of each packed element equal the result. */
function countEqual(
  { offsets, slice, source, size }: Plan,
  best: Floats,
  values: Floats,
  own: Floats | null,
  lanes: 1 | 2,
): Uint32Array {
  const counts = new Uint32Array(size);
  if (own !== null) {
    for (let t = 0; t < size; t++) if (isSame(best, t, own, t, lanes)) counts[t]++;
  }
  for (let p = 0; p < offsets.length; p++) {
    for (let i = 0, t = offsets[p], u = (source?.[p] ?? p) * slice; i < slice; i++, t++, u++) {
      if (isSame(best, t, values, u, lanes)) counts[t]++;
    }
  }
  return counts;
}

function isSame(a: Floats, i: number, b: Floats, j: number, lanes: 1 | 2): boolean {
  if (lanes === 1) return a[i] === b[j] || (a[i] !== a[i] && b[j] !== b[j]);
  return isSame(a, 2 * i, b, 2 * j, 1) && isSame(a, 2 * i + 1, b, 2 * j + 1, 1);
}

/** The elements as numbers: a copy for halves, whose storage holds bits. */
function decoded(dtype: DType, data: Storage): Floats {
  if (DTYPES[dtype].family !== "half") return data as Floats;
  const format = halfFormat(dtype);
  return Float32Array.from(data as Uint16Array, (bits) => decodeHalf(bits, format));
}

/** The elements as words, which move with all their bits. */
function units(data: Storage): Uint16Array | Uint32Array {
  if (data instanceof Uint16Array) return data;
  const { buffer, byteOffset, byteLength } = data as Floats;
  return new Uint32Array(buffer, byteOffset, byteLength / 4);
}
