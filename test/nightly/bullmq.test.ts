/**
 * Jobs of the stub on BullMQ: which tasks run, how often, and what becomes of workers, queues and errors. Tasks are those
 * of `test/nightly/distributed/stub-core.ts`.
 */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as net from "node:net";
import * as os from "node:os";
import * as path from "node:path";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { isTensorError, TensorError } from "../../src/core/errors.ts";
import {
  submit,
  type SubmitProgress,
  type SubmitOptions,
} from "../../src/arrays/distributed/submit.ts";
import { loadBullmq } from "../../src/arrays/distributed/packages.ts";
import { ROOT } from "../../src/arrays/distributed/steps.ts";
import { startWorker } from "../../src/arrays/distributed/worker.ts";
import { PACKAGES, WITHOUT_QUEUE } from "./distributed/packages.ts";
import { freePort, startRedis, type RedisServer } from "./distributed/redis-server.ts";
import {
  isInTask,
  STUB_CORE,
  stubRuns,
  writeStubJob,
  type StubJob,
} from "./distributed/stub-core.ts";
import { HAS_LISTENERS, openAddresses } from "../support/listeners.ts";
import { setLimits } from "../support/limits.ts";
import { exitOnSignals, ProcessGroup } from "../../scripts/process-group.js";

const skip = WITHOUT_QUEUE;
// A test that takes too long takes its processes with it.
exitOnSignals();

let redis: RedisServer;
let home: string;
let workers: ProcessGroup[] = [];

before(async () => {
  if (skip === false) redis = await startRedis();
});
after(() => redis?.end());

beforeEach(async () => {
  if (skip !== false) return;
  await redis.command("FLUSHALL");
  home = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-bullmq-"));
});
afterEach(async () => {
  if (skip !== false) return;
  for (const worker of workers) await worker.end();
  workers = [];
  fs.rmSync(home, { recursive: true });
});

const WORKER = fileURLToPath(new URL("distributed/stub-worker.js", import.meta.url));

/** Starts a process that works on the jobs of the queue. */
function addWorker(threads = 1): ProcessGroup {
  const worker = new ProcessGroup([process.execPath, WORKER, redis.url, PACKAGES, String(threads)]);
  workers.push(worker);
  return worker;
}

/** Waits until a condition holds. */
async function until(condition: () => boolean, what: string): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    if (condition()) return;
    await sleep(50);
  }
  assert.fail(`waited 30 s: ${what}`);
}

const STAGES: StubJob["stages"] = [
  { name: "partition", tasks: 12 },
  { name: "apply", tasks: 12 },
  { name: "finish", tasks: 1 },
];

let jobs = 0;
const makeJob = (more: Partial<StubJob> = {}): string =>
  writeStubJob(path.join(home, `job-${jobs}`), {
    id: `job-${jobs++}`,
    stages: STAGES,
    milliseconds: 100,
    ...more,
  });

const submitHere = (folder: string, options: Partial<SubmitOptions> = {}): Promise<void> =>
  submit(STUB_CORE, folder, { connection: redis.url, from: PACKAGES, ...options });

const ALL = STAGES.flatMap(({ name, tasks }) =>
  Array.from({ length: tasks }, (_, task) => `${name} ${task}`),
);

/** That every task is done; the stub itself refuses tasks whose stage may not begin. */
function assertDone(folder: string): void {
  const done = STAGES.flatMap(({ name }) =>
    fs.readdirSync(path.join(folder, name)).map((task) => `${name} ${task}`),
  );
  assert.deepEqual(done.sort(), ALL.toSorted());
}

test("three workers do each task once, stage after stage", { skip }, async () => {
  for (let count = 0; count < 3; count++) addWorker(2);
  const folder = makeJob();
  const seen: SubmitProgress[] = [];
  await submitHere(folder, { onProgress: (progress) => seen.push(progress) });
  assertDone(folder);
  assert.deepEqual(stubRuns(folder).sort(), ALL.toSorted());
  assert.equal(seen[0]?.stage, "partition");
  assert.equal(seen[0]?.tasks, 12);
});

