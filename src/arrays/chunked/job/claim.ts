/**
 * Claims arrays for jobs. While a job changes an array in place, no other job may use the array, because it would read
 * half of the changes. A new array also belongs to its job until the array is complete. The array's folder names the
 * job and counts the changed chunks, for machines without access to the job's folder. In object storage, where arrays
 * are never changed in place, a claim is an object that must not exist yet.
 *
 *     .ndscatter/job                the claim: the job that owns the array
 *     .ndscatter/changed/<n>.<c>    task n has changed c chunks in place, or is about to
 *     .ndscatter/partial            a job was abandoned after it had changed some chunks
 */

import * as fs from "node:fs/promises";
import * as path from "node:path";
import { printCount } from "../../../core/foreign.ts";
import { malformed, TensorError } from "../../../core/errors.ts";
import {
  inFile,
  isCode,
  isThere,
  isUrl,
  makeEmpty,
  makeFolders,
  placeError,
  removeEmpty,
  withFile,
} from "../../boxes/file.ts";
import { checkFolder, readKept, readSpec } from "./spec-file.ts";
import type { JobSpec } from "./spec.ts";
import { removeLeft, temporaryOf } from "./temporary.ts";
import { countChanges, parseClaim, type Claim } from "../../zarr/claims.ts";
import { storeOf } from "../../zarr/locate.ts";
import { readKey } from "../../zarr/read-key.ts";
import { CHANGED, CLAIM, PARTIAL, STAGING } from "../../zarr/stores/store.ts";
import type { JobContext } from "../stages/context.ts";

export const claimOf = (folder: string, { id, inPlace, chunks }: JobSpec): Claim => ({
  id,
  inPlace,
  folder,
  chunks,
});

const inStaging = (array: string, ...names: string[]): string =>
  path.join(array, STAGING, ...names);

/**
 * Checks that an array's folder for job files is not a link, because jobs would write and remove files in the link's
 * target. Throws a `malformed-file` error for a link.
 */
export async function checkStaging(array: string): Promise<void> {
  for (const folder of [inStaging(array), inStaging(array, CHANGED)]) {
    const stat = await fs.lstat(folder).catch((error: unknown) => {
      if (isCode(error, "ENOENT", "ENOTDIR")) return null;
      throw error;
    });
    if (stat === null || stat.isDirectory()) continue;
    throw malformed(`${folder} must be a folder that a job created, not a link; remove ${folder}`, {
      file: folder,
    });
  }
}

/** Throws an `attribute` error if another job owns the array. */
export async function claim(array: string, own: Claim): Promise<void> {
  if (isUrl(array)) return claimUrl(array, own);
  const file = inStaging(array, CLAIM);
  await checkStaging(array);
  const temporary = temporaryOf(file);
  await makeFolders(own.inPlace ? inStaging(array, CHANGED) : path.dirname(file));
  try {
    // The claim is synced before it is linked, because a claim that a crash has emptied would not name a job.
    await withFile(temporary, "wx", async (handle) => {
      await handle.writeFile(JSON.stringify(own));
      await handle.datasync();
    });
    await fs.link(temporary, file);
  } catch (error) {
    if (!isCode(error, "EEXIST")) throw error;
    const found = await readClaim(array);
    if (found?.id === own.id) return;
    if (found !== null) throw await refusal(array, found);
    throw error;
  } finally {
    await fs.rm(temporary, { force: true });
  }
}

/** Removes the folders of an array that a job could not claim, unless they contain files. */
export async function removeUnclaimed(array: string): Promise<void> {
  // A killed process may have left the text of its claim.
  await removeLeft(inStaging(array), CLAIM);
  for (const folder of [inStaging(array, CHANGED), inStaging(array), array]) {
    // Each folder contains the one before.
    await removeEmpty(folder);
  }
}

async function claimUrl(array: string, own: Claim): Promise<void> {
  const { staging } = await storeOf(array);
  const text = new TextEncoder().encode(JSON.stringify(own));
  // On a server without staging, creating the array fails later.
  if (staging === undefined || (await staging.putNew(CLAIM, [text]))) return;
  const found = await readClaim(array);
  if (found === null) return claimUrl(array, own);
  if (found.id !== own.id) throw await refusal(array, found);
}

async function readUrlClaim(array: string): Promise<string | null> {
  const store = await storeOf(array);
  const text = await readKey(store, CLAIM, async (key) => (await store.staging?.open(key)) ?? null);
  return text === null ? null : new TextDecoder().decode(text);
}

/**
 * Returns true if a location in object storage contains an array or a claim. Even objects without metadata count,
 * because the new array would treat them as its chunks.
 */
export async function holdsObjects(place: string): Promise<boolean> {
  const store = await storeOf(place);
  // On a server without staging, creating the array fails later.
  if (store.staging === undefined) return false;
  if ((await readClaim(place)) !== null) return true;
  for await (const { key } of store.list()) if (!key.startsWith(`${STAGING}/`)) return true;
  return false;
}

/** Reads the claim on an array, or returns null if no job owns the array. */
export async function readClaim(array: string): Promise<Claim | null> {
  const text = await (isUrl(array) ? readUrlClaim(array) : readKept(inStaging(array, CLAIM)));
  return text === null ? null : parseClaim(text);
}

export const isClaimed = async (array: string, { id }: Pick<Claim, "id">): Promise<boolean> =>
  (await readClaim(array))?.id === id;

