/** Checks that a job still owns its folder and its output, which a later job may have taken over. */

import { isUrl } from "../../boxes/file.ts";
import { TensorError } from "../../../core/errors.ts";
import { readClaim } from "./claim.ts";
import type { JobContext } from "../stages/context.ts";
import { findSpec } from "./spec-file.ts";

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
