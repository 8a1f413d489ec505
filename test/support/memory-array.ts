/** An array of chunks in memory, of any chunk shape, with the operations that jobs use, without files. */

import type {
  ArrayLocation,
  AxisRange,
  ChunkedArray,
  PendingArray,
  Staged,
} from "../../src/arrays/boxes/array.ts";
import { Grid } from "../../src/arrays/boxes/grid.ts";
import { contiguousRuns } from "../../src/arrays/boxes/runs.ts";
import { sliceOf } from "../../src/arrays/boxes/slice.ts";
import { allocate, DTYPES, type DType, type NumericStorage } from "../../src/core/tensor/dtype.ts";
import { product } from "../../src/core/tensor/shape.ts";
import { bytesOf } from "../../src/core/tensor/storage.ts";
import { Tensor } from "../../src/core/tensor/tensor.ts";

export class MemoryArray implements PendingArray {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly chunkShape: readonly number[];
  readonly location: ArrayLocation = { format: "zarr", path: "memory" };
  readonly fingerprint = "memory";
  readonly held = { read: 0, write: 0 };
  readonly mostStored = 0;
  readonly mostStaged: Staged = { read: 0, written: 0, files: 0 };
  readonly tensor: Tensor;
  /** Staged data, by name, that is neither published nor discarded yet. */
  readonly staged = new Map<string, Uint8Array>();
  /** The number of published chunks. */
  published = 0;
  readonly #bytes: Uint8Array;

  constructor({ dtype, shape, data }: Tensor, chunkShape: readonly number[]) {
    this.dtype = dtype;
    this.shape = [...shape];
    this.chunkShape = chunkShape;
    const own = data.slice() as NumericStorage;
    this.tensor = new Tensor(dtype, [...shape], product(shape), own);
    this.#bytes = bytesOf(own);
  }

  slice(...ranges: readonly AxisRange[]): ChunkedArray {
    return sliceOf(this, ranges);
  }

  mostRead(): number {
    return 0;
  }

  async read(
    start: readonly number[] = this.shape.map(() => 0),
    shape: readonly number[] = this.shape,
  ): Promise<Tensor> {
    const data = allocate(this.dtype, product(shape)) as NumericStorage;
    await this.readBytes(start, shape, bytesOf(data));
    return new Tensor(this.dtype, [...shape], product(shape), data);
  }

  async write(values: Tensor, start: readonly number[] = this.shape.map(() => 0)): Promise<void> {
    this.#copy(start, values.shape, bytesOf(values.data as NumericStorage), false);
  }

  async readBytes(
    start: readonly number[],
    shape: readonly number[],
    into: Uint8Array,
  ): Promise<void> {
    this.#copy(start, shape, into, true);
  }

  async stateOf(): Promise<string> {
    return "memory";
  }

  async readChunk(at: readonly number[], into: Uint8Array): Promise<boolean> {
    const { start, shape } = this.#box(at);
    this.#copy(start, shape, into, true);
    return true;
  }

  async writeChunk(at: readonly number[], from: Uint8Array): Promise<void> {
    const { start, shape } = this.#box(at);
    this.#copy(start, shape, from, false);
  }

  async stageChunk(_at: readonly number[], from: Uint8Array, name: string): Promise<number> {
    this.staged.set(name, from.slice());
    return from.length;
  }

  async stageCopy(): Promise<boolean> {
    return false;
  }

  async publishChunk(at: readonly number[], name: string): Promise<boolean> {
    const bytes = this.staged.get(name);
    if (bytes === undefined) return false;
    this.staged.delete(name);
    await this.writeChunk(at, bytes);
    this.published++;
    return true;
  }

  async stagedSize(_at: readonly number[], name: string): Promise<number | null> {
    return this.staged.get(name)?.length ?? null;
  }

  async storedSize(at: readonly number[]): Promise<number> {
    return product(this.#box(at).shape) * DTYPES[this.dtype].bytes;
  }

  async isPending(): Promise<boolean> {
    return true;
  }

  async discard(name: string): Promise<void> {
    this.staged.delete(name);
  }

  async endStaging(): Promise<void> {
    this.staged.clear();
  }

  async publish(): Promise<void> {}

  #box(at: readonly number[]): { start: readonly number[]; shape: readonly number[] } {
    const grid = new Grid(this.shape, this.chunkShape);
    const number = at.reduce((sum, coordinate, d) => sum * grid.counts[d] + coordinate, 0);
    return grid.box(number);
  }

  #copy(
    start: readonly number[],
    shape: readonly number[],
    other: Uint8Array,
    isRead: boolean,
  ): void {
    const { bytes } = DTYPES[this.dtype];
    for (const { at, place, length } of contiguousRuns(this.shape, start, shape)) {
      const own = this.#bytes.subarray(at * bytes, (at + length) * bytes);
      const theirs = other.subarray(place * bytes, (place + length) * bytes);
      if (isRead) theirs.set(own);
      else own.set(theirs);
    }
  }
}
