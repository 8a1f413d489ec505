/** Opens the arrays of a job, in any format and location. */

import { statSync } from "node:fs";
import * as fs from "node:fs/promises";
import * as path from "node:path";
import { findStat, isCode, isThere, isUrl, makeFolders } from "../../boxes/file.ts";
import type { Guard } from "../../boxes/guard.ts";
import type {
  ArrayLocation,
  ArrayType,
  ChunkedArray,
  PendingArray,
  StagedArray,
} from "../../boxes/array.ts";
import { SlicedArray } from "../../boxes/slice.ts";
import { containerOf, splitArchive } from "../../boxes/urls.ts";
import { createPendingNpy, openNpyArray, openPendingNpy } from "../../npy/files.ts";
import { isTensorError, malformed, TensorError } from "../../../core/errors.ts";
import { DTYPES } from "../../../core/tensor/dtype.ts";
import { product, sameShape } from "../../../core/tensor/shape.ts";
import type { CreateOptions } from "../../zarr/create.ts";
import { costsOf, createPending, openPending, openWith, type ChunkCosts } from "../../zarr/open.ts";
import { readOnly } from "../../zarr/stores/store.ts";
import type { JobInputs } from "../stages/context.ts";
import type { JobSpec } from "./spec.ts";
import { removeLeft, temporaryOf } from "./temporary.ts";

/**
 * While a job changes an array in place, its own tasks may still read the array. Other jobs are refused when they claim
 * the array.
 */
const onNote = (): void => {};

export async function openLocated(location: ArrayLocation, guard?: Guard): Promise<ChunkedArray> {
  const { format, path: place, chunkShape } = location;
  const isFile = format === "npy" && !isUrl(place) && splitArchive(place) === null;
  return partAt(
    location,
    isFile
      ? await openNpyArray(place, chunkShape)
      : await openWith(place, { onNote, ...(chunkShape && { chunkShape }) }, guard),
  );
}

const partAt = <T extends ChunkedArray>(
  { slice, isExclusive, readAs }: ArrayLocation,
  array: T,
): T | SlicedArray =>
  slice === undefined ? array : new SlicedArray(array, slice, isExclusive === true, readAs);

/** Throws an `attribute` error for an output in an archive or a reference file, because these are only read. */
export function checkNoArchive(place: string): void {
  const container = isUrl(place) ? null : containerOf(place);
  if (container !== null && statSync(container, { throwIfNoEntry: false })?.isFile() === true)
    throw readOnly({ path: place });
}

/** Returns the temporary path of a job's unfinished NPY file. */
export const partOf = ({ out, id }: JobSpec): string => `${out.path}.${id}.part`;

/** Opens the output of a job that creates a new array. */
export async function openOutput(spec: JobSpec, guard?: Guard): Promise<PendingArray> {
  if (spec.out.format === "zarr") return openPending(spec.out.path, {}, guard);
  const part = partOf(spec);
  try {
    return await openPendingNpy(spec.out.path, spec.out.chunkShape, part);
  } catch (error) {
    if (!isTensorError(error, "malformed-file")) throw error;
    const sentence = `${part} was cut short while the job ran; ndscatter job resume writes it again`;
    throw malformed(sentence, { file: part }, { cause: error });
  }
}

/** Creates the new array of a job. If the formats are the same, the new array inherits the encoding of `like`. */
export async function createOutput(
  spec: JobSpec,
  type: ArrayType,
  like: ChunkedArray,
): Promise<void> {
  const { format, path: place } = spec.out;
  if (format === "npy") return createPart(spec, type);
  await createPending(place, encodingOf(type, like, spec));
}

/**
 * Creates the file under a temporary name, because two runs may create it at the same time. The file is renamed as soon
 * as it can be opened.
 */
async function createPart(spec: JobSpec, type: ArrayType): Promise<void> {
  const begun = temporaryOf(partOf(spec));
  await makeFolders(path.dirname(begun));
  await removeLeft(path.dirname(begun), path.basename(partOf(spec)));
  try {
    await createPendingNpy(spec.out.path, type, begun);
    await fs.link(begun, partOf(spec));
  } catch (error) {
    if (!isCode(error, "EEXIST")) throw error;
  } finally {
    await fs.rm(begun, { force: true });
  }
}

/**
 * Links a job's NPY file to its name. The file is linked instead of renamed, because a late rename would replace a
 * published result with zeros. Throws an `attribute` error if another file already has this name.
 */
export async function publishPart(spec: JobSpec): Promise<void> {
  const [part, file] = [partOf(spec), spec.out.path];
  try {
    await fs.link(part, file);
  } catch (error) {
    if (isCode(error, "ENOENT") && (await isThere(file))) return;
    if (!isCode(error, "EEXIST")) throw error;
    const own = await findStat(part);
    // Another run has already published the file and removed the temporary name.
    if (own === null) return;
    // A run that was killed after linking has left two names for the same file.
    const found = await fs.stat(file);
    if (own.ino !== found.ino || own.dev !== found.dev) throw outputExists(file);
  }
  await removePart(spec);
}

/** Removes a job's unfinished NPY file, and files of killed processes. */
export async function removePart(spec: JobSpec): Promise<void> {
  const part = partOf(spec);
  await fs.rm(part, { force: true });
  await removeLeft(path.dirname(part), path.basename(part));
}

export const outputExists = (out: string): TensorError =>
  new TensorError("attribute", `${out} exists; remove it, or give another output`, {
    key: "out",
    file: out,
  });

/** The requested codecs and chunks of a new Zarr array. */
type Encoding = Pick<JobSpec, "codecs" | "chunking">;

export function encodingOf(
  { dtype, shape, chunkShape }: ArrayType,
  like: ChunkedArray,
  { codecs, chunking }: Encoding,
): CreateOptions {
  const encoding = codecs === undefined ? {} : { codecs };
  const hasOwn = sameShape(shape, like.shape) && sameShape(chunkShape, like.chunkShape);
  if (hasOwn && chunking === undefined) return { like, dtype, shape, ...encoding };
  const own = { dtype, shape, chunkShape, shards: null, ...chunking, ...encoding };
  // The codecs may transpose axes, which is valid only for an array of the same rank.
  return shape.length === like.shape.length ? { like, ...own } : own;
}

/** Returns the memory and storage that a chunk takes in the array of `createOutput`. */
export const costsOfOutput = (
  format: ArrayLocation["format"],
  type: ArrayType,
  like: ChunkedArray,
  encoding: Encoding,
): ChunkCosts =>
  format === "npy"
    ? {
        read: 0,
        write: 0,
        stored: product(type.chunkShape) * DTYPES[type.dtype].bytes,
        textLength: () => 0,
      }
    : costsOf(encodingOf(type, like, encoding));

export async function openInputs(
  { data, indices, updates }: Pick<JobSpec, "data" | "indices" | "updates">,
  guard?: Guard,
): Promise<JobInputs> {
  return {
    data: await openLocated(data, guard),
    indices: await openLocated(indices, guard),
    updates: updates === undefined ? undefined : await openLocated(updates, guard),
  };
}

/** Opens the output, which is `data` itself if the job changes data in place. */
export async function openOut(
  spec: JobSpec,
  data: ChunkedArray,
  guard?: Guard,
): Promise<StagedArray | PendingArray> {
  if (!spec.inPlace) return openOutput(spec, guard);
  if (spec.out.format === "zarr") return data as StagedArray;
  throw new TensorError(
    "attribute",
    `${spec.out.path} cannot be changed in place; give a Zarr array in files`,
    { key: "out", file: spec.out.path },
  );
}
