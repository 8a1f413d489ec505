/** `readRows` returns the same bytes as the rows of a full read, in every format. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import type { ChunkedArray, RowRuns } from "../../src/arrays/boxes/array.ts";
import { Grid } from "../../src/arrays/boxes/grid.ts";
import { DTYPES, type DType } from "../../src/core/tensor/dtype.ts";
import { product } from "../../src/core/tensor/shape.ts";
import { bytesOf } from "../../src/core/tensor/storage.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { createArray, openArray } from "../../src/entries/zarr.ts";
import { caseCount } from "../support/cases.ts";
import { makeHome } from "../support/job-files.ts";
import { setLimits } from "../support/limits.ts";
import { npyOf, ORDERS } from "../support/npy-file.ts";
import { fixedRandom, randomFrom, randomTensor, type Random } from "../support/random.ts";
import { assertRejected } from "../support/refusal.ts";

const TYPES: readonly DType[] = ["uint8", "bool", "int4", "float16", "float32", "complex128"];

/** Stores a tensor in some format, or as a part of a larger array. */
async function stored(random: Random, file: string, values: Tensor): Promise<ChunkedArray> {
  const { dtype, shape } = values;
  if (dtype !== "int4" && random(2) === 0) {
    fs.writeFileSync(`${file}.npy`, npyOf(values, ORDERS[random(ORDERS.length)]));
    return openArray(`${file}.npy`);
  }
  const chunkShape = shape.map((dim) => 1 + random(dim + 2));
  const bytes = { name: "bytes", configuration: { endian: "big" } };
  const shards = { shards: chunkShape.map((dim) => dim * (1 + random(2))) };
  const codecs = [[], [], [bytes], ["crc32c"], ["zstd"], ["blosc"], ["gzip"]][random(7)];
  const array = await createArray(`${file}.zarr`, {
    ...{ dtype, shape, chunkShape, codecs },
    ...(random(3) === 0 && shards),
  });
  if (random(5) > 0) await array.write(values);
  return random(3) === 0 ? array.slice([1, null]) : array;
}

/** Returns random runs of some rows. */
function randomRuns(random: Random, length: number): RowRuns & { readonly rows: number[] } {
  const rows = upTo(length).filter(() => random(3) > 0);
  const firsts = rows.filter((row) => !rows.includes(row - 1) || random(4) === 0);
  const ends = [...firsts.slice(1), length];
  const counts = firsts.map((row, i) => rows.filter((at) => at >= row && at < ends[i]).length);
  return { starts: Uint32Array.from(firsts), counts: Uint32Array.from(counts), rows };
}

/** Compares the needed rows of a random chunk with a read of its box. */
async function checkChunkRows(array: ChunkedArray, random: Random): Promise<void> {
  const grid = new Grid(array.shape, array.chunkShape);
  const at = grid.at(random(grid.size));
  const { start, shape } = grid.boxAt(at);
  const { rows, ...runs } = randomRuns(random, shape[0]);
  const step = product(shape, 1) * DTYPES[array.dtype].bytes;
  const into = new Uint8Array(shape[0] * step).fill(7);
  await array.readChunk(at, into, runs);
  const box = bytesOf((await array.read(start, shape)).data as Uint8Array);
  const pick = (bytes: Uint8Array) => rows.map((row) => bytes.slice(row * step, (row + 1) * step));
  assert.deepEqual(pick(into), pick(box));
}

const upTo = (length: number): number[] => [...Array(length).keys()];

test("runs of rows are the rows of a box", async () => {
  const home = makeHome();
  for (let turn = 0; turn < caseCount(300); turn++) {
    const random = randomFrom(9100 + turn);
    const shape = Array.from({ length: 1 + random(3) }, () => 2 + random(8));
    const values = randomTensor(TYPES[random(TYPES.length)], shape, random);
    // Reads block, take promises, or do either.
    const restore = setLimits({
      FILES: { short: [0, 8, 1e9][random(3)], turn: random(2) },
      ZARR: { block: 8 + random(64) },
    });
    try {
      const array = await stored(random, path.join(home, String(turn)), values);
      const start = array.shape.map((dim) => random(dim));
      const own = array.shape.map((dim, axis) => 1 + random(dim - start[axis]));
      const { rows, ...runs } = randomRuns(random, own[0]);
      const step = product(own, 1) * DTYPES[values.dtype].bytes;
      const into = new Uint8Array(rows.length * step + 3).fill(7);
      await array.readRows(start, own, runs, into);
      const box = bytesOf((await array.read(start, own)).data as Uint8Array);
      const expected = rows.flatMap((row) => [...box.subarray(row * step, (row + 1) * step)]);
      assert.deepEqual([...into], [...expected, 7, 7, 7], `turn ${turn} of ${values.dtype}`);
      await checkChunkRows(array, random);
    } finally {
      restore();
    }
  }
});

