/** Runs of one job at once: in every order of their calls of the file system, one result, and nothing left behind. */

import * as fs from "node:fs";
import * as path from "node:path";
import assert from "node:assert/strict";
import { test } from "node:test";
import { scatterChunked } from "../../src/arrays/chunked/functions.ts";
import { createJob } from "../../src/arrays/chunked/job/create-job.ts";
import { runJob, type JobProgress } from "../../src/arrays/chunked/run/run-job.ts";
import { Runner } from "../../src/arrays/chunked/run/tasks.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { writeNpy } from "../../src/entries/npy.ts";
import { openArray } from "../../src/entries/zarr.ts";
import { caseCount } from "../support/cases.ts";
import { makeHome, MEMORY, readAll, storeInputs } from "../support/job-files.ts";
import { setLimits } from "../support/limits.ts";
import { WITHOUT_NODE_ITSELF } from "../support/platform.ts";
import { SEED, seedOf } from "../support/random.ts";
import { assertRejected } from "../support/refusal.ts";
import { inSteps, inTurns, orderFrom, type Order, type Turn } from "../support/stepped-files.ts";

type Output = "out.zarr" | "out.npy" | "data.zarr";

/** Makes the same call `count` times at once; a job that changes its data in place keeps its folder. */
async function callsIn(name: Output, count: number, order: Order): Promise<number> {
  const home = makeHome();
  const at = (file: string): string => path.join(home, file);
  await storeInputs(home);
  const [data, indices, updates] = await Promise.all(
    ["data", "indices", "updates"].map((file) => openArray(at(`${file}.zarr`))),
  );
  const inputs = fs.readdirSync(home);
  const isInPlace = name === "data.zarr";
  const call = () =>
    scatterChunked(data, indices, updates, {
      reduction: "add",
      out: isInPlace ? data : at(name),
      job: isInPlace ? at("job") : undefined,
      memory: MEMORY,
      threads: 0,
    });
  const results = await inSteps(
    Array.from({ length: count }, () => call),
    order,
  );
  const failures = results.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  for (const failure of failures) {
    // Without a folder that stays, a call that looks for the output when another one has ended comes too late.
    assert.ok(!isInPlace, String(failure));
    assert.match(String(failure), /exists; remove it|is the unfinished output of the job in/);
  }
  assert.deepEqual(await readAll(at(name)), [6, 6, 6, 6]);
  const left = fs.readdirSync(home).filter((file) => !inputs.includes(file) && file !== name);
  assert.deepEqual(left, isInPlace ? ["job"] : []);
  assert.ok(!fs.existsSync(path.join(at(name), ".ndscatter")));
  return failures.length;
}

const seed = seedOf("chunked-at-once");

for (let turn = 0; turn < caseCount(24, 8); turn++) {
  const name = (["out.zarr", "out.npy", "data.zarr"] as const)[turn % 3];
  test(
    `three calls in an order drawn by SEED=${SEED}, turn ${turn}, leave ${name} alone`,
    {
      skip: WITHOUT_NODE_ITSELF,
    },
    async () => {
      const failed = await callsIn(name, 3, orderFrom(seed * 1_000_003 + turn, 3, 900));
      assert.ok(failed < 3);
    },
  );
}

/** A step at which a call waits until another one has ended, and whether the call then finds the output there. */
const HELD: readonly (readonly [output: Output, step: RegExp, fails: boolean])[] = [
  // The job is planned, but has no folder yet.
  ["out.zarr", /^rename \S+\.job\.[\w.-]+\.tmp \S+\.job$/, true],
  ["out.zarr", /^mkdir \S+\.job\.[\w.-]+\.tmp$/, true],
  ["out.npy", /^mkdir \S+\.job\.[\w.-]+\.tmp$/, true],
  ["data.zarr", /^rename \S+job\.[\w.-]+\.tmp \S+job$/, false],
  // The job has a folder, but no output yet.
  ["out.zarr", /^link \S+\.ndscatter.job\.[\w.-]+\.tmp /, false],
  ["out.zarr", /^link \S+\.ndscatter.zarr\.json\.\S+\.tmp /, false],
  ["out.npy", /^link \S+\.part\.[\w.-]+ \S+\.part$/, false],
  ["data.zarr", /^readdir \S+job.applied$/, false],
  ["data.zarr", /^link \S+\.ndscatter.job\.[\w.-]+\.tmp /, false],
  // The tasks are done, but the output is hidden.
  ["out.zarr", /^rename \S+\.ndscatter.zarr\.json \S+out\.zarr.zarr\.json$/, false],
  ["out.npy", /^link \S+\.part \S+out\.npy$/, false],
  ["out.npy", /^stat \S+\.part$/, false],
  ["out.npy", /^rm \S+\.part$/, false],
  // The job is done, and one call removes its folder.
  ["out.zarr", /^writeFile \S+\.job.done/, false],
  ["out.npy", /^readdir \S+\.job$/, false],
  ["out.zarr", /^rm \S+\.job.shuffle\.trash/, false],
  ["out.zarr", /^rm \S+\.job.job\.json$/, false],
  ["out.npy", /^rmdir \S+\.job$/, true],
];

