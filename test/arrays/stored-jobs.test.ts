/**
 * Jobs that ndscatter 0.1.0 began before `job.json` lost its forecasts of bytes. The file `stored-jobs.jsonl` has a
 * line for each job, with the files of the job's folder and of its arrays, and their modification times, which jobs
 * record. HOME, VERSION and REQUEST stand for the folder, the version of the package, and the hash of the request.
 */

import * as fs from "node:fs";
import * as path from "node:path";
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { packageVersion } from "../../src/arrays/chunked/job/spec.ts";
import { createJob, openJob, removeJob, runJob } from "../../src/entries/chunked.ts";
import { openArray } from "../../src/entries/zarr.ts";
import { makeHome, MEMORY } from "../support/job-files.ts";
import { assertRejected } from "../support/refusal.ts";
import { ROOT } from "../support/root.ts";

interface StoredJob {
  readonly name: string;
  /** Files, with their time in ms, and their text or their bytes in base64; null for an empty folder. */
  readonly files: Readonly<Record<string, readonly [number, string | null, string?] | null>>;
}

const JOBS: readonly StoredJob[] = fs
  .readFileSync(path.join(ROOT, "test/fixtures/stored-jobs.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as StoredJob);

interface Row {
  readonly function: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly out: string;
  /** The values of the output, or null if an index is out of range. */
  readonly result: readonly number[] | null;
}

const ADDED = [50, 1, 62, 33, 4, 25, 6, 57];
const ROWS: Readonly<Record<string, Row>> = {
  "scatter into a new array": add("out.zarr", ADDED),
  "scatter in place, killed between a mark and its change": add("data.zarr", ADDED),
  "scatter that refuses duplicates": {
    function: "scatterND",
    options: { duplicates: "error" },
    out: "data.zarr",
    result: [10, 1, 50, 30, 4, 20, 6, 40],
  },
  "gather into an NPY file": {
    function: "gatherND",
    options: {},
    out: "out.npy",
    result: [0, 5, 3, 0, 7, 2],
  },
  "scatter with a bad index": { function: "scatterND", options: {}, out: "out.zarr", result: null },
  "finished scatter": add("out.zarr", ADDED),
};

function add(out: string, result: readonly number[]): Row {
  return { function: "scatterND", options: { reduction: "add" }, out, result };
}

/** Writes the files of a stored job into a new folder. */
async function unpack({ name, files }: StoredJob): Promise<string> {
  const home = makeHome();
  const write = (only: boolean, request: string): void => {
    for (const [file, entry] of Object.entries(files)) {
      const place = path.join(home, file);
      if ((file === "job/job.json") !== only) continue;
      fs.mkdirSync(entry === null ? place : path.dirname(place), { recursive: true });
      if (entry === null) continue;
      const [time, text, base64 = ""] = entry;
      const own = text
        ?.replaceAll("HOME", home)
        .replace("VERSION", packageVersion())
        .replace("REQUEST", request);
      fs.writeFileSync(place, own ?? Buffer.from(base64, "base64"));
      fs.utimesSync(place, time / 1000, time / 1000);
    }
  };
  write(false, "");
  write(true, await hashOf(home, ROWS[name]));
  return home;
}

const inputsIn = async (home: string, { function: name }: Row) => {
  const open = (file: string) => openArray(path.join(home, file), { onNote: () => {} });
  const updates = name === "gatherND" ? undefined : await open("updates.zarr");
  return { data: await open("data.zarr"), indices: await open("indices.zarr"), updates };
};

const outIn = (home: string, { out }: Row) =>
  out === "data.zarr"
    ? null
    : { format: path.extname(out).slice(1) as "npy" | "zarr", path: path.join(home, out) };

/** The hash in `job.json`, by which a repeated request finds its job. */
async function hashOf(home: string, row: Row): Promise<string> {
  const { data, indices, updates } = await inputsIn(home, row);
  const inputs = [data, indices, updates].map(
    (one) => one && [one.location.format, one.location.path, one.fingerprint],
  );
  const call = { function: row.function, options: row.options };
  const text = JSON.stringify({ call, inputs, out: outIn(home, row) });
  return createHash("sha256").update(text).digest("hex");
}

async function assertResult(home: string, row: Row, run: () => Promise<unknown>): Promise<void> {
  if (row.result === null) {
    await assertRejected("index-out-of-range", { at: [2, 0], got: 9 }, run);
    return;
  }
  await run();
  const values = (await (await openArray(path.join(home, row.out))).read()).toArray();
  assert.deepEqual(values, row.result);
  assert.deepEqual(fs.readdirSync(path.join(home, "job")).sort(), ["done", "job.json"]);
  assert.equal(fs.existsSync(path.join(home, row.out, ".ndscatter")), false);
}

test("each stored job has a row", () => {
  assert.deepEqual(JOBS.map(({ name }) => name).sort(), Object.keys(ROWS).sort());
});

for (const job of JOBS) {
  const row = ROWS[job.name];
  test(`a stored job is resumed: ${job.name}`, async () => {
    const home = await unpack(job);
    await assertResult(home, row, () => runJob(path.join(home, "job"), { threads: 0 }));
  });

  test(`a stored job is resumed by its request: ${job.name}`, async () => {
    const home = await unpack(job);
    const folder = path.join(home, "job");
    const { id } = await openJob(folder);
    const inputs = await inputsIn(home, row);
    const call = { function: row.function, options: row.options };
    const request = { folder, call, ...inputs, out: outIn(home, row), memory: MEMORY, threads: 1 };
    assert.equal((await createJob(request)).id, id);
    await assertResult(home, row, () => runJob(folder, { threads: 0 }));
  });

  test(`a stored job is removed: ${job.name}`, async () => {
    const home = await unpack(job);
    await removeJob(path.join(home, "job"));
    assert.equal(fs.existsSync(path.join(home, "job")), false);
  });
}