/** Throws an `attribute` error if a job other than `id` is changing the array in place. */
export async function checkUnclaimed(array: string, id: string | null): Promise<void> {
  const found = await readClaim(array);
  if (found === null || found.id === id || !found.inPlace) return;
  throw await refusal(array, found);
}

/** Records that a task is about to change chunks of an array. If no job owns the array, nothing happens. */
export async function noteChanges(array: string, task: number, chunks: number): Promise<void> {
  const file = inStaging(array, CHANGED, `${task}.${chunks}`);
  await makeEmpty(file).catch((error: unknown) => {
    if (!isCode(error, "ENOENT")) throw error;
  });
}

/** Returns the number of changed chunks, including chunks that an interrupted run was about to change. */
export async function changesOf(array: string): Promise<number> {
  const names = await fs.readdir(inStaging(array, CHANGED)).catch((error: unknown) => {
    if (isCode(error, "ENOENT")) return [];
    throw placeError(error);
  });
  return countChanges(names);
}

/** Ends the claim of an abandoned job, and marks the array if chunks were changed. */
export async function giveUpClaim(array: string, { id, chunks }: Claim): Promise<void> {
  const changed = await changesOf(array);
  if (changed > 0) {
    const text = JSON.stringify({ job: id, changed, chunks });
    const file = inStaging(array, PARTIAL);
    const temporary = temporaryOf(file);
    // A link at the path is replaced, not followed.
    await inFile(temporary, fs.writeFile(temporary, text, { flag: "wx" }));
    await fs.rename(temporary, file).catch(async (error: unknown) => {
      // Another process has written the mark and removed all other files.
      if (!isCode(error, "ENOENT") || !(await isThere(file))) throw error;
    });
  }
  await endClaim(array, { id });
}

/**
 * Removes a job's files from the array's folder, except for the mark on a partly changed array. The claim is removed
 * last, so that after a crash, the claim still names the job of the remaining files. `found` is the claim, or null
 * without a claim.
 */
export async function endClaim(array: string, found: Pick<Claim, "id"> | null): Promise<void> {
  const others = (await staged(array)).filter((name) => name !== CLAIM && name !== PARTIAL);
  // Without a claim, the files belong to a job that has not yet written its claim.
  await removeStaged(array, found === null ? [] : [...others, CLAIM]);
}

/**
 * Removes chunks and metadata that slow runs staged after the job was finished. A task removes its own chunks unless
 * its process is killed.
 */
export async function removeLateFiles(array: string, id: string): Promise<void> {
  const names = await staged(array);
  await removeStaged(
    array,
    names.filter((name) => name.startsWith(`${id}-`) || name.startsWith("zarr.json")),
  );
}

/** Lists the job files in an array's folder. */
async function staged(array: string): Promise<string[]> {
  await checkStaging(array);
  return fs.readdir(path.join(array, STAGING)).catch((error: unknown) => {
    if (isCode(error, "ENOENT")) return [];
    throw error;
  });
}

async function removeStaged(array: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await fs.rm(inStaging(array, name), { recursive: true, force: true });
  }
  // The folder cannot be removed while it contains the mark, or files of a job that has just begun.
  await removeEmpty(path.join(array, STAGING));
}

const refuse = (sentence: string, array: string): TensorError =>
  new TensorError("attribute", sentence, { key: "out", file: array });

/**
 * Returns the error for an array that another job owns. The message names the job, counts the changed chunks, and
 * suggests the next step.
 */
export async function refusal(
  array: string,
  { id, folder, inPlace, chunks }: Claim,
): Promise<TensorError> {
  if (folder === null) return refuse(`a job is changing ${array} in place (job ${id})`, array);
  const isHere = await holdsJob(folder, id);
  const ways = `finish it (ndscatter job resume ${folder}), or give it up (ndscatter job remove ${folder})`;
  if (!inPlace) {
    const what = `${array} is the unfinished output of the job in ${folder}`;
    return refuse(
      isHere ? `${what}; ${ways}` : `${what}, which this machine cannot find; remove ${array}`,
      array,
    );
  }
  const changed = await changesOf(array);
  const what = `a job is changing ${array} in place: ${changed} of ${printCount(chunks, "chunk")} are changed`;
  const cost = changed > 0 ? ", which leaves the array partly changed" : "";
  if (isHere) return refuse(`${what}; ${ways}${cost}`, array);
  const remedy =
    changed > 0
      ? "restore the array from a copy"
      : `remove ${path.join(array, STAGING)} if the folder is gone`;
  return refuse(
    `${what}, and this machine cannot find its folder ${folder}; finish the job on a machine that can, or ${remedy}`,
    array,
  );
}

/** Returns true if a folder contains the job, and false if the folder cannot be read. */
async function holdsJob(folder: string, id: string): Promise<boolean> {
  try {
    return (await readSpec(folder)).id === id;
  } catch {
    return false;
  }
}

/**
 * Checks that a job still owns its folder and output, just before a task renames its file. The file is inside the
 * folder, so a new job in a new folder never receives it. Throws an `engine` error if another job owns the folder or
 * the output.
 */
export async function checkOwner({ folder, spec: { id, out } }: JobContext): Promise<void> {
  await checkFolder({ folder, id });
  if (out.format !== "zarr" || isUrl(out.path)) return;
  const claim = await readClaim(out.path);
  if (claim === null || claim.id === id) return;
  const sentence = `job ${id} no longer owns ${out.path}, which now belongs to job ${claim.id}`;
  throw new TensorError("engine", sentence);
}
