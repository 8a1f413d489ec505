/**
 * Stores arrays in folders. Every file appears complete, because it is written under a temporary name in the same
 * folder and then renamed.
 */

import type * as PlainFs from "node:fs";
import type * as Fs from "node:fs/promises";
import type * as Path from "node:path";
import {
  closeFile,
  inFile,
  isCode,
  makeFolders,
  openFile,
  printState,
  readFully,
  readRanges,
  withFile,
  writeFully,
} from "../../boxes/file.ts";
import type { Guard } from "../../boxes/array.ts";
import { files, quickFiles, type OpenFile } from "../../boxes/files.ts";
import { moduleOfNode } from "../../boxes/node.ts";
import { FILES, ZARR } from "../../../core/limits.ts";
import { join, lengthOf } from "../codecs/gzip.ts";
import {
  isOfArray,
  memorySource,
  STAGING,
  type Source,
  type Staging,
  type ArrayStore,
  type StoredObject,
} from "./store.ts";

// Node's modules are never null here, because this module is loaded only in environments with files.
const { constants } = moduleOfNode("node:fs") as typeof PlainFs;
const fs = moduleOfNode("node:fs/promises") as typeof Fs;
const path = moduleOfNode("node:path") as typeof Path;

/** Calls `action` and returns its result, or null if the file does not exist. */
async function ifThere<T>(action: () => Promise<T>): Promise<T | null> {
  try {
    return await action();
  } catch (error) {
    // The code ENOTDIR means that a parent of the path is a file.
    if (isCode(error, "ENOENT", "ENOTDIR")) return null;
    throw error;
  }
}

async function openSource(file: string, isForMany = false): Promise<Source | null> {
  const handle = await ifThere(() => openFile(file, "r", isForMany));
  if (handle === null) return null;
  try {
    const stat = await inFile(file, handle.stat());
    // A folder at the path of a chunk does not count as a chunk.
    if (stat.isFile())
      return {
        size: stat.size,
        bytes: null,
        state: printState(stat),
        read: (offset, into) => inFile(file, readFully(handle, into, offset)),
        readRanges: (ranges, into) => inFile(file, readRanges(handle, ranges, into)),
        close: () => inFile(file, closeFile(handle)),
      };
  } catch (error) {
    await closeFile(handle).catch(() => {});
    throw error;
  }
  await inFile(file, closeFile(handle));
  return memorySource(new Uint8Array(0));
}

/** Calls `action`, and creates the file's folder only after a failure, because most folders already exist. */
async function inFolder<T>(file: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (!isCode(error, "ENOENT")) throw error;
    await makeFolders(path.dirname(file));
    return action();
  }
}

async function writeParts(handle: OpenFile, parts: readonly Uint8Array[]): Promise<void> {
  const pieces = lengthOf(parts) <= ZARR.joined ? [join(parts)] : parts;
  let at = 0;
  for (const piece of pieces) {
    await writeFully(handle, piece, at);
    at += piece.length;
  }
}

async function writeFile(
  file: string,
  parts: readonly Uint8Array[],
  isDurable: boolean,
): Promise<void> {
  await inFolder(file, () =>
    withFile(file, "w", async (handle) => {
      await writeParts(handle, parts);
      if (isDurable) await handle.datasync();
    }),
  );
}

/** Writes a file under a temporary name, which is passed to `place` for renaming or linking. */
async function writeBeside<T>(
  file: string,
  parts: readonly Uint8Array[],
  isDurable: boolean,
  place: (beside: string) => Promise<T>,
): Promise<T> {
  const beside = `${file}.${globalThis.crypto.randomUUID()}.tmp`;
  try {
    await writeFile(beside, parts, isDurable);
    const placed = await place(beside);
    await files.rm(beside, { force: true });
    return placed;
  } catch (error) {
    // A failed removal must not hide the original error: Bun throws EFAULT if part of the path is a file.
    await files.rm(beside, { force: true }).catch(() => {});
    throw error;
  }
}

