/** Chunked jobs on BullMQ: the bits are those of one loop in memory, whatever becomes of workers and of Redis. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { after, afterEach, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openJob, remainingTasks, type StageName } from "../../src/entries/chunked.ts";
import { isTensorError } from "../../src/core/errors.ts";
import { submitJob } from "../../src/entries/bullmq.ts";
import { PACKAGES, WITHOUT_QUEUE } from "./distributed/packages.ts";
import { makeRealJob } from "./distributed/real-job.ts";
import { startRedis, type RedisServer } from "./distributed/redis-server.ts";
import { MAIN } from "../support/cli.ts";
import { add, makeJob, max, readAll, storeInputs } from "../support/job-files.ts";
import { randomFrom, seedOf } from "../support/random.ts";
import { exitOnSignals, ProcessGroup } from "../../scripts/process-group.js";

const skip = WITHOUT_QUEUE;
// A test that takes too long takes its processes with it.
exitOnSignals();

let redis: RedisServer;
let home: string;
let workers: ProcessGroup[] = [];

before(async () => {
  if (skip !== false) return;
  home = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-bullmq-"));
  redis = await startRedis();
});
after(async () => {
  if (skip !== false) return;
  await redis?.end();
  fs.rmSync(home, { recursive: true });
});
afterEach(async () => {
  for (const worker of workers) await worker.end();
  workers = [];
});

/** Where the command finds BullMQ. */
const cwd = PACKAGES;

/** `limit` is a command of the shell that limits what the workers may use. */
function addWorkers(count: number, url = redis.url, limit = "true"): void {
  const args = ["job", "worker", "--redis", url, "--threads", "1", "--memory", "256M"];
  for (let at = 0; at < count; at++) {
    const command = ["sh", "-c", `${limit}; exec "$@"`, "sh", process.execPath, MAIN, ...args];
    workers.push(new ProcessGroup(command, { cwd }));
  }
}

/** Waits until all workers listen to the queue. */
async function untilReady(): Promise<void> {
  const isReady = ({ output }: ProcessGroup): boolean => output.includes("waiting for tasks");
  for (let attempt = 0; !workers.every(isReady); attempt++) {
    assert.ok(attempt < 3000, "waited 30 s for workers");
    await sleep(10);
  }
}

const submit = (folder: string): Promise<void> =>
  submitJob(folder, { connection: redis.url, from: PACKAGES });

/** Waits until so many tasks of a stage are done. */
async function untilDone(folder: string, stage: StageName, count: number): Promise<void> {
  const job = await openJob(folder);
  const { tasks = 0 } = job.stages.find(({ name }) => name === stage) ?? {};
  for (let attempt = 0; attempt < 3000; attempt++) {
    if (tasks - (await remainingTasks(job, stage)).length >= count) return;
    await sleep(10);
  }
  assert.fail(`waited 30 s for ${count} tasks of ${stage}`);
}

for (const stage of ["partition", "apply"] as const) {
  test(`a worker of three is killed in ${stage}`, { skip }, async () => {
    const { folder, isRight } = await makeRealJob(home, stage === "apply" ? 1 : 2);
    addWorkers(3);
    const result = submit(folder);
    await untilDone(folder, stage, 5);
    workers[0]?.child.kill("SIGKILL");
    await result;
    assert.ok(isRight());
    // Nobody needs a worker for a job that is done.
    await submit(folder);
  });
}

test("Redis is emptied, and two wait for the job", { skip }, async () => {
  const { folder, isRight } = await makeRealJob(home, 3);
  addWorkers(2);
  const results = [submit(folder), submit(folder)];
  await untilDone(folder, "apply", 10);
  await redis.command("FLUSHALL");
  await Promise.all(results);
  assert.ok(isRight());
});

test("a worker knows a job from its successor in the same folder", { skip }, async () => {
  const own = fs.mkdtempSync(path.join(home, "twice-"));
  await storeInputs(own);
  addWorkers(1);
  for (const [call, value] of [
    [add, 6],
    [max, 5],
  ] as const) {
    await submit(await makeJob(own, call));
    const sums = await readAll(path.join(own, "out.zarr"));
    assert.deepEqual(new Set(sums), new Set([value]));
    for (const name of ["job", "out.zarr"]) fs.rmSync(path.join(own, name), { recursive: true });
  }
});

test("the first bad index of all ends the job, and there is no output", { skip }, async () => {
  const { folder, isRight } = await makeRealJob(home, 4, { bad: 12_345 });
  addWorkers(2);
  await assert.rejects(submit(folder), (error) => {
    assert.ok(isTensorError(error, "index-out-of-range"));
    // Its place is the one in all indices, not that in a block.
    assert.deepEqual(error.at, [12_345, 0]);
    assert.equal(error.got, 32_768);
    return true;
  });
  assert.ok(!isRight());
});

