/** What a gather does with the chunks of a task: it writes the slices that all blocks want of them. */

import { CHUNKED } from "../../../core/limits.ts";
import { product } from "../../../core/tensor/shape.ts";
import { checkRows, readData, renumber, type ChunkTask } from "./chunk-task.ts";
import { isReadByRows, isSmall } from "./budget.ts";
import { fileOf, ROWS, splitShape, type JobContext } from "./context.ts";
import { inGroups, readColumn, writeFragments, type Fragment } from "./fragments.ts";
import { elementsOf, gatherSlices, toOffsets } from "./move.ts";
import type { Workspace } from "./workspace.ts";

/** Writes the slices that the blocks want of a task's chunks, piece by piece and block by block. */
export async function gatherChunks(
  job: JobContext,
  task: number,
  chunks: readonly ChunkTask[],
  memory: Workspace,
  check: () => Promise<void>,
): Promise<void> {
  const { blocks, folder } = job;
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
  const file = fileOf.task(folder, "applied", task);
  // Allocated once for the largest fragment: a buffer that grows from fragment to fragment leaves gaps in memory.
  memory.words("rows", most);
  memory.bytes("slices", most * Math.max(...layout.pieceBytes));
  await writeFragments(file, layout, starts, [], check, async (write) => {
    for (const [number, own] of byPiece.entries()) {
      const places = starts.slice(0, blocks.size);
      // What a block wants of small chunks is one call. Of larger ones one is in memory at a time.
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

/** How many slices a block wants of chunks. */
const countOf = (chunks: readonly ChunkTask[], block: number): number =>
  chunks.reduce((sum, { fragments }) => sum + fragments[block].count, 0);

const areTogether = ({ data: { chunkShape }, elementBytes }: JobContext): boolean =>
  isSmall(product(chunkShape) * elementBytes);

/** Gathers what each block wants of chunks of one piece that are in memory together. */
async function gatherGroup(
  job: JobContext,
  group: readonly ChunkTask[],
  memory: Workspace,
  write: (slices: Uint8Array, block: number) => Promise<void>,
): Promise<void> {
  const { blocks, pieceBytes, shuffle } = job;
  const [{ piece, slice, fragments }] = group;
  if (group.every(({ entries }) => entries === 0)) return;
  const { dtype } = job.data;
  const read =
    group.length === 1 ? readWanted(job, group[0], memory) : readTogether(job, group, memory);
  const data = elementsOf(dtype, await read);
  for (let block = 0; block < blocks.size; block++) {
    const count = countOf(group, block);
    const rows = memory.words("rows", count);
    const slices = memory.bytes("slices", count * pieceBytes[piece]);
    if (slices.length === 0) continue;
    await readColumn({ ...fragments[block], count }, shuffle, ROWS, 0, rows);
    addressTogether(job, group, block, rows);
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
  if (!isReadByRows(array) || entries * gap >= size || address.addressed === 0) {
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
