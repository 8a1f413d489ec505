/** Runs the stage `place` of a gather, in which each task orders the slices of one block. */

import { printCount } from "../../../core/foreign.ts";
import { malformed } from "../../../core/errors.ts";
import { chunksOf, copyBox } from "../../boxes/boxes.ts";
import { contiguousRuns } from "../../boxes/runs.ts";
import { product } from "../../../core/tensor/shape.ts";
import { fileOf } from "./task-files.ts";
import { POSITIONS, tasksOfPiece, type JobContext } from "./context.ts";
import { findFragment, inGroups, readEntries, readWholeColumn } from "./fragments.ts";
import { elementsOf, placeSlices, toOffsets } from "./move.ts";
import { mark, printSizes } from "./marks.ts";
import { putNew } from "./publish.ts";
import type { Workspace } from "./workspace.ts";

export async function placeBlock(job: JobContext, block: number, memory: Workspace): Promise<void> {
  const count = product(job.blocks.box(block).shape);
  const zeros = (piece: number): Uint8Array =>
    memory.bytes("slices", count * job.pieceBytes[piece]).fill(0);
  // If data has no chunks, every index was skipped.
  const read = async (piece: number): Promise<Uint8Array> =>
    job.chunks.size === 0 ? zeros(piece) : readPiece(job, block, piece, count, memory);
  await mark(job, "placed", block, printSizes(await writeBlock(job, block, read, memory)));
}

/**
 * Writes the output chunks of a block, and returns their stored sizes. `slicesOf(piece)` returns this piece of every
 * slice in the block, in position order.
 */
export async function writeBlock(
  job: JobContext,
  block: number,
  slicesOf: (piece: number) => Promise<Uint8Array>,
  memory: Workspace,
): Promise<number[]> {
  const { address, elementBytes, isCut, out } = job;
  const at = job.blocks.at(block);
  const count = product(job.blocks.box(block).shape);
  const pieces = address.pieces.size;
  // Every chunk of an NPY file contains whole slices. A chunk of any other output contains one piece of each slice,
  // unless the request specifies another chunk shape.
  const isWhole = pieces > 1 && (isCut || out.location.format === "npy");
  const whole = memory.bytes("whole", isWhole ? count * product(address.slice) * elementBytes : 0);
  let sizes: number[] = [];
  for (let piece = 0; piece < pieces; piece++) {
    const slices = await slicesOf(piece);
    if (isWhole) interleave(job, slices, piece, count, whole);
    else if (isCut) sizes = sizes.concat(await cut(job, block, slices, memory));
    else sizes.push(await putNew(job, [...at, ...address.pieces.at(piece)], slices));
  }
  if (isWhole && isCut) sizes = sizes.concat(await cut(job, block, whole, memory));
  else if (isWhole) sizes.push(await putNew(job, [...at, ...address.slice.map(() => 0)], whole));
  return sizes;
}

/** Returns the output chunks of `writeBlock`, in the order in which they are written. */
export function chunksOfBlock(job: JobContext, block: number): (readonly number[])[] {
  const { address, blocks, isCut, out } = job;
  const { pieces, slice } = address;
  const at = blocks.at(block);
  if (isCut) return [...chunksOf(...boxOfBlock(job, block), out.chunkShape)].map((one) => one.at);
  if (pieces.size > 1 && out.location.format === "npy") return [[...at, ...slice.map(() => 0)]];
  return Array.from({ length: pieces.size }, (_, piece) => [...at, ...pieces.at(piece)]);
}

/** Returns the box of a block's slices in the output. */
function boxOfBlock(
  { address, blocks }: JobContext,
  block: number,
): [start: readonly number[], shape: readonly number[]] {
  const { start, shape } = blocks.box(block);
  return [
    [...start, ...address.slice.map(() => 0)],
    [...shape, ...address.slice],
  ];
}

/** Divides a block's slices into output chunks, writes the chunks, and returns their stored sizes. */
async function cut(
  job: JobContext,
  block: number,
  slices: Uint8Array,
  memory: Workspace,
): Promise<number[]> {
  const { elementBytes, out } = job;
  const [start, shape] = boxOfBlock(job, block);
  const sizes: number[] = [];
  for (const { at, boxStart, shape: own } of chunksOf(start, shape, out.chunkShape)) {
    const bytes = memory.bytes("chunk", product(own) * elementBytes);
    const into = { bytes, shape: own, start: own.map(() => 0) };
    copyBox({ bytes: slices, shape, start: boxStart }, into, own, elementBytes);
    // One chunk is in memory at a time.
    sizes.push(await putNew(job, at, bytes));
  }
  return sizes;
}

/** Reads a piece of each slice in a block, in position order; slices for skipped indices are zeros. */
async function readPiece(
  job: JobContext,
  block: number,
  piece: number,
  count: number,
  memory: Workspace,
): Promise<Uint8Array> {
  const { data, elementBytes, folder, pieceBytes, shuffle, resolved } = job;
  const bytes = pieceBytes[piece];
  const wanted = fileOf.task(job, "shuffle", block);
  const { total } = await findFragment(wanted, shuffle, 0);
  if (total > count)
    throw malformed(`${wanted} has ${printCount(total, "position")}, but its block has ${count}`, {
      file: wanted,
      got: total,
      expected: count,
    });
  const positions = memory.words("positions", total);
  const sorted = memory.bytes("sorted", total * bytes);
  await readWholeColumn(wanted, shuffle, POSITIONS, positions);
  // Without this check, a slice for a position outside the block would be written outside the block's memory.
  const wrong = positions.find((position) => position >= count);
  if (wrong !== undefined)
    throw malformed(`${wanted} has position ${wrong}, but its block has ${count}`, {
      file: wanted,
      got: wrong,
    });
  const { tasks, number } = tasksOfPiece(job, piece);
  const found = await inGroups(tasks, async (task) => {
    const layout = job.gathered(task);
    return { layout, ...(await findFragment(fileOf.task(job, "applied", task), layout, block)) };
  });
  let at = 0;
  const places = found.map((one) => (at += one.count) - one.count);
  if (at !== total)
    throw malformed(
      `${folder}/applied has ${printCount(at, "slice")} for block ${block}, which requested ${total}`,
      { file: `${folder}/applied`, got: at, expected: total },
    );
  await inGroups(found, async ({ layout, ...fragment }, i) => {
    const place = places[i] * bytes;
    const own = sorted.subarray(place, place + fragment.count * bytes);
    await readEntries([fragment], layout, layout.columns + number, 0, own);
  });
  const slices = memory.bytes("slices", count * bytes);
  if (total < count) slices.fill(0);
  const slice = bytes / elementBytes;
  const { dtype } = data;
  placeSlices(
    memory.executor,
    dtype,
    toOffsets(positions, slice),
    slice,
    elementsOf(dtype, sorted),
    elementsOf(dtype, slices),
    resolved.call.fields,
  );
  return slices;
}

/** Copies a piece of every slice to its position in whole slices. */
function interleave(
  { address, elementBytes }: JobContext,
  slices: Uint8Array,
  piece: number,
  count: number,
  whole: Uint8Array,
): void {
  const { start, shape } = address.pieces.box(piece);
  const runs = contiguousRuns(address.slice, start, shape);
  const sliceBytes = product(address.slice) * elementBytes;
  const bytes = product(shape) * elementBytes;
  for (let p = 0; p < count; p++) {
    for (const { at, place, length } of runs) {
      const from = p * bytes + place * elementBytes;
      const run = slices.subarray(from, from + length * elementBytes);
      whole.set(run, p * sliceBytes + at * elementBytes);
    }
  }
}
