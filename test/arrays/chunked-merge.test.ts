/** Scatters whose fragments are merged: exact, safe if interrupted, and with few fragments for arrays of terabytes. */

import * as fs from "node:fs";
import * as path from "node:path";
import assert from "node:assert/strict";
import { test } from "node:test";
import { divide } from "../../src/arrays/chunked/job/divide.ts";
import { createJob } from "../../src/arrays/chunked/job/create-job.ts";
import { FOLDERS, fileOf } from "../../src/arrays/chunked/stages/task-files.ts";
import { openContext, openJob, remainingTasks } from "../../src/arrays/chunked/job/job.ts";
import { resolveCall } from "../../src/arrays/chunked/job/request.ts";
import { readSpec } from "../../src/arrays/chunked/job/spec-file.ts";
import { startPool } from "../../src/arrays/chunked/run/pool.ts";
import { runJob } from "../../src/arrays/chunked/run/run-job.ts";
import { runTask } from "../../src/arrays/chunked/run/tasks.ts";
import { writeFragments } from "../../src/arrays/chunked/stages/fragments.ts";
import { mergeShape } from "../../src/arrays/chunked/stages/fragment-layout.ts";
import { Workspace } from "../../src/arrays/chunked/stages/workspace.ts";
import { runPlain } from "../../src/core/call/run.ts";
import { defaultExecutor } from "../../src/core/engines/choice.ts";
import { FUNCTIONS } from "../../src/core/operators/registry.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { createArray, openArray } from "../../src/entries/zarr.ts";
import { caseCount } from "../support/cases.ts";
import { add, makeHome, MEMORY, readAll, requestIn, store } from "../support/job-files.ts";
import { setLimits } from "../support/limits.ts";
import { randomFrom, randomIndices, randomTensor, seedOf, type Random } from "../support/random.ts";
import { assertRejected } from "../support/refusal.ts";

const options = { reduction: "add" };

/** Stores inputs, and creates a job that merges their fragments. */
async function makeMerged(
  inputs: readonly Tensor[],
  chunkShape: readonly number[],
  inPlace: boolean,
  blockShape: readonly number[],
  group: number,
): Promise<{ home: string; folder: string; out: string }> {
  const home = makeHome();
  for (const [i, name] of ["data", "indices", "updates"].entries()) {
    const shape = i === 0 ? chunkShape : inputs[i].shape;
    await store(path.join(home, `${name}.zarr`), inputs[i], shape);
  }
  const restore = setLimits({ CHUNKED: { pairs: 0, groups: 1, group } });
  const more = { blockShape, ...(inPlace && { out: null }) };
  const request = await requestIn(home, add, more);
  await createJob(request).finally(restore);
  const out = path.join(home, inPlace ? "data.zarr" : "out.zarr");
  return { home, folder: request.folder, out };
}

/** Runs some tasks of each stage, until a stage is left unfinished. */
async function runSome(folder: string, random: Random): Promise<void> {
  const pool = startPool({ threads: 0, memory: MEMORY });
  const job = await openJob(folder);
  for (const { name } of job.stages.slice(0, -1)) {
    const left = await remainingTasks(job, name);
    const some = left.filter(() => random(5) > 0);
    for (const task of [...some, ...some.filter(() => random(4) === 0)])
      await pool.run(folder, name, task);
    if (some.length < left.length) break;
  }
  await pool.end();
}

test("random scatters with merged fragments have the result of a call in memory", async () => {
  const random = randomFrom(seedOf("chunked-merge"));
  for (let nth = 0; nth < caseCount(32); nth++) {
    const dims = [1 + random(24), 1 + random(4)];
    const [k, count] = [1 + random(2), 1 + random(20)];
    const data = randomTensor("float32", dims, random);
    const updates = randomTensor("float32", [count, ...dims.slice(k)], random);
    // In some cases, all updates have one of two targets.
    const most = random(3) === 0 ? 2 : Infinity;
    const indices = randomIndices("int64", [count, k], (p) => Math.min(most, dims[p % k]), random);
    const inputs = [data, indices, updates];
    const expected = runPlain(defaultExecutor(), FUNCTIONS.scatterND, inputs, options);
    const chunkShape = dims.map((dim) => 1 + random(Math.ceil(dim / 3)));
    const block = [1 + random(count)];
    const { home, folder, out } = await makeMerged(
      inputs,
      chunkShape,
      random(2) === 0,
      block,
      1 + random(4),
    );
    assert.ok((await readSpec(folder)).stages.some(({ name }) => name === "merge"));
    await runSome(folder, random);
    await runJob(folder, { threads: 0 });
    const got = await (await openArray(out)).read();
    assert.ok(equals(got, expected), `case ${nth}: ${got} is not ${expected}`);
    fs.rmSync(home, { recursive: true });
  }
});

