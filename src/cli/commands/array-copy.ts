/** Copies an array chunk by chunk. A copy that fails is removed. */

import { printCount } from "../../core/foreign.ts";
import * as fs from "node:fs";
import * as path from "node:path";
import { DTYPES, isTensorError } from "../../entries/index.ts";
import { printShape } from "../../entries/operators.ts";
import {
  createPending,
  type ChunkedArray,
  type Codec,
  type CreateOptions,
  type PendingArray,
} from "../../entries/zarr.ts";
import { CLI } from "../../core/limits.ts";
import { checkUnused, failureAt, openToCopy } from "./array-facts.ts";
import { errorAt, Failure, wrongUsage } from "../failure.ts";
import type { Io } from "../io.ts";
import { coordinatesOf } from "../text/cells.ts";
import { ProgressLine } from "../text/progress.ts";
import { partOf, placeOf } from "../input/places.ts";
import { checkArrayFormat } from "../input/tensor-format.ts";
import { isSameFile } from "../input/write-files.ts";

export interface CopyOptions {
  readonly chunks?: readonly number[];
  readonly shards?: readonly number[];
  readonly codec?: readonly (string | Codec)[];
  readonly force?: boolean;
  readonly unfinished?: boolean;
}

/** Copies the array, and returns a line that describes the copy. */
export async function copyArray(
  io: Io,
  name: string,
  output: string,
  options: CopyOptions,
): Promise<string> {
  if (isSameFile(io, partOf(io, name).place, placeOf(io, output))) {
    throw wrongUsage(`the output ${output} is also the input; give another output`);
  }
  checkArrayFormat(output);
  const place = placeOf(io, output);
  if (options.force !== true && isArray(place)) {
    throw wrongUsage(`${output} already exists; replace it with --force, or give another output`);
  }
  const from = await openToCopy(io, name, options.unfinished);
  const into = await create(io, output, createOptions(from, place, options));
  const clean = (): void => removeBegun(place);
  const release = io.onSignal(clean);
  const progress = new ProgressLine(io.stderr);
  try {
    const copied = await copyChunks(from, into, progress, (error) => failureAt(io, name, error));
    // A concurrent job may have changed some chunks before the copy read them.
    if (options.unfinished !== true) await checkUnused(io, name, from);
    await into.publish();
    await into.endStaging();
    const { dtype, shape } = into;
    return `${output}: ${dtype} ${printShape(shape)}, ${printCount(copied, "chunk")}`;
  } catch (error) {
    clean();
    if (error instanceof Failure) throw error;
    throw isTensorError(error) ? failureAt(io, output, error) : errorAt(output, error);
  } finally {
    progress.clear();
    release();
  }
}

const isNpy = (place: string): boolean => place.toLowerCase().endsWith(".npy");

const isArray = (place: string): boolean =>
  isNpy(place)
    ? fs.existsSync(place)
    : ["zarr.json", ".zarray", ".zgroup"].some((one) => fs.existsSync(path.join(place, one)));

function createOptions(
  from: ChunkedArray,
  place: string,
  { chunks, shards, codec, force = false }: CopyOptions,
): CreateOptions {
  const shared = { like: from, overwrite: force };
  if (!isNpy(place)) {
    return {
      ...shared,
      ...(chunks !== undefined && { chunkShape: chunks, shards: shards ?? null }),
      ...(shards !== undefined && { shards }),
      ...(codec !== undefined && { codecs: codec }),
    };
  }
  if (shards !== undefined || codec !== undefined) {
    throw wrongUsage(
      "NPY files have no shards and no codecs; --shards and --codec need a Zarr output",
    );
  }
  const { shape, chunkShape, dtype } = from;
  if (chunks !== undefined) return { ...shared, chunkShape: chunks };
  const row = shape.slice(1).reduce((all, dim) => all * dim, DTYPES[dtype].bytes);
  const [rows = 1] = chunkShape;
  // Each chunk of the copy holds complete rows, and its height is a multiple of the source's chunk height.
  const { npy: most } = CLI;
  const many = Math.max(1, Math.floor(most / (rows * row || 1))) * rows;
  // Every read decodes the whole chunk, so one read per chunk is preferable. A very wide chunk does not fit in memory.
  const fits = !shape.includes(0) && many * row <= 4 * most;
  if (!fits) return shared;
  return {
    ...shared,
    chunkShape: shape.map((dim, axis) => (axis === 0 ? Math.min(many, dim) : dim)),
  };
}

