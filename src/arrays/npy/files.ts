/** Opens, creates and writes NPY files on disk as arrays of chunks. */

import type * as Fs from "node:fs/promises";
import type * as Path from "node:path";
import { malformed } from "../../core/errors.ts";
import { DTYPES } from "../../core/tensor/dtype.ts";
import { product } from "../../core/tensor/shape.ts";
import type { ArrayType, ChunkedArray, PendingArray } from "../boxes/array.ts";
import { clippedShape } from "../boxes/boxes.ts";
import { checkChunkBytes } from "../boxes/checks.ts";
import { files, type OpenFile } from "../boxes/files.ts";
import {
  findStat,
  isCode,
  isThere,
  printState,
  readFully,
  readRanges,
  withFile,
  writeFully,
} from "../boxes/file.ts";
import { moduleOfNode } from "../boxes/node.ts";
import type { MoveAt, Ranges } from "../boxes/runs.ts";
import {
  checkContiguous,
  checkNumeric,
  NpyArray,
  readHeader,
  type NpyFile,
  type OpenedNpy,
} from "./array.ts";
import { printDescr } from "./descr.ts";
import { printNpyHeader } from "./header.ts";

// Node's modules are never null here, because this module is loaded only in environments with files.
const fs = moduleOfNode("node:fs/promises") as typeof Fs;
const path = moduleOfNode("node:path") as typeof Path;

/** Suffix of an incomplete file. */
const PENDING = ".part";

/**
 * Opens an NPY file. `chunkShape` must be contiguous in the file: ones, then any size, then whole axes, or the reverse
 * in Fortran order. By default, chunks have about 64 MiB. Throws `malformed-file` for a damaged file,
 * `unsupported-file` for another format, `unsupported-dtype`, for example for text, `shape-mismatch` for chunks that are not contiguous, or the
 * system error.
 */
export async function openNpyArray(
  file: string,
  chunkShape?: readonly number[],
): Promise<ChunkedArray> {
  const absolute = path.resolve(file);
  const opened = await openHeader(absolute);
  checkContiguous(chunkShape, opened.header);
  return new NpyArray(new LocalFile(absolute), opened, chunkShape);
}

/**
 * Creates an NPY file at a temporary path, which is renamed when the array is published. Chunks need not be contiguous.
 * `part` is the temporary path. Throws `dtype` for text and other data types that NPY lacks, or the system error
 * `EEXIST`.
 */
export async function createPendingNpy(
  file: string,
  { dtype, shape, chunkShape }: ArrayType,
  part = file + PENDING,
): Promise<PendingArray> {
  checkNumeric(dtype, path.basename(path.resolve(file)));
  const header = printNpyHeader(printDescr(dtype, 0), shape);
  await withFile(path.resolve(part), "wx", async (handle) => {
    await handle.truncate(header.length + product(shape) * DTYPES[dtype].bytes);
    await writeFully(handle, header, 0);
    await handle.sync();
  });
  return openPendingNpy(file, chunkShape, part);
}

/** Opens a file from `createPendingNpy`, published or not. */
export async function openPendingNpy(
  file: string,
  chunkShape?: readonly number[],
  part = file + PENDING,
): Promise<PendingArray> {
  const [absolute, pending] = [path.resolve(file), path.resolve(part)];
  const opened = await openHeader(pending).catch((error: unknown) => {
    if (isCode(error, "ENOENT")) return openHeader(absolute);
    throw error;
  });
  return new PendingNpyArray(absolute, opened, chunkShape, pending);
}

/** Reads only the header of a file. */
async function openHeader(file: string): Promise<OpenedNpy> {
  const use = async (handle: OpenFile): Promise<OpenedNpy> => {
    const { size, mtimeMs } = await handle.stat();
    const read: MoveAt = (at, into) => readFully(handle, into, at);
    return readHeader(read, size, `${size} ${mtimeMs}`, path.basename(file));
  };
  return withFile(file, "r", use, true);
}

class LocalFile implements NpyFile {
  readonly path: string;
  readonly reads = 1;
  readonly held = 0;
  /** Returns the present path of the bytes, which may be temporary. */
  readonly #place: () => Promise<string>;

  constructor(file: string, place = async () => file) {
    this.path = file;
    this.#place = place;
  }

  async stateOf(): Promise<string> {
    return printState(await files.stat(await this.#place()));
  }

  async read(use: (read: MoveAt) => Promise<void>): Promise<void> {
    await withFile(await this.#place(), "r", (handle) =>
      use((at, into) => readFully(handle, into, at)),
    );
  }

  async readRanges(ranges: Ranges, into: Uint8Array): Promise<void> {
    await withFile(await this.#place(), "r", (handle) => readRanges(handle, ranges, into), true);
  }

  async write(
    use: (write: MoveAt) => Promise<void>,
    fileSize: number,
    isDurable: boolean,
  ): Promise<void> {
    const file = await this.#place();
    await withFile(file, "r+", async (handle) => {
      const { size } = await handle.stat();
      // Writing past the end would fill the missing part with zeros.
      if (size < fileSize) {
        const sentence = `${file} must have ${fileSize} bytes, but was cut to ${size} since it was opened`;
        throw malformed(sentence, { file, got: size, expected: fileSize });
      }
      await use((at, from) => writeFully(handle, from, at));
      if (isDurable) await handle.datasync();
    });
  }
}

/** An unpublished NPY file. Chunks are written directly to the file, because readers cannot see an unpublished file. */
class PendingNpyArray extends NpyArray implements PendingArray {
  readonly #path: string;
  readonly #part: string;

  constructor(
    file: string,
    opened: OpenedNpy,
    chunkShape: readonly number[] | undefined,
    part: string,
  ) {
    const place = async (): Promise<string> => ((await isThere(part)) ? part : file);
    super(new LocalFile(file, place), opened, chunkShape);
    this.#path = file;
    this.#part = part;
  }

  async stageChunk(at: readonly number[], from: Uint8Array): Promise<number> {
    const box = checkChunkBytes(at, from, this, "from");
    await this.writeTo(new LocalFile(this.#part), box, true);
    return box.bytes.length;
  }

  async stageCopy(): Promise<boolean> {
    return false;
  }

  async publishChunk(): Promise<boolean> {
    return true;
  }

  async stagedSize(): Promise<null> {
    return null;
  }

  async storedSize(at: readonly number[]): Promise<number | null> {
    // Another run may publish the file at any time, so the final name is checked last.
    const stat = (await findStat(this.#part)) ?? (await findStat(this.#path));
    if (stat === null || stat.size < this.fileSize) return null;
    return product(clippedShape(at, this.shape, this.chunkShape)) * DTYPES[this.dtype].bytes;
  }

  isPending(): Promise<boolean> {
    return isThere(this.#part);
  }

  async discard(): Promise<void> {}

  async endStaging(): Promise<void> {
    await fs.rm(this.#part, { force: true });
  }

  async publish(): Promise<void> {
    await fs.rename(this.#part, this.#path).catch(async (error: unknown) => {
      if (!isCode(error, "ENOENT") || !(await isThere(this.#path))) throw error;
    });
  }
}
