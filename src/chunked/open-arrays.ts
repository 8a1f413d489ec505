/** The arrays of a job, wherever they are. */

import type { ArrayLocation, ArrayType, ChunkedArray, PendingArray } from "../arrays/array.ts";
import { createPendingNpy, openNpyArray, openPendingNpy } from "../arrays/npy-array.ts";
import { TensorError } from "../errors.ts";
import { sameShape } from "../tensor/shape.ts";
import { createPending, openArray, openPending } from "../zarr/index.ts";
import type { JobArrays } from "./context.ts";
import type { JobSpec } from "./spec.ts";

export const openLocated = ({ format, path, chunkShape }: ArrayLocation): Promise<ChunkedArray> =>
  format === "npy" ? openNpyArray(path, chunkShape) : openArray(path);

/** Where the NPY file of a job lies until it is complete. */
export const partOf = ({ out, id }: JobSpec): string => `${out.path}.${id}.part`;

/** The output of a job that makes a new array. */
export const openOutput = (spec: JobSpec): Promise<PendingArray> =>
  spec.out.format === "npy"
    ? openPendingNpy(spec.out.path, spec.out.chunkShape, partOf(spec))
    : openPending(spec.out.path);

/**
 * Begins the new array of a job.
 * @param like has the encoding that the new array gets, where both are of one format
 */
export function createOutput(
  spec: JobSpec,
  type: ArrayType,
  like: ChunkedArray,
): Promise<PendingArray> {
  const { format, path } = spec.out;
  if (format === "npy") return createPendingNpy(path, type, partOf(spec));
  const { dtype, shape, chunkShape } = type;
  if (sameShape(shape, like.shape) && sameShape(chunkShape, like.chunkShape)) {
    return createPending(path, { like, dtype, shape });
  }
  const own = { dtype, shape, chunkShape, shards: null };
  // An order of axes, which may be among the codecs, is that of an array of the same rank.
  return createPending(path, shape.length === like.shape.length ? { like, ...own } : own);
}

export async function openArrays(spec: JobSpec): Promise<JobArrays> {
  const { data, indices, updates, out, inPlace } = spec;
  return {
    data: await openLocated(data),
    indices: await openLocated(indices),
    updates: updates === undefined ? undefined : await openLocated(updates),
    out: inPlace ? await openInPlace(out) : await openOutput(spec),
  };
}

/** An array that is there and whose chunks can be staged. */
async function openInPlace(location: ArrayLocation): Promise<PendingArray> {
  if (location.format === "zarr") return openPending(location.path);
  throw new TensorError("attribute", `${location.path} cannot be changed in place`);
}
