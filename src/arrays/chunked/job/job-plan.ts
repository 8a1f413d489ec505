/** Computes upper bounds for the work of a job, which hold for any array contents. */

import { DTYPES } from "../../../core/tensor/dtype.ts";
import { product } from "../../../core/tensor/shape.ts";
import type { StagedArray } from "../../boxes/array.ts";
import { isUrl } from "../../boxes/file.ts";
import { gridOf } from "../../boxes/boxes.ts";
import { SlicedArray } from "../../boxes/slice.ts";
import { ZarrArray } from "../../zarr/array.ts";
import type { ChunkCosts } from "../../zarr/open.ts";
import { memoryOf, type JobParts } from "../stages/budget.ts";
import { mostBytes, onDisk, sumOf, type MostBytes, type OutputParts } from "./most-bytes.ts";
import { printSpec, type JobSpec, type Planned, type Shortage, type Stage } from "./spec.ts";

/**
 * The planned work of a job. The figures for bytes and memory are upper bounds, which include whole chunks at the end
 * of an axis, repeated reads, and expanding codecs. A job may exceed the bounds if interrupted tasks are repeated, or
 * if a server sends more bytes than requested.
 */
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
   * The maximum number of stored bytes that are read from each input and between stages. For a change in place, the
   * number excludes chunks of data without updates.
   */
  readonly read: MostBytes["read"];
  /** The maximum number of stored bytes that are written between stages and to the output. */
  readonly written: MostBytes["written"];
  /**
   * The required free disk space, in bytes: for the job's folder, and for a new array or the chunks that are staged at
   * once.
   */
  readonly disk: number;
  /**
   * The maximum growth of an array that is changed in place, in bytes, in addition to `disk`; 0 for a new array. The
   * array grows by chunks that were not stored before, and by values that compress less well.
   */
  readonly growth: number;
  /** A note on memory that is so short that the job is slow; null for sufficient memory. */
  readonly shortage: Shortage | null;
}

/** A plan with an estimate of the time. */
export interface TimedPlan extends JobPlan {
  /** The measured write rate of the disk, in bytes per second. */
  readonly diskRate: number;
  readonly seconds: PlannedSeconds;
}

/** Expected duration of a job. */
export interface PlannedSeconds {
  /** The minimum duration, in s, for writing the output and running the codecs if all threads are always busy. */
  readonly least: number;
  /** The likely duration, in s. */
  readonly likely: number;
}

/** The arrays and the spec of a request, as tasks receive them. */
export interface PlanParts {
  readonly spec: JobSpec;
  readonly parts: JobParts;
  readonly takes: Pick<JobPlan, "threads" | "taskBytes" | "shortage">;
  /** The memory and storage that chunks of a new array take; null if data is changed in place. */
  readonly costs: ChunkCosts | null;
}

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
      shortage: takes.shortage,
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

/** Returns the number of folders with chunks of a Zarr array. */
const foldersOf = (grid: readonly number[]): number =>
  grid.slice(0, -1).reduce(([all, last], count) => [all + last * count, last * count], [1, 1])[0];

/** The maximum number of chunks that planning lists, because listing more chunks would take minutes. */
const LISTED = 20_000;

/** Returns the maximum growth of an array that is changed in place, in bytes. */
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
  // The bound assumes the worst case, in which the job changes no chunk that is already stored.
  return growth - Math.max(0, Math.min(bytes - (all - files) * base.mostStored, growth));
}
