/**
 * Reads and writes byte ranges of files. An operating system call transfers at most 2 GiB, and may transfer less than
 * requested.
 */

import { printCount } from "../../core/foreign.ts";
import { isError, isTensorError, malformed } from "../../core/errors.ts";
import type * as Fs from "node:fs";
import type * as Path from "node:path";
import { FILES, ZARR } from "../../core/limits.ts";
import { OPEN } from "../../core/resources.ts";
import { files, quickFiles, type OpenFile } from "./files.ts";
import { moduleOfNode } from "./node.ts";
import { inParallel } from "./parallel.ts";
import type { Ranges } from "./runs.ts";

// Node's modules are never null here, because this module is loaded only in environments with files.
const fs = moduleOfNode("node:fs") as typeof Fs;
const path = moduleOfNode("node:path") as typeof Path;

/** Returns true for any URL, such as `s3://bucket/key`. */
export const isUrl = (location: string): boolean => /^[a-z][a-z0-9+.-]+:\/\//i.test(location);

/** Returns true for a system error with one of the given codes, such as `ENOENT`. */
export const isCode = (error: unknown, ...codes: string[]): boolean =>
  isError(error) && "code" in error && codes.includes(String(error.code));

/** Returns the size and times of a file or folder, or null if the path does not exist. */
export const findStat = (file: string): Promise<Fs.Stats | null> =>
  files.stat(file).catch((error: unknown) => {
    if (isCode(error, "ENOENT")) return null;
    throw error;
  });

export const isThere = (file: string): Promise<boolean> =>
  files.stat(file).then(
    () => true,
    (error: unknown) => {
      if (isCode(error, "ENOENT")) return false;
      throw error;
    },
  );

/**
 * Prints a file's size and modification time, so that a change of the file can be detected. Times are rounded to
 * milliseconds, because some copying programs preserve no more precision.
 */
export const printState = ({ size, mtimeMs }: { size: number; mtimeMs: number }): string =>
  `${size} ${Math.round(mtimeMs)}`;

/** Opens a file, which must be closed with `closeFile`. `isForMany` is true for many short reads. */
export async function openFile(
  file: string,
  flags: string | number,
  isForMany = false,
): Promise<OpenFile> {
  const { O_NONBLOCK = 0, O_RDONLY } = fs.constants;
  // A pipe must not block, because opening a pipe waits until another process writes to it.
  const all = flags === "r" ? O_RDONLY | O_NONBLOCK : flags;
  const handle = await (isForMany ? quickFiles : files).open(file, all);
  OPEN.files++;
  return handle;
}

/** The maximum size of a text file, in bytes. The longest text is the mark of a task with 4096 chunks. */
export const MOST_TEXT = 2 ** 20;

/**
 * Reads the text of an open file. Throws a `malformed-file` error for more than `most` bytes, and for anything but a
 * regular file, because a device may be endless. System errors do not name the file.
 */
export async function readText(handle: OpenFile, file: string, most = MOST_TEXT): Promise<string> {
  const stat = await handle.stat();
  if (!stat.isFile()) {
    const sentence = `${file} must be a file, got a folder, a pipe or a device; remove it`;
    throw malformed(sentence, { file });
  }
  if (stat.size > most) {
    const sentence = `${file} must have at most ${most} bytes, the limit for a job's files, got ${stat.size}`;
    throw malformed(sentence, { file, got: stat.size, limit: most });
  }
  const bytes = new Uint8Array(stat.size);
  await readFully(handle, bytes, 0);
  return new TextDecoder().decode(bytes);
}

/** Reads a small file like `readText`; returns null if the file does not exist. */
export async function findText(file: string, most = MOST_TEXT): Promise<string | null> {
  try {
    return await withFile(file, "r", (handle) => readText(handle, file, most));
  } catch (error) {
    if (isCode(error, "ENOENT", "ENOTDIR")) return null;
    throw placeError(error);
  }
}

/**
 * System error codes for a path of the wrong kind, such as a folder instead of a file, a link loop or an overlong name.
 */
const WRONG_PLACE = "EISDIR ERR_FS_EISDIR ENOTDIR ELOOP ENAMETOOLONG EEXIST ESPIPE ENXIO".split(
  " ",
);

/** Converts a system error into an error about the file, if every retry would fail in the same way. */
export function placeError(error: unknown): unknown {
  if (!isCode(error, ...WRONG_PLACE)) return error;
  const { code, path: place = "a file" } = error as NodeJS.ErrnoException;
  const sentence = `${place} must be a file or a folder that a task made, got something else (${code}); remove it`;
  return malformed(sentence, {}, { cause: error });
}

/** Creates an empty file unless the path exists. Links are not followed, so no other file can be changed. */
export const makeEmpty = (file: string): Promise<void> =>
  files.writeFile(file, "", { flag: "wx" }).catch((error: unknown) => {
    if (!isCode(error, "EEXIST")) throw withPath(error, file);
  });

