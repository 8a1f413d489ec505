/**
 * Runs jobs in BullMQ. All tasks of a stage depend on all tasks of the previous stage, which a tree of BullMQ jobs
 * cannot express. Therefore a single BullMQ job, the root, adds the tasks of a stage as children, waits for them, and
 * then continues with the next stage. The root reads the remaining tasks from the folder, so it may run any number of
 * times.
 */

import { createHash } from "node:crypto";
import type { Job, StageName } from "../chunked/job/job.ts";
import { replaced } from "../chunked/job/owner.ts";
import { isTensorError, type ErrorCode } from "../../core/errors.ts";
import { DISTRIBUTED } from "../../core/limits.ts";
import type { Clock } from "./clock.ts";
import { currentStage, finalFailure, type Core } from "./core.ts";
import type { JobQueue, QueuedJob, RedisClient } from "./packages.ts";
import { inParts, printNumbers } from "./ranges.ts";

/** The name of the root in dashboards. BullMQ jobs with tasks have the name of their stage. */
export const ROOT = "job";

export interface RootData {
  readonly folder: string;
  /** The id of the job, because the folder may later contain another job. */
  readonly id: string;
  /** The submitter's version of ndscatter. */
  readonly version: string;
  readonly attempts: number;
  /** The minimum number of tasks per BullMQ job. */
  readonly tasksPerJob: number;
  /** The last stage whose tasks were added, and how often they were added. */
  readonly stage?: StageName;
  readonly round?: number;
  /** The error code of the failure. The message of the failure is in the job's `failedReason`. */
  readonly code?: ErrorCode;
}

export interface TaskData {
  readonly folder: string;
  /** The id of the job, because the folder may later contain another job. */
  readonly id: string;
  readonly version: string;
  /** An identifier of the root that added the tasks. */
  readonly run: string;
  readonly stage: StageName;
  /** A list of task numbers, such as `0-3,7`. */
  readonly tasks: string;
  readonly code?: ErrorCode;
}

const isText = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= MOST_TEXT && !value.includes("\0");

/** The maximum length of a text; any path and any list of 10,000 task numbers is shorter. */
const MOST_TEXT = 2 ** 18;

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 1;

/** Checks a queue entry, which any program with access to Redis may have written. */
export function isEntry({ name, data }: Pick<QueuedJob, "name" | "data">): boolean {
  const { folder, id, run, attempts, tasksPerJob, stage, round, tasks } = (data ?? {}) as Partial<
    Record<string, unknown>
  >;
  if (!isText(folder) || !isText(id)) return false;
  if (name !== ROOT) return isText(run) && isText(stage) && isText(tasks);
  return (
    isCount(attempts) &&
    isCount(tasksPerJob) &&
    (stage === undefined || isText(stage)) &&
    (round === undefined || isCount(round))
  );
}

/**
 * Returns the id of the root of a job. The id depends only on the folder, so that all submitters share the root. An id
 * in BullMQ must not contain a colon or be a number.
 */
export const rootId = ({ id, folder }: Job): string =>
  `nd-${createHash("sha256").update(`${id}\0${folder}`).digest("hex").slice(0, 24)}`;

/**
 * Returns text that identifies a particular root. If a job is submitted again, the new root has the same id but a
 * different time.
 */
export const runOf = ({ id, timestamp }: QueuedJob): string => `${id}-${timestamp.toString(36)}`;

/** Returns the Redis key that marks a root as withdrawn, so that no further tasks of this root begin. */
export const takenBack = (run: string): string => `ndscatter:taken-back:${run}`;

/** Returns true if the submitter has withdrawn the root. */
export const isTakenBack = async (client: RedisClient, run: string): Promise<boolean> =>
  (await client.get(takenBack(run))) !== null;

/**
 * The number of attempts for the last task. The last task checks the files of all other tasks, so its attempts continue
 * for 63 s, until listings are up to date.
 */
const FINISH_ATTEMPTS = 7;

/** The maximum number of times that a stage's tasks may report success without leaving marks in the folder. */
const MOST_ROUNDS = 12;

/** The waits before repeated listings, in ms, because listings on NFS may be outdated. */
const LISTING_AGES = [0, 100, 400, 1500, 4000];

/** The reason why a root ends without a result. */
export interface RootFailure {
  readonly sentence: string;
  readonly code: ErrorCode;
}

/** The state of a root after a step: done, failed, or waiting for its children. */
export type RootStep = "done" | "waiting" | RootFailure;

/** Dependencies of a root. */
export interface StepParts {
  readonly core: Core;
  readonly queue: JobQueue;
  readonly client: RedisClient;
  readonly clock: Clock;
}

