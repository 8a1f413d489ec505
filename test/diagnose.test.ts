/**
 * Wrong results that plain loops make (`support/other-rules.ts`), each with the fault that it comes from: the diagnosis
 * must name it. Two faults that give the same result on a call cannot be told apart, so either is right there.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { diagnose } from "../src/diagnose/diagnose.ts";
import { DIAGNOSES } from "../src/diagnose/diagnosis.ts";
import type { NodeSpec } from "../src/call/call.ts";
import { tensor, type Tensor } from "../src/tensor/tensor.ts";
import { run } from "../src/call/run.ts";
import { f32, i64, onnx, openvino } from "./support/calls.ts";
import { callOf, elementsOf } from "./support/sample-calls.ts";
import { isInteger, outputShape, round, runWith, type Sample } from "./support/other-rules.ts";
import { hasElements, PAIRS, PLANTED, type Planted } from "./support/planted.ts";
import { randomFrom, type Random } from "./support/random.ts";

const CALLS = 40;

test("there is a planted fault for every id", () => {
  const ids = new Set(PLANTED.map(({ id }) => id));
  assert.deepEqual([...ids].toSorted(), [...DIAGNOSES].toSorted());
});

const resultOf = (sample: Sample, values: readonly number[]): Tensor =>
  elementsOf(sample.dtype)(outputShape(sample), values);

const sameValues = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((value, p) => Object.is(value, b[p]));

/** The ids whose own loops give the same result on a sample. */
function equallyRight(planted: Planted, sample: Sample, wrong: readonly number[]): Set<string> {
  const ids = new Set([planted.id]);
  for (const other of PLANTED) {
    if (other.isRandom || other.isError !== planted.isError) continue;
    for (let seed = 0; seed < 8; seed++) {
      const values = attempt(() => other.wrong(sample, randomFrom(seed)));
      if (values !== null && sameValues(values, wrong)) ids.add(other.id);
    }
  }
  return ids;
}

/** Not every fault can be planted in every call. */
function attempt<T>(action: () => T | null): T | null {
  try {
    return action();
  } catch {
    return null;
  }
}

/** A product may be beyond the integers that the loops compute with. */
const areExact = ({ dtype }: Sample, values: readonly number[]): boolean =>
  !isInteger(dtype) || values.every((value) => Number.isSafeInteger(value));

interface Tally {
  counted: number;
  first: number;
  right: number;
  readonly misses: string[];
}

function tallyOf(planted: Planted, random: Random): Tally {
  const tally: Tally = { counted: 0, first: 0, right: 0, misses: [] };
  for (let tries = 0; tries < 4000 && tally.counted < CALLS; tries++) {
    const sample = planted.sample(random);
    const wrong = hasElements(sample) ? planted.wrong(sample, random) : null;
    if (wrong === null || !areExact(sample, wrong)) continue;
    if (!planted.isError && sameValues(wrong, runWith(sample))) continue;
    const { node, inputs } = callOf(sample);
    const found = diagnose(node, inputs, resultOf(sample, wrong));
    // No reading of the indices changes a cell of this call: nothing can be seen.
    if (planted.isError && found.length === 0 && sameValues(wrong, runWith(sample))) continue;
    tally.counted++;
    const [first] = found;
    if (first?.id === planted.id) tally.first++;
    const isWhole = first !== undefined && first.cells.explained === first.cells.differing;
    const isTied = planted.isPair && found.some(({ id }) => id === planted.id);
    if (isWhole && (isTied || equallyRight(planted, sample, wrong).has(first.id))) tally.right++;
    else
      tally.misses.push(
        `${JSON.stringify(sample)} -> ${JSON.stringify(wrong)}: ${JSON.stringify(found)}`,
      );
  }
  return tally;
}

