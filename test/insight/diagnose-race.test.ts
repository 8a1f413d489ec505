/** Races that other runs, or what is known of a runtime, have shown: `isRace` and `dialect` of `diagnose`. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { NodeSpec } from "../../src/core/call/call.ts";
import { run } from "../../src/core/functions.ts";
import { diagnose, type DiagnoseOptions } from "../../src/insight/diagnose/diagnose.ts";
import type { DType } from "../../src/core/tensor/dtype.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { f32, i64, onnx, openvino } from "../support/calls.ts";
import { setLimits } from "../support/limits.ts";
import { randomFrom } from "../support/random.ts";
import { assertRefused } from "../support/refusal.ts";

const ORT = "onnxruntime-cpu";

/** Every explanation, as an id and how many of how many cells it explains. */
const idsOf = (
  node: NodeSpec,
  inputs: readonly Tensor[],
  actual: Tensor,
  options: DiagnoseOptions = {},
): string[] =>
  diagnose(node, inputs, actual, options).map(
    ({ id, cells: { explained, differing } }) => `${id} ${explained}/${differing}`,
  );

/** Only openvino has the reduction `sub`. */
const scatter = (reduction: string): NodeSpec =>
  reduction === "sub"
    ? openvino("ScatterNDUpdate", 15, { reduction })
    : onnx("ScatterND", 18, { reduction });

/** `count` updates of each of `cells` cells, in turn. */
const inTurn = (cells: number, count: number): Tensor =>
  i64(
    [cells * count, 1],
    Array.from({ length: cells * count }, (_, n) => n % cells),
  );

const STEPS: Readonly<Record<string, (a: number, b: number) => number>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  max: Math.max,
  min: Math.min,
};

/** The largest or smallest of the updates of one of three cells. */
const extremeOf = (reduction: string, updates: readonly number[], cell: number): number =>
  Math[reduction === "min" ? "min" : "max"](...updates.filter((_, n) => n % 3 === cell));

/** A value of each type that keeps sums and products of 100 others within its range. */
const VALUES: Readonly<Partial<Record<DType, (random: number) => number>>> = {
  float32: (random) => 0.9 + random / 5,
  float64: (random) => 0.9 + random / 5,
  float16: (random) => 0.9 + random / 5,
  int32: (random) => Math.floor(random * 2000) - 1000,
  int64: (random) => Math.floor(random * 2000) - 1000,
};

for (const [dtype, valueOf] of Object.entries(VALUES) as [DType, (random: number) => number][]) {
  for (const reduction of ["add", "sub", "mul", "max", "min"]) {
    if (reduction === "mul" && dtype.startsWith("int")) continue;
    test(`${dtype} ${reduction}: updates that a race lost are the reason, however many a cell has`, () => {
      const random = randomFrom(dtype.length + reduction.length);
      const [cells, count] = [3, 100];
      const make = (length: number): number[] =>
        Array.from({ length }, () => valueOf(random(1e6) / 1e6));
      const data = tensor(dtype, [cells], make(cells) as never);
      const updates = tensor(dtype, [cells * count], make(cells * count) as never);
      // What is read back is rounded to the type.
      const [base, given] = [data, updates].map((one) => (one.toArray() as unknown[]).map(Number));
      const left = [...base];
      for (const [n, update] of given.entries()) {
        // The update that decides a maximum or minimum is always lost, so that the results differ for every seed.
        if (random(5) > 0 || update === extremeOf(reduction, given, n % cells)) continue;
        const step = STEPS[reduction](left[n % cells], update);
        const rounded = tensor(dtype, [1], [step] as never).toArray() as unknown[];
        left[n % cells] = Number(rounded[0]);
      }
      const inputs = [data, inTurn(cells, count), updates];
      const actual = tensor(dtype, [cells], left as never);
      const differing = left.filter(
        (value, n) =>
          value !== Number((run(scatter(reduction), inputs)[0].toArray() as number[])[n]),
      ).length;
      assert.ok(differing > 0);
      assert.deepEqual(idsOf(scatter(reduction), inputs, actual, { dialect: ORT, isRace: true }), [
        `lost-updates ${differing}/${differing}`,
      ]);
    });
  }
}

