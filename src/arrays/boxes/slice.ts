/** A part of an array as an array: some coordinates of each axis, in steps. It reads and writes the array that it is of. */

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
  StagedArray,
} from "./array.ts";
import { chunksOf, clippedShape, copySteps } from "./boxes.ts";
import { checkChunk, checkChunkBytes, checkRead, checkStart, checkWrite } from "./checks.ts";
import { ARRAYS } from "../../core/limits.ts";
import { Grid, type Box } from "./grid.ts";
import { NONE, partsOf, printParts } from "./ranges.ts";

/** The part of an array that ranges take. @throws TensorError as {@link partsOf} */
export const sliceOf = (array: ChunkedArray, ranges: readonly AxisRange[]): SlicedArray =>
  new SlicedArray(array, partsOf(ranges, array.shape));

/** Along one axis: coordinate i of the slice is `start + i * step` of the array. */
interface Along {
  readonly start: number;
  readonly step: number;
  readonly count: number;
  readonly isDropped: boolean;
}

const alongOf = (part: AxisPart): Along =>
  typeof part === "number"
    ? { start: part, step: 1, count: 1, isDropped: true }
    : { start: part[0], step: part[1], count: part[2], isDropped: false };

/** The part of a box of the slice that one chunk of the array has. All shapes have the rank of the array. */
interface BasePart {
  readonly at: readonly number[];
  /** In the chunk of the array. */
  readonly chunkStart: readonly number[];
  /** In the box of the slice. */
  readonly boxStart: readonly number[];
  /** How many elements, along each axis. */
  readonly shape: readonly number[];
}

export class SlicedArray implements StagedArray {
  /** The array that this is a part of. */
  readonly base: ChunkedArray;
  readonly location: ArrayLocation;
  readonly fingerprint: string;
  readonly held: HeldBytes;
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly chunkShape: readonly number[];
  readonly dimensionNames: readonly (string | null)[] | null;
  readonly #along: readonly Along[];
  readonly #width: number;
  /** In how many chunks of the array this object has staged something, by its name. */
  readonly #staged = new Map<string, number>();

