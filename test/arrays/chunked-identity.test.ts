/** A job is known by its id: another job in the same folder is another job, for whoever worked on the first one. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { freeSpaceOf } from "../../src/arrays/chunked/job/disk.ts";
import { removeJob } from "../../src/arrays/chunked/job/job-folder.ts";
import { openContext, openJob, remainingTasks } from "../../src/arrays/chunked/job/job.ts";
import { startPool, startPoolWith, type TaskPool } from "../../src/arrays/chunked/run/pool.ts";
import { readSpec } from "../../src/arrays/chunked/job/spec-file.ts";
import { runTask } from "../../src/arrays/chunked/run/tasks.ts";
import { Workspace } from "../../src/arrays/chunked/stages/workspace.ts";
import {
  add,
  makeHome,
  makeJob,
  max,
  MEMORY,
  readAll,
  ROWS,
  storeInputs,
} from "../support/job-files.ts";
import { assertRejected } from "../support/refusal.ts";

async function runAll(pool: TaskPool, folder: string): Promise<void> {
  const job = await openJob(folder);
  for (const { name } of job.stages) {
    for (const task of await remainingTasks(job, name)) await pool.run(folder, name, task);
  }
}

const filled = (value: number): number[] => Array.from({ length: ROWS }, () => value);

const removeBoth = (home: string): void => {
  for (const name of ["job", "out.zarr"]) fs.rmSync(path.join(home, name), { recursive: true });
};

test("a pool that lives on knows a job from its successor in the same folder", async () => {
  const home = makeHome();
  await storeInputs(home);
  const pool = startPool({ threads: 0, memory: MEMORY });
  for (const [call, value] of [
    [add, 6],
    [max, 5],
    [add, 6],
  ] as const) {
    await runAll(pool, await makeJob(home, call));
    assert.deepEqual(await readAll(path.join(home, "out.zarr")), filled(value));
    removeBoth(home);
  }
  await pool.end();
});

test("a task of a removed job leaves its successor in the same folder alone", async () => {
  const home = makeHome();
  await storeInputs(home);
  const memory = { workspace: new Workspace(), allowance: 2 ** 20 };
  const folder = await makeJob(home, max);
  const old = await openContext(folder, await readSpec(folder));
  await runTask(old, "partition", 0, memory);
  removeBoth(home);
  await makeJob(home, add);
  const listing = (): string[] =>
    fs.readdirSync(home, { recursive: true, encoding: "utf8" }).sort();
  const before = listing();
  const refused = (stage: "partition" | "apply"): Promise<unknown> =>
    assertRejected("engine", {}, () => runTask(old, stage, 0, memory));
  await refused("partition");
  const next = await openContext(folder, await readSpec(folder));
  await runTask(next, "partition", 0, memory);
  await refused("apply");
  const after = listing().filter((name) => !/^job.shuffle.0(?:\.seen)?$/.test(name));
  assert.deepEqual(after, before);
  await assertRejected("engine", {}, () =>
    remainingTasks({ folder, id: old.spec.id, stages: old.spec.stages }, "apply"),
  );
});

test("a task of a removed job changes nothing in place", async () => {
  const home = makeHome();
  await storeInputs(home);
  const memory = { workspace: new Workspace(), allowance: 2 ** 20 };
  const folder = await makeJob(home, max, { out: null });
  const old = await openContext(folder, await readSpec(folder));
  await removeJob(folder);
  await makeJob(home, add, { out: null });
  const next = await openContext(folder, await readSpec(folder));
  await runTask(next, "partition", 0, memory);
  await assertRejected("engine", {}, () => runTask(old, "apply", 0, memory));
  assert.deepEqual(await readAll(path.join(home, "data.zarr")), filled(1));
  assert.deepEqual(fs.readdirSync(path.join(folder, "applied")), []);
  await runTask(next, "apply", 0, memory);
  assert.deepEqual(await readAll(path.join(home, "data.zarr")), [6, 1, 1, 1]);
});

test("a job that could not be opened once is opened again for the next task", async () => {
  const home = makeHome();
  await storeInputs(home);
  const folder = await makeJob(home, add);
  const pool = startPool({ threads: 0, memory: MEMORY });
  const [file, aside] = ["data.zarr", "aside.zarr"].map((name) => path.join(home, name));
  fs.renameSync(file, aside);
  await assertRejected("malformed-file", {}, () => pool.run(folder, "partition", 0));
  fs.renameSync(aside, file);
  await runAll(pool, folder);
  await pool.end();
  assert.deepEqual(await readAll(path.join(home, "out.zarr")), filled(6));
});

test("a job in a moved folder is another one for its tasks", async () => {
  const home = makeHome();
  await storeInputs(home);
  const folder = await makeJob(home, add);
  const pool = startPool({ threads: 0, memory: MEMORY });
  await pool.run(folder, "partition", 0);
  const moved = path.join(home, "moved");
  fs.renameSync(folder, moved);
  await runAll(pool, moved);
  await pool.end();
  assert.deepEqual(await readAll(path.join(home, "out.zarr")), filled(6));
});

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
    const runOf = (job: string) => pool.run(folder, "partition", 0, undefined, job);
    const fields = { key: "folder", file: folder, got: later.id, expected: id };
    await assertRejected("attribute", fields, () => runOf(id));
    assert.deepEqual(fs.readdirSync(path.join(folder, "shuffle")), []);
    // A pool that knows the removed job runs the tasks of the later one.
    await runOf(later.id);
    assert.deepEqual(await remainingTasks(later, "partition"), []);
    await pool.end();
  });
}
