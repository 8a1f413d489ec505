/** Describes a stored array, as data and as text. */

import { printCount } from "../../core/foreign.ts";
import * as fs from "node:fs";
import { DTYPES, isTensorError, type DType } from "../../entries/index.ts";
import { printShape } from "../../entries/operators.ts";
import { checkFree } from "../../entries/chunked.ts";
import { type ChunkedArray, type Codec, type ZarrArray } from "../../entries/zarr.ts";
import { errorAt, Failure, wrongData } from "../failure.ts";
import { shownUrl } from "../../arrays/boxes/urls.ts";
import { isUrl, openPart, partOf } from "../input/places.ts";
import { printNote, type Io } from "../io.ts";
import { escapeControls, printTable } from "../text/layout.ts";

export interface ArrayFacts {
  readonly path: string;
  readonly format: "npy" | "zarr";
  /** The Zarr format version. */
  readonly version?: number;
  /** True for an array slice, which is not stored separately. */
  readonly isPart?: true;
  readonly dtype: DType;
  readonly shape: readonly number[];
  /** The chunk shape. In a sharded array, this field contains the shape of the inner chunks. */
  readonly chunks?: readonly number[];
  readonly shards?: readonly number[];
  readonly codecs?: readonly Codec[];
  readonly fillValue?: unknown;
  readonly dimensionNames?: readonly (string | null)[];
  readonly attributes?: object;
  /** The number of stored chunks or shards, and the number of all chunks or shards. */
  readonly stored?: { readonly count: number; readonly of: number };
  /** The number of bytes on disk, and the number of bytes in memory. */
  readonly bytes: { readonly stored?: number; readonly elements: number };
}

/** Opens an array by its name on the command line. */
export async function openNamed(
  io: Io,
  name: string,
  onNote?: (sentence: string) => void,
): Promise<ChunkedArray> {
  try {
    return await openPart(io, name, onNote);
  } catch (error) {
    throw failureAt(io, name, error);
  }
}

/**
 * Opens a source array for copying. If a job is changing the array, the function throws, or prints a note if
 * --unfinished is given. Throws a `Failure` that contains the name on the command line.
 */
export async function openToCopy(
  io: Io,
  name: string,
  isAsked: boolean | undefined,
): Promise<ChunkedArray> {
  if (isAsked === true) return openNamed(io, name, (sentence) => void printNote(io, sentence));
  const array = await openNamed(io, name);
  await checkUnused(io, name, array, "; --unfinished copies it as it is");
  return array;
}

/** Throws a `Failure` if a job is changing the array. */
export async function checkUnused(
  io: Io,
  name: string,
  array: ChunkedArray,
  advice = "",
): Promise<void> {
  await checkFree(array).catch((error: unknown) => {
    const failure = failureAt(io, name, error);
    if (!(failure instanceof Failure)) throw failure;
    throw wrongData(failure.message + advice, error, name);
  });
}

/** Replaces the array's name in an error with the name on the command line. */
export function failureAt(io: Io, name: string, error: unknown): unknown {
  if (!isTensorError(error)) return errorAt(name, error);
  const shown = shownUrl(name);
  const sentence = error.message.replaceAll(partOf(io, name).place, shown);
  return wrongData(sentence.includes(shown) ? sentence : `${shown}: ${sentence}`, error, name);
}

const product = (shape: readonly number[]): number => shape.reduce((all, dim) => all * dim, 1);

const isZarr = (array: ChunkedArray): array is ZarrArray => "stored" in array;

export async function factsOf(typed: string, array: ChunkedArray): Promise<ArrayFacts> {
  const name = shownUrl(typed);
  const { dtype, shape, chunkShape } = array;
  const elements = product(shape) * DTYPES[dtype].bytes;
  const { format, path: place, slice } = array.location;
  if (slice !== undefined) {
    return {
      path: name,
      format,
      isPart: true,
      dtype,
      shape,
      chunks: chunkShape,
      bytes: { elements },
    };
  }
  if (!isZarr(array)) {
    const stored = isUrl(place) ? {} : { stored: fs.statSync(place).size };
    return { path: name, format, dtype, shape, bytes: { ...stored, elements } };
  }
  // Plain HTTP servers cannot list their files.
  const isListed = !isUrl(place) || place.startsWith("s3:");
  const found = isListed ? await array.stored() : null;
  const of = product(shape.map((dim, axis) => Math.ceil(dim / chunkShape[axis])));
  const { version, codecs, fillValue, dimensionNames, attributes, innerChunkShape } = array;
  return {
    path: name,
    format,
    version,
    dtype,
    shape,
    chunks: innerChunkShape ?? chunkShape,
    ...(innerChunkShape !== null && { shards: chunkShape }),
    codecs,
    fillValue,
    ...(dimensionNames !== null && { dimensionNames }),
    attributes,
    ...(found !== null && { stored: { count: found.chunks, of } }),
    bytes: { ...(found !== null && { stored: found.bytes }), elements },
  };
}

export function printFacts(facts: ArrayFacts): string {
  const { path: name, version, dtype, shape, bytes, attributes = {} } = facts;
  const { chunks, shards, codecs, fillValue, dimensionNames, stored } = facts;
  const rows: string[][] = [];
  if (dimensionNames !== undefined) {
    rows.push(["axes", dimensionNames.map((one) => one ?? "-").join(", ")]);
  }
  if (chunks !== undefined) rows.push(["chunks", printShape(chunks)]);
  if (shards !== undefined) rows.push(["shards", printShape(shards)]);
  if (codecs !== undefined) rows.push(["codecs", codecs.map(printCodec).join(", ")]);
  if (fillValue !== undefined) rows.push(["fill value", String(fillValue)]);
  if (stored !== undefined) {
    const what = shards === undefined ? "chunk" : "shard";
    rows.push([
      "stored",
      `${printNumber(stored.count)} of ${printCount(printNumber(stored.of), what)}`,
    ]);
  }
  const { stored: taken, elements } = bytes;
  const ratio =
    taken !== undefined && taken > 0
      ? `, ${(elements / taken).toFixed(2)} times as many in memory`
      : "";
  rows.push(["bytes", printNumber(taken ?? elements) + ratio]);
  const names = Object.keys(attributes);
  if (names.length > 0) rows.push(["attributes", names.join(", ")]);
  const format = facts.format === "npy" ? "NPY" : "Zarr";
  const kind =
    facts.isPart === true
      ? `a part of ${format}`
      : `${format}${version === undefined ? "" : ` v${version}`}`;
  const lines = printTable(rows.map(([label, value]) => [`  ${label}`, escapeControls(value)]));
  return `${name}: ${kind}, ${dtype} ${printShape(shape)}\n${lines}`;
}

const printNumber = (value: number): string => value.toLocaleString("en-US");

/** Formats a codec with its main settings. */
function printCodec({ name, configuration = {} }: Codec): string {
  const { codecs } = configuration;
  if (name === "sharding_indexed" && Array.isArray(codecs)) {
    return (codecs as (Codec | string)[])
      .map((one) => printCodec(typeof one === "string" ? { name: one } : one))
      .join(", ");
  }
  const shown = ["endian", "cname", "clevel", "level", "shuffle", "order"].flatMap((key) =>
    configuration[key] === undefined ? [] : String(configuration[key]),
  );
  return shown.length === 0 ? name : `${name} (${shown.join(" ")})`;
}
