/** The jobs below a folder are found, in arrays' folders nothing is looked for, and what cannot be read is said. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { before, test } from "node:test";
import {
  checkFree,
  describeJob,
  findJobs,
  removeJob,
  runJob,
  type JobFacts,
} from "../../src/entries/chunked.ts";
import { HOST } from "../../src/arrays/chunked/job/temporary.ts";
import { openArray } from "../../src/entries/zarr.ts";
import { makeFolder } from "../support/cli.ts";
import { add, makeHome, makeJob, MEMORY, storeInputs, runTasks } from "../support/job-files.ts";

const cli = makeFolder();
const { at, ndscatter, json } = cli;

/** A folder with a job that is done, one that is half done in place, a damaged one, and an array of a job elsewhere. */
before(async () => {
  for (const name of ["a", "deep/er/b", "c"]) {
    fs.mkdirSync(at(name), { recursive: true });
    await storeInputs(at(name));
  }
  await runJob(await makeJob(at("a"), add), { threads: 0, memory: MEMORY });
  const half = await makeJob(at("deep/er/b"), add, { out: null });
  await runTasks(half, ["partition", 0], ["apply", 0, 2, 3]);
  fs.mkdirSync(at("damaged"));
  fs.writeFileSync(at("damaged/job.json"), "{");
  await makeJob(at("c"), add, { folder: path.join(makeHome(), "elsewhere") });
  // What looks like a job inside an array is none.
  fs.mkdirSync(at("c/data.zarr/c/job"), { recursive: true });
  fs.writeFileSync(at("c/data.zarr/c/job/job.json"), "{}");
  fs.symlinkSync(at("a"), at("link"));
});

test("jobs are found wherever they lie, and arrays whose jobs lie elsewhere", async () => {
  const found = await findJobs(at("."));
  assert.deepEqual(
    found.map(({ folder, array }) => [
      array === null ? path.relative(at("."), folder ?? "") : path.basename(folder ?? ""),
      array === null ? null : path.relative(at("."), array),
    ]),
    [
      ["a/job", null],
      ["elsewhere", "c/out.zarr"],
      ["damaged", null],
      ["deep/er/b/job", null],
    ],
  );
  assert.deepEqual(await findJobs(at("a/job")), [{ folder: at("a/job"), array: null }]);
  assert.deepEqual(await findJobs(at("deep/er/b")), [{ folder: at("deep/er/b/job"), array: null }]);
  await assert.rejects(findJobs(at("nowhere")), { code: "ENOENT" });
});

test("nobody writes into an array that a job is changing", async () => {
  const array = "deep/er/b/data.zarr";
  const before = fs.readFileSync(at(`${array}/c/1`));
  const says = `a job is changing ${at(array)} in place: 3 of 4 chunks are changed; finish it (ndscatter job resume ${at("deep/er/b/job")})`;
  await assert.rejects(
    async () => checkFree(await openArray(at(array))),
    (error: Error) => error.message.startsWith(says),
  );
  const part = (await openArray(at(array))).slice([1, 3]);
  await assert.rejects(checkFree(part), { code: "attribute" });
  const line = `array a/updates.zarr[1:3] -o ${array}[1:3]`;
  const { status, stdout, stderr } = await ndscatter(line);
  assert.deepEqual([status, stdout], [1, ""]);
  assert.ok(stderr.includes("a job is changing"), stderr);
  assert.deepEqual(fs.readFileSync(at(`${array}/c/1`)), before);
  // An array whose job is done is anybody's, and so is one that a job only reads.
  for (const name of ["a/out.zarr", "deep/er/b/updates.zarr"]) {
    await checkFree(await openArray(at(name)));
    const done = await ndscatter(`array a/updates.zarr[1:3] -o ${name}[1:3]`);
    assert.deepEqual([done.status, done.stderr], [0, ""]);
  }
});

test("a job says what it is about", async () => {
  const out = at("deep/er/b/data.zarr");
  const facts = { call: "scatterND", out, inPlace: true, chunks: 4, changed: 3 };
  assert.deepEqual(await describeJob(at("deep/er/b/job")), facts);
  const done = {
    call: "scatterND",
    out: at("a/out.zarr"),
    inPlace: false,
    chunks: 4,
    changed: null,
  };
  assert.deepEqual(await describeJob(at("a/job")), done);
  await assert.rejects(describeJob(at("a")), { code: "malformed-file" });
});

test("job list has a line for each", async () => {
  const { status, stdout } = await ndscatter("job list");
  assert.equal(status, 0);
  const lines = stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/ {2,}/));
  assert.deepEqual(lines.slice(0, 2), [
    ["job", "call", "state", "output"],
    ["a/job", "scatterND", "done", "a/out.zarr"],
  ]);
  assert.match(lines[2].join("|"), /^\S+elsewhere\|not here\|c\/out\.zarr$/);
  assert.deepEqual(lines.slice(3), [
    ["damaged", "not readable: job.json must be JSON, but is not"],
    [
      "deep/er/b/job",
      "scatterND",
      "apply 3 of 4",
      "deep/er/b/data.zarr, in place, 3 of 4 chunks changed",
    ],
  ]);
  const { jobs } = (await json("job list a")) as { jobs: readonly JobFacts[] };
  const facts = { call: "scatterND", out: "a/out.zarr", inPlace: false, chunks: 4, changed: null };
  assert.deepEqual(jobs, [{ folder: "a/job", state: "done", ...facts }]);
  fs.mkdirSync(at("empty"));
  assert.equal((await ndscatter("job list empty")).stdout, "no jobs below empty\n");
  const nowhere = await ndscatter("job list nowhere");
  assert.equal(nowhere.status, 1);
  assert.match(nowhere.stderr, /nowhere: no such file or directory/);
});

test("what a killed process has begun of a job, and not named, is removed by whoever comes next", async () => {
  const home = makeHome();
  await storeInputs(home);
  const { pid } = spawnSync(process.execPath, ["--version"]);
  const left = (kind: string, process: number): string => {
    const name = `${kind}.${HOST}-${process}-0123456789ab.tmp`;
    fs.mkdirSync(path.join(home, name, "shuffle"), { recursive: true });
    fs.writeFileSync(path.join(home, name, "job.json"), "{}");
    return name;
  };
  const names = (): string[] => fs.readdirSync(home).filter((name) => name.endsWith(".tmp"));
  const running = left("job", process.pid);
  const elsewhere = `job.${HOST}x-1-0123456789ab.tmp`;
  fs.mkdirSync(path.join(home, elsewhere));
  const kept = [running, elsewhere].toSorted();

  left("job", pid);
  const folder = await makeJob(home, add);
  assert.deepEqual(names().toSorted(), kept, "the next job");
  left("job", pid);
  await removeJob(folder);
  assert.deepEqual(names().toSorted(), kept, "removing the job");
  left("other", pid);
  assert.deepEqual(await findJobs(home), []);
  assert.deepEqual(names().toSorted(), kept, "listing jobs");
});
