/**
 * Reads the indices of a box of positions, and sorts the positions by chunk. Updates of the same target are combined
 * before writing, if the result stays bit-identical: a block then stores only the last update, the maximum, the minimum,
 * or the sum or product of integers. Float sums are never combined, because they are rounded after each step. Maxima
 * that return one of their operands are not combined either, because NaNs among the updates would change the result.
 */

import { indexWordsOf } from "../../../core/plan/indices.ts";
import { DTYPES, type DType } from "../../../core/tensor/dtype.ts";
import { product } from "../../../core/tensor/shape.ts";
import { Tensor } from "../../../core/tensor/tensor.ts";
import type { Box } from "../../boxes/grid.ts";
import { indexBox, updateBox } from "./address.ts";
import { badIndex, indexRules, locate, type LocateRules, NOWHERE } from "./locate.ts";
import type { JobContext } from "./context.ts";
import { Combiner, elementsOf, gatherSlices, toOffsets } from "./move.ts";
import type { Workspace } from "./workspace.ts";
import { stepOf, type Reducing } from "../../../core/call/steps.ts";
import { CHUNKED } from "../../../core/limits.ts";

/** The positions with a target, sorted by lead, and among equal leads by position. */
export interface SortedEntries {
  /** The first entry of each lead, and the number of entries. */
  readonly starts: Uint32Array;
  /** The position of each entry in the box, and its row. */
  readonly positions: Uint32Array;
  readonly rows: Uint32Array;
}

/**
 * Finds the chunk and the row of each position in a box. `reading` is the maximum memory for reading, in bytes, in
 * addition to one chunk. Throws an `index-out-of-range` error for the first bad index.
 */
export async function sortEntries(
  job: Pick<JobContext, "address" | "data" | "indices" | "resolved">,
  box: Box,
  memory: Workspace,
  reading: number,
): Promise<SortedEntries> {
  const { address } = job;
  const count = product(box.shape);
  const leads = memory.words("leads", count);
  const rows = memory.words("rows", count);
  await locateBox(job, box, { leads, rows }, memory, reading);
  const starts = memory.words("starts", address.leads.size + 1);
  const order = memory.words("order", count);
  const positions = order.subarray(0, sortByKey(leads, address.leads.size, starts, order));
  // The leads are no longer needed, so their memory is reused.
  const sorted = leads.subarray(0, positions.length);
  for (let p = 0; p < positions.length; p++) sorted[p] = rows[positions[p]];
  return { starts, positions, rows: sorted };
}

async function locateBox(
  job: Pick<JobContext, "address" | "data" | "indices" | "resolved">,
  box: Box,
  located: { leads: Uint32Array; rows: Uint32Array },
  memory: Workspace,
  reading: number,
): Promise<void> {
  const { address, indices } = job;
  const { start, shape } = indexBox(address, box, indices.shape.length);
  const size = product(shape);
  const bytes = memory.bytes("indices", size * DTYPES[indices.dtype].bytes);
  await indices.readBytes(start, shape, bytes, indices.held.read + reading);
  const tensor = new Tensor(indices.dtype, [...shape], size, elementsOf(indices.dtype, bytes));
  const bad = locate(address, box, indexWordsOf(tensor), locateRules(job), located);
  if (bad !== -1) throw badIndex(job.resolved, job.data.shape, tensor, start, bad);
}

function locateRules(job: Pick<JobContext, "resolved">): LocateRules {
  const { negative, bounds } = indexRules(job.resolved);
  return { negative, bounds: bounds === "drop" || bounds === "fill" ? "skip" : bounds };
}

/** Combines updates of the same target, if this does not change the result. */
export function combined(
  { address, data, isGather, refusesRepeats, resolved }: JobContext,
  { rows, starts, positions }: SortedEntries,
): KeptEntries {
  const { settings } = resolved.call;
  const all = { rows, starts, positions, later: null };
  if (isGather || refusesRepeats || !isAssociative(data.dtype, settings)) return all;
  const chunkRows = product(address.leads.chunkShape);
  const keepsLast = settings.reduction === "none";
  return combineEntries(rows, starts, positions, chunkRows, keepsLast) ?? all;
}

/** The entries whose updates are kept. */
export type KeptEntries = Omit<CombinedEntries, "later"> & {
  readonly later: CombinedEntries["later"] | null;
};

/** Reads a piece of the updates of a box of positions. */
export async function readUpdates(
  job: JobContext,
  box: Box,
  piece: number,
  memory: Workspace,
  reading: number,
): Promise<Uint8Array> {
  const { address, updates, pieceBytes } = job;
  const bytes = memory.bytes("updates", product(box.shape) * pieceBytes[piece]);
  if (updates === undefined || bytes.length === 0) return bytes;
  const { start, shape } = updateBox(box, address.pieces.box(piece), updates.shape.length);
  await updates.readBytes(start, shape, bytes, updates.held.read + reading);
  return bytes;
}

