/**
 * Runs tasks of different jobs in this thread, one at a time. A task may belong to any stage, and may have been done
 * before.
 */

import { isThere, isCode, isUrl, placeError } from "../../boxes/file.ts";
import { factOf } from "../../../core/foreign.ts";
import { TensorError } from "../../../core/errors.ts";
import { applyTask } from "../stages/apply.ts";
import { checkLead } from "../stages/check.ts";
import { fileOf, FOLDERS } from "../stages/task-files.ts";
import type { JobContext } from "../stages/context.ts";
import { cleanUpDone, finish } from "../job/finish.ts";
import { isBadIndex, jobFailure, jobOf, listTasks, writeBad, openContext } from "../job/job.ts";
import type { StageName, JobSpec } from "../job/spec.ts";
import { mergeTask } from "../stages/merge.ts";
import { partition } from "../stages/partition.ts";
import { placeBlock } from "../stages/place.ts";
import { checkOwner, checkStaging } from "../job/claim.ts";
import { isDone, checkId, readSpec } from "../job/spec-file.ts";
import {
  mark,
  checkSeen,
  checkStill,
  noteSeen,
  seenFile,
  type SeenStage,
} from "../stages/marks.ts";
import { Workspace } from "../stages/workspace.ts";
import { printMemory } from "../stages/budget.ts";
import { CHUNKED } from "../../../core/limits.ts";
import { DiskWatch, freeSpaceOf, type FreeSpace } from "../job/disk.ts";
import { checkFolderIn, checkJobIn, guardOf, type Roots } from "../job/roots.ts";

interface OpenJob {
  readonly folder: string;
  readonly spec: JobSpec;
  readonly context: Promise<JobContext>;
}

export class Runner {
  readonly #share: number;
  readonly #roots: Roots | null;
  readonly #workspace = new Workspace();
  /** The open jobs, by id. The key is the id, because the folder may later contain another job. */
  readonly #jobs = new Map<string, OpenJob>();
  readonly #disks: DiskWatch;
  /** The job of the last task. */
  #job: JobContext | null = null;
  #last: Promise<void> = Promise.resolve();

  /**
   * `share` is the memory per task, in bytes.
   * Tasks may access only the folders and addresses in `roots`, or any if `roots` is null. `opened` is a job whose
   * arrays are open.
   */
  constructor(
    share: number,
    roots: Roots | null,
    freeOf: FreeSpace = freeSpaceOf,
    opened?: JobContext,
  ) {
    this.#disks = new DiskWatch(freeOf);
    this.#share = share;
    this.#roots = roots;
    if (opened === undefined) return;
    const { folder, spec } = opened;
    this.#jobs.set(spec.id, { folder, spec, context: Promise.resolve(opened) });
  }

