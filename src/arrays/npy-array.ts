/**
 * NPY files as arrays of chunks, read and written by ranges. NPY knows no chunks: whoever opens a file says how it is
 * divided, in boxes that are contiguous in the file. Only files in C order are taken, because in others no such box is.
 */

import * as fs from "node:fs/promises";
import * as path from "node:path";
import { malformed, TensorError } from "../errors.ts";
import { parseNpyHeaderLength, printNpyHeader, readNpyHeader } from "../npy/header.ts";
import { printDescr, type ElementType } from "../npy/descr.ts";
import { swapBytes } from "../npy/layout.ts";
import { allocate, DTYPES, viewOf, type NumericStorage } from "../tensor/dtype.ts";
import { findNonBool } from "../tensor/packing.ts";
import { printShape, product, sameShape, sizeOf } from "../tensor/shape.ts";
import { bytesOf } from "../tensor/storage.ts";
import { Tensor } from "../tensor/tensor.ts";
import type { ArrayLocation, ArrayType, ChunkedArray, PendingArray } from "./array.ts";
import { isCode, readFully, withFile, writeFully } from "./file.ts";
import { defaultChunks, Grid } from "./grid.ts";
import { contiguousRuns, type Run } from "./runs.ts";

/** Beyond this, nobody counts elements exactly. */
const MAX_ELEMENTS = Number.MAX_SAFE_INTEGER;

/** Longer headers are no work of NumPy: 64 dimensions take 1.4 kB. */
const MAX_HEADER_BYTES = 2 ** 20;

/** Runs shorter than this are read together with what lies between them. In bytes. */
const SHORT_RUN = 2 ** 16;
const SPAN = 2 ** 22;

/** What is added to the name of a file that is not complete. */
const PENDING = ".part";

/**
 * Opens an NPY file.
 * @param chunkShape ones, then any size, then whole axes: `[1, 1000, 128]` of `[8, 50000, 128]`; by default chunks of
 * about 64 MiB
 * @throws TensorError `malformed-file` for what is no NPY file in C order, `dtype` for text, `shape-mismatch` for chunks
 * that are not contiguous; errors of the file system as they are
 */
export async function openNpyArray(
  file: string,
  chunkShape?: readonly number[],
): Promise<ChunkedArray> {
  const absolute = path.resolve(file);
  const head = await headOf(absolute);
  if (chunkShape !== undefined) checkContiguous(chunkShape, head.shape);
  return new NpyArray(absolute, head, chunkShape);
}

/**
 * Begins a new NPY file, which lies beside its place until it is published. Its chunks need not be contiguous.
 * @param part where it lies until then
 * @throws TensorError `dtype` for text, and for a data type that NPY lacks; `EEXIST` of the file system
 */
export async function createPendingNpy(
  file: string,
  type: ArrayType,
  part = file + PENDING,
): Promise<PendingArray> {
  const absolute = path.resolve(file);
  const { dtype, shape } = type;
  checkNumeric(dtype, absolute);
  const header = printNpyHeader(printDescr(dtype, 0), shape);
  await withFile(path.resolve(part), "wx", async (handle) => {
    await handle.truncate(header.length + product(shape) * DTYPES[dtype].bytes);
    await writeFully(handle, header, 0);
    await handle.sync();
  });
  return openPendingNpy(absolute, type.chunkShape, part);
}

/** Opens what {@link createPendingNpy} began, or has published. */
export async function openPendingNpy(
  file: string,
  chunkShape?: readonly number[],
  part = file + PENDING,
): Promise<PendingArray> {
  const absolute = path.resolve(file);
  const pending = path.resolve(part);
  const head = await headOf(pending).catch((error: unknown) => {
    if (isCode(error, "ENOENT")) return headOf(absolute);
    throw error;
  });
  return new PendingNpyArray(absolute, head, chunkShape, pending);
}

interface Head {
  readonly type: ElementType;
  readonly shape: readonly number[];
  /** Where the elements begin, in bytes. */
  readonly start: number;
  readonly fingerprint: string;
}