/** Sorts the updates of a piece by chunk, and combines updates of the same target if this is exact. */
export function permute(
  { data: { dtype }, elementBytes, pieceBytes, resolved }: JobContext,
  updates: Uint8Array,
  { positions, later }: KeptEntries,
  piece: number,
  memory: Workspace,
): Uint8Array {
  const slice = pieceBytes[piece] / elementBytes;
  const sorted = memory.bytes("sorted", positions.length * pieceBytes[piece]);
  if (sorted.length === 0) return sorted;
  const offsets = memory.words("offsets", positions.length);
  offsets.set(positions);
  gatherSlices(
    memory.executor,
    dtype,
    toOffsets(offsets, slice),
    slice,
    elementsOf(dtype, updates),
    elementsOf(dtype, sorted),
    resolved.call.fields,
  );
  if (later !== null && later.entries.length > 0) {
    const { settings, fields } = resolved.call;
    const combiner = new Combiner(
      memory.executor,
      dtype,
      elementsOf(dtype, sorted),
      slice,
      settings,
      fields,
    );
    combiner.combine(later.entries.slice(), elementsOf(dtype, updates), later.positions);
  }
  return sorted;
}

/**
 * Sorts positions by key with a stable counting sort. All keys are less than `count`, except for `NOWHERE`, whose
 * positions are omitted. `starts` has length count + 1, and receives the first entry in `order` for each key. `order`
 * receives the sorted positions. Returns the number of positions in `order`.
 */
export function sortByKey(
  keys: Uint32Array,
  count: number,
  starts: Uint32Array,
  order: Uint32Array,
): number {
  starts.fill(0);
  for (let p = 0; p < keys.length; p++) {
    const key = keys[p];
    if (key !== NOWHERE) starts[key + 1]++;
  }
  for (let key = 0; key < count; key++) starts[key + 1] += starts[key];
  const total = starts[count];
  // Placing positions has advanced each start to the next key's start, so all starts are shifted back by one.
  for (let p = 0; p < keys.length; p++) {
    const key = keys[p];
    if (key !== NOWHERE) order[starts[key]++] = p;
  }
  starts.copyWithin(1, 0, count);
  starts[0] = 0;
  return total;
}

/** The entries of a block with distinct targets, and the later updates of the same targets. */
export interface CombinedEntries {
  readonly rows: Uint32Array;
  /** The first entry of each fragment. */
  readonly starts: Uint32Array;
  /** The positions in the block whose updates are kept. */
  readonly positions: Uint32Array;
  /** The positions of later updates in order, and the entries with which these updates are combined. */
  readonly later: { readonly entries: Uint32Array; readonly positions: Uint32Array };
}

/** Returns true if updates may be grouped arbitrarily as long as their order is kept. */
export function isAssociative(dtype: DType, reducing: Reducing): boolean {
  const { reduction } = reducing;
  if (reduction === "none") return true;
  if (reduction === "max" || reduction === "min") return stepOf(reducing, dtype) === reduction;
  const { family } = DTYPES[dtype];
  return (reduction === "add" || reduction === "mul") && (family === "int" || family === "int64");
}

/**
 * `rows` contains the row of each entry, by fragment and then in the order of the updates. `chunkRows` is the number of
 * rows in a chunk. Returns null if combining is not worthwhile.
 */
export function combineEntries(
  rows: Uint32Array,
  starts: Uint32Array,
  positions: Uint32Array,
  chunkRows: number,
  keepsLast: boolean,
): CombinedEntries | null {
  if (chunkRows > CHUNKED.rows) return null;
  /** One number per row: the number of the row's entry plus one, or 0 without an entry. */
  const entryOf = new Uint32Array(chunkRows);
  const kept = { rows: new Uint32Array(rows.length), positions: new Uint32Array(rows.length) };
  const later = { entries: new Uint32Array(rows.length), positions: new Uint32Array(rows.length) };
  const keptStarts = new Uint32Array(starts.length);
  let count = 0;
  let repeated = 0;
  for (let fragment = 0; fragment + 1 < starts.length; fragment++) {
    const end = starts[fragment + 1];
    for (let p = starts[fragment]; p < end; p++) {
      const row = rows[p];
      const entry = entryOf[row];
      if (entry === 0) {
        kept.rows[count] = row;
        kept.positions[count] = positions[p];
        entryOf[row] = ++count;
      } else {
        if (keepsLast) kept.positions[entry - 1] = positions[p];
        later.entries[repeated] = entry - 1;
        later.positions[repeated++] = positions[p];
      }
    }
    for (let p = starts[fragment]; p < end; p++) entryOf[rows[p]] = 0;
    keptStarts[fragment + 1] = count;
  }
  if (repeated * CHUNKED.share < rows.length || repeated === 0) return null;
  const combined = keepsLast ? 0 : repeated;
  return {
    rows: kept.rows.subarray(0, count),
    starts: keptStarts,
    positions: kept.positions.subarray(0, count),
    later: {
      entries: later.entries.subarray(0, combined),
      positions: later.positions.subarray(0, combined),
    },
  };
}
