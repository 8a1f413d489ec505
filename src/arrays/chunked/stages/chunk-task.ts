/** Reads the chunks of an `apply` task, with the blocks' entries for each chunk, and numbers their rows. */

import type { Box } from "../../boxes/grid.ts";
import { malformed } from "../../../core/errors.ts";
import { part, product, sameShape, stridesOf } from "../../../core/tensor/shape.ts";
import { fileOf, splitShape, type JobContext } from "./context.ts";
import { fragmentAt, type Fragment } from "./fragment-layout.ts";
import { findFragments, inGroups } from "./fragments.ts";
import type { Workspace } from "./workspace.ts";

/** A chunk of data, and the blocks' entries for the chunk. */
export interface ChunkTask {
  readonly chunk: number;
  readonly at: readonly number[];
  readonly box: Box;
  readonly piece: number;
  /** The number of elements in the chunk's part of a slice. */
  readonly slice: number;
  /** Returns the fragment of a block. */
  readonly fragmentOf: (block: number) => Fragment;
  /** Returns the number of entries of a block. */
  readonly countOf: (block: number) => number;
  readonly entries: number;
}

/**
 * `numbers` is the numbers of consecutive chunks. `most` is the maximum bytes of the blocks' entries to read at once.
 */
export async function chunkTasksOf(
  job: JobContext,
  numbers: readonly number[],
  most: number,
): Promise<ChunkTask[]> {
  const { address, blocks, chunks, folder, shuffle } = job;
  const pieces = address.pieces.size;
  const leadOf = (chunk: number): number => Math.floor(chunk / pieces);
  const first = leadOf(numbers[0]);
  const leads = leadOf(numbers[numbers.length - 1]) - first + 1;
  const found = await inGroups([...Array(blocks.size).keys()], (block) =>
    findFragments(fileOf.task(folder, "shuffle", block), shuffle, first, leads, most / blocks.size),
  );
  return numbers.map((chunk) => {
    const own = leadOf(chunk) - first;
    const countOf = (block: number): number =>
      found[block].starts[own + 1] - found[block].starts[own];
    const box = chunks.box(chunk);
    return {
      chunk,
      at: chunks.at(chunk),
      box,
      piece: chunk % pieces,
      slice: product(splitShape(box.shape, address.addressed).slice),
      fragmentOf: (block) => fragmentAt(found[block], own),
      countOf,
      entries: found.reduce((sum, _, block) => sum + countOf(block), 0),
    };
  });
}

export async function readData(
  job: JobContext,
  { at, box }: ChunkTask,
  memory: Workspace,
): Promise<{ bytes: Uint8Array; isStored: boolean }> {
  const bytes = memory.bytes("data", product(box.shape) * job.elementBytes);
  return { bytes, isStored: await job.data.readChunk(at, bytes) };
}

/**
 * Checks that rows lie within the chunk, because a job's files may be damaged, and rows outside would write beyond the
 * chunk's memory.
 */
export function checkRows(
  rows: Uint32Array,
  { address, folder }: JobContext,
  { chunk, box }: ChunkTask,
): void {
  const whole = product(address.leads.chunkShape);
  // A chunk that is clipped along its first axis has fewer rows; clipping along other axes leaves gaps between rows.
  const limit = address.addressed === 0 ? 1 : (whole / address.leads.chunkShape[0]) * box.shape[0];
  let most = 0;
  for (let p = 0; p < rows.length; p++) if (rows[p] > most) most = rows[p];
  if (rows.length === 0 || most < limit) return;
  throw malformed(`${folder} has row ${most} for chunk ${chunk}, which has ${limit}`, {
    file: folder,
    got: most,
    limit,
  });
}

/**
 * Converts rows numbered for whole chunks to rows of this chunk, which has fewer rows if it is clipped along an axis
 * after the first.
 */
export function renumber(rows: Uint32Array, { address, data }: JobContext, box: Box): void {
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
