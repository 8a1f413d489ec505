/**
 * Reads and writes an NPY file as an array of chunks, by byte ranges. NPY does not define chunks, so the caller chooses
 * a chunk shape that is contiguous in the file. A file in Fortran order is a file in C order with its axes reversed.
 */

import { isArray, wrongOption } from "../../core/foreign.ts";
import { TensorError } from "../../core/errors.ts";
import type { DType } from "../../core/tensor/dtype.ts";
import { printShape, product } from "../../core/tensor/shape.ts";
import type { ArrayLocation, AxisRange, ChunkedArray, HeldBytes } from "../boxes/array.ts";
import { BaseArray, boxesOf } from "../boxes/base-array.ts";
import { chunksOf, copyStrided, isRun, offsetOf, stridedOf, type Strided } from "../boxes/boxes.ts";
import type { CheckedBox, CheckedRows } from "../boxes/checks.ts";
import { areContiguous, defaultChunks, type Box } from "../boxes/grid.ts";
import { inParallel } from "../boxes/parallel.ts";
import {
  contiguousRuns,
  groupsOf,
  rangesOf,
  readGroup,
  type MoveAt,
  type Ranges,
  type Run,
} from "../boxes/runs.ts";
import { sliceOf } from "../boxes/slice.ts";
import { findDictionary, parseNpyHeader, type NpyHeader } from "./header.ts";
import { columnMajor, swapBytes, toMemory } from "./layout.ts";

/** The bytes of an NPY file, on a disk or on a server. */
export interface NpyFile {
  /** An absolute path, or a URL. */
  readonly path: string;
  /** The maximum number of concurrent reads of a box, and the memory that these reads take, in bytes. */
  readonly reads: number;
  readonly held: number;
  /** Returns text that changes whenever the file changes. */
  stateOf(): Promise<string>;
  /** Opens the file for `use`, which reads its bytes. */
  read(use: (read: MoveAt) => Promise<void>): Promise<void>;
  /** Fills `into` with byte ranges, one after another. Absent for a file on a server. */
  readRanges?(ranges: Ranges, into: Uint8Array): Promise<void>;
  /** Opens the file for `use`, which writes bytes. Throws an `attribute` error for a file on a server. */
  write(use: (write: MoveAt) => Promise<void>, fileSize: number, isDurable: boolean): Promise<void>;
}

/** The header of an NPY file, and text that changes if another file replaces the file. */
export interface OpenedNpy {
  readonly header: NpyHeader;
  readonly fingerprint: string;
}

/** The size of the first read, in bytes, which suffices for nearly every header. */
const FIRST = 1024;

/**
 * Reads the header of a file of `fileSize` bytes, whose present state is `state`. Error messages call the file `name`.
 * Throws `malformed-file`, `unsupported-file`, `too-large`, or `unsupported-dtype`, for example for text.
 */
export async function readHeader(
  read: MoveAt,
  fileSize: number,
  state: string,
  name: string,
): Promise<OpenedNpy> {
  let bytes = new Uint8Array(Math.min(fileSize, FIRST));
  await read(0, bytes);
  const { end } = findDictionary(bytes, fileSize);
  if (end > bytes.length) await read(0, (bytes = new Uint8Array(end)));
  const header = parseNpyHeader(bytes, fileSize, Number.MAX_SAFE_INTEGER);
  checkNumeric(header.type.dtype, name, "unsupported-dtype");
  const text = new TextDecoder("latin1").decode(bytes.subarray(0, end));
  return { header, fingerprint: `${text} ${state}` };
}

export function checkNumeric(
  got: DType,
  name: string,
  code: "dtype" | "unsupported-dtype" = "dtype",
): void {
  const sentence = `${name} must hold numbers to be read in parts, got text`;
  if (got === "string") throw new TensorError(code, sentence, { key: "dtype", got });
}

export class NpyArray extends BaseArray {
  readonly location: ArrayLocation;
  readonly fingerprint: string;
  readonly held: HeldBytes;
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly chunkShape: readonly number[];
  readonly #file: NpyFile;
  readonly #header: NpyHeader;

  /** By default, chunks are contiguous in the file, and have about 64 MiB. */
  constructor(file: NpyFile, { header, fingerprint }: OpenedNpy, chunkShape?: readonly number[]) {
    super();
    const { shape, type } = header;
    this.#file = file;
    this.#header = header;
    this.dtype = type.dtype;
    this.shape = shape;
    this.chunkShape = chunkShape ?? this.inFile(defaultChunks(this.inFile(shape), type.bytes));
    this.fingerprint = fingerprint;
    // A default chunk shape is not recorded, so that another shape can be chosen later.
    const { path } = file;
    this.location = { format: "npy", path, ...(chunkShape !== undefined && { chunkShape }) };
    const bytes = product(this.chunkShape) * type.bytes;
    // Elements in another order are copied when they are read and written.
    const copied = this.#header.fortranOrder ? bytes : 0;
    this.held = { read: file.held + copied, write: type.bigEndian ? bytes : copied };
  }

  slice(...ranges: readonly AxisRange[]): ChunkedArray {
    return sliceOf(this, ranges);
  }

  stateOf(): Promise<string> {
    return this.#file.stateOf();
  }

  /** Returns a list of one value per axis, in the order in which the file stores the axes: the last varies fastest. */
  inFile<T>(axes: readonly T[]): readonly T[] {
    return this.#header.fortranOrder ? axes.toReversed() : axes;
  }

