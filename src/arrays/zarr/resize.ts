/**
 * Changes the shape of Zarr arrays. Metadata changes in a single step, and readers ignore chunks beyond the shape.
 * Appending writes chunks before metadata, and growing first removes chunks that an earlier, larger shape left.
 */

import type { ChunkedArray } from "../boxes/array.ts";
import { chunksOf, clippedShape, gridOf } from "../boxes/boxes.ts";
import { checkCoordinates, checkOpened } from "../boxes/checks.ts";
import { factOf, optionsOf, printValue, wrongOption } from "../../core/foreign.ts";
import { TensorError } from "../../core/errors.ts";
import { rowOf } from "../../core/tensor/dtype.ts";
import { printShape, product, sameShape } from "../../core/tensor/shape.ts";
import { asTensor, type Tensor } from "../../core/tensor/tensor.ts";
import { listChunks, ZarrArray } from "./array.ts";
import { parseShape } from "./fields.ts";
import { parseJson, printJson, withMember } from "./json.ts";
import { checkGrid } from "./metadata.ts";
import { encodeText } from "./open.ts";
import { changedSince, fingerprintOf, readKey } from "./read-key.ts";
import { CLAIM, type ArrayStore } from "./stores/store.ts";

/** Options of `append`. */
export interface AppendOptions {
  /** The name or number of the axis to extend, by default the first axis. Negative numbers count from the end. */
  readonly axis?: number | string | undefined;
  /** Called after each written chunk, or after all chunks if the values are in memory. */
  readonly onProgress?:
    | ((progress: { readonly done: number; readonly chunks: number }) => void)
    | undefined;
}

/**
 * Appends `values` to an array along one axis. All new values become visible together, after the last one is written.
 * Only one process may append at a time, because concurrent appends would overwrite each other's values.
 *
 * @param array a Zarr v3 or v2 array, in files or in object storage
 * @param values the elements to append, with the array's data type and, except along the axis, the array's shape; a
 *   chunked array may be larger than memory
 * @param options the `axis`, 0 by default, and `onProgress`
 * @returns the array with its new shape; `array` keeps the old shape and can no longer be written
 * @throws TensorError `dtype`, `rank`, `shape-mismatch` or `axis` if the values or the axis do not fit. `attribute` if
 *   a job is changing the array, if its shape has changed, or if it is an NPY file
 *
 * @example
 * ```ts
 * const rain = await createArray("rain.zarr", { dtype: "int32", shape: [2, 3], chunkShape: [2, 3] });
 * const longer = await append(rain, tensor("int32", [1, 3], [7, 8, 9]));
 * console.log((await longer.read()).toArray()); // [[0, 0, 0], [0, 0, 0], [7, 8, 9]]
 * ```
 */
export async function append(
  array: ChunkedArray,
  values: Tensor | ChunkedArray,
  options: AppendOptions = {},
): Promise<ZarrArray> {
  const names = ["axis", "onProgress"];
  const { axis: given = 0, onProgress } = optionsOf(options, names, {}) as AppendOptions;
  if (onProgress !== undefined && typeof onProgress !== "function") {
    throw wrongOption("onProgress", "a function", onProgress);
  }
  const own = growing(array);
  const axis = axisOf(own, given);
  const from = isStored(values) ? values : asTensor(values, {}, "values");
  checkValues(own, from, axis);
  const start = own.shape.map((dim, d) => (d === axis ? dim : 0));
  const shape = own.shape.map((dim, d) => (d === axis ? dim + from.shape[axis] : dim));
  const { other: larger, text } = await resized(own, shape);
  const grown = durable(larger);
  const parts = [...chunksOf(start, from.shape, own.chunkShape)];
  // Values in memory are written in one piece.
  if (!isStored(from)) await grown.write(from, start);
  for (const [done, { boxStart, shape: box }] of parts.entries()) {
    const into = boxStart.map((at, d) => at + start[d]);
    // oxlint-disable-next-line no-await-in-loop -- one chunk in memory at a time
    if (isStored(from)) await grown.write(await from.read(boxStart, box), into);
    onProgress?.({ done: done + 1, chunks: parts.length });
  }
  await publish(own, text);
  return larger;
}

/** Opens the same array so that each chunk is synced before it replaces an older chunk. */
const durable = ({ store, metadata, fingerprint }: ZarrArray): ZarrArray =>
  new ZarrArray(store, metadata, fingerprint, true);

const isStored = (values: Tensor | ChunkedArray): values is ChunkedArray =>
  typeof values === "object" && values !== null && "location" in values;

/**
 * Changes the shape of an array. New elements have the fill value, and elements beyond the new shape are removed.
 * @param array a Zarr v3 or v2 array, in files or in object storage
 * @param shape the new shape, with the same rank
 * @returns the array with its new shape; `array` keeps the old shape and can no longer be written
 * @throws TensorError `rank` for another rank, `too-large` for too many elements or chunks; `attribute` as for `append`
 *
 * @example
 * ```ts
 * const array = await createArray("small.zarr", { dtype: "int32", shape: [2], chunkShape: [2] });
 * console.log((await resize(array, [5])).shape); // [5]
 * ```
 */
export async function resize(array: ChunkedArray, shape: readonly number[]): Promise<ZarrArray> {
  const own = growing(array);
  const dims = checkCoordinates(shape, own.shape.length, "the new shape");
  const { other, text } = await resized(own, dims);
  await clean(durable(own), other);
  await publish(own, text);
  await removeBeyond(other, other.shape);
  return other;
}

function growing(array: ChunkedArray): ZarrArray {
  if (array instanceof ZarrArray) return array;
  checkOpened("array", array);
  const { path, slice } = array.location;
  const sentence = `only a whole Zarr array can change its shape, got ${path}`;
  const part = slice === undefined ? "" : ", a part of one";
  throw new TensorError("attribute", `${sentence}${part}`, { key: "array", file: path });
}