/** 100 updates of 0.5 and 100 of -0.25 of one cell, which is 1: from -24 to 51. */
const sum = {
  node: scatter("add"),
  inputs: [
    f32([2], [1, 1]),
    i64(
      [200, 1],
      Array.from({ length: 200 }, () => 0),
    ),
    f32(
      [200],
      Array.from({ length: 200 }, (_, n) => (n % 2 === 0 ? 0.5 : -0.25)),
    ),
  ],
};

// prettier-ignore
const POSSIBLE: readonly (readonly [title: string, values: readonly number[], ids: readonly string[]])[] = [
  ["the least sum", [-24, 1], ["lost-updates 1/1"]],
  ["less than the least sum", [-24.01, 1], []],
  ["the greatest sum", [51, 1], ["lost-updates 1/1"]],
  ["more than the greatest sum", [51.01, 1], []],
  ["a number that is none", [NaN, 1], []],
  ["a cell without updates", [26, 2], []],
];

for (const [title, values, ids] of POSSIBLE) {
  test(`a race of sums: ${title}`, () => {
    const options = { dialect: ORT, isRace: true } as const;
    assert.deepEqual(idsOf(sum.node, sum.inputs, f32([2], [...values]), options), ids);
  });
}

test("a target of one update does not race", () => {
  const inputs = [f32([2], [1, 1]), i64([3, 1], [0, 0, 1]), f32([3], [2, 4, 8])];
  const lost = f32([2], [3, 5]);
  const options = { dialect: ORT, isRace: true } as const;
  assert.deepEqual(idsOf(scatter("add"), inputs, lost, options), ["lost-updates 1/2"]);
});

test("a maximum in a race is one of the values, and a sum of whole numbers a whole number", () => {
  const indices = i64([3, 1], [0, 0, 0]);
  const options = { dialect: ORT, isRace: true } as const;
  const of = (reduction: string, value: number): string[] =>
    idsOf(
      scatter(reduction),
      [f32([1], [1]), indices, f32([3], [2, 4, 8])],
      f32([1], [value]),
      options,
    );
  assert.deepEqual(of("max", 4), ["lost-updates 1/1"]);
  assert.deepEqual(of("max", 1), ["lost-updates 1/1"]);
  assert.deepEqual(of("max", 5), []);
  assert.deepEqual(of("add", 11), ["lost-updates 1/1"]);
  assert.deepEqual(of("add", 11.5), []);
});

test("sums that overflow may be anything, and so may those of NaN and infinities", () => {
  const options = { dialect: ORT, isRace: true } as const;
  const indices = i64([2, 1], [0, 0]);
  const of = (dtype: DType, updates: readonly unknown[], value: unknown): string[] =>
    idsOf(
      scatter("add"),
      [tensor(dtype, [1], [1] as never), indices, tensor(dtype, [2], updates as never)],
      tensor(dtype, [1], [value] as never),
      options,
    );
  assert.deepEqual(of("int8", [100, 100], -101), ["lost-updates 1/1"]);
  assert.deepEqual(of("int8", [20, 20], -101), []);
  assert.deepEqual(of("int64", [2n ** 62n, 2n ** 62n], -5n), ["lost-updates 1/1"]);
  assert.deepEqual(of("int64", [5n, 5n], -5n), []);
  assert.deepEqual(of("float16", [60000, 60000], 60000), ["lost-updates 1/1"]);
  assert.deepEqual(of("float32", [NaN, 3], 4), ["lost-updates 1/1"]);
  assert.deepEqual(of("float32", [Infinity, -Infinity], Infinity), ["lost-updates 1/1"]);
});

