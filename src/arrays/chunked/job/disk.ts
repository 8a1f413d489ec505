/** Looks whether the disks have room for what a job will write, before it writes. */

import * as fs from "node:fs/promises";
import * as path from "node:path";
import { isCode, writeFully, withFile } from "../../boxes/file.ts";
import { TensorError } from "../../../core/errors.ts";

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
    const sentence = `the job needs ${printBytes(bytes)} on the disk of ${folder}, which has ${printBytes(free)} left`;
    throw new TensorError("too-large", sentence);
  }
}

/** Prints bytes as `1.2 GB`, or in the largest unit that gives at least 1. */
function printBytes(bytes: number): string {
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

/** Bytes that are written to learn what a disk gives. */
const PROBE = 2 ** 27;

/** Bytes a second that the disk of a folder takes when one file is written and synced: 128 MB, which are removed. */
export async function diskRate(folder: string): Promise<number> {
  const file = path.join(folder, `.ndscatter-${process.pid}.probe`);
  const bytes = new Uint8Array(PROBE);
  // Numbers, because some file systems store no zeros.
  for (let at = 0; at < PROBE; at++) bytes[at] = at * 2654435761;
  try {
    return await withFile(file, "wx", async (handle) => {
      const begin = performance.now();
      await writeFully(handle, bytes, 0);
      await handle.datasync();
      return (1000 * PROBE) / (performance.now() - begin);
    });
  } finally {
    await fs.rm(file, { force: true });
  }
}
