/** Opens and creates arrays at paths and URLs, in archives and in stores of the caller. */

import { freeze, optionsOf, printCount, printValue, wrongOption } from "../../core/foreign.ts";
import { malformed, TensorError } from "../../core/errors.ts";
import type { ChunkedArray, HeldBytes, PendingArray, Guard } from "../boxes/array.ts";
import { isCode, isUrl } from "../boxes/file.ts";
import { shownUrl } from "../boxes/urls.ts";
import { absentArray, unblocked } from "./absent.ts";
import { ZarrArray } from "./array.ts";
import { findUnfinished } from "./claims.ts";
import { createOptionsOf, metadataOf, type CreateOptions } from "./create.ts";
import { heldBytes } from "./chunks/held.ts";
import { CODEC_NAMES } from "./codecs/registry.ts";
import { checkOwnCodecs, type OwnCodecs } from "./codecs/own.ts";
import { MAX_DEPTH, parseJson, type JsonObject } from "./json.ts";
import { parseMetadata, printMetadata, type Metadata } from "./metadata.ts";
import { makePipeline, mostStored } from "./chunks/pipeline.ts";
import { checkLocation, isNpy, placeOf, storeOf, type Location } from "./locate.ts";
import { createNpy, openNpy, openPendingNpy } from "./npy-files.ts";
import { alreadyThere, makeRoom } from "./room.ts";
import { STORE_OPTIONS, type StoreOptions } from "./stores/store-options.ts";
import { fingerprintOf, Forbidden, readKey, type Open } from "./read-key.ts";
import { CLAIM, PARTIAL, unfit, type ArrayStore } from "./stores/store.ts";

/** Options of `openArray`. */
export interface OpenOptions extends StoreOptions {
  /** The chunk shape for formats without chunks, such as `.npy`: see `docs/arrays/zarr.md`. */
  readonly chunkShape?: readonly number[] | undefined;
  /**
   * Called with a message if an unfinished job has changed part of the array in place, which is then read as it is.
   * Without `onNote`, reading a partly changed array is an error until the job is finished.
   */
  readonly onNote?: ((sentence: string) => void) | undefined;
  /**
   * Codecs from bytes to bytes that ndscatter lacks, by their names in Zarr v3. A codec that Zarr v2 calls NAME is
   * `numcodecs.NAME`. Jobs refuse arrays with such codecs, because functions cannot be passed to the threads of a job.
   */
  readonly codecs?: OwnCodecs | undefined;
}

/**
 * Opens a Zarr v3 or v2 array or an NPY file, at a path or a URL, in a ZIP archive or in a store.
 *
 * @param location a path or a URL, which may name an array in an archive, such as `x.npz/ids`; or a store of the caller
 * @param options the chunk shape for formats without chunks, and settings for the store
 * @param guard for internal use
 * @throws TensorError `malformed-file` unless the location contains an array. `unsupported-file` for other files and
 *   for unsupported features. `unsupported-codec` or `unsupported-dtype` for a codec or a data type. The system error if reading fails
 *
 * @example
 * ```ts
 * const table = await openArray("table.zarr");
 * console.log((await table.read([1, 0], [2, 2])).toArray()); // [[0, 0], [0, 0]]
 * ```
 */
export async function openArray(
  location: Location,
  options: OpenOptions = {},
  guard?: Guard,
): Promise<ChunkedArray> {
  const names = ["chunkShape", "onNote", "codecs", ...STORE_OPTIONS];
  const meant = { chunks: "chunkShape" };
  const given = optionsOf(options, names, {}, "options", meant) as OpenOptions;
  const { onNote } = given;
  if (onNote !== undefined && typeof onNote !== "function") {
    throw wrongOption("onNote", "a function", onNote);
  }
  return openWith(location, given, guard);
}

/** Opens an array like `openArray`, with checked options. */
export async function openWith(
  location: Location,
  options: OpenOptions,
  guard?: Guard,
): Promise<ChunkedArray> {
  const { chunkShape, onNote, codecs } = options;
  const own = codecs === undefined ? undefined : checkOwnCodecs(codecs, CODEC_NAMES);
  const { store, file } = await placeOf(location, options, guard);
  if (store === null) return openNpy(file, chunkShape);
  if (file !== null) return (await import("./npy-url.ts")).openNpyInStore(store, file, chunkShape);
  if (chunkShape !== undefined) {
    throw unfit(store.path, "defines its own chunks; omit chunkShape", "chunkShape");
  }
  const array = await openIn(store, (key) => store.open(key), own);
  if (array !== null) {
    // Arrays in object storage are not changed in place.
    const names = await namesIn(store);
    if (names.includes(PARTIAL)) await checkWhole(store);
    const unfinished = names.includes(CLAIM) ? await findUnfinished(store) : null;
    if (unfinished !== null && onNote !== undefined) onNote(unfinished.sentence);
    else if (unfinished !== null) array.findUnfinished = () => findUnfinished(store);
    return array;
  }
  throw await absentArray(store);
}

