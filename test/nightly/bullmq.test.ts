/** Submitters and workers on a Redis of their own: what is refused, repeated, withdrawn and reported. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as net from "node:net";
import { createRequire } from "node:module";
import * as os from "node:os";
import * as path from "node:path";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { isTensorError, type ErrorCode } from "../../src/core/errors.ts";
import {
  createWorker,
  submitJob,
  type JobWorker,
  type SubmitOptions,
  type WorkerOptions,
} from "../../src/entries/bullmq.ts";
import { PACKAGES, WITHOUT_QUEUE } from "./distributed/packages.ts";
import { makeRealJob } from "./distributed/real-job.ts";
import { freePort, startRedis, type RedisServer } from "./distributed/redis-server.ts";
import { add, makeJob, MEMORY, readAll, ROWS, storeInputs } from "../support/job-files.ts";
import { setLimits } from "../support/limits.ts";
import { HAS_LISTENERS, openAddresses } from "../support/listeners.ts";
import { exitOnSignals } from "../../scripts/process-group.js";

const skip = WITHOUT_QUEUE;
// A test that takes too long takes its processes with it.
exitOnSignals();

let redis: RedisServer;
let home: string;
let workers: JobWorker[] = [];
let notes: string[] = [];
let restore = (): void => {};

before(async () => {
  if (skip === false) redis = await startRedis();
});
after(() => redis?.end());
beforeEach(async () => {
  if (skip !== false) return;
  await redis.command("FLUSHALL");
  home = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-bullmq-"));
  await storeInputs(home);
  notes = [];
  restore = setLimits({ DISTRIBUTED: { look: 200, withdrawn: 50, blind: 100, answer: 500 } });
});
afterEach(async () => {
  if (skip !== false) return;
  for (const worker of workers.splice(0)) await worker.close(0);
  restore();
  fs.rmSync(home, { recursive: true });
});

const queueHere = () => ({ connection: redis.url, from: PACKAGES });

async function addWorker(more: Partial<WorkerOptions> = {}): Promise<JobWorker> {
  const onNote = (note: string): void => void notes.push(note);
  const own = { ...queueHere(), threads: 1, memory: MEMORY, onNote };
  const worker = await createWorker({ ...own, ...more });
  workers.push(worker);
  return worker;
}

const submit = (folder: string, more: Partial<SubmitOptions> = {}): Promise<void> =>
  submitJob(folder, { ...queueHere(), onNote: (note) => void notes.push(note), ...more });

/** A job of four tasks in each stage but the last, which adds 5 to rows of ones. */
const smallJob = (): Promise<string> => makeJob(home, add, { blockShape: [1] });
const assertDone = async (): Promise<void> =>
  assert.deepEqual(await readAll(path.join(home, "out.zarr")), Array<number>(ROWS).fill(6));

async function until(condition: () => boolean, what: string): Promise<void> {
  for (let attempt = 0; !condition(); attempt++) {
    assert.ok(attempt < 600, `waited 30 s: ${what}`);
    await sleep(50);
  }
}

const refused = (result: Promise<unknown>, code: ErrorCode, message: RegExp): Promise<void> =>
  assert.rejects(result, (error) => {
    assert.ok(isTensorError(error, code), inspect(error));
    assert.match(error.message, message);
    return true;
  });

/** A queue of BullMQ with the functions that the code under test does not call. */
interface RealQueue {
  add(name: string, data: unknown, options: object): Promise<{ getState(): Promise<string> }>;
  getJob(id: string): Promise<{ failedReason?: string } | undefined>;
  getJobCounts(): Promise<Readonly<Record<string, number>>>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  close(): Promise<void>;
}

async function withQueue(action: (queue: RealQueue) => Promise<void>): Promise<void> {
  const { Queue } = createRequire(path.join(PACKAGES, "index.js"))("bullmq") as {
    Queue: new (name: string, options: object) => RealQueue;
  };
  const queue = new Queue("ndscatter", { connection: { host: "127.0.0.1", port: redis.port } });
  await action(queue).finally(() => queue.close());
}

