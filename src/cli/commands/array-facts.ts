/** Describes stored arrays and Zarr groups, as data and as text. */

import * as fs from "node:fs";
import { isUrl, openPart, partOf, placeOf } from "../input/arguments.ts";
import { shownUrl } from "../../arrays/boxes/urls.ts";
import { errorAt, Failure, wrongData } from "../failure.ts";
import { type Io, printNote } from "../io.ts";
import { escapeControls, printTable } from "../text/layout.ts";
import { printCount } from "../../core/foreign.ts";
import { checkFree } from "../../entries/chunked.ts";
import { DTYPES, isTensorError } from "../../entries/index.ts";
import { printShape } from "../../entries/operators.ts";
import { type ChunkedArray, type Codec, openGroup, type ZarrArray } from "../../entries/zarr.ts";
import { product } from "../../core/tensor/shape.ts";

export const openNamed = (
  io: Io,
  name: string,
  onNote?: (sentence: string) => void,
): Promise<ChunkedArray> => openPart(io, name, onNote).catch(blame(io, name));

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

/** Returns a handler that throws an error with the name of an array on the command line. */
export const blame =
  (io: Io, name: string) =>
  (error: unknown): never => {
    throw failureAt(io, name, error);
  };

export const printKind = ({ dtype, shape }: Pick<ChunkedArray, "dtype" | "shape">): string =>
  `${dtype} ${printShape(shape)}`;

/** Replaces the array's name in an error with the name on the command line. */
export function failureAt(io: Io, name: string, error: unknown): unknown {
  if (!isTensorError(error)) return errorAt(name, error);
  const shown = shownUrl(name);
  const sentence = error.message.replaceAll(partOf(io, name).place, shown);
  return wrongData(sentence.includes(shown) ? sentence : `${shown}: ${sentence}`, error, name);
}

const isZarr = (array: ChunkedArray): array is ZarrArray => "stored" in array;

/** Describes an array for --json. Fields that the array does not have are undefined. */
export async function factsOf(typed: string, array: ChunkedArray) {
  const { dtype, shape, chunkShape } = array;
  const { format, path: place, slice } = array.location;
  const isPart = slice !== undefined;
  const zarr = !isPart && isZarr(array) ? array : null;
  // Plain HTTP servers cannot list their files.
  const isListed = !isUrl(place) || place.startsWith("s3:");
  const found = zarr !== null && isListed ? await zarr.stored() : null;
  const isFile = !isPart && zarr === null && !isUrl(place) && fs.existsSync(place);
  const inner = zarr?.innerChunkShape ?? null;
  return {
    path: shownUrl(typed),
    format,
    version: zarr?.version,
    /** A part of an array is not stored separately. */
    isPart: isPart || undefined,
    dtype,
    shape,
    /** The chunk shape. In a sharded array, this field contains the shape of the inner chunks. */
    chunks: isPart || zarr !== null ? (inner ?? chunkShape) : undefined,
    shards: inner === null ? undefined : chunkShape,
    codecs: zarr?.codecs,
    fillValue: zarr?.fillValue,
    dimensionNames: zarr?.dimensionNames ?? undefined,
    attributes: zarr?.attributes,
    /** The number of stored chunks or shards, and the number of all chunks or shards. */
    stored: found === null ? undefined : { count: found.chunks, of: product(gridOf(array)) },
    /** The number of bytes on disk, and the number of bytes in memory. */
    bytes: {
      stored: isFile ? fs.statSync(place).size : found?.bytes,
      elements: product(shape) * DTYPES[dtype].bytes,
    },
  };
}

/** Returns the number of chunks along each axis. */
export const gridOf = ({ shape, chunkShape }: ChunkedArray): number[] =>
  shape.map((dim, axis) => Math.ceil(dim / chunkShape[axis]));

export function printFacts(facts: Awaited<ReturnType<typeof factsOf>>): string {
  const { path: name, version, isPart, bytes, attributes = {} } = facts;
  const { chunks, shards, codecs, fillValue, dimensionNames, stored } = facts;
  const { stored: taken, elements } = bytes;
  const ratio =
    taken !== undefined && taken > 0
      ? `, ${(elements / taken).toFixed(2)} times as many in memory`
      : "";
  const of = stored && printCount(printNumber(stored.of), shards === undefined ? "chunk" : "shard");
  const rows: readonly (readonly [label: string, fact: string | undefined])[] = [
    ["axes", dimensionNames?.map((one) => one ?? "-").join(", ")],
    ["chunks", chunks && printShape(chunks)],
    ["shards", shards && printShape(shards)],
    ["codecs", codecs?.map(printCodec).join(", ")],
    ["fill value", fillValue === undefined ? undefined : String(fillValue)],
    ["stored", stored && `${printNumber(stored.count)} of ${of}`],
    ["bytes", printNumber(taken ?? elements) + ratio],
    ["attributes", Object.keys(attributes).join(", ") || undefined],
  ];
  const lines = rows.flatMap(([label, fact]) =>
    fact === undefined ? [] : [[`  ${label}`, escapeControls(fact)]],
  );
  const format = facts.format === "npy" ? "NPY" : "Zarr";
  const kind = isPart
    ? `a part of ${format}`
    : format + (version === undefined ? "" : ` v${version}`);
  return `${name}: ${kind}, ${printKind(facts)}\n${printTable(lines)}`;
}

const printNumber = (value: number): string => value.toLocaleString("en-US");

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

/**
 * Describes a group. Returns null if the path does not contain a group, because opening that path as an array gives a
 * better error. Throws a `Failure` if the group cannot be read.
 */
export async function groupFactsOf(io: Io, name: string) {
  const group = await openGroup(placeOf(io, name)).catch((error: unknown) => {
    // An error of any other kind comes from an existing group.
    const isOther = isTensorError(error, "malformed-file", "unsupported-file");
    if (isOther && error.expected === "group") return null;
    throw failureAt(io, name, error);
  });
  if (group === null) return null;
  const members = await group.members().catch(blame(io, name));
  const { version, attributes } = group;
  return { path: shownUrl(name), version, attributes, members };
}

export function printGroup(facts: NonNullable<Awaited<ReturnType<typeof groupFactsOf>>>): string {
  const { path: name, version, members, attributes } = facts;
  const rows = members.map((one) => [`  ${escapeControls(one.name)}`, one.kind]);
  const names = Object.keys(attributes);
  const head = `${name} is a Zarr v${version} group with ${printCount(members.length, "member")}`;
  const rest = names.length === 0 ? [] : [["  attributes", escapeControls(names.join(", "))]];
  return `${head}\n${printTable([...rows, ...rest])}`;
}
