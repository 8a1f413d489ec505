/**
 * Jobs in memory: folders whose tasks have the effects of real ones. A task of partition sorts a block of updates by chunk;
 * one of apply adds, in the order of the blocks, what they have for its chunk, as float32, where each order has its own bits.
 */

import type { Job, Stage, StageName } from "../../../../src/arrays/chunked/job/job.ts";
import type { Core } from "../../../../src/arrays/distributed/core.ts";
import { replaced } from "../../../../src/arrays/chunked/job/owner.ts";
import { TensorError } from "../../../../src/core/errors.ts";
import type { Random } from "../../../support/random.ts";
import type { Process, World } from "./world.ts";

/** Which tasks fail, and how. */
export type Trouble =
  | { readonly kind: "bad-index" }
  | { readonly kind: "damaged"; readonly stage: StageName; readonly task: number }
  /** Fails on its first so many runs, as by a full disk. */
  | {
      readonly kind: "machine";
      readonly stage: StageName;
      readonly task: number;
      readonly runs: number;
      left: number;
    };

/** What a job in memory does when its tasks run; what it did is what is checked. */
export class ModelJob {
  readonly folder: string;
  readonly id: string;
  readonly stages: readonly Stage[];
  readonly trouble: Trouble | null;
  readonly #updates: readonly (readonly number[])[];
  readonly #chunks: number;
  /** When each task was done, by `stage task`. */
  readonly done = new Map<string, number>();
  readonly #fragments = new Map<number, readonly number[][]>();
  readonly #sums = new Map<number, number>();
  output: readonly number[] | null = null;
  isRemoved = false;
  /** The stage and the time of the last task that began. */
  lastBegun = -1;
  /** What went wrong, in the order in which it did. */
  readonly faults: string[] = [];

