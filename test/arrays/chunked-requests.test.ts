/** What a request for a job is refused for, before anything of it is made. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { beginJob, createJob, planJob } from "../../src/arrays/chunked/job/create-job.ts";
import { gatherChunked, scatterChunked } from "../../src/arrays/chunked/functions.ts";
import { shareOf } from "../../src/arrays/chunked/stages/budget.ts";
import { removeJob } from "../../src/arrays/chunked/job/job-folder.ts";
import { createOutput } from "../../src/arrays/chunked/job/open-arrays.ts";
import { runBegun, runJob } from "../../src/arrays/chunked/run/run-job.ts";
import { startPool } from "../../src/arrays/chunked/run/pool.ts";
import { openJob, remainingTasks } from "../../src/arrays/chunked/job/job.ts";
import type { JobRequest } from "../../src/arrays/chunked/job/request.ts";
import type { JobSpec, StageName } from "../../src/arrays/chunked/job/spec.ts";
import { openSpec, readSpec } from "../../src/arrays/chunked/job/spec-file.ts";
import { writeNpy } from "../../src/entries/npy.ts";
import { TensorError } from "../../src/core/errors.ts";
import { gatherND } from "../../src/core/functions.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { withFile, writeFully } from "../../src/arrays/boxes/file.ts";
import { checkDisk, freeSpaceOf } from "../../src/arrays/chunked/job/disk.ts";
import { openArray } from "../../src/entries/zarr.ts";
import { caseCount } from "../support/cases.ts";
import {
  add,
  makeHome,
  MEMORY,
  readAll,
  requestIn,
  store,
  storeInputs,
} from "../support/job-files.ts";
import { setLimits } from "../support/limits.ts";
import { randomFrom } from "../support/random.ts";
import { assertRejected, assertRejectedCode } from "../support/refusal.ts";

const none = { function: "scatterND", options: {} };

/** Stores inputs with two by two positions. */
async function storePositions(home: string): Promise<void> {
  const at = (name: string): string => path.join(home, name);
  await store(at("data.zarr"), tensor("float32", [2], [0, 0]), [1]);
  await store(at("indices.zarr"), tensor("int64", [2, 2, 1], [1, 0, 0, 1]), [2, 2, 1]);
  await store(at("updates.zarr"), tensor("float32", [2, 2], [1, 2, 3, 4]), [2, 2]);
}

test("a block is a run of the positions in their order, or refused", async () => {
  const home = makeHome();
  const at = (name: string): string => path.join(home, name);
  await storePositions(home);
  for (const blockShape of [[2, 1], [2], [0, 2], [1.5, 2], [1, 2, 1]]) {
    const request = await requestIn(home, none, { blockShape });
    await assertRejected("attribute", {}, () => createJob(request));
    assert.ok(!fs.existsSync(request.folder), String(blockShape));
  }
  for (const blockShape of [
    [1, 1],
    [1, 2],
    [2, 2],
    [7, 7],
  ]) {
    const request = await requestIn(home, none, { blockShape });
    await createJob(request);
    await runJob(request.folder, { threads: 0, memory: MEMORY });
    // The last update of row 0 is 3, that of row 1 is 4.
    assert.deepEqual(await readAll(at("out.zarr")), [3, 4], String(blockShape));
    for (const name of ["job", "out.zarr"]) fs.rmSync(at(name), { recursive: true });
  }
});

const gather = { function: "gatherND", options: {} };

const withTasks = ({ stages }: JobSpec, name: StageName, tasks: number): Partial<JobSpec> => ({
  stages: stages.map((one) => (one.name === name ? { name, tasks } : one)),
});

