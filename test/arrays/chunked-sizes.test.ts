/** How a job divides the memory that it may take: threads, blocks and chunks, and what a task takes of a share. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { resolveCall } from "../../src/arrays/chunked/job/request.ts";
import { addressOf } from "../../src/arrays/chunked/stages/address.ts";
import {
  blockShapeFor,
  chunksFor,
  heldBy,
  neededBytes,
  shareOf,
  taskBytes,
  threadsFor,
} from "../../src/arrays/chunked/stages/budget.ts";
import { zeros } from "../../src/core/tensor/tensor.ts";
import { setLimits } from "../support/limits.ts";
import { MemoryArray } from "../support/memory-array.ts";
import { assertRefused } from "../support/refusal.ts";

const MEGABYTE = 2 ** 20;

/** What a process takes, and each of its threads. */
const PROCESS = 80 * MEGABYTE;
const THREAD = 40 * MEGABYTE;

test("threads have equal shares of what the process and each of them leave", () => {
  assert.equal(shareOf(PROCESS + THREAD + 10, 1), 10);
  assert.equal(shareOf(PROCESS + 2 * (THREAD + 10), 2), 10);
  assert.equal(shareOf(PROCESS + 3 * THREAD + 11, 3), 3);
});

test("as many threads work as were wanted, or as have room for a task", () => {
  const memory = PROCESS + 4 * (THREAD + 1000);
  const threads = (wanted: number, least: number): number => threadsFor(memory, wanted, least, [5]);
  assert.equal(threads(8, 1000), 4);
  assert.equal(threads(3, 1000), 3);
  assert.equal(threads(8, 1001), 3);
  const all = 3 * THREAD + 4 * 1000;
  assert.equal(threads(8, all), 1);
  assertRefused("too-large", {}, () => threads(8, all + 1));
});

test("a file is divided into chunks of a quarter of a share, from 1 to 64 MB", () => {
  assert.deepEqual(chunksFor([2 ** 30], 4, 40 * MEGABYTE), [(10 * MEGABYTE) / 4]);
  assert.deepEqual(chunksFor([2 ** 30], 16, 1), [MEGABYTE / 16]);
  assert.deepEqual(chunksFor([2 ** 30], 2, 2 ** 40), [(64 * MEGABYTE) / 2]);
  assert.deepEqual(chunksFor([2 ** 20, 1024], 1, 2 ** 40), [64 * 1024, 1024]);
});

const SIZES = { chunk: 0, position: 100, entry: 0, table: 0 };

test("a block is the largest that takes no more than a share", () => {
  const share = 10 * MEGABYTE;
  const whole = blockShapeFor([2 ** 30], SIZES, share, ([count]) => 100 * count);
  assert.deepEqual(whole, [Math.floor(share / 100)]);
  // What else a task takes is not known before the block is.
  const most = Math.floor((8 * MEGABYTE) / 100);
  const [count] = blockShapeFor([2 ** 30], SIZES, share, ([one]) => 2 * MEGABYTE + 100 * one);
  assert.ok(count <= most && count >= 0.9 * most, `${count} of ${most}`);
  assert.deepEqual(
    blockShapeFor([3, 7], SIZES, share, () => share + 1),
    [1, 1],
  );
  assert.deepEqual(
    blockShapeFor([3, 7], SIZES, share, () => share),
    [3, 7],
  );
  assert.deepEqual(
    blockShapeFor([0, 7], SIZES, share, () => 0),
    [1, 1],
  );
});

test("a block takes at most 128 MB of slices, of which a task has up to three copies", () => {
  const slice = 1000;
  const sizes = { ...SIZES, position: 3 * slice };
  const [count] = blockShapeFor([2 ** 30], sizes, 2 ** 50, () => 0);
  assert.ok(count * slice <= 128 * MEGABYTE && count * slice >= 64 * MEGABYTE, String(count));
  // A share that is short does not make blocks of a few positions.
  const [least] = blockShapeFor([2 ** 30], SIZES, 1, () => 0);
  assert.equal(least, Math.floor(MEGABYTE / 100));
});

test("the largest task counts", () => {
  const sizes = { chunk: 1000, position: 10, entry: 20, table: 7 };
  // Partition: the block, a table, and what reading holds. Apply: a chunk, and 1 MB of updates at least.
  assert.equal(neededBytes(sizes, 100, 5, false), 1000 + 100 + MEGABYTE);
  assert.equal(neededBytes(sizes, 100, 2 ** 20, false), 10 * 2 ** 20 + 7 + 100);
  // A gather writes all slices that a block wants of a chunk, or holds what writing takes.
  assert.equal(neededBytes(sizes, 100, 4, true), 1000 + 100);
  assert.equal(neededBytes(sizes, 100, 50, true), 1000 + 50 * 20);
  assert.equal(neededBytes({ ...sizes, chunk: 0, entry: 1 }, 100, 50, true), 50 * 10 + 7 + 100);
});

