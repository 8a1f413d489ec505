/** Gathers from files whose result fits in memory run without a job. */

import * as fs from "node:fs";
import * as path from "node:path";
import assert from "node:assert/strict";
import { test } from "node:test";
import { gatherChunked, type ChunkedOptions } from "../../src/arrays/chunked/functions.ts";
import { gatherInMemory } from "../../src/arrays/chunked/gather-in-memory.ts";
import { createJob } from "../../src/arrays/chunked/job/create-job.ts";
import type { JobRequest } from "../../src/arrays/chunked/job/request.ts";
import { HOST } from "../../src/arrays/chunked/job/temporary.ts";
import { runJob, type JobProgress } from "../../src/arrays/chunked/run/run-job.ts";
import type { ChunkedArray } from "../../src/arrays/boxes/array.ts";
import { gather, gatherElements, gatherND } from "../../src/core/functions.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import type { DType } from "../../src/core/tensor/dtype.ts";
import { product } from "../../src/core/tensor/shape.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { writeNpy } from "../../src/entries/npy.ts";
import { createArray, openArray } from "../../src/entries/zarr.ts";
import { caseCount } from "../support/cases.ts";
import { makeHome, MEMORY, store } from "../support/job-files.ts";
import { setLimits } from "../support/limits.ts";
import { npyOf, ORDERS } from "../support/npy-file.ts";
import { randomFrom, randomTensor, type Random } from "../support/random.ts";
import { assertRejected } from "../support/refusal.ts";

const pick = <T>(random: Random, list: readonly T[]): T => list[random(list.length)];

/** Writes a tensor to a file of some format, in chunks of some shape. */
async function stored(random: Random, file: string, values: Tensor): Promise<ChunkedArray> {
  const { dtype, shape } = values;
  if (random(3) === 0) {
    fs.writeFileSync(`${file}.npy`, npyOf(values, pick(random, ORDERS)));
    return openArray(`${file}.npy`);
  }
  const chunkShape = shape.map((dim) => 1 + random(Math.max(1, dim + 1)));
  const codecs = pick<readonly string[]>(random, [[], [], ["zstd"], ["gzip"], ["blosc"]]);
  const shards = random(4) === 0 ? chunkShape.map((size) => size * (1 + random(3))) : null;
  const array = await createArray(`${file}.zarr`, { dtype, shape, chunkShape, codecs, shards });
  // Some chunks are not stored.
  if (random(5) > 0) await array.write(values);
  return array;
}

const bytesFrom = (count: number, at: (i: number) => number) =>
  Uint8Array.from({ length: count }, (_, i) => at(i));
const ints = (shape: readonly number[], values: ArrayLike<number>): Tensor =>
  tensor("int32", shape, Int32Array.from(values));
const longs = (shape: readonly number[], values: readonly number[]): Tensor =>
  tensor("int64", shape, BigInt64Array.from(values, BigInt));

interface Drawn {
  readonly data: Tensor;
  readonly indices: Tensor;
  readonly options: Partial<ChunkedOptions>;
  expected(data: Tensor): Tensor;
}

/** Draws a call: its data has all kinds of axes, and some of its indices are negative, and outside if allowed. */
function drawn(random: Random): Drawn {
  const dtype = pick<DType>(random, ["uint8", "bool", "float16", "float32", "int64", "complex128"]);
  const shape = Array.from({ length: 1 + random(3) }, () => 1 + random(7));
  const data = randomTensor(dtype, shape, random);
  const bounds = pick(random, ["error", "clip", "fill"] as const);
  const indexOf = (dim: number): number =>
    random(2 * dim) - dim + (bounds === "error" ? 0 : random(3));
  const integers = pick(random, [ints, longs]);
  const make = (own: readonly number[], dimOf: (at: number) => number): Tensor =>
    integers(
      own,
      Array.from({ length: product(own) }, (_, at) => indexOf(dimOf(at))),
    );
  const form = random(3);
  if (form === 0) {
    const k = 1 + random(shape.length);
    const batchDims = k < shape.length ? random(2) : 0;
    const counts = batchDims === 1 ? [shape[0], random(6)] : [random(6), 1 + random(3)];
    const indices = make([...counts, k], (at) => shape[batchDims + (at % k)]);
    const own = { batchDims, bounds };
    return { data, indices, options: own, expected: (one) => gatherND(one, indices, own) };
  }
  const axis = random(shape.length);
  const own = { axis, bounds };
  if (form === 1) {
    const counts = shape.map((dim, d) => (d === axis ? random(9) : 1 + random(dim)));
    const indices = make(counts, () => shape[axis]);
    const options = { ...own, function: "gatherElements" };
    return { data, indices, options, expected: (one) => gatherElements(one, indices, own) };
  }
  const indices = make([random(7), 1 + random(2)], () => shape[axis]);
  const options = { ...own, function: "gather" };
  return { data, indices, options, expected: (one) => gather(one, indices, own) };
}

