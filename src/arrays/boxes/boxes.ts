/**
 * Copies, fills and transposes boxes of row-major arrays as bytes, and divides boxes along chunk boundaries. Elements
 * are copied as raw bytes, so NaN payloads are preserved. The functions do not check that a box lies within its array,
 * so callers must check boxes first.
 */

import { stridesOf } from "../../core/tensor/shape.ts";
import { ARRAYS } from "../../core/limits.ts";

/** The memory of a row-major array, and the position of a box in the array. */
export interface Place {
  readonly bytes: Uint8Array;
  /** The shape of the whole array. */
  readonly shape: readonly number[];
  readonly start: readonly number[];
}

/** The overlap of a box and a chunk. */
export interface ChunkPart {
  readonly at: readonly number[];
  /** The first coordinates of the overlap, relative to the chunk. */
  readonly chunkStart: readonly number[];
  /** The first coordinates of the overlap, relative to the box. */
  readonly boxStart: readonly number[];
  readonly shape: readonly number[];
}

/** Returns the number of chunks along each axis. */
export const gridOf = (shape: readonly number[], chunkShape: readonly number[]): number[] =>
  shape.map((dim, axis) => Math.ceil(dim / chunkShape[axis]));

/** Returns the shape of the chunk at `at`, clipped to the array. */
export const clippedShape = (
  at: readonly number[],
  shape: readonly number[],
  chunkShape: readonly number[],
): number[] =>
  shape.map((dim, axis) => Math.min(chunkShape[axis], dim - at[axis] * chunkShape[axis]));

/** Divides a box along chunk boundaries, in row-major order. */
export function* chunksOf(
  start: readonly number[],
  shape: readonly number[],
  chunkShape: readonly number[],
): Generator<ChunkPart, void, undefined> {
  if (shape.includes(0)) return;
  const end = start.map((from, axis) => from + shape[axis]);
  const first = start.map((from, axis) => Math.floor(from / chunkShape[axis]));
  const last = end.map((to, axis) => Math.floor((to - 1) / chunkShape[axis]));
  const at = [...first];
  for (;;) {
    const chunk = at.map((one, axis) => one * chunkShape[axis]);
    const from = chunk.map((one, axis) => Math.max(one, start[axis]));
    yield {
      at: [...at],
      chunkStart: from.map((one, axis) => one - chunk[axis]),
      boxStart: from.map((one, axis) => one - start[axis]),
      shape: from.map((one, d) => Math.min(chunk[d] + chunkShape[d], end[d]) - one),
    };
    let axis = at.length - 1;
    while (axis >= 0 && at[axis] === last[axis]) {
      at[axis] = first[axis];
      axis--;
    }
    if (axis < 0) return;
    at[axis]++;
  }
}

/** Returns the flat index of a box's first element. */
export function offsetOf(start: readonly number[], shape: readonly number[]): number {
  let offset = 0;
  for (let axis = 0; axis < shape.length; axis++) offset = offset * shape[axis] + start[axis];
  return offset;
}

/** Returns true if a box with shape `shape` is contiguous in an array with shape `whole`. */
export function isRun(shape: readonly number[], whole: readonly number[]): boolean {
  let axis = shape.length - 1;
  while (axis > 0 && shape[axis] === whole[axis]) axis--;
  for (axis--; axis >= 0; axis--) if (shape[axis] !== 1) return false;
  return true;
}

/** Copies a box between two arrays whose elements have `width` bytes. The arrays must not share memory. */
export const copyBox = (from: Place, into: Place, shape: readonly number[], width: number): void =>
  copyStrided(stridedOf(from), stridedOf(into), shape, width);

/** Strided elements in memory: the position of the first element, and the step along each axis, counted in elements. */
export interface Strided {
  readonly bytes: Uint8Array;
  readonly at: number;
  readonly strides: readonly number[];
}

/** Describes the elements of a box that begins at a place, with a step along each axis of the place's array. */
export function stridedOf({ bytes, shape, start }: Place, steps?: readonly number[]): Strided {
  const strides = stridesOf(shape);
  return {
    bytes,
    at: offsetOf(start, shape),
    strides: steps === undefined ? strides : strides.map((stride, axis) => stride * steps[axis]),
  };
}