test("a worker that is killed loses no task", { skip }, async () => {
  const [first] = [addWorker(), addWorker(), addWorker()];
  const folder = makeJob({ milliseconds: 200 });
  const result = submitHere(folder);
  const { child } = first;
  const isBusy = (): boolean => isInTask(folder, child.pid ?? 0);
  await until(isBusy, "the first worker does a task");
  child.kill("SIGKILL");
  await until(() => child.signalCode !== null, "the first worker is gone");
  // On a busy machine the task may have ended just before.
  const isLeft = isBusy();
  await result;
  assertDone(folder);
  // The task that it left began again, and no other did.
  assert.equal(stubRuns(folder).length, ALL.length + (isLeft ? 1 : 0));
});

test("a job that Redis has lost goes on by itself", { skip }, async () => {
  addWorker(2);
  const folder = makeJob();
  const notes: string[] = [];
  const result = submitHere(folder, { onNote: (note) => notes.push(note) });
  await until(() => stubRuns(folder).length > 5, "some tasks run");
  await redis.command("FLUSHALL");
  await result;
  assertDone(folder);
  assert.match(notes.join("\n"), /the queue has lost the job/);
  // Only those that ran at that moment, on two threads, may run again.
  assert.ok(stubRuns(folder).length <= ALL.length + 2, stubRuns(folder).join(", "));
});

test("only what remains is added when a job is submitted again", { skip }, async () => {
  const folder = makeJob({ milliseconds: 300 });
  const worker = addWorker(2);
  const controller = new AbortController();
  const result = submitHere(folder, { signal: controller.signal });
  await until(() => stubRuns(folder).length > 5, "some tasks run");
  controller.abort();
  await assert.rejects(result, { name: "AbortError" });
  // What ran ends, and nothing else begins.
  await sleep(400);
  const { length } = stubRuns(folder);
  await sleep(700);
  assert.equal(stubRuns(folder).length, length);
  assert.ok(length < 12);
  await submitHere(folder);
  assertDone(folder);
  assert.deepEqual(stubRuns(folder).sort(), ALL.toSorted());
  // Submitted once more, it is done without any worker.
  await worker.end();
  await submitHere(folder);
});

test("two who submit one job share its tasks", { skip }, async () => {
  addWorker(2);
  const folder = makeJob();
  await Promise.all([submitHere(folder), submitHere(folder)]);
  assertDone(folder);
  assert.equal(stubRuns(folder).length, ALL.length);
});

test("a job that one of two takes back goes on for the other", { skip }, async () => {
  addWorker(2);
  const folder = makeJob();
  const controller = new AbortController();
  const [stayed, left] = [submitHere(folder), submitHere(folder, { signal: controller.signal })];
  await until(() => stubRuns(folder).length > 3, "some tasks run");
  controller.abort();
  await assert.rejects(left, { name: "AbortError" });
  await stayed;
  assertDone(folder);
});

test("several jobs on one queue", { skip }, async () => {
  addWorker(2);
  addWorker(2);
  const folders = [makeJob(), makeJob(), makeJob()];
  await Promise.all(folders.map((folder) => submitHere(folder)));
  for (const folder of folders) {
    assertDone(folder);
    assert.equal(stubRuns(folder).length, ALL.length);
  }
});

test("a bad index ends the job with its own error, and is not tried again", { skip }, async () => {
  addWorker(2);
  const folder = makeJob({ badIndex: "indices[3, 0] is 9, beyond axis 0 of size 5" });
  for (let submission = 0; submission < 2; submission++) {
    await assert.rejects(submitHere(folder), (error) => {
      assert.ok(isTensorError(error, "index-out-of-range"));
      assert.equal(error.message, "indices[3, 0] is 9, beyond axis 0 of size 5");
      return true;
    });
  }
  assert.equal(stubRuns(folder).length, 12);
});

test(
  "a damaged chunk ends the job with its sentence, and is not tried again",
  { skip },
  async () => {
    addWorker(2);
    const folder = makeJob({ damaged: { stage: "apply", task: 4 } });
    await assert.rejects(submitHere(folder), (error) => {
      assert.ok(isTensorError(error, "malformed-file"));
      assert.equal(error.message, "chunk 4 is damaged");
      return true;
    });
    assert.equal(stubRuns(folder).filter((run) => run === "apply 4").length, 1);
    // The rest of the stage was taken from the queue.
    await sleep(500);
    assert.ok(stubRuns(folder).length < ALL.length - 1, stubRuns(folder).join(", "));
  },
);