test("runs outside the box, in another order, or in too little memory are refused", async () => {
  const file = path.join(makeHome(), "a.npy");
  fs.writeFileSync(file, npyOf(randomTensor("uint8", [5, 2], randomFrom(1)), ORDERS[0]));
  const array = await openArray(file);
  const read = (starts: number[], counts: number[], bytes = 10) => {
    const runs = { starts: Uint32Array.from(starts), counts: Uint32Array.from(counts) };
    return () => array.readRows([1, 0], [3, 2], runs, new Uint8Array(bytes));
  };
  const outside = { key: "runs", axis: 0, size: 3, expected: [0, 3] } as const;
  await assertRejected("index-out-of-range", { ...outside, got: 2 }, read([2], [2]));
  await assertRejected("index-out-of-range", { ...outside, got: 0 }, read([1, 0], [1, 1]));
  const zarr = await createArray(path.join(makeHome(), "a.zarr"), {
    ...{ dtype: "uint8", shape: [5, 2], chunkShape: [3, 2] },
  });
  const runs = { starts: Uint32Array.of(1), counts: Uint32Array.of(2) };
  const readChunk = () => zarr.readChunk([1, 0], new Uint8Array(4), runs);
  const beyond = { key: "runs", axis: 0, got: 1, size: 2, expected: [0, 2] } as const;
  await assertRejected("index-out-of-range", beyond, readChunk);
  const short = { key: "into", got: 3, expected: 4 };
  await assertRejected("shape-mismatch", short, read([0, 2], [1, 1], 3));
});

test("runs must be two Uint32Arrays of the same length, which may change after the call", async () => {
  const home = makeHome();
  const values = randomTensor("uint8", [5, 2], fixedRandom(1));
  fs.writeFileSync(path.join(home, "a.npy"), npyOf(values, ORDERS[0]));
  const zarr = await createArray(path.join(home, "a.zarr"), {
    ...{ dtype: "uint8", shape: [5, 2], chunkShape: [5, 2] },
  });
  await zarr.write(values);
  for (const array of [await openArray(path.join(home, "a.npy")), zarr]) {
    const two = Uint32Array.of(0, 1);
    const wrong = [
      { starts: [0.5], counts: [1] },
      { starts: two },
      { starts: two, counts: two.subarray(1) },
      null,
    ];
    for (const runs of wrong) {
      const read = () =>
        Reflect.apply(array.readRows, array, [[0, 0], [5, 2], runs, new Uint8Array(4)]);
      await assert.rejects(read, { code: "attribute", key: "runs" });
    }
    const runs = { starts: Uint32Array.of(1), counts: Uint32Array.of(1) };
    const into = new Uint8Array(2);
    const reading = array.readRows([0, 0], [2, 2], runs, into);
    runs.starts[0] = 4;
    await reading;
    assert.deepEqual([...into], [...bytesOf(values.data as Uint8Array)].slice(2, 4));
    await array.readRows(
      [0, 0],
      [2, 2],
      { starts: two.subarray(2), counts: two.subarray(2) },
      new Uint8Array(0),
    );
  }
});

/** A store in memory, with the keys that were read from it. */
function noted() {
  const objects = new Map<string, Uint8Array>();
  const gets: string[] = [];
  const get = async (key: string) => {
    gets.push(key);
    return objects.get(key);
  };
  const put = async (key: string, bytes: Uint8Array) => {
    objects.set(key, bytes.slice());
    return true;
  };
  return { objects, gets, store: { get, put } };
}

test("a chunk that cannot be read by ranges is opened once for all runs", async () => {
  const { store, gets } = noted();
  const options = { dtype: "uint16", shape: [400, 3], chunkShape: [400, 3] } as const;
  const array = await createArray(store, options);
  const values = randomTensor("uint16", [400, 3], fixedRandom(2));
  await array.write(values);
  const starts = Uint32Array.from({ length: 100 }, (_, run) => 4 * run);
  const into = new Uint8Array(600);
  gets.length = 0;
  await array.readRows([0, 0], [400, 3], { starts, counts: starts.map(() => 1) }, into);
  const rows = [...starts].flatMap((row) => [
    ...bytesOf(values.data as Uint16Array).subarray(6 * row, 6 * row + 6),
  ]);
  assert.deepEqual([...into], rows);
  assert.ok(gets.length <= 3, `${gets.length} reads of the store`);
});