/** Lists the files of jobs, which may exist in a folder that the user may read but not list. */
const namesIn = ({ staging }: ArrayStore): Promise<readonly string[]> =>
  (staging?.names?.("") ?? Promise.resolve([])).catch((error: unknown) => {
    if (isCode(error, "EACCES", "EPERM")) return [PARTIAL, CLAIM];
    throw error;
  });

/** Throws a `malformed-file` error if a job changed only part of the array and was then abandoned. */
async function checkWhole(store: ArrayStore): Promise<void> {
  const { staging } = store;
  const text = await readKey(store, PARTIAL, async (key) => (await staging?.open(key)) ?? null);
  if (text === null) return;
  const mark = parseJson(text, `${PARTIAL} of ${store.path}`) as JsonObject;
  const [job, changed, chunks] = ["job", "changed", "chunks"].map((name) => printPlain(mark[name]));
  throw malformed(
    `${store.path} is partly changed: job ${job} changed ${changed} of ${printCount(chunks, "chunk")} ` +
      "and was abandoned; restore the array from a copy",
    { file: store.path, got: changed, expected: chunks },
  );
}

/** Prints at most 64 characters of text, or any other value like `printValue`. */
const printPlain = (value: unknown): string =>
  typeof value === "string" ? value.slice(0, 64) : printValue(value);

/**
 * Creates a Zarr array without stored chunks, so that every element has the fill value.
 *
 * @param location a path, a URL of an object store, or a store of the caller, which may be a Map
 * @param options the `dtype`, `shape` and `chunkShape`, or `like`, an array that provides the defaults
 * @throws TensorError `attribute` for wrong options, or if an array exists and `overwrite` is not true; `dtype` for a
 *   data type that Zarr does not support
 *
 * @example
 * ```ts
 * const made = await createArray("made.zarr", { dtype: "float32", shape: [6, 4], chunkShape: [2, 4] });
 * await made.write(tensor("float32", [1, 4], [1, 2, 3, 4]), [5, 0]);
 * console.log((await made.read([4, 0], [2, 2])).toArray()); // [[0, 0], [1, 2]]
 * ```
 */
export async function createArray(location: Location, options: CreateOptions): Promise<ZarrArray> {
  checkLocation(location);
  const own = createOptionsOf(options);
  const place = typeof location === "string" ? location : (own.path ?? "");
  if (isNpy(place)) {
    const why =
      "cannot be a Zarr array: it ends in .npy; choose another suffix, or use createPending";
    throw unfit(shownUrl(place), why);
  }
  const store = await storeOf(location, own);
  const metadata = metadataOf(own, store.path);
  if (own.zarrFormat === 2) return createV2(store, metadata, own);
  const text = encodeText(printMetadata(metadata));
  await makeRoom(store, own);
  if (!(await unblocked(store, () => store.putNew("zarr.json", [text])))) throw alreadyThere(store);
  return new ZarrArray(store, metadata, await fingerprintOf(text));
}

async function createV2(
  store: ArrayStore,
  given: Metadata,
  own: CreateOptions,
): Promise<ZarrArray> {
  const { metadataV2Of } = await import("./metadata-v2.ts");
  const { metadata, array, attributes } = metadataV2Of(given, store.path);
  const text = encodeText(array);
  await makeRoom(store, own);
  if (!(await unblocked(store, () => store.putNew(".zarray", [text])))) throw alreadyThere(store);
  // The attributes of an existing array are never overwritten, so the array comes first. The attributes that a removed
  // array left are not those of the new array.
  const isLeft = attributes === null && (await store.sizeOf(".zattrs")) !== null;
  if (attributes !== null || isLeft)
    await store.put(".zattrs", [encodeText(attributes ?? "{}\n")], true);
  return new ZarrArray(store, metadata, await fingerprintOf(text));
}

/** The memory and storage that a chunk takes. */
export interface ChunkCosts extends HeldBytes {
  /** The maximum size of the chunk's file, in bytes. */
  readonly stored: number;
  /** Returns the length of the array's metadata, in characters. */
  readonly textLength: () => number;
}

/** Returns the memory and storage that chunks of an array with these options take. */
export function costsOf(options: CreateOptions): ChunkCosts {
  const metadata = metadataOf(options, "a new array");
  const { dtype, chunkShape, codecs } = metadata;
  const pipeline = makePipeline(dtype, chunkShape, codecs, "a new array");
  return {
    ...heldBytes(pipeline, metadata, 1),
    stored: mostStored(pipeline),
    textLength: () => printMetadata(metadata).length,
  };
}

/**
 * Creates a Zarr v3 array or an NPY file that stays invisible until it is published. If the same Zarr array is already
 * pending, the pending array is opened.
 *
 * @param location a path, or a URL of an object store
 * @param options the same as for `createArray`
 * @throws TensorError like `createArray`
 *
 * @example
 * ```ts
 * const pending = await createPending("later.zarr", { dtype: "int32", shape: [2], chunkShape: [2] });
 * await pending.writeChunk([0], new Uint8Array(new Int32Array([1, 2]).buffer));
 * await pending.publish(); // readers see the array from now on
 * console.log((await (await openArray("later.zarr")).read()).toArray()); // [1, 2]
 * ```
 */