/** The header of a file, of which nothing else is read. */
async function headOf(file: string): Promise<Head> {
  return withFile(file, "r", async (handle) => {
    const { size: fileSize, mtimeMs } = await handle.stat();
    const first = new Uint8Array(Math.min(fileSize, 12));
    await readFully(handle, first, 0);
    const length = Math.min(parseNpyHeaderLength(first), fileSize);
    if (length > MAX_HEADER_BYTES) throw malformed(`the NPY file has a header of ${length} bytes`);
    const bytes = new Uint8Array(length);
    await readFully(handle, bytes, 0);
    const contents = readNpyHeader(bytes, { fileSize, maxSize: MAX_ELEMENTS });
    const { type, shape, start, fortranOrder } = contents;
    checkNumeric(type.dtype, file);
    // Fewer than two axes of more than one element lie the same way in both orders.
    if (fortranOrder && shape.filter((dim) => dim > 1).length > 1) {
      const advice = "save it in C order, as with np.save(path, np.ascontiguousarray(array))";
      throw malformed(`the NPY file is in Fortran order, which cannot be read in parts: ${advice}`);
    }
    const fingerprint = `${new TextDecoder("latin1").decode(bytes)} ${fileSize} ${mtimeMs}`;
    return { type, shape, start, fingerprint };
  });
}

function checkNumeric(dtype: string, file: string): void {
  if (dtype !== "string") return;
  throw new TensorError("dtype", `${path.basename(file)} holds text, which is not read in parts`);
}

class NpyArray implements ChunkedArray {
  readonly dtype: ElementType["dtype"];
  readonly shape: readonly number[];
  readonly chunkShape: readonly number[];
  readonly location: ArrayLocation;
  readonly fingerprint: string;
  readonly isPlain = true;
  protected readonly file: string;
  protected readonly head: Head;

  constructor(file: string, head: Head, given?: readonly number[]) {
    const { dtype } = head.type;
    const chunkShape = given ?? defaultChunks(head.shape, head.type.bytes);
    this.file = file;
    this.head = head;
    this.dtype = dtype;
    this.shape = head.shape;
    this.chunkShape = chunkShape;
    // Chunks that nobody chose may be chosen later.
    this.location = { format: "npy", path: file, ...(given !== undefined && { chunkShape }) };
    this.fingerprint = head.fingerprint;
  }

  async read(
    start: readonly number[] = this.shape.map(() => 0),
    shape: readonly number[] = this.shape.map((dim, d) => dim - start[d]),
  ): Promise<Tensor> {
    const size = sizeOf(shape);
    const data = allocate(this.dtype, size) as NumericStorage;
    await this.readBytes(start, shape, bytesOf(data));
    return new Tensor(this.dtype, [...shape], size, data);
  }

  async write(values: Tensor, start: readonly number[] = this.shape.map(() => 0)): Promise<void> {
    if (values.dtype !== this.dtype || this.head.type.bigEndian) {
      const own = this.head.type.bigEndian ? `big-endian ${this.dtype}` : this.dtype;
      throw new TensorError("dtype", `the NPY file holds ${own}, got ${values.dtype}`);
    }
    const from = bytesOf(values.data as NumericStorage);
    await withFile(this.file, "r+", async (handle) => {
      for (const { at, place, length } of this.runs(start, values.shape)) {
        await writeFully(handle, from.subarray(place, place + length), at);
      }
    });
  }

  async readBytes(
    start: readonly number[],
    shape: readonly number[],
    into: Uint8Array,
  ): Promise<void> {
    const runs = this.runs(start, shape);
    await withFile(this.file, "r", (handle) => readRuns(handle, runs, into));
    this.check(into.subarray(0, product(shape) * this.head.type.bytes));
  }

  async readChunk(at: readonly number[], into: Uint8Array): Promise<boolean> {
    const { start, shape } = new Grid(this.shape, this.chunkShape).boxAt(at);
    await this.readBytes(start, shape, into);
    return true;
  }

  async writeChunk(at: readonly number[], from: Uint8Array): Promise<void> {
    await this.writeTo(this.file, at, from);
  }

