/** Runs the stage `apply` of a gather, which writes the slices that blocks request from a task's chunks. */

import { CHUNKED } from "../../../core/limits.ts";
import { DTYPES } from "../../../core/tensor/dtype.ts";
import { product } from "../../../core/tensor/shape.ts";
import type { RowRuns } from "../../boxes/array.ts";
import { checkRows, readData, renumber, type ChunkTask } from "./chunk-task.ts";
import { isReadByRows, isSmall } from "./budget.ts";
import { fileOf } from "./task-files.ts";
import { ROWS, splitShape, type JobContext } from "./context.ts";
import { inGroups, readEntries, writeFragments } from "./fragments.ts";
import { elementsOf, gatherSlices, toOffsets } from "./move.ts";
import type { Workspace } from "./workspace.ts";

/** Writes the requested slices of a task's chunks, sorted by piece and block. */
export async function gatherChunks(
  job: JobContext,
  task: number,
  chunks: readonly ChunkTask[],
  memory: Workspace,
  check: () => Promise<void>,
): Promise<void> {
  const { blocks } = job;
  const layout = job.gathered(task);
  const byPiece = layout.pieceBytes.map((_, i, { length }) =>
    chunks.filter((_chunk, at) => at % length === i),
  );
  const [alike] = byPiece;
  const starts = memory.words("starts", blocks.size + 1);
  starts[0] = 0;
  let most = 0;
  for (let block = 0; block < blocks.size; block++) {
    const count = countOf(alike, block);
    starts[block + 1] = starts[block] + count;
    most = Math.max(most, count);
  }
  const file = fileOf.task(job, "applied", task);
  // The buffer is allocated once for the largest fragment, because a growing buffer would fragment memory.
  memory.words("rows", most);
  memory.bytes("slices", most * Math.max(...layout.pieceBytes));
  await writeFragments(file, layout, starts, [], check, async (write) => {
    for (const [number, own] of byPiece.entries()) {
      const places = starts.slice(0, blocks.size);
      // If chunks are small, a single call gathers a block's slices from several chunks. Large chunks are loaded one at
      // a time.
      const groups = areTogether(job) ? [own] : own.map((one) => [one]);
      for (const group of groups) {
        await gatherGroup(job, group, memory, async (slices, block) => {
          await write(slices, number, places[block]);
          places[block] += countOf(group, block);
        });
      }
    }
  });
}

/** Returns the number of slices that a block requests from the chunks. */
const countOf = (chunks: readonly ChunkTask[], block: number): number =>
  chunks.reduce((sum, one) => sum + one.countOf(block), 0);

const areTogether = ({ data: { chunkShape }, elementBytes }: JobContext): boolean =>
  isSmall(product(chunkShape) * elementBytes);

/** Gathers each block's slices from chunks of the same piece that are in memory together. */
async function gatherGroup(
  job: JobContext,
  group: readonly ChunkTask[],
  memory: Workspace,
  write: (slices: Uint8Array, block: number) => Promise<void>,
): Promise<void> {
  const { blocks, pieceBytes, shuffle } = job;
  const [{ piece, slice }] = group;
  if (group.every(({ entries }) => entries === 0)) return;
  const { dtype } = job.data;
  const { bytes, moveRows } =
    group.length === 1
      ? await readWanted(job, group[0], (wants) => readRows(job, group[0], wants, memory), memory)
      : { bytes: await readTogether(job, group, memory), moveRows: () => {} };
  const data = elementsOf(dtype, bytes);
  for (let block = 0; block < blocks.size; block++) {
    const count = countOf(group, block);
    const rows = memory.words("rows", count);
    const slices = memory.bytes("slices", count * pieceBytes[piece]);
    if (slices.length === 0) continue;
    const fragments = group.map((one) => one.fragmentOf(block));
    await readEntries(fragments, shuffle, ROWS, 0, rows);
    addressTogether(job, group, block, rows);
    moveRows(rows);
    gatherSlices(
      memory.executor,
      dtype,
      toOffsets(rows, slice),
      slice,
      data,
      elementsOf(dtype, slices),
      job.resolved.call.fields,
    );
    await write(slices, block);
  }
}

/** Reads chunks of the same piece into one buffer, in which each chunk takes the space of a whole chunk. */
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

/** Converts rows of consecutive chunks to rows in the combined buffer. */
function addressTogether(
  job: JobContext,
  chunks: readonly ChunkTask[],
  block: number,
  rows: Uint32Array,
): void {
  const whole = product(job.address.leads.chunkShape);
  let from = 0;
  for (const [i, task] of chunks.entries()) {
    const own = rows.subarray(from, (from += task.countOf(block)));
    checkRows(own, job, task);
    renumber(own, job, task.box);
    if (i > 0) for (let p = 0; p < own.length; p++) own[p] += i * whole;
  }
}

