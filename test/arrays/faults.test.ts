/**
 * Jobs whose calls of the file system and requests to servers fail: each ends with a clear error or the right bits, can be
 * made again, and leaves nothing behind. `node build/test/arrays/faults/main.js` runs many random jobs.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, before, test } from "node:test";
import { createJob } from "../../src/arrays/chunked/job/create-job.ts";
import { markComplete, openSpec, readSpec } from "../../src/arrays/chunked/job/spec-file.ts";
import { HOST } from "../../src/arrays/chunked/job/temporary.ts";
import { Workspace } from "../../src/arrays/chunked/stages/workspace.ts";
import { OPEN } from "../../src/core/resources.ts";
import { gatherChunked, removeJob, runJob, scatterChunked } from "../../src/entries/chunked.ts";
import { openArray } from "../../src/entries/zarr.ts";
import { inParallel } from "../runners/parallel.ts";
import {
  add,
  makeHome,
  makeJob,
  MEMORY,
  readAll,
  requestIn,
  storeInputs,
} from "../support/job-files.ts";
import { WITHOUT_NODE_ITSELF } from "../support/platform.ts";
import { SEED } from "../support/random.ts";
import { setLimits } from "../support/limits.ts";
import { faultsAt, replaceCalls, setFaults, type Planned } from "./faults/inject.ts";
import { endTools, isGood, runCase, startTools } from "./faults/run.ts";
import { tableOf } from "./faults/table.ts";

const skip = WITHOUT_NODE_ITSELF;
/** `test/nightly/faults.test.ts` runs more. */
const JOBS = Number(process.env["FAULTY_JOBS"] ?? 30);

test(`${JOBS} jobs with random faults, drawn by SEED=${SEED}`, { skip }, async () => {
  const tools = await startTools(fs.realpathSync(makeHome()));
  const numbers = Array.from({ length: JOBS }, (_, at) => at);
  try {
    const outcomes = await inParallel(numbers, (number) => runCase(number, tools));
    const bad = outcomes.filter(({ verdict }) => !isGood(verdict));
    const texts = bad.map(({ title, faults, notes }) =>
      [title, ...faults, ...notes].join("\n    "),
    );
    assert.ok(bad.length === 0, [tableOf(SEED, outcomes), ...texts].join("\n"));
  } finally {
    await endTools(tools);
  }
});

let restore = (): void => {};
before(() => void (restore = replaceCalls()));
after(() => restore());

/** A folder with inputs and a call, whose file system has these faults once each. */
async function withFaults(
  planned: readonly Planned[],
  action: (home: string) => Promise<unknown>,
  home: string,
): Promise<Error & { readonly path?: string }> {
  const open = OPEN.files;
  const faults = faultsAt(home, planned);
  setFaults(faults);
  try {
    await action(home);
  } catch (error) {
    return error as Error;
  } finally {
    setFaults(null);
    assert.deepEqual(faults.planned, [], "every planned fault has happened");
    assert.equal(OPEN.files, open);
  }
  return assert.fail("the call must fail");
}

async function makeInputs(): Promise<string> {
  const home = fs.realpathSync(makeHome());
  await storeInputs(home);
  return home;
}

/** Adds the updates: the sums are a new array, or data itself. */
async function scatter(home: string, job?: string, out = "out.zarr"): Promise<void> {
  const at = (name: string): string => path.join(home, name);
  const open = (name: string) => openArray(at(name));
  const data = await open("data.zarr");
  await scatterChunked(data, await open("indices.zarr"), await open("updates.zarr"), {
    ...{ reduction: "add", memory: MEMORY, threads: 0 },
    out: out === "data.zarr" ? data : at(out),
    job: job && at(job),
  });
}

async function gather(home: string): Promise<void> {
  const at = (name: string): string => path.join(home, name);
  const [data, indices] = [await openArray(at("data.zarr")), await openArray(at("indices.zarr"))];
  await gatherChunked(data, indices, { out: at("out.npy"), memory: MEMORY, threads: 0 });
}

const INPUTS = ["data.zarr", "indices.zarr", "updates.zarr"];
const SUMS = [6, 6, 6, 6];

/** Calls that use an open file, whose errors do not name the file. */
const OF_OPEN_FILES: readonly (readonly [call: RegExp, file: string])[] = [
  [/^stat data\.zarr\/zarr\.json/, "data.zarr/zarr.json"],
  [/^read data\.zarr\/zarr\.json/, "data.zarr/zarr.json"],
  [/^close data\.zarr\/zarr\.json/, "data.zarr/zarr.json"],
  [/^read data\.zarr\/c\/2/, "data.zarr/c/2"],
  [/^stat job\/job\.json/, "job/job.json"],
  [/^read job\/job\.json/, "job/job.json"],
  [/^close job\/job\.json/, "job/job.json"],
  [/^write job\/shuffle\/0/, "job/shuffle/0"],
  [/^write out\.zarr\/\.ndscatter\/\w+-1-/, "out.zarr/.ndscatter/"],
];