for (const [name, step, fails] of HELD) {
  test(
    `a call held at ${step.source} until another one has ended leaves ${name} alone`,
    {
      skip: WITHOUT_NODE_ITSELF,
    },
    async () => {
      const { order, wereHeld } = inTurns([[0, step], [1]]);
      const failed = await callsIn(name, 2, order);
      assert.ok(wereHeld());
      assert.equal(failed, fails ? 1 : 0);
    },
  );
}

const LINK = /^link \S+\.part \S+out\.npy$/;
const STAT = /^stat \S+\.part$/;
const REMOVE = /^rm \S+\.part$/;

/** Turns of two calls: the first publishes the output, but has not ended, while the second examines the output. */
const TURNS: readonly (readonly [what: string, turns: readonly Turn[]])[] = [
  ["compares sizes", [[0, LINK], [1, STAT], [0, REMOVE], [0, /^readdir /], [1]]],
  ["publishes too", [[0, REMOVE], [1, LINK], [1, STAT], [0, /^readdir /], [1]]],
];

for (const [what, turns] of TURNS) {
  test(
    `a call that ${what} when another one publishes ends well`,
    {
      skip: WITHOUT_NODE_ITSELF,
    },
    async () => {
      const { order, wereHeld } = inTurns(turns);
      assert.equal(await callsIn("out.npy", 2, order), 0);
      assert.ok(wereHeld());
    },
  );
}

/** A gather of rows in reverse, from one NPY file into another, in blocks of two. */
async function makeGather(size: number) {
  const home = makeHome();
  const at = (file: string): string => path.join(home, file);
  const rows = Array.from({ length: size }, (_, row) => row);
  fs.writeFileSync(at("data.npy"), writeNpy(tensor("int32", [size], rows)));
  const ids = tensor("int64", [size, 1], rows.toReversed().map(BigInt));
  fs.writeFileSync(at("ids.npy"), writeNpy(ids));
  const [data, indices] = await Promise.all(
    [at("data.npy"), at("ids.npy")].map((file) => openArray(file)),
  );
  const out = { format: "npy", path: at("out.npy") } as const;
  const call = { function: "gatherND", options: {} };
  const request = { folder: at("job"), call, data, indices, out, blockShape: [2] };
  const { stages } = await createJob({ ...request, ...HERE });
  const assertRight = async (): Promise<void> =>
    assert.deepEqual(await readAll(at("out.npy")), rows.toReversed());
  return { folder: at("job"), stages, assertRight };
}

const HERE = { memory: MEMORY, threads: 0 };

for (const [runs, size] of [
  [2, 400],
  [8, 200],
] as const) {
  test(`${runs} runs of one job share its tasks`, async () => {
    const { folder, stages, assertRight } = await makeGather(size);
    const { run } = Runner.prototype;
    let begun = 0;
    Runner.prototype.run = function (this: Runner, ...task) {
      begun++;
      return run.apply(this, task);
    };
    try {
      await Promise.all(Array.from({ length: runs }, () => runJob(folder, HERE)));
    } finally {
      Runner.prototype.run = run;
    }
    const tasks = stages.reduce((sum, stage) => sum + stage.tasks, 0);
    assert.ok(tasks > size && begun < 1.15 * tasks, `${begun} begun, of ${tasks}`);
    await assertRight();
  });
}

test("tasks that killed processes have claimed are run", async () => {
  const { folder, stages, assertRight } = await makeGather(40);
  for (const { name, tasks } of stages)
    for (let task = 0; task < tasks; task++)
      fs.writeFileSync(path.join(folder, "workers", `${name}-${task}`), "");
  await Promise.all([runJob(folder, HERE), runJob(folder, HERE)]);
  await assertRight();
});

test("the last task waits until a listing shows the tasks of other machines", async () => {
  const { folder, assertRight } = await makeGather(40);
  const restore = setLimits({ CHUNKED: { unlisted: 640 } });
  const [file, hidden] = [path.join(folder, "placed", "7"), `${folder}-hidden`];
  const hide = ({ stage, done, tasks }: JobProgress, ms: number): void => {
    if (stage !== "place" || done < tasks) return;
    fs.renameSync(file, hidden);
    if (ms < Infinity) setTimeout(() => fs.renameSync(hidden, file), ms);
  };
  const onProgress = (progress: JobProgress): void => hide(progress, Infinity);
  await assertRejected("engine", { got: 1 }, () => runJob(folder, { ...HERE, onProgress }));
  fs.renameSync(hidden, file);
  setLimits({ CHUNKED: { unlisted: 64_000 } });
  const onSecond = (progress: JobProgress): void => hide(progress, 200);
  await runJob(folder, { ...HERE, onProgress: onSecond }).finally(restore);
  await assertRight();
});
