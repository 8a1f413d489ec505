/**
 * External data: tensors whose bytes lie in another file beside the model. This module decides what a model may ask
 * for; it touches no disk. Who reads the files for it has to refuse links that lead out of the model's folder, because
 * only they can see them.
 *
 * ONNX: "External Data" (docs/ExternalData.md).
 */

import { malformed } from "../errors.ts";

/**
 * Reads `length` bytes from `offset` of the file at `location`, a relative path with `/` that never leaves the folder
 * of the model as far as its text goes.
 */
export type ReadExternal = (location: string, offset: number, length: number) => Uint8Array;

export interface ReadOptions {
  /** How to get at external data; without it a tensor that has some cannot be read. */
  readonly external?: ReadExternal;
}

/** Where a tensor's bytes are; `length` is null where they reach to the end of the file. */
export interface ExternalPlace {
  readonly location: string;
  readonly offset: number;
  readonly length: number | null;
}

/**
 * The place that a tensor's `external_data` entries name. Keys other than location, offset and length say nothing about
 * it and are ignored (ONNX defines `checksum`, which nothing checks, and writes `basepath`).
 * @throws TensorError `malformed-file` for a path that is empty, absolute or leaves the folder, and for numbers that
 * are no decimal numbers.
 */
export function placeOf(entries: ReadonlyMap<string, string>, what: string): ExternalPlace {
  const location = entries.get("location") ?? "";
  const fault = faultOf(location);
  if (fault !== null) {
    throw malformed(`${what} has its data in ${JSON.stringify(location)}, which ${fault}`);
  }
  return {
    location,
    offset: decimal(entries, "offset", what) ?? 0,
    length: decimal(entries, "length", what),
  };
}

/** What is wrong with a path, or null. Backslashes and drive letters are only paths on Windows, but refused everywhere. */
function faultOf(location: string): string | null {
  if (location === "") return "is empty";
  if (location.includes("\0")) return "holds a NUL";
  if (location.includes("\\")) return "holds a backslash";
  if (location.startsWith("/")) return "is an absolute path";
  if (/^[A-Za-z]:/.test(location)) return "starts with a drive letter";
  if (location.split("/").includes("..")) return "leaves the folder of the model";
  if (/(^|\/)\.?$/.test(location)) return "names no file";
  return null;
}

function decimal(entries: ReadonlyMap<string, string>, key: string, what: string): number | null {
  const text = entries.get(key);
  if (text === undefined) return null;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (Number.isSafeInteger(value)) return value;
  throw malformed(
    `${what} has external data with ${key} ${JSON.stringify(text)}, which is no decimal number below 2^53`,
  );
}
