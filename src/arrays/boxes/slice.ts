/**
 * Presents part of an array, with a range and a step along each axis, as an array. Reads and writes go to the
 * underlying array.
 */

import { TensorError } from "../../core/errors.ts";
import { allocate, isNumericStorage, rowOf, type DType } from "../../core/tensor/dtype.ts";
import { printShape, product, sameShape, shapeOf } from "../../core/tensor/shape.ts";
import { bytesOf } from "../../core/tensor/storage.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import type {
  ArrayLocation,
  AxisPart,
  AxisRange,
  ChunkedArray,
  HeldBytes,
  Staged,
  StagedArray,
} from "./array.ts";
import { pairsAlong, tiled, type AxisBoxes } from "./axis-boxes.ts";
import { chunksOf, clippedShape, copySteps } from "./boxes.ts";
import { checkChunk, checkChunkBytes, checkRead, checkStart, checkWrite } from "./checks.ts";
import { ARRAYS } from "../../core/limits.ts";
import { Grid, type Box } from "./grid.ts";
import { PartAxes } from "./part-axes.ts";
import { partsOf, printParts } from "./ranges.ts";

/** Returns the part of an array that the ranges select. Throws the errors of `partsOf`. */
export const sliceOf = (array: ChunkedArray, ranges: readonly AxisRange[]): SlicedArray =>
  new SlicedArray(array, partsOf(ranges, array.shape));

export class SlicedArray implements StagedArray {
  /** The underlying array. */
  readonly base: ChunkedArray;
  readonly location: ArrayLocation;
  readonly fingerprint: string;
  readonly held: HeldBytes;
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly chunkShape: readonly number[];
  readonly dimensionNames: readonly (string | null)[] | null;
  readonly #axes: PartAxes;
  readonly #width: number;
  /** The number of array chunks staged under each name. */
  readonly #staged = new Map<string, number>();

