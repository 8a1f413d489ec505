/** Runs tasks of different jobs in this thread, one at a time. */

import { printMemory } from "../stages/budget.ts";
import { TensorError } from "../../../core/errors.ts";
import { isCode, isUrl, placeError } from "../../boxes/file.ts";
import { checkStaging } from "../job/claim.ts";
import { needsOf, type JobContext } from "../stages/context.ts";
import { CHUNKED } from "../../../core/limits.ts";
import { DiskWatch, freeSpaceOf, type FreeSpace } from "../job/disk.ts";
import { openContext, type StageName } from "../job/job.ts";
import { checkId } from "../job/owner.ts";
import { checkFolderIn, checkJobIn, guardOf, type Roots } from "../job/roots.ts";
import { readSpec } from "../job/spec-file.ts";
import type { JobSpec } from "../job/spec.ts";
import { runTask } from "./tasks.ts";
import { Workspace } from "../stages/workspace.ts";

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
    const { sizes, held, needed, block } = needsOf(job);
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
