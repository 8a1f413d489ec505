/** The chunks and shards of a new array, which may be others than those of data. */

import * as fs from "node:fs";
import * as path from "node:path";
import assert from "node:assert/strict";
import { test } from "node:test";
import { contiguousChunks } from "../../src/arrays/boxes/grid.ts";
import { createJob } from "../../src/arrays/chunked/job/create-job.ts";
import type { JobRequest } from "../../src/arrays/chunked/job/request.ts";
import { gatherChunked, scatterChunked } from "../../src/arrays/chunked/functions.ts";
import { openJob, remainingTasks } from "../../src/arrays/chunked/job/job.ts";
import { readSpec } from "../../src/arrays/chunked/job/spec-file.ts";
import { startPool } from "../../src/arrays/chunked/run/pool.ts";
import { runJob } from "../../src/arrays/chunked/run/run-job.ts";
import { runPlain } from "../../src/core/call/run.ts";
import { defaultExecutor } from "../../src/core/engines/choice.ts";
import { FUNCTIONS } from "../../src/core/operators/registry.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { writeNpy } from "../../src/entries/npy.ts";
import { createArray, openArray } from "../../src/entries/zarr.ts";
import { caseCount } from "../support/cases.ts";
import { add, makeHome, MEMORY, requestIn, store, storeInputs } from "../support/job-files.ts";
import { setLimits } from "../support/limits.ts";
import { randomFrom, randomIndices, randomTensor, seedOf, type Random } from "../support/random.ts";
import { assertRejected } from "../support/refusal.ts";

const seed = seedOf("chunked-chunks");

/** Divides whole chunks of a shape, or takes none. */
const some = (shape: readonly number[], random: Random): number[] =>
  shape.map((dim) => 1 + random(Math.max(1, dim + 1)));

/** Stores a tensor as one of the formats of inputs, in any chunks. */
async function storeAny(file: string, values: Tensor, random: Random): Promise<string> {
  if (random(3) === 0) {
    fs.writeFileSync(`${file}.npy`, writeNpy(values));
    return `${file}.npy`;
  }
  const { dtype, shape } = values;
  const inner = some(shape, random);
  const shards = random(3) === 0 ? inner.map((size) => size * (1 + random(2))) : null;
  const codecs = [[], ["zstd"], ["gzip", "crc32c"]][random(3)];
  const options = { dtype, shape, chunkShape: inner, shards, codecs };
  const array = await createArray(`${file}.zarr`, options);
  await array.write(values);
  return `${file}.zarr`;
}

interface Drawn {
  readonly request: JobRequest;
  readonly expected: Tensor;
  readonly inner: readonly number[];
  readonly shards: readonly number[] | null;
}

/** A job of any chunks of data and of the output. */
async function draw(home: string, isGather: boolean, random: Random): Promise<Drawn> {
  const dims = [1 + random(9), 1 + random(7), 1 + random(4)].slice(0, 1 + random(3));
  const tuple = 1 + random(dims.length);
  const lead = [1 + random(6), 1 + random(5)].slice(0, 1 + random(2));
  const data = randomTensor("float32", dims, random);
  const indices = randomIndices("int64", [...lead, tuple], (p) => dims[p % tuple], random);
  const result = isGather ? [...lead, ...dims.slice(tuple)] : dims;
  const updates = randomTensor("float32", [...lead, ...dims.slice(tuple)], random);
  const call = isGather
    ? { function: "gatherND", options: {} }
    : { function: "scatterND", options: { reduction: "add" } };
  const inputs = isGather ? [data, indices] : [data, indices, updates];
  const operator = isGather ? FUNCTIONS.gatherND : FUNCTIONS.scatterND;
  const expected = runPlain(defaultExecutor(), operator, inputs, call.options);
  const inner = some(result, random);
  const shards = random(3) === 0 ? inner.map((size) => size * (1 + random(3))) : null;
  const open = async (name: string, values: Tensor) =>
    openArray(await storeAny(path.join(home, name), values, random));
  // Blocks that are too small for whole chunks would be refused, so most are chosen by the job.
  const request: JobRequest = {
    folder: path.join(home, "job"),
    call,
    data: await open("data", data),
    indices: await open("indices", indices),
    updates: isGather ? undefined : await open("updates", updates),
    out: { format: "zarr", path: path.join(home, "out.zarr") },
    chunkShape: inner,
    ...(shards !== null && { shards }),
    ...(random(2) === 0 && { codecs: ["zstd"] }),
    ...(!isGather &&
      random(2) === 0 && { blockShape: contiguousChunks(lead, 1 + random(lead[0])) }),
    memory: MEMORY,
    threads: 1,
  };
  return { request, expected, inner, shards };
}

