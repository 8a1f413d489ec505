/**
 * A scenario: jobs, workers and submitters in a simulated world, whose faults are drawn by a seed. Faults stop after a while;
 * from then on each job must end, with its bits or with the error that it was given.
 */

import type { Core } from "../../../../src/arrays/distributed/core.ts";
import { submit } from "../../../../src/arrays/distributed/submit.ts";
import { startWorker, type JobWorker } from "../../../../src/arrays/distributed/worker.ts";
import type { StageName } from "../../../../src/arrays/chunked/job/job.ts";
import { replaced } from "../../../../src/arrays/chunked/job/owner.ts";
import { isTensorError } from "../../../../src/core/errors.ts";
import { setLimits } from "../../../support/limits.ts";
import { surroundingsOf, type Server } from "./bullmq.ts";
import { Folders, ModelJob, modelCore, type Trouble } from "./jobs.ts";
import { FakeRedis } from "./redis.ts";
import { Process, World } from "./world.ts";

const CONNECTION = "redis://127.0.0.1:6379";

interface Submitter {
  /** The job that the folder had when it was opened. */
  job: ModelJob;
  readonly process: Process;
  readonly controller: AbortController;
  readonly notes: string[];
  abortedAt: number | null;
  /** Undefined while it waits, null for a job that is done. */
  outcome: unknown;
  settledAt: number | null;
}

/** What nobody waits for any more. */
interface Quiet {
  readonly since: number;
  /** Entries that workers had at that moment. Of each one task may begin, whose worker has asked just before. */
  readonly excused: Map<string, number>;
}

export interface Report {
  readonly seed: number;
  readonly steps: number;
  /** What must not be; empty where all is well. */
  readonly faults: readonly string[];
  readonly story: readonly string[];
  /** How often each kind of fault came, and how jobs ended. */
  readonly counts: ReadonlyMap<string, number>;
}

/** Virtual milliseconds after which a job that nothing disturbs must have ended. */
const PATIENCE = 20 * 60_000;

export async function simulate(seed: number): Promise<Report> {
  const scenario = new Scenario(seed);
  const { world } = scenario;
  const restore = setLimits({
    DISTRIBUTED: {
      period: world.pick([200, 1000]),
      jobs: world.pick([1, 3, 10_000]),
      batch: world.pick([1, 2, 500]),
    },
  });
  try {
    await scenario.run();
  } finally {
    restore();
  }
  const { faults, counts } = scenario;
  return { seed, steps: world.steps, faults, story: world.story, counts };
}

class Scenario {
  readonly world: World;
  readonly faults: string[] = [];
  readonly counts = new Map<string, number>();
  readonly #folders = new Folders();
  readonly #server: Server;
  readonly #jobs: ModelJob[] = [];
  readonly #workers: { readonly process: Process; worker: JobWorker | null }[] = [];
  readonly #submitters: Submitter[] = [];
  readonly #quiet = new Map<ModelJob, Quiet>();
  readonly #longest: number;
  readonly #begun = new Map<string, number>();
  #names = 0;
  #isHealed = false;
  /** When Redis has lost something for the last time. */
  #lostAt = -1;
  /** What may happen: everything; only what users do; nothing. */
  readonly #weather: "storm" | "calm" | "still";

  constructor(seed: number) {
    this.world = new World(seed);
    const { world } = this;
    this.#weather = world.pick(["storm", "storm", "calm", "calm", "still"]);
    this.#server = {
      redis: new FakeRedis(),
      downUntil: 0,
      lostAnswers: 0,
      slowest: world.pick(this.#weather === "storm" ? [2, 20, 300] : [2, 20]),
      clients: new Map(),
    };
    this.#longest = world.pick(this.#weather === "storm" ? [5, 500, 5000, 20_000] : [5, 100, 500]);
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  #process(kind: string): Process {
    const process = new Process(`${kind}-${this.#names++}`);
    process.listingAge =
      this.#weather !== "still" && this.world.chance(4) ? this.world.random(5000) : 0;
    return process;
  }

  #addJob(folder = `/shared/job-${this.#jobs.length}`): ModelJob {
    const { random } = this.world;
    const id = `id-${this.#jobs.length}`;
    const job = new ModelJob(folder, id, random, this.#trouble());
    this.#jobs.push(job);
    this.#folders.jobs.set(folder, job);
    return job;
  }

