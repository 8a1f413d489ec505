/**
 * Converts axis ranges from Python's notation to the form that job files store, and maps coordinates and shapes between
 * an array and a part of the array.
 */

import { TensorError } from "../../core/errors.ts";
import { greatestCommonDivisor, printShape, sameShape } from "../../core/tensor/shape.ts";
import type { AxisPart, ChunkedArray, AxisRange } from "./array.ts";
import { chunksOf, type ChunkPart } from "./boxes.ts";
import type { Box } from "./grid.ts";
import { isArray, printValue, wrongValue } from "../../core/foreign.ts";

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

/** Describes an axis of a part: coordinate i of the part is coordinate `start + i * step` of the array. */
interface Along {
  readonly start: number;
  readonly step: number;
  readonly count: number;
  readonly isDropped: boolean;
}

const alongOf = (part: AxisPart): Along =>
  typeof part === "number"
    ? { start: part, step: 1, count: 1, isDropped: true }
    : { start: part[0], step: part[1], count: part[2], isDropped: false };

export class PartAxes {
  /** The array axes that remain in the part. */
  readonly kept: readonly number[];
  readonly shape: readonly number[];
  readonly steps: readonly number[];
  readonly #base: ChunkedArray;
  readonly #along: readonly Along[];

  /** Throws an `index-out-of-range` error for a part that extends beyond the array. */
  constructor(base: ChunkedArray, parts: readonly AxisPart[]) {
    this.#base = base;
    this.#along = parts.map(alongOf);
    checkWithin(this.#along, base);
    this.kept = this.#along.flatMap((one, axis) => (one.isDropped ? [] : [axis]));
    this.shape = this.kept.map((axis) => this.#along[axis].count);
    this.steps = this.#along.map(({ step }) => step);
  }

  /**
   * Returns the part's chunk shape. If `isExclusive` is true, different chunks of the part never overlap the same array
   * chunk.
   */
  chunkShape(isExclusive: boolean): number[] {
    const { chunkShape } = this.#base;
    return this.kept.map((axis) => chunkAlong(this.#along[axis], chunkShape[axis], isExclusive));
  }

  /** Translates ranges along the part's axes into ranges along all array axes. */
  inner(ranges: readonly AxisPart[]): AxisPart[] {
    const inner = ranges.values();
    return this.#along.map((along): AxisPart => {
      if (along.isDropped) return along.start;
      const part = inner.next().value as AxisPart;
      if (typeof part === "number") return along.start + part * along.step;
      const [start, step, count] = part;
      return count === 0 ? NONE : [along.start + start * along.step, along.step * step, count];
    });
  }

  /**
   * Divides a box along the array's chunk boundaries, and omits chunks that do not overlap the box. All lists have the
   * array's rank.
   */
  *partsOf(box: Box): Generator<ChunkPart> {
    const { steps } = this;
    const { chunkShape } = this.#base;
    const [start, shape] = [this.first(box.start), this.span(box.shape)];
    for (const { at, boxStart, chunkStart, shape: own } of chunksOf(start, shape, chunkShape)) {
      // These bounds are the first position in the chunk's range and the position after the last.
      const first = boxStart.map((from, axis) => Math.ceil(from / steps[axis]));
      const end = own.map((dim, axis) => Math.ceil((boxStart[axis] + dim) / steps[axis]));
      const counts = end.map((to, axis) => to - first[axis]);
      if (counts.includes(0)) continue;
      const skipped = first.map((place, axis) => place * steps[axis] - boxStart[axis]);
      yield {
        at,
        boxStart: first,
        chunkStart: chunkStart.map((from, axis) => from + skipped[axis]),
        shape: counts,
      };
    }
  }

  /** Returns true if a box of this shape skips no array elements. */
  isRun(shape: readonly number[]): boolean {
    return sameShape(this.span(shape), this.expand(shape, 1));
  }

  /** Returns a list of the part's axes as one of the array's axes, in which dropped axes have the value `dropped`. */
  expand(values: readonly number[], dropped: 0 | 1): number[] {
    const next = values.values();
    return this.#along.map(({ isDropped }) => (isDropped ? dropped : Number(next.next().value)));
  }

  /** Returns the coordinates in the array of an element of the part. */
  first(start: readonly number[]): number[] {
    return this.expand(start, 0).map((at, axis) => this.#along[axis].start + at * this.steps[axis]);
  }

  /** Returns the shape that a box spans in the array, including skipped elements. */
  span(shape: readonly number[]): number[] {
    return this.expand(shape, 1).map((dim, axis) => spanOf(dim, this.steps[axis]));
  }
}

const spanOf = (count: number, step: number): number => (count === 0 ? 0 : (count - 1) * step + 1);

function checkWithin(along: readonly Along[], { shape, location }: ChunkedArray): void {
  const endOf = ({ start, step, count }: Along): number =>
    start + Math.max(0, count - 1) * step + Math.min(1, count);
  const axis = shape.findIndex((dim, d) => {
    const { start, step, count } = along[d] ?? { start: NaN, step: NaN, count: NaN };
    const isWhole = [start, step, count].every((one) => Number.isSafeInteger(one) && one >= 0);
    return !(isWhole && step > 0 && endOf(along[d]) <= dim);
  });
  if (axis === -1 && along.length === shape.length) return;
  const sentence = `the slice of ${location.path} must lie within its shape ${printShape(shape)}`;
  const facts = { key: "slice", file: location.path };
  if (along.length !== shape.length) {
    const [got, expected] = [along.length, shape.length];
    throw new TensorError("rank", sentence, { ...facts, got, expected });
  }
  const size = shape[axis];
  const got = endOf(along[axis]);
  const outside = { ...facts, axis, got, size, expected: [0, size] } as const;
  throw new TensorError("index-out-of-range", sentence, outside);
}

/** Returns the part's chunk size along one axis. */
function chunkAlong({ start, step, count }: Along, chunk: number, isExclusive: boolean): number {
  const most = Math.max(1, count);
  if (!isExclusive) return Math.min(most, Math.max(1, Math.floor(chunk / step)));
  // If the preceding step lies in another chunk, chunks of the part can begin at chunk boundaries of the array.
  if (start % chunk < step) return Math.min(most, chunk / greatestCommonDivisor(chunk, step));
  return most;
}
