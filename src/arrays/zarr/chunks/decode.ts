/**
 * Decodes boxes of chunks. For a shard, only the index and the needed inner chunks are read; for an uncompressed chunk,
 * only the needed rows are read. No memory is allocated for sizes that the stored bytes cannot contain.
 */

import { printCount } from "../../../core/foreign.ts";
import { isTensorError, malformed, TensorError } from "../../../core/errors.ts";
import {
  chunksOf,
  copyBox,
  copyTransposed,
  fillBox,
  isRun,
  offsetOf,
  type Place,
} from "../../boxes/boxes.ts";
import type { RowRuns } from "../../boxes/array.ts";
import type { Box } from "../../boxes/grid.ts";
import { bandsOf } from "../../boxes/base-array.ts";
import { inParallel } from "../../boxes/parallel.ts";
import { HEAD, otherKindOf, PAGE } from "../../../core/tensor/bytes.ts";
import { product } from "../../../core/tensor/shape.ts";
import type { Buffers } from "./buffers.ts";
import {
  OtherKind,
  reasonOf,
  type ByteCodec,
  type Decoded,
  type Release,
  type Span,
} from "../codecs/byte-codec.ts";
import { needsChange, toMemory } from "./file-elements.ts";
import { MISSING, mostStored, sizesOf, type Pipeline, type Sharding } from "./pipeline.ts";
import { memorySource, partOfSource, readAll, type Source } from "../stores/store.ts";

/** A box of a chunk, and parameters for reading the box. */
export interface Reading {
  readonly box: Box;
  /** The rows of the box that are needed; other rows of `into` may get any values. All rows if undefined. */
  readonly runs?: RowRuns | undefined;
  readonly into: Place;
  /** The name of the chunk in errors. */
  readonly where: string;
  /** The fill value, for inner chunks that are not stored. */
  readonly fill: Uint8Array;
  readonly buffers: Buffers;
  /** The maximum number of inner chunks that are read at the same time. */
  readonly concurrency: number;
}

/** Reads a box of a chunk. Throws a `malformed-file` error for bytes that cannot be decoded. */
export async function readBox(pipeline: Pipeline, source: Source, given: Reading): Promise<void> {
  const { shards, order, storedShape } = pipeline;
  const areRows = isRun(given.box.shape, storedShape) && isRun(given.box.shape, given.into.shape);
  // Parts of rows are read without runs.
  const runs = order === null && (shards !== null || areRows) ? given.runs : undefined;
  const reading = { ...given, runs };
  if (pipeline.compression.length === 0) return readTurned(pipeline, source, reading);
  const bytes = await decompress(pipeline, source, reading);
  await readTurned(pipeline, memorySource(bytes), reading);
  if (bytes.buffer !== source.bytes?.buffer) reading.buffers.release(bytes);
}

/** Returns the error for a chunk that cannot be decoded, which may be an HTML page. */
export async function namingPage(error: unknown, source: Source, where: string): Promise<unknown> {
  // An error that names a file is about the state of the file, not about its bytes.
  if (!isTensorError(error, "malformed-file") || error.file !== undefined) return error;
  const head = new Uint8Array(Math.min(source.size, HEAD));
  await source.read(0, head).catch(() => head.fill(0));
  if (otherKindOf(head) !== PAGE) return error;
  const sentence = `${where} is an HTML page, which a server sent in its place; check the URL, or get the file again`;
  return malformed(sentence, { got: PAGE.name }, { cause: error });
}

/** Reads a box of an uncompressed chunk. */
async function readTurned(pipeline: Pipeline, source: Source, reading: Reading): Promise<void> {
  const { order, width } = pipeline;
  if (order === null) return readStored(pipeline, source, reading);
  const { box, into, buffers } = reading;
  const turned = {
    start: order.map((axis) => box.start[axis]),
    shape: order.map((axis) => box.shape[axis]),
  };
  await buffers.use(product(box.shape) * width, async (buffer) => {
    const place = runPlace(buffer, turned.shape);
    await readStored(pipeline, source, { ...reading, box: turned, into: place });
    copyTransposed(buffer, into, turned.shape, order, width);
  });
}

