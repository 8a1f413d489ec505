/**
 * Reads and writes NPY files as arrays of chunks, by byte ranges. NPY does not define chunks, so the caller chooses a
 * chunk shape that is contiguous in the file. Files in Fortran order are rejected, because their chunks are not
 * contiguous.
 */

import type * as Fs from "node:fs/promises";
import type * as Path from "node:path";
import { isArray, wrongOption } from "../../core/foreign.ts";
import { malformed, TensorError, unsupported } from "../../core/errors.ts";
import { parseNpyHeaderLength, printNpyHeader, readNpyHeader } from "../npy/header.ts";
import { printDescr, type ElementType } from "../npy/descr.ts";
import { swapBytes } from "../npy/layout.ts";
import { allocate, DTYPES, type NumericStorage } from "../../core/tensor/dtype.ts";
import { bytesOf, findNonBool } from "../../core/tensor/storage.ts";
import { ZARR } from "../../core/limits.ts";
import { HEAD } from "../../core/tensor/bytes.ts";
import { printShape, product, shapeOf } from "../../core/tensor/shape.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import type {
  ArrayLocation,
  ArrayType,
  AxisRange,
  ChunkedArray,
  HeldBytes,
  PendingArray,
  ReadBox,
  Staged,
} from "./array.ts";
import type { AxisBoxes } from "./axis-boxes.ts";
import { clippedShape } from "./boxes.ts";
import { checkChunkBytes, checkRead, checkStart, checkWrite, type CheckedBox } from "./checks.ts";
import { files, type OpenFile } from "./files.ts";
import { findStat, isCode, isThere, printState, readFully, withFile, writeFully } from "./file.ts";
import { areContiguous, defaultChunks } from "./grid.ts";
import { moduleOfNode } from "./node.ts";
import { inParallel } from "./parallel.ts";
import {
  contiguousRuns,
  groupsOf,
  mostInGroups,
  readGroup,
  type ReadAt,
  type Run,
} from "./runs.ts";
import { sliceOf } from "./slice.ts";

// Node's modules are never null here, because this module is loaded only in environments with files.
const fs = moduleOfNode("node:fs/promises") as typeof Fs;
const path = moduleOfNode("node:path") as typeof Path;

/** The maximum number of elements, because JavaScript cannot represent larger integers exactly. */
const MAX_ELEMENTS = Number.MAX_SAFE_INTEGER;

/** Maximum size of a header, in bytes. NumPy writes shorter headers: 64 dimensions take 1.4 kB. */
const MAX_HEADER_BYTES = 2 ** 20;

/** Suffix of an incomplete file. */
const PENDING = ".part";

/**
 * Opens an NPY file. `chunkShape` consists of ones, then any size, then whole axes; by default, chunks have about 64
 * MiB. Throws `malformed-file` for a missing or damaged file, `unsupported-file` unless the file is NPY in C order,
 * `dtype` for text, or `shape-mismatch` for chunks that are not contiguous.
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
 * Creates an NPY file at a temporary path, which is renamed when the array is published. Chunks need not be contiguous.
 * `part` is the temporary path. Throws `dtype` for text and other data types that NPY lacks, or the system error
 * `EEXIST`.
 */
export async function createPendingNpy(
  file: string,
  type: ArrayType,
  part = file + PENDING,
): Promise<PendingArray> {
  const absolute = path.resolve(file);
  const { dtype, shape } = type;
  checkNumeric(dtype, path.basename(absolute));
  const header = printNpyHeader(printDescr(dtype, 0), shape);
  await withFile(path.resolve(part), "wx", async (handle) => {
    await handle.truncate(header.length + product(shape) * DTYPES[dtype].bytes);
    await writeFully(handle, header, 0);
    await handle.sync();
  });
  return openPendingNpy(absolute, type.chunkShape, part);
}

/** Opens a file from `createPendingNpy`, published or not. */
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

export interface Head {
  readonly type: ElementType;
  readonly shape: readonly number[];
  /** The offset of the first element, in bytes. */
  readonly start: number;
  readonly fingerprint: string;
}

/** Reads only the header of a file. */
const headOf = (file: string): Promise<Head> =>
  withFile(file, "r", async (handle) => {
    const { size, mtimeMs } = await handle.stat();
    const read: ReadAt = (at, into) => readFully(handle, into, at);
    return headIn({ size, state: `${size} ${mtimeMs}`, read }, path.basename(file));
  });

/** A local or remote file that is read by byte ranges. */
export interface NpySource {
  /** File size, in bytes. */
  readonly size: number;
  /** Text that changes whenever the file changes. */
  readonly state: string;
  readonly read: ReadAt;
}