/** Jobs, and changes of their `job.json` after which the file no longer fits the arrays. */
const UNFIT: readonly (readonly [string, Make, (spec: JobSpec) => Partial<JobSpec>])[] = [
  ["with blocks that are not runs", makeBlocks, () => ({ blockShape: [2, 1] })],
  ["with other tasks of partition", makeScatter, (spec) => withTasks(spec, "partition", 9)],
  ["with other tasks of apply", makeScatter, (spec) => withTasks(spec, "apply", 9)],
  ["with another number of chunks", makeScatter, () => ({ chunks: 5 })],
  ["with more chunks per task", makeScatter, () => ({ chunksPerTask: 3 })],
  ["with more chunks per task of a gather", makeGather, () => ({ chunksPerTask: 2 })],
  [
    "that gives a task of a gather a part of some slices",
    makePieces,
    (spec) => ({ chunksPerTask: 2, ...withTasks(spec, "apply", 3) }),
  ],
];

type Make = (home: string) => Promise<JobRequest>;

async function makeBlocks(home: string): Promise<JobRequest> {
  await storePositions(home);
  return requestIn(home, none, { blockShape: [1, 2] });
}

async function makeScatter(home: string): Promise<JobRequest> {
  await storeInputs(home);
  return requestIn(home, add);
}

async function makeGather(home: string): Promise<JobRequest> {
  await storeInputs(home);
  return requestIn(home, gather, { updates: undefined });
}

async function makePieces(home: string): Promise<JobRequest> {
  await store(path.join(home, "data.zarr"), tensor("float32", [2, 3], [1, 2, 3, 4, 5, 6]), [1, 1]);
  for (const name of ["indices.zarr", "updates.zarr"])
    await store(path.join(home, name), tensor("int64", [1, 1], [1]), [1, 1]);
  return requestIn(home, gather, { updates: undefined });
}

for (const [name, make, change] of UNFIT) {
  test(`a job.json ${name} is not run`, async () => {
    const request = await make(makeHome());
    await createJob(request);
    const { folder } = request;
    const spec = await readSpec(folder);
    const text = JSON.stringify({ ...spec, ...change(spec) });
    fs.writeFileSync(path.join(folder, "job.json"), text);
    const run = (): Promise<void> => runJob(folder, { threads: 0, memory: MEMORY });
    await assertRejected("malformed-file", {}, run);
  });
}

test("a call without positions copies data, or gathers nothing", async () => {
  const home = makeHome();
  const at = (name: string): string => path.join(home, name);
  await store(at("data.zarr"), tensor("float32", [3, 2], [1, 2, 3, 4, 5, 6]), [2, 1]);
  await store(at("indices.zarr"), tensor("int64", [0, 1], []), [1, 1]);
  await store(at("updates.zarr"), tensor("float32", [0, 2], []), [1, 2]);
  // Nobody has written a value there, so that the chunk is not stored.
  fs.rmSync(at("data.zarr/c/1/0"));
  const [data, indices, updates] = await openAll(home);
  const settings = { memory: MEMORY, threads: 0 };
  const same = await scatterChunked(data, indices, updates, { out: at("same.zarr"), ...settings });
  assert.deepEqual([...(await same.read()).data], [1, 2, 3, 4, 0, 6]);
  assert.deepEqual(fs.readdirSync(at("same.zarr/c/1")), ["1"]);
  assert.ok(!fs.existsSync(at("same.zarr/.ndscatter")));
  const npy = await scatterChunked(data, indices, updates, { out: at("same.npy"), ...settings });
  assert.deepEqual([...(await npy.read()).data], [1, 2, 3, 4, 0, 6]);
  const none = await gatherChunked(data, indices, { out: at("none.zarr"), ...settings });
  assert.deepEqual(none.shape, [0, 2]);
});

const openAll = (home: string) =>
  Promise.all(
    ["data", "indices", "updates"].map((name) => openArray(path.join(home, `${name}.zarr`))),
  );

