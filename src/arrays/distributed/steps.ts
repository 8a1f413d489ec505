/**
 * A job as BullMQ runs it. Every task of a stage needs all tasks of the stage before, which no tree of jobs can say. So
 * one job, the root, adds the tasks of a stage as its children, waits for them, and is then called again for the next
 * stage. It asks the folder what remains, so it may run any number of times.
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

/** The names of jobs, as dashboards show them. Those of tasks are the names of stages. */
export const ROOT = "job";

export interface RootData {
  readonly folder: string;
  /** Of the job, because the folder may hold another one later. */
  readonly id: string;
  /** That of whoever submitted the job. */
  readonly version: string;
  /** How often a task is tried. */
  readonly attempts: number;
  /** How many tasks a job of the queue has at least. */
  readonly tasksPerJob: number;
  /** The stage whose tasks were added last, and how often. */
  readonly stage?: StageName;
  readonly round?: number;
  /** Why it failed. The sentence is its `failedReason`. */
  readonly code?: ErrorCode;
}

export interface TaskData {
  readonly folder: string;
  /** Of the job, because the folder may hold another one later. */
  readonly id: string;
  readonly version: string;
  /** Names the root that added the tasks. */
  readonly run: string;
  readonly stage: StageName;
  /** Such as `0-3,7`. */
  readonly tasks: string;
  readonly code?: ErrorCode;
}

const isText = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= MOST_TEXT && !value.includes("\0");

/** Longer than any path, and than the numbers of 10,000 tasks. */
const MOST_TEXT = 2 ** 18;

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 1;

/** Checks an entry of the queue, which anybody may have written who can reach Redis. */
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
 * The id of a job's root: the same for everyone who submits the folder, so that they share one. Ids hold no colon, and
 * are no numbers.
 */
export const rootId = ({ id, folder }: Job): string =>
  `nd-${createHash("sha256").update(`${id}\0${folder}`).digest("hex").slice(0, 24)}`;

/** Names a root. Whoever submits the job again gets a root of the same id, but of another time. */
export const runOf = ({ id, timestamp }: QueuedJob): string => `${id}-${timestamp.toString(36)}`;

/** A key that Redis has for a root that was taken back: of such a root no task begins any more. */
export const takenBack = (run: string): string => `ndscatter:taken-back:${run}`;

/** Whether whoever waited for a root has taken it back. */
export const isTakenBack = async (client: RedisClient, run: string): Promise<boolean> =>
  (await client.get(takenBack(run))) !== null;

/** The last task looks at what all others have done, so it is tried until a listing cannot be old: 63 seconds. */
const FINISH_ATTEMPTS = 7;

/** How often tasks of one stage may claim to be done while the folder does not show it. */
const MOST_ROUNDS = 12;

/** What a folder on NFS shows may be so many milliseconds old. */
const LISTING_AGES = [0, 100, 400, 1500, 4000];

/** Why a root ends without a result. */
export interface RootFailure {
  readonly sentence: string;
  readonly code: ErrorCode;
}

/** What the root does next: it is done, it has failed, or it waits for its children. */
export type RootStep = "done" | "waiting" | RootFailure;

/** What a root works with. */
export interface StepParts {
  readonly core: Core;
  readonly queue: JobQueue;
  readonly client: RedisClient;
  readonly clock: Clock;
}

/** One call of the root: adds the tasks of the next stage and has the root wait for them. */
export async function stepRoot(
  { core, queue, client, clock }: StepParts,
  root: QueuedJob,
  token: string,
): Promise<RootStep> {
  const { folder, id } = root.data as RootData;
  const job = await core.openJob(folder);
  if (job.id !== id) return { sentence: replaced(folder, id, job.id), code: "engine" };
  for (;;) {
    // Each pass is a stage, and the stages follow one another.
    /* oxlint-disable no-await-in-loop */
    const failure = await childFailure(queue, root);
    if (failure !== null) {
      await root.removeUnprocessedChildren();
      return failure;
    }
    // False where no child is pending: none was added, or all were done before the root could wait.
    if (await root.moveToWaitingChildren(token)) return "waiting";
    // Whoever waits for the job all the same submits it again.
    if (await isTakenBack(client, runOf(root))) return "done";
    const next = await nextTasks(core, clock, job, root.data as RootData);
    if (next === null) return "done";
    if ("sentence" in next) return next;
    if (next.round > MOST_ROUNDS) return lostTasks(job, next);
    // That took seconds where the listing was old.
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
  /** How often tasks of this stage were added, with this time. */
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
  // BullMQ's own words for a job that took one worker after the other with it.
  const sentence = reason.startsWith("job stalled")
    ? `tasks ${tasks} of ${stage} ended every worker that ran them, perhaps for want of memory`
    : reason;
  return { sentence, code };
}

const lostTasks = ({ folder }: Job, { stage, remaining }: NextTasks): RootFailure => ({
  code: "engine",
  sentence:
    `tasks ${printNumbers(remaining.slice(0, 10))} of ${stage} were run, but ${folder} does not show it; ` +
    "do all workers see the same folder?",
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
      // Fixed, so that a root that is called twice adds each once. The time is that of the root: what an earlier root
      // left in the queue must not be taken for a child of this one.
      jobId: `${run}-${stage}-${part[0]}-${part.at(-1)}`,
      parent: { id: root.id, queue: root.queueQualifiedName },
      // The root is called at once, and says what the child said.
      continueParentOnFailure: true,
      attempts: stage === "finish" ? Math.max(attempts, FINISH_ATTEMPTS) : attempts,
      backoff: { type: "exponential", delay: DISTRIBUTED.backoff, jitter: 0.5 },
      removeOnComplete: true,
      removeOnFail: { age: 7 * 24 * 3600, count: 1000 },
    },
  }));
  const { batch } = DISTRIBUTED;
  for (let first = 0; first < jobs.length; first += batch) {
    // A command at a time.
    // oxlint-disable-next-line no-await-in-loop
    await queue.addBulk(jobs.slice(first, first + batch));
  }
}

/** Errors that another attempt may not meet: those of the machine. What is wrong in a file stays wrong. */
export const isWorthRetry = (error: unknown): boolean =>
  !isTensorError(error) || error.code === "engine";