/** Performs a step of the root: adds the tasks of the next stage, and makes the root wait for these tasks. */
export async function stepRoot(
  { core, queue, client, clock }: StepParts,
  root: QueuedJob,
  token: string,
): Promise<RootStep> {
  const { folder, id } = root.data as RootData;
  const job = await core.openJob(folder);
  if (job.id !== id) return { sentence: replaced(folder, id, job.id), code: "engine" };
  for (;;) {
    // Each iteration handles one stage, in order.
    /* oxlint-disable no-await-in-loop */
    const failure = await childFailure(queue, root);
    if (failure !== null) {
      await root.removeUnprocessedChildren();
      return failure;
    }
    // The result is false if no child is pending, either because none was added or because all have finished.
    if (await root.moveToWaitingChildren(token)) return "waiting";
    // If another submitter is waiting for the job, it will submit the job again.
    if (await isTakenBack(client, runOf(root))) return "done";
    const next = await nextTasks(core, clock, job, root.data as RootData);
    if (next === null) return "done";
    if ("sentence" in next) return next;
    if (next.round > MOST_ROUNDS) return lostTasks(job, next);
    // The withdrawal is checked again, because finding the tasks may have taken seconds.
    if (await isTakenBack(client, runOf(root))) return "done";
    const { stage, round, remaining } = next;
    await root.updateData({ ...(root.data as RootData), stage, round });
    await addTasks(queue, root, stage, remaining);
    await root.updateProgress({ stage, tasks: remaining.length });
    /* oxlint-enable no-await-in-loop */
  }
}

interface NextTasks {
  readonly stage: StageName;
  /** The number of times that tasks of this stage have been added, including this step. */
  readonly round: number;
  readonly remaining: readonly number[];
}

async function nextTasks(
  core: Core,
  clock: Clock,
  job: Job,
  { stage: before, round = 0 }: RootData,
): Promise<NextTasks | RootFailure | null> {
  for (const age of LISTING_AGES) {
    // oxlint-disable-next-line no-await-in-loop
    await clock.sleep(age);
    // oxlint-disable-next-line no-await-in-loop
    const current = await currentStage(core, job);
    if (current === null) return null;
    const { stage, remaining } = current;
    if (stage.name === before && age !== LISTING_AGES.at(-1)) continue;
    // oxlint-disable-next-line no-await-in-loop
    const error = await finalFailure(core, job, current);
    if (error !== null) return { sentence: error.message, code: error.code };
    return { stage: stage.name, round: stage.name === before ? round + 1 : 1, remaining };
  }
  return null;
}

async function childFailure(queue: JobQueue, root: QueuedJob): Promise<RootFailure | null> {
  const [first] = Object.entries(await root.getIgnoredChildrenFailures());
  if (first === undefined) return null;
  const [key, reason] = first;
  const child = await queue.getJob(key.slice(key.lastIndexOf(":") + 1));
  const { code = "engine", stage, tasks } = (child?.data ?? {}) as Partial<TaskData>;
  // BullMQ fails a job with this message after the job has killed several workers.
  const sentence = reason.startsWith("job stalled")
    ? `tasks ${tasks} of ${stage} ended every worker that ran them, perhaps because memory was exhausted`
    : reason;
  return { sentence, code };
}

const lostTasks = ({ folder }: Job, { stage, remaining }: NextTasks): RootFailure => ({
  code: "engine",
  sentence:
    `tasks ${printNumbers(remaining.slice(0, 10))} of ${stage} were run, but ${folder} does not show it; ` +
    "check that all workers see the same folder",
});

async function addTasks(
  queue: JobQueue,
  root: QueuedJob,
  stage: StageName,
  remaining: readonly number[],
): Promise<void> {
  const { folder, id, version, attempts, tasksPerJob } = root.data as RootData;
  const run = runOf(root);
  const length = Math.max(tasksPerJob, Math.ceil(remaining.length / DISTRIBUTED.jobs));
  const jobs = inParts(remaining, length).map((part) => ({
    name: stage,
    data: { folder, id, version, run, stage, tasks: printNumbers(part) } satisfies TaskData,
    opts: {
      // The id is fixed, so that a repeated step adds each child only once. The id contains the root's time, because
      // children of an earlier root may still be queued.
      jobId: `${run}-${stage}-${part[0]}-${part.at(-1)}`,
      parent: { id: root.id, queue: root.queueQualifiedName },
      // If a child fails, the root continues immediately and reports the child's error.
      continueParentOnFailure: true,
      attempts: stage === "finish" ? Math.max(attempts, FINISH_ATTEMPTS) : attempts,
      backoff: { type: "exponential", delay: DISTRIBUTED.backoff, jitter: 0.5 },
      removeOnComplete: true,
      removeOnFail: { age: 7 * 24 * 3600, count: 1000 },
    },
  }));
  const { batch } = DISTRIBUTED;
  for (let first = 0; first < jobs.length; first += batch) {
    // The loop sends one queue command at a time.
    // oxlint-disable-next-line no-await-in-loop
    await queue.addBulk(jobs.slice(first, first + batch));
  }
}

/**
 * Returns true for errors of the machine, which another attempt may avoid. Errors about the contents of a file would
 * recur.
 */
export const isWorthRetry = (error: unknown): boolean =>
  !isTensorError(error) || error.code === "engine";
