/** The planned work of a job in figures: upper bounds that hold for any values of its arrays. */

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
 * The planned work of a job. Bytes and memory are upper bounds: they count chunks at the end of an axis at their stored
 * size, repeated reads, and codecs that make data longer. An interrupted job may exceed them by the tasks that run
 * again, and by the bytes that a server sends beyond those requested.
 */
export interface JobPlan {
  readonly stages: readonly Stage[];
  /** The number of chunks of data, and of those per task. */
  readonly chunks: number;
  readonly chunksPerTask: number;
  /** The number of threads that work at once within the memory. */
  readonly threads: number;
  /** Maximum bytes of memory of a task, including those of its codecs. */
  readonly taskBytes: number;
  /** Maximum bytes of memory of the process: its own, and a task on each thread. */
  readonly memory: number;
  /**
   * Maximum stored bytes read, of each input and between the stages. Excludes chunks of data in place that get no
   * updates.
   */
  readonly read: MostBytes["read"];
  /** Maximum stored bytes written, between the stages and to the output. */
  readonly written: MostBytes["written"];
  /**
   * Free bytes that the disks need, in whole blocks of 4 KiB: for the job's folder, and for a new array on a disk; in
   * place, for the chunks staged at once.
   */
  readonly disk: number;
  /**
   * Maximum bytes by which an array in place may grow, in addition to `disk`: chunks not stored before, and new values
   * that compress less. 0 for a new array.
   */
  readonly growth: number;
}

/** A plan with an estimate of its time. */
export interface TimedPlan extends JobPlan {
  /** The present speed of the disk, in bytes per second. */
  readonly diskRate: number;
  readonly seconds: PlannedSeconds;
}

/** The time that a job is expected to take. */
export interface PlannedSeconds {
  /** Seconds for writing the output and for the codecs at the measured speeds, if all threads are always busy. */
  readonly least: number;
  /** An estimate, in seconds. */
  readonly likely: number;
}

/** A request's arrays and spec, in the form that tasks get. */
export interface PlanParts {
  readonly spec: JobSpec;
  readonly parts: JobParts;
  readonly takes: Pick<JobPlan, "threads" | "taskBytes">;
  /** The costs of a new array's chunks; null if data is changed in place. */
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

/** The number of folders that hold the chunks of a Zarr array. */
const foldersOf = (grid: readonly number[]): number =>
  grid.slice(0, -1).reduce(([all, last], count) => [all + last * count, last * count], [1, 1])[0];

/** Larger counts of chunks are not listed, so that planning does not take minutes. */
const LISTED = 20_000;

/** Maximum bytes by which an array changed in place grows. */
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
  // The stored bytes may all belong to chunks that the job does not change.
  return growth - Math.max(0, Math.min(bytes - (all - files) * base.mostStored, growth));
}