test("any chunks and shards of the output: the bits of a call in memory, and each chunk is one task's", async () => {
  const random = randomFrom(seed);
  const rows = { gathers: 0, other: 0 };
  for (let round = 0; round < caseCount(24); round++) {
    const home = makeHome();
    const { request, expected, inner, shards } = await draw(home, round % 2 === 0, random);
    const restore = setLimits({ CHUNKED: { groups: 1 + random(16), reads: 1 + random(8) } });
    try {
      await createJob(request);
      const spec = await readSpec(request.folder);
      rows[request.updates === undefined ? "gathers" : "other"]++;
      // Some tasks of a stage run, are run again, and the rest is resumed.
      const pool = startPool({ threads: 0, memory: MEMORY });
      for (const { name, tasks } of spec.stages.slice(0, -1)) {
        const left = await remainingTasks(await openJob(request.folder), name);
        const some = left.filter(() => random(3) > 0);
        for (const task of [...some, ...some.filter(() => random(4) === 0)])
          await pool.run(request.folder, name, task);
        if (some.length < tasks) break;
      }
      await pool.end();
      await runJob(request.folder, { threads: 0, memory: MEMORY });
    } finally {
      restore();
    }
    const out = await openArray(path.join(home, "out.zarr"));
    const got = await out.read();
    assert.ok(equals(got, expected), `round ${round}: ${got} is not ${expected}`);
    assert.deepEqual(out.chunkShape, shards ?? inner, `round ${round}`);
    if (shards !== null) assert.deepEqual(Reflect.get(out, "innerChunkShape"), inner);
    fs.rmSync(home, { recursive: true });
  }
  assert.ok(rows.gathers > 0 && rows.other > 0);
});

/** `data.zarr` of 8 rows in chunks [3, 2], an index for rows 1 and 6, and `updates.zarr`. */
async function storeRows(home: string) {
  const at = (name: string): string => path.join(home, `${name}.zarr`);
  await store(at("data"), tensor("float32", [8, 4], new Float32Array(32).fill(1)), [3, 2]);
  await store(at("indices"), tensor("int64", [4, 1], [1, 6, 6, 0]), [2, 1]);
  await store(at("updates"), tensor("float32", [4, 4], new Float32Array(16).fill(5)), [4, 3]);
  const [data, indices, updates] = await Promise.all(
    ["data", "indices", "updates"].map((name) => openArray(at(name))),
  );
  return { data, indices, updates, at };
}

test("chunks that do not fit the output are refused before anything is made", async () => {
  const home = makeHome();
  const { data, indices, updates, at } = await storeRows(home);
  const before = fs.readdirSync(home).sort();
  for (const [options] of [
    [{ chunkShape: [4] }],
    [{ chunkShape: [4, 2], shards: [8] }],
    [{ chunkShape: [4, 0] }],
    [{ chunkShape: 4 }],
    [{ chunkShape: [4, 2], shards: [6, 2] }],
    [{ shards: [4, 4] }],
    [{ chunkShape: [4, 2], out: path.join(home, "x.npy") }],
    [{ chunkShape: [4, 2], out: data }],
    [{ shards: [4, 2], out: data }],
  ] as const) {
    const given = { out: at("new"), memory: MEMORY, threads: 0, ...options } as never;
    await assertRejected("attribute", {}, () => scatterChunked(data, indices, updates, given));
  }
  // A block of a gather has whole chunks of the output, so memory has to hold one.
  const wide = { out: at("new"), chunkShape: [2, 8_000_000], memory: MEMORY, threads: 1 };
  const large = await createArray(at("large"), {
    dtype: "float64",
    shape: [100, 8_000_000],
    chunkShape: [1, 1000],
  });
  const made = [...before, "large.zarr"].sort();
  await assertRejected("too-large", {}, () => gatherChunked(large, indices, wide));
  assert.deepEqual(fs.readdirSync(home).sort(), made);
});