/** 12 rows of ones in chunks of a row, and 24 updates 1, 2, … of all rows or of a single row, in blocks of two. */
async function makeRows(row: (update: number) => number, inPlace = false) {
  const data = tensor("float32", [12, 3], new Float32Array(36).fill(1));
  const rows = Array.from({ length: 24 }, (_, i) => row(i));
  const updates = Float32Array.from({ length: 72 }, (_, i) => 1 + Math.floor(i / 3));
  const inputs = [data, tensor("int64", [24, 1], rows), tensor("float32", [24, 3], updates)];
  const expected = runPlain(defaultExecutor(), FUNCTIONS.scatterND, inputs, options);
  const job = await makeMerged(inputs, [1, 2], inPlace, [2], 1);
  return { ...job, expected: [...expected.data] };
}

/** Remembers the most bytes that a task reads at once. */
class Watched extends Workspace {
  most = 0;

  override bytes(name: string, length: number): Uint8Array {
    if (name === "read") this.most = Math.max(this.most, length);
    return super.bytes(name, length);
  }
}

test("a task merges more updates of one chunk than fit in memory", async () => {
  const { folder, out, expected } = await makeRows(() => 7);
  const context = await openContext(folder, await readSpec(folder));
  const workspace = new Watched();
  const memory = { workspace, allowance: 1 };
  for (const { name, tasks } of context.spec.stages)
    for (let task = 0; task < tasks; task++) await runTask(context, name, task, memory);
  assert.deepEqual(await readAll(out), expected);
  // An update has pieces of two elements and of one.
  assert.equal(workspace.most, 8);
});

test("a lead outside its group is refused", async () => {
  const { folder } = await makeRows(() => 7);
  const context = await openContext(folder, await readSpec(folder));
  const { shuffle } = context;
  const starts = new Uint32Array(shuffle.fragments + 1).fill(1, 1);
  const columns = [Uint32Array.of(0), Uint32Array.of(99)];
  const file = fileOf.task({ folder }, "shuffle", 0);
  await writeFragments(
    file,
    shuffle,
    starts,
    columns,
    async () => {},
    async (write) => {
      for (const [piece, bytes] of shuffle.pieceBytes.entries())
        await write(new Uint8Array(bytes), 2 + piece, 0);
    },
  );
  const pool = startPool({ threads: 0, memory: MEMORY });
  for (let block = 1; block < 12; block++) await pool.run(folder, "partition", block);
  await assertRejected("malformed-file", { got: 99 }, () => pool.run(folder, "merge", 0));
  await pool.end();
});

for (const inPlace of [false, true]) {
  for (const damage of ["removed", "cut short", "changed"]) {
    test(`a merged file that was ${damage} is written again${inPlace ? ", in place" : ""}`, async () => {
      const { folder, out, expected } = await makeRows((update) => update % 12, inPlace);
      const pool = startPool({ threads: 0, memory: MEMORY });
      const { stages } = await readSpec(folder);
      for (const { name, tasks } of stages.slice(0, 2))
        for (let task = 0; task < tasks; task++) await pool.run(folder, name, task);
      await pool.run(folder, "apply", 1);
      const file = fileOf.task({ folder }, "merged", 0);
      const bytes = fs.readFileSync(file);
      bytes[bytes.length - 1] ^= 1;
      if (damage === "removed") fs.rmSync(file);
      else if (damage === "changed") fs.writeFileSync(file, bytes);
      else fs.truncateSync(file, bytes.length - 1);
      const tasks = Array.from({ length: stages[2].tasks }, (_, task) => task);
      await assertRejected("malformed-file", { file }, async () => {
        for (const task of tasks) await pool.run(folder, "apply", task);
      });
      await pool.end();
      await runJob(folder, { threads: 0 });
      assert.deepEqual(await readAll(out), expected);
    });
  }
}

test("an input that changes after its block was merged stops the job", async () => {
  const { home, folder } = await makeRows((update) => update % 12);
  const pool = startPool({ threads: 0, memory: MEMORY });
  const { stages } = await readSpec(folder);
  for (const { name, tasks } of stages.slice(0, 2))
    for (let task = 0; task < tasks; task++) await pool.run(folder, name, task);
  fs.rmSync(fileOf.task({ folder }, "shuffle", 0));
  const file = path.join(home, "updates.zarr/c/0/0");
  fs.utimesSync(file, 1e9, 1e9);
  await assertRejected("attribute", { input: "updates" }, () => pool.run(folder, "partition", 0));
  await pool.end();
});

