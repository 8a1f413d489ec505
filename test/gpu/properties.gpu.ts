/** Random calls of every kind, in every way, against the slow definition. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import fc from "fast-check";
import { FUNCTIONS } from "../../src/core/operators/registry.ts";
import {
  DTYPE_NAMES,
  reductionsOf,
  type DType,
  type Reduction,
} from "../../src/core/tensor/dtype.ts";
import {
  arbitraryShape,
  gatherCase,
  gatherElementsCase,
  gatherNDCase,
  scatterElementsCase,
  scatterNDCase,
  tensorScatterCase,
  type Case as RandomCase,
  type Shapes,
} from "../support/random-calls.ts";
import { hasArithmetic } from "./gpu.ts";
import type { Case, Name } from "../support/ways.ts";
import { goAll } from "./ways.ts";
import { seedOf } from "../support/random.ts";

const seed = seedOf("properties");
const INDEX_TYPES = ["int32", "int64"] as const;

/** Of each data type, reduction, operator and type of indices. */
const SCATTERS = 3;
const GATHERS = 4;

let calls = 0;

const nameOf = ({ operator }: RandomCase): Name =>
  Object.entries(FUNCTIONS).find(([, one]) => one === operator)?.[0] as Name;

const caseOf = (one: RandomCase, name: string): Case => ({
  name: `${name} ${JSON.stringify(one.attributes)}`,
  operator: nameOf(one),
  inputs: one.inputs,
  options: one.attributes,
  expected: one.expected,
});

type Make = (shapes: Shapes) => RandomCase;

/** Cases of one kind. Their shapes differ from kind to kind. */
function casesOf(count: number, kind: string, make: Make): Case[] {
  const own = [...kind].reduce((sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0), seed);
  return fc
    .sample(arbitraryShape, { seed: own, numRuns: count })
    .map((shapes) => caseOf(make(shapes), `${kind} ${JSON.stringify(shapes)}`));
}

const moves = (dtype: DType): Case[] => [
  ...INDEX_TYPES.flatMap((type) =>
    [gatherNDCase, gatherElementsCase, gatherCase].flatMap((make) =>
      casesOf(GATHERS, `${dtype} ${type} ${make.name}`, (shapes) => make(dtype, type, shapes)),
    ),
  ),
  ...casesOf(GATHERS, `${dtype} tensorScatter`, (shapes) => tensorScatterCase(dtype, shapes)),
];

const scatters = (dtype: DType, reduction: Reduction): Case[] =>
  INDEX_TYPES.flatMap((type) =>
    [scatterNDCase, scatterElementsCase].flatMap((make) =>
      casesOf(SCATTERS, `${dtype} ${type} ${reduction} ${make.name}`, (shapes) =>
        make(dtype, reduction, type, shapes),
      ),
    ),
  );

for (const dtype of DTYPE_NAMES.filter((name) => name !== "string")) {
  test(`gathers and sequences of ${dtype}`, async () => {
    calls += await goAll(moves(dtype));
  });
  for (const reduction of reductionsOf(dtype)) {
    if (reduction !== "none" && !hasArithmetic(dtype)) continue;
    test(`scatters of ${dtype} by ${reduction}`, async () => {
      calls += await goAll(scatters(dtype, reduction));
    });
  }
}

after(() => assert.ok(calls >= 5000, `only ${calls} calls were made`));
