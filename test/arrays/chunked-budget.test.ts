/** What tasks of a job take in memory is counted, whatever the chunks are encoded with; which tasks run, and of which jobs. */

import * as fs from "node:fs";
import * as path from "node:path";
import assert from "node:assert/strict";
import { test } from "node:test";
import { createJob } from "../../src/arrays/chunked/job/create-job.ts";
import { openContext } from "../../src/arrays/chunked/job/job.ts";
import { resolveCall } from "../../src/arrays/chunked/job/request.ts";
import { addressOf } from "../../src/arrays/chunked/stages/address.ts";
import { chunksPerTaskOf } from "../../src/arrays/chunked/stages/budget.ts";
import { combineEntries } from "../../src/arrays/chunked/stages/entries.ts";
import { readSpec } from "../../src/arrays/chunked/job/spec-file.ts";
import { parseSpec } from "../../src/arrays/chunked/job/spec.ts";
import { startPool } from "../../src/arrays/chunked/run/pool.ts";
import { runJob } from "../../src/arrays/chunked/run/run-job.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { Buffers } from "../../src/arrays/zarr/chunks/buffers.ts";
import { createArray, type CreateOptions } from "../../src/entries/zarr.ts";
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
import { assertRejected } from "../support/refusal.ts";

const MEGABYTE = 2 ** 20;
const none = { function: "scatterND", options: {} };

/** What a chunk of 1 MB holds beside its elements, of an array of whole chunks. */
async function heldOf(options: Partial<CreateOptions>): Promise<[read: number, write: number]> {
  const file = path.join(makeHome(), "held.zarr");
  const shape = [1024, 256];
  const { held } = await createArray(file, {
    dtype: "float32",
    shape: [2048, 256],
    chunkShape: shape,
    ...options,
  });
  return [held.read / MEGABYTE, held.write / MEGABYTE];
}

test("what a chunk holds is counted by its codecs", async () => {
  assert.deepEqual(await heldOf({}), [0, 0]);
  // Compressed and decompressed; compressed.
  const [gzipRead, gzipWrite] = await heldOf({ codecs: ["gzip"] });
  assert.ok(gzipRead > 2 && gzipRead < 3, String(gzipRead));
  assert.ok(gzipWrite > 1 && gzipWrite < 3, String(gzipWrite));
  // Turned as well.
  const transpose = { name: "transpose", configuration: { order: [1, 0] } };
  const [turnedRead, turnedWrite] = await heldOf({ codecs: [transpose, "gzip"] });
  assert.ok(Math.abs(turnedRead - gzipRead - 1) < 1e-9, String(turnedRead));
  assert.ok(Math.abs(turnedWrite - gzipWrite - 1) < 1e-9, String(turnedWrite));
  // A checksum makes another copy of what is compressed.
  const [summedRead] = await heldOf({ codecs: ["gzip", "crc32c"] });
  assert.ok(summedRead >= gzipRead, String(summedRead));
  // Levels of zstd have tables of up to 34 times a short chunk.
  const zstd = (level: number) => ({ name: "zstd", configuration: { level, checksum: false } });
  const [, low] = await heldOf({ codecs: [zstd(1)] });
  const [, high] = await heldOf({ codecs: [zstd(22)] });
  assert.ok(high > 30 && low < high / 2, `${low}, ${high}`);
  // A shard has its inner chunks, of which four are read at once.
  const [shardRead] = await heldOf({
    chunkShape: [128, 256],
    shards: [1024, 256],
    codecs: ["gzip"],
  });
  assert.ok(shardRead > 2 && shardRead < 4, String(shardRead));
});

test("a chunk at the end of an axis is padded in memory", async () => {
  const [, even] = await heldOf({ codecs: ["gzip"] });
  const [, ragged] = await heldOf({ codecs: ["gzip"], shape: [1500, 256] });
  assert.ok(Math.abs(ragged - even - 1) < 1e-9, `${even}, ${ragged}`);
  // Without codecs the padding is written behind the chunk.
  assert.deepEqual(await heldOf({ shape: [1500, 256] }), [0, 0]);
  // A part of every row is read with the whole of it.
  assert.deepEqual(await heldOf({ shape: [1500, 300] }), [1, 1]);
});