/** Reads the header from the first bytes of the file. Error messages call the file `name`. */
export async function headIn(
  { size: fileSize, state, read }: NpySource,
  name: string,
): Promise<Head> {
  const first = new Uint8Array(Math.min(fileSize, HEAD));
  await read(0, first);
  const length = Math.min(parseNpyHeaderLength(first), fileSize);
  if (length > MAX_HEADER_BYTES) {
    throw unsupported(
      `the header of the NPY file must have at most ${MAX_HEADER_BYTES} bytes, got ${length}`,
      { got: length, limit: MAX_HEADER_BYTES },
    );
  }
  const bytes = new Uint8Array(length);
  await read(0, bytes);
  const contents = readNpyHeader(bytes, { fileSize, maxSize: MAX_ELEMENTS });
  const { type, shape, start, fortranOrder } = contents;
  checkNumeric(type.dtype, name);
  // C order and Fortran order are identical if fewer than two axes are longer than 1.
  if (fortranOrder && shape.filter((dim) => dim > 1).length > 1) {
    const advice = "save it again with np.save(path, np.ascontiguousarray(array))";
    throw unsupported(
      `the NPY file must be in C order to be read in parts, got Fortran order; ${advice}`,
      { key: "fortran_order", got: true, expected: false },
    );
  }
  const fingerprint = `${new TextDecoder("latin1").decode(bytes)} ${state}`;
  return { type, shape, start, fingerprint };
}

function checkNumeric(dtype: string, name: string): void {
  if (dtype !== "string") return;
  throw new TensorError("dtype", `${name} must hold numbers to be read in parts, got text`, {
    input: name,
    got: dtype,
  });
}

export class NpyArray implements ChunkedArray {
  readonly dtype: ElementType["dtype"];
  readonly shape: readonly number[];
  readonly chunkShape: readonly number[];
  readonly location: ArrayLocation;
  readonly fingerprint: string;
  readonly held: HeldBytes;
  readonly mostStored: number;
  protected readonly file: string;
  readonly #head: Head;

  constructor(file: string, head: Head, given?: readonly number[]) {
    const { dtype } = head.type;
    const chunkShape = given ?? defaultChunks(head.shape, head.type.bytes);
    this.file = file;
    const bytes = product(chunkShape) * head.type.bytes;
    this.mostStored = bytes;
    // Before big-endian elements are written, their bytes are swapped in a copy.
    this.held = { read: 0, write: head.type.bigEndian ? bytes : 0 };
    this.#head = head;
    this.dtype = dtype;
    this.shape = head.shape;
    this.chunkShape = chunkShape;
    // A default chunk shape is not recorded, so that another shape can be chosen later.
    this.location = { format: "npy", path: file, ...(given !== undefined && { chunkShape }) };
    this.fingerprint = head.fingerprint;
  }

  slice(...ranges: readonly AxisRange[]): ChunkedArray {
    return sliceOf(this, ranges);
  }

  async read(start?: readonly number[], shape?: readonly number[]): Promise<Tensor> {
    const from = checkStart(start, this);
    const rest = this.shape.map((dim, axis) => Math.max(0, dim - from[axis]));
    const { shape: dims, size } = shapeOf(shape ?? rest);
    const data = allocate(this.dtype, size) as NumericStorage;
    await this.readBytes(from, dims, bytesOf(data));
    return new Tensor(this.dtype, [...dims], size, data);
  }

