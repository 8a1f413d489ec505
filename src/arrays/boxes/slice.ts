/**
 * Presents part of an array, with a range and a step along each axis, as an array. Reads and writes go to the
 * underlying array.
 */

import { TensorError } from "../../core/errors.ts";
import { ARRAYS } from "../../core/limits.ts";
import { allocate, isNumericStorage, rowOf, type DType } from "../../core/tensor/dtype.ts";
import { printShape, product, sameShape } from "../../core/tensor/shape.ts";
import { bytesOf } from "../../core/tensor/storage.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import type {
  ArrayLocation,
  AxisPart,
  AxisRange,
  ChunkedArray,
  HeldBytes,
  StagedArray,
} from "./array.ts";
import { BaseArray } from "./base-array.ts";
import { chunksOf, clippedShape, copyStrided, stridedOf, type Strided } from "./boxes.ts";
import { checkChunk, checkChunkBytes, type CheckedBox } from "./checks.ts";
import { Grid, type Box } from "./grid.ts";
import { PartAxes, partsOf, printParts } from "./part-axes.ts";

/** Returns the part of an array that the ranges select. Throws the errors of `partsOf`. */
export const sliceOf = (array: ChunkedArray, ranges: readonly AxisRange[]): SlicedArray =>
  new SlicedArray(array, partsOf(ranges, array.shape));

/** The same elements in chunks of another shape; each chunk is read from all chunks of the source that it overlaps. */
export const readAs = (array: ChunkedArray, chunkShape: readonly number[]): SlicedArray =>
  new SlicedArray(array.source, partsIn(array), false, chunkShape);

/** The same elements in chunks that never overlap the same chunk of the source. */
export const exclusive = (array: ChunkedArray): SlicedArray =>
  new SlicedArray(array.source, partsIn(array), true);

const partsIn = ({ location, source }: ChunkedArray): readonly AxisPart[] =>
  location.slice ?? partsOf([], source.shape);

