/**
 * BullMQ and its connection as ndscatter calls them, for a process of a simulated world. Commands reach Redis in their order
 * with a delay; where the connection is lost, the client sends again what was not answered, so Redis may do it twice.
 */

import type {
  Bullmq,
  NewJob,
  JobQueue,
  Processor,
  QueuedJob,
  QueueWorker,
  RedisClient,
  RedisConnection,
  Surroundings,
} from "../../../../src/arrays/distributed/packages.ts";
import { ScriptError, type FakeRedis, type NewOptions, type StoredJob } from "./redis.ts";
import type { Process, World } from "./world.ts";

class UnrecoverableError extends Error {}
class WaitingError extends Error {}
class WaitingChildrenError extends Error {}

/** The server that all processes share, and how its network fares. */
export interface Server {
  readonly redis: FakeRedis;
  /** Until when it is down. */
  downUntil: number;
  /** One in so many answers is lost with its connection; 0 for none. */
  lostAnswers: number;
  /** The longest delay of a message, in milliseconds. */
  slowest: number;
  /** The names of workers whose connection Redis still has. */
  readonly clients: Map<string, Process>;
}

const RECONNECT = 50;

class Link {
  readonly #world: World;
  readonly #server: Server;
  readonly process: Process;
  /** True when the client was ended: what it has not sent is not sent any more. */
  isOver = false;
  #arrival = 0;

  constructor(world: World, server: Server, process: Process) {
    this.#world = world;
    this.#server = server;
    this.process = process;
  }

  /** Has Redis do something, at least once. */
  call<T>(command: (redis: FakeRedis, now: number) => T): Promise<T> {
    const { process } = this;
    const [world, server] = [this.#world, this.#server];
    return new Promise((resolve, reject) => {
      const again = (): void =>
        world.after(RECONNECT + world.delay(2000), process, () => attempt());
      const isCut = (): boolean => Math.max(server.downUntil, process.cutUntil) > world.now;
      const attempt = (): void => {
        if (this.isOver) return;
        // A connection keeps the order of its commands.
        this.#arrival = Math.max(this.#arrival, world.now + world.delay(server.slowest));
        world.after(this.#arrival - world.now, null, () => {
          if (isCut()) return again();
          let settle: () => void;
          try {
            const result = command(server.redis, world.now);
            settle = () => resolve(result);
          } catch (error) {
            settle = () => reject(error);
          }
          if (server.lostAnswers > 0 && world.chance(server.lostAnswers)) return again();
          world.after(world.delay(server.slowest), process, () => (isCut() ? again() : settle()));
        });
      };
      attempt();
    });
  }

  get isReady(): boolean {
    return Math.max(this.#server.downUntil, this.process.cutUntil) <= this.#world.now;
  }
}

class Listeners {
  readonly #all = new Map<string, ((...args: readonly unknown[]) => void)[]>();

  on(event: string, listener: (...args: readonly unknown[]) => void): void {
    this.#all.set(event, [...(this.#all.get(event) ?? []), listener]);
  }

  emit(event: string, ...args: readonly unknown[]): void {
    for (const listener of this.#all.get(event) ?? []) listener(...args);
  }
}

class FakeJob implements QueuedJob {
  readonly id: string;
  readonly name: string;
  data: unknown;
  readonly timestamp: number;
  readonly queueQualifiedName = "bull:ndscatter";
  readonly failedReason: string | undefined;
  readonly stored: StoredJob;
  readonly #link: Link;

  constructor(link: Link, stored: StoredJob) {
    this.#link = link;
    this.stored = stored;
    this.id = stored.id;
    this.name = stored.name;
    this.data = structuredClone(stored.data);
    this.timestamp = stored.timestamp;
    this.failedReason = stored.failedReason;
  }

  getState(): Promise<string> {
    return this.#link.call((redis) => redis.stateOf(this.id));
  }

  updateData(data: object): Promise<void> {
    this.data = data;
    return this.#link.call((redis) => redis.updateData(this.id, data));
  }

  async updateProgress(): Promise<void> {
    await this.#link.call(() => {});
  }

  moveToWait(token: string): Promise<void> {
    return this.#link.call((redis, now) => redis.moveToWait(this.id, token, now));
  }

