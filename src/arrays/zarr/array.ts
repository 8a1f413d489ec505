/** Reads and writes boxes and chunks of a Zarr array in a store, and stages chunks. */

import type {
  ArrayLocation,
  AxisRange,
  ChunkedArray,
  HeldBytes,
  PendingArray,
  RowRuns,
} from "../boxes/array.ts";
import {
  chunksOf,
  clippedShape,
  copyBox,
  fillBox,
  gridOf,
  isRun,
  offsetOf,
  type ChunkPart,
  type Place,
} from "../boxes/boxes.ts";
import { BaseArray, bandsOf, boxesOf } from "../boxes/base-array.ts";
import type { Box } from "../boxes/grid.ts";
import { inParallel } from "../boxes/parallel.ts";
import { rangesOf } from "../boxes/runs.ts";
import { sliceOf } from "../boxes/slice.ts";
import { checkChunk, checkChunkBytes, type CheckedBox, type CheckedRows } from "../boxes/checks.ts";
import { TensorError } from "../../core/errors.ts";
import { allocate, isNumericStorage, type DType, type Scalar } from "../../core/tensor/dtype.ts";
import { reader } from "../../core/tensor/scalar.ts";
import { product, sameShape } from "../../core/tensor/shape.ts";
import { bytesOf } from "../../core/tensor/storage.ts";
import { Buffers } from "./chunks/buffers.ts";
import type { Unfinished } from "./claims.ts";
import { checkSize, namingPage, readBox } from "./chunks/decode.ts";
import { encodeClipped } from "./chunks/encode.ts";
import { lengthOf } from "./codecs/gzip.ts";
import { toMemory } from "./chunks/file-elements.ts";
import { heldBytes } from "./chunks/held.ts";
import { printJson, type JsonObject } from "./json.ts";
import { nestedKeys, parseKey, printKey, type Codec, type Metadata } from "./metadata.ts";
import {
  checkEncodable,
  decodedRows,
  makePipeline,
  mostStored,
  type Pipeline,
} from "./chunks/pipeline.ts";
import { stagingOf, type Source, type ArrayStore } from "./stores/store.ts";

/** The number and total size of the stored chunks. */
export interface StoredChunks {
  readonly chunks: number;
  readonly bytes: number;
}

/** A Zarr v3 or v2 array in files or in object storage. Returned by `openArray` and `createArray`. */
export class ZarrArray extends BaseArray implements PendingArray {
  readonly location: ArrayLocation;
  readonly fingerprint: string;
  readonly held: HeldBytes;
  readonly dtype: DType;
  readonly shape: readonly number[];
  /** The shape of the elements in one file or object, which is the shape of a shard if the array has shards. */
  readonly chunkShape: readonly number[];
  /** The shape of the chunks in a shard, or null without shards. */
  readonly innerChunkShape: readonly number[] | null;
  /** The Zarr version. */
  readonly version: 2 | 3;
  /** The codecs in the form of `zarr.json`; Zarr v2 codecs are translated to v3. */
  readonly codecs: readonly Codec[];
  readonly attributes: JsonObject;
  readonly dimensionNames: readonly (string | null)[] | null;
  /** For internal use. */
  readonly metadata: Metadata;
  readonly store: ArrayStore;
  /** Checks whether the job that had partly changed the array is still unfinished. */
  findUnfinished: (() => Promise<Unfinished | null>) | null = null;
  readonly #pipeline: Pipeline;
  readonly #buffers = new Buffers();
  /** The cached result of `printEncoding`, which takes 10 µs to compute per copied chunk. */
  #encoding: string | null = null;

