/** Runs tasks of any jobs in this thread, one after the other. */

import { TensorError } from "../errors.ts";
import { LEAST_UPDATES, leastOf } from "./budget.ts";
import type { JobContext } from "./context.ts";
import { openContext, type StageName } from "./job.ts";
import { runTask } from "./tasks.ts";
import { Workspace } from "./workspace.ts";

/** Jobs whose arrays stay open. */
const MOST_JOBS = 4;

export class Runner {
  readonly #share: number;
  readonly #workspace = new Workspace();
  readonly #jobs = new Map<string, Promise<JobContext>>();
  #last: Promise<void> = Promise.resolve();

  /** @param share bytes that tasks may use */
  constructor(share: number) {
    this.#share = share;
  }

  run(folder: string, stage: StageName, task: number): Promise<void> {
    const result = this.#last.then(() => this.#run(folder, stage, task));
    this.#last = result.catch(() => {});
    return result;
  }

  async #run(folder: string, stage: StageName, task: number): Promise<void> {
    const job = await this.#open(folder);
    const allowance = this.#share - leastOf(job.data, job.resolved) + LEAST_UPDATES;
    if (allowance < LEAST_UPDATES) {
      const sentence =
        "a chunk does not fit in the memory of a thread; allow more, or fewer threads";
      throw new TensorError("too-large", sentence);
    }
    await runTask(job, stage, task, { workspace: this.#workspace, allowance });
  }

  #open(folder: string): Promise<JobContext> {
    const jobs = this.#jobs;
    const known = jobs.get(folder);
    if (known !== undefined) return known;
    for (const old of [...jobs.keys()].slice(0, jobs.size + 1 - MOST_JOBS)) jobs.delete(old);
    const job = openContext(folder);
    jobs.set(folder, job);
    job.catch(() => jobs.delete(folder));
    return job;
  }
}