  moveToWaitingChildren(token: string): Promise<boolean> {
    return this.#link.call((redis, now) => redis.moveToWaitingChildren(this.id, token, now));
  }

  getIgnoredChildrenFailures(): Promise<Record<string, string>> {
    return this.#link.call((redis) =>
      Object.fromEntries(redis.jobs.get(this.id)?.failedChildren ?? []),
    );
  }

  removeUnprocessedChildren(): Promise<void> {
    return this.#link.call((redis, now) => redis.removeUnprocessedChildren(this.id, now));
  }

  async remove(): Promise<void> {
    const isRemoved = await this.#link.call((redis, now) => redis.remove(this.id, now));
    if (!isRemoved) throw new Error(`Job ${this.id} could not be removed because it is locked`);
  }
}

class FakeQueue extends Listeners implements JobQueue {
  readonly #link: Link;
  readonly #server: Server;

  constructor(link: Link, server: Server) {
    super();
    this.#link = link;
    this.#server = server;
  }

  async add(name: string, data: object, options: object): Promise<QueuedJob> {
    const opts = options as NewOptions;
    return this.#link.call((redis, now) => {
      const id = redis.add(name, data, opts, now);
      return new FakeJob(this.#link, redis.jobs.get(id) as StoredJob);
    });
  }

  /** As in BullMQ, one transaction, where each job succeeds or fails for itself. */
  addBulk(jobs: readonly NewJob[]): Promise<void> {
    return this.#link.call((redis, now) => {
      let failure: unknown = null;
      for (const { name, data, opts } of jobs) {
        try {
          redis.add(name, data, opts as NewOptions, now);
        } catch (error) {
          failure ??= error;
        }
      }
      if (failure !== null) throw failure;
    });
  }

  getJob(id: string): Promise<QueuedJob | undefined> {
    return this.#link.call((redis) => {
      const stored = redis.jobs.get(id);
      return stored === undefined ? undefined : new FakeJob(this.#link, stored);
    });
  }

  getWorkers(): Promise<{ readonly rawname: string }[]> {
    return this.#link.call(() =>
      [...this.#server.clients.keys()].map((name) => ({ rawname: `bull:bmRzY2F0dGVy:w:${name}` })),
    );
  }

  isPaused(): Promise<boolean> {
    return this.#link.call((redis) => redis.isPaused);
  }

  async close(): Promise<void> {}
}

interface WorkerSettings {
  readonly concurrency: number;
  readonly lockDuration: number;
  readonly stalledInterval: number;
  readonly maxStalledCount: number;
  readonly runRetryDelay: number;
  readonly name?: string;
}

/** How long a worker waits for a job before it asks again. */
const DRAIN = 5000;

class FakeWorker extends Listeners implements QueueWorker {
  readonly #link: Link;
  readonly #world: World;
  readonly #server: Server;
  readonly #processor: Processor;
  readonly #settings: WorkerSettings;
  readonly #tracked = new Map<string, string>();
  readonly #slots: Promise<void>[];
  readonly #key: string;
  #isClosing = false;
  #isClosed = false;
  #wake: (() => void) | null = null;
  #tokens = 0;

