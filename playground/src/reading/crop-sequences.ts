/**
 * Crops a TensorScatter call. The crop starts with samples that do not fit into the cache, and keeps a part of each
 * sequence with the cache positions that it reaches.
 */

import type { Tensor } from "ndscatter";
import {
  across,
  Axis,
  census,
  chosen,
  first,
  indicesOf,
  numberAt,
  outOfRange,
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
  const positionOf = (start: number): number => (isRing ? ((start % size) + size) % size : start);
  const reached = starts.flatMap((start) => first(steps, steps).map((s) => positionOf(start + s)));
  // If the cache were shorter than the updates, the crop would show a different error.
  const spare = chosenBegins.some(isRight) ? [] : first(size, steps);
  const cache = new Axis(size, [...reached.filter((one) => one >= 0), ...spare]);
  // A begin out of range remains out of range, and one that wraps around stays negative or behind the end.
  const beginOf = (begin: number, start: number): number => {
    const turns = begin < 0 ? -1 : begin >= size ? 1 : 0;
    if (isRing) return cache.index(positionOf(start)) + turns * cache.kept.length;
    return begin < 0 ? Math.max(begin, -99) : cache.index(start);
  };
  const width = across(data.shape.length - 2);
  const partOf = (source: Tensor, along: readonly number[]): Tensor =>
    taken(
      source,
      source.shape.map((dim, d) => (d === 0 ? samples : d === axis ? along : first(dim, width))),
    );
  const renumbered = chosenBegins.map((begin, at) => beginOf(begin, starts[at]));
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
  axis < data.shape.length &&
  updates.size > 0 &&
  updates.shape.length === data.shape.length &&
  updates.shape.every((dim, d) => (d === axis ? dim <= data.shape[d] : dim === data.shape[d]));