test(
  "the last task is tried again where it does not see what others have done",
  { skip },
  async () => {
    let attempts = 0;
    const late = new TensorError("engine", "2 of its apply tasks are not done");
    const pool = STUB_CORE.startPool({ threads: 1, memory: 2 ** 28, roots: null });
    const run: typeof pool.run = (folder, stage, task) =>
      stage === "finish" && attempts++ === 0 ? Promise.reject(late) : pool.run(folder, stage, task);
    const core = { ...STUB_CORE, startPool: () => ({ ...pool, run }) };
    const connection = redis.url;
    const options = { connection, from: PACKAGES, threads: 2, memory: 2 ** 28 };
    const worker = await startWorker(core, options);
    const folder = makeJob({ milliseconds: 10 });
    await submitHere(folder);
    assertDone(folder);
    assert.equal(attempts, 2);
    await worker.close();
  },
);

test(
  "a worker with roots refuses a job that lies elsewhere, once and for all",
  { skip },
  async () => {
    const own = fs.mkdtempSync(path.join(home, "root-"));
    const options = {
      connection: redis.url,
      from: PACKAGES,
      threads: 2,
      memory: 2 ** 28,
      roots: [own],
    };
    const worker = await startWorker(STUB_CORE, options);
    const folder = makeJob({ milliseconds: 10 });
    await assert.rejects(submitHere(folder), (error) => {
      assert.ok(isTensorError(error, "attribute"), String(error));
      assert.match(
        error.message,
        /^the job's folder \S+ lies outside this worker's roots: \S+root-/,
      );
      return true;
    });
    assert.deepEqual(stubRuns(folder), []);
    const inside = writeStubJob(path.join(own, "job"), {
      id: "inside",
      stages: STAGES,
      milliseconds: 10,
    });
    await submitHere(inside);
    assertDone(inside);
    await worker.close();
  },
);

test(
  "an entry of the queue that is not of a job fails, and the worker goes on",
  { skip },
  async () => {
    const worker = await startWorker(STUB_CORE, {
      connection: redis.url,
      from: PACKAGES,
      threads: 2,
      memory: 2 ** 28,
    });
    const bullmq = await loadBullmq(PACKAGES);
    const [host, port] = ["127.0.0.1", redis.port];
    const queue = new bullmq.Queue("ndscatter", { connection: { host, port } });
    const entries = [
      null,
      7,
      "text",
      {},
      { folder: 7, id: "x" },
      { folder: "", id: "x" },
      { folder: "a\0b", id: "x" },
      { folder: home },
      { folder: home, id: "x", stage: 5, tasks: "0" },
      { folder: home, id: "x", stage: "apply", tasks: {} },
      { folder: home, id: "x", stage: "apply", tasks: "0-99999999999" },
    ];
    for (const [i, data] of entries.entries()) {
      for (const name of [ROOT, "apply"]) {
        const job = await queue.add(name, data as object, { jobId: `bad-${name}-${i}` });
        let state = "";
        await until(() => {
          void job.getState().then((now) => (state = now));
          return state === "failed";
        }, `entry ${i} as ${name} fails, is ${state}`);
      }
    }
    const folder = makeJob({ milliseconds: 10 });
    await submitHere(folder);
    assertDone(folder);
    await queue.close();
    await worker.close();
  },
);

test("a task that fails is tried again, then its sentence ends the job", { skip }, async () => {
  addWorker(2);
  const folder = makeJob({ failing: { stage: "partition", task: 3 } });
  await assert.rejects(submitHere(folder, { attempts: 2 }), (error) => {
    assert.ok(isTensorError(error, "engine"));
    assert.match(error.message, /^task 3 of partition failed on \S+: no space left on device$/);
    return true;
  });
  assert.equal(stubRuns(folder).filter((run) => run === "partition 3").length, 2);
  // Somebody makes room.
  writeStubJob(folder, { id: path.basename(folder), stages: STAGES, milliseconds: 10 });
  await submitHere(folder);
  assertDone(folder);
});