test("several jobs on one queue, and none of them again", { skip }, async () => {
  const done: string[] = [];
  const onDone = ({ folder, stage, tasks }: { folder: string; stage: string; tasks: string }) =>
    void done.push(`${folder} ${stage} ${tasks}`);
  await addWorker({ onDone });
  await addWorker({ onDone });
  const jobs = [1, 2, 3].map((seed) => makeRealJob(home, seed));
  const real = await Promise.all(jobs);
  await Promise.all(real.map(({ folder }) => submit(folder)));
  for (const { isRight } of real) assert.ok(isRight());
  // The folder shows the end of a job before its worker reports it.
  await until(() => new Set(done).size === 3 * (32 + 64 + 1), "reports");
  const { length } = done;
  for (const { folder } of real) await submit(folder);
  assert.equal(done.length, length);
  await withQueue(async (queue) => {
    const { active, waiting, failed } = await queue.getJobCounts();
    assert.deepEqual([active, waiting, failed], [0, 0, 0]);
  });
});

test("a withdrawn job stops, and goes on when it is submitted again", { skip }, async () => {
  const { folder, isRight } = await makeRealJob(home, 4);
  let done = 0;
  await addWorker({ onDone: () => void done++ });
  const controller = new AbortController();
  const result = submit(folder, { signal: controller.signal });
  await until(() => done > 5, "some tasks run");
  controller.abort();
  await assert.rejects(result, { name: "AbortError" });
  await sleep(300);
  const stopped = done;
  await sleep(500);
  assert.equal(done, stopped);
  assert.ok(done < 90, `${done}`);
  await submit(folder);
  assert.ok(isRight());
  assert.ok(done <= 97 + 1, `${done}`);
});

test("a job that one of two submitters withdraws goes on for the other", { skip }, async () => {
  const { folder, isRight } = await makeRealJob(home, 5);
  let done = 0;
  await addWorker({ onDone: () => void done++ });
  const controller = new AbortController();
  const [stayed, left] = [submit(folder), submit(folder, { signal: controller.signal })];
  await until(() => done > 3, "some tasks run");
  controller.abort();
  await assert.rejects(left, { name: "AbortError" });
  await stayed;
  assert.ok(isRight());
});

test("a damaged file ends the job at once, with its sentence", { skip }, async () => {
  const folder = await smallJob();
  fs.writeFileSync(path.join(home, "updates.zarr", "c", "0"), "x");
  await addWorker();
  await refused(submit(folder), "malformed-file", /updates/);
});

test("a worker refuses a job outside its roots, and runs those inside", { skip }, async () => {
  const own = fs.mkdtempSync(path.join(home, "root-"));
  const worker = await addWorker({ roots: [own] });
  await refused(
    submit(await smallJob()),
    "attribute",
    /lies outside this worker's roots: \S+root-/,
  );
  await worker.close();
  await addWorker({ roots: [home] });
  await submit(path.join(home, "job"));
  await assertDone();
});

test("entries that are no jobs fail, and the worker goes on", { skip }, async () => {
  await addWorker();
  await withQueue(async (queue) => {
    const hidden = { folder: path.join(home, "hidden"), id: "x" };
    const entries = [
      null,
      7,
      "text",
      {},
      { folder: 7, id: "x" },
      { folder: "a\0b", id: "x" },
      hidden,
    ];
    for (const [nth, data] of entries.entries()) {
      const job = await queue.add("job", data, { jobId: `bad-${nth}` });
      let state = "";
      const look = (): boolean => {
        void job.getState().then((now) => (state = now));
        return state === "failed";
      };
      await until(look, `entry ${nth} fails, is ${state}`);
    }
    const { failedReason } = (await queue.getJob("bad-6")) ?? {};
    const sentence = `engine: ${os.hostname()} (process ${process.pid}) cannot see ${hidden.folder}; all workers need this folder at the same path`;
    assert.equal(failedReason, sentence);
  });
  await submit(await smallJob());
  await assertDone();
});

