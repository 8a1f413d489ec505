/**
 * Records the time and memory that a job's tasks took, for comparison with the plan. Each task creates an empty file
 * named `<id>.<stage>.<task>.<bytes read>.<bytes written>.<milliseconds>.<megabytes>`, so that no file needs to be
 * read. The results of a job never depend on these names, because any program may write or remove them. A task that ran
 * twice is counted once.
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

/** The name of the folder with the records, within the job's folder. */
export const TOOK = "took";

/** Totals over tasks. */
export interface Took {
  /** The number of recorded tasks. */
  readonly tasks: number;
  /** The number of stored bytes. */
  readonly read: number;
  readonly written: number;
  /** The total duration of all tasks on all threads, in s. */
  readonly seconds: number;
  /** The maximum memory of a process, in bytes, measured at the end of each task. */
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
 * Returns the totals of all tasks so far; for a finished job, the totals that its last task recorded; or null without
 * records.
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
  /** The records, by stage and task. */
  const found = new Map<string, readonly number[]>();
  for (const name of names) {
    const [, own, stage = "", task, ...sizes] = NAME.exec(name) ?? [];
    if (own !== id || Number(task) >= (tasks.get(stage) ?? 0)) continue;
    const took = sizes.map(Number);
    const before = found.get(`${stage} ${Number(task)}`);
    // If several runs recorded the same task, the record with the most bytes counts, because a late run has little work
    // to do.
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

/** Parses the text of the file `done`, or returns null for other text. */
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
