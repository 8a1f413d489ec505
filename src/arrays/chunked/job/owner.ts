/** Checks that a job still has its folder and its output: another job may have taken them over. */

import { isUrl } from "../../boxes/file.ts";
import { TensorError } from "../../../core/errors.ts";
import { readClaim } from "./claim.ts";
import type { JobContext } from "../stages/context.ts";
import { findSpec } from "./spec-file.ts";

/**
 * Checks that a folder does not hold another job. After a job was removed, its folder may hold a new one, and neither a
 * late task nor a program that waits must mistake the new job for the old. A folder without a job passes: it has no folders
 * of stages, so tasks fail there anyway.
 * @throws TensorError `engine` where another job is in the folder
 */
export async function checkFolder({ folder, id }: { folder: string; id: string }): Promise<void> {
  const found = await findSpec(folder);
  if (found === null || found.id === id) return;
  throw new TensorError("engine", replaced(folder, id, found.id));
}

/** The sentence for a job that was removed, and whose folder holds another one now. */
export const replaced = (folder: string, id: string, found: string): string =>
  `job ${id} was removed, and ${folder} holds job ${found} now`;

/**
 * Checks the owner of the folder and the output before a task gives its file the final name. The task made its file inside
 * this folder, so a job that takes over the folder after this check does not get the file.
 * @throws TensorError `engine` where another job has the folder or the output
 */
export async function checkOwner({ folder, spec: { id, out } }: JobContext): Promise<void> {
  await checkFolder({ folder, id });
  if (out.format !== "zarr" || isUrl(out.path)) return;
  const claim = await readClaim(out.path);
  if (claim === null || claim.id === id) return;
  const sentence = `job ${id} no longer has ${out.path}, which job ${claim.id} has now`;
  throw new TensorError("engine", sentence);
}