  async write(values: Tensor, start?: readonly number[]): Promise<void> {
    const box = checkWrite(values, start, this);
    const file = await this.place();
    await withFile(file, "r+", (handle) => this.#writeBox(file, handle, box));
  }

  async readBytes(
    start: readonly number[],
    shape: readonly number[],
    into: Uint8Array,
  ): Promise<void> {
    await this.readBoxes([{ start, shape, into }]);
  }

  async readBoxes(boxes: readonly ReadBox[]): Promise<void> {
    const checked = boxes.map(({ start, shape, into }) => checkRead(start, shape, into, this));
    const readAll = (read: ReadAt): Promise<void> =>
      inParallel(checked, ZARR.requests, (box) => this.#readBox(box, read));
    await this.readFrom(readAll, boxes.length > 1);
  }

  async stateOf(): Promise<string> {
    return printState(await files.stat(await this.place()));
  }

  mostRead(boxes: readonly AxisBoxes[]): number {
    return mostInGroups(this.shape, boxes, this.#head.type.bytes);
  }

  async readChunk(at: readonly number[], into: Uint8Array): Promise<boolean> {
    const box = checkChunkBytes(at, into, this, "into");
    await this.readFrom((read) => this.#readBox(box, read));
    return true;
  }

  async writeChunk(at: readonly number[], from: Uint8Array): Promise<void> {
    await this.writeTo(await this.place(), at, from);
  }

  /** Returns the current path of the file. */
  protected async place(): Promise<string> {
    return this.file;
  }

  protected async writeTo(file: string, at: readonly number[], from: Uint8Array): Promise<void> {
    const box = checkChunkBytes(at, from, this, "from");
    await withFile(file, "r+", async (handle) => {
      await this.#writeBox(file, handle, box);
      await handle.datasync();
    });
  }

  /** Opens the file for `use`, which reads its bytes. `isForMany` is true for many short reads. */
  protected async readFrom(use: (read: ReadAt) => Promise<void>, isForMany = false): Promise<void> {
    const read = (handle: OpenFile) => use((at, part) => readFully(handle, part, at));
    await withFile(await this.place(), "r", read, isForMany);
  }

  protected async readGroups(
    groups: Iterable<readonly Run[]>,
    into: Uint8Array,
    read: ReadAt,
  ): Promise<void> {
    for (const group of groups) await readGroup(read, group, into);
  }

  async #readBox({ start, shape, bytes }: CheckedBox, read: ReadAt): Promise<void> {
    await this.readGroups(groupsOf(this.#runs(start, shape)), bytes, read);
    const { dtype, unit, bigEndian } = this.#head.type;
    if (bigEndian) swapBytes(bytes, unit);
    const position = dtype === "bool" ? findNonBool(bytes) : -1;
    if (position === -1) return;
    throw malformed(`the NPY file has the byte ${bytes[position]} where a bool must be 0 or 1`, {
      got: bytes[position],
    });
  }

  /** The size of the whole file, in bytes. */
  protected get fileSize(): number {
    return this.#head.start + product(this.shape) * DTYPES[this.dtype].bytes;
  }

  async #writeBox(
    file: string,
    handle: OpenFile,
    { start, shape, bytes }: CheckedBox,
  ): Promise<void> {
    const { size } = await handle.stat();
    // Writing past the end would fill the missing part with zeros.
    if (size < this.fileSize) {
      const sentence = `${file} must have ${this.fileSize} bytes, but was cut to ${size} since it was opened`;
      throw malformed(sentence, { file, got: size, expected: this.fileSize });
    }
    const { unit, bigEndian } = this.#head.type;
    const from = bigEndian ? bytes.slice() : bytes;
    if (bigEndian) swapBytes(from, unit);
    for (const { at, place, length } of this.#runs(start, shape)) {
      await writeFully(handle, from.subarray(place, place + length), at);
    }
  }

  /** Returns the byte ranges of a box in the file. */
  #runs(start: readonly number[], shape: readonly number[]): Run[] {
    const { bytes } = this.#head.type;
    return contiguousRuns(this.shape, start, shape).map(({ at, place, length }) => ({
      at: this.#head.start + at * bytes,
      place: place * bytes,
      length: length * bytes,
    }));
  }
}

/** An unpublished NPY file. Chunks are written directly to the file, because readers cannot see an unpublished file. */
class PendingNpyArray extends NpyArray implements PendingArray {
  readonly #part: string;

  constructor(file: string, head: Head, chunkShape: readonly number[] | undefined, part: string) {
    super(file, head, chunkShape);
    this.#part = part;
  }

  protected override async place(): Promise<string> {
    return (await isThere(this.#part)) ? this.#part : this.file;
  }

  async stageChunk(at: readonly number[], from: Uint8Array): Promise<number> {
    await this.writeTo(this.#part, at, from);
    return from.length;
  }

  get mostStaged(): Staged {
    return { read: 0, written: product(this.shape) * DTYPES[this.dtype].bytes, files: 0 };
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
    const stat = (await findStat(this.#part)) ?? (await findStat(this.file));
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
    await fs.rename(this.#part, this.file).catch(async (error: unknown) => {
      if (!isCode(error, "ENOENT") || !(await isThere(this.file))) throw error;
    });
  }
}

/** Throws a `shape-mismatch` error unless the chunks are contiguous in a file of shape `shape`. */
export function checkContiguous(chunkShape: readonly number[], shape: readonly number[]): void {
  if (!isArray(chunkShape)) throw wrongOption("chunkShape", "a list of integers", chunkShape);
  if (areContiguous([...chunkShape], shape)) return;
  throw new TensorError(
    "shape-mismatch",
    `the chunks of an NPY file of shape ${printShape(shape)} must be contiguous, got ${printShape(chunkShape)}; ` +
      "leading dimensions must be 1, the next may be any size, and the rest must be whole axes, " +
      "such as [1, 1000, 128] for [8, 50000, 128]",
    { key: "chunkShape", got: chunkShape, expected: shape },
  );
}