/** The error codes of file systems without links. */
const NO_LINKS = ["EPERM", "ENOSYS", "ENOTSUP", "EOPNOTSUPP", "EXDEV"];

/**
 * Creates a file by linking, which succeeds only for the first of several writers. On file systems without links, the
 * file is copied, without overwriting an existing file.
 */
const putNewFile = (file: string, parts: readonly Uint8Array[]): Promise<boolean> =>
  writeBeside(file, parts, true, async (beside) => {
    try {
      await files.link(beside, file).catch(async (error: unknown) => {
        if (!isCode(error, ...NO_LINKS)) throw error;
        // Node's function is called directly, because errors of Deno's blocking function lack a code.
        await fs.copyFile(beside, file, constants.COPYFILE_EXCL);
      });
      return true;
    } catch (error) {
      if (isCode(error, "EEXIST")) return false;
      throw error;
    }
  });

export class FileStore implements ArrayStore {
  readonly path: string;
  readonly concurrency = ZARR.requests;
  readonly staging: Staging;

  readonly #guard: Guard | undefined;

  /** `guard` is called before a file is opened, written or removed. */
  constructor(folder: string, guard?: Guard) {
    this.path = path.resolve(folder);
    this.#guard = guard;
    this.staging = new FileStaging(this);
  }

  fileOf(key: string): string {
    // A key consists of names and slashes, so the path needs no normalization.
    return this.path + path.sep + (path.sep === "/" ? key : key.replaceAll("/", path.sep));
  }

  /** Returns the path from which a key is read. Throws the error of the guard. */
  fileToRead(key: string): string | Promise<string> {
    const file = this.fileOf(key);
    return this.#guard === undefined ? file : this.#guard(file).then(() => file);
  }

  /** Returns the path of a key for replacing or removing the file, which does not follow links. */
  fileToWrite(key: string): string | Promise<string> {
    const file = this.fileOf(key);
    return this.#guard === undefined ? file : this.#guard(path.dirname(file)).then(() => file);
  }

  async open(key: string, isForMany = false): Promise<Source | null> {
    return openSource(await this.fileToRead(key), isForMany);
  }

  async peek(length: number): Promise<"folder" | Uint8Array | null> {
    const stat = await ifThere(() => files.stat(this.path));
    if (stat === null || stat.isDirectory()) return stat === null ? null : "folder";
    const source = await openSource(this.path);
    const bytes = new Uint8Array(Math.min(length, source?.size ?? 0));
    await source?.read(0, bytes);
    await source?.close();
    return bytes;
  }

  async stateOf(key: string): Promise<string> {
    const file = await this.fileToRead(key);
    const stat = await ifThere(() => quickFiles.stat(file));
    return stat === null ? "" : printState(stat);
  }

  async sizeOf(key: string): Promise<number | null> {
    const file = await this.fileToRead(key);
    const stat = await ifThere(() => files.stat(file));
    // A folder at the path of a chunk does not count as a chunk.
    return stat?.isFile() === true ? stat.size : null;
  }

  async put(key: string, parts: readonly Uint8Array[], isDurable = false): Promise<void> {
    const file = await this.fileToWrite(key);
    return writeBeside(file, parts, isDurable, (beside) => files.rename(beside, file));
  }

  async putNew(key: string, parts: readonly Uint8Array[]): Promise<boolean> {
    return putNewFile(await this.fileToWrite(key), parts);
  }

  async remove(key: string): Promise<void> {
    await files.rm(await this.fileToWrite(key), { force: true });
  }

  async clear(): Promise<void> {
    for (const name of ["zarr.json", ".zarray"]) await fs.rm(this.fileOf(name), { force: true });
    const names = (await ifThere(() => fs.readdir(this.path))) ?? [];
    for (const name of names.filter(isOfArray)) {
      await fs.rm(this.fileOf(name), { recursive: true, force: true });
    }
  }

