/** Where WebAssembly and threads begin: calls of the last size that is left to the simpler way, and of the next. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Path } from "../../src/core/engines/wasm/engine.ts";
import type { DType } from "../../src/core/tensor/dtype.ts";
import { zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import { tracedEngine } from "../support/engines.ts";
import { WITHOUT_THREADS } from "../support/platform.ts";

/** Slices of `data`, as many as there are indices; gathered, or added to it. */
interface Row {
  readonly what: string;
  readonly data: readonly number[];
  readonly count: number;
  readonly does?: "none" | "add";
  readonly paths: readonly Path[];
}

// prettier-ignore
const ON_HEAP: readonly Row[] = [
  { what: "255 indices", data: [10], count: 255, paths: ["indices js", "js"] },
  { what: "288 elements out of 10", data: [10], count: 288, paths: ["indices windows", "js"] },
  { what: "289 elements out of 10", data: [10], count: 289, paths: ["indices windows", "windows"] },
  { what: "192 elements added to 1", data: [1], count: 192, does: "add", paths: ["indices js", "js"] },
  { what: "193 elements added to 1", data: [1], count: 193, does: "add", paths: ["indices js", "windows"] },
  { what: "45 slices of 1,024 bytes out of 20", data: [20, 256], count: 45, paths: ["indices js", "windows"] },
  { what: "44 slices of 1,024 bytes out of 20", data: [20, 256], count: 44, paths: ["indices js", "js"] },
  { what: "45 slices of 1,028 bytes out of 20", data: [20, 257], count: 45, paths: ["indices js", "js"] },
  { what: "55 slices of 512 bytes out of 64", data: [64, 128], count: 55, paths: ["indices js", "windows"] },
  { what: "54 slices of 512 bytes out of 64", data: [64, 128], count: 54, paths: ["indices js", "js"] },
  { what: "1,024 slices of 512 bytes out of 1,208", data: [1208, 128], count: 1024, paths: ["indices windows", "windows"] },
  { what: "1,024 slices of 512 bytes out of 1,209", data: [1209, 128], count: 1024, paths: ["indices windows", "js"] },
  { what: "an eighth of data and 288, in slices of four", data: [8192, 4], count: 1312, paths: ["indices windows", "windows"] },
  { what: "less than that", data: [8193, 4], count: 1312, paths: ["indices windows", "js"] },
  { what: "single elements out of 32 times as many, and 288", data: [131_072], count: 4384, paths: ["indices windows", "windows"] },
  { what: "single elements out of more", data: [131_073], count: 4384, paths: ["indices windows", "js"] },
  { what: "updates that replace a sixteenth, and 288", data: [65_536], count: 4384, does: "none", paths: ["indices windows", "windows"] },
  { what: "updates that replace less", data: [65_537], count: 4384, does: "none", paths: ["indices windows", "js"] },
  { what: "updates that are added to an eighth, and 192", data: [32_768], count: 4288, does: "add", paths: ["indices windows", "windows"] },
  { what: "updates that are added to less", data: [32_769], count: 4288, does: "add", paths: ["indices windows", "js"] },
  { what: "single updates that are added to 2^22", data: [2 ** 22], count: 59_000, does: "add", paths: ["indices windows", "windows"] },
  { what: "fewer that are added to 2^22", data: [2 ** 22], count: 58_000, does: "add", paths: ["indices windows", "js"] },
  { what: "long slices that replace", data: [20, 257], count: 40, does: "none", paths: ["indices js", "js"] },
  { what: "long slices that are added", data: [20, 257], count: 16, does: "add", paths: ["indices js", "windows"] },
];

// prettier-ignore
const IN_ENGINE: readonly Row[] = [
  { what: "65,535 floats to move", data: [10], count: 65_535, paths: ["indices 1", "one thread"] },
  { what: "256 KiB to move", data: [10], count: 65_536, paths: ["indices 2", "positions"] },
  { what: "long slices that are few beside data", data: [2000, 257], count: 16, paths: ["indices js", "one thread"] },
  { what: "targets of nearly 64 MiB", data: [2 ** 24 - 1], count: 65_536, does: "add", paths: ["indices 2", "one thread"] },
  { what: "targets of 64 MiB", data: [2 ** 24], count: 65_536, does: "add", paths: ["indices 2", "partition"] },
];

const heap = await tracedEngine(1);
const threads = await tracedEngine(2);
after(() => {
  heap.engine.dispose();
  threads.engine.dispose();
});

function check(row: Row, { engine, paths }: typeof heap, make: typeof zeros): void {
  const { data: shape, count, does, paths: expected } = row;
  const made: Tensor[] = [];
  const tensorOf = (dtype: DType, dims: readonly number[]): Tensor => {
    const one: Tensor = make<DType, readonly number[]>(dtype, dims);
    made.push(one);
    return one;
  };
  const [data, indices] = [tensorOf("float32", shape), tensorOf("int32", [count, 1])];
  // No runs of indices, and no index twice where there are enough.
  for (let p = 0; p < count; p++) indices.data[p] = (7 * p) % shape[0];
  const slices = [count, ...shape.slice(1)];
  const out = does === undefined ? tensorOf("float32", slices) : data;
  if (does === undefined) engine.gatherND(data, indices, { out });
  else engine.scatterND(data, indices, tensorOf("float32", slices), { reduction: does, out });
  assert.deepEqual(paths(), expected);
  for (const one of made) one.dispose();
}

for (const row of ON_HEAP) {
  test(`on the heap: ${row.what}${row.does === undefined ? ", gathered" : ""}`, () => {
    check(row, heap, zeros);
  });
}

/** JavaScriptCore has address space for about 14 memories, and a browser loads all tests into one page. */
const skip =
  WITHOUT_THREADS ||
  (threads.executor.threads < 2 && "the engines of other tests have the address space");

for (const row of IN_ENGINE) {
  test(`in the engine's memory: ${row.what}`, { skip }, () => {
    check(row, threads, (dtype, shape) => threads.engine.alloc(dtype, shape));
  });
}
