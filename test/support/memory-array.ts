/** An array of chunks in memory, of any chunk shape, with the operations that jobs use, without files. */

import type {
  ArrayLocation,
  AxisRange,
  ChunkedArray,
  PendingArray,
} from "../../src/arrays/boxes/array.ts";
import { BaseArray } from "../../src/arrays/boxes/base-array.ts";
import { clippedShape } from "../../src/arrays/boxes/boxes.ts";
import type { CheckedBox } from "../../src/arrays/boxes/checks.ts";
import { contiguousRuns } from "../../src/arrays/boxes/runs.ts";
import { sliceOf } from "../../src/arrays/boxes/slice.ts";
import { DTYPES, type DType, type NumericStorage } from "../../src/core/tensor/dtype.ts";
import { product } from "../../src/core/tensor/shape.ts";
import { bytesOf } from "../../src/core/tensor/storage.ts";
import { Tensor } from "../../src/core/tensor/tensor.ts";

export class MemoryArray extends BaseArray implements PendingArray {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly chunkShape: readonly number[];
  readonly location: ArrayLocation = { format: "zarr", path: "memory" };
  readonly fingerprint = "memory";
  readonly held = { read: 0, write: 0 };
  readonly tensor: Tensor;
  /** Staged data, by name, that is neither published nor discarded yet. */
  readonly staged = new Map<string, Uint8Array>();
  /** The number of published chunks. */
  published = 0;
  readonly #bytes: Uint8Array;

  constructor({ dtype, shape, data }: Tensor, chunkShape: readonly number[]) {
    super();
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

  protected async readBox(box: CheckedBox): Promise<void> {
    this.#copy(box, true);
  }

  protected async writeBox(box: CheckedBox): Promise<void> {
    this.#copy(box, false);
  }

  async stateOf(): Promise<string> {
    return "memory";
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
    return product(clippedShape(at, this.shape, this.chunkShape)) * DTYPES[this.dtype].bytes;
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

  #copy({ start, shape, bytes }: CheckedBox, isRead: boolean): void {
    const width = DTYPES[this.dtype].bytes;
    for (const { at, place, length } of contiguousRuns(this.shape, start, shape)) {
      const own = this.#bytes.subarray(at * width, (at + length) * width);
      const theirs = bytes.subarray(place * width, (place + length) * width);
      if (isRead) theirs.set(own);
      else own.set(theirs);
    }
  }
}
