/**
 * The kernels in JavaScript against the reference: every data type with every reduction, on values that arithmetic
 * trips over and on indices that come in runs, blocks and constant rows. Shapes are drawn in `properties.test.ts`.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { EXECUTOR, runPlain } from "../../src/core/call/run.ts";
import { createEngine } from "../../src/core/create-engine.ts";
import { gatherElements, scatterElements } from "../../src/core/operators/elements.ts";
import { gatherND, scatterND } from "../../src/core/operators/tuples.ts";
import { gather } from "../../src/core/operators/slices.ts";
import type { Operator } from "../../src/core/operators/operator.ts";
import { DTYPE_NAMES, reductionsOf } from "../../src/core/tensor/dtype.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { Tensor } from "../../src/core/tensor/tensor.ts";
import { withLimits } from "../support/limits.ts";
import { indicesOf, PATTERNS, type Pattern } from "../support/patterns.ts";
import { randomFrom, randomTensor, seedOf, type Random } from "../support/random.ts";
import * as reference from "../support/reference.ts";

const { [EXECUTOR]: js } = createEngine({ kind: "js" });
let seed = seedOf("kernels");

/** Elements per update: one, a few, and an odd number that is long enough to be moved by `set`. */
const SLICES = [1, 1, 3, 17] as const;

const INDEX_TYPES = ["int32", "int64"] as const;

let turn = 0;

/** With other limits each time. */
function check(operator: Operator, inputs: readonly Tensor[], options: object, expected: Tensor) {
  const result = withLimits(turn++, () => runPlain(js, operator, inputs, options));
  if (!equals(result, expected)) assert.fail(`${inputs.join("; ")}: ${result} is not ${expected}`);
}

/** Four orders of indices; all of them come among the data types and reductions. */
function drawn(random: Random): Pattern[] {
  const patterns = Object.values(PATTERNS);
  const first = random(patterns.length);
  return [0, 1, 2, 3].map((next) => patterns[(first + 2 * next) % patterns.length]);
}

/** A part of a longer array, so that views begin at odd places. */
function shifted({ dtype, shape, size, data }: Tensor): Tensor {
  if (Array.isArray(data)) return new Tensor(dtype, shape, size, data);
  const longer = new (data.constructor as Uint8ArrayConstructor)(data.length + 3);
  longer.set(data as Uint8Array, 3);
  return new Tensor(dtype, shape, size, longer.subarray(3) as never);
}

for (const dtype of DTYPE_NAMES) {
  for (const reduction of reductionsOf(dtype)) {
    test(`${dtype} ${reduction} of slices`, () => {
      const random = randomFrom(seed++);
      for (const pattern of drawn(random)) {
        const slice = SLICES[random(SLICES.length)];
        const [dims, count] = [[9, slice], slice === 17 ? 6 : 12];
        const indexType = INDEX_TYPES[random(2)];
        const indices = indicesOf(indexType, pattern, [count, 1], dims.slice(0, 1), random);
        const data = shifted(randomTensor(dtype, dims, random));
        const updates = shifted(randomTensor(dtype, [count, slice], random));
        const expected = reference.scatterND(data, indices, updates, reduction);
        check(scatterND, [data, indices, updates], { reduction }, expected);
      }
    });

    test(`${dtype} ${reduction} of elements`, () => {
      const random = randomFrom(seed++);
      for (const pattern of drawn(random)) {
        const axis = random(2);
        const shape = [4, 5];
        const indices = indicesOf("int32", pattern, shape, [shape[axis]], random);
        const data = randomTensor(dtype, shape, random);
        const updates = randomTensor(dtype, shape, random);
        const expected = reference.scatterElements(data, indices, updates, axis, reduction);
        check(scatterElements, [data, indices, updates], { axis, reduction }, expected);
      }
    });

    test(`${dtype} ${reduction} of rows that hold one index each`, () => {
      const random = randomFrom(seed++);
      const rows = [random(6), random(6), random(6), 2, 3, 4];
      const indices = new Tensor(
        "int32",
        [6, 3],
        18,
        Int32Array.from(rows.flatMap((row) => [row, row, row])),
      );
      const data = randomTensor(dtype, [6, 4], random);
      const updates = randomTensor(dtype, [6, 3], random);
      for (const policies of [{}, { includeSelf: false }]) {
        const expected = reference.scatterElements(data, indices, updates, 0, reduction, policies);
        const options = { axis: 0, reduction, ...policies };
        check(scatterElements, [data, indices, updates], options, expected);
      }
    });
  }

  test(`${dtype} is gathered`, () => {
    const random = randomFrom(seed++);
    for (const pattern of drawn(random)) {
      const slice = SLICES[random(SLICES.length)];
      const data = shifted(randomTensor(dtype, [2, 7, slice], random));
      const pairs = indicesOf(INDEX_TYPES[random(2)], pattern, [10, 2], [2, 7], random);
      check(gatherND, [data, pairs], {}, reference.gatherND(data, pairs, 0));
      const own = indicesOf("int32", pattern, [2, 6, 1], [7], random);
      check(gatherND, [data, own], { batchDims: 1 }, reference.gatherND(data, own, 1));
      const rows = indicesOf("int64", pattern, [9], [7], random);
      check(gather, [data, rows], { axis: 1 }, reference.gather(data, rows, 1, 0));
      const places = indicesOf("int32", pattern, [2, 5, slice], [7], random);
      check(gatherElements, [data, places], { axis: 1 }, reference.gatherElements(data, places, 1));
    }
  });
}