  protected async writeTo(file: string, at: readonly number[], from: Uint8Array): Promise<void> {
    const { start, shape } = new Grid(this.shape, this.chunkShape).boxAt(at);
    await withFile(file, "r+", async (handle) => {
      for (const run of this.runs(start, shape)) {
        await writeFully(handle, from.subarray(run.place, run.place + run.length), run.at);
      }
      await handle.datasync();
    });
  }

  /** The parts of the file that a box is, in bytes. */
  private runs(start: readonly number[], shape: readonly number[]): Run[] {
    const { bytes } = this.head.type;
    return contiguousRuns(this.shape, start, shape).map(({ at, place, length }) => ({
      at: this.head.start + at * bytes,
      place: place * bytes,
      length: length * bytes,
    }));
  }

  /** Makes what was read the bytes of a tensor. */
  private check(bytes: Uint8Array): void {
    const { dtype, unit, bigEndian } = this.head.type;
    const { buffer, byteOffset, byteLength } = bytes;
    if (bigEndian) {
      swapBytes(viewOf("uint8", buffer, byteOffset, byteLength) as NumericStorage, unit);
    }
    if (dtype !== "bool") return;
    const position = findNonBool(bytes);
    if (position === -1) return;
    throw malformed(`the NPY file has the byte ${bytes[position]}, but a bool is 0 or 1`);
  }
}

/** Chunks go into the file at once: no reader sees the file before it is published. */
class PendingNpyArray extends NpyArray implements PendingArray {
  readonly #part: string;

  constructor(file: string, head: Head, chunkShape: readonly number[] | undefined, part: string) {
    super(file, head, chunkShape);
    this.#part = part;
  }

  async stageChunk(at: readonly number[], from: Uint8Array): Promise<void> {
    await this.writeTo(this.#part, at, from);
  }

  async stageCopy(): Promise<boolean> {
    return false;
  }

  async publishChunk(): Promise<boolean> {
    return true;
  }

  async discard(): Promise<void> {}

  async endStaging(): Promise<void> {
    await fs.rm(this.#part, { force: true });
  }

  async publish(): Promise<void> {
    await fs.rename(this.#part, this.file).catch((error: unknown) => {
      if (!isCode(error, "ENOENT")) throw error;
    });
  }
}

/** Reads runs one after the other. Short ones that lie close together are read at once. */
async function readRuns(
  handle: fs.FileHandle,
  runs: readonly Run[],
  into: Uint8Array,
): Promise<void> {
  const spanOf = (first: number, last: number): number =>
    runs[last].at + runs[last].length - runs[first].at;
  for (let first = 0, last = 0; first < runs.length; first = ++last) {
    const { at, place, length } = runs[first];
    if (length < SHORT_RUN) {
      while (last + 1 < runs.length && spanOf(first, last + 1) <= SPAN) last++;
    }
    if (last === first) {
      await readFully(handle, into.subarray(place, place + length), at);
      continue;
    }
    const span = new Uint8Array(spanOf(first, last));
    await readFully(handle, span, at);
    for (const run of runs.slice(first, last + 1)) {
      into.set(span.subarray(run.at - at, run.at - at + run.length), run.place);
    }
  }
}

function checkContiguous(chunkShape: readonly number[], shape: readonly number[]): void {
  const wide = chunkShape.findIndex((dim) => dim !== 1);
  const fits =
    chunkShape.length === shape.length &&
    chunkShape.every((dim) => Number.isSafeInteger(dim) && dim >= 1) &&
    (wide === -1 || sameOrMore(chunkShape.slice(wide + 1), shape.slice(wide + 1)));
  if (fits) return;
  throw new TensorError(
    "shape-mismatch",
    `chunks ${printShape(chunkShape)} of the shape ${printShape(shape)} are not contiguous in an NPY file, whose ` +
      "chunks are ones, one size and whole axes, such as [1000, 128] of [50000, 128]",
    { got: chunkShape.length, expected: shape },
  );
}

const sameOrMore = (chunk: readonly number[], shape: readonly number[]): boolean =>
  sameShape(
    chunk.map((dim, d) => Math.min(dim, Math.max(1, shape[d]))),
    shape.map((dim) => Math.max(1, dim)),
  );
