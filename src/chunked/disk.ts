/** Looks whether the disks have room for what a job will write, before it writes. */

import * as fs from "node:fs/promises";
import * as path from "node:path";
import { TensorError } from "../errors.ts";
import { isMissing } from "./job.ts";

export interface Room {
  /** May not be there yet. */
  readonly folder: string;
  readonly bytes: number;
}

/** @throws TensorError `too-large` where a disk has less room than is needed on it */
export async function checkDisk(rooms: readonly Room[]): Promise<void> {
  const needed = new Map<number, { folder: string; bytes: number; free: number }>();
  for (const { folder, bytes } of rooms) {
    const there = await existing(folder);
    const [{ dev }, { bavail, bsize }] = await Promise.all([fs.stat(there), fs.statfs(there)]);
    const sum = (needed.get(dev)?.bytes ?? 0) + bytes;
    needed.set(dev, { folder: there, bytes: sum, free: bavail * bsize });
  }
  for (const { folder, bytes, free } of needed.values()) {
    if (bytes <= free) continue;
    const sentence = `the job needs ${gigabytes(bytes)} on the disk of ${folder}, which has ${gigabytes(free)} left`;
    throw new TensorError("too-large", sentence);
  }
}

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;

/** The folder, or the nearest one above it that is there. */
async function existing(folder: string): Promise<string> {
  try {
    await fs.access(folder);
    return folder;
  } catch (error) {
    const above = path.dirname(folder);
    if (!isMissing(error) || above === folder) throw error;
    return existing(above);
  }
}
