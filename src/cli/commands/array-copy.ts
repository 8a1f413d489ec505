/** Copies an array chunk by chunk to a new array or into a part of an array. A new array that fails is removed. */

import * as fs from "node:fs";
import * as path from "node:path";
import { givenOption, partOf, placeOf } from "../input/arguments.ts";
import {
  blame,
  checkUnused,
  failureAt,
  gridOf,
  openNamed,
  openToCopy,
  printKind,
} from "./array-facts.ts";
import { errorAt, wrongData, wrongUsage } from "../failure.ts";
import { checkArrayFormat } from "../input/read-files.ts";
import { isSameFile } from "../input/write-files.ts";
import { type Io, ProgressLine } from "../io.ts";
import { printCount } from "../../core/foreign.ts";
import { CLI } from "../../core/limits.ts";
import { DTYPES, isTensorError } from "../../entries/index.ts";
import {
  type ChunkedArray,
  type Codec,
  type CreateOptions,
  createPending,
  type PendingArray,
} from "../../entries/zarr.ts";
import { coordinatesOf, product } from "../../core/tensor/shape.ts";

export interface CopyOptions {
  readonly chunks?: readonly number[];
  readonly shards?: readonly number[];
  readonly codec?: readonly (string | Codec)[];
  readonly force?: boolean;
  readonly unfinished?: boolean;
}

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
    const copied = await copyChunks(from, into, progress, blame(io, name));
    // A concurrent job may have changed some chunks before the copy read them.
    if (options.unfinished !== true) await checkUnused(io, name, from);
    await into.publish();
    await into.endStaging();
    return `${output}: ${printKind(into)}, ${printCount(copied, "chunk")}`;
  } catch (error) {
    clean();
    throw failureAt(io, output, error);
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
  const row = product(shape, 1) * DTYPES[dtype].bytes;
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

/** A chunk of an array: its coordinates in the grid of chunks, and its elements. */
interface Chunk {
  readonly at: readonly number[];
  readonly start: readonly number[];
  readonly box: readonly number[];
}

function* chunksOf(array: ChunkedArray): Iterable<Chunk> {
  const { shape, chunkShape } = array;
  const grid = gridOf(array);
  for (let number = 0; number < product(grid); number++) {
    const at = coordinatesOf(number, grid);
    const start = at.map((one, axis) => one * chunkShape[axis]);
    const box = start.map((one, axis) => Math.min(chunkShape[axis], shape[axis] - one));
    yield { at, start, box };
  }
}

/** Copies chunk by chunk, so that few chunks are in memory, and returns the number of stored chunks. */
async function copyChunks(
  from: ChunkedArray,
  into: PendingArray,
  progress: ProgressLine,
  onError: (error: unknown) => never,
): Promise<number> {
  const count = product(gridOf(into));
  const { bytes: width } = DTYPES[into.dtype];
  const isSameGrid = String(from.chunkShape) === String(into.chunkShape);
  const begun = performance.now();
  let buffer = new Uint8Array(0);
  let [seen, done, bytes] = [0, 0, 0];
  /* oxlint-disable no-await-in-loop */
  for (const { at, start, box } of chunksOf(into)) {
    const size = product(box) * width;
    const name = `copy-${seen++}`;
    let isStaged = await into.stageCopy(from, at, name);
    if (!isStaged) {
      if (buffer.length < size) buffer = new Uint8Array(size);
      const chunk = buffer.subarray(0, size);
      // A chunk that is not stored has only the fill value, which an NPY file does not have.
      const isStored = isSameGrid
        ? await from.readChunk(at, chunk).catch(onError)
        : await from.readBytes(start, box, chunk).then(() => true, onError);
      isStaged = isStored || into.location.format === "npy";
      if (isStaged) await into.stageChunk(at, chunk, name);
    }
    if (isStaged) await into.publishChunk(at, name);
    done += isStaged ? 1 : 0;
    bytes += size;
    const [far, written] = [seen, bytes];
    progress.show(() => printProgress(far, count, written, performance.now() - begun));
  }
  /* oxlint-enable no-await-in-loop */
  return done;
}

function printProgress(done: number, count: number, bytes: number, ms: number): string {
  const left = Math.ceil(((count - done) * ms) / done / 1000);
  const rate = (bytes / ms / 1000).toFixed(0);
  return `${Math.floor((100 * done) / count)} % of ${printCount(count, "chunk")}, ${rate} MB/s, ${left} s left`;
}

export async function writePart(
  io: Io,
  name: string,
  output: string,
  options: CopyOptions,
): Promise<string> {
  const { force: _, unfinished, ...others } = options;
  const odd = givenOption(others);
  if (odd !== undefined) {
    throw wrongUsage(
      `${odd} needs a new array, but ${output} is a part of an existing array; leave ${odd} out`,
    );
  }
  if (isSameFile(io, partOf(io, name).place, partOf(io, output).place)) {
    throw wrongUsage(
      `${name} and ${output} are parts of the same array; copy ${name} to another array first`,
    );
  }
  const from = await openToCopy(io, name, unfinished);
  const into = await openNamed(io, output);
  if (printKind(from) !== printKind(into)) {
    const sentence = `${name} is ${printKind(from)}, but ${output} is ${printKind(into)}`;
    throw wrongData(`${sentence}; the data type and the shape must be the same`);
  }
  const check = (): Promise<void> => checkUnused(io, output, into);
  await check();
  const progress = new ProgressLine(io.stderr);
  const count = product(gridOf(into));
  let done = 0;
  try {
    for (const { start, box } of chunksOf(into)) {
      // oxlint-disable-next-line no-await-in-loop -- one chunk in memory at a time
      const values = await from.read(start, box).catch(blame(io, name));
      // oxlint-disable-next-line no-await-in-loop
      await into.write(values, start).catch(blame(io, output));
      done++;
      progress.show(() => `${done} of ${printCount(count, "chunk")} written`);
    }
    // A concurrent job may have read old values from some chunks and new values from others.
    await check();
    return `${output}: ${printKind(into)} written`;
  } finally {
    progress.clear();
  }
}
