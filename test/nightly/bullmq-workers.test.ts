/** What whoever submits a job is told of workers that do not work on it; and the fake queue of the simulation beside BullMQ. */

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isTensorError } from "../../src/core/errors.ts";
import { startWorker } from "../../src/arrays/distributed/worker.ts";
import { submit } from "../../src/arrays/distributed/submit.ts";
import { PACKAGES, WITHOUT_QUEUE } from "./distributed/packages.ts";
import { startRedis, type RedisServer } from "./distributed/redis-server.ts";
import { FakeRedis } from "./distributed/simulation/redis.ts";
import { STUB_CORE, writeStubJob } from "./distributed/stub-core.ts";
import { setLimits } from "../support/limits.ts";
import { randomFrom } from "../support/random.ts";
import { exitOnSignals, ProcessGroup } from "../../scripts/process-group.js";

const skip = WITHOUT_QUEUE;
exitOnSignals();

let redis: RedisServer;
let home: string;
let restore = (): void => {};

before(async () => {
  if (skip === false) redis = await startRedis();
});
after(() => redis?.end());
beforeEach(async () => {
  if (skip !== false) return;
  await redis.command("FLUSHALL");
  home = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-bullmq-"));
  restore = setLimits({ DISTRIBUTED: { count: 200 } });
});
afterEach(() => {
  restore();
  if (skip === false) fs.rmSync(home, { recursive: true });
});

const makeJob = (id = "job"): string =>
  writeStubJob(path.join(home, id), {
    id,
    stages: [
      { name: "partition", tasks: 2 },
      { name: "finish", tasks: 1 },
    ],
    milliseconds: 10,
  });

async function until(condition: () => boolean, what: string): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    if (condition()) return;
    await sleep(50);
  }
  assert.fail(`waited 30 s: ${what}`);
}

const queueHere = (): { connection: string; from: string } => ({
  connection: redis.url,
  from: PACKAGES,
});
const workerHere = (): ReturnType<typeof queueHere> & { threads: number; memory: number } => ({
  ...queueHere(),
  threads: 1,
  memory: 2 ** 28,
});

/** The parts of BullMQ that the code under test does not call. */
interface Bullmq {
  readonly Queue: new (name: string, options: object) => RealQueue;
  readonly Worker: new (name: string, processor: null, options: object) => RealWorker;
}
interface RealQueue {
  pause(): Promise<void>;
  resume(): Promise<void>;
  close(): Promise<void>;
  add(name: string, data: object, options: object): Promise<RealJob>;
  getJob(id: string): Promise<RealJob | undefined>;
}
interface RealWorker {
  getNextJob(token: string, options: object): Promise<RealJob | undefined>;
  close(): Promise<void>;
}
interface RealJob {
  readonly id: string;
  getState(): Promise<string>;
  moveToCompleted(value: unknown, token: string, fetchNext: boolean): Promise<unknown>;
  moveToFailed(error: Error, token: string, fetchNext: boolean): Promise<unknown>;
  moveToWait(token: string): Promise<unknown>;
  moveToWaitingChildren(token: string): Promise<boolean>;
  removeUnprocessedChildren(): Promise<void>;
  remove(options: object): Promise<void>;
}

const bullmq = (): Bullmq => createRequire(path.join(PACKAGES, "index.js"))("bullmq") as Bullmq;
const connectionHere = (): object => ({
  host: "127.0.0.1",
  port: redis.port,
  maxRetriesPerRequest: null,
});

test(
  "a worker of another version refuses a job, and whoever submits is told before",
  { skip },
  async () => {
    const queue = new (bullmq().Queue)("ndscatter", { connection: connectionHere() });
    await queue.pause();
    const worker = await startWorker({ ...STUB_CORE, version: "0.0.9" }, workerHere());
    const notes: string[] = [];
    const onNote = (note: string): void => void notes.push(note);
    const result = submit(STUB_CORE, makeJob(), { ...queueHere(), onNote });
    result.catch(() => {});
    await until(() => notes.length >= 2, `notes, got ${notes.join("; ")}`);
    const where = `the queue ndscatter of Redis at 127.0.0.1:${redis.port}`;
    const host = os.hostname().replace(/[^\w.+-]/g, "_");
    assert.deepEqual(notes, [
      `${where} is paused, so workers take no tasks until it is resumed`,
      `of the workers of ${where}, 1 of 1 refuse the job, because they do not have ndscatter ${STUB_CORE.version}: ` +
        `${host} (process ${process.pid}) with ndscatter 0.0.9; use one version on all machines`,
    ]);
    await queue.resume();
    await assert.rejects(result, (error) => {
      assert.ok(isTensorError(error, "engine"), String(error));
      const says = `the worker on ${os.hostname()} has ndscatter 0.0.9, but the job was submitted by ndscatter ${STUB_CORE.version}; use one version on all machines`;
      assert.equal(error.message, says);
      return true;
    });
    await worker.close();
    await queue.close();
  },
);

