/**
 * A regular grid that divides a shape into boxes, such as chunks of an array or blocks of a list. Boxes are numbered in
 * row-major order.
 */

import { coordinatesOf, product, stridesOf } from "../../core/tensor/shape.ts";
import { clippedShape, gridOf } from "./boxes.ts";
import { ARRAYS } from "../../core/limits.ts";

export interface Box {
  readonly start: readonly number[];
  readonly shape: readonly number[];
}

export class Grid {
  readonly shape: readonly number[];
  readonly chunkShape: readonly number[];
  /** The number of boxes along each axis. */
  readonly counts: readonly number[];
  /** The number of boxes. */
  readonly size: number;

  constructor(shape: readonly number[], chunkShape: readonly number[]) {
    this.shape = shape;
    this.chunkShape = chunkShape;
    this.counts = gridOf(shape, chunkShape);
    this.size = product(this.counts);
  }

  at(number: number): number[] {
    return coordinatesOf(number, this.counts);
  }

  box(number: number): Box {
    return this.boxAt(this.at(number));
  }

  /** Returns the start and the shape of a box, clipped at the end of each axis. */
  boxAt(at: readonly number[]): Box {
    const { shape, chunkShape } = this;
    const start = at.map((coordinate, d) => coordinate * chunkShape[d]);
    return { start, shape: clippedShape(at, shape, chunkShape) };
  }
}

/** Returns the shape of the largest contiguous chunk with at most `most` elements, and at least one element. */
export function contiguousChunks(shape: readonly number[], most: number): number[] {
  const strides = stridesOf(shape);
  const axis = strides.findIndex((stride) => stride <= most);
  return shape.map((dim, d) =>
    d > axis ? Math.max(1, dim) : d < axis ? 1 : clamp(Math.floor(most / strides[d]), 1, dim),
  );
}

/**
 * Returns true if every chunk is contiguous in row-major memory. The chunk shape is then ones, any size, and whole
 * axes. Consecutive contiguous chunks then contain all elements in row-major order.
 */
export function areContiguous(chunkShape: readonly number[], shape: readonly number[]): boolean {
  if (chunkShape.length !== shape.length) return false;
  if (!chunkShape.every((dim) => Number.isSafeInteger(dim) && dim >= 1)) return false;
  const dims = shape.map((dim) => Math.max(1, dim));
  const wide = chunkShape.findIndex((dim, d) => Math.min(dim, dims[d]) > 1);
  return wide === -1 || chunkShape.every((dim, d) => d <= wide || dim >= dims[d]);
}

/** Returns true if every block consists of whole chunks, so that blocks never share a chunk. */
export const areWhole = (
  blockShape: readonly number[],
  shape: readonly number[],
  chunkShape: readonly number[],
): boolean =>
  blockShape.every((size, axis) => size % chunkShape[axis] === 0 || size >= shape[axis]);

const clamp = (value: number, low: number, high: number): number =>
  Math.max(low, Math.min(value, high));

/** Returns the default chunk shape for formats without chunks: contiguous chunks of about 64 MiB. */
export const defaultChunks = (shape: readonly number[], elementBytes: number): number[] =>
  contiguousChunks(shape, Math.max(1, Math.floor(ARRAYS.chunk / Math.max(1, elementBytes))));
