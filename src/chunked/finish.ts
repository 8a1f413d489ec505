/** The last stage, of one task: makes the output visible and takes away what the job does not need any more. */

import * as fs from "node:fs/promises";
import { TensorError } from "../errors.ts";
import { fileOf, type JobContext } from "./context.ts";
import { FOLDERS, jobFailure, jobOf, remainingTasks } from "./job.ts";

/** @throws TensorError of the job's first bad index; `malformed-file` where tasks are not done */
export async function finish(job: JobContext): Promise<void> {
  const { folder, out, spec } = job;
  const listed = jobOf(job);
  const failure = await jobFailure(listed);
  if (failure !== null) throw failure;
  for (const { name } of listed.stages) {
    if (name === "finish") continue;
    const { length: left } = await remainingTasks(listed, name);
    if (left === 0) continue;
    const sentence = `the job in ${folder} cannot be finished: ${left} of its ${name} tasks are not done`;
    throw new TensorError("malformed-file", sentence);
  }
  if (!spec.inPlace && "publish" in out) await out.publish();
  await out.endStaging();
  await fs.writeFile(fileOf.done(folder), "");
  for (const stage of Object.values(FOLDERS)) {
    await fs.rm(fileOf.stage(folder, stage), { recursive: true, force: true });
  }
}
