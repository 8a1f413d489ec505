/** Who works on a job: records in its folder, which anybody may have written, and which nothing depends on. */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { removeJob } from "../../src/arrays/chunked/job/job-folder.ts";
import { openJob } from "../../src/arrays/chunked/job/job.ts";
import { rootsFrom } from "../../src/arrays/chunked/job/roots.ts";
import { workersOf, type JobWorkerFacts, Presence } from "../../src/arrays/chunked/job/workers.ts";
import { startPool } from "../../src/arrays/chunked/run/pool.ts";
import { takerOf } from "../../src/cli/commands/job.ts";
import { runCommand } from "../support/cli.ts";
import { add, makeHome, makeJob, MEMORY, storeInputs } from "../support/job-files.ts";

async function jobIn(home: string) {
  await storeInputs(home);
  return openJob(await makeJob(home, add));
}

/** Runs `action` with intervals that pass when the function that it receives is called. */
async function withTicks<T>(action: (tick: () => void) => Promise<T>): Promise<T> {
  const { setInterval } = globalThis;
  const callbacks: (() => void)[] = [];
  const unref = (): void => {};
  const interval = (callback: () => void): object => {
    callbacks.push(callback);
    return { unref };
  };
  Object.assign(globalThis, { setInterval: interval });
  try {
    return await action(() => {
      assert.equal(callbacks.length, 1);
      callbacks[0]();
    });
  } finally {
    Object.assign(globalThis, { setInterval });
  }
}

/** Has a process say that it works on a job, once, until `look` is done. */
async function working<T>(
  presence: Presence,
  folder: string,
  id: string,
  look: () => Promise<T>,
): Promise<T> {
  return withTicks(async (tick) => {
    let result: T | undefined;
    try {
      await presence.during(folder, id, async () => {
        tick();
        result = await look();
      });
      return result as T;
    } finally {
      await presence.end();
    }
  });
}

const nothing = (): Promise<void> => Promise.resolve();

async function untilSeen(folder: string): Promise<JobWorkerFacts[]> {
  const job = await openJob(folder);
  for (;;) {
    const found = await workersOf(job);
    if (found.length > 0) return found;
  }
}

test("whoever works on a job says so in its folder, and takes that back in the end", async () => {
  const home = makeHome();
  const { folder, id } = await jobIn(home);
  assert.deepEqual(await workersOf({ folder, id, stages: [] }), []);
  const presence = new Presence("queue", 3, await rootsFrom([home]));
  const [seen, { stdout }, { stdout: json }] = await working(presence, folder, id, async () => [
    await untilSeen(folder),
    await runCommand(home, ["job", "status", "job"]),
    await runCommand(home, ["job", "status", "job", "--json"]),
  ]);
  assert.equal(seen.length, 1);
  const [{ host, process: pid, by, threads, done, rate }] = seen as [JobWorkerFacts];
  assert.deepEqual([pid, by, threads, done, rate], [process.pid, "queue", 3, 0, null]);
  assert.equal(host, os.hostname().replace(/[^\w.-]/g, "_"));
  assert.match(stdout, new RegExp(`${host}, process ${pid} +worker of a queue +3 threads`));
  const facts = JSON.parse(json) as { workers: JobWorkerFacts[] };
  assert.deepEqual(
    facts.workers.map((one) => one.process),
    [pid],
  );
  assert.deepEqual(await workersOf({ folder, id, stages: [] }), []);
});

test("the tasks of a pool leave a record, and its end removes it", async () => {
  const home = makeHome();
  const { folder, id, stages } = await jobIn(home);
  await withTicks(async (tick) => {
    const pool = startPool({ threads: 1, memory: MEMORY, by: "task" });
    const task = pool.run(folder, "partition", 0, undefined, id);
    tick();
    const [seen] = await Promise.all([untilSeen(folder), task]);
    assert.equal(seen[0]?.by, "task");
    await pool.end();
  });
  assert.deepEqual(await workersOf({ folder, id, stages }), []);
});

test("a pool refuses the task of a job whose folder holds another one", async () => {
  const home = makeHome();
  const { folder, id } = await jobIn(home);
  for (const threads of [0, 1]) {
    const pool = startPool({ threads, memory: MEMORY });
    await assert.rejects(pool.run(folder, "partition", 0, undefined, "0123456789ab"), {
      message: `job 0123456789ab was removed, and ${folder} now holds job ${id}; begin the removed job again in another folder`,
    });
    const names = fs.readdirSync(path.join(folder, "shuffle")).toSorted();
    assert.deepEqual(names, threads === 0 ? [] : ["0", "0.seen"]);
    await pool.run(folder, "partition", 0, undefined, id);
    await pool.end();
  }
});

