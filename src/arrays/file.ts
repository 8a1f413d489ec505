/** Files by ranges. The system reads and writes at most 2 GiB at once, and less when it likes. */

import * as fs from "node:fs/promises";
import { malformed } from "../errors.ts";

/** Bytes that are read or written at once. */
const MOST_AT_ONCE = 2 ** 30;

/** Whether an array is in object storage, or anywhere else that has no paths. */
export const isUrl = (location: string): boolean => /^[a-z][a-z0-9+.-]+:\/\//i.test(location);

/** Whether an error is the system's own with one of these codes, such as `ENOENT`. */
export const isCode = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && "code" in error && codes.includes(String(error.code));

/** Returns what `use` makes of an open file, and closes the file. */
export async function withFile<T>(
  file: string,
  flags: "r" | "r+" | "w" | "wx",
  use: (handle: fs.FileHandle) => Promise<T>,
): Promise<T> {
  const handle = await fs.open(file, flags);
  try {
    return await use(handle);
  } finally {
    await handle.close();
  }
}

/** Waits until the disk has the names in a folder; where the system cannot open folders, it does not. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await fs.open(folder, "r").catch(() => null);
  try {
    await handle?.sync();
  } finally {
    await handle?.close();
  }
}

/**
 * Fills `into` from byte `at` on.
 * @throws TensorError `malformed-file` where the file ends before
 */
export async function readFully(
  handle: fs.FileHandle,
  into: Uint8Array,
  at: number,
): Promise<void> {
  for (let done = 0; done < into.length;) {
    const length = Math.min(into.length - done, MOST_AT_ONCE);
    const { bytesRead } = await handle.read(into, done, length, at + done);
    if (bytesRead === 0) {
      throw malformed(`the file ends at byte ${at + done}, ${into.length - done} bytes too early`);
    }
    done += bytesRead;
  }
}

export async function writeFully(
  handle: fs.FileHandle,
  from: Uint8Array,
  at: number,
): Promise<void> {
  for (let done = 0; done < from.length;) {
    const length = Math.min(from.length - done, MOST_AT_ONCE);
    const { bytesWritten } = await handle.write(from, done, length, at + done);
    done += bytesWritten;
  }
}