for (const [position, planted] of PLANTED.entries()) {
  test(`${planted.id} is found where it was planted`, (context) => {
    const { counted, first, right, misses } = tallyOf(planted, randomFrom(100 + position));
    context.diagnostic(`${planted.id}: ${right} of ${counted} right, ${first} of them by this id`);
    assert.ok(counted >= 10, `only ${counted} calls show it`);
    assert.ok(right >= 0.95 * counted, misses.slice(0, 3).join("\n"));
  });
}

for (const [position, planted] of PAIRS.entries()) {
  test(`${planted.id} are found together`, (context) => {
    const { counted, first, right, misses } = tallyOf(planted, randomFrom(300 + position));
    context.diagnostic(`${planted.id}: ${right} of ${counted} right, ${first} of them by this id`);
    assert.ok(right >= 0.8 * counted, misses.slice(0, 3).join("\n"));
  });
}

/** Calls of all kinds that are no errors, with their exact results. */
function* exactCalls(random: Random, each: number): Generator<[Sample, number[]]> {
  for (const planted of PLANTED.filter(({ isError }) => !isError)) {
    for (let count = 0; count < each; count++) {
      const sample = planted.sample(random);
      const exact = runWith(sample);
      if (areExact(sample, exact)) yield [sample, exact];
    }
  }
}

test("the loops and the library agree where nothing is planted, and nothing is explained", () => {
  for (const [sample, exact] of exactCalls(randomFrom(7), 20)) {
    const { node, inputs } = callOf(sample);
    const output = run(node, inputs)[0].toArray();
    assert.deepEqual(output, resultOf(sample, exact).toArray(), JSON.stringify(sample));
    assert.deepEqual(diagnose(node, inputs, resultOf(sample, exact)), []);
  }
});

test("random values in random cells are not explained", () => {
  const random = randomFrom(8);
  let count = 0;
  for (const [sample, exact] of exactCalls(random, 30)) {
    const noisy = [...exact];
    const cells = 1 + random(random(2) === 0 ? 1 : noisy.length);
    for (let n = 0; n < cells; n++) noisy[random(noisy.length)] = noise(sample, random);
    if (noisy.length === 0 || sameValues(noisy, exact)) continue;
    const { node, inputs } = callOf(sample);
    count++;
    const found = diagnose(node, inputs, resultOf(sample, noisy));
    assert.deepEqual(found, [], `${JSON.stringify(sample)} -> ${JSON.stringify(noisy)}`);
  }
  assert.ok(count > 500, `${count}`);
});

/** Any value that the type holds and the call does not: one of the call's own would be no noise. */
function noise(sample: Sample, random: Random): number {
  const { dtype, data, updates } = sample;
  const size = dtype === "float16" ? 2 ** (random(20) - 5) : 2 ** (random(60) - 30);
  const value = isInteger(dtype)
    ? round(dtype, random(2 ** 31) - random(2 ** 31))
    : round(dtype, (random(2 ** 32) / 2 ** 31 - 1) * size);
  const isOwn = data.values.includes(value) || updates.values.includes(value);
  return isOwn ? noise(sample, random) : value;
}

test("a fault and noise give a partial explanation, or none", () => {
  const random = randomFrom(9);
  let partial = 0;
  for (const planted of PLANTED.filter(({ isError }) => !isError)) {
    for (let count = 0; count < 20; count++) {
      const sample = planted.sample(random);
      const wrong = planted.wrong(sample, random);
      if (
        wrong === null ||
        !areExact(sample, wrong) ||
        wrong.length === 0 ||
        sameValues(wrong, runWith(sample))
      )
        continue;
      const cell = random(wrong.length);
      wrong[cell] = noise(sample, random);
      const { node, inputs } = callOf(sample);
      const found = diagnose(node, inputs, resultOf(sample, wrong));
      for (const { cells } of found)
        assert.ok(cells.explained < cells.differing, JSON.stringify(sample));
      if (found.length > 0) partial++;
    }
  }
  assert.ok(partial > 100, `${partial}`);
});

