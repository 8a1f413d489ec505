/** Scratch memory as large as calls need it, and memory of an engine that stays its own. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Arena } from "../../src/core/engines/wasm/arena.ts";
import { KernelMemory } from "../../src/core/engines/wasm/kernel-memory.ts";
import { WasmPlatform } from "../../src/core/engines/wasm/platform.ts";
import { webAssembly } from "../../src/core/engines/wasm/kernels.ts";
import { full, tensor } from "../../src/core/tensor/tensor.ts";
import { tracedEngine } from "../support/engines.ts";
import { setLimits } from "../support/limits.ts";
import { randomFrom } from "../support/random.ts";

const MEBI = 2 ** 20;
const skip = typeof SharedArrayBuffer !== "function" && "there is no shared memory";
const platform = new WasmPlatform();
const limits = { window: 256, indices: 1, element: 2 ** 40 };
const traced = await tracedEngine(1, limits, undefined, platform);
const { engine, executor } = traced;
after(() => engine.dispose());

test("scratch memory is 64 MiB, until a call needs more", () => {
  const platform = new WasmPlatform();
  const first = platform.scratch(0);
  assert.equal(first.buffer.byteLength, 64 * MEBI);
  assert.equal(platform.scratch(48 * MEBI), first);
  const second = platform.scratch(48 * MEBI + 1);
  assert.equal(second.buffer.byteLength, 128 * MEBI);
  assert.equal(platform.scratch(0), second);
  const last = platform.scratch(2 ** 40);
  assert.ok(last.buffer.byteLength >= 256 * MEBI);
  assert.equal(platform.scratch(2 ** 41), last);
});

test("kernels are compiled once for each kind of memory", () => {
  const platform = new WasmPlatform();
  // Which compiles a module too, to see whether it can.
  assert.equal(platform.whyNone, null);
  const { Module } = webAssembly();
  let compiled = 0;
  const Counted = function (bytes: Uint8Array): object {
    compiled++;
    return new Module(bytes);
  };
  Object.assign(webAssembly(), { Module: Counted });
  try {
    for (const bytes of [0, 48 * MEBI + 1]) platform.scratch(bytes).kernels();
    assert.equal(compiled, 1);
    if (typeof SharedArrayBuffer !== "function") return;
    for (let nth = 0; nth < 2; nth++) platform.sharedMemory().kernels();
    assert.equal(compiled, 2);
  } finally {
    Object.assign(webAssembly(), { Module });
  }
});

// The first takes all of it from one memory. The indices of the others are read there, and the rest is done in a larger
// one, which the second needs because its rows are merged into one.
const HEAP: readonly (readonly [kilobytes: number, updates: number, what: string])[] = [
  [20, 300, "the last rows backwards"],
  [40, 4000, "all rows"],
  [140, 300, "the last rows backwards"],
];

const pages = new Set<number>();

for (const [kilobytes, count, what] of HEAP) {
  test(`${what} of ${kilobytes} kB of the heap pass through windows`, () => {
    const restore = setLimits({ SCRATCH: { block: 64, pages: 1 } });
    const width = 10;
    const rows = kilobytes * 100;
    const data = full("uint8", [rows, width], 1);
    const isAll = count === rows;
    const places = Int32Array.from({ length: count }, (_, p) => (isAll ? p : rows - 1 - p));
    const indices = tensor("int32", [count, 1], places);
    const updates = full("uint8", [count, width], 3);
    traced.paths();
    const result = engine.scatterND(data, indices, updates, { reduction: "add" });
    assert.deepEqual(traced.paths(), ["indices windows", "windows"]);
    assert.equal(result.data.indexOf(4), (rows - count) * width);
    assert.equal(result.data.lastIndexOf(1), (rows - count) * width - 1);
    assert.equal(data.data.indexOf(4), -1);
    pages.add(platform.scratch(0).buffer.byteLength);
    restore();
  });
}

test("each needed more scratch memory than the one before", () =>
  assert.equal(pages.size, HEAP.length));

test("what a call allocates lies in no two places at once, in the block and beyond it", () => {
  const random = randomFrom(20261123);
  const memory = new KernelMemory(() => assert.fail("no kernel is needed"), false, 256);
  for (let round = 0; round < 200; round++) {
    const restore = setLimits({ SCRATCH: { block: 64 * (1 + random(20)) } });
    const arenas = [new Arena(memory), new Arena(memory)];
    const lengths = [0, 1, 63, 64, 65, 128, 200, 500, 1300];
    const taken = Array.from({ length: 12 }, () => {
      const bytes = lengths[random(lengths.length)];
      const begin = arenas[random(2)].allocate(bytes);
      return { begin, end: begin + bytes };
    }).filter(({ begin, end }) => end > begin);
    taken.sort((a, b) => a.begin - b.begin);
    for (const [p, { begin }] of taken.entries()) {
      assert.ok(begin % 64 === 0 && begin >= (p === 0 ? 64 : taken[p - 1].end));
    }
    for (const arena of arenas) arena.release();
    assert.equal(memory.taken, 0);
    restore();
  }
});

test("memory is given back after another memory of the program has grown", { skip }, () => {
  engine.alloc("float32", [1]).dispose();
  const before = executor.shared?.taken;
  const one = engine.alloc("float32", [100]);
  // In V8 every shared memory has another buffer object then.
  const { Memory } = webAssembly();
  const other = new Memory({ initial: 1, maximum: 2, shared: true });
  Reflect.apply(Reflect.get(other, "grow"), other, [1]);
  one.dispose();
  assert.equal(executor.shared?.taken, before);
});
