/** Resolves array locations: paths relative to the base folder, object storage URLs, and array slices. */

import * as fs from "node:fs";
import * as path from "node:path";
import type { AxisRange, ChunkedArray } from "../../entries/zarr.ts";
import { asUsage, wrongUsage } from "../failure.ts";
import type { Io } from "../io.ts";
import { quote } from "../text/layout.ts";

export const isUrl = (name: string): boolean => /^[a-z][a-z0-9+.-]+:\/\//i.test(name);

/** Returns the absolute path for a name on the command line. URLs do not change. */
export const placeOf = ({ cwd }: Io, name: string): string =>
  isUrl(name) ? name : path.resolve(cwd, name);

/**
 * Returns the absolute path of a job folder. Throws a `Failure` for a URL, because jobs need file system operations.
 */
export function folderOf({ cwd }: Io, name: string): string {
  if (!isUrl(name)) return path.resolve(cwd, name);
  throw wrongUsage(`a job's folder must be on this machine, got ${quote(name)}; give a path`);
}

/** An array name from the command line, with an optional slice. `a.zarr[10:20, ::2]`. */
export interface NamedPart {
  readonly place: string;
  /** The text between brackets; null without brackets. */
  readonly ranges: string | null;
}

/** Splits an input array's name into a path and a slice. File names may contain brackets themselves. */
export function partOf(io: Io, name: string): NamedPart {
  const whole = { place: placeOf(io, name), ranges: null };
  const [, array, ranges] = /^(.+)\[([^[\]]*)\]$/s.exec(name) ?? [];
  if (array === undefined || fs.existsSync(whole.place)) return whole;
  return { place: placeOf(io, array), ranges };
}

/**
 * Opens an array, or an array slice, by its name on the command line. `onNote` receives a message if an unfinished job
 * has changed part of the array, which is then read in its current state.
 */
export async function openPart(
  io: Io,
  name: string,
  onNote?: (sentence: string) => void,
): Promise<ChunkedArray> {
  const { place, ranges } = partOf(io, name);
  // Calls on tensor files do not load the code for chunked arrays.
  const { openArray } = await import("../../entries/zarr.ts");
  const array = await openArray(place, onNote === undefined ? {} : { onNote });
  if (ranges === null) return array;
  const parsed = parseRanges(ranges, array.shape.length);
  return asUsage(() => array.slice(...parsed), `${name}: `);
}

/** Parses the axis ranges of an array in Python's slice notation, such as `10:20, ::2`, `3` or `..., :5`. */
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
