/**
 * Reads the small files that say which job owns a folder or an array. Tasks ask this before each file that they
 * publish, so the text of an unchanged file is kept. On a network file system, each opening would take a round trip.
 *
 * A file counts as unchanged if it has the same device, inode, size and exact times. An inode may be used
 * again for a later file, but not with an earlier time of change, and not while a run has the old file open. If a
 * network file system still reports a removed file, the link or rename that follows fails, because its source was
 * removed with the file's folder.
 */

import { CHUNKED } from "../../../core/limits.ts";
import { findText, isCode, placeError } from "../../boxes/file.ts";
import { files } from "../../boxes/files.ts";

interface Kept {
  readonly identity: string;
  readonly text: string;
}

/** The texts by path, the last used last. */
const kept = new Map<string, Kept>();

/** Reads a file like `findText`, but opens an unchanged file only once. */
export async function readKept(file: string): Promise<string | null> {
  const identity = await identityOf(file);
  const known = kept.get(file);
  kept.delete(file);
  if (identity === null) return null;
  const text = known?.identity === identity ? known.text : await findText(file);
  // The identity is older than the text, so a change between the two calls is noticed by the next call.
  if (text !== null) kept.set(file, { identity, text });
  // A job has two such files.
  for (const old of kept.keys()) if (kept.size > 2 * CHUNKED.jobs) kept.delete(old);
  return text;
}

async function identityOf(file: string): Promise<string | null> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await files.stat(file, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
  } catch (error) {
    if (isCode(error, "ENOENT", "ENOTDIR")) return null;
    throw placeError(error);
  }
}
