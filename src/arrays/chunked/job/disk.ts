/** Checks that disks have enough space for a job, before and during the run. */

import { printAmount } from "../../../core/foreign.ts";
import { TensorError } from "../../../core/errors.ts";
import * as fs from "node:fs/promises";
import * as path from "node:path";
import { isCode, isUrl } from "../../boxes/file.ts";
import type { JobContext } from "../stages/context.ts";
import type { JobSpec, StageName } from "./spec.ts";

export interface Room {
  /** The path of a folder that may not exist yet. */
  readonly folder: string;
  readonly bytes: number;
}

/** A disk and its space. */
export interface FreeDisk {
  /** The device number of the disk. */
  readonly disk: number;
  /** The free space and the total size of the disk, in bytes. */
  readonly free: number;
  readonly size: number;
}

/** Returns the disk of an existing folder. Tests replace this function to simulate a full disk. */
export type FreeSpace = (folder: string) => Promise<FreeDisk>;

export const freeSpaceOf: FreeSpace = async (folder) => {
  const [{ dev }, { bavail, blocks, bsize }] = await Promise.all([
    fs.stat(folder),
    fs.statfs(folder),
  ]);
  return { disk: dev, free: bavail * bsize, size: blocks * bsize };
};

/** A disk, and the space that a job needs on it. */
interface NeededDisk extends FreeDisk {
  readonly folder: string;
  readonly bytes: number;
}

/** Sums the required bytes per disk. */
async function disksOf(rooms: readonly Room[], freeOf: FreeSpace): Promise<NeededDisk[]> {
  const needed = new Map<number, NeededDisk>();
  for (const { folder, bytes } of rooms) {
    const there = await existing(folder);
    const found = await freeOf(there);
    const sum = (needed.get(found.disk)?.bytes ?? 0) + bytes;
    needed.set(found.disk, { ...found, folder: there, bytes: sum });
  }
  return [...needed.values()];
}

/** Throws a `too-large` error if a disk lacks the required space. */
export async function checkDisk(rooms: readonly Room[], freeOf = freeSpaceOf): Promise<void> {
  for (const { folder, bytes, free } of await disksOf(rooms, freeOf)) {
    if (bytes <= free) continue;
    const sentence = `the disk of ${folder} must have ${printAmount(bytes)} free, but has ${printAmount(free)}; free some space, or use another disk`;
    throw new TensorError("too-large", sentence, { file: folder, got: bytes, limit: free });
  }
}

/** Throws a `too-large` error if the disks lack the space for a new job. */
export async function checkPlannedDisk(folder: string, spec: JobSpec): Promise<void> {
  const disks = spec.planned?.disk ?? [];
  const [own, output] = [0, 1].map((at) => disks.reduce((sum, one) => sum + one[at], 0));
  await checkDisk(roomsOf({ folder: path.resolve(folder), spec }, own, output));
}

type RunningJob = Pick<JobContext, "folder" | "spec">;

/** Returns the folders in which a job writes, and the number of bytes that it adds to each folder. */
const roomsOf = ({ folder, spec }: RunningJob, own: number, output: number): Room[] => [
  { folder, bytes: own },
  ...(isUrl(spec.out.path) ? [] : [{ folder: path.dirname(spec.out.path), bytes: output }]),
];

/**
 * Checks that the disks have enough space for the rest of a stage. `part` is the fraction of the stage's tasks that
 * remain. Throws an `engine` error if a disk lacks the space.
 */
export async function checkStageDisk(
  job: RunningJob,
  stage: StageName,
  part: number,
  freeOf: FreeSpace,
): Promise<void> {
  const { planned, stages } = job.spec;
  const needed = planned?.disk[stages.findIndex(({ name }) => name === stage)];
  // The space was sufficient when the job began, but other programs may have used the disk since.
  if (needed === undefined || stage === "finish" || part === 0) return;
  const [own, output] = needed.map((bytes) => Math.ceil(bytes * part));
  for (const { folder, bytes, free } of await disksOf(roomsOf(job, own, output), freeOf)) {
    if (bytes <= free) continue;
    throw fullDisk(job, folder, free, `the stage ${stage} may still write ${printAmount(bytes)}`);
  }
}

/**
 * The minimum free space that jobs leave on a disk, in bytes. On a small disk, the minimum is a sixteenth of the disk.
 */
const LEAST_FREE = 2 ** 24;

/** Interval between disk checks, in ms. */
const LOOK = 1000;

/** Checks a job's disks before a task, at most about once a second. */
export class DiskWatch {
  readonly #freeOf: FreeSpace;
  /** The id of the last checked job, and the time of the check, in ms. */
  #seen: { readonly id: string; readonly time: number } | null = null;

  constructor(freeOf: FreeSpace) {
    this.#freeOf = freeOf;
  }

  /** Throws an `engine` error if a disk has less than 16 MB free. */
  async check(job: RunningJob): Promise<void> {
    const now = performance.now();
    if (this.#seen?.id === job.spec.id && now - this.#seen.time < LOOK) return;
    this.#seen = { id: job.spec.id, time: now };
    for (const { folder, free, size } of await disksOf(roomsOf(job, 0, 0), this.#freeOf)) {
      const least = Math.min(LEAST_FREE, Math.floor(size / 16));
      if (free >= least) continue;
      this.#seen = null;
      throw fullDisk(job, folder, free, `a running job keeps ${printAmount(least)} free`);
    }
  }
}

function fullDisk({ folder }: RunningJob, place: string, free: number, why: string): TensorError {
  const sentence =
    `the disk of ${place} has ${printAmount(free)} left, but ${why}; ` +
    `free some space, then finish the job (ndscatter job resume ${folder})`;
  return new TensorError("engine", sentence);
}

/** Returns the folder, or its nearest existing parent. */
async function existing(folder: string): Promise<string> {
  try {
    await fs.access(folder);
    return folder;
  } catch (error) {
    const above = path.dirname(folder);
    if (!isCode(error, "ENOENT") || above === folder) throw error;
    return existing(above);
  }
}
