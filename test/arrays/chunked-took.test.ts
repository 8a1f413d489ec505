/** What tasks take is written down and compared with the plan, and a job stops in order before its disk is full. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import * as path from "node:path";
import { test } from "node:test";
import {
  createJob,
  planFigures,
  type JobRequest,
} from "../../src/arrays/chunked/job/create-job.ts";
import { freeSpaceOf, type FreeSpace } from "../../src/arrays/chunked/job/disk.ts";
import { sumOf } from "../../src/arrays/chunked/job/most-bytes.ts";
import { describeJob } from "../../src/arrays/chunked/job/find-jobs.ts";
import { openJob } from "../../src/arrays/chunked/job/job.ts";
import { printShortage } from "../../src/arrays/chunked/job/shortage.ts";
import { parseSpec } from "../../src/arrays/chunked/job/spec.ts";
import { openSpec } from "../../src/arrays/chunked/job/spec-file.ts";
import { tookOf, type Took } from "../../src/arrays/chunked/job/took.ts";
import { startPool } from "../../src/arrays/chunked/run/pool.ts";
import { runBegun, runJob, watchMemory } from "../../src/arrays/chunked/run/run-job.ts";
import { scatterND } from "../../src/entries/index.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { createArray, openArray } from "../../src/entries/zarr.ts";
import { serveFiles } from "../support/http-server.ts";
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

const took = async (folder: string): Promise<Took> =>
  (await tookOf(await openJob(folder))) ?? assert.fail("no task has said what it took");

const bytesOf = ({ tasks, read, written }: Took) => ({ tasks, read, written });

test("a task that two workers run at once, or that runs again later, counts once", async () => {
  const { folder } = await makeSmall();
  const { folder: other } = await makeSmall();
  const pools = [1, 2].map(() => startPool({ threads: 1, memory: MEMORY }));
  const { id } = await openJob(folder);
  await Promise.all(pools.map((pool) => pool.run(folder, "partition", 0, undefined, id)));
  const first = bytesOf(await took(folder));
  assert.equal(first.tasks, 1);
  await pools[0].run(folder, "partition", 0, undefined, id);
  assert.deepEqual(bytesOf(await took(folder)), first);
  await Promise.all(pools.map((pool) => pool.end()));
  // The job goes on elsewhere, and in the end has taken what it takes in one go.
  await runJob(folder, HERE);
  await runJob(other, HERE);
  const all = await took(other);
  assert.equal(all.tasks, 6);
  assert.deepEqual(bytesOf(await took(folder)), bytesOf(all));
});

test(
  "of two records of one task, the one that moved more bytes counts, in whichever order they are listed",
  {
    skip: WITHOUT_NODE_ITSELF,
  },
  async () => {
    const { folder } = await makeSmall();
    const job = await openJob(folder);
    const recordOf = (read: number, written: number, milliseconds: number, megabytes: number) =>
      `${job.id}.apply.2.${read}.${written}.${milliseconds}.${megabytes}`;
    // The sum counts, not the bytes read alone, nor the time or the memory.
    const records = [recordOf(30, 5, 9000, 70), recordOf(20, 40, 2000, 3), recordOf(1, 1, 1, 900)];
    const orders = [records, records.toReversed(), [records[1], records[0], records[2]]];
    const { readdir } = fs.promises;
    try {
      for (const order of orders) {
        Object.assign(fs.promises, { readdir: () => Promise.resolve(order) });
        syncBuiltinESMExports();
        const [seconds, memory] = [2, 3 * 2 ** 20];
        assert.deepEqual(await tookOf(job), { tasks: 1, read: 20, written: 40, seconds, memory });
      }
    } finally {
      Object.assign(fs.promises, { readdir });
      syncBuiltinESMExports();
    }
  },
);

test("what is said by nobody, by another job or in another form is not counted", async () => {
  const { folder } = await makeSmall();
  const pool = startPool({ threads: 0, memory: MEMORY });
  const { id } = await openJob(folder);
  await pool.run(folder, "partition", 0, undefined, id);
  await pool.end();
  const before = bytesOf(await took(folder));
  const names = [
    `${"0".repeat(16)}.apply.0.1.1.1.1`,
    `${id}.apply.99.1.1.1.1`,
    `${id}.finish.0.1.1.1.1`,
    `${id}.apply.0.-1.1.1.1`,
    `${id}.apply.0.1.1.1`,
    "apply",
    "__proto__",
  ];
  for (const name of names) fs.writeFileSync(path.join(folder, "took", name), "");
  fs.mkdirSync(path.join(folder, "took", `${id}.apply`));
  assert.deepEqual(bytesOf(await took(folder)), before);
  // A file where the folder should be: the job is done as before, and has nothing to say.
  fs.rmSync(path.join(folder, "took"), { recursive: true });
  fs.writeFileSync(path.join(folder, "took"), "");
  assert.equal(await tookOf(await openJob(folder)), null);
  await runJob(folder, HERE);
  assert.equal(await tookOf(await openJob(folder)), null);
  for (const text of ["{", "{}", '{"took":{"tasks":"1"}}', "null"]) {
    fs.writeFileSync(path.join(folder, "done"), text);
    assert.equal(await tookOf(await openJob(folder)), null, text);
  }
});

test("a job that reads or writes more than was planned says so once", async () => {
  const { home, folder } = await makeSmall();
  const file = path.join(folder, "job.json");
  const spec = JSON.parse(fs.readFileSync(file, "utf8"));
  spec.planned.read = 7;
  fs.writeFileSync(file, `${JSON.stringify(spec)}\n`);
  const notes: string[] = [];
  await runJob(folder, { ...HERE, onNote: (note) => notes.push(note) });
  assert.deepEqual(
    notes.map((note) => note.replace(/read \d+/, "read N")),
    ["the tasks of the job read N B, more than the planned maximum of 7 B"],
  );
  assert.deepEqual(await readAll(path.join(home, "out.zarr")), [6, 6, 6, 6]);
});

test("a run begins with the note of a plan whose memory is short", async () => {
  const { folder } = await makeSmall();
  const file = path.join(folder, "job.json");
  const spec = JSON.parse(fs.readFileSync(file, "utf8"));
  assert.equal(spec.planned.shortage, null);
  const shortage = { memory: 7, sensible: 8, times: 3, threads: 1, tasks: 9, sensibleTasks: 2 };
  const parsed = (value: unknown) =>
    parseSpec(JSON.stringify({ ...spec, planned: { ...spec.planned, shortage: value } }));
  for (const value of [undefined, 1, {}, { ...shortage, times: "3" }, { ...shortage, more: 1 }])
    assert.throws(() => parsed(value), { code: "malformed-file" }, JSON.stringify(value));
  assert.deepEqual(parsed(shortage).planned?.shortage, shortage);
  spec.planned.shortage = shortage;
  fs.writeFileSync(file, `${JSON.stringify(spec)}\n`);
  const notes: string[] = [];
  await runJob(folder, { ...HERE, onNote: (note) => notes.push(note) });
  assert.deepEqual(notes, [printShortage(shortage)]);
  assert.deepEqual((await describeJob(folder)).planned?.shortage, shortage);
});

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
  assert.equal((await took(folder)).tasks, 6);
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
  const { folder } = await makeSmall();
  const small: FreeSpace = async (place) => ({
    ...(await freeSpaceOf(place)),
    size: 2 ** 20,
    free: 2 ** 17,
  });
  const job = await openSpec(folder);
  await runBegun(job, HERE, true, small);
  await job.close();
  assert.equal((await took(folder)).tasks, 6);
});

test("a job without chunks takes nothing", async () => {
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
  const { read, written, growth } = await planFigures(request);
  assert.deepEqual([sumOf(read), sumOf(written), growth], [0, 0, 0]);
  await createJob(request);
  await runJob(request.folder, HERE);
  assert.equal(await tookOf(await openJob(request.folder)), null);
});

test("inputs on a server are counted as they are read", async () => {
  const home = makeHome();
  await storeInputs(home);
  const server = await serveFiles(home);
  try {
    const indices = await openArray(`${server.address}/indices.zarr`);
    const request = await requestIn(home, add, { indices, blockShape: [2] });
    const { read } = await planFigures(request);
    assert.equal(read.indices, 32);
    await createJob(request);
    await runJob(request.folder, HERE);
    assert.ok((await took(request.folder)).read <= sumOf(read));
    assert.equal((await took(request.folder)).tasks, 6);
  } finally {
    server.close();
  }
});

const [ROWS, WIDTH] = [2048, 256];

/** Jobs as they are common: chunks of 512 kB without codecs. */
const COMMON: readonly (readonly [
  name: string,
  format: "zarr" | "npy",
  more: Partial<JobRequest>,
])[] = [
  ["a scatter", "zarr", {}],
  ["a scatter in place", "zarr", { out: null }],
  ["a scatter into NPY", "npy", {}],
  ["a gather", "zarr", { call: { function: "gatherND", options: {} }, updates: undefined }],
];

