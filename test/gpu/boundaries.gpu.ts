/**
 * Numbers of updates around every size at which kernels work in another way, with targets in the orders that a sort and its
 * blocks can get wrong: all in one cell, in order, backwards, at random, and in runs that end at a block or beside it.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { GPU } from "../../src/core/limits.ts";
import { Tensor } from "../../src/core/tensor/tensor.ts";
import { WORKGROUP } from "../../src/gpu/kernels/kernel.ts";
import { setLimits } from "../support/limits.ts";
import { randomFrom, randomTensor } from "../support/random.ts";
import { areGuards, bytesOfTensor, engine, guarded, readBuffers } from "./gpu.ts";
import type { Case } from "../support/ways.ts";
import { assertSame, goAll, js } from "./ways.ts";

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

type Kind = readonly ["float32" | "uint8", "none" | "add"];

/** A sum in order, one in any order, and winners, of words and of parts of words. */
const KINDS: readonly Kind[] = [
  ["float32", "add"],
  ["uint8", "add"],
  ["float32", "none"],
  ["uint8", "none"],
];

async function checkOrder(
  count: number,
  cells: number,
  name: string,
  order: Order,
  kinds = KINDS,
): Promise<void> {
  const targetOf = order(count, cells);
  const words = Int32Array.from({ length: count }, (_, p) => targetOf(p));
  const indices = new Tensor("int32", [count, 1], count, words);
  const places = engine.upload(indices);
  for (const [dtype, reduction] of kinds) {
    const [data, updates] = [cells, count].map((size) => {
      const small = randomTensor("int8", [size], randomFrom(size + 7)).data as Int8Array;
      const numbers = dtype === "float32" ? Float32Array.from(small) : new Uint8Array(small);
      return new Tensor(dtype, [size], size, numbers);
    });
    const [a, b] = [data, updates].map((one) => engine.upload(one));
    const expected = js.scatterND(data, indices, updates, { reduction });
    const what = `${count} updates ${name}: ${reduction} of ${dtype}`;
    const result = engine.scatterND(a, places, b, { reduction });
    // oxlint-disable-next-line no-await-in-loop -- one result at a time
    assertSame(await result.read(), expected, what);
    for (const one of [a, b, result]) one.dispose();
  }
  places.dispose();
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
        await checkOrder(count, 12, name, order, [["float32", "add"]]);
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

/** Shapes whose elements end within a word, and beside it. */
const SHAPES = [[37], [13, 3], [9, 2], [6, 4]] as const;

for (const dtype of ["int8", "float16", "float32", "int64"] as const) {
  test(`winners of ${dtype} into every tensor, with other bytes behind it`, async () => {
    const count = GPU.alone + 50;
    const cases = SHAPES.map(([rows, ...rest]): Case => {
      // Some rows are no targets, so that they take data.
      const words = Int32Array.from({ length: count }, () => random(rows - 2));
      const inputs = [
        randomTensor(dtype, [rows, ...rest], random),
        new Tensor("int32", [count, 1], count, words),
        randomTensor(dtype, [count, ...rest], random),
      ];
      const expected = js.scatterND(inputs[0], inputs[1], inputs[2]);
      const name = `winners into ${[rows, ...rest].join("x")}`;
      return { name, operator: "scatterND", inputs, options: {}, expected };
    });
    await goAll(cases, { areLimitsDrawn: false });
  });
}

/** An upload ends with zeros, which must not be copied behind an `out`. */
for (const dtype of ["int8", "float16"] as const) {
  for (const reduction of ["none", "max"] as const) {
    test(`what is behind an out of ${dtype} stays, by ${reduction}`, async () => {
      const [size, count] = [37, GPU.alone + 50];
      const words = Int32Array.from({ length: count }, () => random(size));
      const indices = new Tensor("int32", [count, 1], count, words);
      const [data, updates] = [size, count].map((length) => randomTensor(dtype, [length], random));
      const out = guarded(randomTensor(dtype, [size], random));
      const [a, b, c] = [data, indices, updates].map((one) => engine.upload(one));
      const result = engine.scatterND(a, b, c, { reduction, out: out.tensor });
      assertSame(await result.read(), js.scatterND(data, indices, updates, { reduction }), dtype);
      const [bytes] = await readBuffers([out.buffer]);
      assert.ok(areGuards(bytes.subarray(bytesOfTensor(data).length), out.buffer));
      for (const one of [a, b, c]) one.dispose();
      out.buffer.destroy();
    });
  }
}