test("memory that is released is used again or gone, unless it is short or shared", async () => {
  const buffers = new Buffers();
  const [long, kept, short] = [2 ** 23, 2 ** 16, 2 ** 12].map((size) => new Uint8Array(size));
  const shared = new Uint8Array(new SharedArrayBuffer(2 ** 16));
  for (const bytes of [long, kept, short, shared]) buffers.release(bytes);
  assert.deepEqual([long.length, short.length, shared.length], [0, 2 ** 12, 2 ** 16]);
  const [again, another] = [buffers.allocate(2 ** 15), buffers.allocate(2 ** 15)];
  assert.equal(again.length, 2 ** 15);
  assert.equal(again.buffer, kept.buffer);
  for (const own of [kept, short, shared]) assert.notEqual(another.buffer, own.buffer);
  // What an action had is freed behind it where it is too much to keep.
  let had: Uint8Array = new Uint8Array(1);
  await buffers.use(2 ** 23, async (buffer) => {
    had = buffer;
  });
  assert.equal(had.length, 0);
});

async function makeJob(): Promise<string> {
  const home = makeHome();
  const at = (name: string): string => path.join(home, name);
  await store(at("data.zarr"), tensor("float32", [2], [0, 0]), [1]);
  await store(at("indices.zarr"), tensor("int64", [2, 1], [1, 0]), [2, 1]);
  await store(at("updates.zarr"), tensor("float32", [2], [1, 2]), [2]);
  const request = await requestIn(home, none);
  await createJob(request);
  return request.folder;
}

test("a thread with less memory than a task takes refuses it", async () => {
  const folder = await makeJob();
  const pool = startPool({ threads: 0, memory: 80 * MEGABYTE + 40 * MEGABYTE });
  await assertRejected("too-large", {}, () => pool.run(folder, "partition", 0));
  await pool.end();
});

test("tasks that a thread is given at once run one after the other, because they use the same memory", async () => {
  const home = makeHome();
  const numbers = (first: number) => Float32Array.from({ length: 256 }, (_, at) => first + at);
  const data = tensor("float32", [256], numbers(0));
  await store(path.join(home, "data.zarr"), data, [16], ["zstd"]);
  const rows = Array.from({ length: 256 }, (_, row) => 255 - row);
  await store(path.join(home, "indices.zarr"), tensor("int64", [256, 1], rows), [256, 1]);
  const updates = tensor("float32", [256], numbers(1000));
  await store(path.join(home, "updates.zarr"), updates, [256]);
  const request = await requestIn(home, add, { blockShape: [32] });
  await createJob(request);
  const pool = startPool({ threads: 0, memory: MEMORY });
  for (const [stage, tasks] of [
    ["partition", 8],
    ["apply", 16],
    ["finish", 1],
  ] as const) {
    const all = Array.from({ length: tasks }, (_, task) => pool.run(request.folder, stage, task));
    await Promise.all(all);
  }
  await pool.end();
  // Row r gets update 255 - r, which is 1255 - r.
  assert.deepEqual(
    await readAll(path.join(home, "out.zarr")),
    Array.from({ length: 256 }, () => 1255),
  );
});

test("a task that is done is not run again, and only tasks that the job has are run", async () => {
  const folder = await makeJob();
  const pool = startPool({ threads: 0, memory: MEMORY });
  await pool.run(folder, "partition", 0);
  // Whoever reads the indices again fails.
  const indices = path.join(folder, "..", "indices.zarr", "c", "0", "0");
  fs.writeFileSync(indices, new Uint8Array(1));
  await pool.run(folder, "partition", 0);
  for (const [stage, task] of [
    ["partition", -1],
    ["partition", 0.5],
    ["partition", 1],
    ["apply", 2],
    ["check", 0],
    ["place", 0],
    ["finish", 1],
  ] as const) {
    await assertRejected("attribute", {}, () => pool.run(folder, stage, task));
  }
  await pool.end();
});

