/**
 * Runs the stage `apply`, in which each task processes one data chunk or several small chunks. A scatter applies all
 * updates to the chunks, and a gather writes the slices that each block requests (`gather-chunks.ts`).
 */

import { CHUNKED } from "../../../core/limits.ts";
import { product } from "../../../core/tensor/shape.ts";
import { checkRows, chunkTasksOf, readData, renumber, type ChunkTask } from "./chunk-task.ts";
import { chunksOfTask, needsOf, ROWS, type JobContext } from "./context.ts";
import type { Fragment } from "./fragment-layout.ts";
import { inGroups, readColumn, readSlices } from "./fragments.ts";
import { gatherChunks } from "./gather-chunks.ts";
import { Combiner, elementsOf } from "./move.ts";
import {
  isPublished,
  publish,
  stateOfChunk,
  type StageChunk,
  type StagedChunk,
} from "./publish.ts";
import type { Workspace } from "./workspace.ts";

/**
 * `allowance` is the maximum number of update bytes in memory at once, in addition to the chunks. `check` is called
 * after all reads, and throws if the job has lost its folder or if an input has changed.
 */
export async function applyTask(
  job: JobContext,
  task: number,
  memory: Workspace,
  allowance: number,
  check: () => Promise<void>,
): Promise<void> {
  if (!job.isGather && (await isPublished(job, task))) return;
  const numbers = chunksOfTask(job, task);
  const ahead = numbers.length === 1 ? 0 : Math.min(CHUNKED.ahead, spareOf(job, allowance));
  const chunks = await chunkTasksOf(job, numbers, ahead);
  if (job.isGather) return gatherChunks(job, task, chunks, memory, check);
  const lanes = Math.min(CHUNKED.reads, chunks.length);
  const stage: StageChunk = (_, i, name) =>
    applyChunk(job, chunks[i], memory.lane(i % lanes), (allowance - ahead) / lanes, name);
  await publish(job, task, stage, check);
}

/** Returns the number of bytes for reading ahead from all blocks together. */
function spareOf(job: JobContext, allowance: number): number {
  // A scatter also needs memory for a copy of the updates that were read ahead.
  if (!job.isGather) return allowance / 2;
  return Math.max(0, allowance - product(job.spec.blockShape) * needsOf(job).sizes.entry);
}

/** Stages a chunk with its updates applied. The function has the result of `StageChunk`. */
async function applyChunk(
  job: JobContext,
  task: ChunkTask,
  memory: Workspace,
  allowance: number,
  name: string,
): Promise<StagedChunk | null> {
  if (task.entries === 0) {
    const size = await passOn(job, task, memory, name);
    return size === null ? null : { state: "", size };
  }
  const state = job.spec.inPlace ? await stateOfChunk(job, task.chunk) : "";
  const { bytes: data } = await readData(job, task, memory);
  const { data: array, resolved } = job;
  const { settings, fields } = resolved.call;
  const elements = elementsOf(array.dtype, data);
  const combiner = new Combiner(
    memory.executor,
    array.dtype,
    elements,
    task.slice,
    settings,
    fields,
  );
  for (const batch of batchesOf(job, task, allowance)) {
    await applyBatch(job, task, batch, combiner, memory);
  }
  combiner.end();
  return { state, size: await job.out.stageChunk(task.at, data, name) };
}

/**
 * Copies a chunk without updates to a new array, or does nothing for a change in place. Returns the size of the staged
 * chunk, or null if nothing is staged.
 */
async function passOn(
  job: JobContext,
  task: ChunkTask,
  memory: Workspace,
  name: string,
): Promise<number | null> {
  const { data, out, spec } = job;
  if (spec.inPlace) return null;
  // If the copy is missing, publishing it reports the error.
  if (await out.stageCopy(data, task.at, name)) return (await out.stagedSize(task.at, name)) ?? 0;
  const { bytes, isStored } = await readData(job, task, memory);
  // Every element of a chunk that is not stored has the fill value. If the new array has the same format, this chunk
  // need not be stored.
  if (!isStored && out.location.format === data.location.format) return null;
  return out.stageChunk(task.at, bytes, name);
}

/** The entries of a fragment that belong to a batch. */
interface Part {
  readonly fragment: Fragment;
  readonly from: number;
  readonly count: number;
}

/** Divides the entries of all fragments into ordered batches of limited size, usually a single batch. */
function* batchesOf(
  job: JobContext,
  { fragmentOf, countOf }: ChunkTask,
  allowance: number,
): Generator<Part[]> {
  const most = Math.max(1, Math.floor(allowance / needsOf(job).sizes.entry));
  let batch: Part[] = [];
  let filled = 0;
  for (let block = 0; block < job.blocks.size; block++) {
    if (countOf(block) === 0) continue;
    const fragment = fragmentOf(block);
    for (let from = 0; from < fragment.count;) {
      const count = Math.min(fragment.count - from, most - filled);
      batch.push({ fragment, from, count });
      from += count;
      filled += count;
      if (filled < most) continue;
      yield batch;
      batch = [];
      filled = 0;
    }
  }
  if (batch.length > 0) yield batch;
}

async function applyBatch(
  job: JobContext,
  task: ChunkTask,
  batch: readonly Part[],
  combiner: Combiner,
  memory: Workspace,
): Promise<void> {
  const { shuffle, pieceBytes } = job;
  const { piece } = task;
  const count = batch.reduce((sum, one) => sum + one.count, 0);
  const rows = memory.words("rows", count);
  const updates = memory.bytes("updates", count * pieceBytes[piece]);
  let at = 0;
  const places = batch.map((one) => (at += one.count) - one.count);
  await inGroups([...batch.keys()], async (i) => {
    const { fragment, from, count: own } = batch[i];
    const place = places[i];
    await readColumn(fragment, shuffle, ROWS, from, rows.subarray(place, place + own));
    const bytes = updates.subarray(place * pieceBytes[piece], (place + own) * pieceBytes[piece]);
    await readSlices(fragment, shuffle, piece, from, bytes);
  });
  checkRows(rows, job, task);
  renumber(rows, job, task.box);
  combiner.add(rows, elementsOf(job.data.dtype, updates));
}
