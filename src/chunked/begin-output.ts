/** The output of a job before its first task: the new array, out of sight, or the array that is changed in place. */

import * as fs from "node:fs/promises";
import * as path from "node:path";
import type { ArrayType } from "../arrays/array.ts";
import { isUrl } from "../arrays/file.ts";
import { TensorError } from "../errors.ts";
import { resolveCall } from "./call-spec.ts";
import { claim, claimOf, isClaimed } from "./claim.ts";
import { fileOf } from "./context.ts";
import { FOLDERS, isThere } from "./job.ts";
import { createOutput, openLocated, openOutput, partOf } from "./open-arrays.ts";
import type { JobSpec } from "./spec.ts";

/**
 * Makes the output where it is not there yet. Called again, it goes on with what is there.
 * @throws TensorError `attribute` where another job has the array, or the output of this one is gone
 */
export async function beginOutput(folder: string, spec: JobSpec): Promise<void> {
  if (await isOurs(spec)) return;
  if (await hasMarks(folder, spec)) {
    // The job may have ended between the last two steps of its last stage.
    if (!spec.inPlace && (await isPublished(spec))) return;
    const sentence =
      `chunks of ${spec.out.path} are done, says ${folder}, but what they were written to is gone; ` +
      "remove the folder to begin again";
    throw new TensorError("attribute", sentence);
  }
  if (!isUrl(spec.out.path) && spec.out.format === "zarr") await claim(claimOf(spec));
  if (!spec.inPlace) await createNew(spec);
}

/** Whether the output was begun by this job, and is not published. */
async function isOurs(spec: JobSpec): Promise<boolean> {
  const { out, inPlace } = spec;
  if (out.format === "npy") return isThere(partOf(spec));
  if (!isUrl(out.path) && !(await isClaimed(claimOf(spec)))) return false;
  return (
    inPlace ||
    openOutput(spec).then(
      () => true,
      () => false,
    )
  );
}

const isPublished = ({ out }: JobSpec): Promise<boolean> =>
  isThere(out.format === "npy" ? out.path : path.join(out.path, "zarr.json"));

/** Whether a task has written to the output. */
async function hasMarks(folder: string, { updates }: JobSpec): Promise<boolean> {
  const stage = updates === undefined ? FOLDERS.place : FOLDERS.apply;
  return (await fs.readdir(fileOf.stage(folder, stage))).some((name) => /^\d+$/.test(name));
}

async function createNew(spec: JobSpec): Promise<void> {
  const { call, out } = spec;
  const data = await openLocated(spec.data);
  const indices = await openLocated(spec.indices);
  const updates = spec.updates && (await openLocated(spec.updates));
  const { shape } = resolveCall(call, { data, indices, updates });
  const type: ArrayType = { dtype: data.dtype, shape, chunkShape: out.chunkShape ?? shape };
  await createOutput(spec, type, data);
}