test("each step of a sum may be rounded up, so the sum may be more than all updates together", () => {
  // From 2^24 on float32 has even numbers alone: each 1.5 adds 2.
  const updates = f32(
    [11],
    Array.from({ length: 11 }, () => 1.5),
  );
  const indices = i64(
    [11, 1],
    Array.from({ length: 11 }, () => 0),
  );
  const inputs = [f32([1], [2 ** 24]), indices, updates];
  assert.deepEqual(run(scatter("add"), inputs)[0].toArray(), [2 ** 24 + 22]);
  const options = { dialect: ORT, isRace: true } as const;
  const lost = f32([1], [2 ** 24 + 20]);
  assert.deepEqual(idsOf(scatter("add"), inputs, lost, options), ["lost-updates 1/1"]);
});

test("sums of uint64 beyond int64 are found without their lost updates", () => {
  const long = (...values: bigint[]): Tensor => tensor("uint64", [values.length], values);
  const inputs = [long(0n), i64([3, 1], [0, 0, 0]), long(2n ** 63n, 5n, 9n)];
  const ids = idsOf(scatter("add"), inputs, long(2n ** 63n + 5n));
  assert.deepEqual(ids, ["lost-updates 1/1"]);
});

/** Three updates of one cell, the last of which is small: without it the sum is right within rounding. */
const nearly = [f32([1], [1]), i64([3, 1], [0, 0, 0]), f32([3], [2 ** 20, 2 ** -4, 2 ** -3])];

test("a race of ONNX Runtime is never rounding; of an unknown runtime it is rounding where that is enough", () => {
  const [exact] = run(scatter("add"), nearly)[0].toArray() as number[];
  const less = f32([1], [exact - 2 ** -3]);
  const of = (options: DiagnoseOptions): string[] =>
    idsOf(scatter("add"), nearly, less, options).map((one) => one.split(" ")[0]);
  assert.deepEqual(of({ dialect: ORT, isRace: true }), ["lost-updates"]);
  assert.deepEqual(of({ isRace: true }), ["rounding", "lost-updates"]);
  assert.deepEqual(of({ dialect: "jax", isRace: true }), ["rounding"]);
});

const twice = [f32([2], [0, 0]), i64([2, 1], [0, 0]), f32([2], [5, 6])];

test("what is the same in every run is no reason for what changes", () => {
  const first = f32([2], [5, 0]);
  const of = (options: DiagnoseOptions): string[] => idsOf(scatter("none"), twice, first, options);
  assert.equal(of({})[0], "first-wins 1/1");
  assert.equal(of({ isRace: false, dialect: ORT })[0], "first-wins 1/1");
  assert.deepEqual(of({ isRace: true, dialect: ORT }), ["any-order 1/1"]);
  assert.deepEqual(of({ isRace: true }), ["any-order 1/1"]);
  // 7 is no update; no race explains it.
  assert.deepEqual(idsOf(scatter("none"), twice, f32([2], [7, 0]), { isRace: true }), []);
});

test("a maximum with NaN in ONNX Runtime is named by what the runtime does", () => {
  const inputs = [f32([1], [1]), i64([2, 1], [0, 0]), f32([2], [NaN, 5])];
  const of = (options: DiagnoseOptions): string[] =>
    idsOf(scatter("max"), inputs, f32([1], [5]), options);
  assert.ok(of({}).includes("other-reduction 1/1"));
  assert.equal(of({ dialect: ORT })[0], "nan-one-operand 1/1");
  assert.deepEqual(of({ dialect: ORT }).toSorted(), of({}).toSorted());
});

/** Updates of one cell by many different values, of which every other one is lost. */
function many(count: number): { readonly inputs: Tensor[]; readonly actual: Tensor } {
  const values = Array.from({ length: count }, (_, n) => 1 + ((n * 617) % 1009) / 1009);
  const kept = values.filter((_, n) => n % 2 === 0).reduce((a, b) => Math.fround(a + b), 0);
  const inputs = [
    f32([1], [0]),
    i64(
      [count, 1],
      values.map(() => 0),
    ),
    f32([count], values),
  ];
  return { inputs, actual: f32([1], [kept]) };
}