/** A stage of one task. */
const one = (name: string): object => ({ name, tasks: 1 });

// prettier-ignore
const WRONG_SPECS: readonly (readonly [key: string, value: unknown])[] = [
  ["version", 2],
  ["id", 12345678], ["id", "0123456"], ["id", "0123456g"], ["id", "0".repeat(65)],
  ["request", 1],
  ["call", null], ["call", {}], ["call", { node: "ScatterND" }], ["call", { function: "scatterND" }],
  ["call", { function: 1, options: {} }], ["call", { function: "scatterND", options: [] }],
  ["data", undefined], ["data", []], ["data", { format: "csv", path: "a" }], ["data", { format: "npy" }],
  ["indices", null], ["indices", { format: "zarr", path: "a", chunkShape: 1 }],
  ["updates", null], ["updates", { format: "zarr", path: "a", chunkShape: [0] }],
  ["out", 1], ["out", { format: "zarr", path: "a", chunkShape: [1.5] }],
  ["inPlace", 0], ["inPlace", true],
  ["blockShape", undefined], ["blockShape", [0]], ["blockShape", ["1"]],
  ["stages", undefined], ["stages", []], ["stages", [null]], ["stages", [one("partition")]],
  ["stages", [one("finish"), one("apply")]], ["stages", [one("apply"), one("partition"), one("finish")]],
  ["stages", [one("apply"), one("apply"), one("finish")]], ["stages", [one("begin"), one("finish")]],
  ["stages", [{ name: "finish", tasks: 0 }]], ["stages", [{ name: "finish", tasks: 2 }]],
  ["stages", [{ name: "apply", tasks: -1 }, one("finish")]], ["stages", [{ name: "apply", tasks: 1.5 }, one("finish")]],
  ["stages", [{ name: "apply", tasks: 2 ** 24 + 1 }, one("finish")]],
  ["chunks", undefined], ["chunks", "4"], ["chunks", 1.5],
  ["chunksPerTask", undefined], ["chunksPerTask", 0], ["chunksPerTask", 1.5], ["chunksPerTask", 2 ** 12 + 1],
];

test("small chunks share tasks where many tasks remain", async () => {
  /**
   * @param pieces in how many chunks a slice lies; those of a gather go to one task
   * @param rows how many rows the call addresses
   */
  const perTask = async (
    chunks: number,
    bytes: number,
    isGather = false,
    pieces = 1,
    { rows = 1, codecs = [] as readonly "zstd"[] } = {},
  ): Promise<number> => {
    const file = path.join(makeHome(), "many.zarr");
    const data = await createArray(file, {
      dtype: "uint8",
      shape: [chunks / pieces, bytes * pieces],
      chunkShape: [1, bytes],
      codecs,
    });
    const [updates, indices] = [
      isGather ? undefined : data,
      { dtype: "int64", shape: [rows, 1] } as const,
    ];
    const call = { function: "gatherND", options: {} };
    const { layout } = resolveCall(call, { data, indices });
    return chunksPerTaskOf({ data, updates, address: addressOf(layout, data.shape, [1, bytes]) });
  };
  // At least 16 tasks remain, and a task takes at most 64 chunks.
  assert.deepEqual([await perTask(31, 8), await perTask(32, 8), await perTask(100, 8)], [1, 2, 6]);
  assert.deepEqual([await perTask(1024, 8), await perTask(10_000, 8)], [64, 64]);
  assert.deepEqual([await perTask(10_000, 65_536), await perTask(10_000, 65_537)], [64, 1]);
  // A gather of fewer than a row for each 16 kB of a file that is read by rows: 40,000 rows for 10,000 chunks are fewer.
  const large = [
    perTask(10_000, 65_537),
    perTask(10_000, 65_537, true, 1, { rows: 40_000 }),
    perTask(10_000, 65_537, true, 1, { rows: 40_001 }),
    perTask(10_000, 65_537, true, 1, { codecs: ["zstd"] }),
    perTask(10_000, 65_537, true, 5),
  ];
  assert.deepEqual(
    [await perTask(10_000, 8, true), ...(await Promise.all(large))],
    [64, 1, 64, 1, 1, 1],
  );
  // Whole slices: of 5 chunks 60, of 100 chunks 100; of 700 chunks one chunk, otherwise fewer than 16 tasks would remain.
  const ofPieces = [5, 100, 700].map((pieces) => perTask(7000, 8, true, pieces));
  assert.deepEqual(await Promise.all(ofPieces), [60, 100, 1]);
  assert.equal(await perTask(7000, 8, false, 100), 64);
  // The marks of a task name at most 4096 chunks.
  assert.equal(await perTask(100_000, 1, true, 5000), 1);
});

