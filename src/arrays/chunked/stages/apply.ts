/**
 * A stage after partition: one chunk of data, or several small ones. A scatter applies the updates that all blocks have for
 * them and writes the chunks; a gather writes the slices that all blocks want of its chunks.
 */

import { isUrl } from "../../boxes/file.ts";
import type { Box } from "../../boxes/grid.ts";
import { malformed } from "../../../core/errors.ts";
import { CHUNKED } from "../../../core/limits.ts";
import { part, product, sameShape, stridesOf } from "../../../core/tensor/shape.ts";
import { chunksOfTask, fileOf, needsOf, ROWS, splitShape, type JobContext } from "./context.ts";
import {
  findFragments,
  inGroups,
  readColumn,
  readSlices,
  writeFragments,
  type Fragment,
} from "./fragments.ts";
import { Combiner, elementsOf, gatherSlices, toOffsets } from "./move.ts";
import { isPublished, publish, stateOfChunk, type StageChunk } from "./publish.ts";
import type { Workspace } from "./workspace.ts";

/** A chunk of data, and what the blocks have for it. */
interface ChunkTask {
  readonly chunk: number;
  readonly at: readonly number[];
  readonly box: Box;
  readonly piece: number;
  /** Elements of its part of a slice. */
  readonly slice: number;
  /** In the order of the blocks. */
  readonly fragments: readonly Fragment[];
  readonly entries: number;
}

/**
 * @param allowance how many bytes of updates may be in memory at once, beside the chunks
 * @param check is called when all is read; throws if the job has lost its folder, or an input has changed
 */
export async function applyTask(
  job: JobContext,
  task: number,
  memory: Workspace,
  allowance: number,
  check: () => Promise<void>,
): Promise<void> {
  if (!job.isGather && (await isPublished(job, task))) return;
  const chunks = await chunkTasksOf(job, chunksOfTask(job, task));
  if (job.isGather) return gatherChunks(job, task, chunks, memory, check);
  const lanes = Math.min(CHUNKED.reads, chunks.length);
  const stage: StageChunk = (_, i, name) =>
    applyChunk(job, chunks[i], memory.lane(i % lanes), allowance / lanes, name);
  await publish(job, task, stage, check);
}

/** Stages a chunk with its updates. Returns what {@link StageChunk} does. */
async function applyChunk(
  job: JobContext,
  task: ChunkTask,
  memory: Workspace,
  allowance: number,
  name: string,
): Promise<string | null> {
  if (task.entries === 0) return (await passOn(job, task, memory, name)) ? "" : null;
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
  for (const batch of batchesOf(task, needsOf(job).sizes.entry, allowance)) {
    await applyBatch(job, task, batch, combiner, memory);
  }
  combiner.end();
  await job.out.stageChunk(task.at, data, name);
  return state;
}

/** @param numbers of chunks that follow each other */
async function chunkTasksOf(job: JobContext, numbers: readonly number[]): Promise<ChunkTask[]> {
  const { address, blocks, chunks, folder, shuffle } = job;
  const pieces = address.pieces.size;
  const leadOf = (chunk: number): number => Math.floor(chunk / pieces);
  const first = leadOf(numbers[0]);
  const leads = leadOf(numbers[numbers.length - 1]) - first + 1;
  const found = await inGroups([...Array(blocks.size).keys()], (block) =>
    findFragments(fileOf.task(folder, "shuffle", block), shuffle, first, leads),
  );
  return numbers.map((chunk) => {
    const fragments = found.map((block) => block[leadOf(chunk) - first]);
    const box = chunks.box(chunk);
    return {
      chunk,
      at: chunks.at(chunk),
      box,
      piece: chunk % pieces,
      slice: product(splitShape(box.shape, address.addressed).slice),
      fragments: job.isGather ? fragments : fragments.filter(({ count }) => count > 0),
      entries: fragments.reduce((sum, { count }) => sum + count, 0),
    };
  });
}

/** Stages a copy of a chunk that no update reaches, for a new array; in place the chunk stays what it is. */
async function passOn(
  job: JobContext,
  task: ChunkTask,
  memory: Workspace,
  name: string,
): Promise<boolean> {
  const { data, out, spec } = job;
  if (spec.inPlace) return false;
  if (await out.stageCopy(data, task.at, name)) return true;
  const { bytes, isStored } = await readData(job, task, memory);
  // What is not stored is the fill value, in a new array of the same format too.
  if (!isStored && out.location.format === data.location.format) return false;
  await out.stageChunk(task.at, bytes, name);
  return true;
}