test("the chunks of a part of an array, and other chunks than those of the shards of data", async () => {
  const home = makeHome();
  const { data, indices, updates, at } = await storeRows(home);
  const settings = { memory: MEMORY, threads: 0, reduction: "add" };
  const sharded = { chunkShape: [2, 4], shards: [4, 4], codecs: ["zstd"] };
  const whole = await scatterChunked(data, indices, updates, {
    ...settings,
    ...sharded,
    out: at("sharded"),
  });
  // Row 6 has two updates.
  const rows = (first: number, ...others: number[]): number[] =>
    [first, ...others].flatMap((value) => [value, value, value, value]);
  assert.deepEqual([...(await whole.read()).data], rows(6, 6, 1, 1, 1, 1, 11, 1));
  // The shape of a shard alone says that the new array has no shards.
  const plain = await scatterChunked(whole, indices, updates, {
    ...settings,
    out: at("plain"),
    chunkShape: [4, 4],
  });
  assert.equal(Reflect.get(plain, "innerChunkShape"), null);
  assert.deepEqual(plain.chunkShape, [4, 4]);
  assert.deepEqual([...(await plain.read()).data], rows(11, 11, 1, 1, 1, 1, 21, 1));
  const part = await scatterChunked(plain.slice([1, null], null), indices, updates, {
    ...settings,
    out: at("part"),
    chunkShape: [7, 1],
  });
  assert.deepEqual(part.chunkShape, [7, 1]);
  assert.deepEqual([...(await part.read()).data], rows(16, 6, 1, 1, 1, 21, 11));
  await assertRejected("attribute", {}, async () => {
    const other = { ...settings, out: at("kept"), job: path.join(home, "job") };
    await scatterChunked(data, indices, updates, { ...other, chunkShape: [4, 4] });
    await scatterChunked(data, indices, updates, { ...other, chunkShape: [2, 4] });
  });
});

test("a job.json whose tasks would share chunks of the output is not run", async () => {
  const home = makeHome();
  await storeInputs(home);
  const gather = { function: "gatherND", options: {} };
  const asked = { updates: undefined, chunkShape: [2], blockShape: [2] };
  const says: readonly (readonly [JobRequest, object])[] = [
    [await requestIn(home, gather, asked), { blockShape: [1], stages: undefined }],
    [
      await requestIn(home, add, {
        chunkShape: [2],
        out: { format: "zarr", path: `${home}/o.zarr` },
      }),
      { data: { format: "zarr", path: path.join(home, "data.zarr") } },
    ],
    [
      await requestIn(home, add, {
        chunkShape: [2],
        out: { format: "zarr", path: `${home}/p.zarr` },
      }),
      { chunking: { chunkShape: [2] } },
    ],
  ];
  for (const [request, more] of says) {
    await createJob(request);
    const file = path.join(request.folder, "job.json");
    const spec = JSON.parse(fs.readFileSync(file, "utf8")) as object;
    const changed = Object.entries(more).filter(([, value]) => value !== undefined);
    fs.writeFileSync(file, JSON.stringify({ ...spec, ...Object.fromEntries(changed) }));
    await assertRejected("malformed-file", {}, () =>
      runJob(request.folder, { threads: 0, memory: MEMORY }),
    );
    fs.rmSync(request.folder, { recursive: true });
  }
  await assertRejected("attribute", {}, async () =>
    createJob(await requestIn(home, gather, { ...asked, blockShape: [1], folder: `${home}/b` })),
  );
});
