/** Reads the chunks of an `apply` task and each block's entries for these chunks, and numbers rows. */

import type { RowRuns } from "../../boxes/array.ts";
import type { Box } from "../../boxes/grid.ts";
import { malformed } from "../../../core/errors.ts";
import { DTYPES } from "../../../core/tensor/dtype.ts";
import { part, product, sameShape, stridesOf } from "../../../core/tensor/shape.ts";
import { sourcesOf, splitShape, type JobContext } from "./context.ts";
import { fragmentAt, type Fragment, type FragmentLayout } from "./fragment-layout.ts";
import { findFragments, inGroups } from "./fragments.ts";
import type { Workspace } from "./workspace.ts";

/** A data chunk, and the number of its entries. */
export interface ChunkPart {
  readonly chunk: number;
  readonly at: readonly number[];
  readonly box: Box;
  readonly piece: number;
  /** The number of elements per piece of a slice. */
  readonly slice: number;
  readonly entries: number;
}

/** A data chunk, and the entries for this chunk in each file of the previous stage, usually one file per block. */
export interface ChunkTask extends ChunkPart {
  readonly layout: FragmentLayout;
  readonly files: number;
  /** Returns the fragment of a file. */
  readonly fragmentOf: (file: number) => Fragment;
  /** Returns the number of entries in a file. */
  readonly countOf: (file: number) => number;
}

/** Returns the fragments of a chunk that have entries. */
export function* fragmentsOf({ files, fragmentOf, countOf }: ChunkTask): Generator<Fragment> {
  for (let file = 0; file < files; file++) if (countOf(file) > 0) yield fragmentOf(file);
}

export const leadOf = ({ address }: Pick<JobContext, "address">, chunk: number): number =>
  Math.floor(chunk / address.pieces.size);

export function chunkPartOf(
  { address, chunks }: JobContext,
  chunk: number,
  entries: number,
): ChunkPart {
  const box = chunks.box(chunk);
  return {
    chunk,
    at: chunks.at(chunk),
    box,
    piece: chunk % address.pieces.size,
    slice: product(splitShape(box.shape, address.addressed).slice),
    entries,
  };
}

/** `numbers` contains consecutive chunk numbers. `most` is the maximum number of entry bytes to read at once. */
export async function chunkTasksOf(
  job: JobContext,
  numbers: readonly number[],
  most: number,
): Promise<ChunkTask[]> {
  const first = leadOf(job, numbers[0]);
  const leads = leadOf(job, numbers[numbers.length - 1]) - first + 1;
  const { files, layout, number } = sourcesOf(job, first);
  const found = await inGroups(files, (file) =>
    findFragments(file, layout, number, leads, most / files.length),
  );
  return numbers.map((chunk) => {
    const own = leadOf(job, chunk) - first;
    const countOf = (file: number): number => found[file].starts[own + 1] - found[file].starts[own];
    const entries = found.reduce((sum, _, file) => sum + countOf(file), 0);
    return {
      ...chunkPartOf(job, chunk, entries),
      layout,
      files: files.length,
      fragmentOf: (file) => fragmentAt(found[file], own),
      countOf,
    };
  });
}

export async function readData(
  job: Pick<JobContext, "data">,
  { at, box }: Pick<ChunkTask, "at" | "box">,
  memory: Workspace,
  runs?: RowRuns,
): Promise<{ bytes: Uint8Array; isStored: boolean }> {
  const bytes = memory.bytes("data", product(box.shape) * DTYPES[job.data.dtype].bytes);
  return { bytes, isStored: await job.data.readChunk(at, bytes, runs) };
}

/** Checks that rows lie within the chunk, because rows in a damaged job file could address memory outside the chunk. */
export function checkRows(
  rows: Uint32Array,
  { address, folder }: JobContext,
  { chunk, box }: ChunkTask,
): void {
  const whole = product(address.leads.chunkShape);
  // Clipping along the first axis removes the last rows, while clipping along other axes leaves gaps between row
  // numbers.
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

/** Converts rows of a whole chunk to rows of this chunk, if it is clipped along an axis after the first. */
export function renumber(
  rows: Uint32Array,
  { address, data }: Pick<JobContext, "address" | "data">,
  box: Box,
): void {
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