test("a gather of any form, in and out of any file, with or without a job, is that in memory", async () => {
  const home = makeHome();
  for (let turn = 0; turn < caseCount(800); turn++) {
    const random = randomFrom(3000 + turn);
    const { data, indices, options, expected } = drawn(random);
    const own = path.join(home, String(turn));
    fs.mkdirSync(own);
    const gaps = { gap: pick(random, [1, 40, 65_536]), sparse: pick(random, [0, 8, 4096]) };
    const CHUNKED = { ...gaps, reads: 1 + random(8) };
    const restore = setLimits({ CHUNKED, ZARR: { block: 8 + random(64) } });
    try {
      const input = await stored(random, path.join(own, "data"), data);
      const ids = path.join(own, "ids.npy");
      fs.writeFileSync(ids, writeNpy(indices));
      const right = expected(await input.read());
      const out = path.join(own, "folder", pick(random, ["out.zarr", "out.npy"]));
      const chunkShape = right.shape.map((dim) => 1 + random(dim + 1));
      const isCut = out.endsWith(".zarr") && random(3) === 0;
      const stages = new Set<string>();
      const isJob = random(4) === 0;
      const made = await gatherChunked(input, await openArray(ids), {
        ...{ ...options, ...(isCut && { chunkShape }), out, memory: MEMORY, threads: 0 },
        ...(isJob && { job: path.join(own, "job") }),
        onProgress: ({ stage }) => void stages.add(stage),
      });
      const what = `turn ${turn}: ${JSON.stringify(options)} of ${data.dtype} ${data.shape.join()}`;
      assert.ok(equals(await made.read(), right), what);
      if (!isJob) assert.deepEqual([...stages], ["apply", "place"], what);
      assert.deepEqual(fs.readdirSync(path.dirname(out)), [path.basename(out)], what);
      assert.ok(!fs.existsSync(path.join(out, ".ndscatter")), what);
    } finally {
      restore();
    }
  }
});

const INPUTS = ["data.zarr", "ids.npy"];
const OUTPUTS = ["out.npy", "out.zarr"];

/** A folder with 40 rows of 3 numbers in chunks of 4 rows, and indices. */
async function makeRows(ids: readonly number[]) {
  const home = makeHome();
  const values = ints([40, 3], [...Array(120).keys()]);
  await store(path.join(home, "data.zarr"), values, [4, 3]);
  const indices = longs([ids.length, 1], ids);
  fs.writeFileSync(path.join(home, "ids.npy"), writeNpy(indices));
  const rows = gatherND(values, indices, { bounds: "clip" });
  return { home, rows, ...(await openInputs(home)) };
}

async function openInputs(home: string, names = INPUTS) {
  const [data, indices] = await Promise.all(names.map((name) => openArray(path.join(home, name))));
  return { data, indices };
}

/** Checks that a folder contains these inputs and outputs, and nothing else. */
const assertFiles = (home: string, ...names: readonly string[]): void =>
  assert.deepEqual(fs.readdirSync(home).sort(), [...INPUTS, ...names].sort());

test("a bad index is found before anything is written", async () => {
  const { home, data, indices } = await makeRows([1, 40, 3]);
  for (const name of OUTPUTS) {
    const out = path.join(home, "new", name);
    const facts = { at: [1, 0], got: 40 };
    await assertRejected("index-out-of-range", facts, () => gatherChunked(data, indices, { out }));
    assertFiles(home);
  }
});