test("SIGTERM lets a worker finish its task", { skip }, async () => {
  const [first] = [addWorker(), addWorker(2)];
  const folder = makeJob({ milliseconds: 300 });
  const result = submitHere(folder);
  await until(() => first.output.includes("partition"), "the first worker does a task");
  first.child.kill("SIGTERM");
  const { status } = await first.ended;
  assert.equal(status, 0);
  assert.match(first.output, /closed\n$/);
  await result;
  assertDone(folder);
  // A task that was given up would run twice.
  assert.equal(stubRuns(folder).length, ALL.length);
});

test("SIGTERM gives back the tasks of a range that have not begun", { skip }, async () => {
  const worker = addWorker();
  const folder = makeJob({ milliseconds: 200 });
  const result = submitHere(folder, { tasksPerJob: 5 });
  await until(() => stubRuns(folder).length === 2, "a worker is in the middle of a range");
  worker.child.kill("SIGTERM");
  await worker.ended;
  // On a slow machine the third may have begun before the signal came.
  const ran = stubRuns(folder).length;
  assert.ok(ran < 5, `${ran} of a range of 5 ran`);
  const second = addWorker();
  await result;
  assertDone(folder);
  assert.equal(stubRuns(folder).length, ALL.length);
  assert.match(second.output, /^partition 0-4\npartition 5-9\npartition 10-11$/m);
});

test("a worker that is closed without patience gives its task back", { skip }, async () => {
  const worker = await startWorker(STUB_CORE, {
    connection: redis.url,
    from: PACKAGES,
    threads: 1,
    memory: 2 ** 28,
  });
  const folder = makeJob({ milliseconds: 3000, stages: [{ name: "finish", tasks: 1 }] });
  const result = submitHere(folder);
  await until(() => stubRuns(folder).length > 0, "a task runs");
  const start = performance.now();
  await worker.close(0);
  assert.ok(performance.now() - start < 2500);
  addWorker();
  await result;
  assert.deepEqual(stubRuns(folder), ["finish 0", "finish 0"]);
});

test("Redis listens on a loopback address only", { skip: skip || !HAS_LISTENERS }, () => {
  assert.deepEqual(openAddresses([redis.pid]), []);
});

test("a worker whose Redis is gone ends on SIGTERM", { skip }, async () => {
  const own = await startRedis();
  const worker = new ProcessGroup([process.execPath, WORKER, own.url, PACKAGES, "1"]);
  workers.push(worker);
  await until(() => worker.output.includes("ready"), "the worker is ready");
  await own.end();
  worker.child.kill("SIGTERM");
  const ended = worker.ended.then(({ status }) => status);
  assert.equal(await Promise.race([ended, sleep(20_000, "it still runs")]), 0, worker.output);
});

test("whoever submits is told once that no worker listens", { skip }, async () => {
  const restore = setLimits({ DISTRIBUTED: { count: 100 } });
  const folder = makeJob({ milliseconds: 10 });
  const notes: string[] = [];
  const result = submitHere(folder, { onNote: (note) => notes.push(note) });
  await until(() => notes.length > 0, "a note");
  addWorker(2);
  await result;
  restore();
  assert.deepEqual(notes, [
    `no worker listens to the queue ndscatter of Redis at 127.0.0.1:${redis.port}; start one: ndscatter job worker`,
  ]);
});

test("TLS at a plain server is a sentence, at once", { skip }, async () => {
  for (const connection of [
    redis.url.replace("redis:", "rediss:"),
    { host: "127.0.0.1", port: redis.port, tls: {} },
  ]) {
    await assert.rejects(submitHere(makeJob(), { connection }), (error) => {
      assert.ok(isTensorError(error, "engine"));
      assert.equal(
        error.message,
        `Redis at 127.0.0.1:${redis.port} cannot be used: it does not use TLS; use redis:// instead of rediss://`,
      );
      return true;
    });
  }
});

