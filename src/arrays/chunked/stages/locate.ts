/**
 * Finds the chunk and the row of every position in a block, and checks every index. The loops resemble those in
 * `kernels/read-indices.ts`, but compute two numbers per index instead of one offset.
 */

import { type Box, contiguousChunks, Grid } from "../../boxes/grid.ts";
import {
  indexAt,
  type IndexWords,
  indexError,
  readOffsets,
  indexWordsOf,
  type IndexRules,
  type ReadIndices,
} from "../../../core/plan/indices.ts";
import { product, stridesOf } from "../../../core/tensor/shape.ts";
import type { Address, AxisSteps } from "./address.ts";
import { rulesOf } from "../../../core/call/check.ts";
import type { ChunkedArray } from "../../boxes/array.ts";
import { isTensorError, type ErrorOf, type TensorError } from "../../../core/errors.ts";
import { readIndices } from "../../../core/kernels/read-indices.ts";
import { CHUNKED } from "../../../core/limits.ts";
import type { Tensor } from "../../../core/tensor/tensor.ts";
import type { ResolvedCall } from "../job/request.ts";

/** The lead of a position without a target. */
export const NOWHERE = 0xffffffff;

export interface LocateRules {
  /** True if -1 addresses the last element of an axis. */
  readonly negative: boolean;
  /** The rule for an index outside its axis; `skip` assigns the lead `NOWHERE`. */
  readonly bounds: "error" | "clip" | "skip";
}

/** The arrays for a block's results, with one result per position. */
export interface Located {
  readonly leads: Uint32Array;
  readonly rows: Uint32Array;
}

/**
 * Fills `located` for a box of positions. `words` contains the block's indices, whose coordinates are `indexBox`.
 * Returns the position in `words` of the first rejected index, or -1.
 */
export function locate(
  address: Address,
  box: Box,
  { words, step }: IndexWords,
  rules: LocateRules,
  located: Located,
): number {
  const { own, tuple } = address;
  const rank = own.length;
  const count = product(box.shape);
  const strides = wordStrides(address, box, tuple.length);
  const last = rank - 1;
  const run = rank === 0 ? 1 : box.shape[last];
  const lastWord = rank === 0 ? 0 : strides[last];
  const lastOwn = rank === 0 ? null : own[last];
  const lastStart = rank === 0 ? 0 : box.start[last];
  const coordinates = box.start.slice();
  const readRun = tuple.length === 1 ? readSingles : readTuples;
  for (let p = 0; p < count; p += run) {
    let lead = 0;
    let row = 0;
    let word = 0;
    for (let d = 0; d < last; d++) {
      const at = coordinates[d];
      word += (at - box.start[d]) * strides[d];
      const steps = own[d];
      if (steps === null) continue;
      const chunk = Math.floor(at / steps.chunk);
      lead += chunk * steps.leadStride;
      row += (at - chunk * steps.chunk) * steps.rowStride;
    }
    const begin = { p, run, lead, row, word, lastWord, lastOwn, lastStart };
    const bad = readRun(begin, tuple, words, step, rules, located);
    if (bad !== -1) return bad;
    for (let d = last - 1; d >= 0; d--) {
      if (++coordinates[d] < box.start[d] + box.shape[d]) break;
      coordinates[d] = box.start[d];
    }
  }
  return -1;
}

/** Returns the distance in `words` between the indices of neighboring positions, along each axis of positions. */
function wordStrides({ indexAxes, own }: Address, { shape }: Box, k: number): number[] {
  const strides = own.map(() => 0);
  const inner = stridesOf(indexAxes.map((d) => shape[d]));
  for (const [i, d] of indexAxes.entries()) strides[d] = inner[i] * k;
  return strides;
}

/** A run of positions along the last axis. The first position is `p`. */
interface RunBegin {
  readonly p: number;
  readonly run: number;
  /** The contributions of all coordinates except the last. */
  readonly lead: number;
  readonly row: number;
  /** The position of the run's first index in `words`, and the distance to the next position's index. */
  readonly word: number;
  readonly lastWord: number;
  /** The steps of the last axis, and the first coordinate on this axis. */
  readonly lastOwn: AxisSteps | null;
  readonly lastStart: number;
}

/** Handles positions with one index each, which is the most common case. */
function readSingles(
  { p, run, lead, row, word, lastWord, lastOwn, lastStart }: RunBegin,
  [{ dim, chunk, leadStride, rowStride }]: readonly AxisSteps[],
  words: Int32Array,
  step: 1 | 2,
  { negative, bounds }: LocateRules,
  { leads, rows }: Located,
): number {
  const wrap = negative ? dim : 0;
  for (let i = 0, at = word; i < run; i++, at += lastWord) {
    const given = indexAt(words, at * step, step);
    let index = given < 0 ? given + wrap : given;
    if (!(index >= 0 && index < dim)) {
      if (isRefused(given, dim, negative, bounds)) return at;
      if (bounds === "skip") {
        leads[p + i] = NOWHERE;
        continue;
      }
      index = index < 0 ? 0 : dim - 1;
    }
    const place = Math.floor(index / chunk);
    let ownLead = lead + place * leadStride;
    let ownRow = row + (index - place * chunk) * rowStride;
    if (lastOwn !== null) {
      const own = Math.floor((lastStart + i) / lastOwn.chunk);
      ownLead += own * lastOwn.leadStride;
      ownRow += (lastStart + i - own * lastOwn.chunk) * lastOwn.rowStride;
    }
    leads[p + i] = ownLead;
    rows[p + i] = ownRow;
  }
  return -1;
}

