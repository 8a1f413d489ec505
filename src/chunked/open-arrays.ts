/** The arrays of a job, wherever they are. */

import type { ArrayLocation, ChunkedArray, PendingArray, StagedArray } from "../arrays/array.ts";
import { createPendingNpy, openNpyArray, openPendingNpy } from "../arrays/npy-array.ts";
import type { ArrayType } from "../arrays/array.ts";
import { TensorError } from "../errors.ts";
import type { JobArrays } from "./context.ts";
import type { JobSpec } from "./spec.ts";

export const openLocated = ({ format, path, chunkShape }: ArrayLocation): Promise<ChunkedArray> =>
  format === "npy" ? openNpyArray(path, chunkShape) : openZarr(path);

const openZarr = async (path: string): Promise<ChunkedArray> => {
  throw new TensorError("malformed-file", `${path} is Zarr`);
};

/** The output of a job that makes a new array. */
export const openOutput = ({ format, path, chunkShape }: ArrayLocation): Promise<PendingArray> =>
  format === "npy" ? openPendingNpy(path, chunkShape) : (openZarr(path) as Promise<PendingArray>);

/**
 * Begins the new array of a job.
 * @param like has the encoding that the new array gets, where both are of one format
 */
export const createOutput = (
  { format, path }: ArrayLocation,
  type: ArrayType,
  like: ChunkedArray,
): Promise<PendingArray> =>
  format === "npy"
    ? createPendingNpy(path, type)
    : (openZarr(path + String(like)) as Promise<PendingArray>);

export async function openArrays(spec: JobSpec): Promise<JobArrays> {
  const { data, indices, updates, out, inPlace } = spec;
  return {
    data: await openLocated(data),
    indices: await openLocated(indices),
    updates: updates === undefined ? undefined : await openLocated(updates),
    out: inPlace ? ((await openLocated(out)) as StagedArray) : await openOutput(out),
  };
}
