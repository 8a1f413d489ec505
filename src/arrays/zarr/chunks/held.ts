/** Computes the memory for reading or writing a chunk, excluding the chunk's elements. */

import type { ArrayType, HeldBytes } from "../../boxes/array.ts";
import { product, sameShape } from "../../../core/tensor/shape.ts";
import { sizesOf, type Pipeline } from "./pipeline.ts";

/**
 * Returns the maximum memory for reading and writing a chunk with any contents, in bytes. `atOnce` is the number of
 * inner chunks that are read at the same time.
 */
export function heldBytes(
  pipeline: Pipeline,
  { shape, chunkShape }: ArrayType,
  atOnce: number,
): HeldBytes {
  const size = product(chunkShape) * pipeline.width;
  const isRagged = shape.some((dim, axis) => dim % chunkShape[axis] !== 0);
  const areRows = sameShape(chunkShape.slice(1), shape.slice(1));
  const isDirect = pipeline.isPlain && areRows;
  const sizes = sizesOf(pipeline);
  return {
    read: decoding(pipeline, sizes, atOnce) - (isDirect ? size : 0),
    // For padding, a chunk at the end of an axis is copied.
    write: encoding(pipeline, sizes) + (isDirect || !isRagged ? 0 : size),
  };
}

function decoding(pipeline: Pipeline, sizes: readonly number[], atOnce: number): number {
  const { compression, order, shards, shape, width } = pipeline;
  const steps = compression.map(
    ({ held }, at) => sizes[at] + sizes[at + 1] + held.decode(sizes[at]),
  );
  const turned = order === null ? 0 : product(shape) * width;
  // From an uncompressed chunk, whole rows are read even if the box covers only part of each row.
  if (shards === null) return (steps.length === 0 ? sizes[0] : Math.max(...steps)) + turned;
  const inner =
    Math.min(shards.count, atOnce) * decoding(shards.inner, sizesOf(shards.inner), atOnce);
  return Math.max(sizes[0] + inner, ...steps) + turned;
}

function encoding(pipeline: Pipeline, sizes: readonly number[]): number {
  const { bigEndian, compression, order, shards, shape, width } = pipeline;
  const size = product(shape) * width;
  // If the array has no shards, the first codec reads the chunk directly, without a copy.
  const steps = compression.map(
    ({ held }, at) =>
      (at === 0 && shards === null ? 0 : sizes[at]) + sizes[at + 1] + held.encode(sizes[at]),
  );
  const turned = (order === null ? 0 : size) + (bigEndian ? size : 0);
  if (shards === null) return Math.max(0, ...steps) + turned;
  // The peak is either the parts of the shard and one inner chunk, or the joined parts.
  const { inner } = shards;
  const parts = sizes[0] + product(inner.shape) * width + encoding(inner, sizesOf(inner));
  return Math.max(parts, ...steps.map((step) => step + sizes[0])) + turned;
}
