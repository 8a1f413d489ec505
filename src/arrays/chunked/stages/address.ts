/**
 * Maps the positions of a call to chunks of data.
 *
 * Each position addresses a slice: the first `addressed` axes of data select the slice, and the other axes lie within
 * the slice. Each chunk has two numbers: the **lead**, which numbers its cell along the addressed axes, and the
 * **piece**, which numbers its part of the slices. Within a chunk, each slice is contiguous and numbered by its
 * **row**. A call on a chunk therefore has one index per position, the row, and slices of equal length.
 */

import { Grid, type Box } from "../../boxes/grid.ts";
import { TensorError } from "../../../core/errors.ts";
import type { Layout } from "../../../core/operators/operator.ts";
import { MAX_SIZE, part, printShape, product, stridesOf } from "../../../core/tensor/shape.ts";

/** The contribution of a coordinate on one data axis to the lead and the row. */
export interface AxisSteps {
  readonly dim: number;
  readonly chunk: number;
  readonly leadStride: number;
  readonly rowStride: number;
}

export interface Address {
  /** The shape of the positions: the leading dimensions of updates, or of a gather's result. */
  readonly positions: readonly number[];
  /** The axis of positions for each axis of indices, without the axis of tuples. */
  readonly indexAxes: readonly number[];
  /** The steps of each index in a tuple. */
  readonly tuple: readonly AxisSteps[];
  /** The data axes that tuples address, in the order of the tuple's indices. */
  readonly tupleAxes: readonly number[];
  /** The steps of the data axis that has the same coordinate as an axis of positions; null without such an axis. */
  readonly own: readonly (AxisSteps | null)[];
  readonly addressed: number;
  /** The grid over the addressed axes. */
  readonly leads: Grid;
  /** The grid over the axes of the slice. */
  readonly pieces: Grid;
  /** The shape of a slice. */
  readonly slice: readonly number[];
}

/** The maximum number of pieces per slice, because tasks keep a list of pieces. */
const MOST_PIECES = 2 ** 20;

/** Throws a `too-large` error for more than 2^32 - 1 elements per chunk, and for more than 2^32 - 1 leads. */
export function addressOf(
  { positions, indexAt, addressed, axes }: Layout,
  data: readonly number[],
  chunkShape: readonly number[],
): Address {
  const leads = new Grid(part(data, 0, addressed), part(chunkShape, 0, addressed));
  const pieces = new Grid(part(data, addressed), part(chunkShape, addressed));
  if (product(chunkShape) > MAX_SIZE || leads.size > MAX_SIZE) {
    const sentence = `chunks ${printShape(chunkShape)} of data ${printShape(data)} cannot be counted in 32 bits`;
    throw new TensorError("too-large", sentence);
  }
  if (pieces.size > MOST_PIECES) {
    const sentence = `chunks ${printShape(chunkShape)} divide a slice of data ${printShape(data)} into ${pieces.size} pieces`;
    throw new TensorError("too-large", `${sentence}, more than the limit of ${MOST_PIECES}`, {
      key: "chunkShape",
      got: pieces.size,
      limit: MOST_PIECES,
    });
  }
  const leadStrides = stridesOf(leads.counts);
  const rowStrides = stridesOf(leads.chunkShape);
  const stepsOf = (axis: number): AxisSteps => ({
    dim: data[axis],
    chunk: chunkShape[axis],
    leadStride: leadStrides[axis],
    rowStride: rowStrides[axis],
  });
  return {
    positions,
    // The function `indexAt` selects the coordinates of a position's index, so with axis numbers as input, it returns
    // the axes.
    indexAxes: indexAt(positions.map((_, d) => d)),
    tuple: axes.map(stepsOf),
    tupleAxes: axes,
    own: positions.map((_, d) => (d < addressed && !axes.includes(d) ? stepsOf(d) : null)),
    addressed,
    leads,
    pieces,
    slice: pieces.shape,
  };
}

/** Returns the box of indices, which have the given rank, for a box of positions. */
export function indexBox({ indexAxes, tuple }: Address, { start, shape }: Box, rank: number): Box {
  const last = rank > indexAxes.length ? [tuple.length] : [];
  return {
    start: [...indexAxes.map((d) => start[d]), ...last.map(() => 0)],
    shape: [...indexAxes.map((d) => shape[d]), ...last],
  };
}

/** Returns the box of updates, which have the given rank, for a box of positions and a box of each slice. */
export function updateBox(box: Box, slice: Box, rank: number): Box {
  const start = [...box.start, ...slice.start];
  if (start.length === rank) return { start, shape: [...box.shape, ...slice.shape] };
  // Some operator versions accept a single element of any rank for scalar updates.
  return { start: Array(rank).fill(0), shape: Array(rank).fill(1) };
}