  constructor(
    link: Link,
    world: World,
    server: Server,
    processor: Processor,
    settings: WorkerSettings,
  ) {
    super();
    this.#link = link;
    this.#world = world;
    this.#server = server;
    this.#processor = processor;
    this.#settings = settings;
    this.#key = settings.name ?? link.process.name;
    server.clients.set(this.#key, link.process);
    const { onWaiting } = server.redis;
    server.redis.onWaiting = () => {
      onWaiting();
      // The message that wakes a worker may be late, or lost: then the worker asks by itself.
      if (!world.chance(20)) world.after(world.delay(100), link.process, () => this.#wake?.());
    };
    this.#slots = Array.from({ length: settings.concurrency }, () => this.#work());
    void this.#renew();
    void this.#checkStalled();
  }

  #sleep(milliseconds: number): Promise<void> {
    return this.#world.clockOf(this.#link.process).sleep(milliseconds);
  }

  async #work(): Promise<void> {
    const { lockDuration } = this.#settings;
    while (!this.#isClosing) {
      const token = `${this.#key}:${this.#tokens++}`;
      const job = await this.#link.call((redis, now) => {
        const stored = redis.take(token, lockDuration, now);
        return stored === null ? null : new FakeJob(this.#link, stored);
      });
      if (job === null) await this.#untilWoken();
      else await this.#process(job, token);
    }
  }

  #untilWoken(): Promise<void> {
    return new Promise((resolve) => {
      const before = this.#wake;
      this.#wake = () => {
        before?.();
        this.#wake = null;
        resolve();
      };
      this.#world.after(this.#world.random(DRAIN), this.#link.process, resolve);
    });
  }

  async #process(job: FakeJob, token: string): Promise<void> {
    this.#tracked.set(job.id, token);
    try {
      const deferred = job.stored.deferredFailure;
      if (deferred !== null) throw new UnrecoverableError(deferred);
      await this.#processor(job, token);
      this.#tracked.delete(job.id);
      await this.#link.call((redis, now) => redis.complete(job.id, token, now));
    } catch (error) {
      this.#tracked.delete(job.id);
      await this.#handleFailed(job, token, error).catch((late: unknown) =>
        this.emit("error", late),
      );
    }
  }

  async #handleFailed(job: FakeJob, token: string, error: unknown): Promise<void> {
    if (error instanceof WaitingError || error instanceof WaitingChildrenError) return;
    const { message } = error as Error;
    const { attempts = 1, backoff } = job.stored.opts;
    const isLast = error instanceof UnrecoverableError || job.stored.attemptsMade + 1 >= attempts;
    if (isLast) return this.#link.call((redis, now) => redis.fail(job.id, token, message, now));
    const delay = (backoff?.delay ?? 0) * 2 ** job.stored.attemptsMade;
    return this.#link.call((redis, now) => redis.moveToDelayed(job.id, token, delay, message, now));
  }

  async #renew(): Promise<void> {
    const { lockDuration } = this.#settings;
    while (!this.#isClosed) {
      await this.#sleep(lockDuration / 4);
      const [ids, tokens] = [[...this.#tracked.keys()], [...this.#tracked.values()]];
      if (ids.length === 0) continue;
      const failed = await this.#link.call((redis, now) =>
        redis.extend(ids, tokens, lockDuration, now),
      );
      for (const id of failed) this.emit("error", new Error(`could not renew lock for job ${id}`));
    }
  }

  async #checkStalled(): Promise<void> {
    const { stalledInterval, maxStalledCount } = this.#settings;
    while (!this.#isClosed) {
      await this.#sleep(stalledInterval);
      const ids = await this.#link.call((redis, now) =>
        redis.checkStalled(maxStalledCount, stalledInterval, now),
      );
      for (const id of ids) this.emit("stalled", id);
    }
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#wake?.();
    await Promise.all(this.#slots);
    this.#isClosed = true;
    this.#server.clients.delete(this.#key);
  }
}

/** What a process of the world has in place of BullMQ and ioredis. */
export function surroundingsOf(world: World, server: Server, process: Process): Surroundings {
  const link = new Link(world, server, process);
  const client: RedisClient = {
    status: "ready",
    connect: async () => {},
    disconnect: () => {},
    info: async () => "",
    get: (key) => link.call((redis, now) => redis.read(key, now)),
    mget: (keys) => link.call((redis, now) => keys.map((key) => redis.read(key, now))),
    set: (key, value, _, milliseconds) =>
      link.call((redis, now) => void redis.values.set(key, { value, until: now + milliseconds })),
    duplicate: () => client,
    on: () => {},
  };
  const bullmq: Bullmq = {
    Queue: class extends FakeQueue {
      constructor() {
        super(link, server);
      }
    },
    Worker: class extends FakeWorker {
      constructor(_: string, processor: Processor, options: object) {
        super(link, world, server, processor, options as WorkerSettings);
      }
    },
    UnrecoverableError,
    WaitingError,
    WaitingChildrenError,
  };
  const connection: RedisConnection = {
    client,
    get isReady() {
      return link.isReady;
    },
    disconnect: () => {
      link.isOver = true;
    },
  };
  return {
    clock: world.clockOf(process),
    loadBullmq: async () => bullmq,
    connect: async () => connection,
  };
}

export { ScriptError };
