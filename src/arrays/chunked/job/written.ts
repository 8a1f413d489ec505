/** Checks that the chunks of a new array are complete, just before the array becomes visible. */

import { malformed, type TensorError } from "../../../core/errors.ts";
import { chunksOfTask, fileOf, type JobContext } from "../stages/context.ts";
import { inGroups } from "../stages/fragments.ts";
import { readSizes, unmark } from "../stages/marks.ts";
import { chunksOfBlock } from "../stages/place.ts";
import { damagedChunk, isPublished } from "../stages/publish.ts";
import { FOLDERS, listTasks } from "./job.ts";
import type { StageName } from "./spec.ts";

/** Returns the stage that writes the chunks of a job's output. */
const writingStage = ({ isGather }: Pick<JobContext, "isGather">): Exclude<StageName, "finish"> =>
  isGather ? "place" : "apply";

/**
 * Removes the marks of tasks whose chunks are missing or have another size, so that these tasks run again. An array
 * that is already visible is not checked. For a change in place, the function finishes the work of interrupted runs
 * instead. Returns the error for the first damaged chunk of a new array, or null if all chunks are complete. Throws a
 * `malformed-file` error for a damaged chunk of an array that is changed in place.
 */
export async function forgetDamaged(job: JobContext): Promise<TensorError | null> {
  const { folder, out, spec } = job;
  const stage = writingStage(job);
  const done = [...(await listTasks(folder, stage)).done.keys()];
  if (spec.inPlace) await inGroups(done, (task) => isPublished(job, task));
  if (spec.inPlace || !("isPending" in out) || !(await out.isPending())) return null;
  const failures: TensorError[] = [];
  for (const task of done) {
    // oxlint-disable-next-line no-await-in-loop -- the chunks of a task are examined at once
    const failure = await damageOf(job, stage, task);
    if (failure === null) continue;
    failures.push(failure);
    // oxlint-disable-next-line no-await-in-loop
    await unmark(job, FOLDERS[stage], task);
  }
  return failures[0] ?? null;
}

async function damageOf(
  job: JobContext,
  stage: Exclude<StageName, "finish">,
  task: number,
): Promise<TensorError | null> {
  const chunks =
    stage === "place"
      ? chunksOfBlock(job, task)
      : chunksOfTask(job, task).map((chunk) => job.chunks.at(chunk));
  const marker = fileOf.task(job, FOLDERS[stage], task);
  const sizes = await readSizes(marker, chunks.length);
  if (sizes === null)
    return malformed(
      `${marker} must have a line for each chunk that its task wrote, but is damaged; run the task again ` +
        `(ndscatter job resume ${job.folder})`,
      { file: marker },
    );
  const failures = await inGroups(chunks, async (at, i) => {
    const { [i]: size } = sizes;
    const found = size === null ? null : await job.out.storedSize(at);
    return size === null || found === size ? null : damagedChunk(job, at, found, size);
  });
  return failures.find((one) => one !== null) ?? null;
}