  protected override async readRuns(rows: CheckedRows): Promise<void> {
    const { start, shape, rowBytes, bytes } = rows;
    const { type, fortranOrder, start: first } = this.#header;
    const isContiguous = !fortranOrder && isRun(shape, this.shape);
    // The coordinates of a wrong bool are those in a box.
    if (!isContiguous || type.dtype === "bool" || this.#file.readRanges === undefined) {
      await this.#file.read((read) =>
        inParallel(boxesOf(rows), this.#file.reads, (box) => this.#read(box, read)),
      );
      return;
    }
    const at = first + offsetOf(start, this.shape) * type.bytes;
    await this.#file.readRanges(rangesOf(rows, at, rowBytes), bytes);
    if (type.bigEndian) swapBytes(bytes, type.unit);
  }

  protected readBox(box: CheckedBox): Promise<void> {
    return this.#file.read((read) => this.#read(box, read));
  }

  async #read(box: CheckedBox, read: MoveAt): Promise<void> {
    const { type } = this.#header;
    for (const part of this.#partsOf(box)) {
      const { stored, memory, shape } = part;
      const groups = groupsOf(this.#runs(part));
      await inParallel(groups, this.#file.reads, (group) => readGroup(read, group, stored.bytes));
      if (this.#header.fortranOrder) copyStrided(stored, memory, shape, type.bytes);
    }
    toMemory(box.bytes, type, box.shape, box.start);
  }

  protected writeBox(box: CheckedBox, isDurable: boolean): Promise<void> {
    return this.writeTo(this.#file, box, isDurable);
  }

  /** Writes a box to a file, which may be the file before it is published. */
  protected writeTo(file: NpyFile, box: CheckedBox, isDurable: boolean): Promise<void> {
    const { type } = this.#header;
    const { bigEndian, unit } = type;
    const writeAll = async (write: MoveAt): Promise<void> => {
      for (const part of this.#partsOf(box)) {
        const { stored, memory, shape } = part;
        if (this.#header.fortranOrder) copyStrided(memory, stored, shape, type.bytes);
        const bytes = bigEndian && !this.#header.fortranOrder ? stored.bytes.slice() : stored.bytes;
        if (bigEndian) swapBytes(bytes, unit);
        for (const { at, place, length } of this.#runs(part))
          await write(at, bytes.subarray(place, place + length));
      }
    };
    return file.write(writeAll, this.fileSize, isDurable);
  }

  /** The size of the whole file, in bytes. */
  protected get fileSize(): number {
    return this.#header.end;
  }

  /** Divides a box into parts that are read or written at once, because a copy in the order of the file takes memory. */
  *#partsOf({ start, shape, bytes }: CheckedBox): Generator<Part> {
    const whole = start.map(() => 0);
    if (!this.#header.fortranOrder) {
      const memory = stridedOf({ bytes, shape, start: whole });
      yield { start, shape, memory, stored: memory };
      return;
    }
    for (const { boxStart, shape: own } of chunksOf(start, shape, this.chunkShape)) {
      yield {
        start: start.map((from, axis) => from + boxStart[axis]),
        shape: own,
        memory: stridedOf({ bytes, shape, start: boxStart }),
        stored: columnMajor(new Uint8Array(product(own) * this.#header.type.bytes), own),
      };
    }
  }

  /** Returns the byte ranges of a box in the file. */
  #runs({ start, shape }: Box): Run[] {
    const { type, start: first } = this.#header;
    const runs = contiguousRuns(this.inFile(this.shape), this.inFile(start), this.inFile(shape));
    return runs.map(({ at, place, length }) => ({
      at: first + at * type.bytes,
      place: place * type.bytes,
      length: length * type.bytes,
    }));
  }
}

/** A part of a box, with its elements in memory and in the order of the file. */
interface Part extends Box {
  readonly memory: Strided;
  readonly stored: Strided;
}

/** Chooses a chunk shape for an array with a function that is written for arrays in C order. */
export const contiguousIn = (
  array: ChunkedArray,
  choose: (shape: readonly number[]) => readonly number[],
): readonly number[] =>
  array instanceof NpyArray ? array.inFile(choose(array.inFile(array.shape))) : choose(array.shape);

/** Throws a `shape-mismatch` error unless the chunks are contiguous in the file. */
export function checkContiguous(
  given: readonly number[] | undefined,
  { shape, fortranOrder }: Pick<NpyHeader, "shape" | "fortranOrder">,
): void {
  if (given === undefined) return;
  if (!isArray(given)) throw wrongOption("chunkShape", "a list of integers", given);
  const inFile = <T>(list: readonly T[]): T[] => (fortranOrder ? list.toReversed() : [...list]);
  if (areContiguous(inFile(given), inFile(shape))) return;
  const [order, ends, next, example] = fortranOrder
    ? [" in Fortran order", "trailing", "preceding", "[50000, 16, 1] for [50000, 128, 8]"]
    : ["", "leading", "next", "[1, 1000, 128] for [8, 50000, 128]"];
  throw new TensorError(
    "shape-mismatch",
    `the chunks of an NPY file of shape ${printShape(shape)}${order} must be contiguous, got ${printShape(given)}; ` +
      `${ends} dimensions must be 1, the ${next} may be any size, and the rest must be whole axes, such as ${example}`,
    { key: "chunkShape", got: given, expected: shape },
  );
}
