/** Tasks from a queue in the pool of a worker: of removed jobs, and of jobs that are withdrawn while a step waits. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { freeSpaceOf } from "../../src/arrays/chunked/job/disk.ts";
import { removeJob } from "../../src/arrays/chunked/job/job-folder.ts";
import { jobFailure, openJob, remainingTasks } from "../../src/arrays/chunked/job/job.ts";
import { startPool, startPoolWith } from "../../src/arrays/chunked/run/pool.ts";
import { CLOCK } from "../../src/arrays/distributed/clock.ts";
import type { Core } from "../../src/arrays/distributed/core.ts";
import { stepRoot } from "../../src/arrays/distributed/steps.ts";
import { TaskRunner } from "../../src/arrays/distributed/task-runner.ts";
import { assertRejected } from "../support/refusal.ts";
import { add, makeHome, makeJob, max, MEMORY, storeInputs } from "../support/job-files.ts";

class WaitingError extends Error {}
class UnrecoverableError extends Error {}

const core: Core = {
  version: "1",
  openJob,
  isSeen: () => Promise.resolve(true),
  remainingTasks,
  jobFailure,
  startPool,
};

/** A Redis in which a job is withdrawn when its key has been read `reads` times. */
function redisAfter(reads: number) {
  const asked: string[] = [];
  const get = (key: string): Promise<string | null> => {
    asked.push(key);
    return Promise.resolve(asked.length > reads ? "1" : null);
  };
  return { asked, client: { get } as never };
}

interface Entry {
  data: Record<string, unknown>;
  readonly waits: string[];
}

/** An entry of the queue that records what is done to it. */
function entryOf(data: Record<string, unknown>) {
  const entry: Entry = { data, waits: [] };
  const methods = {
    id: "root",
    timestamp: 5,
    queueQualifiedName: "queue",
    updateData: async (next: Record<string, unknown>) => void (entry.data = next),
    updateProgress: async () => {},
    moveToWait: async (token: string) => void entry.waits.push(token),
    moveToWaitingChildren: async () => false,
    getIgnoredChildrenFailures: async () => ({}),
    removeUnprocessedChildren: async () => {},
  };
  return Object.assign(entry, methods);
}

const runnerOf = (pool: ReturnType<typeof startPool>, client: never, done: string[]): TaskRunner =>
  new TaskRunner(
    { core, bullmq: { WaitingError, UnrecoverableError } as never, pool, client, clock: CLOCK },
    { onDone: ({ stage, tasks }) => void done.push(`${stage} ${tasks}`) },
  );

const filesIn = (folder: string, stage: string): string[] =>
  fs.readdirSync(path.join(folder, stage)).filter((name) => /^\d+$/.test(name));

test("a task reports that its job was removed while the task ran", async () => {
  const home = makeHome();
  await storeInputs(home);
  const folder = await makeJob(home, add);
  const pool = startPoolWith({ threads: 0, memory: MEMORY }, async () => {
    await removeJob(folder);
    return freeSpaceOf(home);
  });
  await assertRejected("malformed-file", { file: folder }, () => pool.run(folder, "partition", 0));
  await pool.end();
});

for (const threads of [0, 1]) {
  test(`tasks of a removed job leave the job that now has its folder alone, with ${threads} threads`, async () => {
    const home = makeHome();
    await storeInputs(home);
    const folder = await makeJob(home, add);
    const { id } = await openJob(folder);
    await removeJob(folder);
    const later = await openJob(await makeJob(home, max));
    const pool = startPool({ threads, memory: MEMORY });
    const done: string[] = [];
    const runner = runnerOf(pool, redisAfter(Infinity).client, done);
    const data = { folder, id, version: "1", run: "run", stage: "partition", tasks: "0" };
    const removed = entryOf(data);
    await assert.rejects(runner.run(removed as never, "token"), (error: Error) => {
      assert.ok(error instanceof UnrecoverableError);
      assert.equal(
        error.message,
        `job ${id} was removed, and ${folder} now holds job ${later.id}; begin the removed job again in another folder`,
      );
      return true;
    });
    assert.equal(removed.data["code"], "attribute");
    assert.deepEqual([filesIn(folder, "shuffle"), done], [[], []]);
    // A pool that knows the removed job runs the tasks of the later one.
    await runner.run(entryOf({ ...data, id: later.id }) as never, "token");
    assert.deepEqual([filesIn(folder, "shuffle"), done], [["0"], ["partition 0"]]);
    await pool.end();
  });
}

test("a job withdrawn between two of an entry's tasks ends after the first of them", async () => {
  const home = makeHome();
  await storeInputs(home);
  const folder = await makeJob(home, add, { blockShape: [1] });
  const { id } = await openJob(folder);
  const pool = startPool({ threads: 0, memory: MEMORY });
  const done: string[] = [];
  for (const reads of [0, 1, 3]) {
    const { client, asked } = redisAfter(reads);
    const data = { folder, id, version: "1", run: "run", stage: "partition", tasks: "0-3" };
    const entry = entryOf(data);
    await runnerOf(pool, client, done).run(entry as never, "token");
    assert.equal(filesIn(folder, "shuffle").length, reads);
    assert.deepEqual(asked, Array<string>(reads + 1).fill("ndscatter:taken-back:run"));
    // The entry is over: it is neither returned to the queue nor reported.
    assert.deepEqual([entry.waits, done], [[], []]);
  }
  await pool.end();
});

test("a job withdrawn while its tasks are listed gets no tasks, and keeps its state", async () => {
  const home = makeHome();
  await storeInputs(home);
  const folder = await makeJob(home, add);
  const { id } = await openJob(folder);
  const data = { folder, id, version: "1", attempts: 1, tasksPerJob: 1 };
  for (const reads of [0, 1]) {
    const added: unknown[] = [];
    const queue = { addBulk: async (jobs: unknown[]) => void added.push(...jobs) } as never;
    const { client, asked } = redisAfter(reads);
    const root = entryOf(data);
    const step = await stepRoot({ core, queue, client, clock: CLOCK }, root as never, "token");
    assert.equal(step, "done");
    assert.equal(asked.length, reads + 1);
    assert.deepEqual([added, root.data], [[], data]);
  }
});
