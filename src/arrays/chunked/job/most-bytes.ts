/**
 * Computes upper bounds for the bytes that a job's tasks read and write, and for the disk space of the job's files. The
 * bounds hold for any array values. Each task is counted once. A task that is killed and runs again reads again, and
 * its unfinished files remain until the job ends.
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

/** Sizes, in bytes, of a disk block and of a file name in a folder. A file takes whole blocks. */
const BLOCK = 4096;
const NAME = 256;

/** Bytes that the folders of a job and its output take on disk. */
const FOLDERS = 32 * (BLOCK + NAME);

/** Costs of staging and writing chunks. */
export interface OutputParts extends Staged {
  readonly isNpy: boolean;
  readonly inPlace: boolean;
  /** The number of folders that hold chunks. */
  readonly folders: number;
  /** Size of the texts that describe the job and its output, in bytes. */
  readonly texts: number;
}

export interface MostParts extends Omit<JobParts, "resolved"> {
  readonly blockShape: readonly number[];
  readonly threads: number;
  /** True if a stage checks for duplicates. */
  readonly isChecked: boolean;
  readonly out: OutputParts;
}

/** Bytes that a stage adds to the disk of the job's folder and to the disk of the output. */
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
  /** Memory per task, in bytes, for lists by chunk and by block, and for small buffers. */
  readonly lists: number;
}

export const sumOf = (values: Readonly<Record<string, number>>): number =>
  Object.values(values).reduce((sum, bytes) => sum + bytes, 0);

/** Returns the disk space that `files` files with a total of `bytes` bytes take. */
export const onDisk = (bytes: number, files: number): number => bytes + files * (BLOCK + NAME);

/** Returns the disk space of task files, and of the names that record what each task took. */
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
      // In addition to its file, a task may leave a record of its inputs, and a file name that records its costs.
      partition: { job: taskFiles(2 * blocks, shuffle), output: 0 },
      check: { job: isChecked ? taskFiles(leads) : 0, output: 0 },
      apply: {
        job: taskFiles(2 * tasks, isGather ? gathered : marks),
        output: isGather ? 0 : output,
      },
      place: { job: isGather ? taskFiles(blocks, marks) : 0, output: isGather ? output : 0 },
      // The last stage writes only texts.
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

/** Returns the bytes of the files between the stages, and the bytes that the stages read of these files. */
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
  // Consecutive chunks belong to few leads.
  const ownLeads = Math.min(leads, Math.floor((chunksPerTask - 2) / Math.max(1, pieces)) + 2);
  // The rows of a fragment are read for each piece, and by a gather twice.
  const heads = blocks * tasks * headBytes(leads, ownLeads, entries, 3 * pieces);
  const rows = 4 * positions * pieces;
  // A block reads its slices from every task of each piece, and the positions of all fragments.
  const placing = isGather
    ? pieces * blocks * (headBytes(leads, 1, entries) + headBytes(leads, leads, entries, 1)) +
      pieces * blocks * 4 * leads +
      blocks * (isWhole ? pieces * tasks : chunks) * headBytes(blocks, 1, taken) +
      rows +
      slices
    : 0;
  // If a repeated target is found, everything is read again to find the first update of this target.
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

/** Returns the bytes read from each input. Each chunk of data is read once, and again if only part of it is staged. */
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
    // Updates that are a single element of another rank are read once per block and piece.
    return blocks * pieces.size * array.mostRead(array.shape.map(() => tiled(1, 1)));
  };
  const { format, slice } = data.location;
  // A copy of a chunk includes the padding at the end of an axis, which other reads leave out.
  const isCopied =
    updates !== undefined && !out.inPlace && !out.isNpy && format === "zarr" && slice === undefined;
  const whole = data.shape.map((dim, d) => {
    const { [d]: chunk } = data.chunkShape;
    return tiled(isCopied ? Math.ceil(dim / chunk) * chunk : dim, chunk);
  });
  return {
    data: data.mostRead(whole) + out.read,
    // Blocks that differ only along axes without indices read the same indices.
    indices: product(others.map(({ count }) => count)) * indices.mostRead(indexBoxes),
    updates: updates === undefined ? 0 : updated(updates),
  };
}

/**
 * Returns the number of tasks that read a block's entries for a lead. A task of several chunks may read all pieces of
 * the slices.
 */
const readsOfLead = (chunksPerTask: number, pieces: number): number =>
  chunksPerTask === 1 ? 1 : Math.floor((pieces - 2) / chunksPerTask) + 2;

/**
 * Returns the bytes of rows that a gather reads twice, because it first determines which parts of an uncompressed chunk
 * are needed.
 */
function rowsAgain({ address, data }: MostParts, rows: number): number {
  if (!isReadByRows(data) || address.addressed === 0) return 0;
  const size = product(data.shape) * DTYPES[data.dtype].bytes;
  return Math.min(rows, Math.ceil((4 * size) / CHUNKED.gap));
}

/**
 * Returns the size of the lines in marks, in bytes: the name and size of each staged chunk, and the keys, sizes and
 * times of the files that it replaces.
 */
const markBytes = ({ data, out }: MostParts, chunks: number): number =>
  chunks * (64 + SIZE_LINE) + out.files * (64 + 17 * data.shape.length);

/**
 * Returns the disk space that an output takes. In place, staged chunks take space in addition to the existing chunks
 * until they are moved.
 */
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