for (const [call, file] of OF_OPEN_FILES) {
  test(
    `the error of ${call.source} names the file, and the call can be made again`,
    { skip },
    async () => {
      const home = await makeInputs();
      const run = () => scatter(home, "job");
      // Otherwise so few updates are kept in memory, without fragment files.
      const restore = setLimits({ CHUNKED: { few: 0 } });
      const error = await withFaults([{ call, kind: "error" }], run, home).finally(restore);
      assert.ok(error.path?.startsWith(path.join(home, file)), error.stack);
      await run();
      assert.deepEqual(await readAll(path.join(home, "out.zarr")), SUMS);
      assert.deepEqual(fs.readdirSync(home), [...INPUTS, "job", "out.zarr"].sort());
    },
  );
}

test(
  "a short read of the end of job.json does not hide that the output is complete",
  { skip },
  async () => {
    const home = await makeInputs();
    const folder = await makeJob(home, add);
    await markComplete(folder);
    const job = await openSpec(folder);
    setFaults(faultsAt(home, [{ call: /^read job\/job\.json/, kind: "short" }]));
    const isComplete = await job.isComplete().finally(() => setFaults(null));
    await job.close();
    assert.ok(isComplete);
  },
);

/** Faults of a call without a folder of its own, after which the inputs are all that is left. */
const WITHDRAWN: readonly (readonly [what: string, ...planned: Planned[]])[] = [
  ["the claim cannot be opened", { call: /^open out\.zarr\/\.ndscatter\/job\./, kind: "error" }],
  [
    "the claim is written in part",
    { call: /^writeFile out\.zarr\/\.ndscatter\/job\./, kind: "part" },
  ],
  ["the claim is not linked", { call: /^link out\.zarr\/\.ndscatter\/job\./, kind: "error" }],
];

for (const [what, ...planned] of WITHDRAWN) {
  test(`a call leaves nothing behind if ${what}`, { skip }, async () => {
    const home = await makeInputs();
    await withFaults(planned, scatter, home);
    assert.deepEqual(fs.readdirSync(home), INPUTS);
    await scatter(home);
    assert.deepEqual(await readAll(path.join(home, "out.zarr")), SUMS);
  });
}

test("an error while a job is withdrawn does not hide the reason", { skip }, async () => {
  const home = await makeInputs();
  const planned: Planned[] = [
    { call: /^open out\.zarr\/\.ndscatter\/job\./, kind: "error" },
    { call: /^rm job\/workers\.trash/, kind: "error" },
  ];
  const error = await withFaults(planned, () => scatter(home, "job"), home);
  assert.match(error.message, /, open /);
});

test(
  "a file that job.json is read from is closed when that fails again and again",
  { skip },
  async () => {
    const home = await makeInputs();
    await makeJob(home, add);
    const planned: Planned[] = [
      { call: /^stat job\/done/, kind: "error" },
      { call: /^stat job\/job\.json/, kind: "error" },
    ];
    const error = await withFaults(
      planned,
      async () => createJob(await requestIn(home, add)),
      home,
    );
    assert.match(error.message, /, stat /);
  },
);

/** The number of a process that has ended. */
const deadProcess = (): number => spawnSync(process.execPath, ["--version"]).pid;

test(
  "a job removes what a killed process left while it created the same folder",
  { skip },
  async () => {
    const home = await makeInputs();
    const folder = await makeJob(home, add);
    fs.mkdirSync(`${folder}.${HOST}-${deadProcess()}-0123456789ab.tmp`);
    await runJob(folder, { threads: 0, memory: MEMORY });
    assert.deepEqual(fs.readdirSync(home), [...INPUTS, "job", "out.zarr"].sort());
  },
);

test(
  "the removal of a job that was killed while it claimed its output removes the claim's temporary file",
  { skip },
  async () => {
    const home = await makeInputs();
    const folder = await makeJob(home, add);
    fs.rmSync(path.join(home, "out.zarr"), { recursive: true });
    const staging = path.join(home, "out.zarr/.ndscatter");
    fs.mkdirSync(staging, { recursive: true });
    fs.writeFileSync(path.join(staging, `job.${HOST}-${deadProcess()}-0123456789ab.tmp`), "");
    await removeJob(folder);
    assert.deepEqual(fs.readdirSync(home), INPUTS);
  },
);

test(
  "an empty folder can become the output, as one that a failed start could not remove",
  { skip },
  async () => {
    const home = await makeInputs();
    const out = path.join(home, "out.zarr");
    fs.mkdirSync(out);
    fs.writeFileSync(path.join(out, "notes.txt"), "");
    await assert.rejects(() => scatter(home), /exists; remove it/);
    fs.rmSync(path.join(out, "notes.txt"));
    await scatter(home);
    assert.ok(fs.existsSync(path.join(out, "zarr.json")));
  },
);