test("from 10,001 updates on ONNX Runtime is known to race, so no other run need show it", () => {
  const restore = setLimits({ DIAGNOSE: { steps: 1000 } });
  try {
    const of = (count: number, options: DiagnoseOptions): string[] => {
      const { inputs, actual } = many(count);
      return idsOf(scatter("add"), inputs, actual, options);
    };
    assert.deepEqual(of(10_001, { dialect: ORT }), ["lost-updates 1/1"]);
    assert.deepEqual(of(10_000, { dialect: ORT }), []);
    assert.deepEqual(of(10_000, { dialect: ORT, isRace: true }), ["lost-updates 1/1"]);
    assert.deepEqual(of(10_001, { dialect: ORT, isRace: false }), []);
    assert.deepEqual(of(10_001, { dialect: "numpy" }), []);
    assert.deepEqual(of(10_001, {}), []);
  } finally {
    restore();
  }
});

/** A cell of `updates`, all of them different, of which the first is lost. */
function lossOf(updates: readonly number[]): {
  readonly inputs: Tensor[];
  readonly actual: Tensor;
} {
  const zeros = updates.map(() => 0);
  const inputs = [
    f32([1], [0]),
    i64([updates.length, 1], zeros),
    f32([updates.length], [...updates]),
  ];
  return { inputs, actual: f32([1], [updates.slice(1).reduce((a, b) => a + b, 0)]) };
}

// 4 different updates give 16 sums, by 2 + 4 + 8 + 16 steps; 3 and twice 100 give 2 + 6.
// prettier-ignore
const PATIENCE: readonly (readonly [updates: readonly number[], limits: object, isFound: boolean])[] = [
  [[3, 10, 40, 200], { values: 16 }, true],
  [[3, 10, 40, 200], { values: 15 }, false],
  [[3, 10, 40, 200], { steps: 30 }, true],
  [[3, 10, 40, 200], { steps: 29 }, false],
  [[3, 100, 100], { values: 6 }, true],
  [[3, 100, 100], { values: 5 }, false],
  [[3, 100, 100], { steps: 8 }, true],
  [[3, 100, 100], { steps: 7 }, false],
  // Of 2 + 2 = 1 + 3 only one is kept: 8 sums of three become 7 before the fourth.
  [[1, 2, 3, 40], { values: 14 }, true],
  [[1, 2, 3, 40], { values: 13 }, false],
];

for (const [updates, limits, isFound] of PATIENCE) {
  test(`an update of ${updates.join(", ")} was lost: ${JSON.stringify(limits)}`, () => {
    const { inputs, actual } = lossOf(updates);
    const restore = setLimits({ DIAGNOSE: limits });
    try {
      assert.equal(idsOf(scatter("add"), inputs, actual).includes("lost-updates 1/1"), isFound);
    } finally {
      restore();
    }
  });
}

test("a fault that explains all comes before a race that is only known of the runtime", () => {
  const { inputs } = many(10_001);
  // No update was applied.
  const ids = idsOf(scatter("add"), inputs, f32([1], [0]), { dialect: ORT });
  assert.equal(ids[0], "not-applied 1/1");
});

test("what a dialect is not known to do comes after what it is known to do", () => {
  const inputs = [f32([2], [1, 2]), i64([1, 1], [-1]), f32([1], [7])];
  const all = diagnose(onnx("ScatterND", 18), inputs, f32([2], [1, 2]), {
    dialect: "tensorflow-gpu",
  });
  assert.equal(all[0].id, "negative-dropped");
  assert.ok(all[0].dialects.includes("tensorflow-gpu"));
});

const REFUSED: Readonly<Record<string, object>> = {
  "an unknown dialect": { dialect: "abacus" },
  "isRace as a number": { isRace: 1 },
  "an unknown option": { runs: 5 },
};

for (const [name, options] of Object.entries(REFUSED)) {
  test(`refused: ${name}`, () => {
    const [inputs, actual] = [twice, f32([2], [5, 0])];
    assertRefused("attribute", { op: "ScatterND", opset: 18 }, () =>
      diagnose(scatter("none"), inputs, actual, options),
    );
  });
}