  /** `id` is the expected id of the job, and another job in the folder is refused. */
  run(folder: string, stage: StageName, task: number, id?: string): Promise<void> {
    const result = this.#last
      .then(() => this.#run(folder, stage, task, id))
      .catch(async (error: unknown) => {
        // Another process may have removed the job during the task.
        if (isCode(error, "ENOENT")) await readSpec(folder);
        throw placeError(error);
      });
    this.#last = result.catch(() => {});
    return result;
  }

  async #run(folder: string, stage: StageName, task: number, id?: string): Promise<void> {
    const job = await this.#open(folder, id);
    // Updates that are kept for another job would add to the memory of this job's tasks.
    if (this.#job !== null && this.#job !== job) this.#job.few.kept = null;
    this.#job = job;
    const { sizes, held, needed, block } = job.needs;
    if (this.#share < needed) {
      const [own, all] = [Math.max(0, this.#share), needed];
      const sentence =
        `a task of ${folder} takes ${printMemory(all, Math.ceil)} of memory, but each thread has ${printMemory(own)}; ` +
        "allow more memory or fewer threads";
      throw new TensorError("too-large", sentence);
    }
    // Every task begins with an empty workspace, because buffers of earlier tasks would add to its memory.
    this.#workspace.clear();
    const allowance = this.#share - sizes.chunk - held;
    const reading = this.#share - block - held;
    if (stage !== "finish") await this.#disks.check(job);
    await runTask(job, stage, task, { workspace: this.#workspace, allowance, reading });
  }

  async #open(folder: string, id?: string): Promise<JobContext> {
    const jobs = this.#jobs;
    if (this.#roots !== null) await checkFolderIn(this.#roots, folder);
    const spec = await readSpec(folder);
    // The paths are checked again, because links may have changed since the last task.
    if (this.#roots !== null) await checkJobIn(this.#roots, folder, spec);
    checkId(folder, spec.id, id);
    if (spec.out.format === "zarr" && !isUrl(spec.out.path)) await checkStaging(spec.out.path);
    const known = jobs.get(spec.id);
    // If `job.json` has changed, the arrays are opened again, because their locations must be checked again.
    if (known?.folder === folder && known.spec === spec) return known.context;
    const surplus = Math.max(0, jobs.size + 1 - CHUNKED.jobs);
    for (const old of [...jobs.keys()].slice(0, surplus)) jobs.delete(old);
    const guard = this.#roots === null ? undefined : guardOf(this.#roots);
    const context = openContext(folder, spec, { guard });
    jobs.set(spec.id, { folder, spec, context });
    context.catch(() => jobs.delete(spec.id));
    return context;
  }
}

/** The memory that a task may use. */
export interface TaskMemory {
  readonly workspace: Workspace;
  /** The maximum number of update bytes in memory at once, in addition to a chunk. */
  readonly allowance: number;
  /** The maximum memory for reading indices and updates, in bytes, in addition to one chunk of each array. */
  readonly reading?: number;
}

/** Throws the error of the job's first bad index, if this error prevents the stage, or a file system error. */
export async function runTask(
  job: JobContext,
  stage: StageName,
  task: number,
  memory: TaskMemory,
): Promise<void> {
  const known = job.spec.stages.find(({ name }) => name === stage);
  if (known === undefined || !(Number.isSafeInteger(task) && task >= 0 && task < known.tasks)) {
    throw new TensorError("attribute", `the stage ${stage} of the job has no task ${task}`, {
      key: "task",
      got: factOf(task),
      limit: known === undefined ? undefined : known.tasks - 1,
    });
  }
  if (await isDone(job.folder)) return cleanUpDone(job.folder, job.spec);
  try {
    await (stage === "finish" ? finish(job) : runOne(job, stage, task, memory));
  } catch (error) {
    // Another run did this task first, and the job has since ended and removed its folders.
    if (!(await isDone(job.folder))) throw error;
    return cleanUpDone(job.folder, job.spec);
  }
}

async function runOne(
  job: JobContext,
  stage: Exclude<StageName, "finish">,
  task: number,
  { workspace, allowance, reading = 0 }: TaskMemory,
): Promise<void> {
  const file = fileOf.task(job, FOLDERS[stage], task);
  // A run may have been interrupted after it wrote the mark of a task that changes chunks in place.
  const leavesMore = stage === "apply" && !job.isGather;
  if (!leavesMore && ((await isThere(file)) || (await isThere(`${file}.bad`)))) return;
  if (stage === "check") return runCheck(job, task, workspace);
  if (stage === "apply" || stage === "merge") {
    const failure = await jobFailure(jobOf(job));
    if (failure !== null) throw failure;
  }
  try {
    if (stage === "place") return await placeBlock(job, task, workspace);
    if (stage === "merge")
      return await mergeTask(job, task, workspace, allowance, () => checkOwner(job));
    const check = await lookBefore(job, stage, task);
    if (stage === "partition") await runPartition(job, task, workspace, reading, check);
    else await applyTask(job, task, workspace, allowance, check);
  } catch (error) {
    // Another run did this task first, so nothing remains to be done.
    if (job.spec.inPlace && stage === "apply") throw error;
    if (!(await isThere(file))) throw error;
  }
}

/**
 * Records the state of a task's inputs before the task reads them. Returns a function that checks after reading whether
 * the state is unchanged.
 */
async function lookBefore(
  job: JobContext,
  stage: SeenStage,
  task: number,
): Promise<() => Promise<void>> {
  // For a change in place, chunks are compared individually instead.
  const isRead = stage === "partition" || !job.spec.inPlace;
  const isDone = await isThere(fileOf.task(job, FOLDERS[stage], task));
  // A task whose file was lost must read unchanged inputs, because later tasks have already used its file.
  const hasRun = isRead && !isDone && (await isThere(seenFile(job, stage, task)));
  if (hasRun && (await isUsed(job, stage))) await checkSeen(job, stage, [task]);
  const seen = isRead && !isDone ? await noteSeen(job, stage, task) : {};
  return async () => {
    await checkOwner(job);
    await checkStill(job, stage, task, seen);
  };
}

/** Returns true if a task of a stage that uses the files of this stage is done. */
async function isUsed(job: JobContext, stage: SeenStage): Promise<boolean> {
  const next = stage === "partition" ? (["merge", "apply"] as const) : (["place"] as const);
  const lists = await Promise.all(next.map((one) => listTasks(job.folder, one)));
  return lists.some(({ done }) => done.size > 0);
}

async function runPartition(
  job: JobContext,
  block: number,
  memory: Workspace,
  reading: number,
  check: () => Promise<void>,
): Promise<void> {
  try {
    await partition(job, block, memory, reading, check);
  } catch (error) {
    if (!isBadIndex(error)) throw error;
    await check();
    await writeBad(job, "partition", block, { block, position: 0, error });
  }
}

async function runCheck(job: JobContext, lead: number, memory: Workspace): Promise<void> {
  const repeat = await checkLead(job, lead, memory);
  if (repeat === null) await mark(job, FOLDERS.check, lead);
  else await writeBad(job, "check", lead, repeat);
}
