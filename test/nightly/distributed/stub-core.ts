/**
 * Jobs that only write files: what the engines are tested with alone. A task writes `<stage>/<number>`, appends a line to
 * `runs`, and waits; `job.json` says for how long, and which tasks fail.
 */

import * as fs from "node:fs";
import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Job, Stage, StageName } from "../../../src/arrays/chunked/job/job.ts";
import { packageVersion } from "../../../src/arrays/chunked/job/package-version.ts";
import type { Core } from "../../../src/arrays/distributed/core.ts";
import { TensorError } from "../../../src/core/errors.ts";

export interface StubJob {
  readonly id: string;
  readonly stages: readonly Stage[];
  /** How long a task takes. */
  readonly milliseconds: number;
  /** A task that always fails, as by a full disk. */
  readonly failing?: { readonly stage: StageName; readonly task: number };
  /** A task that finds that its input is damaged. */
  readonly damaged?: { readonly stage: StageName; readonly task: number };
  /** The error that ends the job after its first stage. */
  readonly badIndex?: string;
}

const read = (folder: string): StubJob =>
  JSON.parse(fs.readFileSync(path.join(folder, "job.json"), "utf8")) as StubJob;

export function writeStubJob(folder: string, job: StubJob): string {
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, "job.json"), JSON.stringify(job));
  for (const { name } of job.stages) fs.mkdirSync(path.join(folder, name), { recursive: true });
  return folder;
}

/** Which tasks ran, as `apply 3`, in the order in which they began. */
export const stubRuns = (folder: string): string[] => {
  const file = path.join(folder, "runs");
  return fs.existsSync(file) ? fs.readFileSync(file, "utf8").trim().split("\n") : [];
};

const beginningOf = (folder: string, pid: number): string => path.join(folder, `begun-${pid}`);

/** Whether a process has begun a task that is not done. */
export function isInTask(folder: string, pid: number): boolean {
  const file = beginningOf(folder, pid);
  if (!fs.existsSync(file)) return false;
  const task = fs.readFileSync(file, "utf8");
  return task !== "" && !fs.existsSync(path.join(folder, task));
}

function remaining({ folder, stages }: Job, stage: StageName): number[] {
  const done = new Set(fs.readdirSync(path.join(folder, stage)));
  const { tasks = 0 } = stages.find(({ name }) => name === stage) ?? {};
  return Array.from({ length: tasks }, (_, task) => task).filter((task) => !done.has(`${task}`));
}

async function runTask(
  folder: string,
  stage: StageName,
  task: number,
  signal?: AbortSignal,
): Promise<void> {
  const job = read(folder);
  const file = path.join(folder, stage, `${task}`);
  if (fs.existsSync(file)) return;
  const before = job.stages.slice(
    0,
    job.stages.findIndex(({ name }) => name === stage),
  );
  for (const { name } of before) {
    const early = remaining({ ...job, folder }, name);
    if (early.length > 0)
      throw new TensorError("shape-mismatch", `${stage} began before ${name}`, {
        key: "stage",
      });
  }
  fs.appendFileSync(path.join(folder, "runs"), `${stage} ${task}\n`);
  fs.writeFileSync(beginningOf(folder, process.pid), path.join(stage, `${task}`));
  await sleep(job.milliseconds, undefined, signal === undefined ? {} : { signal });
  const is = (place?: { stage: StageName; task: number }): boolean =>
    place?.stage === stage && place.task === task;
  if (is(job.failing)) throw new Error("no space left on device");
  if (is(job.damaged)) throw new TensorError("malformed-file", `chunk ${task} is damaged`);
  const temp = path.join(folder, `temp-${stage}-${task}-${process.pid}`);
  fs.writeFileSync(temp, `${stage} ${task}\n`);
  fs.renameSync(temp, file);
}

export const STUB_CORE: Core = {
  version: packageVersion(),
  openJob: (folder) => {
    const { id, stages } = read(folder);
    return Promise.resolve({ folder, id, stages });
  },
  isSeen: (folder) => Promise.resolve(fs.existsSync(folder)),
  remainingTasks: (job, stage) => Promise.resolve(remaining(job, stage)),
  jobFailure: (job) => {
    const { badIndex, stages } = read(job.folder);
    const [first] = stages;
    const isKnown = first !== undefined && remaining(job, first.name).length === 0;
    return Promise.resolve(
      badIndex !== undefined && isKnown
        ? new TensorError("index-out-of-range", badIndex, {
            input: "indices",
            axis: 0,
            got: 1,
            size: 1,
            expected: [-1, 0],
          })
        : null,
    );
  },
  startPool: () => ({ run: runTask, end: () => Promise.resolve() }),
};
