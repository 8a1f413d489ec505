/** Runs a job locally or in queue workers, or generates a Slurm script. */

import { printCount } from "../../core/foreign.ts";
import * as path from "node:path";
import { openJob, runJob, slurmScript, type SlurmOptions } from "../../entries/chunked.ts";
import type { SubmitProgress } from "../../entries/bullmq.ts";
import { CLI } from "../../core/limits.ts";
import { wrongData } from "../failure.ts";
import { printNote, type Io } from "../io.ts";
import type { JobReport } from "./job-report.ts";
import { ProgressLine } from "../text/progress.ts";

export interface LocalRun {
  /** Memory limit for all tasks, in bytes. */
  readonly memory?: number;
  readonly threads?: number;
}

export interface RedisRun {
  /** The Redis server URL. */
  readonly redis: string;
  readonly queue?: string | undefined;
  readonly attempts?: number | undefined;
}

/** Runs a job in this process. Throws a `Failure` if a signal stops the job. */
export async function runHere(
  io: Io,
  folder: string,
  { memory, threads = io.threads }: LocalRun,
  report: JobReport,
): Promise<void> {
  const controller = new AbortController();
  const release = io.onInterrupt(() => controller.abort());
  try {
    const { signal } = controller;
    await runJob(folder, {
      memory,
      threads,
      signal,
      onProgress: (one) => report.show(one),
      onNote: (sentence) => {
        report.end();
        void printNote(io, sentence);
      },
    });
  } catch (error) {
    if (!controller.signal.aborted) throw error;
    const place = path.relative(io.cwd, folder) || folder;
    const sentence = `stopped; the finished tasks are kept in ${place}; run the same command again to continue`;
    throw wrongData(sentence, error);
  } finally {
    release();
    report.end();
  }
}

/**
 * Submits a job to a queue and shows its progress until the job is done. Throws a `Failure` if a signal stops the
 * command, which also withdraws the job from the queue.
 */
export async function runWithRedis(
  io: Io,
  folder: string,
  { redis, queue, attempts }: RedisRun,
): Promise<void> {
  const { submitJob } = await import("../../entries/bullmq.ts");
  const line = new ProgressLine(io.stderr);
  const show = printer(io, line);
  const controller = new AbortController();
  const release = io.onInterrupt(() => controller.abort());
  try {
    await submitJob(path.resolve(io.cwd, folder), {
      connection: redis,
      ...(queue !== undefined && { queue }),
      ...(attempts !== undefined && { attempts }),
      from: io.cwd,
      signal: controller.signal,
      onProgress: show,
      onNote: (sentence) => {
        line.clear();
        void printNote(io, sentence);
      },
    });
  } catch (error) {
    if (!controller.signal.aborted) throw error;
    throw wrongData(
      `stopped, and the job was removed from the queue; run the same command again to finish the job in ${folder}`,
      error,
    );
  } finally {
    release();
    line.clear();
  }
}

/** Prints a job's progress. A terminal shows a single updating line; other outputs get a new line at intervals. */
function printer({ stderr }: Io, line: ProgressLine): (progress: SubmitProgress) => void {
  let printedAt = -Infinity;
  let printed = "";
  return (progress) => {
    const text = printProgress(progress);
    if (stderr.isTTY) return line.show(() => text);
    const isDue = performance.now() - printedAt >= CLI.lines;
    if (!isDue || text === printed) return;
    printedAt = performance.now();
    printed = text;
    void stderr.write(`${text}\n`);
  };
}

function printProgress({ stage, done, tasks, workers }: SubmitProgress): string {
  const far = `${stage}: ${done} of ${printCount(tasks, "task")}`;
  if (workers === null) return far;
  return workers === 0
    ? `${far}, waiting for a worker (ndscatter job worker)`
    : `${far}, ${printCount(workers, "worker")}`;
}

/**
 * Prints a script that submits the job to Slurm. `options` specifies the memory and threads for each element of a Slurm
 * job array.
 */
export async function printSlurm(
  io: Io,
  folder: string,
  options: SlurmOptions = {},
): Promise<void> {
  const job = await openJob(path.resolve(io.cwd, folder));
  await io.stdout.write(await slurmScript(job, options));
}