test(
  "a call after an interrupted removal of the job's folder removes the rest",
  { skip },
  async () => {
    const home = await makeInputs();
    const planned: Planned[] = [
      { call: /^rm out\.zarr\.job\/job\.json/, kind: "delay" },
      { call: /^rm out\.zarr\.job\/done/, kind: "error" },
    ];
    await withFaults(planned, scatter, home);
    assert.deepEqual(fs.readdirSync(path.join(home, "out.zarr.job")), ["done"]);
    await assert.rejects(() => scatter(home), /exists; remove it/);
    assert.deepEqual(fs.readdirSync(home), [...INPUTS, "out.zarr"].sort());
  },
);

test(
  "a removal that cannot remove an empty folder fails, and can be repeated",
  { skip },
  async () => {
    for (const name of ["out.zarr", "job"]) {
      const home = await makeInputs();
      const folder = await makeJob(home, add);
      const planned: Planned[] = [{ call: new RegExp(`^rmdir ${name} $`), kind: "error" }];
      await withFaults(planned, () => removeJob(folder), home);
      await removeJob(folder);
      assert.deepEqual(fs.readdirSync(home), INPUTS);
    }
  },
);

test(
  "a job whose array is claimed remains after an error, because another run may work on it",
  { skip },
  async () => {
    const home = await makeInputs();
    const run = () => scatter(home, "job", "data.zarr");
    const call = /^rm data\.zarr\/\.ndscatter\/job\.[\w.-]+\.tmp/;
    await withFaults([{ call, kind: "error" }], run, home);
    assert.ok(fs.existsSync(path.join(home, "job", "job.json")));
    await run();
    assert.deepEqual(await readAll(path.join(home, "data.zarr")), SUMS);
    assert.deepEqual(fs.readdirSync(home), [...INPUTS, "job"].sort());
  },
);

test(
  "a call that fails after its job is complete ends the job's claim on the array",
  { skip },
  async () => {
    const home = await makeInputs();
    const faults = faultsAt(home, [
      { call: /^datasync job\/job\.json/, kind: "delay" },
      { call: /^stat data\.zarr\/\.ndscatter\/job $/, kind: "error" },
    ]);
    setFaults(faults);
    await scatter(home, "job", "data.zarr").finally(() => setFaults(null));
    assert.deepEqual(faults.planned, [], "every planned fault has happened");
    assert.deepEqual(await readAll(path.join(home, "data.zarr")), SUMS);
    assert.deepEqual(fs.readdirSync(path.join(home, "data.zarr")), ["c", "zarr.json"]);
  },
);

test("a workspace whose first lane was never used can be cleared", { skip }, () => {
  const workspace = new Workspace();
  workspace.lane(1).bytes("chunk", 16);
  workspace.clear();
});

test(
  "a call of a finished job removes what a killed process left beside its NPY file",
  { skip },
  async () => {
    const home = await makeInputs();
    const run = () => scatter(home, "job", "out.npy");
    await run();
    const { id } = await readSpec(path.join(home, "job"));
    const left = `out.npy.${id}.part.${HOST}-${deadProcess()}-0123456789ab.tmp`;
    fs.writeFileSync(path.join(home, left), "");
    await run();
    assert.deepEqual(fs.readdirSync(home), [...INPUTS, "job", "out.npy"].sort());
  },
);

test(
  "a gather after one that was killed behind its output removes the temporary file",
  { skip },
  async () => {
    const home = await makeInputs();
    await gather(home);
    const out = path.join(home, "out.npy");
    fs.linkSync(out, `${out}.${HOST}-${deadProcess()}-0123456789ab.tmp`);
    await assert.rejects(() => gather(home), /exists; remove it/);
    assert.deepEqual(fs.readdirSync(home), [...INPUTS, "out.npy"].sort());
  },
);

test(
  "the removal of a job beside its output removes what a killed process left of the output",
  { skip },
  async () => {
    const home = await makeInputs();
    for (const part of ["", ".0123456789abcdef.part"]) {
      const left = `out.npy${part}.${HOST}-${deadProcess()}-0123456789ab.tmp`;
      fs.writeFileSync(path.join(home, left), "");
    }
    await removeJob(path.join(home, "out.npy.job"));
    assert.deepEqual(fs.readdirSync(home), INPUTS);
  },
);

test(
  "a job that is resumed claims its array if the run that created the job was killed before",
  { skip },
  async () => {
    const home = await makeInputs();
    const folder = await makeJob(home, add, { out: null });
    fs.rmSync(path.join(home, "data.zarr", ".ndscatter"), { recursive: true });
    const planned: Planned[] = [{ call: /^link job\/applied\/3/, kind: "error" }];
    await withFaults(planned, () => runJob(folder, { threads: 0, memory: MEMORY }), home);
    await createJob(await requestIn(home, add, { out: null }));
    await runJob(folder, { threads: 0, memory: MEMORY });
    assert.deepEqual(await readAll(path.join(home, "data.zarr")), SUMS);
  },
);
