/** Implements `ndscatter job worker`, which runs tasks from a job queue until the user stops the worker. */

import { printCount } from "../../core/foreign.ts";
import { once } from "node:events";
import * as os from "node:os";
import * as path from "node:path";
import type { Command } from "commander";
import type { JobWorker, TasksDone } from "../../entries/bullmq.ts";
import { wrongUsage } from "../failure.ts";
import { isUrl } from "../input/places.ts";
import { untilInterrupted, type Io } from "../io.ts";
import { noteBeside } from "./job-run.ts";
import { ProgressLine } from "../text/progress.ts";
import { DEFAULT_MEMORY, memoryOption, wholeOption } from "../input/numbers.ts";

interface WorkerCommand {
  readonly redis?: string;
  readonly queue?: string;
  readonly threads?: number;
  readonly memory?: number;
  readonly root: readonly string[];
}

const HELP = `
Submit jobs with ndscatter run ... --job FOLDER --redis URL. A worker must see
the folder and the arrays under the same paths as the submitting command, and
needs the packages bullmq and ioredis (npm install bullmq ioredis). Without
--redis the URL is read from the environment variable NDSCATTER_REDIS, which
hides a password from other users of the machine.

Anyone who can write to the queue can submit jobs, so a worker needs --root if
Redis is on another machine. The worker refuses jobs whose folder or arrays are
outside the folders of --root, also if links lead outside.

SIGTERM or Ctrl-C stops the worker when its running tasks are finished; after 20
seconds the worker returns them to the queue. A second signal stops the worker
immediately. No work is lost: another worker notices within 10 seconds and runs
the tasks again.

Examples:
  ndscatter job worker --redis redis://queue:6379 --root /shared/jobs
  ndscatter job worker --redis redis://queue:6379 --root /shared --memory 8G`;

/** Milliseconds that running tasks get to finish after a stop request. Service managers wait at least 30 seconds. */
const PATIENCE = 20_000;

export function addJobWorker(job: Command, io: Io): void {
  job
    .command("worker")
    .summary("run the tasks of jobs in a Redis queue")
    .description("Run tasks of the jobs in a queue until a signal stops the worker.")
    .option("--redis <url>", "the URL of the queue's Redis, such as redis://host:6379")
    .option(
      "--root <folder>",
      "a folder, or an address such as s3://bucket/prefix, in which jobs and their arrays are accepted; " +
        "repeatable (required unless Redis is on this machine)",
      (root: string, roots: readonly string[]) => [...roots, root],
      [],
    )
    .option("--queue <name>", "the queue's name (default: ndscatter)")
    .addOption(
      wholeOption(
        "--threads <count>",
        "the number of tasks that run at once (default: one per core)",
        1,
      ),
    )
    .addOption(memoryOption("the memory for all threads together (default: 1G)"))
    .addHelpText("after", HELP)
    .action((options: WorkerCommand) => runWorker(io, options));
}

/**
 * Returns the queue's Redis URL, from --redis or the environment variable NDSCATTER_REDIS. Throws a `Failure` if
 * neither is set.
 */
export function redisOf({ env }: Io, typed: string | true | undefined): string {
  const url = typeof typed === "string" ? typed : env["NDSCATTER_REDIS"];
  if (url !== undefined && url !== "") return url;
  const what = typed === true ? "--redis has no URL" : "--redis is missing";
  throw wrongUsage(`${what}, and NDSCATTER_REDIS is not set; give the URL of Redis in one of them`);
}

async function runWorker(io: Io, options: WorkerCommand): Promise<void> {
  const redis = redisOf(io, options.redis);
  // BullMQ is imported on demand, because the module is large and rarely used.
  const { createWorker } = await import("../../entries/bullmq.ts");
  const { threads = os.availableParallelism(), memory = DEFAULT_MEMORY } = options;
  const { queue = "ndscatter", root } = options;
  const roots = root.map((one) => (isUrl(one) ? one : path.resolve(io.cwd, one)));
  const report = reportOf(io);
  const worker: JobWorker = await createWorker({
    connection: redis,
    queue,
    threads,
    memory,
    ...(roots.length > 0 && { roots }),
    from: io.cwd,
    onDone: report.done,
    onNote: report.note,
  });
  await untilInterrupted(io, "stopped", async (signal) => {
    const stopped = once(signal, "abort");
    await report.say(`waiting for tasks of queue ${queue}, ${printCount(threads, "thread")}`);
    await stopped;
    await report.say("stopping when the running tasks are finished");
  }).finally(() => worker.close(PATIENCE));
  await report.end();
}

/** Prints a worker's output. A terminal shows a single updating line; other outputs get a line per range of tasks. */
function reportOf(io: Io) {
  const line = new ProgressLine(io.stderr);
  let ranges = 0;
  const say = async (text: string): Promise<void> => {
    line.clear();
    await io.stderr.write(`ndscatter: ${text}\n`);
  };
  return {
    done({ folder, stage, tasks, seconds }: TasksDone): void {
      ranges++;
      const text = `${stage} ${tasks} of ${folder} in ${seconds.toFixed(2)} s`;
      if (io.stderr.isTTY) line.showNow(`${ranges} done, last ${text}`);
      else void io.stdout.write(`${text}\n`);
    },
    note: noteBeside(io, line),
    say,
    end: (): Promise<void> => say(`ended after ${printCount(ranges, "range")} of tasks`),
  };
}