/**
 * Copies a box into an array whose axes are in a different order. `from` contains the box in row-major order, and axis
 * i of `from` is axis `order[i]` of the box.
 */
export function copyTransposed(
  from: Uint8Array,
  into: Place,
  shape: readonly number[],
  order: readonly number[],
  width: number,
): void {
  const { bytes, at, strides } = stridedOf(into);
  const own = { bytes: from, at: 0, strides: stridesOf(shape) };
  copyStrided(own, { bytes, at, strides: order.map((axis) => strides[axis]) }, shape, width);
}

/** Returns the elements of an array, with axis `order[i]` as axis i. */
export function transpose(
  from: Uint8Array,
  into: Uint8Array,
  shape: readonly number[],
  order: readonly number[],
  width: number,
): void {
  const inverse = shape.map((_, axis) => order.indexOf(axis));
  const turned = order.map((axis) => shape[axis]);
  const place = { bytes: into, shape: turned, start: turned.map(() => 0) };
  copyTransposed(from, place, shape, inverse, width);
}

/**
 * Copies elements of `width` bytes between strided memories that do not overlap. `shape` is the number of elements
 * along each axis.
 */
export function copyStrided(
  from: Strided,
  into: Strided,
  shape: readonly number[],
  width: number,
): void {
  if (shape.includes(0)) return;
  // Trailing axes that are contiguous in both arrays are copied as a single run.
  let run = 1;
  let axes = shape.length;
  while (axes > 0 && isNext(axes - 1, run, shape, from) && isNext(axes - 1, run, shape, into)) {
    run *= shape[--axes];
  }
  // Positions and steps of rows and runs are counted in words.
  const isLong = run * width >= ARRAYS.run;
  const word = isLong ? 1 : wordOf(from.bytes.byteOffset, into.bytes.byteOffset, width);
  const copy = isLong ? copyLong : copyWords;
  const scale = width / word;
  const length = run * scale;
  // The innermost loops follow the axis with the smallest step in each array. The two axes differ only if the copy
  // transposes. Without axes, the copy is a single run.
  const row = closestAxis(from, shape, axes);
  const column = closestAxis(into, shape, axes);
  const rowsOf = ({ bytes, strides }: Strided): Rows => ({
    words: wordsOf(bytes, word),
    row: axes === 0 ? 0 : strides[row] * scale,
    step: axes === 0 ? 0 : strides[column] * scale,
  });
  const [source, target] = [rowsOf(from), rowsOf(into)];
  if (axes === 0) return copy(source, from.at * scale, target, into.at * scale, length, 1, 1);
  const outer: number[] = [];
  for (let axis = 0; axis < axes; axis++) if (axis !== row && axis !== column) outer.push(axis);
  const pick = (list: readonly number[]): number[] => outer.map((axis) => list[axis]);
  const isTurned = row !== column;
  const tile = isTurned ? ARRAYS.tile * Math.ceil(4 / width) : shape[column];
  const rows = isTurned ? shape[row] : 1;
  walk(pick(shape), pick(from.strides), pick(into.strides), (fromOuter, intoOuter) => {
    const [first, place] = [(from.at + fromOuter) * scale, (into.at + intoOuter) * scale];
    for (let c = 0; c < shape[column]; c += tile) {
      const count = Math.min(tile, shape[column] - c);
      copy(source, first + c * source.step, target, place + c * target.step, length, rows, count);
    }
  });
}

/** Returns the axis with the smallest step among the first `axes` axes; axes of size 1 are ignored. */
function closestAxis({ strides }: Strided, shape: readonly number[], axes: number): number {
  let closest = axes - 1;
  for (let axis = axes - 1; axis >= 0; axis--) {
    if (shape[axis] > 1 && (shape[closest] === 1 || strides[axis] < strides[closest]))
      closest = axis;
  }
  return closest;
}

/**
 * Returns true if an axis extends the contiguous run: its elements are `run` apart, or its size is 1. If axes of size 1
 * extend the run, copying a box of shape [200000, 1, 2] from [200000, 3, 5] takes 8 ns per row instead of 90 ns.
 */
const isNext = (
  axis: number,
  run: number,
  shape: readonly number[],
  { strides }: Strided,
): boolean => shape[axis] === 1 || strides[axis] === run;

/**
 * Visits the elements of an array in row-major order, with each element's distance from the first element in both
 * memories.
 */