for (const [name, format, more] of COMMON) {
  test(`${name} of large chunks takes at least half of what is planned`, async () => {
    const home = makeHome();
    const values = (shape: readonly number[]) =>
      tensor(
        "float32",
        shape,
        Float32Array.from({ length: shape[0] * WIDTH }, (_, i) => i % 97),
      );
    const data = values([ROWS, WIDTH]);
    const indices = tensor(
      "int64",
      [ROWS, 1],
      Array.from({ length: ROWS }, (_, i) => (i * 7) % ROWS),
    );
    for (const [file, input, chunkShape] of [
      ["data", data, [512, WIDTH]],
      ["indices", indices, [ROWS, 1]],
      ["updates", data, [1024, WIDTH]],
    ] as const) {
      const { dtype, shape } = input;
      await (
        await createArray(path.join(home, `${file}.zarr`), { dtype, shape, chunkShape })
      ).write(input);
    }
    const out = { format, path: path.join(home, `out.${format}`) };
    const request = await requestIn(home, add, { out, ...more });
    const { read, written } = await planFigures(request);
    await createJob(request);
    await runJob(request.folder, HERE);
    const got = await took(request.folder);
    for (const [planned, taken] of [
      [sumOf(read), got.read],
      [sumOf(written), got.written],
    ])
      assert.ok(taken <= planned && planned <= 2 * taken, `${taken} of ${planned}`);
    if (more.updates === undefined && "updates" in more) return;
    const result = await openArray(more.out === null ? path.join(home, "data.zarr") : out.path);
    const expected = scatterND(data, indices, data, { reduction: "add" });
    assert.deepEqual([...(await result.read()).data], [...expected.data]);
  });
}

test("a file `done` that no task of the job wrote is not believed, and is replaced", async () => {
  const { folder } = await makeSmall();
  const foreign = { tasks: 3, read: 7777, written: 5, seconds: 1, memory: 3 };
  fs.writeFileSync(path.join(folder, "done"), JSON.stringify({ took: foreign }));
  const job = await openJob(folder);
  assert.equal(await tookOf(job), null);
  const notes: string[] = [];
  await runJob(folder, { ...HERE, onNote: (note) => notes.push(note) });
  assert.deepEqual(notes, []);
  assert.notEqual((await took(folder)).read, foreign.read);
});