  /** For internal use by callers that check the arguments. */
  constructor(store: ArrayStore, metadata: Metadata, fingerprint: string) {
    super();
    this.store = store;
    this.metadata = metadata;
    this.location = { format: "zarr", path: store.path };
    this.fingerprint = fingerprint;
    this.dtype = metadata.dtype;
    this.shape = Object.freeze([...metadata.shape]);
    this.chunkShape = Object.freeze([...metadata.chunkShape]);
    this.version = metadata.version;
    this.codecs = metadata.codecs;
    this.attributes = metadata.attributes;
    this.dimensionNames = metadata.dimensionNames;
    const { dtype, chunkShape, codecs, own } = metadata;
    this.#pipeline = makePipeline(dtype, chunkShape, codecs, store.path, 0, own);
    this.held = heldBytes(this.#pipeline, metadata, store.concurrency);
    this.innerChunkShape = this.#pipeline.shards?.inner.shape ?? null;
  }

  /** The maximum stored size of a chunk, in bytes. */
  get mostStored(): number {
    return mostStored(this.#pipeline);
  }

  /** The fill value, which elements have if they are not stored. */
  get fillValue(): Scalar {
    const storage = allocate(this.dtype, 1);
    if (isNumericStorage(storage)) bytesOf(storage).set(this.metadata.fill);
    return reader(this.dtype, storage)(0);
  }

  slice(...ranges: readonly AxisRange[]): ChunkedArray {
    return sliceOf(this, ranges);
  }

  protected async writeBox({ start, shape, bytes }: CheckedBox): Promise<void> {
    this.checkWritable();
    const source = { bytes, shape };
    await inParallel(chunksOf(start, shape, this.chunkShape), 2, (part) =>
      this.#writePart(part, { ...source, start: part.boxStart }),
    );
  }

  /** Writes the part of a box that lies in one chunk, and keeps the chunk's other elements. */
  async #writePart(part: ChunkPart, from: Place): Promise<void> {
    const { at, shape, chunkStart } = part;
    const { width } = this.#pipeline;
    const clipped = clippedShape(at, this.shape, this.chunkShape);
    await this.#buffers.use(product(clipped) * width, async (chunk) => {
      if (!sameShape(shape, clipped)) await this.readChunk(at, chunk);
      copyBox(from, { bytes: chunk, shape: clipped, start: chunkStart }, shape, width);
      await this.writeChunk(at, chunk);
    });
  }

  protected async readBox(box: CheckedBox, most = Infinity, runs?: RowRuns): Promise<void> {
    const fitting = Math.floor(most / Math.max(1, this.held.read));
    const atOnce = Math.max(1, Math.min(this.store.concurrency, fitting));
    await inParallel(chunksOf(box.start, box.shape, this.chunkShape), atOnce, async (part) => {
      await this.#readPart(part.at, ...halvesOf(part, box), runs);
    });
  }

  protected override async readRuns(rows: CheckedRows): Promise<void> {
    const decoded = decodedRows(this.#pipeline);
    const bands = bandsOf(rows, decoded ?? this.chunkShape[0]);
    await inParallel(bands, this.store.concurrency, (band) =>
      decoded === null ? this.#readRanges(band) : this.#readSpan(band),
    );
  }

  /** Reads the box of all runs, so that its chunk is decoded once. */
  async #readSpan({ start, shape, starts, counts, bytes, rowBytes }: CheckedRows): Promise<void> {
    if (starts.length === 1) return this.readBox({ start, shape, bytes });
    await this.#buffers.use(shape[0] * rowBytes, async (span) => {
      await this.readBox({ start, shape, bytes: span }, Infinity, { starts, counts });
      for (let i = 0, place = 0; i < starts.length; i++) {
        const run = span.subarray(starts[i] * rowBytes, (starts[i] + counts[i]) * rowBytes);
        bytes.set(run, place);
        place += run.length;
      }
    });
  }

  /** Reads each run with a request of its own, and opens a chunk once for the runs within it. */
  async #readRanges(rows: CheckedRows): Promise<void> {
    const { start, shape, rowBytes, bytes } = rows;
    const at = start.map((from, axis) => Math.floor(from / this.chunkShape[axis]));
    const inside = start.map((from, axis) => from - at[axis] * this.chunkShape[axis]);
    const isInside = inside.every((from, axis) => from + shape[axis] <= this.chunkShape[axis]);
    const areRanges = this.#pipeline.isPlain && isInside && isRun(shape, this.chunkShape);
    if (!areRanges) return super.readRuns(rows);
    await this.#withChunk(at, true, async (source) => {
      if (source?.readRanges === undefined) {
        const boxes = boxesOf({ ...rows, start: inside });
        await inParallel(boxes, this.store.concurrency, async ({ bytes: part, ...box }) => {
          const place = { bytes: part, shape: box.shape, start: box.start.map(() => 0) };
          await this.#readFrom(source, at, box, place);
        });
        return;
      }
      const where = this.#nameOf(at);
      const first = offsetOf(inside, this.chunkShape) * this.#pipeline.width;
      const reading = async (): Promise<void> => {
        checkSize(this.#pipeline, source, where);
        await source.readRanges?.(rangesOf(rows, first, rowBytes), bytes);
      };
      await reading().catch(async (error: unknown) => {
        throw await namingPage(error, source, where);
      });
      toMemory(this.dtype, false, bytes, where);
    });
  }

  async stateOf(start: readonly number[], shape: readonly number[]): Promise<string> {
    const states: string[] = [];
    const parts = chunksOf(start, shape, this.chunkShape);
    await inParallel(parts, this.store.concurrency, async ({ at }) => {
      const key = printKey(this.metadata.keys, at);
      states.push(`${key} ${await this.store.stateOf(key)}`);
    });
    return states.toSorted().join("\n");
  }

  override async readChunk(
    at: readonly number[],
    into: Uint8Array,
    runs?: RowRuns,
  ): Promise<boolean> {
    const { shape, bytes, ...own } = checkChunkBytes(at, into, this, "into", runs);
    const start = shape.map(() => 0);
    return this.#readPart(own.at, { start, shape }, { bytes, shape, start }, own.runs);
  }

  #readPart(at: readonly number[], box: Box, into: Place, runs?: RowRuns): Promise<boolean> {
    return this.#withChunk(at, false, (source) => this.#readFrom(source, at, box, into, runs));
  }

  /** Opens a chunk for `use`. `isForMany` is true for many short reads. */
  async #withChunk<T>(
    at: readonly number[],
    isForMany: boolean,
    use: (source: Source | null) => Promise<T>,
  ): Promise<T> {
    const unfinished = await this.findUnfinished?.();
    if (unfinished != null) throw unfinished.error;
    this.findUnfinished = null;
    const source = await this.store.open(printKey(this.metadata.keys, at), isForMany);
    try {
      return await use(source);
    } finally {
      await source?.close();
    }
  }

  async #readFrom(
    source: Source | null,
    at: readonly number[],
    box: Box,
    into: Place,
    runs?: RowRuns,
  ): Promise<boolean> {
    if (source === null) {
      await this.#checkKeys(at);
      fillBox(into, box.shape, this.metadata.fill);
      return false;
    }
    const where = this.#nameOf(at);
    const { fill } = this.metadata;
    const { concurrency } = this.store;
    const reading = { box, runs, into, where, fill, buffers: this.#buffers, concurrency };
    await readBox(this.#pipeline, source, reading).catch(async (error: unknown) => {
      throw await namingPage(error, source, where);
    });
    return true;
  }

  #nameOf(at: readonly number[]): string {
    return `the chunk ${printKey(this.metadata.keys, at)} of ${this.store.path}`;
  }

  /** Handles a missing chunk. @throws TensorError `malformed-file` if the chunk exists under its nested key */
  async #checkKeys(at: readonly number[]): Promise<void> {
    const { keys } = this.metadata;
    if (keys.isAssumed !== true || at.length < 2) return;
    const key = printKey({ ...keys, separator: "/" }, at);
    if ((await this.store.sizeOf(key)) !== null)
      throw nestedKeys(this.store, key, printKey(keys, at));
  }

  override async writeChunk(at: readonly number[], from: Uint8Array): Promise<void> {
    const { at: checked, bytes } = checkChunkBytes(at, from, this, "from");
    this.checkWritable();
    const key = printKey(this.metadata.keys, checked);
    await this.#encode(checked, bytes, (parts) => this.store.put(key, parts));
  }

  async stageChunk(at: readonly number[], from: Uint8Array, name: string): Promise<number> {
    const { at: checked, bytes } = checkChunkBytes(at, from, this, "from");
    this.checkWritable();
    const staging = stagingOf(this.store, name);
    let size = 0;
    await this.#encode(checked, bytes, (parts) => {
      size = lengthOf(parts);
      return staging.put(name, parts);
    });
    return size;
  }

  /** Encodes a chunk and passes it to `put`. */
  #encode(
    at: readonly number[],
    from: Uint8Array,
    put: (parts: readonly Uint8Array[]) => Promise<void>,
  ): Promise<void> {
    const clipped = clippedShape(at, this.shape, this.chunkShape);
    return encodeClipped(this.#pipeline, { bytes: from, shape: clipped }, this.metadata.fill, {
      buffers: this.#buffers,
      put,
    });
  }

  async stageCopy(from: ChunkedArray, at: readonly number[], name: string): Promise<boolean> {
    const checked = checkChunk(at, this);
    const staging = stagingOf(this.store, name);
    if (!(from instanceof ZarrArray) || !this.#isEncodedAs(from)) return false;
    return staging.copy(from.store, printKey(from.metadata.keys, checked), name, this.mostStored);
  }

  #isEncodedAs(other: ZarrArray): boolean {
    const encodingOf = (array: ZarrArray): string =>
      (array.#encoding ??= printEncoding(array.metadata));
    return sameShape(this.shape, other.shape) && encodingOf(this) === encodingOf(other);
  }

  async publishChunk(at: readonly number[], name: string): Promise<boolean> {
    const checked = checkChunk(at, this);
    return stagingOf(this.store, name).publish(name, printKey(this.metadata.keys, checked));
  }

  async stagedSize(at: readonly number[], name: string): Promise<number | null> {
    checkChunk(at, this);
    const staged = await stagingOf(this.store, name).open(name);
    await staged?.close();
    return staged?.size ?? null;
  }

  storedSize(at: readonly number[]): Promise<number | null> {
    return this.store.sizeOf(printKey(this.metadata.keys, checkChunk(at, this)));
  }

  async isPending(): Promise<boolean> {
    const staged = await this.store.staging?.open("zarr.json");
    await staged?.close();
    return staged != null;
  }

  async discard(name: string): Promise<void> {
    await stagingOf(this.store, name).remove(name);
  }

  async endStaging(): Promise<void> {
    await this.store.staging?.end();
  }

  async publish(): Promise<void> {
    const { staging } = this.store;
    const publish = staging?.publishNew?.bind(staging) ?? staging?.publish.bind(staging);
    if ((await publish?.("zarr.json", "zarr.json")) === true) return;
    if ((await this.store.sizeOf("zarr.json")) !== null) return;
    throw new TensorError(
      "engine",
      `the metadata of ${this.store.path} was removed while the array was written; write it again`,
      { file: this.store.path },
    );
  }

  /** Counts the stored chunks and their bytes, by listing all chunks without reading them. */
  async stored(): Promise<StoredChunks> {
    const grid = gridOf(this.shape, this.chunkShape);
    let [chunks, bytes] = [0, 0];
    for await (const { key, size } of this.store.list()) {
      const at = parseKey(this.metadata.keys, grid.length, key);
      if (at === null || at.some((one, axis) => one >= grid[axis])) continue;
      chunks++;
      bytes += size;
    }
    return { chunks, bytes };
  }

  /**
   * For internal use.
   * @throws TensorError `attribute` for a codec that supports only reading
   */
  checkWritable(): void {
    checkEncodable(this.#pipeline, this.store.path);
  }
}

/** Returns the part of a box in a chunk, as a box of the chunk and as a place in memory. */
const halvesOf = (
  { boxStart, chunkStart, shape }: ChunkPart,
  { shape: whole, bytes }: CheckedBox,
): [from: Box, into: Place] => [
  { start: chunkStart, shape },
  { bytes, shape: whole, start: boxStart },
];

/** Prints all metadata that affects the encoded bytes of a chunk. */
const printEncoding = ({ dtype, chunkShape, codecs, fill }: Metadata): string =>
  printJson([dtype, chunkShape, codecs.map((codec): JsonObject => ({ ...codec })), [...fill]]);