test("a server that never answers is a sentence", { skip }, async () => {
  const restore = setLimits({ DISTRIBUTED: { answer: 300 } });
  const silent = net.createServer().unref();
  await new Promise<void>((resolve) => {
    silent.listen(0, "127.0.0.1", resolve);
  });
  const { port } = silent.address() as net.AddressInfo;
  const connection = `redis://127.0.0.1:${port}`;
  await assert.rejects(submitHere(makeJob(), { connection }), {
    message: `Redis at 127.0.0.1:${port} cannot be used: it did not answer within 0.3 s; start Redis there, or give another address`,
  });
  silent.close();
  restore();
});

/** That an error says why a Redis cannot be used, without a secret. */
const stated = (error: unknown, reason: RegExp, secret: string): boolean => {
  assert.ok(isTensorError(error, "engine"), String(error));
  assert.match(error.message, reason);
  assert.doesNotMatch(error.message, /start Redis there/);
  assert.ok(!inspect(error).includes(secret));
  return true;
};

test(
  "a password with signs of URLs is sent, and a wrong one is named, but never shown",
  { skip },
  async () => {
    const [right, wrong] = ["5e/cr#e?t%@7", "wr0/ng#on?e"];
    const encoded = (text: string): string => text.replaceAll(/[^\w]/g, encodeURIComponent);
    const own = await startRedis({ requirepass: right });
    const folder = makeJob({ milliseconds: 10 });
    const submitTo = (user: string): Promise<void> =>
      submitHere(folder, { connection: own.url.replace("//", `//${user}`) });
    const options = { from: PACKAGES, threads: 2, memory: 2 ** 28 };
    const connection = own.url.replace("//", `//:${right}@`);
    const worker = await startWorker(STUB_CORE, { ...options, connection });
    for (const user of [`:${right}@`, `:${encoded(right)}@`, `default:${right}@`])
      await submitTo(user);
    assertDone(folder);
    await worker.close();
    for (const user of [`:${wrong}@`, `:${encoded(wrong)}@`, `anna:${right}@`]) {
      await assert.rejects(submitTo(user), (error) => stated(error, /refuses the password/, "wr0"));
    }
    await assert.rejects(submitTo(""), (error) => stated(error, /requires a password/, "5e/"));
    await own.end();
  },
);

test("a Redis in cluster mode and a replica are refused by name", { skip }, async () => {
  const cluster = await startRedis({ "cluster-enabled": "yes" });
  await assert.rejects(submitHere(makeJob(), { connection: cluster.url }), (error) =>
    stated(error, /cluster mode/, "none"),
  );
  await cluster.end();
  const replica = await startRedis({ replicaof: `127.0.0.1 ${redis.port}` });
  await assert.rejects(submitHere(makeJob(), { connection: replica.url }), (error) =>
    stated(error, /replica/, "none"),
  );
  await replica.end();
});

test("an address where nothing answers is a sentence", { skip }, async () => {
  const port = await freePort();
  const connection = `redis://user:secret@127.0.0.1:${port}`;
  await assert.rejects(submitHere(makeJob(), { connection }), (error) => {
    assert.ok(isTensorError(error, "engine"));
    assert.match(
      error.message,
      new RegExp(`^Redis at 127.0.0.1:${port} cannot be used: .*REFUSED`),
    );
    return true;
  });
});

test("without BullMQ the sentence says how to install it", { skip }, async () => {
  await assert.rejects(submitHere(makeJob(), { from: home }), (error) => {
    assert.ok(isTensorError(error, "engine"));
    assert.match(error.message, /npm install bullmq ioredis$/);
    return true;
  });
});

test("a folder that no worker sees is a sentence", { skip }, async () => {
  addWorker();
  const folder = makeJob();
  const hidden = `${folder}-hidden`;
  // As a machine that has not mounted it.
  const core = {
    ...STUB_CORE,
    openJob: () => Promise.resolve({ folder: hidden, id: "hidden", stages: STAGES }),
    remainingTasks: () => Promise.resolve([0]),
  };
  const submission = submit(core, folder, { connection: redis.url, from: PACKAGES });
  await assert.rejects(submission, (error) => {
    assert.ok(isTensorError(error, "engine"));
    assert.match(
      error.message,
      /^\S+ cannot see \S+-hidden; all workers need this folder at the same path$/,
    );
    return true;
  });
});