test("records that a process did not write, or not lately, are passed over", async () => {
  const home = makeHome();
  const job = await jobIn(home);
  const place = path.join(job.folder, "workers");
  const good = {
    job: job.id,
    host: "node-1",
    process: 7,
    by: "slurm 12_3",
    threads: 1,
    done: 4,
    seconds: 8,
  };
  const write = (name: string, content: unknown): string => {
    const file = path.join(place, name);
    fs.writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
    return file;
  };
  write("node-1-7-abcdef", good);
  const wrong: readonly unknown[] = [
    "",
    "null",
    "7",
    "[]",
    "{",
    { ...good, job: "another" },
    { ...good, host: "a\u001b[31m" },
    { ...good, host: "" },
    { ...good, host: 7 },
    { ...good, process: -1 },
    { ...good, process: 1.5 },
    { ...good, by: "root\nuser" },
    { ...good, by: "slurm ;reboot" },
    { ...good, threads: "many" },
    { ...good, done: null },
    { ...good, seconds: -1 },
    { ...good, seconds: "1" },
    { ...good, padding: "x".repeat(2000) },
  ];
  for (const [at, content] of wrong.entries())
    write(`wrong-${at}-00000${at.toString(16).padStart(1, "0").slice(-1)}`, content);
  for (const seconds of [-3600, 3600]) {
    const file = write(`old-1-${seconds < 0 ? "aaaaaa" : "bbbbbb"}`, good);
    const then = Date.now() / 1000 + seconds;
    fs.utimesSync(file, then, then);
  }
  write("not a record", good);
  write("..-1-zzzzzz", good);
  fs.mkdirSync(path.join(place, "folder-1-cccccc"));
  if (process.platform !== "win32") {
    const elsewhere = path.join(home, "elsewhere");
    fs.writeFileSync(elsewhere, JSON.stringify(good));
    fs.symlinkSync(elsewhere, path.join(place, "link-1-dddddd"));
    // Reading a pipe that nobody writes would wait without end.
    spawnSync("mkfifo", [path.join(place, "pipe-1-eeeeee")]);
  }
  const [{ rate, ...found }, ...more] = (await workersOf(job)) as [JobWorkerFacts];
  assert.deepEqual(more, []);
  assert.equal(rate, 0.5);
  assert.equal(found.host, "node-1");
  const { status, stdout } = await runCommand(home, ["job", "status", "job"]);
  assert.equal(status, 0);
  assert.match(
    stdout,
    /^node-1, process 7 +slurm 12_3 +1 thread +4 tasks in 8\.0 s +0\.50 a second/m,
  );
});

test("nothing is written through a link, into another folder, or into a job that has ended", async () => {
  const home = makeHome();
  const { folder, id } = await jobIn(home);
  const elsewhere = path.join(home, "elsewhere");
  fs.mkdirSync(elsewhere);
  const place = path.join(folder, "workers");
  fs.rmdirSync(place);
  fs.symlinkSync(elsewhere, place);
  await working(new Presence("run", 1, null), folder, id, nothing);
  assert.deepEqual(fs.readdirSync(elsewhere), []);
  fs.unlinkSync(place);
  fs.mkdirSync(place);
  // A queue may name any folder.
  const own = path.join(home, "own");
  fs.mkdirSync(own);
  const roots = await rootsFrom([own]);
  await working(new Presence("queue", 1, roots), folder, id, nothing);
  assert.deepEqual(fs.readdirSync(place), []);
  await removeJob(folder);
  assert.ok(!fs.existsSync(folder));
  await working(new Presence("run", 1, null), folder, id, nothing);
  assert.ok(!fs.existsSync(folder));
});

test("a task of Slurm is known by the variables that Slurm sets", () => {
  assert.equal(takerOf({}), "task");
  assert.equal(takerOf({ SLURM_JOB_ID: "7" }), "slurm 7");
  const element = { SLURM_ARRAY_JOB_ID: "12", SLURM_ARRAY_TASK_ID: "3", SLURM_JOB_ID: "14" };
  assert.equal(takerOf(element), "slurm 12_3");
  assert.equal(takerOf({ SLURM_JOB_ID: "7; reboot" }), "task");
});