test("an ending that names no format of arrays is refused", async () => {
  const home = makeHome();
  await storeInputs(home);
  const [data, indices, updates] = await openAll(home);
  const before = fs.readdirSync(home).sort();
  for (const name of ["x.pb", "x.onnx", "x.zarr.txt"]) {
    const out = path.join(home, name);
    await assertRejected("attribute", {}, () => scatterChunked(data, indices, updates, { out }));
  }
  assert.deepEqual(fs.readdirSync(home).sort(), before);
});

test("chunks that an NPY file cannot have do not matter when the result is opened", async () => {
  const home = makeHome();
  const at = (name: string): string => path.join(home, name);
  const values = [1, 2, 3, 4, 5, 6, 7, 8];
  await store(at("data.zarr"), tensor("float32", [2, 4], values), [1, 2]);
  await store(at("indices.zarr"), tensor("int64", [1, 1], [1]), [1, 1]);
  await store(at("updates.zarr"), tensor("float32", [1, 4], [0, 0, 0, 0]), [1, 4]);
  const [data, indices, updates] = await openAll(home);
  const settings = { memory: MEMORY, threads: 0 };
  const out = await scatterChunked(data, indices, updates, { out: at("x.npy"), ...settings });
  assert.deepEqual([...(await out.read()).data], [1, 2, 3, 4, 0, 0, 0, 0]);
  const taken = await gatherChunked(data, indices, { out: at("y.npy"), ...settings });
  assert.deepEqual([...(await taken.read()).data], [5, 6, 7, 8]);
  await store(at("three.zarr"), tensor("int64", [3, 1], [1, 0, 1]), [3, 1]);
  const three = await openArray(at("three.zarr"));
  const rows = await gatherChunked(data, three, { out: at("z.npy"), ...settings });
  assert.deepEqual([...(await rows.read()).data], [5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8]);
});

test("a gather of few rows reads these rows alone, and no chunk without one", async () => {
  const home = makeHome();
  const at = (name: string): string => path.join(home, name);
  const rows = Array.from({ length: 24 }, (_, row) => row % 2);
  await store(at("data.zarr"), tensor("bool", [12, 2], rows), [4, 2]);
  await store(at("packed.zarr"), tensor("bool", [12, 2], rows), [4, 2], ["gzip"]);
  fs.writeFileSync(at("data.npy"), writeNpy(tensor("bool", [12, 2], rows)));
  await store(at("indices.zarr"), tensor("int64", [3, 1], [3, 0, 3]), [2, 1]);
  const header = fs.statSync(at("data.npy")).size - 24;
  const spoil = (file: string, bytes: readonly number[]): void => {
    const content = fs.readFileSync(file);
    for (const byte of bytes) content[byte] = 7;
    fs.writeFileSync(file, content);
  };
  // A byte that is no bool is an error where it is read.
  const unwanted = [2, 5, 8, 23];
  spoil(
    at("data.npy"),
    unwanted.map((byte) => header + byte),
  );
  for (const name of ["data.zarr", "packed.zarr"]) {
    fs.writeFileSync(at(`${name}/c/2/0`), "short");
  }
  const indices = await openArray(at("indices.zarr"));
  const settings = { memory: MEMORY, threads: 0 };
  const taken = async (name: string, out: string): Promise<readonly unknown[]> => {
    const data = await openArray(at(name));
    const gathered = await gatherChunked(data, indices, { out: at(out), ...settings });
    return [...(await gathered.read()).data];
  };
  for (const name of ["data.zarr", "packed.zarr"]) {
    assert.deepEqual(await taken(name, `${name}.npy`), [0, 1, 0, 1, 0, 1]);
  }
  await assertRejected("malformed-file", {}, () => taken("data.npy", "b.npy"));
  // A row is two bytes, and three entries that are so far apart are fewer than the bytes of the array.
  const restore = setLimits({ CHUNKED: { gap: 2 } });
  try {
    assert.deepEqual(await taken("data.npy", "c.npy"), [0, 1, 0, 1, 0, 1]);
    spoil(at("data.npy"), [header + 7]);
    await assertRejected("malformed-file", {}, () => taken("data.npy", "d.npy"));
  } finally {
    restore();
  }
});

