/**
 * Writes and reads records of the processes that work on a job, which renew their records in the job's folder. The
 * results of a job never depend on these records, because any program may write or remove them. A record that is not
 * renewed is ignored.
 */

import * as fs from "node:fs/promises";
import * as path from "node:path";
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { inFile } from "../../boxes/file.ts";
import { CHUNKED } from "../../../core/limits.ts";
import { checkJob, WORKERS, type Job } from "./job.ts";
import { HOST } from "./temporary.ts";
import { checkFolderIn, type Roots } from "./roots.ts";

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

interface Work {
  readonly folder: string;
  readonly id: string;
  readonly begin: number;
  done: number;
  running: number;
  /** True if a task has run since the last record was written. */
  isNew: boolean;
}

/** Records in each job's folder that this process is working on the job. */
export class Presence {
  readonly #by: Taker;
  readonly #threads: number;
  readonly #roots: Roots | null;
  readonly #name = `${HOST}-${process.pid}-${randomBytes(3).toString("hex")}`;
  readonly #works = new Map<string, Work>();
  #timer: NodeJS.Timeout | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(by: Taker, threads: number, roots: Roots | null) {
    this.#by = by;
    this.#threads = threads;
    this.#roots = roots;
  }

  /**
   * Runs a task and records it. Without the job's id, nothing is recorded, because the record could be attributed to
   * another job.
   */
  async during(folder: string, id: string | undefined, run: () => Promise<void>): Promise<void> {
    if (id === undefined) return run();
    const work = this.#workOn(folder, id);
    work.running++;
    work.isNew = true;
    try {
      await run();
      work.done++;
    } finally {
      work.running--;
    }
  }

  #workOn(folder: string, id: string): Work {
    const key = `${id} ${folder}`;
    const work = this.#works.get(key) ?? {
      folder,
      id,
      begin: performance.now(),
      done: 0,
      running: 0,
      isNew: true,
    };
    if (!this.#works.has(key))
      this.#last = this.#last.then(() => this.#write(work)).catch(() => {});
    this.#works.set(key, work);
    // The timer does not keep the process alive.
    this.#timer ??= setInterval(() => {
      this.#last = this.#last.then(() => this.#renew());
    }, CHUNKED.record).unref();
    return work;
  }

  async #renew(): Promise<void> {
    for (const [key, work] of this.#works) {
      const isOver = work.running === 0 && !work.isNew;
      work.isNew = false;
      if (isOver) this.#works.delete(key);
      // Errors in writing a record are ignored.
      await (isOver ? this.#remove(work) : this.#write(work)).catch(() => {});
    }
    if (this.#works.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #write({ folder, id, begin, done }: Work): Promise<void> {
    if (this.#roots !== null) await checkFolderIn(this.#roots, folder);
    const place = path.join(folder, WORKERS);
    // The check prevents writing through a link, or into the folder of a finished job.
    if (!(await fs.lstat(place)).isDirectory()) return;
    const seconds = Math.round(performance.now() - begin) / 1000;
    const record: WorkerRecord = {
      job: id,
      host: HOST,
      process: process.pid,
      by: this.#by,
      threads: this.#threads,
      done,
      seconds,
    };
    const { O_CREAT, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants;
    const flags = O_CREAT | O_NOFOLLOW | O_TRUNC | O_WRONLY;
    const file = path.join(place, this.#name);
    // The record is renamed into place, so that readers never see an incomplete record.
    await inFile(file, fs.writeFile(`${file}.tmp`, JSON.stringify(record), { flag: flags }));
    await fs.rename(`${file}.tmp`, file);
  }

  async #remove({ folder }: Work): Promise<void> {
    await fs.rm(path.join(folder, WORKERS, this.#name), { force: true });
  }

  /** Removes this process's records. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    await this.#last;
    for (const work of this.#works.values()) {
      await this.#remove(work).catch(() => {});
    }
    this.#works.clear();
  }
}
