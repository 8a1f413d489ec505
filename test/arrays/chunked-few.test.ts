/** Scatters with few updates, which each thread keeps in memory: exact, and safe if files change or are lost. */

import * as fs from "node:fs";
import * as path from "node:path";
import assert from "node:assert/strict";
import { test } from "node:test";
import { createJob } from "../../src/arrays/chunked/job/create-job.ts";
import { openContext } from "../../src/arrays/chunked/job/job.ts";
import { type StageName, parseSpec } from "../../src/arrays/chunked/job/spec.ts";
import { readSpec } from "../../src/arrays/chunked/job/spec-file.ts";
import { runJob } from "../../src/arrays/chunked/run/run-job.ts";
import { startPool } from "../../src/arrays/chunked/run/pool.ts";
import { fileOf } from "../../src/arrays/chunked/stages/task-files.ts";
import { runPlain } from "../../src/core/call/run.ts";
import { defaultExecutor } from "../../src/core/engines/choice.ts";
import { FUNCTIONS } from "../../src/core/operators/registry.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { scatterChunked } from "../../src/entries/chunked.ts";
import { openArray } from "../../src/entries/zarr.ts";
import { caseCount } from "../support/cases.ts";
import {
  add,
  makeHome,
  makeJob,
  MEMORY,
  readAll,
  requestIn,
  store,
  storeInputs,
} from "../support/job-files.ts";
import { setLimits } from "../support/limits.ts";
import { randomFrom, randomIndices, randomTensor, seedOf } from "../support/random.ts";
import { assertRejected } from "../support/refusal.ts";

/** A process that runs single tasks of jobs. */
const startProcess = (): ReturnType<typeof startPool> => startPool({ threads: 0, memory: MEMORY });

const changed = (file: string, bytes: Uint8Array): void => {
  fs.writeFileSync(file, bytes);
  fs.utimesSync(file, 1e9, 1e9);
};

test("few updates are not written between the stages, and a task has several chunks", async () => {
  const home = makeHome();
  await storeInputs(home);
  // Without fragments, the number of chunks does not matter.
  const restore = setLimits({ CHUNKED: { groups: 1, small: 0, pairs: 0 } });
  try {
    const folder = await makeJob(home, add);
    const { chunksPerTask, planned } = await readSpec(folder);
    // The stage `partition` leaves two small files, each of which takes a disk block and a folder entry.
    assert.deepEqual([chunksPerTask, planned?.disk[0]], [4, [2 * (4096 + 256), 0]]);
    const process = startProcess();
    await process.run(folder, "partition", 0);
    await process.end();
    const record: unknown = JSON.parse(
      fs.readFileSync(fileOf.task({ folder }, "shuffle", 0), "utf8"),
    );
    assert.deepEqual(Object.keys(record as object), ["indices", "updates"]);
    await runJob(folder, { threads: 0 });
    assert.deepEqual(await readAll(path.join(home, "out.zarr")), [6, 6, 6, 6]);
  } finally {
    restore();
  }
});

test("many updates, updates in given blocks and refused duplicates are written between the stages", async () => {
  const home = makeHome();
  await storeInputs(home);
  const isFew = async (more: object, call = add): Promise<boolean> => {
    const folder = path.join(home, String(Math.random()));
    const out = { format: "zarr", path: `${folder}.zarr` } as const;
    const spec = await createJob(await requestIn(home, call, { folder, out, ...more }));
    return spec.isFew === true;
  };
  assert.equal(await isFew({}), true);
  assert.equal(await isFew({ blockShape: [4] }), false);
  assert.equal(await isFew({}, { ...add, options: { duplicates: "error" } }), false);
  assert.equal(await isFew({ updates: undefined }, { function: "gatherND", options: {} }), false);
  const restore = setLimits({ CHUNKED: { few: 4 } });
  assert.equal(await isFew({}), false);
  restore();
});

test("a job.json that keeps the updates of several blocks or of a gather is refused", async () => {
  const home = makeHome();
  await storeInputs(home);
  const spec = await readSpec(await makeJob(home, add, { blockShape: [2] }));
  await assertRejected("malformed-file", {}, () =>
    openContext("job", parseSpec(JSON.stringify({ ...spec, isFew: true }))),
  );
  assert.throws(() => parseSpec(JSON.stringify({ ...spec, isFew: false })), {
    code: "malformed-file",
  });
});

