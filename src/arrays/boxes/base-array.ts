/**
 * The part that arrays of all formats share: the arguments of every method are checked, and elements are moved between
 * tensors and bytes. Formats read and write only checked boxes.
 */

import { ZARR } from "../../core/limits.ts";
import { allocate, isNumericStorage, type DType } from "../../core/tensor/dtype.ts";
import { shapeOf } from "../../core/tensor/shape.ts";
import { bytesOf } from "../../core/tensor/storage.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import type { ArrayLocation, AxisRange, ChunkedArray, HeldBytes, RowRuns } from "./array.ts";
import {
  checkChunkBytes,
  checkRead,
  checkRows,
  checkStart,
  checkWrite,
  type CheckedBox,
  type CheckedRows,
} from "./checks.ts";
import { inParallel } from "./parallel.ts";

export abstract class BaseArray implements ChunkedArray {
  abstract readonly location: ArrayLocation;
  abstract readonly fingerprint: string;
  abstract readonly held: HeldBytes;
  abstract readonly dtype: DType;
  abstract readonly shape: readonly number[];
  abstract readonly chunkShape: readonly number[];

  abstract slice(...ranges: readonly AxisRange[]): ChunkedArray;
  abstract stateOf(start: readonly number[], shape: readonly number[]): Promise<string>;

  protected abstract readBox(box: CheckedBox, most?: number): Promise<void>;
  /** @param isChunk true if the box is a chunk that must be durable */
  protected abstract writeBox(box: CheckedBox, isChunk: boolean): Promise<void>;

  /** The array that holds the elements, which is another array for a slice. */
  get source(): ChunkedArray {
    return this;
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
    await this.writeBox(checkWrite(values, start, this), false);
  }

  async readBytes(
    start: readonly number[],
    shape: readonly number[],
    into: Uint8Array,
    most?: number,
  ): Promise<void> {
    await this.readBox(checkRead(start, shape, into, this), most);
  }

  async readRows(
    start: readonly number[],
    shape: readonly number[],
    runs: RowRuns,
    into: Uint8Array,
  ): Promise<void> {
    const rows = checkRows(start, shape, runs, into, this);
    if (rows.bytes.length > 0) await this.readRuns(rows);
  }

  /** Reads each run as a box. Formats override this method to open a file once for all runs. */
  protected async readRuns(rows: CheckedRows): Promise<void> {
    await inParallel(boxesOf(rows), ZARR.requests, (box) => this.readBox(box));
  }

  async readChunk(at: readonly number[], into: Uint8Array): Promise<boolean> {
    await this.readBox(checkChunkBytes(at, into, this, "into"));
    return true;
  }

  async writeChunk(at: readonly number[], from: Uint8Array): Promise<void> {
    await this.writeBox(checkChunkBytes(at, from, this, "from"), true);
  }
}

/** Returns each run as a box. */
export function boxesOf(rows: CheckedRows): CheckedBox[] {
  const { start, shape, starts, counts, bytes, rowBytes } = rows;
  let place = 0;
  return Array.from(starts, (row, i) => ({
    start: [start[0] + row, ...start.slice(1)],
    shape: [counts[i], ...shape.slice(1)],
    bytes: bytes.subarray(place, (place += counts[i] * rowBytes)),
  }));
}

/** Divides runs at multiples of `height` rows of the array. The box of each part begins and ends with its runs. */
export function bandsOf(rows: CheckedRows, height: number): CheckedRows[] {
  const { start, shape, starts, counts, bytes, rowBytes } = rows;
  const bands: { readonly first: number; end: number; starts: number[]; counts: number[] }[] = [];
  let border = 0;
  for (let i = 0; i < starts.length; i++) {
    const end = start[0] + starts[i] + counts[i];
    for (let row = start[0] + starts[i]; row < end;) {
      if (row >= border) {
        border = (Math.floor(row / height) + 1) * height;
        bands.push({ first: row, end: row, starts: [], counts: [] });
      }
      const band = bands[bands.length - 1];
      band.end = Math.min(end, border);
      band.starts.push(row - band.first);
      band.counts.push(band.end - row);
      row = band.end;
    }
  }
  let place = 0;
  return bands.map((band) => ({
    start: [band.first, ...start.slice(1)],
    shape: [band.end - band.first, ...shape.slice(1)],
    starts: Uint32Array.from(band.starts),
    counts: Uint32Array.from(band.counts),
    bytes: bytes.subarray(place, (place += sum(band.counts) * rowBytes)),
    rowBytes,
  }));
}

const sum = (counts: readonly number[]): number => counts.reduce((total, one) => total + one, 0);
