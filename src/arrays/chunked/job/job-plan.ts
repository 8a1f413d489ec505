/** What a job will do, in figures: upper bounds, which hold whatever the values of its arrays are. */

import { DTYPES } from "../../../core/tensor/dtype.ts";
import { product } from "../../../core/tensor/shape.ts";
import type { StagedArray } from "../../boxes/array.ts";
import { isUrl } from "../../boxes/file.ts";
import { gridOf } from "../../boxes/boxes.ts";
import { SlicedArray } from "../../boxes/slice.ts";
import { ZarrArray } from "../../zarr/array.ts";
import type { ChunkCosts } from "../../zarr/open.ts";
import { memoryOf, type JobParts } from "../stages/budget.ts";
import { mostBytes, onDisk, type MostBytes, type OutputParts } from "./most-bytes.ts";
import { printSpec, type JobSpec, type Planned, type Stage } from "./spec.ts";

/**
 * What a job will do. Bytes and memory are upper bounds: they count chunks at the end of an axis as they are stored, what is
 * read more than once, and codecs that make data longer. A job that was interrupted may exceed them by the tasks that ran
 * again, and a server may send more than it is asked for.
 */
export interface JobPlan {
  readonly stages: readonly Stage[];
  /** The chunks of data, and how many of them a task takes. */
  readonly chunks: number;
  readonly chunksPerTask: number;
  /** How many threads work at once within the memory. */
  readonly threads: number;
  /** Bytes of memory that the largest task takes at most, with what its codecs hold. */
  readonly taskBytes: number;
  /** Bytes of memory that the process takes at most: its own, and a task on each thread. */
  readonly memory: number;
  /**
   * Bytes that are read at most, as they are stored: of each input, and of what lies between the stages. Chunks of data in
   * place that get no updates are not read.
   */
  readonly read: MostBytes["read"];
  /** Bytes that are written at most, as they are stored: between the stages, and to the output. */
  readonly written: MostBytes["written"];
  /**
   * Bytes that the disks must have left, in whole blocks of 4 KiB: for the job's folder, and for a new array on a disk; in
   * place for the chunks that are staged at once.
   */
  readonly disk: number;
  /**
   * Bytes by which an array in place may grow at most, beside `disk`: chunks that were not stored before, and new values
   * that are compressed less. 0 for a new array.
   */
  readonly growth: number;
}

/** A plan, and how long it will take. */
export interface TimedPlan extends JobPlan {
  /** Bytes a second that the disk takes now. */
  readonly diskRate: number;
  readonly seconds: PlannedSeconds;
}

export interface PlannedSeconds {
  /** What writing the output and the work of the codecs take at the measured speeds, if all threads are always busy. */
  readonly least: number;
  /** An estimate. */
  readonly likely: number;
}

/** What the tasks of a job get from its request. */
export interface PlanParts {
  readonly spec: JobSpec;
  readonly parts: JobParts;
  readonly takes: Pick<JobPlan, "threads" | "taskBytes">;
  /** Of a new array. */
  readonly costs: ChunkCosts | null;
}

export const sumOf = (values: Readonly<Record<string, number>>): number =>
  Object.values(values).reduce((sum, bytes) => sum + bytes, 0);

export function planOf({ spec, parts, takes, costs }: PlanParts): {
  readonly plan: JobPlan;
  readonly planned: Planned;
} {
  const { stages, chunks, chunksPerTask, out } = spec;
  const most = mostBytes({
    ...parts,
    blockShape: spec.blockShape,
    threads: takes.threads,
    isChecked: stages.some(({ name }) => name === "check"),
    out: outputParts(spec, parts, costs),
  });
  const sizes = stages.map(({ name }) => most.disk[name]);
  const job = sizes.reduce((sum, one) => sum + one.job, 0);
  const output = isUrl(out.path) ? 0 : sizes.reduce((sum, one) => sum + one.output, 0);
  return {
    plan: {
      stages,
      chunks,
      chunksPerTask,
      ...takes,
      memory: memoryOf(takes.threads, takes.taskBytes + most.lists),
      read: most.read,
      written: most.written,
      disk: job + output,
      growth: 0,
    },
    planned: {
      read: sumOf(most.read),
      written: sumOf(most.written),
      disk: sizes.map((one) => [one.job, isUrl(out.path) ? 0 : one.output]),
    },
  };
}

function outputParts(
  spec: JobSpec,
  { data, resolved }: JobParts,
  costs: ChunkCosts | null,
): OutputParts {
  const { inPlace, out } = spec;
  const texts = 2 * printSpec(spec).length + 3 * (costs?.text ?? 0);
  if (inPlace) {
    const staged = (data as StagedArray).mostStaged;
    return { ...staged, isNpy: false, inPlace, folders: 0, texts };
  }
  const stored = costs?.stored ?? 0;
  const grid = gridOf(resolved.shape, out.chunkShape ?? resolved.shape);
  const isNpy = out.format === "npy";
  const files = product(grid);
  const written = isNpy ? product(resolved.shape) * DTYPES[data.dtype].bytes : files * stored;
  return { read: 0, written, files, isNpy, inPlace, folders: foldersOf(grid), texts };
}

/** Folders in which the chunks of a Zarr array lie. */
const foldersOf = (grid: readonly number[]): number =>
  grid.slice(0, -1).reduce(([all, last], count) => [all + last * count, last * count], [1, 1])[0];

/** Arrays of more chunks are not listed, so that making a plan takes no minutes. */
const LISTED = 20_000;

/** The most bytes by which an array that is changed in place grows. */
export async function growthOf({ inPlace }: JobSpec, { data }: JobParts): Promise<number> {
  const base = data instanceof SlicedArray ? data.base : data;
  if (!inPlace || !(base instanceof ZarrArray)) return 0;
  const { files } = (data as StagedArray).mostStaged;
  const grid = gridOf(base.shape, base.chunkShape);
  const all = product(grid);
  const most = onDisk(base.mostStored, 1);
  const growth = files * most + onDisk(0, foldersOf(grid));
  if (all > LISTED || isUrl(base.location.path)) return growth;
  const { bytes } = await base.stored();
  // Chunks that the job does not reach may have all of it.
  return growth - Math.max(0, Math.min(bytes - (all - files) * base.mostStored, growth));
}