/** Calls by hand: what a runtime gave, and the explanations as `id explained/differing`. */
const BY_HAND: readonly (readonly [string, NodeSpec, readonly Tensor[], Tensor, string[]])[] = [
  [
    "a slice of TensorScatter written where batch 0 has it",
    onnx("TensorScatter", 24),
    [f32([2, 3, 1], [0, 0, 0, 0, 0, 0]), f32([2, 1, 1], [7, 8]), i64([2], [0, 2])],
    f32([2, 3, 1], [7, 0, 0, 8, 0, 0]),
    ["batch-zero 2/2"],
  ],
  [
    "batches of OpenVINO's Gather that all have the indices of batch 0",
    openvino("Gather", 8, { batch_dims: 1 }),
    [f32([2, 3], [1, 2, 3, 4, 5, 6]), i64([2, 2], [0, 1, 2, 2]), i64([], [1])],
    f32([2, 2], [1, 2, 4, 5]),
    ["batch-zero 2/2"],
  ],
  [
    "an index of OpenVINO's Gather that was clipped, where the version fills with 0",
    openvino("Gather", 8),
    [f32([3], [1, 2, 3]), i64([2], [0, 3]), i64([], [0])],
    f32([2], [1, 3]),
    ["out-of-range-clipped 1/1"],
  ],
  [
    "a negative index of Gather-1, which takes none, that was counted from the back",
    onnx("Gather", 1),
    [f32([3], [1, 2, 3]), i64([2], [0, -1])],
    f32([2], [1, 3]),
    ["negative-counted 2/2"],
  ],
  [
    "texts of which the first one stays",
    onnx("ScatterND", 18),
    [tensor("string", [2], ["a", "b"]), i64([2, 1], [0, 0]), tensor("string", [2], ["c", "d"])],
    tensor("string", [2], ["c", "b"]),
    ["first-wins 1/1"],
  ],
  [
    "complex numbers that were multiplied, not added",
    onnx("ScatterND", 18, { reduction: "add" }),
    [tensor("complex64", [1], [[1, 1]]), i64([1, 1], [0]), tensor("complex64", [1], [[0, 2]])],
    tensor("complex64", [1], [[-2, 2]]),
    ["other-reduction 1/1"],
  ],
  [
    "a NaN with a payload, which is no difference",
    onnx("ScatterND", 18, { reduction: "add" }),
    [f32([1], [NaN]), i64([1, 1], [0]), f32([1], [1])],
    tensor("float32", [1], new Float32Array(Uint32Array.of(0x7fc00001).buffer)),
    [],
  ],
  [
    "half of the cells by one fault, the other half by none",
    onnx("ScatterND", 18),
    [f32([4], [0, 0, 0, 0]), i64([4, 1], [0, 0, 1, 1]), f32([4], [1, 2, 3, 4])],
    f32([4], [1, 3, 77, 78]),
    ["first-wins 2/4", "any-order 2/4"],
  ],
  [
    "fewer than half",
    onnx("ScatterND", 18),
    [f32([4], [0, 0, 0, 0]), i64([4, 1], [0, 0, 1, 1]), f32([4], [1, 2, 3, 4])],
    f32([4], [1, 99, 77, 78]),
    [],
  ],
];

for (const [title, node, inputs, actual, expected] of BY_HAND) {
  test(title, () => {
    const found = diagnose(node, inputs, actual);
    const lines = found.map(({ id, cells }) => `${id} ${cells.explained}/${cells.differing}`);
    assert.deepEqual(lines, expected);
  });
}

test("a result of another type or shape than the output's is an error, and so is a call that cannot run", () => {
  const inputs = [f32([2], [0, 0]), i64([1, 1], [0]), f32([1], [1])];
  const fails = (actual: unknown, code: string, node = onnx("ScatterND", 18)): void =>
    assert.throws(() => diagnose(node, inputs, actual), { name: "TensorError", code });
  fails(i64([2], [0, 0]), "dtype");
  fails(f32([1, 2], [0, 0]), "shape-mismatch");
  fails([0, 0], "dtype");
  fails(f32([2], [0, 0]), "attribute", onnx("ScatterND", 18, { axis: 0 }));
});