/** Creates the copy. Throws a `Failure` for invalid options. System errors are thrown without conversion. */
async function create(io: Io, output: string, options: CreateOptions): Promise<PendingArray> {
  try {
    return await createPending(placeOf(io, output), options);
  } catch (error) {
    if (!isTensorError(error)) throw errorAt(output, error);
    throw wrongUsage(error.message.replaceAll(placeOf(io, output), output), error);
  }
}

/** Removes all files of an incomplete copy, and the folder if no other files remain. */
function removeBegun(place: string): void {
  if (isNpy(place)) return fs.rmSync(`${place}.part`, { force: true });
  for (const name of ["c", ".ndscatter"]) {
    fs.rmSync(path.join(place, name), { recursive: true, force: true });
  }
  try {
    fs.rmdirSync(place);
  } catch {
    // The removal fails if the folder contains other files, which must stay.
  }
}

async function copyChunks(
  from: ChunkedArray,
  into: PendingArray,
  progress: ProgressLine,
  blame: (error: unknown) => unknown,
): Promise<number> {
  const { shape, chunkShape, dtype } = into;
  const grid = shape.map((dim, axis) => Math.ceil(dim / chunkShape[axis]));
  const count = grid.reduce((all, one) => all * one, 1);
  const { bytes: width } = DTYPES[dtype];
  const isSameGrid = String(from.chunkShape) === String(chunkShape);
  const begun = performance.now();
  let buffer = new Uint8Array(0);
  let [done, bytes] = [0, 0];
  for (let number = 0; number < count; number++) {
    const at = coordinatesOf(number, grid);
    const start = at.map((one, axis) => one * chunkShape[axis]);
    const box = start.map((one, axis) => Math.min(chunkShape[axis], shape[axis] - one));
    const size = box.reduce((all, dim) => all * dim, width);
    const name = `copy-${number}`;
    // oxlint-disable-next-line no-await-in-loop -- one chunk after the other, so that few are in memory
    let isStaged = await into.stageCopy(from, at, name);
    if (!isStaged) {
      if (buffer.length < size) buffer = new Uint8Array(size);
      const chunk = buffer.subarray(0, size);
      // oxlint-disable-next-line no-await-in-loop
      const isStored = await read(from, isSameGrid ? at : null, { start, box }, chunk, blame);
      // NPY files have no fill value, so every element is written.
      isStaged = isStored || into.location.format === "npy";
      // oxlint-disable-next-line no-await-in-loop
      if (isStaged) await into.stageChunk(at, chunk, name);
    }
    // oxlint-disable-next-line no-await-in-loop
    if (isStaged) await into.publishChunk(at, name);
    done += isStaged ? 1 : 0;
    bytes += size;
    const written = bytes;
    progress.show(() => printProgress(number + 1, count, written, performance.now() - begun));
  }
  return done;
}

/**
 * Reads the elements of a chunk of the copy. Returns false if the chunk is not stored.
 * @param at the same chunk of the source; null if the chunks differ
 */
async function read(
  from: ChunkedArray,
  at: readonly number[] | null,
  { start, box }: { readonly start: readonly number[]; readonly box: readonly number[] },
  into: Uint8Array,
  blame: (error: unknown) => unknown,
): Promise<boolean> {
  try {
    if (at !== null) return await from.readChunk(at, into);
    await from.readBytes(start, box, into);
    return true;
  } catch (error) {
    throw blame(error);
  }
}

function printProgress(done: number, count: number, bytes: number, ms: number): string {
  const left = Math.ceil(((count - done) * ms) / done / 1000);
  const rate = (bytes / ms / 1000).toFixed(0);
  return `${Math.floor((100 * done) / count)} % of ${printCount(count, "chunk")}, ${rate} MB/s, ${left} s left`;
}
