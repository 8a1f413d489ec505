/**
 * Sizes at which an engine takes other ways by its own limits: prefetching from 8 MB of targets on, partition by
 * destination from 64 MB on, threads from 256 kB on. Expected values come from plain loops over float32.
 */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Path } from "../../src/core/engines/wasm/engine.ts";
import { copy } from "../../src/core/tensor/storage.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor, Tensor, zeros } from "../../src/core/tensor/tensor.ts";
import { tracedEngine, type TracedEngine } from "../support/engines.ts";
import { PATTERNS } from "../support/patterns.ts";
import { WITHOUT_THREADS } from "../support/platform.ts";
import { randomFrom } from "../support/random.ts";
import * as reference from "../support/reference.ts";

const THREADS = WITHOUT_THREADS === false ? [1, 2, 4] : [1];
const TRACED = await Promise.all(THREADS.map((threads) => tracedEngine(threads)));
after(() => {
  for (const { engine } of TRACED) engine.dispose();
});

/** Rows of `data`, how many elements each has, how many indices, and how the work is split on two threads or more. */
interface Row {
  readonly name: string;
  readonly rows: number;
  readonly slice: number;
  readonly count: number;
  readonly splits: readonly [scatters: Path, gathers: Path];
}

const MB = 2 ** 20;

// prettier-ignore
const ROWS: readonly Row[] = [
  { name: "rows, 8 MB", rows: 4 * 2 ** 10 + 3, slice: 512, count: 1001, splits: ["columns", "positions"] },
  { name: "short rows, 9 MB", rows: 3 * 2 ** 18, slice: 3, count: 40_001, splits: ["one thread", "positions"] },
  { name: "elements, 16 MB", rows: 4 * MB, slice: 1, count: 100_003, splits: ["one thread", "positions"] },
  { name: "elements, 64 MB", rows: 16 * MB, slice: 1, count: 100_003, splits: ["partition", "positions"] },
  { name: "elements, 4 MB", rows: MB, slice: 1, count: 70_001, splits: ["one thread", "positions"] },
];

/** Small integers, so that sums are exact whatever the test does, and differ where an update is lost. */
const values = (length: number, seed: number): Float32Array => {
  const random = randomFrom(seed);
  return Float32Array.from({ length }, () => 1 + random(1000));
};

for (const { name, rows, slice, count, splits } of ROWS) {
  for (const pattern of ["random", "one index", "runs that overlap", "reversed"] as const) {
    test(`${name}: ${pattern}`, () => {
      const places = PATTERNS[pattern](count, rows);
      const data = values(rows * slice, 1);
      const updates = values(count * slice, 2);
      const sums = data.slice();
      const gathered = new Float32Array(count * slice);
      for (const [p, place] of places.entries()) {
        for (let i = 0; i < slice; i++) {
          gathered[p * slice + i] = data[place * slice + i];
          sums[place * slice + i] += updates[p * slice + i];
        }
      }
      const indices = new Tensor("int32", [count, 1], count, Int32Array.from(places));
      const inputs = [tensorOf(data, rows, slice), indices, tensorOf(updates, count, slice)];
      for (const traced of TRACED) {
        const ways = check(
          traced,
          inputs,
          tensorOf(sums, rows, slice),
          tensorOf(gathered, count, slice),
        );
        if (pattern !== "random") continue;
        const isAlone = traced.executor.threads === 1;
        assert.deepEqual(ways, isAlone ? ["one thread", "one thread"] : splits);
      }
    });
  }
}

const tensorOf = (data: Float32Array, rows: number, slice: number): Tensor =>
  new Tensor("float32", [rows, slice], data.length, data);

/** A sum and a gather on the heap, and in the engine's memory. @returns how the latter went */
function check(
  { engine, paths }: TracedEngine,
  inputs: readonly Tensor[],
  sums: Tensor,
  gathered: Tensor,
): readonly Path[] {
  const [data, indices, updates] = inputs;
  const onHeap = engine.scatterND(data, indices, updates, { reduction: "add" });
  assert.ok(equals(onHeap, sums), "a sum on the heap");
  onHeap.dispose();
  const resident = [data, indices, updates, gathered].map((one) => {
    const there: Tensor = engine.alloc<"float32" | "int32", readonly number[]>(
      one.dtype as "float32",
      one.shape,
    );
    copy(one.data, there.data);
    return there;
  });
  const [here, where, what, out] = resident;
  if (out.data instanceof Float32Array) out.data.fill(0);
  paths();
  engine.gatherND(here, where, { out });
  const [, gathering] = paths();
  assert.ok(equals(out, gathered), "a gather");
  engine.scatterND(here, where, what, { reduction: "add", out: here });
  const [, scattering] = paths();
  assert.ok(equals(here, sums), "a sum");
  for (const one of resident) one.dispose();
  return [scattering, gathering];
}

const UPDATES = 500_000;
const CELLS = 16;

test(
  "500,000 updates into 16 cells have one answer, the reference's, 200 times on 2 and 4 threads",
  { skip: WITHOUT_THREADS },
  async () => {
    const random = randomFrom(1);
    const places = Int32Array.from({ length: UPDATES }, () => random(CELLS));
    const indices = tensor("int32", [UPDATES, 1], places);
    for (const dtype of ["int32", "float32"] as const) {
      const values = Float32Array.from({ length: UPDATES }, () => random(1000) / 8 + 1e6);
      const updates = tensor(
        dtype,
        [UPDATES],
        dtype === "int32" ? Int32Array.from(values) : values,
      );
      const expected = reference.scatterND(zeros(dtype, [CELLS]), indices, updates, "add");
      for (const threads of [2, 4]) {
        // By default so few cells are left to one thread.
        const { engine, paths } = await tracedEngine(threads, { partition: 1 });
        assert.equal(engine.threads, threads);
        const data = engine.alloc(dtype, [CELLS]);
        const out = engine.alloc(dtype, [CELLS]);
        const [where, what] = [engine.alloc("int32", [UPDATES, 1]), engine.alloc(dtype, [UPDATES])];
        copy(indices.data, where.data);
        copy(updates.data, what.data);
        for (let repetition = 0; repetition < 200; repetition++) {
          engine.scatterND(data, where, what, { reduction: "add", out });
          assert.ok(equals(out, expected), `${dtype} on ${threads} threads`);
          assert.deepEqual(paths(), [`indices ${threads}`, "partition"]);
        }
        engine.dispose();
      }
    }
  },
);
