/** Runs of one job at once: in every order of their calls of the file system, one result, and nothing left behind. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { scatterChunked } from "../../src/arrays/chunked/functions.ts";
import { openArray } from "../../src/entries/zarr.ts";
import { caseCount } from "../support/cases.ts";
import { makeHome, MEMORY, readAll, storeInputs } from "../support/job-files.ts";
import { WITHOUT_NODE_ITSELF } from "../support/platform.ts";
import { SEED, seedOf } from "../support/random.ts";
import { heldAt, inSteps, orderFrom, type Order } from "../support/stepped-files.ts";

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
  ["out.zarr", /^link \S+\.ndscatter.job\.\w+\.tmp /, false],
  ["out.zarr", /^link \S+\.ndscatter.zarr\.json\.\S+\.tmp /, false],
  ["out.npy", /^link \S+\.part\.[\w.-]+ \S+\.part$/, false],
  ["data.zarr", /^link \S+\.ndscatter.job\.\w+\.tmp /, false],
  // The tasks are done, but the output is hidden.
  ["out.zarr", /^rename \S+\.ndscatter.zarr\.json \S+out\.zarr.zarr\.json$/, false],
  ["out.npy", /^link \S+\.part \S+out\.npy$/, false],
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
      const { order, wasHeld } = heldAt(step);
      const failed = await callsIn(name, 2, order);
      assert.ok(wasHeld());
      assert.equal(failed, fails ? 1 : 0);
    },
  );
}
