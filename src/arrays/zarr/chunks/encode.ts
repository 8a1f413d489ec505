/** Encodes chunks into parts, so that uncompressed elements are never copied. */

import { printCount } from "../../../core/foreign.ts";
import { isTensorError, TensorError } from "../../../core/errors.ts";
import {
  chunksOf,
  copyBox,
  fillBytes,
  isFilled,
  offsetOf,
  transpose,
  type Place,
} from "../../boxes/boxes.ts";
import { product, sameShape } from "../../../core/tensor/shape.ts";
import { newBytes, type Buffers } from "./buffers.ts";
import { reasonOf, type Release } from "../codecs/byte-codec.ts";
import { padding, swapElements } from "./file-elements.ts";
import { join } from "../codecs/gzip.ts";
import { MISSING, type Pipeline, type Sharding } from "./pipeline.ts";

/**
 * Encodes a whole chunk as consecutive parts. The parts may share memory with `chunk`, so they are valid only as long
 * as `chunk` is unchanged. `fill` is the fill value, and inner chunks that consist of it are not stored.
 */
export async function encodeChunk(
  pipeline: Pipeline,
  chunk: Uint8Array,
  fill: Uint8Array,
  buffers: Buffers,
): Promise<readonly Uint8Array[]> {
  const { order, compression, shards } = pipeline;
  const release = (bytes: Uint8Array): void => {
    if (bytes.buffer !== chunk.buffer) buffers.release(bytes);
  };
  const stored = order === null ? chunk : newBytes(chunk.length);
  if (order !== null) transpose(chunk, stored, pipeline.shape, order, pipeline.width);
  const parts =
    shards === null
      ? [toFile(pipeline, stored)]
      : await encodeShard(pipeline, shards, stored, fill, buffers);
  if (!parts.some(({ buffer }) => buffer === stored.buffer)) release(stored);
  if (compression.length === 0) return parts;
  let bytes = join(parts, undefined, release);
  for (const codec of compression) {
    const before = bytes;
    bytes = await encodeStep(codec, before, release);
    if (before.buffer !== bytes.buffer) release(before);
  }
  return [bytes];
}

/** The memory for encoding a chunk, and a function that stores the encoded parts. */
interface Encoding {
  readonly buffers: Buffers;
  put(parts: readonly Uint8Array[]): Promise<void>;
}

/** Encodes a chunk and stores it. A chunk at the end of an axis is padded with the fill value. */
export async function encodeClipped(
  pipeline: Pipeline,
  { bytes, shape }: Pick<Place, "bytes" | "shape">,
  fill: Uint8Array,
  encoding: Encoding,
): Promise<void> {
  const { width, isPlain, shape: whole } = pipeline;
  if (sameShape(shape, whole)) return encodeWhole(pipeline, bytes, fill, encoding);
  const missing = (product(whole) - product(shape)) * width;
  if (isPlain && sameShape(shape.slice(1), whole.slice(1)))
    return encoding.put([bytes, ...padding(missing, fill)]);
  return encoding.buffers.use(product(whole) * width, async (chunk) => {
    const start = shape.map(() => 0);
    fillBytes(chunk, fill);
    copyBox({ bytes, shape, start }, { bytes: chunk, shape: whole, start }, shape, width);
    await encodeWhole(pipeline, chunk, fill, encoding);
  });
}

async function encodeWhole(
  pipeline: Pipeline,
  chunk: Uint8Array,
  fill: Uint8Array,
  { buffers, put }: Encoding,
): Promise<void> {
  const parts = await encodeChunk(pipeline, chunk, fill, buffers);
  await put(parts);
  for (const part of parts) if (part.buffer !== chunk.buffer) buffers.release(part);
}

async function encodeStep(
  codec: Pipeline["compression"][number],
  bytes: Uint8Array,
  release: Release,
): Promise<Uint8Array> {
  try {
    return await codec.encode(bytes, release);
  } catch (cause) {
    if (isTensorError(cause)) throw cause;
    const sentence = `${printCount(bytes.length, "byte")} cannot be encoded with ${codec.name}: ${reasonOf(cause)}`;
    throw new TensorError("engine", sentence, {}, { cause });
  }
}

function toFile({ dtype, bigEndian }: Pipeline, bytes: Uint8Array): Uint8Array {
  if (!bigEndian) return bytes;
  const swapped = bytes.slice();
  swapElements(dtype, swapped);
  return swapped;
}

/** Encodes the inner chunks in row-major order, preceded or followed by the index. */
async function encodeShard(
  { width, storedShape }: Pipeline,
  { inner, grid, count, index }: Sharding,
  shard: Uint8Array,
  fill: Uint8Array,
  buffers: Buffers,
): Promise<readonly Uint8Array[]> {
  const entries = new BigUint64Array(2 * count).fill(MISSING);
  const parts: Uint8Array[] = [];
  const origin = inner.shape.map(() => 0);
  let offset = index.isAtStart ? index.size : 0;
  for (const { at, shape } of chunksOf(origin, storedShape, inner.shape)) {
    const chunk = newBytes(product(shape) * width);
    const start = at.map((one, axis) => one * shape[axis]);
    const into = { bytes: chunk, shape, start: origin };
    copyBox({ bytes: shard, shape: storedShape, start }, into, shape, width);
    if (isFilled(chunk, fill)) continue;
    const encoded = await encodeChunk(inner, chunk, fill, buffers);
    if (!encoded.some(({ buffer }) => buffer === chunk.buffer)) buffers.release(chunk);
    const size = encoded.reduce((sum, { length }) => sum + length, 0);
    const entry = 2 * offsetOf(at, grid);
    entries[entry] = BigInt(offset);
    entries[entry + 1] = BigInt(size);
    offset += size;
    for (const part of encoded) parts.push(part);
  }
  const encoded = await encodeChunk(index.pipeline, new Uint8Array(entries.buffer), fill, buffers);
  return index.isAtStart ? [...encoded, ...parts] : [...parts, ...encoded];
}