  constructor(folder: string, id: string, random: Random, trouble: Trouble | null) {
    this.folder = folder;
    this.id = id;
    const [blocks, chunks] = [1 + random(6), 1 + random(8)];
    this.#chunks = chunks;
    this.#updates = Array.from({ length: blocks }, () =>
      Array.from({ length: 6 }, () => random(1e9) / 7),
    );
    this.stages = [
      { name: "partition", tasks: blocks },
      { name: "apply", tasks: chunks },
      { name: "finish", tasks: 1 },
    ];
    this.trouble = trouble;
  }

  get isDone(): boolean {
    return this.output !== null;
  }

  /** Whether the output has the bits of a loop over all updates. */
  isRight(): boolean {
    const sums = new Float32Array(this.#chunks);
    for (const block of this.#updates)
      for (const update of block) sums[this.#chunkOf(update)] += update;
    return this.output !== null && this.output.every((sum, chunk) => sum === sums[chunk]);
  }

  #chunkOf(update: number): number {
    return Math.floor(update) % this.#chunks;
  }

  remaining(stage: StageName, at: number): number[] {
    const tasks = this.stages.find(({ name }) => name === stage)?.tasks ?? 0;
    const all = Array.from({ length: tasks }, (_, task) => task);
    return all.filter((task) => (this.done.get(`${stage} ${task}`) ?? Infinity) > at);
  }

  failure(): TensorError | null {
    const isKnown = this.remaining("partition", Infinity).length === 0;
    return this.trouble?.kind === "bad-index" && isKnown && !this.isDone
      ? new TensorError("index-out-of-range", `${this.id} has a bad index`, {
          input: "indices",
          axis: 0,
          got: 1,
          size: 1,
          expected: [-1, 0],
        })
      : null;
  }

  /** The first half of a task: what it reads. @returns the second half, what it writes */
  begin(stage: StageName, task: number, now: number, listingAge: number): (() => void) | null {
    if (this.done.has(`${stage} ${task}`)) return null;
    this.lastBegun = now;
    const failure = stage === "partition" ? null : this.failure();
    if (failure !== null) throw failure;
    const { trouble } = this;
    if (trouble?.kind === "damaged" && trouble.stage === stage && trouble.task === task)
      throw new TensorError("malformed-file", `chunk ${task} of ${this.id} is damaged`);
    if (trouble?.kind === "machine" && trouble.stage === stage && trouble.task === task)
      if (trouble.left-- > 0) throw new Error("no space left on device");
    if (stage === "partition") {
      const fragments = Array.from({ length: this.#chunks }, (_, chunk) =>
        (this.#updates[task] as number[]).filter((update) => this.#chunkOf(update) === chunk),
      );
      return () => void this.#fragments.set(task, fragments);
    }
    const before = stage === "apply" ? "partition" : "apply";
    // The last task looks at a listing, which may be old; the others open what they need.
    const left = this.remaining(before, stage === "finish" ? now - listingAge : Infinity).length;
    if (stage === "finish") {
      if (left > 0) throw new TensorError("engine", `${left} of its apply tasks are not done`);
      const output = Array.from(
        { length: this.#chunks },
        (_, chunk) => this.#sums.get(chunk) ?? NaN,
      );
      return () => void (this.output = output);
    }
    if (left > 0) this.faults.push(`${stage} ${task} began while ${left} of ${before} were left`);
    const sum = new Float32Array(1);
    for (let block = 0; block < this.#updates.length; block++)
      for (const update of this.#fragments.get(block)?.[task] ?? []) sum[0] += update;
    return () => void this.#sums.set(task, sum[0] as number);
  }
}

/** The folders that all processes share. */
export class Folders {
  readonly jobs = new Map<string, ModelJob>();

  remove(folder: string): void {
    const job = this.jobs.get(folder);
    if (job !== undefined) job.isRemoved = true;
    this.jobs.delete(folder);
  }
}

/** A core for one process of the world. */
export function modelCore(world: World, folders: Folders, process: Process, longest: number): Core {
  const act = <T>(body: () => T): Promise<T> => world.act(process, 20, body);
  const isBlind = (): boolean => process.blindUntil > world.now;
  const find = (folder: string): ModelJob | undefined =>
    isBlind() ? undefined : folders.jobs.get(folder);
  const open = (folder: string): ModelJob => {
    const job = find(folder);
    if (job !== undefined) return job;
    throw new TensorError(
      "malformed-file",
      `${folder} must be a job's folder, but has no job.json; ndscatter job list finds jobs`,
    );
  };
  /** As the real core: a folder that is gone has no files of tasks, one that holds another job is an error. */
  const listed = ({ folder, id }: Job): ModelJob | null => {
    const job = find(folder);
    if (job === undefined || job.id === id) return job ?? null;
    throw new TensorError("engine", replaced(folder, id, job.id));
  };
  const run = async (
    folder: string,
    stage: StageName,
    task: number,
    signal?: AbortSignal,
    id?: string,
  ): Promise<void> => {
    const { job, write } = await act(() => {
      signal?.throwIfAborted();
      const opened = open(folder);
      if (id !== undefined && opened.id !== id)
        throw new TensorError("attribute", replaced(folder, id, opened.id), { key: "folder" });
      world.tell(`${process.name} begins ${stage} ${task} of ${opened.id}`);
      return { job: opened, write: opened.begin(stage, task, world.now, process.listingAge) };
    });
    if (write === null) return;
    await world.act(process, longest, () => {
      if (folders.jobs.get(folder) !== job)
        throw new TensorError("engine", `job ${job.id} was removed`);
      write();
      if (!job.done.has(`${stage} ${task}`)) job.done.set(`${stage} ${task}`, world.now);
      world.tell(`${process.name} ends ${stage} ${task} of ${job.id}`);
    });
  };
  return {
    version: process.version,
    openJob: (folder) =>
      act(() => {
        const { id, stages } = open(folder);
        return { folder, id, stages };
      }),
    isSeen: () => act(() => !isBlind()),
    remainingTasks: (job, stage) =>
      act(() => {
        const found = listed(job);
        if (found?.isDone === true) return [];
        const tasks = job.stages.find(({ name }) => name === stage)?.tasks ?? 0;
        return (
          found?.remaining(stage, world.now - process.listingAge) ??
          Array.from({ length: tasks }, (_, task) => task)
        );
      }),
    jobFailure: (job) => act(() => listed(job)?.failure() ?? null),
    startPool: () => ({ run, end: async () => {} }),
  };
}
