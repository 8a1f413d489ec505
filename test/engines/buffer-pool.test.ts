/** Buffers of disposed results, which later results of the same length use again. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { BufferPool } from "../../src/core/engines/pool.ts";
import { MEMORY } from "../../src/core/resources.ts";
import { setLimits } from "../support/limits.ts";

test("a buffer is given again, under a new name, to whoever asks for its length", () => {
  const pool = new BufferPool();
  const buffer = new ArrayBuffer(4096);
  const view = new Uint8Array(buffer);
  view[3] = 7;
  // What is given back is shown to tests, which write over it: the next owner finds arbitrary contents.
  const seen: Uint8Array[] = [];
  const { onRelease } = MEMORY;
  MEMORY.onRelease = (bytes) => void seen.push(bytes);
  pool.give(buffer);
  MEMORY.onRelease = onRelease;
  assert.equal(view.length, 0);
  assert.equal(pool.take(8192), undefined);
  const again = pool.take(4096);
  assert.ok(again !== undefined);
  assert.equal(new Uint8Array(again)[3], 7);
  assert.equal(seen[0].buffer, again);
  assert.equal(pool.take(4096), undefined);
});

test("what is short, or was transferred by its user, is not kept", () => {
  const pool = new BufferPool();
  for (const bytes of [0, 4095]) {
    const short = new ArrayBuffer(bytes);
    pool.give(short);
    assert.deepEqual([short.byteLength, pool.take(bytes)], [bytes, undefined]);
  }
  const moved = new ArrayBuffer(4096);
  structuredClone(moved, { transfer: [moved] });
  pool.give(moved);
  assert.equal(pool.take(4096), undefined);
});

test("no more is kept than the pool's limit, however often it comes and goes", () => {
  const restore = setLimits({ POOL: { most: 2 ** 16 } });
  const pool = new BufferPool();
  const half = 2 ** 15;
  for (let turn = 0; turn < 5; turn++) {
    pool.give(pool.take(half) ?? new ArrayBuffer(half));
    pool.give(new ArrayBuffer(4096));
  }
  pool.give(new ArrayBuffer(half));
  // 20 kB are kept besides, so that a second one is too much.
  assert.ok(pool.take(half) !== undefined);
  assert.equal(pool.take(half), undefined);
  for (let turn = 0; turn < 5; turn++) assert.ok(pool.take(4096) !== undefined);
  assert.equal(pool.take(4096), undefined);
  pool.give(new ArrayBuffer(half));
  pool.clear();
  assert.equal(pool.take(half), undefined);
  pool.give(new ArrayBuffer(half));
  pool.give(new ArrayBuffer(half));
  assert.ok(pool.take(half) !== undefined && pool.take(half) !== undefined);
  restore();
});
