/** Which part of a WebAssembly memory belongs to whom, in cache lines of 64 bytes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Allocator } from "../../src/core/engines/wasm/kernel-memory.ts";
import { isTensorError } from "../../src/core/errors.ts";

const isTooLarge = (error: unknown): boolean => isTensorError(error, "too-large");

test("the first and the last line of a memory stay unused, and every address is that of a line", () => {
  const allocator = new Allocator(10 * 64);
  assert.equal(allocator.taken, 0);
  // Nothing takes a line too.
  const pointers = [0, 1, 64, 65, 128].map((bytes) => allocator.allocate(bytes));
  assert.deepEqual(pointers, [64, 128, 192, 256, 384]);
  assert.equal(allocator.taken, 7 * 64);
  assert.throws(() => allocator.allocate(65), isTooLarge);
  assert.equal(allocator.allocate(64), 512);
  assert.throws(() => allocator.allocate(0), isTooLarge);
  assert.equal(allocator.taken, 8 * 64);
});

test("what is freed is used again, as one block with the free blocks beside it", () => {
  for (const order of [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
  ]) {
    const allocator = new Allocator(5 * 64);
    const pointers = [64, 64, 64].map((bytes) => allocator.allocate(bytes));
    for (const [count, position] of order.entries()) {
      assert.throws(() => allocator.allocate(64 * (count + 1)), isTooLarge);
      allocator.free(pointers[position]);
    }
    assert.equal(allocator.taken, 0);
    assert.equal(allocator.allocate(3 * 64), 64);
  }
});

test("the first block that is large enough is taken", () => {
  const allocator = new Allocator(10 * 64);
  const [small, , large] = [64, 64, 128, 64].map((bytes) => allocator.allocate(bytes));
  allocator.free(large);
  allocator.free(small);
  assert.equal(allocator.allocate(128), large);
  assert.equal(allocator.allocate(64), small);
  allocator.free(large);
  assert.equal(allocator.allocate(64), large);
  assert.equal(allocator.allocate(64), large + 64);
});

test("an address is freed once, and only if it was given", () => {
  const allocator = new Allocator(10 * 64);
  const pointer = allocator.allocate(100);
  allocator.free(pointer);
  for (const other of [pointer, 0, 1])
    assert.throws(() => allocator.free(other), { name: "Error" });
});