export async function createPending(
  location: string,
  options: CreateOptions,
): Promise<PendingArray> {
  checkLocation(location);
  if (isNpy(location)) return createNpy(checkPath(location), options);
  const own = createOptionsOf(options);
  if (own.zarrFormat === 2) {
    const sentence = "only createArray creates arrays of Zarr v2; omit zarrFormat";
    throw new TensorError("attribute", sentence, { key: "zarrFormat", got: 2 });
  }
  const store = await storeOf(location, own);
  const { staging } = store;
  if (staging === undefined) throw cannotStage(store);
  const metadata = metadataOf(own, store.path);
  const text = encodeText(printMetadata(metadata));
  await makeRoom(store, own);
  const array = new ZarrArray(store, metadata, await fingerprintOf(text));
  if (await unblocked(store, () => staging.putNew("zarr.json", [text]))) return array;
  const other = await openIn(store, (key) => staging.open(key));
  if (other?.fingerprint === array.fingerprint) return array;
  const why = "holds another unfinished array; pass overwrite: true, or choose another path";
  throw unfit(store.path, why, "overwrite");
}

/**
 * Opens an array from `createPending`, published or not.
 *
 * @param location a path, or a URL of an object store
 * @param options settings for the store
 * @param guard for internal use
 * @throws TensorError `malformed-file` unless the location contains a published or pending array
 *
 * @example
 * ```ts
 * await createPending("half.zarr", { dtype: "int32", shape: [2], chunkShape: [2] });
 * const again = await openPending("half.zarr"); // after a restart, for example
 * await again.publish();
 * console.log((await openArray("half.zarr")).shape); // [2]
 * ```
 */
export async function openPending(
  location: string,
  options: Pick<OpenOptions, "s3"> = {},
  guard?: Guard,
): Promise<PendingArray> {
  const given = optionsOf(options, ["s3"], {}) as OpenOptions;
  checkLocation(location);
  if (isNpy(location)) return openPendingNpy(checkPath(location));
  const store = await storeOf(location, given, guard);
  const { staging } = store;
  if (staging === undefined) throw cannotStage(store);
  const pending = await openIn(store, (key) => staging.open(key));
  // Another process may have published the array between the two reads.
  const array = pending ?? (await openIn(store, (key) => store.open(key)));
  if (array !== null) return array;
  throw malformed(`${store.path} must be a Zarr array, published or pending`, {
    file: store.path,
    expected: "array",
  });
}

/** Throws an `attribute` error for a URL, because files on servers cannot be written. */
function checkPath(location: string): string {
  if (!isUrl(location)) return location;
  const why = "must be a path, because object storage cannot hold an NPY file; write Zarr to s3://";
  throw unfit(shownUrl(location), why);
}

const cannotStage = ({ path }: ArrayStore): TensorError =>
  unfit(path, "cannot hold unfinished arrays; use a folder or s3://");

/** Opens a Zarr v3 or v2 array, or returns null without metadata. */
async function openIn(
  store: ArrayStore,
  open: Open,
  own?: Metadata["own"],
): Promise<ZarrArray | null> {
  const forbidden = new Forbidden();
  const text = await forbidden.read(store, "zarr.json", open);
  if (text !== null) {
    const fingerprint = await fingerprintOf(text);
    const metadata = { ...parsedOnce(text, fingerprint, store), ...(own && { own }) };
    return new ZarrArray(store, metadata, fingerprint);
  }
  const older = await forbidden.read(store, ".zarray", open);
  if (older === null) {
    forbidden.check();
    return null;
  }
  const attributes = await forbidden.read(store, ".zattrs", open);
  const { parseMetadataV2 } = await import("./metadata-v2.ts");
  const metadata = parseMetadataV2(
    parseJson(older, `.zarray of ${store.path}`),
    attributes === null ? undefined : parseJson(attributes, `.zattrs of ${store.path}`),
    store.path,
    own,
  );
  const withOwn = { ...metadata, ...(own && { own }) };
  return new ZarrArray(store, withOwn, await fingerprintOf(older));
}

/** Parsed metadata by fingerprint, the last used last, because a job opens each of its arrays several times. */
const parsed = new Map<string, Metadata>();
const MOST_PARSED = 8;

/** Parses `zarr.json`, or returns the cached metadata of the same text. */
function parsedOnce(text: Uint8Array, fingerprint: string, { path }: ArrayStore): Metadata {
  const known = parsed.get(fingerprint);
  const metadata = known ?? parseMetadata(parseJson(text, `zarr.json of ${path}`), path);
  const { fill, ...parts } = metadata;
  // Callers reach these parts, which other arrays share. The bytes of a typed array cannot be frozen.
  if (known === undefined) freeze(parts, MAX_DEPTH);
  parsed.delete(fingerprint);
  if (text.length <= 2 ** 16) parsed.set(fingerprint, metadata);
  for (const old of parsed.keys()) if (parsed.size > MOST_PARSED) parsed.delete(old);
  return { ...metadata, fill: fill.slice() };
}

const encodeText = (text: string): Uint8Array => new TextEncoder().encode(text);
