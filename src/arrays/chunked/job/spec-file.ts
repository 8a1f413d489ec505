/**
 * Reads the file `job.json`, and marks it when the output is complete. The mark is an empty line at the end of the
 * file. A run that has the file open can read the mark even after another run has removed the file.
 */

import * as fs from "node:fs/promises";
import * as path from "node:path";
import type { Guard } from "../../boxes/array.ts";
import { type OpenFile, files } from "../../boxes/files.ts";
import {
  closeFile,
  readFully,
  inFile,
  isCode,
  isThere,
  openFile,
  placeError,
  readText,
  withFile,
  findText,
} from "../../boxes/file.ts";
import { malformed, TensorError } from "../../../core/errors.ts";
import { CHUNKED } from "../../../core/limits.ts";
import { fileOf } from "../stages/task-files.ts";
import type { JobInputs } from "../stages/context.ts";
import { openInputs } from "./open-arrays.ts";
import { parseSpec, type JobSpec } from "./spec.ts";

/**
 * The end of a complete job's file, which consists of a newline and at least one empty line. After a crash, zeros may
 * replace an unsynced line.
 */
const COMPLETE = /\n\0*\n[\0\n]*$/;

/**
 * The number of bytes at the end of the file in which the mark is sought. The file has several empty lines only after a
 * crash.
 */
const END = 256;

export const specFile = (folder: string): string => path.join(folder, "job.json");

/** An open job. The file `job.json` stays open until `close`. */
export interface BegunJob {
  readonly folder: string;
  readonly spec: JobSpec;
  /** Opens the inputs, once. */
  inputs(): Promise<JobInputs>;
  /** Returns true if the output is complete, even if the file has since been removed or renamed. */
  isComplete(): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * Checks that a job's folder contains no links, through which tasks would write or remove other files. Throws a
 * `malformed-file` error for a link.
 */
export async function checkFolderOf(folder: string): Promise<void> {
  const entries = await fs.readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (isCode(error, "ENOENT", "ENOTDIR")) return [];
    throw placeError(error);
  });
  const link = entries.find((entry) => entry.isSymbolicLink());
  if (link === undefined) return;
  const file = path.join(folder, link.name);
  throw malformed(`${file} must not be a link, because tasks would write to the link's target`, {
    file,
  });
}

/**
 * Throws a `malformed-file` error if the folder contains no job, or contains links. `guard` checks each file of an input
 * before it is opened.
 */
export async function openSpec(folder: string, guard?: Guard): Promise<BegunJob> {
  await checkFolderOf(folder);
  const file = await findJob(folder, undefined, guard);
  if (file !== null) return file;
  throw noJob(folder);
}

export const noJob = (folder: string): TensorError =>
  malformed(
    `${folder} must be a job's folder, but has no job.json; ndscatter job list finds jobs`,
    { file: folder },
  );

/**
 * Opens the job in a folder, or returns null without a job, because another run may remove the job at any time. `opened`
 * contains the inputs of a job that this process has just described.
 */
export async function findJob(
  folder: string,
  opened?: JobInputs,
  guard?: Guard,
): Promise<BegunJob | null> {
  const handle = await open(folder);
  if (handle === null) return null;
  const file = specFile(folder);
  try {
    const text = await inFile(file, readText(handle, file));
    const spec = specOf(text);
    let inputs = opened === undefined ? undefined : Promise.resolve(opened);
    return {
      folder,
      spec,
      inputs: () => (inputs ??= openInputs(spec, guard)),
      isComplete: () => inFile(file, endsComplete(handle)),
      close: () => inFile(file, closeFile(handle)),
    };
  } catch (error) {
    await closeFile(handle).catch(() => {});
    throw error;
  }
}

/** Specs by their texts, the last used last: a text is parsed and checked once, and then compared byte by byte. */
const parsed = new Map<string, JobSpec>();

function specOf(read: string): JobSpec {
  // After a crash, zeros may replace the appended line, and later runs may append more lines.
  const text = read.replace(/[\0\n]+$/, "");
  const spec = parsed.get(text) ?? parseSpec(text);
  parsed.delete(text);
  parsed.set(text, spec);
  for (const old of parsed.keys()) if (parsed.size > CHUNKED.jobs) parsed.delete(old);
  return spec;
}

