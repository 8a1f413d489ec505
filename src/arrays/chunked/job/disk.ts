/** Looks whether the disks have space for what a job will write: before the job begins, and while it runs. */

import * as fs from "node:fs/promises";
import * as path from "node:path";
import { isCode, isUrl, writeFully, withFile } from "../../boxes/file.ts";
import type { JobContext } from "../stages/context.ts";
import type { StageName } from "./spec.ts";
import { TensorError } from "../../../core/errors.ts";

export interface Room {
  /** May not be there yet. */
  readonly folder: string;
  readonly bytes: number;
}

/** The disk of a folder. */
export interface FreeDisk {
  /** Another number for each disk. */
  readonly disk: number;
  /** Bytes that are left, and bytes of the whole disk. */
  readonly free: number;
  readonly size: number;
}

/** Looks at the disk of a folder that is there. Tests have one that fills. */
export type FreeSpace = (folder: string) => Promise<FreeDisk>;

export const freeSpaceOf: FreeSpace = async (folder) => {
  const [{ dev }, { bavail, blocks, bsize }] = await Promise.all([
    fs.stat(folder),
    fs.statfs(folder),
  ]);
  return { disk: dev, free: bavail * bsize, size: blocks * bsize };
};

/** A disk, and what is needed on it. */
interface NeededDisk extends FreeDisk {
  readonly folder: string;
  readonly bytes: number;
}

/** Bytes by disk. */
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

/** @throws TensorError `too-large` where a disk has less room than is needed on it */
export async function checkDisk(rooms: readonly Room[], freeOf = freeSpaceOf): Promise<void> {
  for (const { folder, bytes, free } of await disksOf(rooms, freeOf)) {
    if (bytes <= free) continue;
    const sentence = `the job needs ${printBytes(bytes)} on the disk of ${folder}, which has ${printBytes(free)} left`;
    throw new TensorError("too-large", sentence);
  }
}

type RunningJob = Pick<JobContext, "folder" | "spec">;

/** The folders in which a job that runs writes, and how much it adds to them. */
const roomsOf = ({ folder, spec }: RunningJob, own: number, output: number): Room[] => [
  { folder, bytes: own },
  ...(isUrl(spec.out.path) ? [] : [{ folder: path.dirname(spec.out.path), bytes: output }]),
];

/**
 * Compares what a stage may still write with what is left on the disks.
 * @param part of the tasks of the stage that is not done
 * @throws TensorError `engine` where a disk has less
 */
export async function checkStageDisk(
  job: RunningJob,
  stage: StageName,
  part: number,
  freeOf: FreeSpace,
): Promise<void> {
  const { planned, stages } = job.spec;
  const needed = planned?.disk[stages.findIndex(({ name }) => name === stage)];
  // Other programs may write too: what is left must not only be enough for the end of the job.
  if (needed === undefined || stage === "finish" || part === 0) return;
  const [own, output] = needed.map((bytes) => Math.ceil(bytes * part));
  for (const { folder, bytes, free } of await disksOf(roomsOf(job, own, output), freeOf)) {
    if (bytes <= free) continue;
    throw fullDisk(job, folder, free, `the stage ${stage} may still write ${printBytes(bytes)}`);
  }
}

/** Bytes that a job that runs leaves free, but at most a sixteenth of the disk. */
const LEAST_FREE = 2 ** 24;

/** Milliseconds between two looks at the disks. */
const LOOK = 1000;

/** Looks at the disks of jobs, before a task and about once a second. */
export class DiskWatch {
  readonly #freeOf: FreeSpace;
  /** When the disks of a job were looked at, by the job's id. */
  #seen: { readonly id: string; readonly time: number } | null = null;

  constructor(freeOf: FreeSpace) {
    this.#freeOf = freeOf;
  }

  /** @throws TensorError `engine` where less than 16 MB are left on a disk */
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

/** The folder, or the nearest one above it that is there. */
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

/** Bytes that are written to learn what a disk gives, where it has four times as many left. */
const PROBE = 2 ** 27;

/**
 * Bytes a second that the disk of a folder takes when one file is written and synced: of 128 MB, which are removed, or of
 * less where the disk is nearly full.
 */
export async function diskRate(folder: string): Promise<number> {
  const there = await existing(folder);
  const file = path.join(there, `.ndscatter-${process.pid}.probe`);
  const { free } = await freeSpaceOf(there);
  const size = Math.max(2 ** 12, Math.min(PROBE, Math.floor(free / 4)));
  const bytes = new Uint8Array(size);
  // Numbers, because some file systems store no zeros.
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