  #trouble(): Trouble | null {
    const { world } = this;
    const stage = world.pick(["partition", "apply", "finish"] as const);
    const task = stage === "finish" ? 0 : world.random(2);
    const runs = world.pick([1, 2, 1e9]);
    return world.pick<Trouble | null>([
      null,
      null,
      null,
      null,
      { kind: "bad-index" },
      { kind: "damaged", stage, task },
      { kind: "machine", stage, task, runs, left: runs },
      { kind: "machine", stage, task, runs: 1, left: 1 },
    ]);
  }

  async #addWorker(version = "1.0.0"): Promise<void> {
    const { world } = this;
    const process = this.#process("worker");
    process.version = version;
    const entry: { process: Process; worker: JobWorker | null } = { process, worker: null };
    this.#workers.push(entry);
    const core = modelCore(world, this.#folders, process, this.#longest);
    const threads = 1 + world.random(3);
    const options = {
      connection: CONNECTION,
      threads,
      memory: 2 ** 28,
      onNote: (sentence: string) => {
        world.tell(`${process.name}: ${sentence}`);
        if (
          this.#weather !== "storm" &&
          /^a worker has disappeared.*-(?:partition|apply|finish)-/.test(sentence)
        )
          this.faults.push(`${sentence}, though none was disturbed`);
      },
    };
    world.tell(`${process.name} starts with ${threads} threads`);
    entry.worker = await startWorker(core, options, surroundingsOf(world, this.#server, process));
  }

  #submit(job: ModelJob): Submitter {
    const { world } = this;
    const process = this.#process("submitter");
    const submitter: Submitter = {
      job,
      process,
      controller: new AbortController(),
      notes: [],
      abortedAt: null,
      outcome: undefined,
      settledAt: null,
    };
    this.#submitters.push(submitter);
    this.#quiet.delete(job);
    const core = modelCore(world, this.#folders, process, this.#longest);
    const onNote = (sentence: string): void => {
      submitter.notes.push(sentence);
      world.tell(`${process.name}: ${sentence}`);
    };
    const options = {
      connection: CONNECTION,
      signal: submitter.controller.signal,
      tasksPerJob: world.chance(3) ? 1 + world.random(4) : 1,
      onNote,
    };
    world.tell(`${process.name} submits ${job.id}`);
    const surroundings = surroundingsOf(world, this.#server, process);
    const openJob: Core["openJob"] = async (folder) => {
      const opened = await core.openJob(folder);
      submitter.job = this.#jobs.find(({ id }) => id === opened.id) ?? job;
      return opened;
    };
    const settle = (outcome: unknown): void => {
      submitter.outcome = outcome;
      submitter.settledAt = world.now;
      world.tell(`${process.name} has ${job.id}: ${outcome === null ? "done" : String(outcome)}`);
      this.#onSettled(submitter);
    };
    submit({ ...core, openJob }, job.folder, options, surroundings).then(
      () => settle(null),
      (error: unknown) => settle(error),
    );
    return submitter;
  }

  #onSettled({ job, outcome, abortedAt, settledAt, process, notes }: Submitter): void {
    const { world } = this;
    if (outcome === null && !(job.isDone && job.isRight()))
      this.faults.push(`${job.id} is reported as done, and is not right`);
    // Scripts submit again what has failed.
    const isError = outcome !== null && abortedAt === null;
    if (isError && !this.#isHealed && !job.isRemoved && world.chance(2)) this.#submit(job);
    const isWaitedFor = this.#submitters.some(
      (other) => other.job === job && other.settledAt === null && other.process.isAlive,
    );
    if (abortedAt !== null && world.now - Math.max(abortedAt, process.frozenUntil) > 5000)
      this.faults.push(`${process.name} took ${world.now - abortedAt} ms to abort`);
    const isLeftBehind = notes.some((note) => note.includes("could not be withdrawn"));
    // Who got the job's error before it noticed the signal has not withdrawn the job.
    if (isTensorError(outcome)) return;
    // What was said to a Redis that forgot it in that moment is not known.
    if (abortedAt === null || isWaitedFor || isLeftBehind || this.#lostAt >= abortedAt) return;
    const { redis } = this.#server;
    const excused = new Map<string, number>();
    for (const id of redis.active) {
      const data = redis.jobs.get(id)?.data as { id?: string; stage?: string; tasks?: string };
      if (data?.id === job.id && data.stage !== undefined)
        excused.set(`${data.stage} ${data.tasks}`, 1);
    }
    this.#quiet.set(job, { since: settledAt ?? 0, excused });
    this.#count("taken back");
  }

  /** Draws a fault. */
  #disturb(): void {
    const { world } = this;
    const { redis } = this.#server;
    const workers = this.#workers.filter(({ process }) => process.isAlive);
    const submitters = this.#submitters.filter(
      ({ settledAt, process }) => settledAt === null && process.isAlive,
    );
    const worker = workers.length === 0 ? null : world.pick(workers);
    const submitter = submitters.length === 0 ? null : world.pick(submitters);
    const someone = world.chance(2) ? worker?.process : submitter?.process;
    const kinds: Record<string, () => void> = {
      "worker killed": () => {
        if (worker !== null) worker.process.isAlive = false;
      },
      "worker added": () => void this.#addWorker(),
      "worker of another version": () => {
        if (world.chance(3)) void this.#addWorker("2.0.0");
      },
      "process stands still": () => {
        if (someone === undefined) return;
        const milliseconds = world.random(30_000);
        someone.frozenUntil = world.now + milliseconds;
      },
      "connection lost": () => {
        if (someone === undefined) return;
        const milliseconds = world.random(15_000);
        someone.cutUntil = world.now + milliseconds;
      },
      "answers lost": () => {
        this.#server.lostAnswers = world.pick([0, 2, 10]);
      },
      "Redis restarts": () => {
        const milliseconds = world.random(10_000);
        const kept = redis.save();
        this.#server.downUntil = world.now + milliseconds;
        redis.clear();
        this.#lostAt = world.now;
        if (world.chance(2)) redis.load(kept);
      },
      "Redis comes back as it was": () => {
        const before = redis.save();
        world.after(world.random(10_000), null, () => {
          if (this.#isHealed) return;
          // What was taken back since then is not.
          this.#quiet.clear();
          this.#lostAt = world.now;
          this.#server.downUntil = world.now + 100;
          redis.load(before);
        });
      },
      "Redis is emptied": () => {
        redis.clear();
        this.#lostAt = world.now;
      },
      "worker does not see the folders": () => {
        if (worker !== null) worker.process.blindUntil = world.now + world.random(8000);
      },
      "worker is closed": () => {
        if (worker === null || worker.worker === null) return;
        const { process } = worker;
        // Without patience a root is left to the check for stalled jobs.
        const patience = this.#weather === "storm" ? world.pick([0, 1000, Infinity]) : Infinity;
        void worker.worker.close(patience).then(() => (process.isAlive = false));
      },
      "job submitted again": () => {
        const job = world.pick(this.#jobs);
        if (!job.isRemoved) this.#submit(job);
      },
      "submitter aborts": () => {
        if (submitter !== null) this.#abort(submitter);
      },
      "submitter killed": () => {
        if (submitter !== null) submitter.process.isAlive = false;
      },
      "job removed": () => this.#remove(world.pick(this.#jobs), world.chance(2)),
    };
    const kind = world.pick(this.#weather === "calm" ? CALM : Object.keys(kinds));
    world.tell(`fault: ${kind}`);
    this.#count(kind);
    kinds[kind]?.();
  }

  #remove(job: ModelJob, isFollowed: boolean): void {
    if (job.isRemoved) return;
    this.#folders.remove(job.folder);
    this.world.tell(`${job.id} is removed`);
    if (isFollowed) this.#submit(this.#addJob(job.folder));
  }

  #heal(): void {
    this.#isHealed = true;
    for (const { process } of this.#workers)
      if (process.version !== "1.0.0") process.isAlive = false;
    for (const [name, process] of this.#server.clients)
      if (!process.isAlive) this.#server.clients.delete(name);
    this.#server.lostAnswers = 0;
    this.#server.downUntil = 0;
    for (const { process } of [...this.#workers, ...this.#submitters]) {
      process.cutUntil = 0;
      process.blindUntil = 0;
    }
    void this.#addWorker();
  }

  async run(): Promise<void> {
    const { world } = this;
    this.#watch();
    for (let job = 1 + world.random(4); job > 0; job--) this.#addJob();
    for (let worker = world.random(4); worker >= 0; worker--) void this.#addWorker();
    const most = this.#weather === "storm" ? [3000, 15_000, 60_000] : [500, 3000];
    const horizon = 500 + world.random(world.pick(most));
    for (const job of this.#jobs)
      world.after(world.delay(horizon), null, () => {
        if (!job.isRemoved) this.#submit(job);
      });
    const faults = this.#weather === "still" ? 1 : world.pick([3, 12, 40]);
    for (let fault = world.random(faults); fault > 0; fault--)
      world.after(world.random(horizon), null, () => this.#disturb());
    await world.runUntil(() => false, horizon);
    world.tell("the faults stop");
    world.now = Math.max(world.now, horizon);
    this.#heal();
    // Whoever still waits, and whoever types the command again.
    const jobs = this.#jobs.filter(({ isRemoved }) => !isRemoved);
    for (const job of jobs) this.#submit(job);
    await this.#settle();
    // An error that another submission may not meet, such as one of a folder that a worker did not see, is met once.
    const again = jobs.filter(
      (job) => !this.#hasEnded(job) && this.#submitters.some((one) => one.job === job),
    );
    for (const job of again) this.#submit(job);
    await this.#settle();
    for (const job of jobs)
      if (!this.#hasEnded(job)) this.faults.push(`${job.id} has not ended as it must`);
    await world.runUntil(() => false, world.now + 20_000);
    for (const job of this.#jobs) this.faults.push(...job.faults.map((one) => `${job.id}: ${one}`));
    this.#checkErrors();
  }

  async #settle(): Promise<void> {
    const { world } = this;
    const waiting = (): Submitter[] =>
      this.#submitters.filter(({ settledAt, process }) => settledAt === null && process.isAlive);
    if (await world.runUntil(() => waiting().length === 0, world.now + PATIENCE)) return;
    for (const { job, process } of waiting())
      this.faults.push(`${process.name} waits for ${job.id} without end`);
  }

  /** Whether the last one who waited for a job has what that job must give. */
  #hasEnded(job: ModelJob): boolean {
    const last = this.#submitters.findLast((one) => one.job === job);
    const { trouble } = job;
    if (last?.outcome === null) return true;
    if (trouble === null || !isTensorError(last?.outcome)) return false;
    const { message, code } = last.outcome;
    switch (trouble.kind) {
      case "bad-index":
        return code === "index-out-of-range";
      case "damaged":
        return code === "malformed-file" && message.includes("is damaged");
      default:
        return trouble.left > 0 && message.includes("no space left");
    }
  }

  /** Looks at each task that begins. */
  #watch(): void {
    this.#server.redis.onData = (data) => {
      const { id, round = 1 } = data as { readonly id: string; readonly round?: number };
      const isUntroubled = this.#jobs.some((job) => job.id === id && job.trouble === null);
      if (this.#weather === "still" && isUntroubled && round > 1)
        this.faults.push(`a stage of ${id} was added again, though nothing happened`);
    };
    const { tell } = this.world;
    this.world.tell = (sentence) => {
      tell.call(this.world, sentence);
      if (this.#weather !== "still") this.#abortBetweenStages(sentence);
      const [, name, what, id] = /(\S+) begins (\S+ \d+) of (\S+)$/.exec(sentence) ?? [];
      if (what === undefined) return;
      const process = this.#workers.find((one) => one.process.name === name)?.process;
      if (process?.version !== "1.0.0") this.faults.push(`${name} of another version ran ${what}`);
      if (this.#weather === "still") this.#checkOnce(`${what} of ${id}`);
      const job = this.#jobs.find((one) => one.id === id);
      if (job === undefined) return;
      if (job.isRemoved) this.faults.push(`${what} of ${id} began after the job was removed`);
      const quiet = this.#quiet.get(job);
      // A process that stands still may have decided before.
      const isLate =
        process !== undefined && process.frozenUntil > (quiet?.since ?? Infinity) - 1000;
      if (quiet !== undefined && !isLate && !isExcused(quiet, what, this.#lostAt >= quiet.since))
        this.faults.push(`${what} of ${id} began after the job was taken back`);
    };
  }

  /** A root that looks for the next stage is the hardest to take back. */
  #abortBetweenStages(sentence: string): void {
    const { world } = this;
    const [, stage, id] = / ends (partition|apply) \d+ of (\S+)$/.exec(sentence) ?? [];
    const job = this.#jobs.find((one) => one.id === id);
    if (job === undefined || this.#isHealed || !world.chance(4)) return;
    if (job.remaining(stage as StageName, Infinity).length > 1) return;
    world.after(world.delay(1000), null, () => {
      if (this.#isHealed) return;
      for (const one of this.#submitters) if (one.job === job) this.#abort(one);
    });
  }

  #abort(submitter: Submitter): void {
    const { process, controller, settledAt } = submitter;
    if (!process.isAlive || settledAt !== null || controller.signal.aborted) return;
    submitter.abortedAt = this.world.now;
    controller.abort();
  }

  /** Where nothing happens each task begins once, but for one that the machine fails. */
  #checkOnce(what: string): void {
    const times = (this.#begun.get(what) ?? 0) + 1;
    this.#begun.set(what, times);
    const { trouble } = this.#jobs.find(({ id }) => what.endsWith(` of ${id}`)) ?? {};
    if (times > 1 && trouble?.kind !== "machine" && trouble?.kind !== "damaged")
      this.faults.push(`${what} began ${times} times, though nothing happened`);
  }

  /** Every error must be one of those that a user can act on. */
  #checkErrors(): void {
    for (const { outcome, abortedAt, process, job } of this.#submitters) {
      if (outcome === null || outcome === undefined) continue;
      if (abortedAt !== null && outcome instanceof DOMException) continue;
      const message = outcome instanceof Error ? outcome.message : String(outcome);
      const kind = [...CLEAR, ...(job.isRemoved ? REMOVED : [])].find((pattern) =>
        pattern.test(message),
      );
      if (kind === undefined || !isTensorError(outcome))
        this.faults.push(`${process.name} got an unclear error: ${message}`);
      this.#count(`error ${String(kind)}`);
      if (message.includes("no space left") && !isTensorError(outcome, "engine"))
        this.faults.push(`${process.name} got ${message} with a wrong code`);
      const { trouble } = job;
      if (this.#weather !== "storm" && trouble?.kind === "machine" && trouble.runs <= 2)
        if (!job.isRemoved)
          this.faults.push(`${process.name} got an error that retries mend: ${message}`);
    }
  }
}

/** What users do, and nothing else. */
const CALM = [
  "worker added",
  "worker is closed",
  "job submitted again",
  "job submitted again",
  "submitter aborts",
  "submitter aborts",
  "job removed",
];

/** Errors that only a job that was removed may have. */
const REMOVED = [
  /^\S+ must be a job's folder, but has no job.json; ndscatter job list finds jobs$/,
  /^task \d+ of \S+ failed on \S+: job \S+ was removed$/,
  new RegExp(`^${replaced("\\S+", "\\S+", "\\S+")}$`),
];

const CLEAR = [
  /^the worker on \S+ has ndscatter 2.0.0, but the job was submitted by ndscatter 1.0.0; use one version on all machines$/,
  /^id-\d+ has a bad index$/,
  /^chunk \d+ of id-\d+ is damaged$/,
  /^task \d+ of \S+ failed on \S+: no space left on device$/,
  /^\S+ cannot see \S+; all workers need this folder at the same path$/,
  /ended every worker that ran them, perhaps because memory was exhausted$/,
];

/** @param isForgotten true for a Redis that does not know any more that the job was taken back */
function isExcused({ excused }: Quiet, what: string, isForgotten: boolean): boolean {
  const [stage, number] = what.split(" ");
  for (const [entry, left] of excused) {
    const [own, tasks = ""] = entry.split(" ");
    const isIn = tasks.split(",").some((part) => {
      const [first = 0, last = first] = part.split("-").map(Number);
      return first <= Number(number) && Number(number) <= last;
    });
    if (own !== stage || !isIn || (left === 0 && !isForgotten)) continue;
    excused.set(entry, left - 1);
    return true;
  }
  return false;
}