async function readData(
  job: JobContext,
  { at, box }: ChunkTask,
  memory: Workspace,
): Promise<{ bytes: Uint8Array; isStored: boolean }> {
  const bytes = memory.bytes("data", product(box.shape) * job.elementBytes);
  return { bytes, isStored: await job.data.readChunk(at, bytes) };
}

/** Entries of one fragment, as a batch takes them. */
interface Part {
  readonly fragment: Fragment;
  readonly from: number;
  readonly count: number;
}

/** The entries of all fragments, in their order, in batches of at most so many bytes; usually one batch. */
function* batchesOf(
  { fragments }: ChunkTask,
  entryBytes: number,
  allowance: number,
): Generator<Part[]> {
  const most = Math.max(1, Math.floor(allowance / entryBytes));
  let batch: Part[] = [];
  let filled = 0;
  for (const fragment of fragments) {
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

/** Writes the slices that the blocks want of a task's chunks, piece by piece and block by block. */
async function gatherChunks(
  job: JobContext,
  task: number,
  chunks: readonly ChunkTask[],
  memory: Workspace,
  check: () => Promise<void>,
): Promise<void> {
  const { blocks, folder, pieceBytes, shuffle } = job;
  const layout = job.gathered(task);
  // Chunks of one piece after those of another, so that what a block wants of a piece is one call.
  const byPiece = layout.pieceBytes.map((_, i, { length }) =>
    chunks.filter((_chunk, at) => at % length === i),
  );
  const [alike] = byPiece;
  const starts = memory.words("starts", blocks.size + 1);
  starts[0] = 0;
  const wanted = Array.from({ length: blocks.size }, (_, block): Fragment => {
    const count = alike.reduce((sum, { fragments }) => sum + fragments[block].count, 0);
    starts[block + 1] = starts[block] + count;
    return { ...alike[0].fragments[block], count };
  });
  const file = fileOf.task(folder, "applied", task);
  const most = wanted.reduce((found, { count }) => Math.max(found, count), 0);
  // Allocated once for the largest fragment: a buffer that grows from fragment to fragment leaves gaps in memory.
  memory.words("rows", most);
  memory.bytes("slices", most * Math.max(...layout.pieceBytes));
  await writeFragments(file, layout, starts, [], check, async (append) => {
    for (const own of byPiece) {
      const { piece, slice } = own[0];
      const { dtype } = job.data;
      const read =
        own.length === 1 ? readWanted(job, own[0], memory) : readTogether(job, own, memory);
      const data = elementsOf(dtype, await read);
      for (const [block, fragment] of wanted.entries()) {
        const rows = memory.words("rows", fragment.count);
        const slices = memory.bytes("slices", fragment.count * pieceBytes[piece]);
        if (slices.length === 0) continue;
        await readColumn(fragment, shuffle, ROWS, 0, rows);
        addressTogether(job, own, block, rows);
        gatherSlices(
          memory.executor,
          dtype,
          toOffsets(rows, slice),
          slice,
          data,
          elementsOf(dtype, slices),
          job.resolved.call.fields,
        );
        await append(slices);
      }
    }
  });
}

/** Reads chunks of one piece into one memory, each to where the rows of the chunks before it would end if all were whole. */
async function readTogether(
  job: JobContext,
  chunks: readonly ChunkTask[],
  memory: Workspace,
): Promise<Uint8Array> {
  const { address, elementBytes, pieceBytes } = job;
  const sizes = chunks.map(({ box }) => product(box.shape) * elementBytes);
  const stride = product(address.leads.chunkShape) * pieceBytes[chunks[0].piece];
  const last = chunks.length - 1;
  const bytes = memory.bytes("data", last * stride + sizes[last]);
  await inGroups(chunks, async ({ at, entries }, i) => {
    if (entries === 0) return;
    await job.data.readChunk(at, bytes.subarray(i * stride, i * stride + sizes[i]));
  });
  return bytes;
}

/** Makes the rows of single chunks, which follow one another, rows of all of them together. */
function addressTogether(
  job: JobContext,
  chunks: readonly ChunkTask[],
  block: number,
  rows: Uint32Array,
): void {
  const whole = product(job.address.leads.chunkShape);
  let from = 0;
  for (const [i, task] of chunks.entries()) {
    const own = rows.subarray(from, (from += task.fragments[block].count));
    checkRows(own, job, task);
    renumber(own, job, task.box);
    if (i > 0) for (let p = 0; p < own.length; p++) own[p] += i * whole;
  }
}

/** The rows that a fragment has of a chunk. */
async function readRows(
  job: JobContext,
  task: ChunkTask,
  fragment: Fragment,
  memory: Workspace,
): Promise<Uint32Array> {
  const rows = memory.words("rows", fragment.count);
  await readColumn(fragment, job.shuffle, ROWS, 0, rows);
  checkRows(rows, job, task);
  renumber(rows, job, task.box);
  return rows;
}

/**
 * The memory of a chunk, filled as far as a gather wants it. Where the wanted rows are few and far apart, and the file
 * has them as memory does, only they are read: the rest of the memory keeps what was there, and nothing addresses it.
 */
async function readWanted(
  job: JobContext,
  task: ChunkTask,
  memory: Workspace,
): Promise<Uint8Array> {
  const { address, data: array, elementBytes } = job;
  const { box, entries, fragments } = task;
  if (entries === 0) return memory.bytes("data", 0);
  const size = product(box.shape) * elementBytes;
  const { gap } = CHUNKED;
  const isInPlace = array.held.read === 0 && !isUrl(array.location.path);
  if (!isInPlace || entries * gap >= size || address.addressed === 0) {
    return (await readData(job, task, memory)).bytes;
  }
  const bytes = memory.bytes("data", size);
  const [length, ...rest] = box.shape;
  // Bytes of a place on the first axis, and how many rows it has.
  const step = size / length;
  const { lead } = splitShape(rest, address.addressed - 1);
  const wanted = new Set<number>();
  for (const fragment of fragments) {
    if (fragment.count === 0) continue;
    const rows = await readRows(job, task, fragment, memory);
    for (const row of rows) wanted.add(Math.floor(row / product(lead)));
  }
  const places = Uint32Array.from(wanted).sort();
  await inGroups(spansOf(places, Math.ceil(gap / step)), async ({ first, count }) => {
    const start = [box.start[0] + first, ...box.start.slice(1)];
    const into = bytes.subarray(first * step, (first + count) * step);
    await array.readBytes(start, [count, ...rest], into);
  });
  return bytes;
}

interface Span {
  readonly first: number;
  readonly count: number;
}

/** Sorted places as spans, of which those closer than `gap` are one. */
function spansOf(places: Uint32Array, gap: number): Span[] {
  const spans: Span[] = [];
  for (let i = 0, first = 0; i < places.length; i++) {
    if (i + 1 < places.length && places[i + 1] - places[i] < gap) continue;
    spans.push({ first: places[first], count: places[i] + 1 - places[first] });
    first = i + 1;
  }
  return spans;
}

/** A row beyond the chunk would be written beyond its memory. Files of a job may have been damaged. */
function checkRows(
  rows: Uint32Array,
  { address, folder }: JobContext,
  { chunk, box }: ChunkTask,
): void {
  const whole = product(address.leads.chunkShape);
  // A chunk that ends early along its first axis has fewer rows; along the others they are not next to each other.
  const limit = address.addressed === 0 ? 1 : (whole / address.leads.chunkShape[0]) * box.shape[0];
  let most = 0;
  for (let p = 0; p < rows.length; p++) if (rows[p] > most) most = rows[p];
  if (rows.length === 0 || most < limit) return;
  throw malformed(`${folder} has row ${most} for chunk ${chunk}, which has ${limit}`);
}

/** Rows are counted in whole chunks. In a chunk that ends early along an axis behind the first they are fewer. */
function renumber(rows: Uint32Array, { address, data }: JobContext, box: Box): void {
  const whole = part(data.chunkShape, 0, address.addressed);
  const { lead } = splitShape(box.shape, address.addressed);
  if (sameShape(whole.slice(1), lead.slice(1))) return;
  const from = stridesOf(whole);
  const to = stridesOf(lead);
  for (let p = 0; p < rows.length; p++) {
    let rest = rows[p];
    let row = 0;
    for (let d = 0; d < from.length; d++) {
      const coordinate = Math.floor(rest / from[d]);
      rest -= coordinate * from[d];
      row += coordinate * to[d];
    }
    rows[p] = row;
  }
}
