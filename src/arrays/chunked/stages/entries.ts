/** Reads the indices of a box of positions, and sorts the positions by chunk. */

import { indexWordsOf } from "../../../core/plan/indices.ts";
import { DTYPES } from "../../../core/tensor/dtype.ts";
import { product } from "../../../core/tensor/shape.ts";
import { Tensor } from "../../../core/tensor/tensor.ts";
import type { Box } from "../../boxes/grid.ts";
import { indexBox } from "./address.ts";
import { badIndex, indexRules } from "./check-indices.ts";
import { combineEntries, isAssociative, type CombinedEntries } from "./combine-early.ts";
import type { JobContext } from "./context.ts";
import { locate, type LocateRules } from "./locate.ts";
import { Combiner, elementsOf, gatherSlices, toOffsets } from "./move.ts";
import { sortByKey } from "./sort.ts";
import type { Workspace } from "./workspace.ts";

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
  const hasTuples = indices.shape.length > address.indexAxes.length;
  const { start, shape } = indexBox(address, box, hasTuples ? address.tuple.length : null);
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
  const slice = address.pieces.box(piece);
  const start = [...box.start, ...slice.start];
  const shape = [...box.shape, ...slice.shape];
  // Some operator versions accept a single element of any rank for scalar updates.
  const isOther = start.length !== updates.shape.length;
  const ones = updates.shape.map(() => 1);
  const [from, own] = isOther ? [ones.map(() => 0), ones] : [start, shape];
  await updates.readBytes(from, own, bytes, updates.held.read + reading);
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