test("a task of a gather of few rows takes several chunks, one in memory at a time: the bits of a call in memory", async () => {
  const random = randomFrom(20261124);
  const rounds = caseCount(48, 8);
  for (let round = 0; round < rounds; round++) {
    const home = makeHome();
    const at = (name: string): string => path.join(home, name);
    // In every other round, a task has several of the seven or more chunks, whatever else is drawn.
    const isShared = round % 2 === 0;
    const [rows, columns, wanted] = [20 + random(60), 1 + random(5), 1 + random(40)];
    const values = Float32Array.from({ length: rows * columns }, (_, i) => i);
    const data = tensor("float32", [rows, columns], values);
    // A third of the indices are in the first chunk, of which nothing lies between two rows.
    const ids = Array.from({ length: wanted }, () => random(random(3) === 0 ? 3 : rows));
    const indices = tensor("int64", [wanted, 1], ids);
    await store(at("data.zarr"), data, [3, columns]);
    await store(at("indices.zarr"), indices, [4, 1]);
    const folder = at("job");
    const groups = isShared
      ? { gap: 1, groups: 1 + random(3), group: 2 + random(5) }
      : { gap: 1 + random(4), groups: 1 + random(4), group: 1 + random(6) };
    const limits = { small: 0, ahead: random(64), ...groups };
    const restore = setLimits({ CHUNKED: limits });
    try {
      const { chunksPerTask } = await createJob({
        folder,
        call: { function: "gatherND", options: {} },
        data: await openArray(at("data.zarr")),
        indices: await openArray(at("indices.zarr")),
        out: { format: "npy", path: at("out.npy") },
        memory: MEMORY,
        threads: 1,
        blockShape: [1 + random(wanted)],
      });
      if (isShared) assert.ok(chunksPerTask > 1, `round ${round}: ${chunksPerTask} chunks`);
      await runJob(folder, { threads: 0, memory: MEMORY });
    } finally {
      restore();
    }
    const got = await (await openArray(at("out.npy"))).read();
    assert.ok(equals(got, gatherND(data, indices)), `round ${round}: ${got}`);
  }
});

test("a start that fails leaves nothing, and an unfinished output says whose it is", async () => {
  const home = makeHome();
  await storeInputs(home);
  const before = fs.readdirSync(home).sort();
  const out = { format: "zarr", path: path.join(home, "out.zarr") } as const;
  const request = await requestIn(home, add, { out });
  const codecs = path.join(home, "data.zarr", "zarr.json");
  const json = JSON.parse(fs.readFileSync(codecs, "utf8")) as { codecs: object[] };
  const blosc = { cname: "snappy", clevel: 5, shuffle: "noshuffle", typesize: 4, blocksize: 0 };
  const wanted = [...json.codecs, { name: "blosc", configuration: blosc }];
  fs.writeFileSync(codecs, JSON.stringify({ ...json, codecs: wanted }));
  const data = await openArray(path.join(home, "data.zarr"));
  await assertRejected("attribute", {}, () => createJob({ ...request, data }));
  assert.deepEqual(fs.readdirSync(home).sort(), before);
  // With other codecs it begins.
  const zstd = await createJob({ ...request, data, codecs: ["zstd"] });
  assert.deepEqual(zstd.codecs, ["zstd"]);
  await removeJob(request.folder);
  assert.deepEqual(fs.readdirSync(home).sort(), before);
  fs.writeFileSync(codecs, JSON.stringify(json));
  await createJob(request);
  const other = { ...request, folder: path.join(home, "other") };

  await assertRejected("attribute", {}, () => createJob(other));
  fs.rmSync(request.folder, { recursive: true });

  await assertRejected("attribute", {}, () => createJob(request));
});