const readStored = (pipeline: Pipeline, source: Source, reading: Reading): Promise<void> =>
  pipeline.shards === null
    ? readElements(pipeline, source, reading)
    : readShard(pipeline.shards, source, reading);

async function decompress(
  pipeline: Pipeline,
  source: Source,
  reading: Reading,
): Promise<Uint8Array> {
  const { where, buffers } = reading;
  const { compression, shards } = pipeline;
  const sizes = sizesOf(pipeline);
  const [size, most, got] = [sizes[0], sizes[compression.length], source.size];
  if (got > most) {
    const takes = `more than its elements can take (${most})`;
    throw malformed(`${where} has ${printCount(got, "byte")}, ${takes}`, { got });
  }
  const allocate = (size: number): Uint8Array => buffers.allocate(size);
  const bytes = await readAll(source, allocate);
  const before = { size, isExact: shards === null, allocate, needed: neededOf(pipeline, reading) };
  return decodeSteps(compression, bytes, before, where, (encoded) => {
    if (encoded.buffer !== source.bytes?.buffer) buffers.release(encoded);
  });
}

/** Returns the bytes of a chunk that contain the needed rows; undefined if they are not known. */
function neededOf(
  { shards, order, storedShape, width }: Pipeline,
  { box, runs }: Reading,
): readonly Span[] | undefined {
  if (shards !== null || order !== null) return undefined;
  if (box.shape.length === 0 || product(box.shape) === 0) return undefined;
  const { starts, counts } = runs ?? { starts: [0], counts: [box.shape[0]] };
  const row = product(storedShape, 1) * width;
  const ends = box.start.map((one, axis) => one + box.shape[axis] - 1);
  const first = offsetOf([0, ...box.start.slice(1)], storedShape) * width;
  const last = (offsetOf([0, ...ends.slice(1)], storedShape) + 1) * width - row;
  return Array.from(starts, (start, i) => {
    const from = (box.start[0] + start) * row;
    return [from + first, from + counts[i] * row + last];
  });
}

/**
 * Decodes bytes with the codecs in reverse order. `decoded` describes the bytes before the first codec encodes them;
 * the sizes before the later codecs are exact up to the first compression codec.
 */
async function decodeSteps(
  codecs: readonly ByteCodec[],
  encoded: Uint8Array,
  decoded: Decoded,
  where: string,
  release: Release = () => {},
): Promise<Uint8Array> {
  const { allocate } = decoded;
  let { size, isExact, needed } = decoded;
  const steps = codecs.map((codec) => {
    const step = { codec, size, isExact, allocate, needed };
    // Only the result of the last step consists of elements.
    needed = undefined;
    const fixed = codec.fixedSize(size);
    size = fixed ?? codec.mostEncoded(size);
    isExact &&= fixed !== null;
    return step;
  });
  let bytes = encoded;
  for (const step of steps.reverse()) {
    const before = bytes;
    bytes = await decodeStep(step.codec, before, step, where);
    if (before.buffer !== bytes.buffer) release(before);
  }
  return bytes;
}