test("what reading and writing hold is that of the stage that takes most", () => {
  const holds = (read: number, write: number): MemoryArray =>
    Object.assign(new MemoryArray(zeros("int8", [1]), [1]), { held: { read, write } });
  const [data, indices, updates] = [holds(5, 0), holds(3, 0), holds(4, 0)];
  const address = addressOf(
    resolveCall(
      { function: "gatherND", options: {} },
      { data, indices: { dtype: "int64", shape: [1] } },
    ).layout,
    data.shape,
    data.chunkShape,
  );
  const parts = { data, indices, updates, address, chunksPerTask: 1 };
  const gather = { ...parts, updates: undefined };
  assert.equal(heldBy(parts, { read: 0, write: 1 }), 3 + 4);
  assert.equal(heldBy(gather, { read: 0, write: 1 }), 5);
  assert.equal(heldBy(parts, { read: 0, write: 9 }), 9);
  // Of several chunks at most eight are read at once. A scatter writes as many at once, and a gather writes one.
  for (const [chunksPerTask, atOnce] of [
    [3, 3],
    [64, 8],
  ] as const) {
    const several = { read: 0, write: 100 };
    assert.equal(heldBy({ ...parts, chunksPerTask }, several), atOnce * 100);
    assert.equal(heldBy({ ...gather, chunksPerTask }, several), 100);
    assert.equal(heldBy({ ...gather, chunksPerTask }, { read: 0, write: 1 }), atOnce * 5);
  }
});

/** Data of [10, 6] float32 in chunks of [5, 3], and 8 index tuples of int64. */
function bytesOf(
  called: string,
  k: number,
  options: object = {},
  hasWholeSlices = false,
  chunksPerTask = 1,
) {
  const data = zeros("float32", [10, 6]);
  const indices = zeros("int64", [8, k]);
  const updates = called === "gatherND" ? undefined : zeros("float32", [8, ...[6].slice(k - 1)]);
  const chunkShape = [5, 3];
  const call = { function: called, options: { ...options } };
  const resolved = resolveCall(call, { data, indices, updates });
  const address = addressOf(resolved.layout, data.shape, chunkShape);
  const arrays = {
    data: new MemoryArray(data, chunkShape),
    indices: new MemoryArray(indices, [8, k]),
    updates: updates && new MemoryArray(updates, updates.shape),
  };
  return taskBytes({ ...arrays, resolved, address, chunksPerTask }, hasWholeSlices);
}

test("a task holds a chunk, with a counter of 4 bytes for each row where updates are counted", () => {
  const chunk = 5 * 3 * 4;
  assert.equal(bytesOf("scatterND", 1).chunk, chunk);
  assert.equal(bytesOf("scatterND", 1, { reduction: "add" }).chunk, chunk);
  assert.equal(bytesOf("gatherND", 1).chunk, chunk);
  assert.equal(bytesOf("scatterND", 1, { reduction: "mean" }).chunk, chunk + 5 * 4);
  assert.equal(bytesOf("scatterND", 2, { reduction: "mean" }).chunk, chunk + 15 * 4);
  const first = { reduction: "add", includeSelf: false };
  assert.equal(bytesOf("scatterND", 1, first).chunk, chunk + 5 * 4);
  // Of 20 chunks a scatter has eight at once; a gather those that hold the same one of the two pieces of a slice.
  assert.equal(bytesOf("scatterND", 1, {}, false, 20).chunk, 8 * chunk);
  assert.equal(bytesOf("gatherND", 1, {}, false, 20).chunk, 10 * chunk);
});

test("a task holds slices, their rows, indices, and a table of a chunk's rows", () => {
  const plain = bytesOf("scatterND", 1);
  assert.equal(plain.entry, 3 * 4 + 4);
  assert.equal(bytesOf("scatterND", 2).entry, 4 + 4);
  assert.ok(bytesOf("scatterND", 1, { reduction: "mean" }).entry > plain.entry);
  assert.equal(plain.table, 5 * 4);
  assert.equal(bytesOf("scatterND", 2).table, 15 * 4);
  assert.equal(bytesOf("gatherND", 1).table, 0);
  const restore = setLimits({ CHUNKED: { rows: 3 } });
  try {
    assert.equal(bytesOf("scatterND", 1).table, 3 * 4);
  } finally {
    restore();
  }
  // A tuple of two has one index more, twice, and a slice of one element.
  const { position } = plain;
  assert.equal(bytesOf("scatterND", 2).position, position + 2 * 8 - 3 * (3 * 4 - 4));
  // Whole slices are joined from two pieces of 3 elements.
  assert.equal(bytesOf("gatherND", 1, {}, true).position, bytesOf("gatherND", 1).position + 6 * 4);
  assert.equal(bytesOf("gatherND", 2, {}, true).position, bytesOf("gatherND", 2).position);
  assert.ok(position >= 3 * 3 * 4 + 2 * 8 && position < 1000);
});