function walk(
  shape: readonly number[],
  a: readonly number[],
  b: readonly number[],
  visit: (a: number, b: number) => void,
): void {
  const at = shape.map(() => 0);
  let [atA, atB] = [0, 0];
  for (;;) {
    visit(atA, atB);
    let axis = shape.length - 1;
    for (; axis >= 0 && ++at[axis] === shape[axis]; axis--) {
      at[axis] = 0;
      atA -= (shape[axis] - 1) * a[axis];
      atB -= (shape[axis] - 1) * b[axis];
    }
    if (axis < 0) return;
    atA += a[axis];
    atB += b[axis];
  }
}

type Words = Uint8Array | Uint16Array | Uint32Array;

/** Memory, with the step from each row to the next, and from each contiguous run of a row to the next, in words. */
interface Rows {
  readonly words: Words;
  readonly row: number;
  readonly step: number;
}

/** Copies `rows` rows of `count` contiguous runs of `run` words each. */
function copyWords(
  { words: from, row: fromRow, step: fromStep }: Rows,
  fromAt: number,
  { words: into, row: intoRow, step: intoStep }: Rows,
  intoAt: number,
  run: number,
  rows: number,
  count: number,
): void {
  for (let r = 0; r < rows; r++) {
    let at = fromAt + r * fromRow;
    let to = intoAt + r * intoRow;
    if (run === 1) {
      // For a single word, the inner loop would take longer than the copy itself.
      for (let i = 0; i < count; i++, at += fromStep, to += intoStep) into[to] = from[at];
      continue;
    }
    for (let i = 0; i < count; i++, at += fromStep, to += intoStep) {
      for (let word = 0; word < run; word++) into[to + word] = from[at + word];
    }
  }
}

/** Copies long runs like `copyWords`. */
const copyLong: typeof copyWords = (from, fromAt, into, intoAt, run, rows, count) => {
  for (let r = 0; r < rows; r++) {
    for (let i = 0; i < count; i++) {
      const first = fromAt + r * from.row + i * from.step;
      into.words.set(
        from.words.subarray(first, first + run),
        intoAt + r * into.row + i * into.step,
      );
    }
  }
};

/** Returns the largest word size (1, 2 or 4 bytes) that divides the element width and both addresses. */
function wordOf(from: number, into: number, width: number): 1 | 2 | 4 {
  const bits = from | into | width;
  return bits % 4 === 0 ? 4 : bits % 2 === 0 ? 2 : 1;
}

/** Views `bytes` as words, without trailing bytes that do not fill a word. */
function wordsOf(bytes: Uint8Array, word: 1 | 2 | 4): Words {
  const { buffer, byteOffset, length } = bytes;
  if (word === 1) return bytes;
  return word === 2
    ? new Uint16Array(buffer, byteOffset, Math.floor(length / 2))
    : new Uint32Array(buffer, byteOffset, Math.floor(length / 4));
}

/** Fills `bytes` with copies of `element`; the length of `bytes` must be a multiple of the length of `element`. */
export function fillBytes(bytes: Uint8Array, element: Uint8Array): void {
  if (element.every((byte) => byte === element[0])) {
    bytes.fill(element[0]);
    return;
  }
  if (bytes.length === 0) return;
  bytes.set(element);
  for (let done = element.length; done < bytes.length; done *= 2) {
    bytes.copyWithin(done, 0, Math.min(done, bytes.length - done));
  }
}

export function fillBox(into: Place, shape: readonly number[], element: Uint8Array): void {
  if (shape.includes(0)) return;
  const run = new Uint8Array(element.length * (shape.at(-1) ?? 1));
  fillBytes(run, element);
  // Every row is a copy of the same elements.
  const strides = shape.map((_, axis) => (axis === shape.length - 1 ? 1 : 0));
  copyStrided({ bytes: run, at: 0, strides }, stridedOf(into), shape, element.length);
}

export function isFilled(bytes: Uint8Array, element: Uint8Array): boolean {
  const width = element.length;
  for (let i = 0; i < width; i++) if (bytes[i] !== element[i]) return false;
  const word = wordOf(bytes.byteOffset, 0, width);
  const words = wordsOf(bytes, word);
  const step = width / word;
  for (let i = step; i < words.length; i++) if (words[i] !== words[i - step]) return false;
  return true;
}
