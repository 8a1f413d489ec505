/** Checks that the disks have space for what a job will write, before the job begins and while it runs. */

import * as fs from "node:fs/promises";
import * as path from "node:path";
import { isCode, isUrl, writeFully, withFile } from "../../boxes/file.ts";
import type { JobContext } from "../stages/context.ts";
import type { StageName } from "./spec.ts";
import { TensorError } from "../../../core/errors.ts";

export interface Room {
  /** A folder, which may not exist yet. */
  readonly folder: string;
  readonly bytes: number;
}

/** The disk of a folder. */
export interface FreeDisk {
  /** A number that identifies the disk. */
  readonly disk: number;
  /** Bytes free, and bytes of the whole disk. */
  readonly free: number;
  readonly size: number;
}

/** Reports the disk of an existing folder. Tests pass a disk that fills up. */
export type FreeSpace = (folder: string) => Promise<FreeDisk>;

export const freeSpaceOf: FreeSpace = async (folder) => {
  const [{ dev }, { bavail, blocks, bsize }] = await Promise.all([
    fs.stat(folder),
    fs.statfs(folder),
  ]);
  return { disk: dev, free: bavail * bsize, size: blocks * bsize };
};

/** A disk, and the bytes needed on it. */
interface NeededDisk extends FreeDisk {
  readonly folder: string;
  readonly bytes: number;
}

/** Sums the bytes needed per disk. */
async function disksOf(rooms: readonly Room[], freeOf: FreeSpace): Promise<NeededDisk[]> {
  const needed = new Map<number, NeededDisk>();
  for (const { folder, bytes } of rooms) {
    // oxlint-disable-next-line no-await-in-loop -- two folders
    const there = await existing(folder);
    // oxlint-disable-next-line no-await-in-loop
    const found = await freeOf(there);
    const sum = (needed.get(found.disk)?.bytes ?? 0) + bytes;
    needed.set(found.disk, { ...found, folder: there, bytes: sum });
  }
  return [...needed.values()];
}

/** @throws TensorError `too-large` if a disk has less space than is needed on it */
export async function checkDisk(rooms: readonly Room[], freeOf = freeSpaceOf): Promise<void> {
  for (const { folder, bytes, free } of await disksOf(rooms, freeOf)) {
    if (bytes <= free) continue;
    const sentence = `the job needs ${printBytes(bytes)} on the disk of ${folder}, which has ${printBytes(free)} left; free some space, or use another disk`;
    throw new TensorError("too-large", sentence);
  }
}

type RunningJob = Pick<JobContext, "folder" | "spec">;

/** The folders in which a running job writes, and the bytes that it adds to each. */
const roomsOf = ({ folder, spec }: RunningJob, own: number, output: number): Room[] => [
  { folder, bytes: own },
  ...(isUrl(spec.out.path) ? [] : [{ folder: path.dirname(spec.out.path), bytes: output }]),
];

/**
 * Compares what a stage may still write with the free space of the disks.
 * @param part the part of the stage's tasks that is not done, 0 to 1
 * @throws TensorError `engine` if a disk has less
 */
export async function checkStageDisk(
  job: RunningJob,
  stage: StageName,
  part: number,
  freeOf: FreeSpace,
): Promise<void> {
  const { planned, stages } = job.spec;
  const needed = planned?.disk[stages.findIndex(({ name }) => name === stage)];
  // The space was free when the job began, but other programs may have written since.
  if (needed === undefined || stage === "finish" || part === 0) return;
  const [own, output] = needed.map((bytes) => Math.ceil(bytes * part));
  for (const { folder, bytes, free } of await disksOf(roomsOf(job, own, output), freeOf)) {
    if (bytes <= free) continue;
    throw fullDisk(job, folder, free, `the stage ${stage} may still write ${printBytes(bytes)}`);
  }
}

/** Bytes that a running job leaves free, but at most a sixteenth of the disk. */
const LEAST_FREE = 2 ** 24;

/** Milliseconds between two checks of the disks. */
const LOOK = 1000;

/** Checks the disks of jobs before a task, about once a second. */
export class DiskWatch {
  readonly #freeOf: FreeSpace;
  /** The last check: the job's id and the time in milliseconds. */
  #seen: { readonly id: string; readonly time: number } | null = null;

  constructor(freeOf: FreeSpace) {
    this.#freeOf = freeOf;
  }

  /** @throws TensorError `engine` if less than 16 MB are free on a disk */
  async check(job: RunningJob): Promise<void> {
    const now = performance.now();
    if (this.#seen?.id === job.spec.id && now - this.#seen.time < LOOK) return;
    this.#seen = { id: job.spec.id, time: now };
    for (const { folder, free, size } of await disksOf(roomsOf(job, 0, 0), this.#freeOf)) {
      const least = Math.min(LEAST_FREE, Math.floor(size / 16));
      if (free >= least) continue;
      this.#seen = null;
      throw fullDisk(job, folder, free, `a job that runs leaves ${printBytes(least)} free`);
    }
  }
}

function fullDisk({ folder }: RunningJob, place: string, free: number, why: string): TensorError {
  const sentence =
    `the disk of ${place} has ${printBytes(free)} left, but ${why}; ` +
    `free some space, then finish the job (ndscatter job resume ${folder})`;
  return new TensorError("engine", sentence);
}

/** Prints bytes as `1.2 GB`, or in the largest unit that gives at least 1. */
export function printBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  const unit = Math.min(3, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** unit).toFixed(1)} ${["kB", "MB", "GB"][unit - 1]}`;
}

/** The folder, or its nearest existing parent. */
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

/** Bytes written to measure a disk that has at least four times as many free. */
const PROBE = 2 ** 27;

/**
 * The rate of a folder's disk, in bytes per second: one file of 128 MB, or less on a nearly full disk, is written,
 * synced and removed.
 *
 * @param folder a path
 * @throws errors of the file system
 *
 * @example
 * ```ts
 * const bytesPerSecond = await diskRate(".");
 * console.log(bytesPerSecond > 0); // true
 * ```
 */
export async function diskRate(folder: string): Promise<number> {
  const there = await existing(folder);
  const file = path.join(there, `.ndscatter-${process.pid}.probe`);
  const { free } = await freeSpaceOf(there);
  const size = Math.max(2 ** 12, Math.min(PROBE, Math.floor(free / 4)));
  const bytes = new Uint8Array(size);
  // Filled with varied numbers, because some file systems do not store zeros.
  for (let at = 0; at < size; at++) bytes[at] = at * 2654435761;
  try {
    return await withFile(file, "wx", async (handle) => {
      const begin = performance.now();
      await writeFully(handle, bytes, 0);
      await handle.datasync();
      return (1000 * size) / (performance.now() - begin);
    });
  } finally {
    await fs.rm(file, { force: true });
  }
}