test("data that changes while it is read is reported, and nothing is written", async () => {
  for (const name of OUTPUTS) {
    const { home, data, indices } = await makeRows([1, 39, 20]);
    let isChanged = false;
    const onProgress = ({ done }: JobProgress): void => {
      if (done < 3 || isChanged) return;
      isChanged = true;
      const time = new Date(2001, 1, 1);
      fs.utimesSync(path.join(home, "data.zarr/c/5/0"), time, time);
    };
    const facts = { input: "data", file: path.join(home, "data.zarr") };
    const out = path.join(home, name);
    await assertRejected("attribute", facts, () =>
      gatherChunked(data, indices, { out, onProgress }),
    );
    assert.ok(isChanged);
    assertFiles(home);
  }
});

test("a signal ends a gather, which leaves nothing", async () => {
  for (const [name, stage] of OUTPUTS.flatMap((one) =>
    ["apply", "place"].map((own) => [one, own]),
  )) {
    const { home, data, indices } = await makeRows([1, 39, 20]);
    const controller = new AbortController();
    const onProgress = (progress: JobProgress): void => {
      if (progress.stage === stage) controller.abort(new Error("enough"));
    };
    const options = { out: path.join(home, name), signal: controller.signal, onProgress };
    await assert.rejects(gatherChunked(data, indices, options), /enough/);
    assertFiles(home);
  }
});

test("of two gathers into one output, one array results, and nothing else is left", async () => {
  for (const name of OUTPUTS) {
    const { home, data, indices, rows } = await makeRows([1, 39, 20]);
    const out = path.join(home, name);
    const both = await Promise.allSettled(
      [0, 1].map(() => gatherChunked(data, indices, { out, threads: 0 })),
    );
    for (const one of both)
      if (one.status === "rejected") assert.match(String(one.reason), /exists; remove it/);
    assert.ok(both.some(({ status }) => status === "fulfilled"));
    assert.ok(equals(await (await openArray(out)).read(), rows));
    assertFiles(home, name);
  }
});

test("an array that another program creates meanwhile is kept", async () => {
  for (const name of OUTPUTS) {
    const { home, data, indices } = await makeRows([1, 39, 20]);
    const out = path.join(home, name);
    const other = ints([1], [7]);
    const onProgress = ({ stage, done }: JobProgress): void => {
      if (stage !== "place" || done > 0) return;
      const isFolder = name.endsWith(".zarr");
      if (isFolder) fs.mkdirSync(out);
      fs.writeFileSync(isFolder ? path.join(out, "own.npy") : out, writeNpy(other));
    };
    await assertRejected("attribute", { key: "out" }, () =>
      gatherChunked(data, indices, { out, onProgress }),
    );
    const kept = name.endsWith(".zarr") ? path.join(out, "own.npy") : out;
    assert.ok(equals(await (await openArray(kept)).read(), other));
    assertFiles(home, name);
  }
});

test("skipped positions are zeros in memory that an earlier gather has used", async () => {
  const ids = Array.from({ length: 20_000 }, (_, at) => (at % 3 === 0 ? 1000 : at % 40));
  const { home, data, indices } = await makeRows(ids);
  for (const [turn, bounds] of (["clip", "fill", "clip", "fill"] as const).entries()) {
    const out = path.join(home, `${turn}.npy`);
    const made = await gatherChunked(data, indices, { out, bounds, threads: 0 });
    const [row] = ids
      .map((_, at) => at)
      .filter((at) => ids[at] === 1000)
      .slice(-1);
    const last = await made.read([row, 0], [1, 3]);
    assert.deepEqual([...last.data], bounds === "fill" ? [0, 0, 0] : [117, 118, 119]);
  }
});

