/**
 * Redis with the scripts of BullMQ that ndscatter has it run, as data and functions: the states of jobs, locks that expire,
 * children, and stalled jobs. `test/nightly/bullmq-workers.test.ts` compares it with BullMQ on a real Redis.
 */

export interface StoredJob {
  readonly id: string;
  readonly name: string;
  data: unknown;
  readonly opts: Options;
  readonly timestamp: number;
  parent: string | null;
  readonly dependencies: Set<string>;
  readonly failedChildren: Map<string, string>;
  token: string | null;
  lockedUntil: number;
  stalled: number;
  attemptsMade: number;
  deferredFailure: string | null;
  failedReason: string | undefined;
}

interface Options {
  readonly jobId?: string;
  readonly lifo?: boolean;
  readonly attempts?: number;
  readonly backoff?: { readonly delay: number };
  readonly parent?: { readonly id: string };
  readonly removeOnComplete?: boolean | object;
}

export type NewOptions = Options;

/** What BullMQ's scripts answer with a negative number. */
export class ScriptError extends Error {}

const copy = <T>(value: T): T => structuredClone(value);

/** A snapshot for a Redis that comes back with what it was some seconds ago. */
interface Snapshot {
  readonly jobs: Map<string, StoredJob>;
  readonly lists: readonly (readonly string[])[];
  readonly delayed: Map<string, number>;
  readonly values: FakeRedis["values"];
}

export class FakeRedis {
  jobs = new Map<string, StoredJob>();
  /** Taken from the end. */
  wait: string[] = [];
  active: string[] = [];
  delayed = new Map<string, number>();
  waitingChildren: string[] = [];
  completed: string[] = [];
  failed: string[] = [];
  suspects = new Set<string>();
  checkedUntil = 0;
  isPaused = false;
  readonly values = new Map<string, { readonly value: string; readonly until: number }>();
  #ids = 0;
  /** Called with what a job's data becomes. */
  onData: (data: unknown) => void = () => {};
  /** Called when a job can be taken. */
  onWaiting: () => void = () => {};

  clear(): void {
    this.jobs.clear();
    for (const list of this.#lists()) list.length = 0;
    this.delayed.clear();
    this.suspects.clear();
    this.values.clear();
    this.checkedUntil = 0;
  }

  #lists(): string[][] {
    return [this.wait, this.active, this.waitingChildren, this.completed, this.failed];
  }

  save(): Snapshot {
    const lists = this.#lists().map((list) => [...list]);
    return {
      jobs: copy(this.jobs),
      lists,
      delayed: new Map(this.delayed),
      values: new Map(this.values),
    };
  }

  load({ jobs, lists, delayed, values }: Snapshot): void {
    this.clear();
    this.jobs = copy(jobs);
    this.#lists().forEach((list, at) => list.push(...(lists[at] as string[])));
    this.delayed = new Map(delayed);
    for (const [key, value] of values) this.values.set(key, value);
  }

  add(name: string, data: unknown, opts: Options, now: number): string {
    const parent = opts.parent?.id ?? null;
    const above = parent === null ? undefined : this.jobs.get(parent);
    if (parent !== null && above === undefined)
      throw new ScriptError(`Missing key for parent job ${parent}. addJob`);
    const id = opts.jobId ?? String(++this.#ids);
    const known = this.jobs.get(id);
    if (known !== undefined) {
      if (parent === null) return id;
      if (known.parent !== null && known.parent !== parent && this.jobs.has(known.parent))
        throw new ScriptError(`job ${id} has another parent`);
      if (!this.completed.includes(id)) above?.dependencies.add(id);
      known.parent = parent;
      return id;
    }
    this.jobs.set(id, {
      id,
      name,
      data: copy(data),
      opts: copy(opts),
      timestamp: Math.floor(now),
      parent,
      dependencies: new Set(),
      failedChildren: new Map(),
      token: null,
      lockedUntil: 0,
      stalled: 0,
      attemptsMade: 0,
      deferredFailure: null,
      failedReason: undefined,
    });
    above?.dependencies.add(id);
    this.#toWait(id, opts.lifo === true);
    return id;
  }

  #toWait(id: string, isNext: boolean): void {
    if (isNext) this.wait.push(id);
    else this.wait.unshift(id);
    this.onWaiting();
  }

  read(key: string, now: number): string | null {
    const kept = this.values.get(key);
    return kept !== undefined && kept.until > now ? kept.value : null;
  }

  stateOf(id: string): string {
    if (this.completed.includes(id)) return "completed";
    if (this.failed.includes(id)) return "failed";
    if (this.delayed.has(id)) return "delayed";
    if (this.active.includes(id)) return "active";
    if (this.wait.includes(id)) return "waiting";
    return this.waitingChildren.includes(id) ? "waiting-children" : "unknown";
  }

  /** The next job, locked. */
  take(token: string, lock: number, now: number): StoredJob | null {
    for (const [id, due] of this.delayed) {
      if (due > now) continue;
      this.delayed.delete(id);
      this.#toWait(id, false);
    }
    if (this.isPaused) return null;
    const id = this.wait.pop();
    if (id === undefined) return null;
    this.active.push(id);
    const job = this.jobs.get(id);
    // A list may name a job whose key is gone.
    if (job === undefined) return null;
    job.token = token;
    job.lockedUntil = now + lock;
    return job;
  }