test(
  "a worker closed without patience gives up its task, and another runs it",
  { skip },
  async () => {
    const { folder, isRight } = await makeRealJob(home, 8);
    let done = 0;
    const worker = await addWorker({ onDone: () => void done++ });
    const result = submit(folder);
    await until(() => done > 3, "some tasks run");
    const start = performance.now();
    await worker.close(0);
    assert.ok(performance.now() - start < 2000);
    await addWorker();
    await result;
    assert.ok(isRight());
  },
);

test("a submitter is told once why nobody works on the job", { skip }, async () => {
  const folder = await smallJob();
  await withQueue(async (queue) => {
    const where = `the queue ndscatter of Redis at 127.0.0.1:${redis.port}`;
    const controller = new AbortController();
    const first = submit(folder, { signal: controller.signal });
    await until(() => notes.length > 0, "a note");
    controller.abort();
    await assert.rejects(first, { name: "AbortError" });
    await queue.pause();
    const second = submit(folder);
    await until(() => notes.length > 1, "another note");
    await addWorker();
    await queue.resume();
    await second;
    assert.deepEqual(notes, [
      `no worker of ${where} works on the job; start one (ndscatter job worker), or wait until one is free`,
      `${where} is paused, so workers take no jobs until it is resumed`,
    ]);
  });
  await assertDone();
});

test("Redis listens on a loopback address only", { skip: skip || !HAS_LISTENERS }, () => {
  assert.deepEqual(openAddresses([redis.pid]), []);
});

test("a Redis that cannot be used is a sentence", { skip }, async () => {
  const folder = await smallJob();
  const silent = net.createServer().unref();
  await new Promise<void>((resolve) => {
    silent.listen(0, "127.0.0.1", resolve);
  });
  const { port } = silent.address() as net.AddressInfo;
  const cluster = await startRedis({ "cluster-enabled": "yes" });
  const replica = await startRedis({ replicaof: `127.0.0.1 ${redis.port}` });
  const tls = "rediss:// if Redis uses TLS$";
  for (const [connection, message] of [
    [redis.url.replace("redis:", "rediss:"), `did not answer within 0.5 s; .*${tls}`],
    [{ host: "127.0.0.1", port: redis.port, tls: {} }, `did not answer within 0.5 s; .*${tls}`],
    [`redis://127.0.0.1:${port}`, `did not answer within 0.5 s; .*${tls}`],
    [`redis://user:secret@127.0.0.1:${await freePort()}`, `.*REFUSED.*${tls}`],
    [cluster.url, "CLUSTERDOWN .*"],
    [replica.url, "READONLY .*"],
  ] as const) {
    const sentence = new RegExp(`^Redis at 127.0.0.1:\\d+ cannot be used: .*${message}`);
    await refused(submit(folder, { connection }), "engine", sentence);
  }
  for (const one of [cluster, replica]) await one.end();
  silent.close();
  await refused(submit(folder, { from: home }), "engine", /npm install bullmq ioredis$/);
});

test("a password with signs of URLs is sent, and never shown", { skip }, async () => {
  const [right, wrong] = ["5e/cr#e?t%@7", "wr0/ng#on?e"];
  const own = await startRedis({ requirepass: right });
  const connectionOf = (user: string): string => own.url.replace("//", `//${user}`);
  await addWorker({ connection: connectionOf(`:${right}@`) });
  const folder = await smallJob();
  const encoded = right.replaceAll(/[^\w]/g, encodeURIComponent);
  for (const user of [`:${right}@`, `:${encoded}@`, `default:${right}@`])
    await submit(folder, { connection: connectionOf(user) });
  await assertDone();
  for (const [user, reply] of [
    [`:${wrong}@`, "WRONGPASS"],
    [`anna:${right}@`, "WRONGPASS"],
    ["", "NOAUTH"],
  ] as const) {
    await assert.rejects(submit(folder, { connection: connectionOf(user) }), (error) => {
      assert.ok(isTensorError(error, "engine"), String(error));
      assert.match(error.message, new RegExp(`cannot be used: ${reply} [^;]*$`));
      assert.doesNotMatch(inspect(error), /wr0|5e\//);
      return true;
    });
  }
  await own.end();
});