const metadataKey = ({ version }: ZarrArray): string => (version === 3 ? "zarr.json" : ".zarray");

function axisOf({ shape, dimensionNames, location }: ZarrArray, given: unknown): number {
  const names = dimensionNames ?? [];
  const alike = names.flatMap((name, axis) => (name === given ? [axis] : []));
  const fields = { file: location.path, got: factOf(given) };
  if (typeof given === "string" && alike.length > 1) {
    const sentence = `${location.path} has several axes named ${printValue(given)}; give the axis number`;
    throw new TensorError("axis", `${sentence}: ${alike.join(", ")}`, {
      ...fields,
      allowed: alike,
    });
  }
  const number = typeof given === "string" ? alike[0] : given;
  const at = Number(number) + (Number(number) < 0 ? shape.length : 0);
  if (Number.isSafeInteger(number) && at >= 0 && at < shape.length) return at;
  const expected = [-shape.length, shape.length - 1] as const;
  const allowed = names.filter((name) => name !== null);
  const sentence = `the axis of ${location.path} must be from ${expected.join(" to ")}, or a name, got ${printValue(given)}`;
  throw new TensorError("axis", sentence, { ...fields, expected, allowed });
}

function checkValues(own: ZarrArray, values: Tensor | ChunkedArray, axis: number): void {
  const { dtype, shape } = values;
  if (dtype !== own.dtype) {
    const sentence = `the values must be ${own.dtype}, the data type of the array, got ${dtype}`;
    throw new TensorError("dtype", sentence, { input: "values", got: dtype, expected: own.dtype });
  }
  const expected = own.shape.map((dim, d) => (d === axis ? shape[d] : dim));
  if (sameShape(shape, expected)) return;
  const sentence = `the values must have the shape of the array, ${printShape(own.shape)}, except along axis ${axis}, got ${printShape(shape)}`;
  throw new TensorError("shape-mismatch", sentence, {
    ...{ input: "values", axis },
    ...{ got: shape, expected: own.shape },
  });
}

/** Returns the array with a new shape, and the new metadata, which is not yet written. */
async function resized(
  own: ZarrArray,
  shape: readonly number[],
): Promise<{ readonly other: ZarrArray; readonly text: Uint8Array }> {
  const { metadata, store } = own;
  const before = await readUnchanged(own);
  own.checkWritable();
  const dims = parseShape([...shape], "shape", store.path);
  checkGrid(dims, metadata.chunkShape, store.path);
  await checkFree(store);
  const json = withMember(parseJson(before, metadataKey(own)), "shape", dims);
  const text = encodeText(`${printJson(json)}\n`);
  const other = new ZarrArray(store, { ...metadata, shape: dims }, await fingerprintOf(text));
  return { other, text };
}

/** Reads an array's metadata. Throws an `attribute` error if the metadata has changed after the array was opened. */
async function readUnchanged(own: ZarrArray): Promise<Uint8Array> {
  const { store, fingerprint } = own;
  const text = await readKey(store, metadataKey(own), (name) => store.open(name));
  own.isCurrent = text !== null && (await fingerprintOf(text)) === fingerprint;
  if (text !== null && own.isCurrent) return text;
  throw changedSince(store);
}

/** Replaces an array's metadata, unless another process has changed it or a job has begun. */
async function publish(own: ZarrArray, text: Uint8Array): Promise<void> {
  await checkFree(own.store);
  await readUnchanged(own);
  await own.store.put(metadataKey(own), [text], true);
  own.isCurrent = (await fingerprintOf(text)) === own.fingerprint;
}

/** @throws TensorError `attribute` if a job owns the array */
async function checkFree({ path, staging }: ArrayStore): Promise<void> {
  const claim = (await staging?.open(CLAIM)) ?? null;
  await claim?.close();
  if (claim === null) return;
  const sentence = `a job is changing ${path}, so its shape cannot change until the job ends (ndscatter job list)`;
  throw new TensorError("attribute", sentence, { key: "array", file: path });
}

/** Removes data where `other` exceeds `own`: whole chunks and the ends of chunks, which readers ignored until now. */
async function clean(own: ZarrArray, other: ZarrArray): Promise<void> {
  const { chunkShape, shape } = own;
  const growing = shape.flatMap((dim, axis) => (other.shape[axis] > dim ? [axis] : []));
  if (growing.length === 0) return;
  await removeBeyond(own, shape);
  for (const axis of growing) {
    const start = shape.map((dim, d) => (d === axis ? dim - (dim % chunkShape[d]) : 0));
    const edge = shape.map((dim, d) => dim - start[d]);
    for (const { at } of chunksOf(start, edge, chunkShape)) {
      const size = product(clippedShape(at, shape, chunkShape));
      const chunk = new Uint8Array(size * rowOf(own.dtype).bytes);
      // oxlint-disable-next-line no-await-in-loop -- one chunk in memory at a time
      if (!(await own.readChunk(at, chunk))) continue;
      // oxlint-disable-next-line no-await-in-loop
      await own.writeChunk(at, chunk);
    }
  }
}

/** Removes all stored chunks beyond a shape. */
async function removeBeyond(array: ZarrArray, shape: readonly number[]): Promise<void> {
  const grid = gridOf(shape, array.chunkShape);
  const beyond: string[] = [];
  for await (const { key, at } of listChunks(array)) {
    if (at.some((one, axis) => one >= grid[axis])) beyond.push(key);
  }
  for (const key of beyond) {
    // oxlint-disable-next-line no-await-in-loop
    await array.store.remove(key);
  }
}