test("a plan says what the job will do, and writes nothing", async () => {
  const home = makeHome();
  await storeInputs(home);
  const before = fs.readdirSync(home, { recursive: true }).length;
  const request = await requestIn(home, add, { blockShape: [3], threads: 2 });
  const restore = setLimits({ CHUNKED: { groups: 2 } });
  try {
    const plan = await planJob(request);
    assert.equal(fs.readdirSync(home, { recursive: true }).length, before);
    assert.deepEqual([plan.chunks, plan.chunksPerTask, plan.threads], [4, 2, 2]);
    // A block of the disk for each chunk, and each task of both stages has two files.
    assert.ok(plan.disk >= 4096 * (4 + 2 * 4), String(plan.disk));
    const { stages } = await createJob(request);
    assert.deepEqual(plan.stages, stages);
    assert.deepEqual(
      stages.map(({ tasks }) => tasks),
      [2, 2, 1],
    );
    // With it the largest task fits, and with a byte less it does not.
    const { taskBytes } = plan;
    const other = { ...request, folder: path.join(home, "other"), threads: 1 };
    const out = { format: "zarr", path: path.join(home, "other.zarr") } as const;
    const memory = MEMORY - shareOf(MEMORY, 1) + taskBytes;
    assert.equal((await planJob({ ...other, out, memory })).taskBytes, taskBytes);
    await assertRejected("too-large", {}, () => planJob({ ...other, out, memory: memory - 1 }));
  } finally {
    restore();
  }
  await assertRejected("attribute", {}, () => planJob(request));
});

test("a new array has the codecs that are asked for, and the bits of a call in memory", async () => {
  const home = makeHome();
  await storeInputs(home);
  const [data, indices, updates] = await openAll(home);
  const settings = { memory: MEMORY, threads: 0, reduction: "add" };
  const out = path.join(home, "out.zarr");
  const job = path.join(home, "job");
  const made = await scatterChunked(data, indices, updates, {
    ...settings,
    out,
    job,
    codecs: ["zstd", "crc32c"],
  });
  assert.deepEqual([...(await made.read()).data], [6, 6, 6, 6]);
  const { codecs } = JSON.parse(fs.readFileSync(path.join(out, "zarr.json"), "utf8")) as {
    codecs: { name: string }[];
  };
  assert.deepEqual(
    codecs.map(({ name }) => name),
    ["bytes", "zstd", "crc32c"],
  );
  // Other codecs are another request.
  await assertRejected("attribute", {}, () =>
    scatterChunked(data, indices, updates, { ...settings, out, job, codecs: ["gzip"] }),
  );
  for (const [wrong] of [
    ["zstd"],
    [["sponge"]],
    [[{ name: "gzip", configuration: { level: 99 } }]],
  ] as const)
    await assertRejected("attribute", {}, () =>
      scatterChunked(data, indices, updates, {
        ...settings,
        out: path.join(home, "b.zarr"),
        codecs: wrong as never,
      }),
    );
  await assertRejected("attribute", {}, () =>
    scatterChunked(data, indices, updates, { ...settings, out: data, codecs: ["zstd"] }),
  );
});

test("a folder that holds something else is refused, and nothing is left in it or beside it", async () => {
  const home = makeHome();
  await storeInputs(home);
  const request = await requestIn(home, add);
  fs.mkdirSync(request.folder);
  fs.writeFileSync(path.join(request.folder, "notes.txt"), "");
  const listing = (): string[] =>
    fs.readdirSync(home, { recursive: true, encoding: "utf8" }).sort();
  const before = listing();
  await assertRejected("attribute", {}, () => createJob(request));
  assert.deepEqual(listing(), before);
});

