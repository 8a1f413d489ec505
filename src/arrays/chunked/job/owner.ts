/** Checks that a job still owns its folder and its output, because another job may have replaced it. */

import { isUrl } from "../../boxes/file.ts";
import { TensorError } from "../../../core/errors.ts";
import { readClaim } from "./claim.ts";
import type { JobContext } from "../stages/context.ts";
import { findSpec } from "./spec-file.ts";

/**
 * Checks that a folder does not hold another job. A removed job's folder may later hold a new job, and a late task or a
 * waiting program must not confuse the two jobs. A folder without a job passes the check, because it has no stage
 * folders, so tasks in it fail anyway. Throws an `engine` error if the folder holds another job.
 */
export async function checkFolder({ folder, id }: { folder: string; id: string }): Promise<void> {
  const found = await findSpec(folder);
  if (found === null || found.id === id) return;
  throw new TensorError("engine", replaced(folder, id, found.id), {
    file: folder,
    got: found.id,
    expected: id,
  });
}

/** Returns the message for a job that was removed and whose folder holds another job. */
export const replaced = (folder: string, id: string, found: string): string =>
  `job ${id} was removed, and ${folder} now holds job ${found}; begin the removed job again in another folder`;

/**
 * Checks the owner of the folder and the output before a task renames its file to the final name. The task's file is
 * inside the folder, so a job that replaces the folder after this check does not receive the file. Throws an `engine`
 * error if another job owns the folder or the output.
 */
export async function checkOwner({ folder, spec: { id, out } }: JobContext): Promise<void> {
  await checkFolder({ folder, id });
  if (out.format !== "zarr" || isUrl(out.path)) return;
  const claim = await readClaim(out.path);
  if (claim === null || claim.id === id) return;
  const sentence = `job ${id} no longer owns ${out.path}, which now belongs to job ${claim.id}`;
  throw new TensorError("engine", sentence);
}
