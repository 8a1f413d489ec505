/**
 * Reads the claim of a job that changes an array in place, and the progress of the change. Until the job is finished,
 * readers of the array see both old and new chunks.
 */

import { printCount } from "../../core/foreign.ts";
import { malformed, type TensorError } from "../../core/errors.ts";
import { readKey } from "./read-key.ts";
import { CHANGED, CLAIM, type ArrayStore } from "./stores/store.ts";

/** A job that owns an array. */
export interface Claim {
  readonly id: string;
  readonly inPlace: boolean;
  /** The job's folder, or null for a claim by an older version, which recorded only the id. */
  readonly folder: string | null;
  /** The number of chunks in the array. */
  readonly chunks: number;
}

export function parseClaim(text: string): Claim {
  try {
    const { id, inPlace, folder, chunks } = JSON.parse(text) as Record<string, unknown>;
    if (typeof id === "string" && typeof folder === "string") {
      return { id, inPlace: inPlace !== false, folder, chunks: Number(chunks) };
    }
  } catch {
    // An older version wrote only the id.
  }
  return { id: text, inPlace: true, folder: null, chunks: 0 };
}

/** Sums the numbers of changed chunks in file names, and ignores names of any other form. */
export const countChanges = (names: readonly string[]): number =>
  names.reduce((sum, name) => sum + Number(/^\d+\.(\d{1,9})$/.exec(name)?.[1] ?? 0), 0);

/** The changes of an unfinished job. */
export interface Unfinished {
  readonly sentence: string;
  /** The error for reading the array as if it were unchanged or complete. */
  readonly error: TensorError;
}

/** Returns the changes that an unfinished job has made to an array, or null without such a job. */
export async function findUnfinished(store: ArrayStore): Promise<Unfinished | null> {
  const { path, staging } = store;
  // Arrays in object storage are not changed in place.
  if (staging?.names === undefined) return null;
  const text = await readKey(store, CLAIM, (key) => staging.open(key));
  const claim = text === null ? null : parseClaim(new TextDecoder().decode(text));
  if (claim === null || !claim.inPlace) return null;
  const changed = countChanges(await staging.names(CHANGED));
  if (changed === 0) return null;
  const { folder, chunks } = claim;
  const job = folder === null ? "a job" : `the job in ${folder}`;
  const advice = folder === null ? "finish the job" : `finish it (ndscatter job resume ${folder})`;
  const sentence = `${path} is partly changed: ${job} has changed ${changed} of ${printCount(chunks, "chunk")} and is not finished; ${advice}`;
  const error = malformed(`${sentence}, or pass onNote to openArray to read the array as it is`, {
    file: path,
    got: changed,
    expected: chunks,
  });
  return { sentence, error };
}
