/**
 * Converts indices to offsets in JavaScript. Each index is wrapped and compared with its own axis. Rows are never
 * merged, because a job allows merging but does not require it.
 */

import {
  indexAt,
  type ElementJob,
  type IndexAxis,
  type IndexJob,
  type ReadIndices,
  type TupleJob,
} from "../plan/indices.ts";

/**
 * Reads the indices of a job.
 * @param offsets the array to fill, with one offset for each index or tuple
 */
export const readIndices = (
  job: IndexJob,
  offsets: Uint32Array = new Uint32Array(job.count),
): ReturnType<ReadIndices> =>
  job.kind === "tuples" ? readTupleIndices(job, offsets) : readElementIndices(job, offsets);

function readTupleIndices(
  { words, step, count, axes }: TupleJob,
  offsets: Uint32Array,
): Uint32Array | { bad: number } {
  const k = axes.length;
  if (k === 1) return readIndicesOfOne(words, step, axes[0], offsets);
  const dims = axes.map(({ dim }) => dim);
  const wraps = axes.map(({ wrap }) => wrap);
  const strides = axes.map(({ stride }) => stride);
  for (let tuple = 0, word = 0; tuple < count; tuple++) {
    let offset = 0;
    for (let j = 0; j < k; j++, word += step) {
      let index = indexAt(words, word, step);
      if (index < 0) index += wraps[j];
      if (!(index >= 0 && index < dims[j])) return { bad: tuple * k + j };
      offset += index * strides[j];
    }
    offsets[tuple] = offset;
  }
  return offsets;
}

/** Reads tuples of one index, which do not need a list of axes. */
function readIndicesOfOne(
  words: Int32Array,
  step: 1 | 2,
  { dim, wrap, stride }: IndexAxis,
  offsets: Uint32Array,
): Uint32Array | { bad: number } {
  for (let p = 0, word = 0; p < offsets.length; p++, word += step) {
    let index = indexAt(words, word, step);
    if (index < 0) index += wrap;
    if (!(index >= 0 && index < dim)) return { bad: p };
    offsets[p] = index * stride;
  }
  return offsets;
}

function readElementIndices(
  { words, step, count, shape, steps, axis: { dim, wrap, stride } }: ElementJob,
  offsets: Uint32Array,
): Uint32Array | { bad: number } {
  const last = shape.length - 1;
  const row = shape[last];
  const counters = shape.map(() => 0);
  let base = 0;
  for (let p = 0; p < count;) {
    for (let i = 0, place = base; i < row; i++, p++, place += steps[last]) {
      let index = indexAt(words, p * step, step);
      if (index < 0) index += wrap;
      if (!(index >= 0 && index < dim)) return { bad: p };
      offsets[p] = place + index * stride;
    }
    // Advances to the next row: the axes before the last count up like an odometer.
    for (let d = last - 1; d >= 0; d--) {
      base += steps[d];
      if (++counters[d] < shape[d]) break;
      base -= steps[d] * shape[d];
      counters[d] = 0;
    }
  }
  return offsets;
}