  #job(id: string, what: string): StoredJob {
    const job = this.jobs.get(id);
    if (job === undefined) throw new ScriptError(`Missing key for job ${id}. ${what}`);
    return job;
  }

  isLocked(job: StoredJob, now: number): boolean {
    return job.token !== null && job.lockedUntil > now;
  }

  #release(id: string, token: string, now: number, what: string): StoredJob {
    const job = this.#job(id, what);
    if (!this.isLocked(job, now)) throw new ScriptError(`Missing lock for job ${id}. ${what}`);
    if (job.token !== token)
      throw new ScriptError(`Lock mismatch for job ${id}. Cmd ${what} from active`);
    job.token = null;
    this.suspects.delete(id);
    if (!removeFrom(this.active, id))
      throw new ScriptError(`Job ${id} is not in the active state. ${what}`);
    return job;
  }

  extend(ids: readonly string[], tokens: readonly string[], lock: number, now: number): string[] {
    return ids.filter((id, at) => {
      const job = this.jobs.get(id);
      if (job === undefined || !this.isLocked(job, now) || job.token !== tokens[at]) return true;
      job.lockedUntil = now + lock;
      this.suspects.delete(id);
      return false;
    });
  }

  updateData(id: string, data: unknown): void {
    this.onData(data);
    this.#job(id, "updateData").data = copy(data);
  }

  moveToWait(id: string, token: string, now: number): void {
    this.#release(id, token, now, "moveJobFromActiveToWait");
    this.#toWait(id, true);
  }

  moveToDelayed(id: string, token: string, delay: number, reason: string, now: number): void {
    const job = this.#release(id, token, now, "moveToDelayed");
    job.failedReason = reason;
    job.attemptsMade++;
    this.delayed.set(id, now + delay);
  }

  /** @returns false where no child is pending */
  moveToWaitingChildren(id: string, token: string, now: number): boolean {
    const job = this.#job(id, "moveToWaitingChildren");
    if (job.dependencies.size === 0) return false;
    this.#release(id, token, now, "moveToWaitingChildren");
    this.waitingChildren.push(id);
    return true;
  }

  complete(id: string, token: string, now: number): void {
    const job = this.#job(id, "moveToFinished");
    if (job.dependencies.size > 0)
      throw new ScriptError(`Job ${id} has pending dependencies. moveToFinished`);
    this.#release(id, token, now, "moveToFinished");
    const parent = job.parent === null ? undefined : this.jobs.get(job.parent);
    if (parent?.dependencies.delete(id) === true && parent.dependencies.size === 0)
      this.#wake(parent.id);
    if (job.opts.removeOnComplete === true) this.jobs.delete(id);
    else this.completed.push(id);
  }

  fail(id: string, token: string, reason: string, now: number): void {
    const job = this.#release(id, token, now, "moveToFinished");
    job.failedReason = reason;
    job.attemptsMade++;
    job.deferredFailure = null;
    const parent = job.parent === null ? undefined : this.jobs.get(job.parent);
    if (parent?.dependencies.delete(id) === true) {
      parent.failedChildren.set(`bull:ndscatter:${id}`, reason);
      this.#wake(parent.id);
    }
    this.failed.push(id);
  }

  /** A parent goes on. */
  #wake(id: string): void {
    if (removeFrom(this.waitingChildren, id)) this.#toWait(id, true);
  }

  /** Gives jobs whose lock has expired to others, of those that were active at the last check. */
  checkStalled(most: number, interval: number, now: number): string[] {
    if (this.checkedUntil > now) return [];
    this.checkedUntil = now + interval;
    const stalled: string[] = [];
    for (const id of this.suspects) {
      const job = this.jobs.get(id);
      if (job !== undefined && this.isLocked(job, now)) continue;
      if (!removeFrom(this.active, id) || job === undefined) continue;
      if (++job.stalled > most) job.deferredFailure = "job stalled more than allowable limit";
      this.#toWait(id, true);
      stalled.push(id);
    }
    this.suspects = new Set(this.active);
    return stalled;
  }

  removeUnprocessedChildren(id: string, now: number): void {
    for (const child of this.jobs.get(id)?.dependencies ?? []) {
      const job = this.jobs.get(child);
      if (job !== undefined && (this.isLocked(job, now) || this.failed.includes(child))) continue;
      this.#remove(child);
    }
  }

  /** @returns false where a worker has the job */
  remove(id: string, now: number): boolean {
    const job = this.jobs.get(id);
    if (job !== undefined && this.isLocked(job, now)) return false;
    this.#remove(id);
    return true;
  }

  #remove(id: string): void {
    const parent = this.jobs.get(this.jobs.get(id)?.parent ?? "");
    if (parent?.dependencies.delete(id) === true && parent.dependencies.size === 0)
      this.#wake(parent.id);
    for (const list of this.#lists()) removeFrom(list, id);
    this.delayed.delete(id);
    this.jobs.delete(id);
  }
}

function removeFrom(list: string[], id: string): boolean {
  const at = list.lastIndexOf(id);
  if (at !== -1) list.splice(at, 1);
  return at !== -1;
}
