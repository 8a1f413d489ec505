/** Estimates the duration of a job by measuring the disk and the codecs for about a second. */

import * as path from "node:path";
import { DTYPES } from "../../../core/tensor/dtype.ts";
import { product } from "../../../core/tensor/shape.ts";
import type { ChunkedArray } from "../../boxes/array.ts";
import { clippedShape } from "../../boxes/boxes.ts";
import { isUrl } from "../../boxes/file.ts";
import { SlicedArray } from "../../boxes/slice.ts";
import { encodeSample } from "../../zarr/open.ts";
import type { JobParts } from "../stages/budget.ts";
import { diskRate, syncSeconds } from "./disk.ts";
import type { JobPlan, TimedPlan } from "./job-plan.ts";
import { encodingOf } from "./open-arrays.ts";
import { MOVE, START, TASK, taskSeconds } from "./shortage.ts";
import type { JobSpec } from "./spec.ts";

/** The maximum size of a chunk that is read for a measurement, in bytes. */
const MOST_CHUNK = 2 ** 28;

/**
 * The number of bytes that are encoded for a measurement. The number is small, because the slowest codecs encode a few
 * megabytes per second.
 */
const SAMPLE = 2 ** 21;

/** The number of files that a task syncs in sequence. */
const SYNCS = 4;

interface Chunk {
  /** The time for reading the chunk, in s. */
  readonly seconds: number;
  readonly bytes: Uint8Array;
}

export async function timed(
  folder: string,
  plan: JobPlan,
  spec: JobSpec,
  parts: JobParts,
): Promise<TimedPlan> {
  const { data, indices, updates, resolved, address } = parts;
  const rate = await diskRate(path.dirname(folder));
  const sync = await syncSeconds(path.dirname(folder));
  const { bytes: width } = DTYPES[data.dtype];
  const chunk = await readFirst(data);
  const output = product(resolved.shape) * width;
  const encoding = await encode(spec, data, chunk?.bytes ?? null);
  // Chunks that no index addresses are copied without decoding. The estimate assumes that indices are random.
  const touched = 1 - Math.exp(-product(address.positions) / Math.max(1, address.leads.size));
  const isGather = updates === undefined;
  const isCopied = !isGather && spec.codecs === undefined && spec.chunking === undefined;
  const others =
    (await decoding(indices, plan.read.indices)) +
    (updates === undefined ? 0 : await decoding(updates, plan.read.updates));
  const own = isEncoded(data) ? (chunk?.seconds ?? 0) * readsOf(data, plan.read.data) : 0;
  const encoded = output * encoding.seconds;
  const written = output * encoding.ratio;
  const busy = Math.max(1, plan.threads);
  const leastWork = others + (isCopied || spec.inPlace ? 0 : encoded);
  const work = others + touched * own + (isCopied || spec.inPlace ? touched : 1) * encoded;
  const moved = touched * plan.read.data + plan.read.updates + plan.read.shuffle + written;
  const tasks = taskSeconds(plan.stages, Math.max(TASK, SYNCS * sync));
  const disk = plan.written.shuffle + (spec.inPlace ? touched : 1) * written;
  const least = Math.max((spec.inPlace ? 0 : written) / rate, leastWork / busy);
  const likely = START + disk / rate + (work + moved * MOVE + tasks) / busy;
  return { ...plan, diskRate: rate, seconds: { least, likely: Math.max(least, likely) } };
}

const isEncoded = ({ held }: ChunkedArray): boolean => held.read > 0;

/** Converts a number of stored bytes to a number of chunk reads. */
const readsOf = (array: ChunkedArray, bytes: number): number =>
  array.mostStored === 0 ? 0 : bytes / array.mostStored;

/** Returns the time for decoding a job's reads from an input, in s. */
async function decoding(array: ChunkedArray, bytes: number): Promise<number> {
  if (!isEncoded(array)) return 0;
  return ((await readFirst(array))?.seconds ?? 0) * readsOf(array, bytes);
}

/** Reads the first chunk, or returns null for a large or remote chunk, because the measurement would take too long. */
async function readFirst(array: ChunkedArray): Promise<Chunk | null> {
  const own = array instanceof SlicedArray ? array.base : array;
  if (isUrl(own.location.path) || own.shape.includes(0)) return null;
  const at = own.shape.map(() => 0);
  const size = product(clippedShape(at, own.shape, own.chunkShape)) * DTYPES[own.dtype].bytes;
  if (size > MOST_CHUNK) return null;
  const bytes = new Uint8Array(size);
  const begin = performance.now();
  await own.readChunk(at, bytes);
  return { seconds: (performance.now() - begin) / 1000, bytes };
}

interface Encoding {
  /** The encoding time per byte of elements, in s. */
  readonly seconds: number;
  /** The number of stored bytes per byte of elements. */
  readonly ratio: number;
}

/** Encodes a sample of data with the output's codecs. */
async function encode(
  spec: JobSpec,
  data: ChunkedArray,
  values: Uint8Array | null,
): Promise<Encoding> {
  const { format } = spec.out;
  const none = { seconds: 0, ratio: 1 };
  if (format === "npy") return none;
  const base = data instanceof SlicedArray ? data.base : data;
  const chunk = spec.inPlace ? base.chunkShape : (spec.out.chunkShape ?? base.chunkShape);
  const { bytes: width } = DTYPES[data.dtype];
  const shape = [...chunk];
  for (let axis = 0; axis < shape.length && product(shape) * width > SAMPLE; axis++) {
    const rest = (product(shape) / shape[axis]) * width;
    shape[axis] = Math.max(1, Math.floor(SAMPLE / rest));
  }
  const sample = new Uint8Array(product(shape) * width);
  if (sample.length === 0) return none;
  const pattern = values === null || values.length === 0 ? sample.slice() : values;
  for (let at = 0; at < sample.length; at += pattern.length)
    sample.set(pattern.subarray(0, sample.length - at), at);
  const type = { dtype: data.dtype, shape, chunkShape: shape };
  const options = { ...encodingOf(type, base, spec), shards: null };
  const begin = performance.now();
  const stored = await encodeSample(options, sample);
  if (stored === null) return none;
  const seconds = (performance.now() - begin) / 1000;
  return { seconds: seconds / sample.length, ratio: stored / sample.length };
}