test("a job that merges the fragments of a gather, or other fragments, is refused", async () => {
  const { folder } = await makeRows((update) => update % 12);
  const spec = await readSpec(folder);
  const withTasks = (tasks: number) =>
    openContext(folder, {
      ...spec,
      stages: spec.stages.map((stage) => (stage.name === "merge" ? { ...stage, tasks } : stage)),
    });
  await assertRejected("malformed-file", {}, () => withTasks(1));
  const call = { function: "scatterND", options: { duplicates: "error" } };
  await assertRejected("malformed-file", {}, () => openContext(folder, { ...spec, call }));
});

test("an array of 10 TB has fragments of a useful size, and one of 100 GB is partitioned in one level", async () => {
  const home = makeHome();
  const columns = 1024;
  const plan = async (rows: number) => {
    const make = (name: string, shape: number[], chunkShape: number[]) =>
      createArray(path.join(home, `${rows}-${name}.zarr`), {
        dtype: name === "indices" ? "int64" : "float32",
        shape,
        chunkShape,
      });
    const data = await make("data", [rows, columns], [16_384, columns]);
    const indices = await make("indices", [rows, 1], [1_048_576, 1]);
    const updates = await make("updates", [rows, columns], [16_384, columns]);
    const out = { format: "zarr", path: path.join(home, "out.zarr") } as const;
    const request = { folder: home, call: add, data, indices, updates, out };
    const resolved = resolveCall(add, { data, indices, updates });
    return divide({ ...request, memory: 2 ** 30, threads: 2 }, resolved, undefined);
  };
  const large = await plan(2_500_000_000);
  const tasks = Object.fromEntries(large.stages.map((stage) => [stage.name, stage.tasks]));
  const { size: leads } = large.parts.address.leads;
  const shape = mergeShape(leads, tasks.partition, large.blockShape[0], 1);
  assert.equal(tasks.merge, shape.tasks);
  const fragments = tasks.partition * shape.groups + tasks.merge * shape.leads;
  assert.ok(tasks.partition * leads > 1e10 && fragments < 3 * tasks.partition * Math.sqrt(leads));
  // The fragments of a batch have as many bytes as a block, so there are about as many files.
  assert.ok(tasks.merge < 1.01 * tasks.partition + shape.groups, `${tasks.merge} files`);
  assert.ok(4 * columns * 2_500_000_000 > 100_000 * fragments, `${fragments} fragments`);
  const small = await plan(25_000_000);
  assert.deepEqual(
    small.stages.map(({ name }) => name),
    ["partition", "apply", "finish"],
  );
});

/** Moves the files of later tasks where earlier versions wrote them. */
function flatten(folder: string): void {
  for (const stage of Object.values(FOLDERS)) {
    const place = path.join(folder, stage);
    const groups = fs.readdirSync(place).filter((name) => name.endsWith("k"));
    for (const entry of fs.readdirSync(place, { recursive: true, withFileTypes: true }))
      if (entry.isFile())
        fs.renameSync(path.join(entry.parentPath, entry.name), path.join(place, entry.name));
    for (const name of groups) fs.rmSync(path.join(place, name), { recursive: true });
  }
}

/** The most entries of a folder in a job's folder, and the number of its folders. */
function foldersOf(folder: string): { most: number; count: number } {
  const entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true });
  const counts = entries.map(
    ({ parentPath }) => entries.filter((one) => one.parentPath === parentPath).length,
  );
  return { most: Math.max(...counts), count: entries.filter((one) => one.isDirectory()).length };
}

for (const inPlace of [false, true]) {
  for (const isFlat of [false, true]) {
    const what = isFlat ? "a job of an earlier version, in one folder per stage," : "a job";
    test(`${what} whose folders have at most 8 files${inPlace ? ", in place," : ""} is exact`, async (t) => {
      t.after(setLimits({ CHUNKED: { folder: 8 } }));
      const { folder, out, expected } = await makeRows((update) => update % 12, inPlace);
      const { stages } = await readSpec(folder);
      assert.deepEqual(
        stages.map(({ tasks }) => tasks),
        [12, 12, 24, 1],
      );
      const pool = startPool({ threads: 0, memory: MEMORY });
      for (const { name, tasks } of stages.slice(0, 3)) {
        const half = name === "apply" ? tasks / 2 : tasks;
        for (let task = 0; task < half; task++) await pool.run(folder, name, task);
      }
      await pool.end();
      const { most, count } = foldersOf(folder);
      assert.ok(most <= 8 && count > 20, `${most} entries, ${count} folders`);
      if (isFlat) flatten(folder);
      const job = await openJob(folder);
      assert.equal((await remainingTasks(job, "partition")).length, 0);
      assert.equal((await remainingTasks(job, "apply")).length, 12);
      await runJob(folder, { threads: 0 });
      assert.deepEqual(await readAll(out), expected);
    });
  }
}