async function decodeStep(
  codec: ByteCodec,
  bytes: Uint8Array,
  decoded: Decoded,
  where: string,
): Promise<Uint8Array> {
  const { size, isExact } = decoded;
  if (isExact && size > codec.ratio * bytes.length) {
    const encoded = `${printCount(bytes.length, "byte")} encoded with ${codec.name}`;
    const sentence = `${where} has ${encoded}, too few for ${printCount(size, "decoded byte")}`;
    throw malformed(sentence, { got: bytes.length });
  }
  let result: Uint8Array;
  try {
    result = await codec.decode(bytes, decoded);
  } catch (cause) {
    if (isTensorError(cause)) throw cause;
    const sentence = `${where} cannot be decoded with ${codec.name}: ${reasonOf(cause)}`;
    if (!(cause instanceof OtherKind)) throw malformed(sentence, {}, { cause });
    const fields = { key: "codecs", got: codec.name };
    throw new TensorError("unsupported-codec", sentence, fields, { cause });
  }
  const { length: got } = result;
  if (isExact ? got === size : got <= size) return result;
  const than = isExact ? "" : "at most ";
  const sentence = `${where} decodes to ${printCount(got, "byte")} with ${codec.name}, not ${than}${size}`;
  throw malformed(sentence, { got });
}

/** Throws a `malformed-file` error unless the bytes of an uncompressed chunk are as many as its elements take. */
export function checkSize(
  { storedShape, width }: Pipeline,
  { size: got }: Source,
  where: string,
): void {
  const size = product(storedShape) * width;
  if (got === size) return;
  throw malformed(`${where} has ${printCount(got, "byte")}, but its elements take ${size}`, {
    got,
  });
}

async function readElements(pipeline: Pipeline, source: Source, reading: Reading): Promise<void> {
  const { where, buffers, box, runs, into } = reading;
  const { dtype, width, storedShape, bigEndian } = pipeline;
  checkSize(pipeline, source, where);
  if (runs !== undefined && source.bytes !== null)
    return copyRuns(pipeline, source.bytes, reading, runs);
  const { shape } = box;
  const bytes = product(shape) * width;
  const isChanged = needsChange(dtype, bigEndian);
  if (isRun(shape, into.shape)) {
    const first = offsetOf(into.start, into.shape) * width;
    const run = into.bytes.subarray(first, first + bytes);
    await copyElements(source, storedShape, box, runPlace(run, shape), width, buffers);
    if (isChanged) toMemory(dtype, bigEndian, run, where);
  } else if (isChanged) {
    await buffers.use(bytes, async (buffer) => {
      const place = runPlace(buffer, shape);
      await copyElements(source, storedShape, box, place, width, buffers);
      toMemory(dtype, bigEndian, buffer, where);
      copyBox(place, into, shape, width);
    });
  } else {
    await copyElements(source, storedShape, box, into, width, buffers);
  }
}

/**
 * Copies runs of whole rows. Other rows are not copied, because their values may be invalid: they were not decoded.
 */
function copyRuns(
  { dtype, width, storedShape, bigEndian }: Pipeline,
  bytes: Uint8Array,
  { box, into, where }: Reading,
  { starts, counts }: RowRuns,
): void {
  const isChanged = needsChange(dtype, bigEndian);
  const row = product(box.shape, 1) * width;
  const from = offsetOf(box.start, storedShape) * width;
  const to = offsetOf(into.start, into.shape) * width;
  for (let i = 0; i < starts.length; i++) {
    const [at, end] = [starts[i] * row, (starts[i] + counts[i]) * row];
    into.bytes.set(bytes.subarray(from + at, from + end), to + at);
    if (isChanged) toMemory(dtype, bigEndian, into.bytes.subarray(to + at, to + end), where);
  }
}

const runPlace = (bytes: Uint8Array, shape: readonly number[]): Place => ({
  bytes,
  shape,
  start: shape.map(() => 0),
});

/**
 * Copies a box of elements that are in stored order. If the source is a file, only the needed rows of the first axis
 * are read.
 */
