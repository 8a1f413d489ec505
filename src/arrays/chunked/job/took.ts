/**
 * Records what a job's tasks took, for comparison with the plan. Each task that has done work leaves an empty file
 * named `<id>.<stage>.<task>.<bytes read>.<bytes written>.<milliseconds>.<megabytes>` in a folder of the job, so no
 * file needs to be read. Nothing relies on these names, because anyone may write them and some may be missing. A task
 * that ran twice counts once.
 */

import * as fs from "node:fs/promises";
import * as path from "node:path";
import { findText, isCode } from "../../boxes/file.ts";
import { files } from "../../boxes/files.ts";
import type { Traffic } from "../../boxes/traffic.ts";
import { fileOf } from "../stages/context.ts";
import type { Job } from "./job.ts";
import { isDone } from "./spec-file.ts";
import type { StageName } from "./spec.ts";

/** Name of the folder, within the job's folder, that holds the records. */
export const TOOK = "took";

/** Totals over tasks. */
export interface Took {
  /** The number of recorded tasks. */
  readonly tasks: number;
  /** Number of stored bytes. */
  readonly read: number;
  readonly written: number;
  /** Duration summed over all tasks on all threads, in s. */
  readonly seconds: number;
  /** Maximum memory of a process, in bytes, measured at the end of each task. */
  readonly memory: number;
}

/** The costs of one task. */
export interface TaskTook extends Traffic {
  readonly milliseconds: number;
  readonly memory: number;
}

const MEGABYTE = 2 ** 20;

/** Records a finished task. Errors are ignored. */
export async function noteTook(
  { folder, id }: Pick<Job, "folder" | "id">,
  stage: StageName,
  task: number,
  { read, written, milliseconds, memory }: TaskTook,
): Promise<void> {
  const sizes = [read, written, milliseconds, memory / MEGABYTE].map(Math.ceil);
  const file = path.join(folder, TOOK, [id, stage, task, ...sizes].join("."));
  await files.writeFile(file, "", { flag: "wx" }).catch(() => {});
}

/**
 * Returns the totals of the tasks so far, or for a finished job, the totals that its last task recorded; null without
 * any record.
 */
export async function tookOf(job: Job): Promise<Took | null> {
  if (await isDone(job.folder)) {
    const done = await findText(fileOf.done(job.folder)).catch(() => null);
    return done === null ? null : parseTook(done);
  }
  const names = await fs.readdir(path.join(job.folder, TOOK)).catch((error: unknown) => {
    if (isCode(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  });
  return names.length === 0 ? null : sumTook(job, names);
}

const NAME =
  /^([\da-f]{8,64})\.(partition|check|apply|place)\.(\d{1,8})\.(\d{1,15})\.(\d{1,15})\.(\d{1,12})\.(\d{1,9})$/;

function sumTook({ id, stages }: Job, names: readonly string[]): Took {
  const tasks = new Map(stages.map((stage) => [stage.name as string, stage.tasks]));
  /** Records by stage and task. */
  const found = new Map<string, readonly number[]>();
  for (const name of names) {
    const [, own, stage = "", task, ...sizes] = NAME.exec(name) ?? [];
    if (own !== id || Number(task) >= (tasks.get(stage) ?? 0)) continue;
    const took = sizes.map(Number);
    const before = found.get(`${stage} ${Number(task)}`);
    // If several runs recorded the task, the run that moved the most bytes counts, because the others may have found
    // part of the work done.
    if (before === undefined || before[0] + before[1] < took[0] + took[1])
      found.set(`${stage} ${Number(task)}`, took);
  }
  const sum = { tasks: found.size, read: 0, written: 0, seconds: 0, memory: 0 };
  for (const [read, written, milliseconds, megabytes] of found.values()) {
    sum.read += read;
    sum.written += written;
    sum.seconds += milliseconds / 1000;
    sum.memory = Math.max(sum.memory, megabytes * MEGABYTE);
  }
  return sum;
}

/** Returns the text of the file `done`. */
export const printTook = (took: Took | null): string =>
  took === null ? "" : `${JSON.stringify({ took })}\n`;

/** Parses the text of the file `done`; returns null if it has another form. */
function parseTook(text: string): Took | null {
  try {
    const { took } = JSON.parse(text) as { readonly took?: Record<string, unknown> };
    const { tasks, read, written, seconds, memory } = took ?? {};
    const values = [tasks, read, written, seconds, memory];
    if (!values.every((one) => typeof one === "number" && one >= 0 && Number.isFinite(one)))
      return null;
    return { tasks, read, written, seconds, memory } as Took;
  } catch {
    return null;
  }
}
