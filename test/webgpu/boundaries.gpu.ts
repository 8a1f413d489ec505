/**
 * Numbers of updates around every size at which kernels work in another way, with targets in the orders that a sort and its
 * blocks can get wrong: all in one cell, in order, backwards, at random, and in runs that end at a block or beside it.
 */

import { test } from "node:test";
import { createEngine } from "../../src/core/create-engine.ts";
import { GPU } from "../../src/core/limits.ts";
import { Tensor } from "../../src/core/tensor/tensor.ts";
import { WORKGROUP } from "../../src/gpu/kernels/kernel.ts";
import { setLimits } from "../support/limits.ts";
import { randomFrom, randomTensor } from "../support/random.ts";
import { engine } from "./gpu.ts";
import { assertSame } from "./ways.ts";

const js = createEngine({ kind: "js" });

/** The target of each of `count` updates, in `cells` cells. */
type Order = (count: number, cells: number) => (position: number) => number;

const { block } = GPU;
const random = randomFrom(12);

const ORDERS: Readonly<Record<string, Order>> = {
  "in one cell": () => () => 1,
  "in order": (count, cells) => (p) => Math.floor((p * cells) / count),
  backwards: (count, cells) => (p) => cells - 1 - Math.floor((p * cells) / count),
  "at random": (_, cells) => () => random(cells),
};

/** Runs of neighbours, each as long as a few blocks, or one more or less. */
const RUNS: Readonly<Record<string, Order>> = Object.fromEntries(
  [block - 1, block, block + 1, 2 * block, 2 * block + 1, 3 * block - 1].map((length) => [
    `in runs of ${length}`,
    () => (p: number) => Math.floor(p / length),
  ]),
);

const around = (...sizes: number[]): number[] =>
  sizes.flatMap((size) => [size - 1, size, size + 1]);

async function checkOrder(count: number, cells: number, name: string, order: Order): Promise<void> {
  const targetOf = order(count, cells);
  const indices = new Tensor(
    "int32",
    [count, 1],
    count,
    Int32Array.from({ length: count }, (_, p) => targetOf(p)),
  );
  const used = [];
  for (const dtype of ["float32", "uint8"] as const) {
    const [values, updates] = [cells, count].map((size) => {
      const { data: small } = randomTensor("int8", [size], randomFrom(size + 7));
      const numbers =
        dtype === "float32"
          ? Float32Array.from(small as Int8Array)
          : new Uint8Array(small as Int8Array);
      return new Tensor(dtype, [size], size, numbers);
    });
    const [a, b, c] = [values, indices, updates].map((one) => engine.upload(one));
    used.push(a, b, c);
    for (const reduction of ["none", "add"] as const) {
      const expected = js.scatterND(values, indices, updates, { reduction });
      const what = `${count} updates ${name}: ${reduction} of ${dtype}`;
      for (const result of [
        engine.scatterND(a, b, c, { reduction }),
        engine.scatterND(a, indices, c, { reduction }),
      ]) {
        // oxlint-disable-next-line no-await-in-loop -- one result at a time
        assertSame(await result.read(), expected, what);
        result.dispose();
      }
    }
  }
  for (const one of used) one.dispose();
}

const TILE = GPU.run * WORKGROUP;

for (const count of [0, 1, 2, 3, 4, 5, ...around(WORKGROUP, GPU.alone, TILE, 2 * TILE)]) {
  test(`${count} updates in every order`, async () => {
    for (const [name, order] of Object.entries(ORDERS)) {
      for (const cells of new Set([2, 1024, Math.max(2, count)])) {
        // oxlint-disable-next-line no-await-in-loop -- one call at a time
        await checkOrder(count, cells, `${name} of ${cells} cells`, order);
      }
    }
  });
}

for (const blocks of [1, 2, 3, GPU.blocks + 2]) {
  test(`about ${blocks} blocks of updates in one cell, and in runs`, async () => {
    for (const count of around(blocks * block)) {
      for (const [name, order] of Object.entries({
        "in one cell": ORDERS["in one cell"],
        ...RUNS,
      })) {
        // oxlint-disable-next-line no-await-in-loop -- one call at a time
        await checkOrder(count, 12, name, order);
      }
    }
  });
}

test("more tiles than a workgroup has invocations", async () => {
  const restore = setLimits({ GPU: { run: 1, bits: 5 } });
  try {
    for (const count of around(WORKGROUP * WORKGROUP, WORKGROUP * (WORKGROUP + 1))) {
      for (const [name, order] of Object.entries(ORDERS)) {
        // oxlint-disable-next-line no-await-in-loop -- one call at a time
        await checkOrder(count, 3000, name, order);
      }
    }
  } finally {
    restore();
  }
});
