/** What a gather does with the chunks of a task: it writes the slices that all blocks want of them. */

import { isUrl } from "../../boxes/file.ts";
import { CHUNKED } from "../../../core/limits.ts";
import { product } from "../../../core/tensor/shape.ts";
import { checkRows, readData, renumber, type ChunkTask } from "./chunk-task.ts";
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