/** Handles positions with index tuples of any length. */
function readTuples(
  { p, run, lead, row, word, lastWord, lastOwn, lastStart }: RunBegin,
  tuple: readonly AxisSteps[],
  words: Int32Array,
  step: 1 | 2,
  { negative, bounds }: LocateRules,
  { leads, rows }: Located,
): number {
  for (let i = 0, first = word; i < run; i++, first += lastWord) {
    let ownLead = lead;
    let ownRow = row;
    let isOutside = false;
    for (let j = 0; j < tuple.length; j++) {
      const { dim, chunk, leadStride, rowStride } = tuple[j];
      const given = indexAt(words, (first + j) * step, step);
      let index = given < 0 && negative ? given + dim : given;
      if (!(index >= 0 && index < dim)) {
        if (isRefused(given, dim, negative, bounds)) return first + j;
        isOutside ||= bounds === "skip";
        index = index < 0 ? 0 : dim - 1;
      }
      const place = Math.floor(index / chunk);
      ownLead += place * leadStride;
      ownRow += (index - place * chunk) * rowStride;
    }
    if (lastOwn !== null) {
      const own = Math.floor((lastStart + i) / lastOwn.chunk);
      ownLead += own * lastOwn.leadStride;
      ownRow += (lastStart + i - own * lastOwn.chunk) * lastOwn.rowStride;
    }
    leads[p + i] = isOutside ? NOWHERE : ownLead;
    rows[p + i] = ownRow;
  }
  return -1;
}

/**
 * Returns true if an index outside its axis is an error. If negative indices do not wrap, they are always errors, as in
 * `plan/indices.ts`.
 */
const isRefused = (
  given: number,
  dim: number,
  negative: boolean,
  bounds: LocateRules["bounds"],
): boolean => bounds === "error" || (given < 0 && !negative) || (bounds === "clip" && dim === 0);

/** Returns a call's rules for its indices. */
export const indexRules = ({ call }: ResolvedCall): IndexRules => rulesOf(call);

/**
 * Returns the error for the index `bad` in a part of the indices, with coordinates in the whole indices. `origin`
 * contains the first coordinates of the part.
 */
export function badIndex(
  resolved: ResolvedCall,
  data: readonly number[],
  indices: Tensor,
  origin: readonly number[],
  bad: number,
): TensorError {
  const rules: IndexRules = { ...indexRules(resolved), bounds: "error" };
  try {
    check(resolved, data, indices, rules, () => ({ bad }));
  } catch (error) {
    if (!isTensorError(error, "index-out-of-range")) throw error;
    return inWhole(error, origin, data);
  }
  throw new Error("a bad index was taken");
}

/**
 * Checks the indices of a call without targets, which calls in memory also check. Throws an `index-out-of-range` error.
 */
export async function checkUnused(
  resolved: ResolvedCall,
  data: readonly number[],
  indices: ChunkedArray,
): Promise<void> {
  if (product(indices.shape) === 0 || product(resolved.layout.positions) > 0) return;
  const parts = new Grid(indices.shape, contiguousChunks(indices.shape, CHUNKED.indices));
  for (let number = 0; number < parts.size; number++) {
    const { start, shape } = parts.box(number);
    const part = await indices.read(start, shape);
    try {
      check(resolved, data, part, indexRules(resolved), readIndices);
    } catch (error) {
      throw isTensorError(error, "index-out-of-range") ? inWhole(error, start, data) : error;
    }
  }
}

function check(
  { call, layout }: ResolvedCall,
  data: readonly number[],
  indices: Tensor,
  rules: IndexRules,
  read: ReadIndices,
): void {
  const axes = layout.axes.map((axis) => ({
    dim: data[axis],
    wrap: rules.negative ? data[axis] : 0,
    stride: 0,
  }));
  const count = axes.length === 0 ? 0 : indices.size / axes.length;
  const job = { kind: "tuples", ...indexWordsOf(indices), count, axes } as const;
  readOffsets(job, rules, indices, data, layout.axes[0], call.fields, read);
}

/** Returns an error about a part of the indices, with coordinates in the whole indices. */
function inWhole(
  error: ErrorOf<"index-out-of-range">,
  origin: readonly number[],
  data: readonly number[],
): TensorError {
  const at = (error.at ?? []).map((coordinate, d) => origin[d] + coordinate);
  return indexError({ ...error, at }, data);
}