  async folders(prefix: string): Promise<readonly string[]> {
    const folder = this.fileOf(prefix === "" ? "." : prefix.slice(0, -1));
    const entries = (await ifThere(() => fs.readdir(folder, { withFileTypes: true }))) ?? [];
    // A link may point to a folder.
    return entries.flatMap((entry) => (entry.isFile() ? [] : [entry.name]));
  }

  list(): AsyncIterable<StoredObject> {
    return listFolder(this.path, "");
  }
}

async function* listFolder(folder: string, prefix: string): AsyncGenerator<StoredObject> {
  const entries = (await ifThere(() => fs.opendir(folder))) ?? [];
  for await (const entry of entries) {
    const [key, file] = [prefix + entry.name, path.join(folder, entry.name)];
    if (entry.isDirectory()) {
      if (entry.name !== STAGING) yield* listFolder(file, `${key}/`);
      continue;
    }
    const stat = await ifThere(() => files.stat(file));
    if (stat?.isFile() === true) yield { key, size: stat.size };
  }
}

class FileStaging implements Staging {
  readonly #store: FileStore;
  /** True if the folder of the last chunk was missing, so that the next chunk's folder is created in advance. */
  #isNew = false;

  constructor(store: FileStore) {
    this.#store = store;
  }

  #file(name: string): string | Promise<string> {
    return this.#store.fileToWrite(`${STAGING}/${name}`);
  }

  open(name: string): Promise<Source | null> {
    return this.#store.open(`${STAGING}/${name}`);
  }

  async names(folder: string): Promise<readonly string[]> {
    const place = await this.#store.fileToRead(`${STAGING}/${folder}`);
    return (await ifThere(() => fs.readdir(place))) ?? [];
  }

  async put(name: string, parts: readonly Uint8Array[]): Promise<void> {
    await writeFile(await this.#file(name), parts, true);
  }

  async putNew(name: string, parts: readonly Uint8Array[]): Promise<boolean> {
    return putNewFile(await this.#file(name), parts);
  }

  async copy(from: ArrayStore, key: string, name: string, most = Infinity): Promise<boolean> {
    if (!(from instanceof FileStore)) return false;
    const [source, file] = [await from.fileToRead(key), await this.#file(name)];
    // Without a source chunk, nothing is copied. If the target folder does not exist, the write below creates it.
    const stat = await ifThere(() => files.stat(source));
    if (stat === null || stat.size > most) return false;
    if (stat.size <= FILES.short) {
      // Small files are read and written, because the system's copy function takes 9 calls, and syncing takes another
      // 3.
      const bytes = await ifThere(() => inFile(source, files.readFile(source)));
      if (bytes === null) return false;
      await this.put(name, [bytes]);
      return true;
    }
    const mode = constants.COPYFILE_FICLONE;
    await inFolder(file, () => files.copyFile(source, file, mode));
    await withFile(file, "r+", (handle) => handle.datasync());
    return true;
  }

  async publish(name: string, key: string): Promise<boolean> {
    const [staged, file] = [await this.#file(name), await this.#store.fileToWrite(key)];
    const rename = (): Promise<true | null> =>
      ifThere(() => files.rename(staged, file).then(() => true as const));
    if (this.#isNew) await this.#makeFolder(path.dirname(file));
    if ((await rename()) !== null) return true;
    // The rename has failed because the staged file or the target folder is missing.
    if ((await ifThere(() => files.stat(staged))) === null) return false;
    this.#isNew = true;
    await makeFolders(path.dirname(file));
    return (await rename()) ?? false;
  }

  /** Creates a folder in an existing folder. */
  async #makeFolder(folder: string): Promise<void> {
    try {
      await files.mkdir(folder);
    } catch (error) {
      if (!isCode(error, "EEXIST", "ENOENT", "ENOTDIR")) throw error;
      this.#isNew = false;
    }
  }

  async remove(name: string): Promise<void> {
    await files.rm(await this.#file(name), { force: true });
  }

  end(): Promise<void> {
    const folder = this.#store.fileOf(STAGING);
    return fs.rm(folder, { recursive: true, force: true });
  }
}