test("the same call many times at once is one job, and each has its result, or finds it there", async () => {
  // In place, a call that begins when the first one has ended would be another one without the folder of the job.
  for (const [name, job] of [
    ["out.zarr", undefined],
    ["out.npy", undefined],
    ["data.zarr", "job"],
  ] as const) {
    const home = makeHome();
    await storeInputs(home);
    const [data, indices, updates] = await openAll(home);
    const out = name === "data.zarr" ? data : path.join(home, name);
    const results = await Promise.allSettled(
      Array.from({ length: 3 }, () =>
        scatterChunked(data, indices, updates, {
          reduction: "add",
          out,
          job: job && path.join(home, job),
          memory: MEMORY,
          threads: 0,
        }),
      ),
    );
    const failures = results.filter(({ status }) => status === "rejected");
    for (const failure of failures) {
      // Without a folder that stays, a call that looks for the output when another one has ended comes too late.
      assert.equal(job, undefined);
      const says = /\/out\.(?:zarr|npy) exists; remove it, or give another output$/;
      assert.match(String(Reflect.get(failure, "reason")), says);
    }
    assert.ok(failures.length < results.length);
    assert.deepEqual(await readAll(path.join(home, name)), [6, 6, 6, 6], name);
    assert.ok(!fs.existsSync(path.join(home, `${name}.job`)));
  }
});

test("of calls that have begun one job together, each ends well, though the first to end removes it", async () => {
  for (const format of ["zarr", "npy"] as const) {
    const home = makeHome();
    await storeInputs(home);
    const out = { format, path: path.join(home, `out.${format}`) };
    const request = await requestIn(home, add, { out });
    const begun = await Promise.all(Array.from({ length: 3 }, () => beginJob(request)));
    assert.equal(new Set(begun.map(({ spec }) => spec.id)).size, 1);
    await Promise.all(
      begun.map(async (job) => {
        await runBegun(job, { threads: 0, memory: MEMORY });
        await job.close();
        await removeJob(job.folder, job.spec.id);
      }),
    );
    assert.deepEqual(await readAll(out.path), [6, 6, 6, 6], format);
    assert.ok(!fs.existsSync(request.folder));
  }
});

// The line of a run that lost its power is zeros, and other runs have appended theirs before or after it.
for (const marks of ["\n", "\0\n", "\n\0", "\0\0\n\0\n\0"])
  test(`a job whose file ends in the marks ${JSON.stringify(marks)} is complete`, async () => {
    const home = makeHome();
    await storeInputs(home);
    const request = await requestIn(home, add);
    await createJob(request);
    const { folder } = request;
    const text = fs.readFileSync(path.join(folder, "job.json"), "utf8");
    await runJob(folder, { threads: 0, memory: MEMORY });
    fs.writeFileSync(path.join(folder, "job.json"), text + marks);
    // A crash may also have come before the last files of the tasks were removed.
    for (const isMarked of [true, false]) {
      if (!isMarked) fs.rmSync(path.join(folder, "done"));
      await createJob(request);
      await runJob(folder, { threads: 0, memory: MEMORY });
      assert.deepEqual(await readAll(path.join(home, "out.zarr")), [6, 6, 6, 6]);
    }
  });

test("a job that was removed in part begins again when the rest is removed", async () => {
  const home = makeHome();
  await storeInputs(home);
  const request = await requestIn(home, add);
  await createJob(request);
  const { folder } = request;
  const file = path.join(folder, "shuffle");
  fs.rmdirSync(file);
  const fields = { key: "folder", file } as const;
  await assertRejected("attribute", fields, () => createJob(request));
  const run = (): Promise<void> => runJob(folder, { threads: 0, memory: MEMORY });
  await assertRejected("attribute", fields, run);
  await removeJob(folder);
  await createJob(request);
  await run();
  assert.deepEqual(await readAll(path.join(home, "out.zarr")), [6, 6, 6, 6]);
});