  /**
   * If `isExclusive` is true, chunks of the slice can be written independently, because they never overlap the same
   * array chunk. `readAs` is the slice's chunk shape, which by default is derived from the array's chunk shape.
   */
  constructor(
    base: ChunkedArray,
    parts: readonly AxisPart[],
    isExclusive = false,
    readAs?: readonly number[],
  ) {
    this.base = base;
    this.#axes = new PartAxes(base, parts);
    this.dtype = base.dtype;
    this.shape = Object.freeze(this.#axes.shape);
    this.chunkShape = Object.freeze(readAs ?? this.#axes.chunkShape(isExclusive));
    if (this.chunkShape.length !== this.shape.length) {
      const sentence = `chunks ${printShape(this.chunkShape)} of ${base.location.path} must have the rank of ${printShape(this.shape)}`;
      throw new TensorError("rank", sentence, {
        key: "chunkShape",
        file: base.location.path,
        got: this.chunkShape.length,
        expected: this.shape.length,
      });
    }
    const names = base.dimensionNames ?? null;
    this.dimensionNames = names && this.#axes.kept.map((axis) => names[axis]);
    this.location = {
      ...base.location,
      slice: parts,
      ...(isExclusive && { isExclusive }),
      ...(readAs !== undefined && { readAs }),
    };
    this.fingerprint = `${base.fingerprint} ${printParts(parts)}`;
    this.#width = rowOf(base.dtype).bytes;
    const chunk = product(base.chunkShape) * this.#width;
    const { read, write } = base.held;
    // Reading includes elements that a step skips. An array chunk that is only partly covered is read before it is
    // written.
    const span = product(this.#axes.span(this.chunkShape)) * this.#width;
    // A box that covers only part of a chunk's rows is copied from whole rows or, in an NPY file, from a byte range.
    const rows = base.location.format === "npy" ? ARRAYS.span : chunk;
    const isRun = this.#axes.isRun(this.chunkShape);
    this.held = {
      read: read + (isRun ? 0 : span) + (readAs === undefined ? 0 : rows),
      write: chunk + Math.max(read, write),
    };
  }

  /** Returns the same slice, but different chunks never overlap the same array chunk. */
  exclusive(): SlicedArray {
    return new SlicedArray(this.base, this.location.slice ?? [], true);
  }

  /** Returns the same slice with another chunk shape; each chunk is read from all array chunks that it overlaps. */
  readAs(chunkShape: readonly number[]): SlicedArray {
    return new SlicedArray(this.base, this.location.slice ?? [], false, chunkShape);
  }

  /** Returns part of this slice, as a slice of the underlying array. */
  slice(...ranges: readonly AxisRange[]): SlicedArray {
    return new SlicedArray(this.base, this.#axes.inner(partsOf(ranges, this.shape)));
  }

  async read(start?: readonly number[], shape?: readonly number[]): Promise<Tensor> {
    const from = checkStart(start, this);
    const rest = this.shape.map((dim, axis) => Math.max(0, dim - from[axis]));
    const { shape: dims, size } = shapeOf(shape ?? rest);
    const data = allocate(this.dtype, size);
    if (isNumericStorage(data)) await this.readBytes(from, dims, bytesOf(data));
    return new Tensor(this.dtype, [...dims], size, data);
  }

  async write(values: Tensor, start?: readonly number[]): Promise<void> {
    const box = checkWrite(values, start, this);
    await this.#write(box, box.bytes);
  }

  stateOf(start: readonly number[], shape: readonly number[]): Promise<string> {
    return this.base.stateOf(this.#axes.first(start), this.#axes.span(shape));
  }

  get mostStored(): number {
    return this.base.mostStored;
  }

  mostRead(boxes: readonly AxisBoxes[]): number {
    return this.base.mostRead(this.#axes.boxesOf(boxes, this.chunkShape));
  }

  /** The staging limits, which include reading array chunks that the slice covers only partly. */
  get mostStaged(): Staged {
    const { base, chunkShape } = this;
    const own = this.shape.map((dim, axis) => tiled(dim, chunkShape[axis]));
    const boxes = this.#axes.boxesOf(own, chunkShape);
    const files = product(boxes.map((box, axis) => pairsAlong(box, base.chunkShape[axis])));
    const whole = boxes.map(({ start, extent }, axis) => {
      const { [axis]: chunk } = base.chunkShape;
      const first = Math.floor(start / chunk) * chunk;
      const end = Math.min(Math.ceil((start + extent) / chunk) * chunk, base.shape[axis]);
      return tiled(extent === 0 ? 0 : end - first, chunk, first);
    });
    const reads = product(whole.map(({ count }) => count));
    // If two chunks of this slice overlap the same array chunk, that chunk is read twice.
    const read = reads === 0 ? 0 : (base.mostRead(whole) / reads) * files;
    return { read: Math.ceil(read), written: files * base.mostStored, files };
  }

  async readBytes(
    start: readonly number[],
    shape: readonly number[],
    into: Uint8Array,
    most?: number,
  ): Promise<void> {
    const box = checkRead(start, shape, into, this);
    await this.#read(box, box.bytes, most);
  }

  async readChunk(at: readonly number[], into: Uint8Array): Promise<boolean> {
    const box = checkChunkBytes(at, into, this, "into");
    await this.#read(box, box.bytes, this.base.held.read);
    return true;
  }

  async writeChunk(at: readonly number[], from: Uint8Array): Promise<void> {
    const box = checkChunkBytes(at, from, this, "from");
    await this.#write(box, box.bytes);
  }

  async stageChunk(at: readonly number[], from: Uint8Array, name: string): Promise<number> {
    const base = this.#stagedBase();
    const box = checkChunkBytes(at, from, this, "from");
    const source = { bytes: box.bytes, shape: this.#axes.whole(box.shape) };
    let size = 0;
    for (const [number, part] of [...this.#axes.partsOf(box)].entries()) {
      const clipped = clippedShape(part.at, base.shape, base.chunkShape);
      const chunk = new Uint8Array(product(clipped) * this.#width);
      // oxlint-disable-next-line no-await-in-loop -- one chunk in memory at a time
      if (!sameShape(part.shape, clipped)) await base.readChunk(part.at, chunk);
      const into = { bytes: chunk, shape: clipped, start: part.chunkStart };
      copySteps(
        { ...source, start: part.boxStart },
        null,
        into,
        this.#axes.steps,
        part.shape,
        this.#width,
      );
      this.#staged.set(name, number + 1);
      // oxlint-disable-next-line no-await-in-loop
      size += await base.stageChunk(part.at, chunk, nameOfPart(name, number));
    }
    return size;
  }

  async stageCopy(): Promise<boolean> {
    return false;
  }

  async publishChunk(at: readonly number[], name: string): Promise<boolean> {
    const base = this.#stagedBase();
    const box = new Grid(this.shape, this.chunkShape).boxAt(checkChunk(at, this));
    let isThere = false;
    for (const [number, part] of [...this.#axes.partsOf(box)].entries()) {
      // oxlint-disable-next-line no-await-in-loop -- usually one
      isThere = (await base.publishChunk(part.at, nameOfPart(name, number))) || isThere;
    }
    this.#staged.delete(name);
    return isThere;
  }

  stagedSize(at: readonly number[], name: string): Promise<number | null> {
    const base = this.#stagedBase();
    return this.#sumOfParts(at, (part, number) => base.stagedSize(part, nameOfPart(name, number)));
  }

  storedSize(at: readonly number[]): Promise<number | null> {
    const base = this.#stagedBase();
    return this.#sumOfParts(at, (part) => base.storedSize(part));
  }

  /** Sums the sizes of a chunk's parts, or returns null if a size is missing. */
  async #sumOfParts(
    at: readonly number[],
    sizeOf: (part: readonly number[], number: number) => Promise<number | null>,
  ): Promise<number | null> {
    const box = new Grid(this.shape, this.chunkShape).boxAt(checkChunk(at, this));
    const parts = [...this.#axes.partsOf(box)];
    const sizes = await Promise.all(parts.map((part, number) => sizeOf(part.at, number)));
    return sizes.reduce<number | null>(
      (sum, size) => (sum === null || size === null ? null : sum + size),
      0,
    );
  }

  async discard(name: string): Promise<void> {
    const base = this.#stagedBase();
    const count = this.#staged.get(name) ?? 1;
    for (let number = 0; number < count; number++) {
      // oxlint-disable-next-line no-await-in-loop -- usually one
      await base.discard(nameOfPart(name, number));
    }
    this.#staged.delete(name);
  }

  async endStaging(): Promise<void> {
    await this.#stagedBase().endStaging();
  }

  #stagedBase(): StagedArray {
    if ("stageChunk" in this.base) return this.base as StagedArray;
    throw new TensorError(
      "attribute",
      `${this.location.path} cannot be changed in place; give a Zarr array in files`,
      { key: "out", file: this.location.path },
    );
  }

  async #read(box: Box, into: Uint8Array, most?: number): Promise<void> {
    if (box.shape.includes(0)) return;
    if (this.#axes.isRun(box.shape)) {
      return this.base.readBytes(
        this.#axes.first(box.start),
        this.#axes.span(box.shape),
        into,
        most,
      );
    }
    const shape = this.#axes.whole(box.shape);
    for (const part of this.#pieces(box)) {
      const span = this.#axes.span(part.shape);
      const bytes = new Uint8Array(product(span) * this.#width);
      // oxlint-disable-next-line no-await-in-loop -- one piece in memory at a time
      await this.base.readBytes(this.#axes.first(part.start), span, bytes, most);
      const from = { bytes, shape: span, start: span.map(() => 0) };
      const target = { bytes: into, shape, start: this.#axes.within(part.start, box.start) };
      copySteps(from, this.#axes.steps, target, null, this.#axes.whole(part.shape), this.#width);
    }
  }

  async #write(box: Box, from: Uint8Array): Promise<void> {
    const shape = this.#axes.whole(box.shape);
    for (const part of this.#pieces(box)) {
      const span = this.#axes.span(part.shape);
      const size = product(span);
      const data = allocate(this.dtype, size);
      if (!isNumericStorage(data)) return;
      const [bytes, first] = [bytesOf(data), this.#axes.first(part.start)];
      // oxlint-disable-next-line no-await-in-loop -- pieces may share a chunk of the array
      if (!this.#axes.isRun(part.shape)) await this.base.readBytes(first, span, bytes);
      const source = { bytes: from, shape, start: this.#axes.within(part.start, box.start) };
      const into = { bytes, shape: span, start: span.map(() => 0) };
      copySteps(source, null, into, this.#axes.steps, this.#axes.whole(part.shape), this.#width);
      // oxlint-disable-next-line no-await-in-loop
      await this.base.write(new Tensor(this.dtype, span, size, data), first);
    }
  }

  /** Divides a box along the slice's chunk boundaries. */
  *#pieces({ start, shape }: Box): Generator<Box> {
    for (const part of chunksOf(start, shape, this.chunkShape)) {
      yield { start: start.map((from, axis) => from + part.boxStart[axis]), shape: part.shape };
    }
  }
}

const nameOfPart = (name: string, number: number): string =>
  number === 0 ? name : `${name}.${number}`;
