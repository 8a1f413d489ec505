/** Locations of arrays: paths in the command's folder, URLs of object storage, and parts of arrays. */

import * as fs from "node:fs";
import * as path from "node:path";
import { isTensorError } from "../../entries/index.ts";
import { openArray, type AxisRange, type ChunkedArray } from "../../entries/zarr.ts";
import { wrongUsage } from "../failure.ts";
import type { Io } from "../io.ts";
import { quote } from "../text/layout.ts";

export const isUrl = (name: string): boolean => /^[a-z][a-z0-9+.-]+:\/\//i.test(name);

/** The absolute path of a typed name; a URL stays unchanged. */
export const placeOf = ({ cwd }: Io, name: string): string =>
  isUrl(name) ? name : path.resolve(cwd, name);

/**
 * The absolute path of a job's folder.
 * @throws Failure for a URL, because a job needs operations that only a file system has
 */
export function folderOf({ cwd }: Io, name: string): string {
  if (!isUrl(name)) return path.resolve(cwd, name);
  throw wrongUsage(`a job's folder must be on this machine, got ${quote(name)}; give a path`);
}

/** An array and an optional part of it, as typed: `a.zarr[10:20, ::2]`. */
export interface NamedPart {
  readonly place: string;
  /** The text in the brackets; null without brackets. */
  readonly ranges: string | null;
}

/** Splits the typed name of an input array. A file's own name may contain brackets. */
export function partOf(io: Io, name: string): NamedPart {
  const whole = { place: placeOf(io, name), ranges: null };
  const [, array, ranges] = /^(.+)\[([^[\]]*)\]$/s.exec(name) ?? [];
  if (array === undefined || fs.existsSync(whole.place)) return whole;
  return { place: placeOf(io, array), ranges };
}

/**
 * Opens an array, or a part of it, by its typed name.
 * @param onNote receives a message about an array that an unfinished job has partly changed, which is then read as it
 * is
 */
export async function openPart(
  io: Io,
  name: string,
  onNote?: (sentence: string) => void,
): Promise<ChunkedArray> {
  const { place, ranges } = partOf(io, name);
  const array = await openArray(place, onNote === undefined ? {} : { onNote });
  if (ranges === null) return array;
  const parsed = parseRanges(ranges, array.shape.length);
  try {
    return array.slice(...parsed);
  } catch (error) {
    if (!isTensorError(error)) throw error;
    throw wrongUsage(`${name}: ${error.message}`, error);
  }
}

/** Returns the ranges of an array's axes in Python's notation: `10:20, ::2`, `3`, `..., :5`. */
function parseRanges(text: string, rank: number): AxisRange[] {
  const words = text.split(",").map((word) => word.trim());
  // Python's slice notation allows a trailing comma.
  if (words.length > 1 && words.at(-1) === "") words.pop();
  const missing = Math.max(0, rank - words.length + 1);
  let hasRest = false;
  return words.flatMap((word): AxisRange[] => {
    if (word === "..." && !hasRest) {
      hasRest = true;
      return Array.from({ length: missing }, () => null);
    }
    if (/^-?\d{1,15}$/.test(word)) return [Number(word)];
    const ends = word.split(":").map((end) => end.trim());
    if (ends.length < 2 || ends.length > 3 || !ends.every((end) => /^(?:-?\d{1,15})?$/.test(end))) {
      const examples = "such as 10:20, ::2, 3 or ...";
      throw wrongUsage(`a range must be START:STOP:STEP, ${examples}, got ${quote(word)}`);
    }
    return [ends.map((end) => (end === "" ? null : Number(end)))];
  });
}
