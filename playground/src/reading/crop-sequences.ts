/**
 * Crops a TensorScatter call. The crop starts with samples that do not fit into the cache, and keeps a part of each
 * sequence with the cache positions that it reaches.
 */

import type { Tensor } from "ndscatter";
import {
  across,
  outOfRange,
  census,
  chosen,
  first,
  indicesOf,
  numberAt,
  remarkOn,
  taken,
  type Part,
  type Tensors,
} from "./crop-parts.ts";

const MOST_SAMPLES = 6;
/** The maximum length of each sequence. */
const MOST_STEPS = 6;

export function ofSequences(
  { data, indices, updates }: Tensors,
  axis: number,
  isRing: boolean,
): Part | null {
  if (data === undefined || updates === undefined || !fits(data, updates, axis)) return null;
  const [batch] = data.shape;
  if (indices !== undefined && String(indices.shape) !== String([batch])) return null;
  const [size, length] = [data.shape[axis], updates.shape[axis]];
  const begins = first(batch, batch).map((one) =>
    indices === undefined ? 0 : numberAt(indices, one),
  );
  const isRight = (begin: number): boolean => isRing || (begin >= 0 && begin <= size - length);
  const found = census(batch, (sample) => (isRight(begins[sample]) ? sample : -1));
  const samples = chosen(found, MOST_SAMPLES);
  const chosenBegins = samples.map((sample) => begins[sample]);
  const steps = Math.min(length, MOST_STEPS);
  // A sequence that exceeds its cache is cropped to its last elements, which show the error.
  const isLong = chosenBegins.some((begin) => !isRight(begin) && begin >= 0);
  const from = isLong ? length - steps : 0;
  const starts = chosenBegins.map((begin) => begin + from);
  const cache = new Cache(size, isRing, steps, starts);
  const width = across(data.shape.length - 2);
  const partOf = (source: Tensor, along: readonly number[]): Tensor =>
    taken(
      source,
      source.shape.map((dim, d) => (d === 0 ? samples : d === axis ? along : first(dim, width))),
    );
  const renumbered = chosenBegins.map((begin, at) => cache.begin(begin, starts[at]));
  const piece = first(steps, steps).map((step) => from + step);
  return {
    tensors: {
      data: partOf(data, cache.kept),
      updates: partOf(updates, piece),
      ...(indices && { indices: indicesOf(indices, [samples.length], renumbered) }),
    },
    remarks: [
      `${outOfRange(found.bad, batch, "samples")}; these come first.`,
      ...remarkOn("past_cache", 0, samples, batch),
      ...remarkOn("past_cache", axis, cache.kept, size),
      ...remarkOn("update", axis, piece, length),
    ],
  };
}

/**
 * Checks whether data and updates have equal shapes except along the axis, and whether the sequence fits into the
 * cache.
 */
const fits = (data: Tensor, updates: Tensor, axis: number): boolean =>
  axis > 0 &&
  updates.size > 0 &&
  updates.shape.length === data.shape.length &&
  updates.shape.every((dim, d) => (d === axis ? dim <= data.shape[d] : dim === data.shape[d]));

/** The cache positions in the crop. Adjacent positions stay adjacent. */
class Cache {
  readonly size: number;
  readonly isRing: boolean;
  readonly kept: readonly number[];

  /** `starts` are the cache positions at which the parts of `steps` elements start. */
  constructor(size: number, isRing: boolean, steps: number, starts: readonly number[]) {
    this.size = size;
    this.isRing = isRing;
    const reached = starts
      .flatMap((start) => first(steps, steps).map((step) => this.position(start + step)))
      .filter((one) => one >= 0 && one < size);
    // If the cache were shorter than the updates, the crop would show a different error.
    const more = first(size, steps);
    const whole = new Set(reached);
    for (const one of more) if (whole.size < steps) whole.add(one);
    this.kept = [...whole].toSorted((a, b) => a - b);
  }

  position(start: number): number {
    const { size, isRing } = this;
    return isRing ? ((start % size) + size) % size : start;
  }

  /**
   * Returns the write index's number in the crop. An index out of range remains out of range by the same distance, up
   * to 99. In a ring buffer, an index that wraps around stays negative or beyond the end. `begin` is the write index in
   * the whole cache. `start` is the cache position at which the part starts.
   */
  begin(begin: number, start: number): number {
    const { size, isRing, kept } = this;
    if (isRing) {
      const place = kept.indexOf(this.position(start));
      return begin < 0 ? place - kept.length : begin >= size ? place + kept.length : place;
    }
    if (begin < 0) return Math.max(begin, -99);
    return start < size ? kept.indexOf(start) : kept.length + Math.min(start - size, 99);
  }
}