test("what a killed process left is removed by the next gather", async () => {
  for (const name of OUTPUTS) {
    const { home, data, indices, rows } = await makeRows([0, 5]);
    const out = path.join(home, name);
    // No process has the highest number that Linux allows.
    const left = `${out}.${HOST}-4194304-0123456789ab.tmp`;
    fs.mkdirSync(path.join(left, "c"), { recursive: true });
    const made = await gatherChunked(data, indices, { out, threads: 0 });
    assert.ok(equals(await made.read(), rows));
    assertFiles(home, name);
  }
});

test("an interrupted job beside the output is finished", async () => {
  const { home, data, indices, rows } = await makeRows([0, 5, 39]);
  const out = { format: "npy", path: path.join(home, "out.npy") } as const;
  const call = { function: "gatherND", options: {} };
  const folder = `${out.path}.job`;
  await createJob({ folder, call, data, indices, out, memory: MEMORY, threads: 0 });
  const stages = new Set<string>();
  const onProgress = ({ stage }: JobProgress): void => void stages.add(stage);
  const options = { out: out.path, memory: MEMORY, threads: 0, onProgress };
  const made = await gatherChunked(data, indices, options);
  assert.ok(equals(await made.read(), rows));
  assert.deepEqual([...stages], ["partition", "apply", "place", "finish"]);
  assertFiles(home, "out.npy");
});

/** The memory of a process with one thread, without tasks. */
const LEAST = 120 * 2 ** 20;

test("a result of several blocks is written block by block", async () => {
  const home = makeHome();
  const row = 2 ** 15;
  const values = tensor(
    "uint8",
    [40, row],
    bytesFrom(40 * row, (at) => at / row),
  );
  await store(path.join(home, "data.zarr"), values, [1, row / 2]);
  const ids = Array.from({ length: 100 }, (_, at) => (at * 7) % 40);
  fs.writeFileSync(path.join(home, "ids.npy"), writeNpy(longs([100, 1], ids)));
  const { data, indices } = await openInputs(home);
  const expected = gather(values, longs([100], ids));
  for (const [name, spare, isJob] of [
    ["a.npy", 6, false],
    ["b.zarr", 6, false],
    ["c.npy", 3, true],
    ["d.zarr", 3, true],
  ] as const) {
    const stages = new Map<string, number>();
    const onProgress = ({ stage, tasks }: JobProgress): void => void stages.set(stage, tasks);
    const memory = LEAST + spare * 2 ** 20;
    const options = { out: path.join(home, name), memory, threads: 0, onProgress };
    const chunkShape = name === "b.zarr" ? [4, row] : undefined;
    const made = await gatherChunked(data, indices, { ...options, chunkShape });
    assert.equal(stages.has("partition"), isJob, name);
    assert.ok((stages.get("place") ?? 0) > 1, name);
    assert.ok(equals(await made.read(), expected), name);
  }
});

test("a gather with a job's folder is a job", async () => {
  const { home, data, indices } = await makeRows([0, 5, 39]);
  const stages = new Set<string>();
  const onProgress = ({ stage }: JobProgress): void => void stages.add(stage);
  const job = path.join(home, "job");
  const out = path.join(home, "c.npy");
  await gatherChunked(data, indices, { out, memory: MEMORY, threads: 0, onProgress, job });
  assert.ok(stages.has("partition") && fs.existsSync(job));
});

/** The request of a gather of rows. */
const requestOf = (
  data: ChunkedArray,
  indices: ChunkedArray,
  out: string,
  bounds: "error" | "fill" = "error",
): JobRequest => ({
  folder: `${out}.job`,
  call: { function: "gatherND", options: { bounds } },
  data,
  indices,
  out: { format: out.endsWith(".npy") ? "npy" : "zarr", path: out },
  memory: MEMORY,
  threads: 0,
});

test("inputs that were replaced after they were opened are read as they are now", async () => {
  const { home, data, indices } = await makeRows([2, 0]);
  const halves = Float32Array.from({ length: 120 }, (_, at) => at / 2);
  const floats = tensor("float32", [40, 3], halves);
  fs.rmSync(path.join(home, "data.zarr"), { recursive: true });
  await store(path.join(home, "data.zarr"), floats, [5, 2], ["gzip"]);
  fs.writeFileSync(path.join(home, "ids.npy"), writeNpy(ints([1, 1], [39])));
  const out = path.join(home, "out.npy");
  assert.ok(await gatherInMemory(requestOf(data, indices, out)));
  assert.ok(equals(await (await openArray(out)).read(), gatherND(floats, ints([1, 1], [39]))));
});