test("a thread reads the updates again, unless an input has changed", async () => {
  const home = makeHome();
  await storeInputs(home);
  const folder = await makeJob(home, add);
  const [first, second] = [startProcess(), startProcess()];
  await first.run(folder, "partition", 0);
  const file = path.join(home, "updates.zarr/c/0");
  const [bytes, { mtime }] = [fs.readFileSync(file), fs.statSync(file)];
  changed(file, new Uint8Array(bytes.length));
  // The second attempt must not use what the first has read.
  for (let time = 0; time < 2; time++)
    await assertRejected("attribute", { input: "updates" }, () => second.run(folder, "apply", 1));
  await first.run(folder, "apply", 0);
  fs.writeFileSync(file, bytes);
  fs.utimesSync(file, mtime, mtime);
  await second.run(folder, "apply", 1);
  await Promise.all([first.end(), second.end()]);
  await runJob(folder, { threads: 0 });
  assert.deepEqual(await readAll(path.join(home, "out.zarr")), [6, 6, 6, 6]);
});

test("a thread forgets updates that the stage partition has read again", async () => {
  const home = makeHome();
  await storeInputs(home);
  const folder = await makeJob(home, add);
  const [first, second] = [startProcess(), startProcess()];
  await first.run(folder, "partition", 0);
  fs.rmSync(fileOf.task({ folder }, "shuffle", 0));
  changed(path.join(home, "updates.zarr/c/0"), new Uint8Array(Float32Array.of(1, 2, 3, 4).buffer));
  await second.run(folder, "partition", 0);
  for (let task = 0; task < 4; task++) await first.run(folder, "apply", task);
  await second.run(folder, "finish", 0);
  await Promise.all([first.end(), second.end()]);
  assert.deepEqual(await readAll(path.join(home, "out.zarr")), [2, 3, 4, 5]);
});

for (const inPlace of [false, true]) {
  for (const damage of ["removed", "emptied", "not JSON"]) {
    test(`a record that was ${damage} is written again${inPlace ? ", in place" : ""}`, async () => {
      const home = makeHome();
      await storeInputs(home);
      const folder = await makeJob(home, add, inPlace ? { out: null } : {});
      const process = startProcess();
      const run = (stage: StageName, task: number) => process.run(folder, stage, task);
      await run("partition", 0);
      await run("apply", 0);
      const file = fileOf.task({ folder }, "shuffle", 0);
      if (damage === "removed") fs.rmSync(file);
      else fs.writeFileSync(file, damage === "emptied" ? "" : "[0");
      await assertRejected("malformed-file", { file }, () => run("apply", 1));
      assert.equal(fs.existsSync(file), false);
      await process.end();
      await runJob(folder, { threads: 0 });
      assert.deepEqual(
        await readAll(path.join(home, inPlace ? "data.zarr" : "out.zarr")),
        [6, 6, 6, 6],
      );
    });
  }
}

test("random scatters with few updates have the result of a call in memory", async () => {
  const random = randomFrom(seedOf("chunked-few"));
  for (let nth = 0; nth < caseCount(24); nth++) {
    const home = makeHome();
    const dims = [1 + random(9), 1 + random(4), 1 + random(4)];
    const [k, count] = [1 + random(2), 1 + random(12)];
    const dtype = (["float32", "float16", "int64"] as const)[random(3)];
    const data = randomTensor(dtype, dims, random);
    const updates = randomTensor(dtype, [count, ...dims.slice(k)], random);
    const indices = randomIndices("int64", [count, k], (p) => dims[p % k], random);
    const options = {
      reduction: ["none", "add", "mul", "max", "min"][random(5)],
      includeSelf: random(2) === 0,
    };
    const inputs = [data, indices, updates];
    const expected = runPlain(defaultExecutor(), FUNCTIONS.scatterND, inputs, options);
    const codecs = random(2) === 0 ? [] : ["zstd"];
    const some = (shape: readonly number[]) => shape.map((dim) => 1 + random(dim));
    const names = ["data", "indices", "updates"].map((name) => path.join(home, `${name}.zarr`));
    for (const [i, name] of names.entries())
      await store(name, inputs[i], some(inputs[i].shape), codecs);
    const [d, i, u] = await Promise.all(names.map((name) => openArray(name)));
    const out = [d, path.join(home, "out.zarr"), path.join(home, "out.npy")][random(3)];
    const restore = setLimits({ CHUNKED: { groups: 1 + random(4), share: 2 ** random(4) } });
    const result = await scatterChunked(d, i, u, { ...options, out, threads: 0 }).finally(restore);
    const got = await result.read();
    assert.ok(equals(got, expected), `case ${nth}: ${got} is not ${expected}`);
    fs.rmSync(home, { recursive: true });
  }
});
