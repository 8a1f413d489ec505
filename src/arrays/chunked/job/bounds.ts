/**
 * Computes the most memory and disk space that a job takes. The bounds hold for any array values, and include whole
 * chunks at the end of an axis and codecs that make data longer. Unfinished files of killed tasks remain until the job
 * ends, and are not included.
 */

import type { ChunkedArray } from "../../boxes/array.ts";
import { gridOf } from "../../boxes/boxes.ts";
import { isUrl } from "../../boxes/file.ts";
import { endsOf } from "../../boxes/part-axes.ts";
import { DTYPES } from "../../../core/tensor/dtype.ts";
import { product } from "../../../core/tensor/shape.ts";
import { ZarrArray } from "../../zarr/array.ts";
import type { ChunkCosts } from "../../zarr/open.ts";
import { memoryOf, type JobParts } from "../stages/budget.ts";
import { fragmentBytes, mergeShape } from "../stages/fragment-layout.ts";
import { SIZE_LINE } from "../stages/marks.ts";
import type { Division } from "./divide.ts";
import { printSpec, type JobSpec, type Stage, type StageName } from "./spec.ts";

/** The tasks of a job, and the most memory and disk space that they take. */
export interface JobPlan {
  readonly stages: readonly Stage[];
  /** The number of chunks in data, and the number per task. */
  readonly chunks: number;
  readonly chunksPerTask: number;
  /** The number of threads, as far as memory allows. */
  readonly threads: number;
  /** The maximum memory per task, in bytes, including codecs. */
  readonly taskBytes: number;
  /** The maximum memory of the process, in bytes, with one task on each thread. */
  readonly memory: number;
  /**
   * The required free disk space, in bytes: for the job's folder, and for a new array or the chunks that are staged at
   * once. An array that is changed in place may grow beyond this space, if its chunks compress less well than before.
   */
  readonly disk: number;
}

/** The bytes that each stage adds to the disks of the job's folder and of the output. */
export type StageDisks = readonly (readonly [job: number, output: number])[];

/**
 * The sizes, in bytes, of a disk block and of a folder entry. The size of a file on disk is a multiple of the block
 * size.
 */
const BLOCK = 4096;
const NAME = 256;

/** The disk space that the folders of a job and its output take, in bytes. */
const FOLDERS = 32 * (BLOCK + NAME);

/** Returns the disk space of `files` files with `bytes` bytes in total. */
const onDisk = (bytes: number, files: number): number => bytes + files * (BLOCK + NAME);

/** `costs` are those of a chunk of a new array, or null if data is changed in place. */
export function boundsOf(
  spec: JobSpec,
  division: Division,
  costs: ChunkCosts | null,
): { readonly plan: JobPlan; readonly disk: StageDisks } {
  const { parts, stages, chunks, threads, taskBytes } = division;
  const most = stageDisks(spec, division, costs);
  const disk = stages.map(({ name }) => most[name]);
  const { size: leads } = parts.address.leads;
  const blocks = stages.find(({ name }) => name === "partition")?.tasks ?? 0;
  // Besides its elements, each task has lists of chunks and blocks, and small buffers.
  const lists = 8 * (leads + blocks) + 1024;
  const plan = {
    stages,
    chunks,
    chunksPerTask: parts.chunksPerTask,
    threads,
    taskBytes,
    memory: memoryOf(threads, taskBytes + lists),
    disk: disk.reduce((sum, [job, output]) => sum + job + output, 0),
  };
  return { plan, disk };
}