export class SlicedArray extends BaseArray implements StagedArray {
  readonly location: ArrayLocation;
  readonly fingerprint: string;
  readonly held: HeldBytes;
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly chunkShape: readonly number[];
  readonly dimensionNames: readonly (string | null)[] | null;
  readonly #base: ChunkedArray;
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
    super();
    const axes = new PartAxes(base, parts);
    this.#base = base;
    this.#axes = axes;
    this.dtype = base.dtype;
    this.shape = Object.freeze(axes.shape);
    this.chunkShape = Object.freeze(readAs ?? axes.chunkShape(isExclusive));
    const file = base.location.path;
    if (this.chunkShape.length !== this.shape.length) {
      const sentence = `chunks ${printShape(this.chunkShape)} of ${file} must have the rank of ${printShape(this.shape)}`;
      const [got, expected] = [this.chunkShape.length, this.shape.length];
      throw new TensorError("rank", sentence, { key: "chunkShape", file, got, expected });
    }
    const names = base.dimensionNames ?? null;
    this.dimensionNames = names && axes.kept.map((axis) => names[axis]);
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
    const span = axes.isRun(this.chunkShape)
      ? 0
      : product(axes.span(this.chunkShape)) * this.#width;
    // A box that covers only part of a chunk's rows is copied from whole rows or, in an NPY file, from a byte range.
    const rows = base.location.format === "npy" ? ARRAYS.span : chunk;
    this.held = {
      read: read + span + (readAs === undefined ? 0 : rows),
      write: chunk + Math.max(read, write),
    };
  }

  override get source(): ChunkedArray {
    return this.#base;
  }

  /** Returns part of this slice, as a slice of the underlying array. */
  slice(...ranges: readonly AxisRange[]): SlicedArray {
    return new SlicedArray(this.#base, this.#axes.inner(partsOf(ranges, this.shape)));
  }

  stateOf(start: readonly number[], shape: readonly number[]): Promise<string> {
    return this.#base.stateOf(this.#axes.first(start), this.#axes.span(shape));
  }

  override async readChunk(at: readonly number[], into: Uint8Array): Promise<boolean> {
    await this.readBox(checkChunkBytes(at, into, this, "into"), this.#base.held.read);
    return true;
  }

  async stageChunk(at: readonly number[], from: Uint8Array, name: string): Promise<number> {
    const base = this.#stagedBase();
    const { start, shape, bytes } = checkChunkBytes(at, from, this, "from");
    const whole = this.#axes.expand(shape, 1);
    let size = 0;
    for (const [number, part] of [...this.#axes.partsOf({ start, shape })].entries()) {
      const clipped = clippedShape(part.at, base.shape, base.chunkShape);
      const chunk = new Uint8Array(product(clipped) * this.#width);
      if (!sameShape(part.shape, clipped)) await base.readChunk(part.at, chunk);
      const source = stridedOf({ bytes, shape: whole, start: part.boxStart });
      const into = { bytes: chunk, shape: clipped, start: part.chunkStart };
      copyStrided(source, stridedOf(into, this.#axes.steps), part.shape, this.#width);
      this.#staged.set(name, number + 1);
      size += await base.stageChunk(part.at, chunk, nameOfPart(name, number));
    }
    return size;
  }

  async stageCopy(): Promise<boolean> {
    return false;
  }

  async publishChunk(at: readonly number[], name: string): Promise<boolean> {
    const base = this.#stagedBase();
    let isThere = false;
    for (const [number, part] of this.#chunksAt(at).entries())
      isThere = (await base.publishChunk(part, nameOfPart(name, number))) || isThere;
    this.#staged.delete(name);
    return isThere;
  }

  stagedSize(at: readonly number[], name: string): Promise<number | null> {
    const base = this.#stagedBase();
    return this.#sumOf(at, (part, number) => base.stagedSize(part, nameOfPart(name, number)));
  }

  storedSize(at: readonly number[]): Promise<number | null> {
    const base = this.#stagedBase();
    return this.#sumOf(at, (part) => base.storedSize(part));
  }

  async discard(name: string): Promise<void> {
    const base = this.#stagedBase();
    const count = this.#staged.get(name) ?? 1;
    for (let number = 0; number < count; number++) await base.discard(nameOfPart(name, number));
    this.#staged.delete(name);
  }

  async endStaging(): Promise<void> {
    await this.#stagedBase().endStaging();
  }

  #stagedBase(): StagedArray {
    if ("stageChunk" in this.#base) return this.#base as StagedArray;
    const { path: file } = this.location;
    const sentence = `${file} cannot be changed in place; give a Zarr array in files`;
    throw new TensorError("attribute", sentence, { key: "out", file });
  }

  /** Returns the array chunks that a chunk overlaps. */
  #chunksAt(at: readonly number[]): (readonly number[])[] {
    const box = new Grid(this.shape, this.chunkShape).boxAt(checkChunk(at, this));
    return [...this.#axes.partsOf(box)].map((part) => part.at);
  }

  /** Sums the sizes of the array chunks that a chunk overlaps, or returns null if a size is missing. */
  async #sumOf(
    at: readonly number[],
    sizeOf: (part: readonly number[], number: number) => Promise<number | null>,
  ): Promise<number | null> {
    const sizes = await Promise.all(this.#chunksAt(at).map(sizeOf));
    return sizes.includes(null) ? null : sizes.reduce<number>((sum, size) => sum + Number(size), 0);
  }

  protected async readBox({ start, shape, bytes }: CheckedBox, most?: number): Promise<void> {
    const axes = this.#axes;
    if (shape.includes(0)) return;
    if (axes.isRun(shape))
      return this.#base.readBytes(axes.first(start), axes.span(shape), bytes, most);
    for (const { place, own, from, span } of this.#pieces({ start, shape }, bytes)) {
      const read = new Uint8Array(product(span) * this.#width);
      await this.#base.readBytes(from, span, read, most);
      copyStrided(this.#strided(read, span), place, own, this.#width);
    }
  }

  protected async writeBox({ start, shape, bytes }: CheckedBox): Promise<void> {
    for (const { place, own, from, span } of this.#pieces({ start, shape }, bytes)) {
      const size = product(span);
      const data = allocate(this.dtype, size);
      if (!isNumericStorage(data)) return;
      if (!sameShape(own, span)) await this.#base.readBytes(from, span, bytesOf(data));
      copyStrided(place, this.#strided(bytesOf(data), span), own, this.#width);
      await this.#base.write(new Tensor(this.dtype, span, size, data), from);
    }
  }

  /** Describes every `step`-th element of memory that holds a box of the array. */
  #strided(bytes: Uint8Array, shape: readonly number[]): Strided {
    return stridedOf({ bytes, shape, start: shape.map(() => 0) }, this.#axes.steps);
  }

  /** Divides a box along the slice's chunk boundaries, so that the elements which steps skip fit in memory. */
  *#pieces({ start, shape }: Box, bytes: Uint8Array): Generator<Piece> {
    const whole = this.#axes.expand(shape, 1);
    for (const { boxStart, shape: own } of chunksOf(start, shape, this.chunkShape)) {
      yield {
        place: stridedOf({ bytes, shape: whole, start: this.#axes.expand(boxStart, 0) }),
        own: this.#axes.expand(own, 1),
        from: this.#axes.first(start.map((at, axis) => at + boxStart[axis])),
        span: this.#axes.span(own),
      };
    }
  }
}

/** A piece of a box. All lists have the array's rank. */
interface Piece {
  /** The piece in the memory of the box. */
  readonly place: Strided;
  readonly own: readonly number[];
  /** The part of the array that contains the piece. */
  readonly from: readonly number[];
  readonly span: readonly number[];
}

const nameOfPart = (name: string, number: number): string =>
  number === 0 ? name : `${name}.${number}`;
