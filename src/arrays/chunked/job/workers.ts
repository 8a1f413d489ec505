/**
 * Reads records of the processes that work on a job, which renew their records in the job's folder. The results of a
 * job never depend on these records, because any program may write or remove them. A record that is not renewed is
 * ignored.
 */

import { constants } from "node:fs";
import * as fs from "node:fs/promises";
import * as path from "node:path";
import { CHUNKED } from "../../../core/limits.ts";
import { checkJob } from "./arguments.ts";
import { WORKERS, type Job } from "./job.ts";

/** The kind of process: a run of the job, a queue worker, `job task`, or `job task` in a Slurm array element. */
export type Taker = "run" | "queue" | "task" | `slurm ${string}`;

/** A process that works on a job. */
export interface JobWorkerFacts {
  readonly host: string;
  readonly process: number;
  readonly by: Taker;
  readonly threads: number;
  /** The number of finished tasks. */
  readonly done: number;
  /** The time since the process began to work on this job, in s. */
  readonly seconds: number;
  /** The number of tasks per second, or null before the first task is done. */
  readonly rate: number | null;
  /**
   * The time since the last record, in s, which may be inexact if the clocks of this machine and the file system
   * differ.
   */
  readonly age: number;
}

/** The contents of a record. */
export interface WorkerRecord extends Pick<
  JobWorkerFacts,
  "host" | "process" | "by" | "threads" | "done" | "seconds"
> {
  /** The job's id. */
  readonly job: string;
}

const MOST_RECORDS = 1000;
const MOST_BYTES = 1000;
const NAME = /^[\w.-]{1,100}-\d{1,10}-[\da-f]{6}$/;

/**
 * Returns the processes that have renewed their record within the last minute, sorted by host and process.
 *
 * @param job a job from `openJob`
 * @throws file system errors
 *
 * @example
 * ```ts
 * await createJob(request); // the request of createJob
 * console.log(await workersOf(await openJob("job"))); // []
 * ```
 */
export async function workersOf(job: Job): Promise<JobWorkerFacts[]> {
  checkJob(job);
  return readRecords(job, await recordNames(job));
}

/** Returns true if several processes have renewed their record within the last minute. */
export async function hasSeveralWorkers(job: Job): Promise<boolean> {
  const names = await recordNames(job);
  return names.length > 1 && (await readRecords(job, names)).length > 1;
}

async function recordNames({ folder }: Job): Promise<string[]> {
  const found: string[] = [];
  for (const name of await fs.readdir(path.join(folder, WORKERS)).catch(() => []))
    if (NAME.test(name) && found.length < MOST_RECORDS) found.push(name);
  return found;
}

async function readRecords(job: Job, names: readonly string[]): Promise<JobWorkerFacts[]> {
  const place = path.join(job.folder, WORKERS);
  const found: JobWorkerFacts[] = [];
  for (const name of names) {
    // oxlint-disable-next-line no-await-in-loop -- a few small files
    const read = await readRecord(path.join(place, name)).catch(() => null);
    if (read === null || read.record.job !== job.id) continue;
    const { host, process, by, threads, done, seconds } = read.record;
    const rate = done === 0 || seconds === 0 ? null : done / seconds;
    found.push({ host, process, by, threads, done, seconds, rate, age: read.age });
  }
  return found.sort((a, b) => (a.host < b.host ? -1 : a.host > b.host ? 1 : a.process - b.process));
}

async function readRecord(file: string): Promise<{ record: WorkerRecord; age: number } | null> {
  // With these flags, a link is not followed, and opening a pipe does not wait.
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const handle = await fs.open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stat = await handle.stat();
    const age = (Date.now() - stat.mtimeMs) / 1000;
    // Inaccurate clocks do not explain a larger difference.
    if (!stat.isFile() || stat.size > MOST_BYTES || Math.abs(age) > CHUNKED.stale / 1000)
      return null;
    const record: unknown = JSON.parse(await handle.readFile("utf8"));
    return isRecord(record) ? { record, age: Math.max(0, age) } : null;
  } finally {
    await handle.close();
  }
}

function isRecord(value: unknown): value is WorkerRecord {
  const { job, host, process, by, threads, done, seconds } = (value ?? {}) as Record<
    string,
    unknown
  >;
  return (
    typeof job === "string" &&
    typeof host === "string" &&
    /^[\w.-]{1,100}$/.test(host) &&
    typeof by === "string" &&
    /^(?:run|queue|task|slurm \d{1,20}(?:_\d{1,20})?)$/.test(by) &&
    [process, threads, done].every((count) => Number.isSafeInteger(count) && Number(count) >= 0) &&
    typeof seconds === "number" &&
    seconds >= 0
  );
}