test("metadata that change while an array is read are reported", async () => {
  const { home, data, indices } = await makeRows([2, 0, 39]);
  const file = path.join(home, "data.zarr/zarr.json");
  const onProgress = ({ stage, done }: JobProgress): void => {
    if (stage !== "apply" || done < 2) return;
    const text = fs.readFileSync(file, "utf8");
    fs.writeFileSync(file, text.replace(/"fill_value": ?0/, '"fill_value": 7'));
  };
  const request = requestOf(data, indices, path.join(home, "out.npy"));
  await assertRejected("attribute", { input: "data" }, () =>
    gatherInMemory(request, { onProgress }),
  );
  assertFiles(home);
});

test("a result that cannot be counted in 32 bits is a job", async () => {
  const home = makeHome();
  const row = 2 ** 20;
  const values = tensor("uint8", [3, row], new Uint8Array(3 * row));
  await store(path.join(home, "data.zarr"), values, [1, row]);
  const ids = ints(
    [4097, 1],
    bytesFrom(4097, (at) => at % 3),
  );
  fs.writeFileSync(path.join(home, "ids.npy"), writeNpy(ids));
  const { data, indices } = await openInputs(home);
  const request = requestOf(data, indices, path.join(home, "out.npy"));
  assert.equal(await gatherInMemory({ ...request, memory: 8 * 2 ** 30 }), false);
  assertFiles(home);
});

test("no more chunks are read after a damaged one", async () => {
  const ids = Array.from({ length: 40 }, (_, at) => at);
  const { home, data, indices } = await makeRows(ids);
  fs.truncateSync(path.join(home, "data.zarr/c/0/0"), 5);
  const restore = setLimits({ CHUNKED: { reads: 1 } });
  let read = 0;
  const onProgress = ({ done }: JobProgress): void => void (read = done);
  const request = requestOf(data, indices, path.join(home, "out.npy"));
  try {
    await assertRejected("malformed-file", {}, () => gatherInMemory(request, { onProgress }));
  } finally {
    restore();
  }
  // The other lane may read some of the other nine chunks before the first chunk is known to be damaged.
  assert.ok(read < 6, String(read));
});

test("the path of an output may end in a slash, and its folder may be new, as in a job", async () => {
  for (const name of ["new/out.zarr/", "other/out.npy"]) {
    for (const isJob of [false, true]) {
      const { home, data, indices, rows } = await makeRows([3, 1]);
      const out = `${home}/${name}`;
      const request = { ...requestOf(data, indices, out), folder: path.join(home, "job") };
      if (isJob) {
        await createJob(request);
        await runJob(request.folder, { threads: 0, memory: MEMORY });
      } else assert.ok(await gatherInMemory(request));
      assert.ok(equals(await (await openArray(out)).read(), rows), name);
      assert.equal(fs.readdirSync(path.dirname(path.resolve(out))).length, 1);
    }
  }
});

test("skipped indices of an empty axis give zeros, also in a job", async () => {
  const home = makeHome();
  const at = (name: string): string => path.join(home, name);
  fs.writeFileSync(at("data.npy"), writeNpy(tensor("float32", [0, 3], [])));
  fs.writeFileSync(at("ids.npy"), writeNpy(longs([2, 1], [0, 1])));
  const { data, indices } = await openInputs(home, ["data.npy", "ids.npy"]);
  assert.ok(await gatherInMemory(requestOf(data, indices, at("a.npy"), "fill")));
  const request = requestOf(data, indices, at("b.npy"), "fill");
  await createJob(request);
  await runJob(request.folder, { threads: 0, memory: MEMORY });
  for (const name of ["a.npy", "b.npy"]) {
    const zeros = tensor("float32", [2, 3], new Float32Array(6));
    assert.ok(equals(await (await openArray(at(name))).read(), zeros), name);
  }
});