test(
  "a worker that gives no sign of life is named, and the job goes on with it later",
  { skip },
  async () => {
    const file = fileURLToPath(new URL("distributed/stub-worker.js", import.meta.url));
    const worker = new ProcessGroup([process.execPath, file, redis.url, PACKAGES, "1"]);
    // It has begun to listen.
    await submit(STUB_CORE, makeJob("first"), queueHere());
    worker.child.kill("SIGSTOP");
    const notes: string[] = [];
    const onNote = (note: string): void => void notes.push(note);
    const seen: (number | null)[] = [];
    const onProgress = ({ workers }: { workers: number | null }): void => void seen.push(workers);
    const result = submit(STUB_CORE, makeJob(), { ...queueHere(), onNote, onProgress });
    await until(() => notes.length > 0, "a note");
    assert.match(
      notes[0] as string,
      new RegExp(
        `^of the workers of the queue ndscatter of Redis at \\S+, 1 of 1 gave no sign of life for 7 s: \\S+ \\(process ${worker.child.pid}\\) with ndscatter \\S+$`,
      ),
    );
    await until(() => seen.at(-1) === 0, "it is not counted");
    worker.child.kill("SIGCONT");
    await result;
    assert.equal(notes.length, 1);
    await worker.end();
  },
);

test("the fake queue of the simulation moves jobs as BullMQ does", { skip }, async () => {
  const connection = connectionHere();
  const queue = new (bullmq().Queue)("ndscatter", { connection });
  const settings = { connection, autorun: false, lockDuration: 3_600_000 };
  const worker = new (bullmq().Worker)("ndscatter", null, settings);
  for (let seed = 1; seed <= 25; seed++) {
    await redis.command("FLUSHALL");
    const random = randomFrom(seed);
    const fake = new FakeRedis();
    const ids = ["root", ...Array.from({ length: 4 }, (_, child) => `child-${child}`)];
    const tokens = new Map<string, string>();
    const story: string[] = [];
    /** Does the same to both. @returns whether both did it, of which one alone may not */
    const both = async (
      what: string,
      real: () => Promise<unknown>,
      own: () => unknown,
    ): Promise<void> => {
      story.push(what);
      const [a, b] = [await outcome(real), await outcome(async () => own())];
      assert.equal(b, a, `seed ${seed}: ${story.join(", ")}`);
    };
    for (let step = 0; step < 40; step++) {
      const id = ids[random(ids.length)] as string;
      const job = await queue.getJob(id);
      const token = random(8) === 0 ? "another" : (tokens.get(id) ?? "none");
      const kind = random(10);
      if (kind < 3) {
        const isRoot = id === "root";
        const parent = { id: "root", queue: "bull:ndscatter" };
        const opts = isRoot
          ? { jobId: id, lifo: true, removeOnComplete: { count: 100 } }
          : { jobId: id, parent, continueParentOnFailure: true, removeOnComplete: true };
        await both(
          `add ${id}`,
          async () => (await queue.add(id, {}, opts)).id,
          () => fake.add(id, {}, opts, step),
        );
      } else if (kind < 6) {
        const next = `token-${step}`;
        const take = async (): Promise<string | undefined> =>
          (await worker.getNextJob(next, { block: false }))?.id;
        await both("take", take, () => fake.take(next, 3_600_000, step)?.id);
        const taken = fake.active.find((one) => fake.jobs.get(one)?.token === next);
        if (taken !== undefined) tokens.set(taken, next);
      } else if (job !== undefined) {
        const moves: Record<string, [() => Promise<unknown>, () => unknown]> = {
          complete: [
            async () => void (await job.moveToCompleted(null, token, false)),
            () => fake.complete(id, token, step),
          ],
          fail: [
            async () => void (await job.moveToFailed(new Error("no"), token, false)),
            () => fake.fail(id, token, "no", step),
          ],
          "move to wait": [
            async () => void (await job.moveToWait(token)),
            () => fake.moveToWait(id, token, step),
          ],
          "wait for children": [
            () => job.moveToWaitingChildren(token),
            () => fake.moveToWaitingChildren(id, token, step),
          ],
          "remove children": [
            () => job.removeUnprocessedChildren(),
            () => fake.removeUnprocessedChildren(id, step),
          ],
          remove: [
            () => job.remove({ removeChildren: false }),
            () => {
              if (!fake.remove(id, step)) throw new Error("locked");
            },
          ],
        };
        const names = Object.keys(moves);
        const name = names[random(names.length)] as string;
        const [real, own] = moves[name] as [() => Promise<unknown>, () => unknown];
        await both(`${name} ${id}`, real, own);
      }
      for (const one of ids) {
        const state = (await (await queue.getJob(one))?.getState()) ?? "unknown";
        assert.equal(fake.stateOf(one), state, `seed ${seed}, ${one}: ${story.join(", ")}`);
      }
    }
  }
  await worker.close();
  await queue.close();
});

async function outcome(action: () => Promise<unknown>): Promise<unknown> {
  try {
    return await action();
  } catch {
    return "an error";
  }
}