  /**
   * For the package alone.
   * @param isExclusive whether no two chunks of the slice share a chunk of the array, so that each can be written by itself.
   * Such chunks may be as long as the slice.
   * @param readAs the shape of the chunks of the slice, where they do not follow from those of the array
   */
  constructor(
    base: ChunkedArray,
    parts: readonly AxisPart[],
    isExclusive = false,
    readAs?: readonly number[],
  ) {
    this.base = base;
    this.#along = parts.map(alongOf);
    checkWithin(this.#along, base);
    const kept = this.#along.flatMap((one, axis) => (one.isDropped ? [] : [axis]));
    this.dtype = base.dtype;
    this.shape = Object.freeze(kept.map((axis) => this.#along[axis].count));
    this.chunkShape = Object.freeze(
      readAs ??
        kept.map((axis) => chunkAlong(this.#along[axis], base.chunkShape[axis], isExclusive)),
    );
    if (this.chunkShape.length !== this.shape.length) {
      const sentence = `chunks ${printShape(this.chunkShape)} of ${base.location.path} must have the rank of ${printShape(this.shape)}`;
      throw new TensorError("rank", sentence);
    }
    const names = base.dimensionNames ?? null;
    this.dimensionNames = names && kept.map((axis) => names[axis]);
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
    // Elements between those of a slice in steps are read too; a chunk of the array is read before a part of it is written.
    const span = product(this.#span(this.chunkShape)) * this.#width;
    // A box that has a part of a chunk's rows is copied out of the whole rows; of a file out of a piece of it.
    const rows = base.location.format === "npy" ? ARRAYS.span : chunk;
    this.held = {
      read: read + (this.#isRun(this.chunkShape) ? 0 : span) + (readAs === undefined ? 0 : rows),
      write: chunk + Math.max(read, write),
    };
  }

  /** The same slice in chunks that share no chunk of the array. */
  exclusive(): SlicedArray {
    return new SlicedArray(this.base, this.location.slice ?? [], true);
  }

  /** The same slice in chunks of any shape: each is read out of all chunks of the array that it has a part of. */
  readAs(chunkShape: readonly number[]): SlicedArray {
    return new SlicedArray(this.base, this.location.slice ?? [], false, chunkShape);
  }

  /** A part of this part. */
  slice(...ranges: readonly AxisRange[]): SlicedArray {
    const inner = partsOf(ranges, this.shape).values();
    const parts = this.#along.map((along): AxisPart => {
      if (along.isDropped) return along.start;
      const part = inner.next().value as AxisPart;
      if (typeof part === "number") return along.start + part * along.step;
      const [start, step, count] = part;
      return count === 0 ? NONE : [along.start + start * along.step, along.step * step, count];
    });
    return new SlicedArray(this.base, parts);
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
    return this.base.stateOf(this.#first(start), this.#span(shape));
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

  async stageChunk(at: readonly number[], from: Uint8Array, name: string): Promise<void> {
    const base = this.#stagedBase();
    const box = checkChunkBytes(at, from, this, "from");
    const source = { bytes: box.bytes, shape: this.#whole(box.shape) };
    for (const [number, part] of [...this.#partsOf(box)].entries()) {
      const clipped = clippedShape(part.at, base.shape, base.chunkShape);
      const chunk = new Uint8Array(product(clipped) * this.#width);
      // oxlint-disable-next-line no-await-in-loop -- one chunk in memory at a time
      if (!sameShape(part.shape, clipped)) await base.readChunk(part.at, chunk);
      const into = { bytes: chunk, shape: clipped, start: part.chunkStart };
      copySteps(
        { ...source, start: part.boxStart },
        null,
        into,
        this.#steps(),
        part.shape,
        this.#width,
      );
      this.#staged.set(name, number + 1);
      // oxlint-disable-next-line no-await-in-loop
      await base.stageChunk(part.at, chunk, nameOfPart(name, number));
    }
  }

  async stageCopy(): Promise<boolean> {
    return false;
  }

  async publishChunk(at: readonly number[], name: string): Promise<boolean> {
    const base = this.#stagedBase();
    const box = new Grid(this.shape, this.chunkShape).boxAt(checkChunk(at, this));
    let isThere = false;
    for (const [number, part] of [...this.#partsOf(box)].entries()) {
      // oxlint-disable-next-line no-await-in-loop -- usually one
      isThere = (await base.publishChunk(part.at, nameOfPart(name, number))) || isThere;
    }
    this.#staged.delete(name);
    return isThere;
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
    throw new TensorError("attribute", `${this.location.path} cannot be changed in place`);
  }

  async #read(box: Box, into: Uint8Array, most?: number): Promise<void> {
    if (box.shape.includes(0)) return;
    if (this.#isRun(box.shape)) {
      return this.base.readBytes(this.#first(box.start), this.#span(box.shape), into, most);
    }
    const shape = this.#whole(box.shape);
    for (const part of this.#pieces(box)) {
      const span = this.#span(part.shape);
      const bytes = new Uint8Array(product(span) * this.#width);
      // oxlint-disable-next-line no-await-in-loop -- one piece in memory at a time
      await this.base.readBytes(this.#first(part.start), span, bytes, most);
      const from = { bytes, shape: span, start: span.map(() => 0) };
      const target = { bytes: into, shape, start: this.#within(part.start, box.start) };
      copySteps(from, this.#steps(), target, null, this.#whole(part.shape), this.#width);
    }
  }

  async #write(box: Box, from: Uint8Array): Promise<void> {
    const shape = this.#whole(box.shape);
    for (const part of this.#pieces(box)) {
      const span = this.#span(part.shape);
      const size = product(span);
      const data = allocate(this.dtype, size);
      if (!isNumericStorage(data)) return;
      const [bytes, first] = [bytesOf(data), this.#first(part.start)];
      // oxlint-disable-next-line no-await-in-loop -- pieces may share a chunk of the array
      if (!this.#isRun(part.shape)) await this.base.readBytes(first, span, bytes);
      const source = { bytes: from, shape, start: this.#within(part.start, box.start) };
      const into = { bytes, shape: span, start: span.map(() => 0) };
      copySteps(source, null, into, this.#steps(), this.#whole(part.shape), this.#width);
      // oxlint-disable-next-line no-await-in-loop
      await this.base.write(new Tensor(this.dtype, span, size, data), first);
    }
  }

  /** A box, chunk by chunk of this slice. */
  *#pieces({ start, shape }: Box): Generator<Box> {
    for (const part of chunksOf(start, shape, this.chunkShape)) {
      yield { start: start.map((from, axis) => from + part.boxStart[axis]), shape: part.shape };
    }
  }

  /** The chunks of the array that have elements of a box. */
  *#partsOf(box: Box): Generator<BasePart> {
    const { chunkShape } = this.base;
    const start = this.#first(box.start);
    const shape = this.#span(box.shape);
    for (const { at, boxStart, chunkStart, shape: own } of chunksOf(start, shape, chunkShape)) {
      const steps = this.#steps();
      // The first element at or behind the beginning of the part, and those up to its end.
      const first = boxStart.map((from, axis) => Math.ceil(from / steps[axis]));
      const end = own.map((dim, axis) => Math.ceil((boxStart[axis] + dim) / steps[axis]));
      const counts = end.map((to, axis) => to - first[axis]);
      if (counts.includes(0)) continue;
      yield {
        at,
        boxStart: first,
        chunkStart: chunkStart.map(
          (from, axis) => from + first[axis] * steps[axis] - boxStart[axis],
        ),
        shape: counts,
      };
    }
  }

  /** Whether a box of the slice has all elements that lie between its first and its last. */
  #isRun(shape: readonly number[]): boolean {
    return sameShape(this.#span(shape), this.#whole(shape));
  }

  #steps(): readonly number[] {
    return this.#along.map(({ step }) => step);
  }

  /** Values of the slice's axes as values of the array's, with others for the axes that the slice drops. */
  #spread(
    values: readonly number[],
    value: (along: Along, given: number) => number,
    dropped: (along: Along) => number,
  ): number[] {
    const next = values.values();
    return this.#along.map((along) =>
      along.isDropped ? dropped(along) : value(along, next.next().value as number),
    );
  }

  /** The coordinates in the array of the first element of a box. */
  #first(start: readonly number[]): number[] {
    return this.#spread(
      start,
      (along, at) => along.start + at * along.step,
      (along) => along.start,
    );
  }

  /** The shape that a box of the slice spans in the array. */
  #span(shape: readonly number[]): number[] {
    return this.#spread(
      shape,
      ({ step }, dim) => (dim === 0 ? 0 : (dim - 1) * step + 1),
      () => 1,
    );
  }

  /** A shape of the slice, with 1 for the axes that it drops. */
  #whole(shape: readonly number[]): number[] {
    return this.#spread(
      shape,
      (_, dim) => dim,
      () => 1,
    );
  }

  /** Where a part begins in a box. */
  #within(start: readonly number[], box: readonly number[]): number[] {
    const inner = start.map((from, axis) => from - box[axis]);
    return this.#spread(
      inner,
      (_, at) => at,
      () => 0,
    );
  }
}

const nameOfPart = (name: string, number: number): string =>
  number === 0 ? name : `${name}.${number}`;

function checkWithin(along: readonly Along[], { shape, location }: ChunkedArray): void {
  const isWithin =
    along.length === shape.length &&
    along.every(({ start, step, count }, axis) => {
      const isWhole = [start, step, count].every((one) => Number.isSafeInteger(one) && one >= 0);
      return (
        isWhole &&
        step > 0 &&
        start + Math.max(0, count - 1) * step + Math.min(1, count) <= shape[axis]
      );
    });
  if (isWithin) return;
  const sentence = `the slice of ${location.path} lies beyond its shape ${printShape(shape)}`;
  throw new TensorError("index-out-of-range", sentence, { expected: shape });
}

/** The size of a chunk of the slice along one axis. */
function chunkAlong({ start, step, count }: Along, chunk: number, isExclusive: boolean): number {
  const most = Math.max(1, count);
  if (!isExclusive) return Math.min(most, Math.max(1, Math.floor(chunk / step)));
  // The slice begins with the first of its steps that is in a chunk, so its chunks can begin where chunks do.
  if (start % chunk < step) return Math.min(most, chunk / greatestDivisor(chunk, step));
  return most;
}

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));
