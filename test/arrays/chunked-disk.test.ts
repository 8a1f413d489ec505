/** A job stops in order before its disk is full, and a process that takes too much memory says so. */

import * as fs from "node:fs";
import * as path from "node:path";
import assert from "node:assert/strict";
import { test } from "node:test";
import { createJob, planJob } from "../../src/arrays/chunked/job/create-job.ts";
import type { JobRequest } from "../../src/arrays/chunked/job/request.ts";
import { removeJob } from "../../src/arrays/chunked/job/job-folder.ts";
import { freeSpaceOf, type FreeSpace } from "../../src/arrays/chunked/job/disk.ts";
import { startPool } from "../../src/arrays/chunked/run/pool.ts";
import { openSpec } from "../../src/arrays/chunked/job/spec-file.ts";
import { runBegun, runJob, watchMemory } from "../../src/arrays/chunked/run/run-job.ts";
import { CHUNKED } from "../../src/core/limits.ts";
import { createArray } from "../../src/entries/zarr.ts";
import {
  add,
  makeHome,
  makeJob,
  MEMORY,
  readAll,
  requestIn,
  storeInputs,
} from "../support/job-files.ts";
import { setLimits } from "../support/limits.ts";
import { assertRejected } from "../support/refusal.ts";

const HERE = { threads: 0, memory: MEMORY };

/** A small job whose first stage has two tasks, and the second four. */
async function makeSmall(
  more: Partial<JobRequest> = {},
): Promise<{ home: string; folder: string }> {
  const home = makeHome();
  await storeInputs(home);
  return { home, folder: await makeJob(home, add, { blockShape: [2], ...more }) };
}

test("a process that takes more memory than it may says so once", async () => {
  const notes: string[] = [];
  // The watch alone would not keep the process.
  const alive = setInterval(() => {}, 1000);
  await new Promise<void>((resolve) => {
    const end = watchMemory(1, (note) => {
      notes.push(note);
      end();
      resolve();
    });
  });
  clearInterval(alive);
  assert.match(
    notes.join(),
    /^the process takes \S+ [MG]B of memory, but the job was planned for 1 B \(/,
  );
});

/** The disk space that is planned for a file besides its bytes: a block of the disk, and a folder entry. */
const PER_FILE = 4096 + 256;

const gather = { function: "gatherND", options: {} };

for (const [name, call, more, pairs, stages] of [
  ["a scatter", add, {}, CHUNKED.pairs, { partition: "shuffle" }],
  ["a merged scatter", add, {}, 0, { partition: "shuffle", merge: "merged" }],
  ["a gather", gather, { updates: undefined }, 0, { partition: "shuffle", apply: "applied" }],
] as const) {
  test(`fragments of ${name} take exactly the planned bytes`, async () => {
    const restore = setLimits({ CHUNKED: { pairs } });
    const home = makeHome();
    await storeInputs(home);
    const request = await requestIn(home, call, { blockShape: [2], ...more });
    const spec = await createJob(request).finally(restore);
    const pool = startPool(HERE);
    for (const [at, { name: stage, tasks }] of spec.stages.entries()) {
      if (stage === "finish") continue;
      for (let task = 0; task < tasks; task++) await pool.run(request.folder, stage, task);
      const { [stage as keyof typeof stages]: folder }: Readonly<Record<string, string>> = stages;
      if (folder === undefined) continue;
      const place = path.join(request.folder, folder);
      const files = fs.readdirSync(place).filter((file) => /^\d+$/.test(file));
      const bytes = files.reduce((sum, file) => sum + fs.statSync(path.join(place, file)).size, 0);
      // Besides its file, a task may leave a record of its inputs, unless it only merges.
      const perTask = stage === "merge" ? PER_FILE : 2 * PER_FILE;
      assert.equal(spec.planned?.disk[at][0], bytes + tasks * perTask, stage);
    }
    await pool.end();
  });
}

/** A disk that has `bytes` left after so many looks. */
function fillingDisk(looks: number, bytes: number): FreeSpace {
  let before = 0;
  return async (folder) => {
    const found = await freeSpaceOf(folder);
    return { ...found, size: 2 ** 40, free: before++ < looks ? 2 ** 39 : bytes };
  };
}

/** How a run ends on a disk that fills, and what `job resume` makes of it. */
async function runFilling(freeOf: FreeSpace, _sentence: RegExp): Promise<void> {
  const { home, folder } = await makeSmall();
  const job = await openSpec(folder);
  await assertRejected("engine", {}, () => runBegun(job, HERE, true, freeOf));
  await job.close();
  assert.equal(fs.existsSync(path.join(home, "out.zarr", "zarr.json")), false);
  await runJob(folder, HERE);
  assert.deepEqual(await readAll(path.join(home, "out.zarr")), [6, 6, 6, 6]);
}

test("a job stops where less than 16 MB are left, and goes on when there is space", () =>
  // The first stage looks at both folders, then its first task does.
  runFilling(
    fillingDisk(2, 3e6),
    /^the disk of \S+ has 3\.0 MB left, but a running job keeps 16\.8 MB free; free some space, then finish the job \(ndscatter job resume \S+job\)$/,
  ));

test("a job stops where a stage needs more than is left, and goes on when there is space", () =>
  runFilling(
    fillingDisk(4, 1000),
    /^the disk of \S+ has 1\.0 kB left, but the stage apply may still write [\d.]+ kB; free some space/,
  ));

test("a small disk may be filled to a sixteenth", async () => {
  const { home, folder } = await makeSmall();
  const small: FreeSpace = async (place) => ({
    ...(await freeSpaceOf(place)),
    size: 2 ** 20,
    free: 2 ** 17,
  });
  const job = await openSpec(folder);
  await runBegun(job, HERE, true, small);
  await job.close();
  assert.deepEqual(await readAll(path.join(home, "out.zarr")), [6, 6, 6, 6]);
});

test("a job without chunks ends", async () => {
  const home = makeHome();
  for (const [name, dtype, shape] of [
    ["data", "float32", [0, 3]],
    ["indices", "int64", [0, 1]],
    ["updates", "float32", [0, 3]],
  ] as const)
    await createArray(path.join(home, `${name}.zarr`), {
      dtype,
      shape,
      chunkShape: shape.map(() => 2),
    });
  const request = await requestIn(home, add);
  const { stages } = await planJob(request);
  assert.deepEqual(
    stages.map(({ tasks }) => tasks),
    [0, 0, 1],
  );
  await createJob(request);
  await runJob(request.folder, HERE);
  assert.deepEqual(await readAll(path.join(home, "out.zarr")), []);
});

test("a file or folder `done` that no task of the job wrote is not believed", async () => {
  const { home, folder } = await makeSmall();
  fs.mkdirSync(path.join(folder, "done"));
  await runJob(folder, HERE);
  assert.deepEqual(await readAll(path.join(home, "out.zarr")), [6, 6, 6, 6]);
  await removeJob(folder);
  assert.equal(fs.existsSync(folder), false);
});
