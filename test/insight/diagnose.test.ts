/**
 * Wrong results that plain loops make (`support/other-rules.ts`), each with the fault that it comes from: the diagnosis
 * must name it. Two faults that give the same result on a call cannot be told apart, so either is right there.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { diagnose } from "../../src/insight/diagnose/diagnose.ts";
import { DIAGNOSES } from "../../src/insight/diagnose/diagnosis.ts";
import type { NodeSpec } from "../../src/core/call/call.ts";
import type { ErrorCode } from "../../src/core/errors.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { run } from "../../src/core/functions.ts";
import { caseCount } from "../support/cases.ts";
import { f32, i64, onnx, openvino } from "../support/calls.ts";
import { withLimits } from "../support/limits.ts";
import { callOf, elementsOf } from "../support/sample-calls.ts";
import { isInteger, outputShape, round, runWith, type Sample } from "../support/other-rules.ts";
import { hasElements, PAIRS, PLANTED, type Planted } from "../support/planted.ts";
import { reportNamed, reportSentence } from "../support/sentences.ts";
import { assertRefused } from "../support/refusal.ts";
import { fixedRandom, randomFrom, type Random } from "../support/random.ts";

// The shares of right answers that are asserted need so many.
const CALLS = caseCount(40, 4);

test("there is a planted fault for every id", () => {
  const ids = new Set(PLANTED.map(({ id }) => id));
  assert.deepEqual([...ids].toSorted(), [...DIAGNOSES].toSorted());
});

const resultOf = (sample: Sample, values: readonly number[]): Tensor =>
  elementsOf(sample.dtype)(outputShape(sample), values);

const sameValues = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((value, p) => Object.is(value, b[p]));

/** The ids of other faults whose own loops give the same result on a sample. */
function equallyRight(planted: Planted, sample: Sample, wrong: readonly number[]): Set<string> {
  const ids = new Set<string>();
  for (const other of PLANTED) {
    if (other.isRandom || other.isError !== planted.isError) continue;
    for (let seed = 0; seed < 8; seed++) {
      const values = attempt(() => other.wrong(sample, fixedRandom(seed)));
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
    // Limits decide how a fault is found, such as by a sample of the cells.
    const found = withLimits(
      tally.counted,
      () => diagnose(node, inputs, resultOf(sample, wrong)),
      1,
    );
    // No reading of the indices changes a cell of this call: nothing can be seen.
    if (planted.isError && found.length === 0 && sameValues(wrong, runWith(sample))) continue;
    tally.counted++;
    const [first] = found;
    if (first?.id === planted.id) tally.first++;
    const isWhole = first !== undefined && first.cells.explained === first.cells.differing;
    const isTied = planted.isPair && found.some(({ id }) => id === planted.id);
    const isRight = (): boolean =>
      isTied || first.id === planted.id || equallyRight(planted, sample, wrong).has(first.id);
    if (isWhole && isRight()) tally.right++;
    else
      tally.misses.push(
        `${JSON.stringify(sample)} -> ${JSON.stringify(wrong)}: ${JSON.stringify(found)}`,
      );
  }
  return tally;
}

// The share of some dozen calls has no bound that holds for every draw, so these draws and limits are always the same.
for (const [position, planted] of PLANTED.entries()) {
  test(`${planted.id} is found where it was planted`, (context) => {
    const { counted, first, right, misses } = tallyOf(planted, fixedRandom(100 + position));
    context.diagnostic(`${planted.id}: ${right} of ${counted} right, ${first} of them by this id`);
    assert.ok(counted >= 10, `only ${counted} calls show it`);
    assert.ok(right >= 0.95 * counted, misses.slice(0, 3).join("\n"));
  });
}

for (const [position, planted] of PAIRS.entries()) {
  test(`${planted.id} are found together`, (context) => {
    const { counted, first, right, misses } = tallyOf(planted, fixedRandom(300 + position));
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
  for (const [sample, exact] of exactCalls(randomFrom(7), caseCount(20))) {
    const { node, inputs } = callOf(sample);
    const output = run(node, inputs)[0].toArray();
    assert.deepEqual(output, resultOf(sample, exact).toArray(), JSON.stringify(sample));
    assert.deepEqual(diagnose(node, inputs, resultOf(sample, exact)), []);
  }
});

test("random values in random cells are not explained", () => {
  // Chance makes noise a value that a fault gives in one of some thousand calls, so these draws are always the same.
  const random = fixedRandom(8);
  let count = 0;
  for (const [sample, exact] of exactCalls(random, caseCount(30))) {
    const noisy = [...exact];
    const cells = 1 + random(random(2) === 0 ? 1 : noisy.length);
    for (let n = 0; n < cells; n++) noisy[random(noisy.length)] = noise(sample, random);
    if (noisy.length === 0 || sameValues(noisy, exact)) continue;
    const { node, inputs } = callOf(sample);
    count++;
    const found = diagnose(node, inputs, resultOf(sample, noisy));
    assert.deepEqual(found, [], `${JSON.stringify(sample)} -> ${JSON.stringify(noisy)}`);
  }
  assert.ok(count > caseCount(500), `${count}`);
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
  // As above.
  const random = fixedRandom(10);
  let partial = 0;
  for (const planted of PLANTED.filter(({ isError }) => !isError)) {
    for (let count = 0; count < caseCount(20); count++) {
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
  assert.ok(partial > caseCount(100), `${partial}`);
});

/** What a runtime gave, and the explanations as `id explained/differing`. */
type ByHand = readonly [string, NodeSpec, readonly Tensor[], Tensor, string[]];

/** Indices of `count` updates of row 0. */
const inOneCell = (count: number): Tensor =>
  i64(
    [count, 1],
    Array.from({ length: count }, () => 0),
  );

/**
 * The least normal float32 is 2^-126. Of three cells the first is a difference of normal numbers that is 2^-127, the second
 * a sum of two smaller numbers that is normal, and no update reaches the third, which is 2^-130.
 */
const SUBNORMALS = (
  [
    ["operands and results", [0, 0, 2 ** -130], 2],
    ["results", [0, 1.5 * 2 ** -126, 2 ** -130], 1],
    ["operands", [2 ** -127, 0, 2 ** -130], 1],
    ["all elements", [0, 0, 0], 3],
  ] as const
).map(([which, actual, count]): ByHand => [
  `${which} below the least normal float32 that are 0`,
  onnx("ScatterND", 18, { reduction: "add" }),
  [
    f32([3], [1.5 * 2 ** -126, 1.5 * 2 ** -127, 2 ** -130]),
    i64([2, 1], [0, 1]),
    f32([2], [-(2 ** -126), 1.5 * 2 ** -127]),
  ],
  f32([3], [...actual]),
  [`subnormals-flushed ${count}/${count}`],
]);

/** Reductions with `sub`, which only openvino has. */
const SUB = openvino("ScatterNDUpdate", 15, { reduction: "sub" });
const f16 = (values: number[]): Tensor => tensor("float16", [values.length], values);
const S = 2 ** -127;

/** Faults in differences: 100 - 1 - 2 in cell 0, 200 in cell 1, and 300 - 5 - 7 in cell 2. */
const DIFFERENCES = (
  [
    ["that were added", [103, 200, 312], ["other-reduction 2/2"]],
    ["without the last update of a cell", [99, 200, 295], ["lost-updates 2/2"]],
    ["without the first update of a cell", [98, 200, 293], ["lost-updates 2/2"]],
    ["that began with the first update", [-1, 200, -2], ["without-self 2/2"]],
    ["of reversed operands", [-97, 200, -288], []],
  ] as const
).map(([what, actual, expected]): ByHand => [
  `differences ${what}`,
  SUB,
  [f32([3], [100, 200, 300]), i64([4, 1], [0, 0, 2, 2]), f32([4], [1, 2, 5, 7])],
  f32([3], [...actual]),
  [...expected],
]);

/**
 * One sum 1 + 1 in each cell: its error is at most 2 roundings of 2^-24 of the magnitude 2, which is 2^-22, or two steps
 * of a float32 below 2.
 */
const AT_THE_BOUND = ([1, 2, 3] as const).flatMap((steps): ByHand[] => {
  const found = steps <= 2 ? ["rounding 2/2"] : [];
  const wrong = f32([2], [2 - steps * 2 ** -23, 2 - steps * 2 ** -23]);
  const at = i64([2, 1], [0, 1]);
  const ones = f32([2], [1, 1]);
  return [
    [
      `sums ${steps} steps beside`,
      onnx("ScatterND", 18, { reduction: "add" }),
      [ones, at, ones],
      wrong,
      found,
    ],
    [`differences ${steps} steps beside`, SUB, [ones, at, f32([2], [-1, -1])], wrong, found],
  ];
});

/** Calls by hand. */
const BY_HAND: readonly ByHand[] = [
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
    "data that was taken for column-major",
    onnx("Gather", 13),
    [f32([2, 3], [1, 2, 3, 4, 5, 6]), i64([2], [0, 1])],
    f32([2, 3], [1, 3, 5, 2, 4, 6]),
    ["transposed-input 4/4"],
  ],
  [
    "column-major data that was taken for row-major",
    onnx("Gather", 13),
    [f32([2, 3], [1, 2, 3, 4, 5, 6]), i64([2], [0, 1])],
    f32([2, 3], [1, 4, 2, 5, 3, 6]),
    ["transposed-input 4/4"],
  ],
  [
    "all batches of GatherND that came from the first batch of data",
    onnx("GatherND", 13, { batch_dims: 1 }),
    [f32([2, 2, 2], [1, 2, 3, 4, 5, 6, 7, 8]), i64([2, 1, 1], [1, 0])],
    f32([2, 1, 2], [3, 4, 1, 2]),
    ["other-batch-dims 2/2"],
  ],
  [
    "an index of 64 bits that was left out, where none was cut to 32",
    onnx("ScatterND", 18),
    [f32([2], [0, 0]), i64([2, 1], [1, 2]), f32([2], [3, 4])],
    f32([2], [0, 3]),
    ["out-of-range-dropped 1/1", "flat-offset 1/1"],
  ],
  [
    "sums without data's value, all updates of the first cell and one of the second of which were lost",
    openvino("ScatterElementsUpdate", 12, { reduction: "sum", use_init_val: false }),
    [f32([2], [7, 8]), i64([4], [0, 0, 1, 1]), f32([4], [3, 10, 20, 50]), i64([], [0])],
    f32([2], [7, 50]),
    ["lost-updates 2/2"],
  ],
  // One of 8 possible values of 8 bits fits by chance once in 32 results, of two cells once in 1024.
  [
    "an update of three that was lost in one cell of int8, which may be chance",
    onnx("ScatterND", 18, { reduction: "add" }),
    [tensor("int8", [1], [1]), i64([3, 1], [0, 0, 0]), tensor("int8", [3], [3, 10, 40])],
    tensor("int8", [1], [1 + 3 + 40]),
    [],
  ],
  [
    "an update of three that was lost in two cells of int8",
    onnx("ScatterND", 18, { reduction: "add" }),
    [
      tensor("int8", [2], [1, 2]),
      i64([6, 1], [0, 0, 0, 1, 1, 1]),
      tensor("int8", [6], [3, 10, 40, 5, 11, 50]),
    ],
    tensor("int8", [2], [1 + 3 + 40, 2 + 5 + 50]),
    ["lost-updates 2/2"],
  ],
  [
    "one of three updates that stayed in one cell of int8, which may be chance",
    onnx("ScatterND", 18),
    [tensor("int8", [1], [1]), i64([3, 1], [0, 0, 0]), tensor("int8", [3], [3, 10, 40])],
    tensor("int8", [1], [10]),
    [],
  ],
  // Sums of 2048 and more are even in float16. Those of some of six updates are 2060, 2076 and others, and an error of 12 is
  // possible: one of 60 values within 13 numbers of 65,536.
  [
    "a sum of float16 that is near one without the update 81, which may be chance",
    onnx("ScatterND", 18, { reduction: "add" }),
    [tensor("float16", [1], [0]), inOneCell(6), tensor("float16", [6], [1, 3, 9, 27, 81, 2048])],
    tensor("float16", [1], [2070]),
    [],
  ],
  [
    "two sums of float16 that no order of the kept updates gives, as each rounds by at most 1",
    onnx("ScatterND", 18, { reduction: "add" }),
    [
      tensor("float16", [1, 2], [0, 0]),
      inOneCell(6),
      tensor(
        "float16",
        [6, 2],
        [1, 3, 9, 27, 81, 2048].flatMap((one) => [one, one]),
      ),
    ],
    tensor("float16", [1, 2], [2070, 2068]),
    [],
  ],
  // 2048 + 3 is 2051, which rounds to 2052; each further 3 adds 4, where the exact sum is 2060.
  [
    "two sums of float16 without the update 81, in an order that rounds up four times",
    onnx("ScatterND", 18, { reduction: "add" }),
    [
      tensor("float16", [1, 2], [0, 0]),
      inOneCell(6),
      tensor(
        "float16",
        [6, 2],
        [3, 3, 3, 3, 81, 2048].flatMap((one) => [one, one]),
      ),
    ],
    tensor("float16", [1, 2], [2064, 2064]),
    ["lost-updates 2/2"],
  ],
  [
    "a maximum below data's value, which lost updates cannot give",
    onnx("ScatterND", 18, { reduction: "max" }),
    [f32([1], [5]), inOneCell(4), f32([4], [4, 3, 2, 8])],
    f32([1], [3]),
    [],
  ],
  [
    "a minimum above data's value, which lost updates cannot give",
    onnx("ScatterND", 18, { reduction: "min" }),
    [f32([1], [5]), inOneCell(4), f32([4], [6, 7, 9, 2])],
    f32([1], [7]),
    [],
  ],
  [
    "a maximum of NaN that is a number, where lost updates leave the NaN",
    onnx("ScatterND", 18, { reduction: "max" }),
    [f32([1], [NaN]), inOneCell(4), f32([4], [6, 7, 9, 8])],
    f32([1], [7]),
    [],
  ],
  [
    "a minimum of NaN that is a number, where lost updates leave the NaN",
    onnx("ScatterND", 18, { reduction: "min" }),
    [f32([1], [NaN]), inOneCell(4), f32([4], [9, 7, 6, 8])],
    f32([1], [7]),
    [],
  ],
  ...SUBNORMALS,
  ...DIFFERENCES,
  ...AT_THE_BOUND,
  [
    "differences of int64 without two of four updates",
    SUB,
    [i64([2], [200, 50]), i64([4, 1], [0, 0, 0, 0]), i64([4], [1, 2, 4, 8])],
    i64([2], [190, 50]),
    ["lost-updates 1/1"],
  ],
  [
    "differences that were kept in float32: 4096 - 1 is no float16",
    SUB,
    [f16([-2048, 5, 4096]), i64([5, 1], [0, 0, 1, 2, 2]), f16([1, 1, 2, 1, 1])],
    f16([-2050, 3, 4094]),
    ["updates-first 2/2", "wide-accumulation 2/2"],
  ],
  [
    "sums below the least normal float32, and -0, which stays -0 where others become 0 and -0",
    onnx("ScatterND", 18, { reduction: "add" }),
    [
      f32([4], [-S, 1.5 * 2 ** -126, -0, 0]),
      i64([4, 1], [0, 1, 2, 3]),
      f32([4], [-S / 2, -(2 ** -126), -0, -0]),
    ],
    f32([4], [-0, 0, -0, 0]),
    ["subnormals-flushed 2/2"],
  ],
  [
    "all elements below the least normal float32, and -0 that no update reaches",
    onnx("ScatterND", 18, { reduction: "add" }),
    [
      f32([5], [-S, 1.5 * 2 ** -126, -0, -S, -0]),
      i64([3, 1], [0, 1, 2]),
      f32([3], [-S / 2, -(2 ** -126), -0]),
    ],
    f32([5], [-0, 0, -0, -0, -0]),
    ["subnormals-flushed 3/3"],
  ],
  [
    "0 of the other sign is not what flushing makes",
    onnx("ScatterND", 18, { reduction: "add" }),
    [
      f32([3], [-S, 1.5 * 2 ** -126, -0]),
      i64([3, 1], [0, 1, 2]),
      f32([3], [-S / 2, -(2 ** -126), -0]),
    ],
    f32([3], [0, -0, -0]),
    [],
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
    const before = inputs.map((input) => input.toArray());
    const found = diagnose(node, inputs, actual);
    assert.deepEqual(
      inputs.map((input) => input.toArray()),
      before,
    );
    for (const { sentence } of found) reportSentence("diagnosis", sentence);
    const lines = found.map(({ id, cells }) => `${id} ${cells.explained}/${cells.differing}`);
    assert.deepEqual(lines, expected);
  });
}

test("a result of another type or shape than the output's is an error, and so is a call that cannot run", () => {
  const inputs = [f32([2], [0, 0]), i64([1, 1], [0]), f32([1], [1])];
  const fails = (actual: unknown, code: ErrorCode, node = onnx("ScatterND", 18)): void =>
    void assertRefused(code, {}, () => diagnose(node, inputs, actual));
  fails(i64([2], [0, 0]), "dtype");
  fails(f32([1, 2], [0, 0]), "shape-mismatch");
  fails([0, 0], "dtype");
  fails(f32([2], [0, 0]), "attribute", onnx("ScatterND", 18, { axis: 0 }));
});

/** Of updates 4 and 3 of the value 1, in the second of two cells: the fault by a name, or null for none. */
// prettier-ignore
const REDUCTION_ROWS: readonly (readonly [node: NodeSpec, second: number, name: string | null])[] = [
  [onnx("ScatterND", 16, { reduction: "sum" }), 3, "sum ignored"],
  [onnx("ScatterND", 16, { reduction: "sum" }), 8, "sum as add"],
  [onnx("ScatterND", 16, { reduction: "max" }), 3, "max ignored"],
  [onnx("ScatterND", 16, { reduction: "max" }), 4, "max as max"],
  [onnx("ScatterND", 16, { reduction: "max" }), 12, "mul for max"],
  [onnx("ScatterND", 13, { reduction: "add" }), 8, "add as add"],
  [onnx("ScatterND", 18, { reduction: "no such" }), 3, "no such ignored"],
  [onnx("ScatterND", 16, { reduction: "max" }), 7, null],
  [onnx("ScatterND", 16, { reduction: "max" }), 1, null],
];

for (const [node, second, name] of REDUCTION_ROWS) {
  const { opset, attributes } = node;
  test(`ScatterND-${opset} with ${attributes?.["reduction"]} that gave ${second}`, () => {
    const inputs = [f32([2], [0, 1]), i64([2, 1], [1, 1]), f32([2], [4, 3])];
    const found = diagnose(node, inputs, f32([2], [0, second]));
    const cells = { explained: 1, differing: 1 };
    assert.deepEqual(
      found.map((one) => [one.id, one.cells]),
      name === null ? [] : [["other-reduction", cells]],
    );
    for (const { sentence } of found) reportNamed("diagnosis", String(name), sentence);
  });
}

test("only a reduction that is the only fault of a call is looked into", () => {
  const inputs = [f32([2], [0, 1]), i64([1, 1], [1]), f32([1], [4])];
  const fails = (code: ErrorCode, attributes: unknown, given: readonly unknown[] = inputs): void =>
    void assertRefused(code, {}, () =>
      diagnose({ op: "ScatterND", opset: 16, attributes } as never, given, f32([2], [0, 4])),
    );
  fails("attribute", { axis: 1, reduction: "sum" });
  fails("attribute", { reduction: 5 });
  fails("attribute", 7);
  fails("shape-mismatch", { reduction: "sum" }, inputs.slice(0, 2));
  // An index outside its axis beside it is too much.
  const outside = [inputs[0], i64([1, 1], [9]), inputs[2]];
  const node = onnx("ScatterND", 16, { reduction: "sum" });
  assert.deepEqual(diagnose(node, outside, f32([2], [0, 4])), []);
});

test("TensorScatter is no other operator of a call, though the shapes of one may fit it", () => {
  const inputs = [
    f32([2, 3], [1, 2, 3, 4, 5, 6]),
    i64([2], [1, 0]),
    f32([2, 2], [11, 12, 13, 14]),
    i64([], [1]),
  ];
  // Row 0 is written from place 1 on, row 1 from place 0 on.
  const sequences = f32([2, 3], [1, 11, 12, 13, 14, 6]);
  const found = diagnose(openvino("ScatterUpdate", 3), inputs, sequences);
  assert.deepEqual(
    found.filter(({ id }) => id.includes("other-operator")),
    [],
  );
});
