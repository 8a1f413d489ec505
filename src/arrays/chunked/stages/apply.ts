/**
 * Runs the stage `apply`, in which each task processes one data chunk or several small chunks. A scatter applies all
 * updates to the chunks, and a gather writes the slices that each block requests (`gather-chunks.ts`).
 */

import { CHUNKED } from "../../../core/limits.ts";
import { product } from "../../../core/tensor/shape.ts";
import {
  checkRows,
  chunkPartOf,
  chunkTasksOf,
  fragmentsOf,
  leadOf,
  readData,
  renumber,
  type ChunkPart,
  type ChunkTask,
} from "./chunk-task.ts";
import { chunksOfTask, ROWS, type FewUpdates, type JobContext } from "./context.ts";
import { keptUpdates } from "./partition.ts";
import { inGroups, readEntries } from "./fragments.ts";
import { gatherChunks } from "./gather-chunks.ts";
import { Combiner, elementsOf } from "./move.ts";
import { partsOf, type Part } from "./fragment-layout.ts";
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
  if (job.spec.isFew === true) {
    const few = await keptUpdates(job);
    const chunks = numbers.map((chunk) => {
      const lead = leadOf(job, chunk);
      return chunkPartOf(job, chunk, few.starts[lead + 1] - few.starts[lead]);
    });
    return applyAll(job, task, chunks, memory, check, async (chunk, _, combiner) =>
      applyFew(job, chunk, few, combiner),
    );
  }
  const ahead = numbers.length === 1 ? 0 : Math.min(CHUNKED.ahead, spareOf(job, allowance));
  const chunks = await chunkTasksOf(job, numbers, ahead);
  if (job.isGather) return gatherChunks(job, task, chunks, memory, check);
  const own = (allowance - ahead) / lanesOf(chunks);
  return applyAll(job, task, chunks, memory, check, async (chunk, lane, combiner) => {
    const most = Math.max(1, Math.floor(own / job.needs.sizes.entry));
    for (const batch of partsOf(fragmentsOf(chunk), most)) {
      // Batches share memory, and their order is part of the result.
      await applyBatch(job, chunk, batch, combiner, lane);
    }
  });
}

const lanesOf = ({ length }: readonly ChunkPart[]): number => Math.min(CHUNKED.reads, length);

/** Passes all updates of a chunk to a combiner. */
type ApplyUpdates<T extends ChunkPart> = (
  chunk: T,
  memory: Workspace,
  combiner: Combiner,
) => Promise<void>;

/** Publishes the chunks of a scatter's task with their updates. */
async function applyAll<T extends ChunkPart>(
  job: JobContext,
  task: number,
  chunks: readonly T[],
  memory: Workspace,
  check: () => Promise<void>,
  apply: ApplyUpdates<T>,
): Promise<void> {
  const lanes = lanesOf(chunks);
  const stage: StageChunk = (_, i, name) =>
    applyChunk(job, chunks[i], memory.lane(i % lanes), name, apply);
  await publish(job, task, stage, check);
}

/** Applies the kept updates of a chunk. */
function applyFew(job: JobContext, chunk: ChunkPart, few: FewUpdates, combiner: Combiner): void {
  const lead = leadOf(job, chunk.chunk);
  const [from, to] = [few.starts[lead], few.starts[lead + 1]];
  const rows = few.rows.slice(from, to);
  renumber(rows, job, chunk.box);
  const bytes = job.pieceBytes[chunk.piece];
  const updates = few.pieces[chunk.piece].subarray(from * bytes, to * bytes);
  combiner.add(rows, elementsOf(job.data.dtype, updates));
}

/** Returns the number of bytes for reading ahead from all blocks together. */
function spareOf(job: JobContext, allowance: number): number {
  // A scatter also needs memory for a copy of the updates that were read ahead.
  if (!job.isGather) return allowance / 2;
  return Math.max(0, allowance - product(job.spec.blockShape) * job.needs.sizes.entry);
}

/** Stages a chunk with its updates applied. The function has the result of `StageChunk`. */
async function applyChunk<T extends ChunkPart>(
  job: JobContext,
  task: T,
  memory: Workspace,
  name: string,
  apply: ApplyUpdates<T>,
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
  await apply(task, memory, combiner);
  combiner.end();
  return { state, size: await job.out.stageChunk(task.at, data, name) };
}

/**
 * Copies a chunk without updates to a new array, or does nothing for a change in place. Returns the size of the staged
 * chunk, or null if nothing is staged.
 */
async function passOn(
  job: JobContext,
  task: ChunkPart,
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

async function applyBatch(
  job: JobContext,
  task: ChunkTask,
  batch: readonly Part[],
  combiner: Combiner,
  memory: Workspace,
): Promise<void> {
  const { pieceBytes } = job;
  const { layout, piece } = task;
  const count = batch.reduce((sum, one) => sum + one.count, 0);
  const rows = memory.words("rows", count);
  const updates = memory.bytes("updates", count * pieceBytes[piece]);
  let at = 0;
  const places = batch.map((one) => (at += one.count) - one.count);
  await inGroups([...batch.keys()], async (i) => {
    const { fragment, from, count: own } = batch[i];
    const place = places[i];
    await readEntries([fragment], layout, ROWS, from, rows.subarray(place, place + own));
    const bytes = updates.subarray(place * pieceBytes[piece], (place + own) * pieceBytes[piece]);
    await readEntries([fragment], layout, layout.columns + piece, from, bytes);
  });
  checkRows(rows, job, task);
  renumber(rows, job, task.box);
  combiner.add(rows, elementsOf(job.data.dtype, updates));
}