test("a mark that a late run writes into a removed job's folder is removed with the folder", async () => {
  const home = makeHome();
  await storeInputs(home);
  const out = { format: "zarr", path: path.join(home, "out.zarr") } as const;
  const request = await requestIn(home, add, { out });
  const job = await beginJob(request);
  await job.close();
  const { folder, spec } = job;
  await runJob(folder, { threads: 0, memory: MEMORY });
  await removeJob(folder, spec.id);
  assert.ok(!fs.existsSync(folder));
  fs.mkdirSync(folder);
  fs.writeFileSync(path.join(folder, "done"), "");
  fs.writeFileSync(path.join(folder, "mine"), "");
  await removeJob(folder, spec.id);
  assert.deepEqual(fs.readdirSync(folder).toSorted(), ["done", "mine"]);
  fs.rmSync(path.join(folder, "mine"));
  await removeJob(folder);
  assert.ok(!fs.existsSync(folder));
  fs.mkdirSync(folder);
  fs.writeFileSync(path.join(folder, "done"), "");
  await removeJob(folder, spec.id);
  assert.ok(!fs.existsSync(folder));
  // Another run could not remove the folder, in which this run was still removing task files.
  fs.mkdirSync(folder);
  await removeJob(folder, spec.id);
  assert.ok(!fs.existsSync(folder));
});

test("a file done that somebody else has written does not make a job count as finished", async () => {
  for (const [name, later] of [
    ["out.zarr", false],
    ["out.npy", false],
    ["out.zarr", true],
  ] as const) {
    const home = makeHome();
    await storeInputs(home);
    const out = { format: name.slice(4) as "zarr" | "npy", path: path.join(home, name) };
    const request = await requestIn(home, add, { out });
    const { folder } = request;
    await createJob(request);
    const mark = () => fs.writeFileSync(path.join(folder, "done"), "");
    const pool = startPool({ threads: 0, memory: MEMORY });
    if (later) await pool.run(folder, "partition", 0);
    mark();
    const job = await openJob(folder);
    assert.deepEqual(await remainingTasks(job, "apply"), [0, 1, 2, 3]);
    await assertRejected("engine", {}, () => pool.run(folder, "finish", 0));
    await createJob(request);
    await pool.run(folder, "partition", 0);
    await pool.end();
    await runJob(folder, { threads: 0, memory: MEMORY });
    assert.deepEqual(await readAll(out.path), [6, 6, 6, 6], name);
    // A job that is given up while the file is there leaves no output.
    fs.rmSync(folder, { recursive: true });
    fs.rmSync(out.path, { recursive: true });
    await createJob(request);
    mark();
    await removeJob(folder);
    assert.deepEqual(fs.readdirSync(home).toSorted(), [
      "data.zarr",
      "indices.zarr",
      "updates.zarr",
    ]);
  }
});

test("two folders of one disk need the sum of their bytes, and those of two disks only their own", async () => {
  const home = makeHome();
  for (const name of ["a", "b"]) fs.mkdirSync(path.join(home, name));
  const rooms = ["a", "b/later/job"].map((name) => ({ folder: path.join(home, name), bytes: 60 }));
  const disks = (numbers: readonly [number, number]) => (folder: string) =>
    Promise.resolve({ disk: numbers[folder.endsWith("a") ? 0 : 1], free: 100, size: 1000 });
  await checkDisk(rooms, disks([7, 8]));
  for (const order of [rooms, rooms.toReversed()])
    await assertRejected("too-large", { got: 120, limit: 100 }, () =>
      checkDisk(order, disks([7, 7])),
    );
  await checkDisk(
    rooms.map((room) => ({ ...room, bytes: 50 })),
    disks([7, 7]),
  );
  // The disk's number is the system's.
  const [a, b] = await Promise.all(["a", "b"].map((name) => freeSpaceOf(path.join(home, name))));
  assert.equal(a.disk, b.disk);
  assert.equal(a.disk, fs.statSync(home).dev);
  const { bavail, blocks, bsize } = fs.statfsSync(home);
  assert.equal(a.size, blocks * bsize);
  assert.ok(bavail * bsize <= a.size && a.free <= a.size);
});