test("the command submits, and goes on after Ctrl-C", { skip }, async () => {
  const { files, isRight } = await makeRealJob(home, 6);
  const [job, out] = [path.join(home, "typed"), path.join(home, "typed.npy")];
  const args = ["--attr", "reduction=add", ...files, "-o", out, "--job", job, "--memory", "128M"];
  const run = (): ProcessGroup => {
    const line = ["run", "ScatterND", ...args, "--redis", redis.url];
    return new ProcessGroup([process.execPath, MAIN, ...line], { cwd });
  };
  const first = run();
  for (let attempt = 0; !/partition/.test(first.output) && attempt < 1000; attempt++)
    await sleep(10);
  first.child.kill("SIGINT");
  const { status } = await first.ended;
  assert.equal(status, 1);
  assert.match(
    first.output,
    /ndscatter: stopped, .* run the same command again to finish the job in/,
  );
  addWorkers(2);
  const second = run();
  assert.deepEqual(await second.ended, { status: 0, signal: null }, second.output);
  assert.ok(isRight(out));
});

/** Files of a worker may have at most 512 bytes. */
const SMALL_FILES = "ulimit -f 1";

test("an error of the machine ends the job after some attempts", { skip }, async () => {
  const { folder, isRight } = await makeRealJob(home, 11);
  addWorkers(1, redis.url, SMALL_FILES);
  await untilReady();
  const notes: string[] = [];
  const onNote = (note: string): void => void notes.push(note);
  const how = { connection: redis.url, from: PACKAGES, attempts: 2, onNote };
  await assert.rejects(submitJob(folder, how), (error) => {
    assert.ok(isTensorError(error, "engine"), String(error));
    assert.match(error.message, /^the job failed on \S+ \(process \d+\): EFBIG: .*/);
    // While the worker waits for its next attempt, no worker is at work.
    assert.deepEqual(
      notes.filter((note) => !note.startsWith("no worker")),
      [error.message],
    );
    return true;
  });
  addWorkers(1);
  await submit(folder);
  assert.ok(isRight());
});

test("errors of one machine do not end a job with which another gets on", { skip }, async () => {
  const { folder, isRight } = await makeRealJob(home, 12);
  addWorkers(2, redis.url, SMALL_FILES);
  addWorkers(1);
  await untilReady();
  await submitJob(folder, { connection: redis.url, from: PACKAGES, attempts: 1 });
  assert.ok(isRight());
});

test("a worker that stands still holds nobody up", { skip }, async () => {
  const { folder, isRight } = await makeRealJob(home, 8);
  addWorkers(2);
  const result = submit(folder);
  await untilDone(folder, "partition", 5);
  workers[0]?.child.kill("SIGSTOP");
  await result;
  assert.ok(isRight());
});

test("SIGTERM ends a worker, and the other goes on", { skip }, async () => {
  const { folder, isRight } = await makeRealJob(home, 9);
  addWorkers(2);
  const result = submit(folder);
  await untilDone(folder, "partition", 5);
  workers[0]?.child.kill("SIGTERM");
  assert.equal((await workers[0]?.ended)?.status, 0);
  await result;
  assert.ok(isRight());
});

test("a worker whose Redis is gone ends its job, and then on SIGTERM", { skip }, async () => {
  const own = await startRedis();
  const { folder, isRight } = await makeRealJob(home, 10);
  addWorkers(1, own.url);
  const result = submitJob(folder, { connection: own.url, from: PACKAGES });
  await untilDone(folder, "partition", 5);
  await own.end();
  await result;
  assert.ok(isRight());
  workers[0]?.child.kill("SIGTERM");
  const ended = workers[0]?.ended.then(({ status }) => status);
  assert.equal(await Promise.race([ended, sleep(20_000, "it still runs")]), 0);
});

const FIRST = seedOf("bullmq-jobs");

for (let seed = FIRST; seed < FIRST + Number(process.env["JOBS"] ?? 5); seed++) {
  test(`a job among random faults gives the bits of one loop, seed ${seed}`, { skip }, async () => {
    const random = randomFrom(seed);
    const { folder, isRight } = await makeRealJob(home, seed);
    addWorkers(3);
    const results = Array.from({ length: 1 + random(2) }, () => submit(folder));
    const over = Promise.all(results);
    for (let fault = 0; fault < 8 && !isRight(); fault++) {
      await sleep(random(800));
      const worker = workers[random(workers.length)];
      const kind = random(5);
      if (kind === 0) await redis.command("FLUSHALL");
      else if (kind === 1) worker?.child.kill("SIGKILL");
      else if (kind === 2) worker?.child.kill("SIGSTOP");
      else if (kind === 3) worker?.child.kill("SIGTERM");
      else for (const one of workers) one.child.kill("SIGCONT");
      addWorkers(Number(kind > 0 && kind < 4));
    }
    await over;
    assert.ok(isRight());
  });
}
