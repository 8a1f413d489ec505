/** Scratch memory as large as calls need it, and memory of an engine that stays its own. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { WasmPlatform } from "../src/engines/wasm/platform.ts";
import { webAssembly } from "../src/engines/wasm/web-assembly.ts";
import { full, tensor } from "../src/tensor/tensor.ts";
import { tracedEngine } from "./support/engines.ts";

const MEBI = 2 ** 20;
const skip = typeof SharedArrayBuffer !== "function" && "there is no shared memory";
const traced = await tracedEngine(2);
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

// The first takes all of it from one memory. The indices of the others are read there, and the rest is done in a larger
// one, which the second needs because its rows are merged into one.
const HEAP: readonly (readonly [megabytes: number, updates: number, what: string])[] = [
  [20, 3000, "the last rows backwards"],
  [40, 40_000, "all rows"],
  [70, 3000, "the last rows backwards"],
];

for (const [megabytes, count, what] of HEAP) {
  test(`${what} of ${megabytes} MB of the heap pass through windows`, () => {
    const width = 1000;
    const rows = megabytes * 1000;
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
  });
}

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