async function copyElements(
  source: Source,
  whole: readonly number[],
  { start, shape }: Box,
  into: Place,
  width: number,
  buffers: Buffers,
): Promise<void> {
  if (source.bytes !== null) {
    copyBox({ bytes: source.bytes, shape: whole, start }, into, shape, width);
    return;
  }
  if (isRun(shape, whole) && isRun(shape, into.shape)) {
    const first = offsetOf(into.start, into.shape) * width;
    const run = into.bytes.subarray(first, first + product(shape) * width);
    await source.read(offsetOf(start, whole) * width, run);
    return;
  }
  const rows = [shape[0], ...whole.slice(1)];
  const row = product(whole, 1) * width;
  await buffers.use(shape[0] * row, async (buffer) => {
    await source.read(start[0] * row, buffer);
    copyBox({ bytes: buffer, shape: rows, start: [0, ...start.slice(1)] }, into, shape, width);
  });
}

async function readShard(shards: Sharding, stored: Source, reading: Reading): Promise<void> {
  const { inner, grid, count } = shards;
  const { where, fill, concurrency, buffers, into } = reading;
  const index = await readIndex(shards, stored, reading);
  const parts = [...innerParts(shards, reading)];
  const most = mostStored(inner);
  // If most inner chunks are needed and the shard has no gaps, one request reads the whole shard.
  const isWhole = 2 * parts.length > count && stored.size <= count * most + shards.index.size;
  const source = isWhole ? memorySource(await readAll(stored)) : stored;
  const release = (): void => {
    if (source.bytes !== null && source.bytes.buffer !== stored.bytes?.buffer)
      buffers.release(source.bytes);
  };
  await inParallel(parts, concurrency, async ({ at, box, start, runs }) => {
    const { shape } = box;
    const place = { ...into, start };
    const entry = 2 * offsetOf(at, grid);
    const [offset, size] = [index[entry], index[entry + 1]];
    if (offset === MISSING && size === MISSING) return fillBox(place, shape, fill);
    const named = `the inner chunk ${at.join(",")} of ${where}`;
    if (offset + size > BigInt(source.size)) {
      const end = `byte ${offset + size}, beyond the ${printCount(source.size, "byte")} of the shard`;
      throw malformed(`${named} ends at ${end}`, { got: offset + size });
    }
    const chunk = partOfSource(source, Number(offset), Number(size));
    await readBox(inner, chunk, { ...reading, box, runs, into: place, where: named });
  }).finally(release);
}

/** Returns the needed part of each inner chunk, and its first coordinates in memory. */
function* innerParts(
  { inner }: Sharding,
  { box, runs, into }: Reading,
): Generator<{
  at: readonly number[];
  box: Box;
  start: readonly number[];
  runs: RowRuns | undefined;
}> {
  const nothing = { bytes: new Uint8Array(0), rowBytes: 0 };
  const bands =
    runs === undefined
      ? [{ ...box, own: runs }]
      : bandsOf({ ...box, ...runs, ...nothing }, inner.shape[0]).map((own) => ({ ...own, own }));
  for (const { start, shape, own } of bands) {
    for (const part of chunksOf(start, shape, inner.shape)) {
      yield {
        at: part.at,
        box: { start: part.chunkStart, shape: part.shape },
        start: into.start.map(
          (one, axis) => one + start[axis] - box.start[axis] + part.boxStart[axis],
        ),
        runs: own,
      };
    }
  }
}

/** Reads the offset and size of each inner chunk. */
async function readIndex(
  { grid, index }: Sharding,
  source: Source,
  reading: Reading,
): Promise<BigUint64Array> {
  const { size: got } = source;
  if (got < index.size) {
    const title = `${reading.where} has ${printCount(got, "byte")}`;
    throw malformed(`${title}, fewer than its index of ${index.size}`, { got });
  }
  const part = partOfSource(source, index.isAtStart ? 0 : got - index.size, index.size);
  const shape = [...grid, 2];
  const entries = new BigUint64Array(product(shape));
  const into = runPlace(new Uint8Array(entries.buffer), shape);
  const box = { start: into.start, shape };
  await readBox(index.pipeline, part, {
    ...reading,
    ...{ box, runs: undefined, into, where: `the index of ${reading.where}` },
  });
  return entries;
}
