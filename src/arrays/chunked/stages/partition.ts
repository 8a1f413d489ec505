/**
 * Runs the first stage, `partition`, in which each task reads and checks the indices of one block. Each task finds the
 * chunk of every position, and writes rows and updates sorted by chunk.
 */

import { indexWordsOf } from "../../../core/plan/indices.ts";
import { DTYPES } from "../../../core/tensor/dtype.ts";
import { product } from "../../../core/tensor/shape.ts";
import { Tensor } from "../../../core/tensor/tensor.ts";
import type { Box } from "../../boxes/grid.ts";
import { indexBox } from "./address.ts";
import { badIndex, indexRules } from "./check-indices.ts";
import { fileOf, type JobContext } from "./context.ts";
import { writeFragments } from "./fragments.ts";
import { locate, type LocateRules } from "./locate.ts";
import { combineEntries, isAssociative, type CombinedEntries } from "./combine-early.ts";
import { Combiner, elementsOf, gatherSlices, toOffsets } from "./move.ts";
import { sortByKey } from "./sort.ts";
import type { Workspace } from "./workspace.ts";

/**
 * `reading` is the maximum memory for reading, in bytes, in addition to one chunk. `check` is called after all reads,
 * and throws if the job has lost its folder or if an input has changed. Throws an `index-out-of-range` error for the
 * block's first bad index, with coordinates in the whole indices.
 */
export async function partition(
  job: JobContext,
  block: number,
  memory: Workspace,
  reading: number,
  check: () => Promise<void>,
): Promise<void> {
  const box = job.blocks.box(block);
  const pending =
    job.updates === undefined ? undefined : readUpdates(job, box, 0, memory, reading / 2);
  // The code that writes the updates handles rejections of this promise.
  const settled = pending?.catch(() => {});
  try {
    await sortBlock(job, block, memory, reading, check, pending);
  } finally {
    // After an error, the pending read must also end, because the next task receives the same memory.
    await settled;
  }
}

/** `pending` is the first piece of the block's updates, which is read concurrently. */
async function sortBlock(
  job: JobContext,
  block: number,
  memory: Workspace,
  reading: number,
  check: () => Promise<void>,
  pending: Promise<Uint8Array> | undefined,
): Promise<void> {
  const { address, folder, shuffle } = job;
  const box = job.blocks.box(block);
  const count = product(box.shape);
  const leads = memory.words("leads", count);
  const rows = memory.words("rows", count);
  await locateBlock(job, box, { leads, rows }, memory, reading / 2);
  const starts = memory.words("starts", address.leads.size + 1);
  const order = memory.words("order", count);
  const kept = sortByKey(leads, address.leads.size, starts, order);
  const positions = order.subarray(0, kept);
  // The leads are no longer needed, so their memory is reused.
  const sorted = leads.subarray(0, kept);
  for (let p = 0; p < kept; p++) sorted[p] = rows[positions[p]];
  const early = combined(job, sorted, starts, positions);
  const entries = early ?? { rows: sorted, starts, positions, later: null };
  const columns = shuffle.columns === 2 ? [sorted, positions] : [entries.rows];
  const file = fileOf.task(folder, "shuffle", block);
  await writeFragments(file, shuffle, entries.starts, columns, check, async (write) => {
    for (let piece = 0; piece < job.pieceBytes.length; piece++) {
      if (pending === undefined) return;
      const updates = await (piece === 0 ? pending : readUpdates(job, box, piece, memory, reading));
      await write(permute(job, updates, entries, piece, memory), piece, 0);
    }
  });
}

/** Combines updates of the same target, or returns null if nothing is combined. */
function combined(
  { address, data, isGather, refusesRepeats, resolved }: JobContext,
  rows: Uint32Array,
  starts: Uint32Array,
  positions: Uint32Array,
): CombinedEntries | null {
  const { settings } = resolved.call;
  if (isGather || refusesRepeats || !isAssociative(data.dtype, settings)) return null;
  const chunkRows = product(address.leads.chunkShape);
  return combineEntries(rows, starts, positions, chunkRows, settings.reduction === "none");
}

/**
 * Finds the chunk and the row of each position in a box of positions. Throws an `index-out-of-range` error for the
 * first bad index.
 */
export async function locateBlock(
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

/** Reads a piece of a block's updates. */
async function readUpdates(
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
function permute(
  { data: { dtype }, elementBytes, pieceBytes, resolved }: JobContext,
  updates: Uint8Array,
  {
    positions,
    later,
  }: Pick<CombinedEntries, "positions"> & { later: CombinedEntries["later"] | null },
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
