/**
 * Finds and summarizes jobs below a folder, including jobs whose folder is elsewhere but which own an array in the
 * folder.
 */

import * as fs from "node:fs/promises";
import * as path from "node:path";
import { isCode, isThere, isUrl } from "../../boxes/file.ts";
import type { ChunkedArray } from "../../boxes/array.ts";
import { checkOpened } from "../../boxes/checks.ts";
import { checkPath } from "./request.ts";
import { changesOf, checkUnclaimed, readClaim } from "./claim.ts";
import { readSpec, specFile } from "./spec-file.ts";
import { isTemporary, removeLeft } from "./temporary.ts";

/** A job that was found by its folder, or by an array that it owns. */
export interface FoundJob {
  /** The job's folder, or null if an older version claimed the array. */
  readonly folder: string | null;
  /** The array, if the job was found only by its array; otherwise null. */
  readonly array: string | null;
}

/** Maximum depth of nested folders to search. */
const DEPTH = 8;

/**
 * Finds all jobs in and below a folder, sorted by name. The search skips array contents and links. The function also
 * removes temporary folders that killed processes left when they created jobs.
 *
 * @param root the path of the folder
 * @throws TensorError `attribute` for a value that is not a path, or a file system error
 *
 * @example
 * ```ts
 * await createJob(request); // the request of createJob
 * const [found] = await findJobs(".");
 * console.log(found?.folder?.endsWith("job")); // true
 * ```
 */
export async function findJobs(root: string): Promise<readonly FoundJob[]> {
  checkPath(root, "root");
  const found: FoundJob[] = [];
  await search(path.resolve(root), DEPTH, found);
  const folders = new Set(found.flatMap(({ folder, array }) => (array === null ? [folder] : [])));
  // An array is omitted if the folder of its job was also found.
  return found.filter(({ folder, array }) => array === null || !folders.has(folder));
}

async function search(folder: string, depth: number, found: FoundJob[]): Promise<void> {
  // Unreadable folders are skipped, except for the folder that the caller named.
  const passOver = (error: unknown): null => {
    if (depth < DEPTH && isCode(error, "EACCES", "EPERM", "ENOENT")) return null;
    throw error;
  };
  if ((await isThere(specFile(folder)).catch(passOver)) === true) {
    found.push({ folder, array: null });
    return;
  }
  const claim = await readClaim(folder).catch(passOver);
  if (claim !== null) found.push({ folder: claim.folder, array: folder });
  await removeLeft(folder);
  const entries = (await fs.readdir(folder, { withFileTypes: true }).catch(passOver)) ?? [];
  const isArray = entries.some(({ name }) => name === "zarr.json" || name === ".zarray");
  const isGroup = entries.some(
    (entry) => entry.isDirectory() && !/^(?:c|\d+|\..*)$/.test(entry.name),
  );
  if (depth === 0 || claim !== null || (isArray && !isGroup)) return;
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const { name } = entry;
    if (!entry.isDirectory() || name.startsWith(".") || name === "node_modules") continue;
    // The temporary folder belongs to a process that is still creating its job.
    if (isTemporary(name)) continue;
    await search(path.join(folder, name), depth - 1, found);
  }
}

/**
 * Checks that no job is changing an array in place, so that the caller may write to the array.
 *
 * @param array the array to write to
 * @throws TensorError `attribute` if a job is changing the array; the message names the job's folder and the next step
 *
 * @example
 * ```ts
 * import { openArray } from "ndscatter/zarr";
 *
 * await checkFree(await openArray("table.zarr"));
 * console.log("no job is changing it"); // no job is changing it
 * ```
 */
export async function checkFree(array: ChunkedArray): Promise<void> {
  checkOpened("array", array);
  const { format, path: place } = array.location;
  if (format === "zarr" && !isUrl(place)) await checkUnclaimed(place, null);
}

/** A summary of a job. */
export interface JobFacts {
  /** The name of the operator or plain function. */
  readonly call: string;
  /** The location of the output, which is that of data if the job changes data in place. */
  readonly out: string;
  readonly inPlace: boolean;
  /** The number of chunks in data. */
  readonly chunks: number;
  /**
   * The number of chunks that the job has changed, or is about to change, in place; null for a new array and a finished
   * job.
   */
  readonly changed: number | null;
}

/**
 * Summarizes the job in a folder.
 *
 * @param folder the path of the job's folder
 * @throws TensorError `malformed-file` if the folder holds no job
 *
 * @example
 * ```ts
 * await createJob(request); // the request of createJob
 * const { call, inPlace, chunks } = await describeJob("job");
 * console.log(call, inPlace, chunks); // scatterND false 2
 * ```
 */
export async function describeJob(folder: string): Promise<JobFacts> {
  checkPath(folder);
  const { id, call, out, inPlace, chunks } = await readSpec(folder);
  const claim = inPlace ? await readClaim(out.path) : null;
  return {
    call: "node" in call ? String(call.node.op) : call.function,
    out: out.path,
    inPlace,
    chunks,
    changed: claim?.id === id ? await changesOf(out.path) : null,
  };
}