/** Passes the rows that each block requests from a chunk to `wants`. */
async function readRows(
  job: JobContext,
  task: ChunkTask,
  wants: (rows: Uint32Array) => void,
  memory: Workspace,
): Promise<void> {
  for (let block = 0; block < job.blocks.size; block++) {
    const fragment = task.fragmentOf(block);
    const rows = memory.words("rows", fragment.count);
    if (rows.length === 0) continue;
    await readEntries([fragment], job.shuffle, ROWS, 0, rows);
    checkRows(rows, job, task);
    renumber(rows, job, task.box);
    wants(rows);
  }
}

/** The elements that a gather needs from a chunk, and maybe others. */
interface Wanted {
  readonly bytes: Uint8Array;
  /** Converts row numbers of the chunk, in place, to row numbers in `bytes`. */
  moveRows(rows: Uint32Array): void;
}

/**
 * Reads the part of a chunk that a gather needs. If the file stores elements without encoding, a few scattered rows are
 * read individually, because reading a whole chunk would take longer. Of an encoded chunk, only the parts with wanted
 * rows are decoded. `visit` passes the wanted rows.
 */
export async function readWanted(
  job: Pick<JobContext, "address" | "data">,
  task: Pick<ChunkTask, "at" | "box" | "entries">,
  visit: (wants: (rows: Uint32Array) => void) => Promise<void>,
  memory: Workspace,
): Promise<Wanted> {
  const { address, data: array } = job;
  const { box, entries } = task;
  const size = product(box.shape) * DTYPES[array.dtype].bytes;
  const [length = 1, ...rest] = box.shape;
  // Per coordinate on the first axis, `step` is the number of bytes, and `ofPlace` the number of rows.
  const step = size / length;
  const isByRows = isReadByRows(array);
  const gap = isByRows ? CHUNKED.gap : CHUNKED.sparse;
  const inPlace = async (runs?: RowRuns): Promise<Wanted> => ({
    bytes: (await readData(job, task, memory, runs)).bytes,
    moveRows: () => {},
  });
  if (entries * gap >= size || address.addressed === 0) return inPlace();
  const ofPlace = product(splitShape(rest, address.addressed - 1).lead);
  const places = new Uint32Array(entries);
  let visited = 0;
  await visit((rows) => {
    for (let p = 0; p < rows.length; p++) places[visited++] = Math.floor(rows[p] / ofPlace);
  });
  places.sort();
  if (!isByRows) return inPlace(runsOf(places, 2));
  const runs = runsOf(places, Math.max(1, Math.ceil(gap / step)));
  const bytes = memory.bytes("data", runs.total * step);
  await array.readRows(box.start, box.shape, runs, bytes);
  return { bytes, moveRows: (rows) => moveToRuns(rows, runs, ofPlace) };
}

/** Runs of coordinates on a chunk's first axis. In memory, runs follow one another. */
interface Runs extends RowRuns {
  /** The number of coordinates in all preceding runs, and in all runs. */
  readonly before: Uint32Array;
  readonly total: number;
}

/** Groups sorted coordinates into runs with gaps of at least `gap` between them. */
function runsOf(places: Uint32Array, gap: number): Runs {
  const [starts, counts, before] = [0, 1, 2].map(() => new Uint32Array(places.length));
  let [runs, total] = [0, 0];
  for (let i = 0, start = 0; i < places.length; i++) {
    if (i + 1 < places.length && places[i + 1] - places[i] < gap) continue;
    starts[runs] = places[start];
    counts[runs] = places[i] + 1 - places[start];
    before[runs] = total;
    total += counts[runs++];
    start = i + 1;
  }
  const cut = (list: Uint32Array): Uint32Array => list.subarray(0, runs);
  return { starts: cut(starts), counts: cut(counts), before: cut(before), total };
}

/** Converts rows of a chunk to rows of the runs in memory. */
function moveToRuns(rows: Uint32Array, { starts, before }: Runs, ofPlace: number): void {
  for (let p = 0; p < rows.length; p++) {
    const place = Math.floor(rows[p] / ofPlace);
    let low = 0;
    for (let high = starts.length; high - low > 1;) {
      const middle = (low + high) >> 1;
      if (starts[middle] <= place) low = middle;
      else high = middle;
    }
    rows[p] -= (starts[low] - before[low]) * ofPlace;
  }
}