export function closeFile(handle: OpenFile): Promise<void> {
  // The system closes the file even if it reports an error.
  OPEN.files--;
  return handle.close();
}

/**
 * Creates a folder and its missing parents. Node's option `recursive` is not used, because on a read-only file system
 * it fails with "no such file".
 */
export async function makeFolders(folder: string): Promise<void> {
  const parent = path.dirname(folder);
  try {
    await files.mkdir(folder).catch(async (error: unknown) => {
      if (!isCode(error, "ENOENT") || parent === folder) throw error;
      await makeFolders(parent);
      await files.mkdir(folder);
    });
  } catch (error) {
    // A read-only file system reports the same error for an existing folder.
    const isFolder = await files.stat(folder).then(
      (stat) => stat.isDirectory(),
      () => false,
    );
    if (!isFolder) throw error;
  }
}

/**
 * Opens a file, calls `use`, closes the file, and returns the result of `use`. The file's path is added to system
 * errors. `isForMany` is true for many short reads.
 */
export async function withFile<T>(
  file: string,
  flags: "r" | "r+" | "w" | "wx" | number,
  use: (handle: OpenFile) => Promise<T>,
  isForMany = false,
): Promise<T> {
  const handle = await openFile(file, flags, isForMany);
  try {
    try {
      return await use(handle);
    } finally {
      await closeFile(handle);
    }
  } catch (error) {
    throw withPath(error, file);
  }
}

/** Adds the path of an open file to system errors of an action on the file. */
export const inFile = <T>(file: string, action: Promise<T>): Promise<T> =>
  action.catch((error: unknown) => {
    throw withPath(error, file);
  });

/** Adds the file's path to a system error, because errors such as a full disk do not name the open file. */
export function withPath(error: unknown, file: string): unknown {
  // The property `errno` cannot be tested, because Deno's errors lack it.
  const isBare =
    isError(error) &&
    "code" in error &&
    !isTensorError(error) &&
    Reflect.get(error, "path") === undefined;
  return isBare ? Object.assign(error, { path: file }) : error;
}

/** System error codes for a folder that contains files, that is gone, or that this user cannot remove. */
const STAYS = [
  "ENOTEMPTY",
  "EEXIST",
  "ENOENT",
  "ENOTDIR",
  "EACCES",
  "EBUSY",
  "EINVAL",
  "EPERM",
  "EROFS",
];

/** Removes an empty folder, and keeps a folder that cannot be removed. */
export const removeEmpty = (folder: string): Promise<void> =>
  fs.promises.rmdir(folder).catch((error: unknown) => {
    if (!isCode(error, ...STAYS)) throw error;
  });

export const isEmptyFolder = (folder: string): Promise<boolean> =>
  fs.promises.readdir(folder).then(
    (entries) => entries.length === 0,
    (error: unknown) => {
      if (isCode(error, "ENOENT", "ENOTDIR")) return false;
      throw error;
    },
  );

/** Syncs a folder's entries to disk, or does nothing on systems that cannot open folders. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await openFile(folder, "r").catch(() => null);
  if (handle === null) return;
  await inFile(
    folder,
    handle.sync().finally(() => closeFile(handle)),
  );
}

/** Fills `into` with the bytes from position `at`. Throws a `malformed-file` error if the file ends too early. */
export async function readFully(
  handle: Pick<OpenFile, "read">,
  into: Uint8Array,
  at: number,
): Promise<void> {
  for (let done = 0; done < into.length;) {
    const length = Math.min(into.length - done, FILES.atOnce);
    const { bytesRead } = await handle.read(into, done, length, at + done);
    if (bytesRead === 0) {
      const [byte, expected] = [at + done, into.length];
      const sentence = `the file ends at byte ${byte}, ${printCount(expected - done, "byte")} too early`;
      throw malformed(sentence, { byte, got: done, expected });
    }
    done += bytesRead;
  }
}

/** Fills `into` with byte ranges, one after another. Many short ranges are read without a promise for each range. */
export async function readRanges(
  handle: OpenFile,
  { starts, lengths }: Ranges,
  into: Uint8Array,
): Promise<void> {
  // `read` would ask again whether the call may block, and then block.
  const later: Pick<OpenFile, "read"> = {
    read: (...args) => handle.readLater?.(...args) ?? handle.read(...args),
  };
  function* remaining(): Generator<readonly [at: number, part: Uint8Array]> {
    let place = 0;
    for (let i = 0; i < starts.length; i++) {
      const part = into.subarray(place, (place += lengths[i]));
      if (handle.readNow?.(part, starts[i]) !== true) yield [starts[i], part];
    }
  }
  await inParallel(remaining(), ZARR.requests, ([at, part]) => readFully(later, part, at));
}

export async function writeFully(
  handle: Pick<OpenFile, "write">,
  from: Uint8Array,
  at: number,
): Promise<void> {
  for (let done = 0; done < from.length;) {
    const length = Math.min(from.length - done, FILES.atOnce);
    done += (await handle.write(from, done, length, at + done)).bytesWritten;
  }
}