test("a disk that is full is an error with amounts, and with a path", async () => {
  const home = makeHome();
  const needs = (bytes: number) => () => checkDisk([{ folder: home, bytes }]);
  // The sentence says how much space the disk has left.
  await assertRejectedCode("too-large", { file: home, got: 9e20 }, needs(9e20));
  const handle = await fs.promises.open("/dev/full", "w").catch(() => null);
  if (handle === null) return;
  await handle.close();
  await assert.rejects(
    withFile("/dev/full", "r+", (open) => writeFully(open, new Uint8Array(1), 0)),
    { code: "ENOSPC", path: "/dev/full" },
  );
});

test("the path of an open file is added to errors of the system alone", async () => {
  const file = path.join(makeHome(), "file");
  const throwIn = async (error: unknown): Promise<unknown> =>
    withFile(file, "w", () => Promise.reject(error)).catch((caught: unknown) => caught);
  const system = Object.assign(new Error("full"), { code: "ENOSPC" });
  assert.equal(await throwIn(system), system);
  assert.equal(Reflect.get(system, "path"), file);
  for (const error of [
    Object.assign(new Error("full"), { code: "ENOSPC", path: "another" }),
    new TensorError("malformed-file", "it is broken"),
    new Error("no code"),
    { code: "ENOSPC" },
    "ENOSPC",
  ]) {
    const before: unknown = Reflect.get(Object(error), "path");
    assert.equal(await throwIn(error), error);
    assert.equal(Reflect.get(Object(error), "path"), before);
  }
});

test("a job goes on with the same inputs only", async () => {
  const home = makeHome();
  await storeInputs(home);
  const file = path.join(home, "rows.npy");
  const write = (row: number): void =>
    fs.writeFileSync(file, writeNpy(tensor("int64", [4, 1], [0, 1, 2, row])));
  write(3);
  const ask = async () => requestIn(home, add, { indices: await openArray(file) });
  await createJob(await ask());
  await createJob(await ask());
  fs.utimesSync(file, 1, 1);
  await assertRejected("attribute", {}, async () => createJob(await ask()));
});

test("a run whose job another run has finished and removed ends well, but not one that was given up", async () => {
  const home = makeHome();
  await storeInputs(home);
  const settings = { threads: 0, memory: MEMORY };
  for (const isFinished of [true, false]) {
    const { folder } = await requestIn(home, add);
    const out = { format: "npy", path: path.join(home, `${isFinished}.npy`) } as const;
    await createJob(await requestIn(home, add, { out }));
    const job = await openSpec(folder);
    if (isFinished) await runJob(folder, settings);
    await removeJob(folder);
    if (isFinished) await runBegun(job, settings);
    else await assert.rejects(runBegun(job, settings));
    await job.close();
    assert.equal(fs.existsSync(out.path), isFinished);
  }
});

test("an output that two runs begin at once is begun once", async () => {
  const home = makeHome();
  await storeInputs(home);
  const out = { format: "npy", path: path.join(home, "x.npy") } as const;
  const request = await requestIn(home, add, { out });
  await createJob(request);
  const spec = await readSpec(request.folder);
  const part = fs.readdirSync(home).filter((name) => name.startsWith("x.npy"));
  await createOutput(spec, request.data, request.data);
  assert.deepEqual(
    fs.readdirSync(home).filter((name) => name.startsWith("x.npy")),
    part,
  );
  assert.equal(part.length, 1);
});

test("what createJob and openJob return does not change the job", async () => {
  const home = makeHome();
  await storeInputs(home);
  const request = await requestIn(home, add);
  const spec = await createJob(request);
  const { stages } = await openJob(request.folder);
  for (const list of [spec.stages, stages])
    assert.throws(() => (list as unknown[]).pop(), TypeError);
  assert.throws(() => Object.assign(spec.out, { path: "elsewhere" }), TypeError);
  await runJob(request.folder, { threads: 0, memory: MEMORY });
  assert.deepEqual(await readAll(path.join(home, "out.zarr")), [6, 6, 6, 6]);
});