/** Throws the errors of `openSpec`. */
export async function readSpec(folder: string): Promise<JobSpec> {
  await checkFolderOf(folder);
  const spec = await findSpec(folder);
  if (spec !== null) return spec;
  throw noJob(folder);
}

/** Reads the spec like `readSpec`, or returns null if the folder contains no job. */
export async function findSpec(folder: string): Promise<JobSpec | null> {
  const text = await readKept(specFile(folder));
  return text === null ? null : specOf(text);
}

/**
 * Checks that a folder does not contain another job. After a job is removed, its folder may contain a new job, which a
 * slow task must not mistake for the old job. Returns false for a folder without a job, in which tasks fail anyway,
 * because the folder has no stage folders. Throws an `engine` error if the folder contains another job.
 */
export async function checkFolder(job: { folder: string; id: string }): Promise<boolean> {
  const { folder, id } = job;
  const found = await findSpec(folder);
  if (found === null || found.id === id) return found !== null;
  throw new TensorError("engine", replaced(folder, id, found.id), {
    file: folder,
    got: found.id,
    expected: id,
  });
}

/** Returns the message for a removed job whose folder now contains another job. */
const replaced = (folder: string, id: string, found: string): string =>
  `job ${id} was removed, and ${folder} now holds job ${found}; begin the removed job again in another folder`;

/**
 * Throws an `attribute` error unless a folder contains the expected job. The code is not `engine`, after which queues
 * repeat tasks.
 */
export function checkId(folder: string, found: string, expected: string | undefined): void {
  if (expected === undefined || found === expected) return;
  const fields = { key: "folder", file: folder, got: found, expected };
  throw new TensorError("attribute", replaced(folder, expected, found), fields);
}

async function open(folder: string): Promise<OpenFile | null> {
  try {
    return await openFile(specFile(folder), "r");
  } catch (error) {
    if (isCode(error, "ENOENT", "ENOTDIR")) return null;
    throw placeError(error);
  }
}

/**
 * The file `done` counts only if the output is complete, because any program may create the file. A folder with this
 * file but without `job.json` contains a job that is done and is being removed.
 */
export async function isDone(folder: string): Promise<boolean> {
  if (!(await isThere(fileOf.done(folder)))) return false;
  const handle = await open(folder);
  if (handle === null) return true;
  const file = specFile(folder);
  return inFile(
    file,
    endsComplete(handle).finally(() => closeFile(handle)),
  );
}

async function endsComplete(handle: OpenFile): Promise<boolean> {
  const { size } = await handle.stat();
  const end = new Uint8Array(Math.min(END, size));
  await readFully(handle, end, size - end.length);
  return COMPLETE.test(new TextDecoder().decode(end));
}

/** Marks a job's output as complete. */
export async function markComplete(folder: string): Promise<void> {
  const { O_APPEND, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_WRONLY } = fs.constants;
  // With these flags, a missing file is not created and a link is not followed.
  const flags = O_APPEND | O_WRONLY | O_NOFOLLOW | O_NONBLOCK;
  try {
    await withFile(specFile(folder), flags, async (handle) => {
      await handle.writeFile("\n");
      // The mark is synced, so that after a crash, an array without a claim is either complete or untouched by the job.
      await handle.datasync();
    });
  } catch (error) {
    if (!isCode(error, "ENOENT")) throw error;
  }
}

/** The texts of small files, and the identity of each file, by path; the last used last. */
const kept = new Map<string, { readonly identity: string; readonly text: string }>();

/**
 * Reads a file that says which job owns a folder or an array like `findText`, but opens an unchanged file only once.
 * Tasks ask this before each file that they publish, and on a network file system, each opening would take a round trip.
 *
 * A file counts as unchanged if it has the same device, inode, size and exact times. An inode may be used again for a
 * later file, but not with an earlier time of change, and not while a run has the old file open. If a network file
 * system still reports a removed file, the link or rename that follows fails, because its source was removed with the
 * file's folder.
 */
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