function stageDisks(
  spec: JobSpec,
  division: Division,
  costs: ChunkCosts | null,
): Record<StageName, readonly [job: number, output: number]> {
  const { parts, stages, chunks, threads } = division;
  const { chunksPerTask, data, updates } = parts;
  const { inPlace, out } = spec;
  const isGather = updates === undefined;
  const countOf = (stage: StageName): number =>
    stages.find(({ name }) => name === stage)?.tasks ?? 0;
  const [blocks, tasks] = [countOf("partition"), countOf("apply")];
  const { shuffled, merged, gathered } = fragmentsOf(division, countOf);
  const { files, entries, written } = outputOf(spec, parts, costs);
  // For a change in place, a mark has the name and size of a staged chunk, and the state of the replaced files.
  const marks = inPlace
    ? chunks * (64 + SIZE_LINE) + files * (64 + 17 * data.shape.length)
    : SIZE_LINE * files;
  const atOnce = Math.min(threads * chunksPerTask, chunks);
  // Staged chunks take additional space until they replace the chunks of data.
  const output = inPlace
    ? Math.ceil((onDisk(written, files) / Math.max(1, chunks)) * atOnce) + chunks * NAME
    : onDisk(written, entries);
  const onOutput = isUrl(out.path) ? 0 : output;
  const texts = 2 * printSpec(spec).length + 3 * (costs?.textLength() ?? 0);
  return {
    // Besides its file, a task may leave a record of its inputs.
    partition: [onDisk(shuffled, 2 * blocks), 0],
    merge: [onDisk(merged, countOf("merge")), 0],
    check: [onDisk(0, countOf("check")), 0],
    apply: [onDisk(isGather ? gathered : marks, 2 * tasks), isGather ? 0 : onOutput],
    place: [isGather ? onDisk(marks, blocks) : 0, isGather ? onOutput : 0],
    // The last stage writes only small text files.
    finish: [FOLDERS + texts, isUrl(out.path) ? 0 : FOLDERS + texts],
  };
}

/** Returns the size, in bytes, of the files that `partition`, `merge` and, in a gather, `apply` leave for later stages. */
function fragmentsOf(
  { parts, blockShape }: Division,
  countOf: (stage: StageName) => number,
): { readonly shuffled: number; readonly merged: number; readonly gathered: number } {
  const { address, chunksPerTask, data, isFew, updates } = parts;
  if (isFew === true) return { shuffled: 0, merged: 0, gathered: 0 };
  const [blocks, merges, tasks] = [countOf("partition"), countOf("merge"), countOf("apply")];
  const isGather = updates === undefined;
  const positions = product(address.positions);
  const { size: leads } = address.leads;
  const { size: pieces } = address.pieces;
  const slice = product(address.slice);
  const slices = positions * slice * DTYPES[data.dtype].bytes;
  const bytesOf = (count: number): number[] => (slice === 0 ? [] : Array(count).fill(1));
  const entries = {
    columns: isGather || countOf("check") > 0 ? 2 : 1,
    pieceBytes: isGather ? [] : bytesOf(pieces),
  };
  if (merges > 0) {
    const merge = mergeShape(leads, blocks, product(blockShape), chunksPerTask);
    const byGroup = { ...entries, columns: 2 };
    return {
      shuffled: fragmentBytes(blocks, merge.groups, positions, byGroup, slices),
      merged: fragmentBytes(merges, merge.leads, positions, entries, slices),
      gathered: 0,
    };
  }
  const taken = { columns: 0, pieceBytes: bytesOf(chunksPerTask % pieces === 0 ? pieces : 1) };
  return {
    shuffled: fragmentBytes(blocks, leads, positions, entries, isGather ? 0 : slices),
    merged: 0,
    gathered: isGather ? fragmentBytes(tasks, blocks, positions, taken, slices) : 0,
  };
}

/** Returns the number of the output's chunks, of their files and folders, and their size in bytes. */
function outputOf(
  { inPlace, out }: JobSpec,
  { data, resolved }: JobParts,
  costs: ChunkCosts | null,
): { readonly files: number; readonly entries: number; readonly written: number } {
  if (inPlace) {
    const { source } = data;
    const files = product(touchedBy(data));
    const stored = source instanceof ZarrArray ? source.mostStored : 0;
    return { files, entries: 0, written: files * stored };
  }
  const grid = gridOf(resolved.shape, out.chunkShape ?? resolved.shape);
  const files = product(grid);
  if (out.format === "npy")
    return { files, entries: 1, written: product(resolved.shape) * DTYPES[data.dtype].bytes };
  return { files, entries: files + foldersOf(grid), written: files * (costs?.stored ?? 0) };
}

/** Counts the chunks of the source that an array overlaps along each axis. */
const touchedBy = ({ source, location: { slice } }: ChunkedArray): number[] =>
  source.chunkShape.map((chunk, axis) => {
    const [first, last] = endsOf(slice?.[axis] ?? [0, 1, source.shape[axis]]);
    return last < first ? 0 : Math.floor(last / chunk) - Math.floor(first / chunk) + 1;
  });

/** Returns the number of folders with chunks of a Zarr array. */
const foldersOf = (grid: readonly number[]): number =>
  grid.slice(0, -1).reduce(([all, last], count) => [all + last * count, last * count], [1, 1])[0];
