/** Maximum stored bytes that are read for boxes of an array: see `decode.ts` for the reads. */

import { coversChunks, pairsAlong, type AxisBoxes } from "../../boxes/axis-boxes.ts";
import { product } from "../../../core/tensor/shape.ts";
import { mostStored, type Pipeline } from "./pipeline.ts";

/** @param boxes along each axis of the array; its chunks begin at 0 */
export function mostRead(pipeline: Pipeline, boxes: readonly AxisBoxes[]): number {
  const { compression, order, shards, storedShape } = pipeline;
  const along = order === null ? boxes : order.map((axis) => boxes[axis]);
  const reads = product(along.map((axis, d) => pairsAlong(axis, storedShape[d])));
  if (compression.length > 0) return reads * mostStored(pipeline);
  if (shards === null) return mostElements(pipeline, along);
  const { index, inner } = shards;
  const parts = product(along.map((axis, d) => pairsAlong(axis, inner.shape[d])));
  // A shard that is needed completely is read completely, which reads its index a second time.
  return reads * 2 * index.size + Math.max(parts * mostStored(inner), mostRead(inner, along));
}

/**
 * Whole rows of the first axis are read from uncompressed chunks without shards; or only the box, if it is contiguous.
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
