/**
 * Computes upper bounds for the bytes that a job reads and writes, and for the disk space of its files. The bounds hold
 * for any array values. Each task is counted once. If a task is killed, the repeated task reads its inputs again, and
 * the unfinished files remain until the job ends.
 */

import type { ChunkedArray, Staged } from "../../boxes/array.ts";
import { tiled } from "../../boxes/axis-boxes.ts";
import { Grid } from "../../boxes/grid.ts";
import { CHUNKED } from "../../../core/limits.ts";
import { DTYPES } from "../../../core/tensor/dtype.ts";
import { product } from "../../../core/tensor/shape.ts";
import { fragmentBytes, headBytes } from "../stages/fragment-layout.ts";
import { SIZE_LINE } from "../stages/marks.ts";
import { isReadByRows, type JobParts } from "../stages/budget.ts";
import type { StageName } from "./spec.ts";

/**
 * The sizes, in bytes, of a disk block and of a folder entry. The size of a file on disk is a multiple of the block
 * size.
 */
const BLOCK = 4096;
const NAME = 256;

/** The disk space that the folders of a job and its output take, in bytes. */
const FOLDERS = 32 * (BLOCK + NAME);

/** The cost of staging and writing chunks. */
export interface OutputParts extends Staged {
  readonly isNpy: boolean;
  readonly inPlace: boolean;
  readonly folders: number;
  /** The size of the job's spec and of the output's metadata, in bytes. */
  readonly texts: number;
}

export interface MostParts extends Omit<JobParts, "resolved"> {
  readonly blockShape: readonly number[];
  readonly threads: number;
  /** True if the job has a stage that checks for duplicates. */
  readonly isChecked: boolean;
  readonly out: OutputParts;
}

/** The number of bytes that a stage adds to the disks of the job's folder and of the output. */
export interface StageDisk {
  readonly job: number;
  readonly output: number;
}

export interface MostBytes {
  readonly read: {
    readonly data: number;
    readonly indices: number;
    readonly updates: number;
    readonly shuffle: number;
  };
  readonly written: { readonly shuffle: number; readonly output: number };
  readonly disk: Readonly<Record<StageName, StageDisk>>;
  /** The memory per task, in bytes, for lists of chunks and blocks, and for small buffers. */
  readonly lists: number;
}

export const sumOf = (values: Readonly<Record<string, number>>): number =>
  Object.values(values).reduce((sum, bytes) => sum + bytes, 0);

/** Returns the disk space of `files` files with `bytes` bytes in total. */
export const onDisk = (bytes: number, files: number): number => bytes + files * (BLOCK + NAME);

/** Returns the disk space of task files, and of the file names that record each task's costs. */
const taskFiles = (files: number, bytes = 0): number => onDisk(bytes, files) + files * NAME;

export function mostBytes(parts: MostParts): MostBytes {
  const { address, blockShape, chunksPerTask, data, isChecked, out, threads, updates } = parts;
  const isGather = updates === undefined;
  const blocks = new Grid(address.positions, blockShape).size;
  const chunks = new Grid(data.shape, data.chunkShape).size;
  const tasks = Math.ceil(chunks / chunksPerTask);
  const { size: leads } = address.leads;
  const between = bytesBetween(parts, { blocks, chunks, tasks });
  const { shuffle, gathered } = between;
  const marks = out.inPlace ? markBytes(parts, chunks) : SIZE_LINE * out.files;
  const output = outputDisk(out, threads * chunksPerTask, chunks);
  return {
    read: { ...readBytes(parts, blocks), shuffle: between.read },
    written: { shuffle: shuffle + gathered, output: out.written },
    disk: {
      // Besides its file, a task may leave a record of its inputs and a file name that records its costs.
      partition: { job: taskFiles(2 * blocks, shuffle), output: 0 },
      check: { job: isChecked ? taskFiles(leads) : 0, output: 0 },
      apply: {
        job: taskFiles(2 * tasks, isGather ? gathered : marks),
        output: isGather ? 0 : output,
      },
      place: { job: isGather ? taskFiles(blocks, marks) : 0, output: isGather ? output : 0 },
      // The last stage writes only small text files.
      finish: { job: FOLDERS + out.texts, output: FOLDERS + out.texts },
    },
    lists: 8 * (leads + blocks) + 1024,
  };
}

interface Counts {
  readonly blocks: number;
  readonly chunks: number;
  readonly tasks: number;
}

