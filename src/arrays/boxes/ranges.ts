/** Converts axis ranges from Python's notation to the form that job files store. */

import { isArray, printValue, wrongValue } from "../../core/foreign.ts";
import { TensorError } from "../../core/errors.ts";
import { printShape } from "../../core/tensor/shape.ts";
import type { AxisPart, AxisRange } from "./array.ts";

/**
 * Resolves ranges against a shape; an axis without a range is included in full. Throws `rank` for more ranges than
 * axes, `index-out-of-range` for a coordinate outside its axis, `attribute` for a malformed range.
 */
export function partsOf(ranges: readonly AxisRange[], shape: readonly number[]): AxisPart[] {
  if (ranges.length > shape.length) {
    const sentence = `a slice must have at most ${shape.length} ranges, one per axis of ${printShape(shape)}, got ${ranges.length}`;
    const [got, expected] = [ranges.length, [0, shape.length]];
    throw new TensorError("rank", sentence, { key: "ranges", got, expected });
  }
  return shape.map((dim, axis) => partOf(ranges[axis] ?? null, dim, axis));
}

/** The empty range. */
export const NONE: AxisPart = [0, 1, 0];

function partOf(range: AxisRange, dim: number, axis: number): AxisPart {
  if (typeof range === "number") {
    const at = range < 0 ? range + dim : range;
    if (Number.isSafeInteger(range) && at >= 0 && at < dim) return at;
    const sentence = `a coordinate of axis ${axis} must be from ${0 - dim} to ${dim - 1}, got ${printValue(range)}`;
    const expected = [0 - dim, dim - 1] as const;
    const facts = { key: "ranges", axis, got: range, size: dim, expected };
    throw new TensorError("index-out-of-range", sentence, facts);
  }
  const given = range ?? [];
  const isRange =
    isArray(given) &&
    given.length <= 3 &&
    given.every((one) => one === null || Number.isSafeInteger(one));
  const [from, to, by] = isRange ? given : [];
  const step = by ?? 1;
  if (!isRange || step < 1) {
    const sentence = `the range of axis ${axis} must be a coordinate, or [start, stop, step] with a step of 1 or more`;
    throw wrongValue("attribute", sentence, range, { key: "ranges", axis });
  }
  // Ranges that extend beyond the axis are clipped, as in Python.
  const placeOf = (end: number): number => Math.min(dim, Math.max(0, end < 0 ? end + dim : end));
  const start = placeOf(from ?? 0);
  const count = Math.ceil((placeOf(to ?? dim) - start) / step);
  return count > 0 ? [start, step, count] : NONE;
}

/**
 * Returns true if the ranges of two parts are disjoint along some axis, so that the parts share no element. If the
 * result is false, the parts may still be disjoint, because their steps may interleave.
 */
export const areApart = (a: readonly AxisPart[], b: readonly AxisPart[]): boolean =>
  a.some((one, axis) => {
    const [first, last] = endsOf(one);
    const [start, end] = endsOf(b[axis]);
    return last < start || end < first;
  });

/** Returns the first and last coordinates of a part of an axis. */
export const endsOf = (part: AxisPart): readonly [first: number, last: number] =>
  typeof part === "number" ? [part, part] : [part[0], part[0] + (part[2] - 1) * part[1]];

/** Prints parts of axes, for example `[10:20:2, 3]`. */
export const printParts = (parts: readonly AxisPart[]): string =>
  `[${parts.map((part) => (typeof part === "number" ? part : printRange(part))).join(", ")}]`;

const printRange = ([start, step, count]: readonly [number, number, number]): string =>
  `${start}:${start + Math.max(0, count - 1) * step + Math.min(1, count)}${step === 1 ? "" : `:${step}`}`;
