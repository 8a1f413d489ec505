/** A regular grid of boxes over a shape: the chunks of an array, or the blocks of a list. Boxes are numbered row-major. */

import { coordinatesOf, product } from "../tensor/shape.ts";

export interface Box {
  readonly start: readonly number[];
  readonly shape: readonly number[];
}

export class Grid {
  readonly shape: readonly number[];
  readonly chunkShape: readonly number[];
  /** How many boxes there are along each axis. */
  readonly counts: readonly number[];
  /** How many boxes there are. */
  readonly size: number;

  constructor(shape: readonly number[], chunkShape: readonly number[]) {
    this.shape = shape;
    this.chunkShape = chunkShape;
    this.counts = shape.map((dim, d) => Math.ceil(dim / chunkShape[d]));
    this.size = product(this.counts);
  }

  /** The coordinates of a box in the grid. */
  at(number: number): number[] {
    return coordinatesOf(number, this.counts);
  }

  /** Where a box begins, and its shape, which is smaller at the end of an axis. */
  box(number: number): Box {
    const { shape, chunkShape } = this;
    const start = this.at(number).map((coordinate, d) => coordinate * chunkShape[d]);
    return { start, shape: start.map((from, d) => Math.min(chunkShape[d], shape[d] - from)) };
  }
}