/** Returns the bytes that are written to and read from the files between the stages. */
function bytesBetween(
  parts: MostParts,
  { blocks, chunks, tasks }: Counts,
): { shuffle: number; gathered: number; read: number } {
  const { address, chunksPerTask, data, isChecked, updates } = parts;
  const isGather = updates === undefined;
  const positions = product(address.positions);
  const { size: leads } = address.leads;
  const { size: pieces } = address.pieces;
  const slice = product(address.slice);
  const slices = positions * slice * DTYPES[data.dtype].bytes;
  const isWhole = chunksPerTask % pieces === 0;
  const bytesOf = (count: number): number[] => (slice === 0 ? [] : Array(count).fill(1));
  const entries = {
    columns: isGather || isChecked ? 2 : 1,
    pieceBytes: isGather ? [] : bytesOf(pieces),
  };
  const taken = { columns: 0, pieceBytes: bytesOf(isWhole ? pieces : 1) };
  // Consecutive chunks usually share a lead.
  const ownLeads = Math.min(leads, Math.floor((chunksPerTask - 2) / Math.max(1, pieces)) + 2);
  // The rows of a fragment are read once for each piece, or twice by a gather.
  const heads = blocks * tasks * headBytes(leads, ownLeads, entries, 3 * pieces);
  const rows = 4 * positions * pieces;
  // Each block reads its slices from all tasks of each piece, and the positions of all fragments.
  const placing = isGather
    ? pieces * blocks * (headBytes(leads, 1, entries) + headBytes(leads, leads, entries, 1)) +
      pieces * blocks * 4 * leads +
      blocks * (isWhole ? pieces * tasks : chunks) * headBytes(blocks, 1, taken) +
      rows +
      slices
    : 0;
  // If a target is repeated, all fragments are read again to find the first update of this target.
  const checking = isChecked
    ? 2 * (leads * blocks * headBytes(leads, 1, entries) + 8 * positions)
    : 0;
  const again = isGather ? rowsAgain(parts, rows) : slices * readsOfLead(chunksPerTask, pieces);
  return {
    shuffle: fragmentBytes(blocks, leads, positions, entries, isGather ? 0 : slices),
    gathered: isGather ? fragmentBytes(tasks, blocks, positions, taken, slices) : 0,
    read: checking + heads + rows + again + placing,
  };
}

/**
 * Returns the bytes read from each input. Each chunk of data is read once, or twice if only part of the chunk is
 * staged.
 */
function readBytes(
  { address, blockShape, data, indices, out, updates }: MostParts,
  blocks: number,
): Omit<MostBytes["read"], "shuffle"> {
  const { indexAxes, positions, pieces, tuple } = address;
  const along = positions.map((dim, d) => tiled(dim, blockShape[d]));
  const others = along.filter((_, d) => !indexAxes.includes(d));
  const hasTuples = indices.shape.length > indexAxes.length;
  const indexBoxes = indexAxes.map((d) => along[d]);
  if (hasTuples) indexBoxes.push(tiled(tuple.length, Math.max(1, tuple.length)));
  const slices = pieces.shape.map((dim, d) => tiled(dim, pieces.chunkShape[d]));
  const updated = (array: ChunkedArray): number => {
    const boxes = [...along, ...slices];
    if (boxes.length === array.shape.length) return array.mostRead(boxes);
    // A scalar update that is stored with another rank is read once per block and piece.
    return blocks * pieces.size * array.mostRead(array.shape.map(() => tiled(1, 1)));
  };
  const { format, slice } = data.location;
  // Copying a chunk includes the padding at the end of an axis, which other reads omit.
  const isCopied =
    updates !== undefined && !out.inPlace && !out.isNpy && format === "zarr" && slice === undefined;
  const whole = data.shape.map((dim, d) => {
    const { [d]: chunk } = data.chunkShape;
    return tiled(isCopied ? Math.ceil(dim / chunk) * chunk : dim, chunk);
  });
  return {
    data: data.mostRead(whole) + out.read,
    // Blocks that differ only along axes without indices read identical indices.
    indices: product(others.map(({ count }) => count)) * indices.mostRead(indexBoxes),
    updates: updates === undefined ? 0 : updated(updates),
  };
}

/**
 * Returns the number of tasks that read the entries of one block and one lead. A task with several chunks may read all
 * pieces of its slices.
 */
const readsOfLead = (chunksPerTask: number, pieces: number): number =>
  chunksPerTask === 1 ? 1 : Math.floor((pieces - 2) / chunksPerTask) + 2;

/** Returns the number of row bytes that a gather reads twice, first to find the needed parts of uncompressed chunks. */
function rowsAgain({ address, data }: MostParts, rows: number): number {
  if (!isReadByRows(data) || address.addressed === 0) return 0;
  const size = product(data.shape) * DTYPES[data.dtype].bytes;
  return Math.min(rows, Math.ceil((4 * size) / CHUNKED.gap));
}

/**
 * Returns the size of the lines in marks, in bytes. A line contains the name and size of a staged chunk, and the state
 * of the replaced files.
 */
const markBytes = ({ data, out }: MostParts, chunks: number): number =>
  chunks * (64 + SIZE_LINE) + out.files * (64 + 17 * data.shape.length);

/** During a change in place, staged chunks take additional space until they replace the existing chunks. */
function outputDisk(
  { files, folders, inPlace, isNpy, written }: OutputParts,
  atOnce: number,
  chunks: number,
): number {
  if (isNpy) return onDisk(written, 1);
  if (!inPlace) return onDisk(written, files + folders);
  const staged = onDisk(written, files);
  return Math.ceil((staged / Math.max(1, chunks)) * Math.min(atOnce, chunks)) + chunks * NAME;
}