test("a task of several chunks counts the memory of those that it has at once", async () => {
  const home = makeHome();
  await storeInputs(home);
  const needed = async (folder: string): Promise<number> => {
    const request = await requestIn(home, none, {
      folder: path.join(home, folder),
      out: { format: "zarr", path: path.join(home, `${folder}.zarr`) },
    });
    await createJob(request);
    return (await openContext(request.folder, await readSpec(request.folder))).needs.sizes.chunk;
  };
  const single = await needed("one");
  const restore = setLimits({ CHUNKED: { groups: 1 } });
  try {
    assert.equal(await needed("four"), 4 * single);
  } finally {
    restore();
  }
});

test("a job.json with one wrong part is not that of a job", async () => {
  const spec = await readSpec(await makeJob());
  const parsed = (more: object) => parseSpec(JSON.stringify({ ...spec, ...more }));
  assert.deepEqual(parsed({}), spec);
  for (const more of [
    { call: { node: {} } },
    { updates: undefined },
    { out: spec.data, inPlace: true },
    { id: "01234567" },
    { stages: [{ name: "partition", tasks: 0 }, { name: "check", tasks: 2 ** 24 }, one("finish")] },
  ]) {
    assert.deepEqual(parsed(more), JSON.parse(JSON.stringify({ ...spec, ...more })));
  }
  for (const [key, value] of WRONG_SPECS) {
    assert.throws(
      () => parsed({ [key]: value }),
      {
        code: "malformed-file",
        message: /^job\.json must describe a job of this ndscatter version, but does not$/,
      },
      `${key}: ${JSON.stringify(value)}`,
    );
  }
  for (const text of ["", "[]", "null", "{"])
    assert.throws(() => parseSpec(text), { code: "malformed-file", message: /^job\.json/ });
  assert.throws(
    () => parseSpec("{"),
    ({ cause }: Error) => cause instanceof SyntaxError,
  );
});

test("of updates of one target the last one is taken, or the others are combined with the first", () => {
  const [rows, starts, positions] = [
    [0, 2, 0, 1],
    [0, 3, 4],
    [7, 3, 9, 5],
  ].map((values) => Uint32Array.from(values));
  const entries = (keepsLast: boolean): readonly number[][] => {
    const found = combineEntries(rows, starts, positions, 3, keepsLast);
    assert.ok(found);
    const { later } = found;
    return [found.rows, found.starts, found.positions, later.entries, later.positions].map(
      (list) => [...list],
    );
  };
  // Rows are counted anew in each fragment.
  assert.deepEqual(entries(true), [[0, 2, 1], [0, 2, 3], [9, 3, 5], [], []]);
  assert.deepEqual(entries(false), [[0, 2, 1], [0, 2, 3], [7, 3, 5], [0], [9]]);
});

test("another version of the package refuses a job", async () => {
  const folder = await makeJob();
  const file = path.join(folder, "job.json");
  const spec = JSON.parse(fs.readFileSync(file, "utf8")) as Record<string, unknown>;
  assert.match(String(spec["package"]), /^\d+\.\d+\.\d+/);
  fs.writeFileSync(file, JSON.stringify({ ...spec, package: "0.0.1" }));
  await assertRejected("malformed-file", {}, () => runJob(folder, { threads: 0, memory: MEMORY }));
});
