/** Computes the maximum number of stored bytes that `decode.ts` reads for boxes of an array. */

import { coversChunks, pairsAlong, type AxisBoxes } from "../../boxes/axis-boxes.ts";
import { product } from "../../../core/tensor/shape.ts";
import { mostStored, type Pipeline } from "./pipeline.ts";

/** `boxes` contains the boxes along each axis of the array. */
export function mostRead(pipeline: Pipeline, boxes: readonly AxisBoxes[]): number {
  const { compression, order, shards, storedShape } = pipeline;
  const along = order === null ? boxes : order.map((axis) => boxes[axis]);
  const reads = product(along.map((axis, d) => pairsAlong(axis, storedShape[d])));
  if (compression.length > 0) return reads * mostStored(pipeline);
  if (shards === null) return mostElements(pipeline, along);
  const { index, inner } = shards;
  const parts = product(along.map((axis, d) => pairsAlong(axis, inner.shape[d])));
  // If all inner chunks are needed, the whole shard is read, and its index is read a second time.
  return reads * 2 * index.size + Math.max(parts * mostStored(inner), mostRead(inner, along));
}

/**
 * Returns the maximum number of bytes that are read from uncompressed chunks without shards: contiguous boxes, or whole
 * rows of the first axis.
 */
function mostElements({ storedShape, width }: Pipeline, along: readonly AxisBoxes[]): number {
  const extents = along.map(({ extent, count }) => (count === 0 ? 0 : extent));
  if (extents.includes(0)) return 0;
  const wide = storedShape.findIndex((dim) => dim > 1);
  const isRun =
    wide > 0 &&
    storedShape.every(
      (dim, d) => d <= wide || (along[d].length <= dim && coversChunks(along[d], dim)),
    );
  if (isRun) return product(extents) * width;
  const rows = storedShape.map((dim, d) =>
    d === 0 ? extents[0] : pairsAlong(along[d], dim) * dim,
  );
  return product(rows) * width;
}