test("a compressed chunk is read once for all of its runs, and of blosc only the blocks with rows of them", async () => {
  const { store, gets, objects } = noted();
  const configuration = { cname: "zstd", clevel: 1, shuffle: "shuffle", blocksize: 512 };
  const array = await createArray(store, {
    ...{ dtype: "uint16", shape: [2048], chunkShape: [1024] },
    codecs: [{ name: "blosc", configuration: { ...configuration, typesize: 2 } }],
  });
  const values = Uint16Array.from({ length: 2048 }, (_, i) => i >> 2);
  await array.write(tensor("uint16", [2048], values));
  // The third of the four blocks of the second chunk is damaged.
  const chunk = objects.get("c/1") ?? assert.fail();
  chunk.fill(255, new DataView(chunk.buffer).getUint32(16 + 2 * 4, true), -4);
  const rows = (starts: readonly number[]) => {
    const runs = { starts: Uint32Array.from(starts), counts: Uint32Array.from(starts, () => 1) };
    const into = new Uint16Array(starts.length);
    const read = array.readRows([0], [2048], runs, new Uint8Array(into.buffer));
    return read.then(() => [...into]);
  };
  // The last row of the second list is the first of its block.
  for (const sound of [
    [0, 7, 500, 1023, 1024, 1030, 1279, 1500],
    [0, 5, 1024, 1280],
  ]) {
    gets.length = 0;
    assert.deepEqual(
      await rows(sound),
      sound.map((row) => row >> 2),
    );
    assert.deepEqual(gets.toSorted(), ["c/0", "c/1"]);
  }
  await assert.rejects(rows([1030, 1600]), { code: "malformed-file" });
  await assert.rejects(array.read(), { code: "malformed-file" });
});

test("of a shard, only the inner chunks with wanted rows are decoded", async () => {
  const { store, objects } = noted();
  const array = await createArray(store, {
    ...{ dtype: "uint8", shape: [8], chunkShape: [2], shards: [8], codecs: ["gzip"] },
  });
  const values = Uint8Array.from({ length: 8 }, (_, at) => at + 1);
  await array.write(tensor("uint8", [8], values));
  const shard = objects.get("c/0") ?? assert.fail();
  // The index at the end has 16 bytes for each inner chunk, and 4 of its checksum.
  const index = new DataView(shard.buffer, shard.byteOffset + shard.length - 68);
  shard.fill(255, Number(index.getBigUint64(16, true)), Number(index.getBigUint64(32, true)));
  const read = async (...rows: readonly number[]): Promise<number[]> => {
    const runs = { starts: Uint32Array.from(rows), counts: Uint32Array.from(rows, () => 1) };
    const into = new Uint8Array(8);
    await array.readChunk([0], into, runs);
    return rows.map((row) => into[row]);
  };
  // Few inner chunks are read one by one, and most of them with the whole shard.
  assert.deepEqual(await read(0), [1]);
  assert.deepEqual(await read(1, 4, 7), [2, 5, 8]);
  assert.deepEqual(await read(), []);
  await assert.rejects(read(1, 2), { code: "malformed-file" });
});

test("other code of the main thread runs during a long read of rows", async () => {
  const file = path.join(makeHome(), "a.npy");
  const length = 60_000;
  fs.writeFileSync(file, npyOf(randomTensor("uint8", [2 * length], fixedRandom(3)), ORDERS[0]));
  const restore = setLimits({ FILES: { short: 1e9, slowRead: 1e9, turn: 1 } });
  const made = { calls: 0, isOver: false };
  // Timers do not suffice: under load, Bun ran one of 1 ms once while it completed 300 ms of file calls.
  const other = async (): Promise<void> => {
    for (; !made.isOver; made.calls++) await fs.promises.stat(file);
  };
  const ended = other();
  try {
    const array = await openArray(file);
    const starts = Uint32Array.from({ length }, (_, run) => 2 * run);
    await array.readRows(
      [0],
      [2 * length],
      { starts, counts: starts.map(() => 1) },
      new Uint8Array(length),
    );
  } finally {
    made.isOver = true;
    restore();
  }
  await ended;
  assert.ok(made.calls > 2, `other code made ${made.calls} calls`);
});

test("what a caller changes in an array's metadata is not in the next array of the same text", async () => {
  const file = path.join(makeHome(), "a.zarr");
  const options = {
    dtype: "uint8",
    shape: [4],
    chunkShape: [2],
    fillValue: 7,
    dimensionNames: ["x"],
  } as const;
  await createArray(file, options);
  const first = await openArray(file);
  const metadata: object = Reflect.get(first, "metadata");
  // Reflect.set returns false for a frozen list instead of throwing.
  for (const [name, value] of Object.entries({ shape: 3, fill: 9, dimensionNames: "y" }))
    Reflect.set(Reflect.get(metadata, name), 0, value);
  const next = await openArray(file);
  assert.deepEqual([...((await next.read()).data as Uint8Array)], [7, 7, 7, 7]);
});
