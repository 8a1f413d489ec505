/** Plans of the four ways to make offsets, worked out by hand, and what holds of every Plan. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { EXECUTOR } from "../../src/core/call/run.ts";
import type { Engine } from "../../src/core/create-engine.ts";
import type { TensorError } from "../../src/core/errors.ts";
import { readIndices } from "../../src/core/kernels/read-indices.ts";
import type { Bounds, IndexJob, IndexRules } from "../../src/core/plan/indices.ts";
import { absoluteOffsets, without, type Plan } from "../../src/core/plan/plan.ts";
import { gatherElements } from "../../src/core/operators/elements.ts";
import type { Operator, Settings } from "../../src/core/operators/operator.ts";
import { tensorScatter } from "../../src/core/operators/sequences.ts";
import { settingsOf } from "../../src/core/operators/settings.ts";
import { gather } from "../../src/core/operators/slices.ts";
import { gatherND } from "../../src/core/operators/tuples.ts";
import type { DType } from "../../src/core/tensor/dtype.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { product } from "../../src/core/tensor/shape.ts";
import { ENGINES } from "../support/engines.ts";
import { withLimits } from "../support/limits.ts";
import { indicesOf, PATTERNS } from "../support/patterns.ts";
import { randomFrom } from "../support/random.ts";
import { assertRefused, type Facts } from "../support/refusal.ts";

type Shape = readonly number[];
type Values = readonly (number | bigint)[];

const rulesFor = (bounds: Bounds, negative = true): IndexRules => ({
  negative,
  bounds,
  merge: false,
});
const strict = rulesFor("error");

const ints = (shape: Shape, values: Values, dtype: DType = "int64"): Tensor =>
  tensor(dtype, shape, values as number[]);

/** Rules, and which function reads indices. */
type Reading = IndexRules & { readonly read?: typeof readIndices };

/** Reads indices with the planner of an operator. */
function planOf(
  operator: Operator,
  indices: Tensor,
  data: Shape,
  settings: Partial<Settings>,
  { read = readIndices, ...rules }: Reading,
  updates?: Shape,
): Plan {
  const { versions } = operator;
  const version = versions[versions.length - 1];
  const call = {
    version,
    settings: { ...settingsOf(version, versions, {}, {}), ...settings },
    fields: {},
  };
  return operator.planner({ data, indices: indices.shape, updates }, call, rules)(indices, read);
}

const planTuples = (indices: Tensor, data: Shape, batchDims: number, rules: Reading): Plan =>
  planOf(gatherND, indices, data, { batchDims }, rules);
const planSlices = (
  indices: Tensor,
  data: Shape,
  axis: number,
  batchDims: number,
  rules: Reading,
): Plan => planOf(gather, indices, data, { axis, batchDims }, rules);
const planElements = (indices: Tensor, data: Shape, axis: number, rules: Reading): Plan =>
  planOf(gatherElements, indices, data, { axis }, rules);

const tuples = (
  data: Shape,
  shape: Shape,
  values: Values,
  batchDims = 0,
  rules: Reading = strict,
) => planTuples(ints(shape, values), data, batchDims, rules);
const slices = (
  data: Shape,
  shape: Shape,
  values: Values,
  at: Shape = [0, 0],
  rules: Reading = strict,
) => planSlices(ints(shape, values), data, at[0], at[1], rules);
const elements = (
  data: Shape,
  shape: Shape,
  values: Values,
  axis: number,
  rules: Reading = strict,
) => planElements(ints(shape, values), data, axis, rules);
const sequences = (
  data: Shape,
  values: Values,
  axis: number,
  length: number,
  isCircular = false,
  rules = strict,
): Plan => {
  const updates = data.map((dim, d) => (d === axis ? length : dim));
  const settings = { axis, mode: isCircular ? "circular" : "linear" } as const;
  return planOf(tensorScatter, ints([values.length], values), data, settings, rules, updates);
};

/** Slice, count, span and batches of a Plan, and its lanes where it has them. */
type Counts = readonly [
  slice: number,
  count: number,
  span: number,
  batches: number,
  lanes?: number,
];
type Row = readonly [says: string, plan: Plan, counts: Counts, offsets: Shape, source?: Shape];

const fill = rulesFor("fill");
const drop = rulesFor("drop");
const clip = rulesFor("clip");

// prettier-ignore
const PLANS: readonly Row[] = [
  ["tuples of one", tuples([4, 2], [2, 1], [3, -4]), [2, 2, 8, 1], [6, 0]],
  ["tuples of two", tuples([2, 3], [2, 2], [1, 2, -1, 0]), [1, 2, 6, 1], [5, 3]],
  ["tuples of slices, batch by batch", tuples([2, 3, 4], [2, 2, 1], [0, -1, 2, 1], 1), [4, 2, 12, 2], [0, 8, 8, 4]],
  ["tuples behind two batch axes", tuples([2, 1, 3], [2, 1, 1], [2, 0], 2), [1, 1, 3, 2], [2, 0]],
  ["empty tuples", tuples([2, 3], [3, 0], []), [6, 3, 6, 1], [0, 0, 0]],
  ["empty tuples of empty slices", tuples([0], [2 ** 32 - 1, 0], []), [0, 0, 0, 1], []],
  ["tuples of no batches", tuples([0, 3], [0, 2, 1], [], 1), [1, 0, 3, 0], []],
  ["tuples, clipped", tuples([2, 3], [3, 2], [5, -9, 0, 7, -3, -1], 0, clip), [1, 3, 6, 1], [3, 2, 2]],
  ["tuples, some dropped", tuples([2, 3], [4, 2], [0, 1, 0, 3, 2, 0, -1, -1], 0, drop), [1, 2, 6, 1], [1, 5], [0, 3]],
  ["slices along axis 0", slices([4, 2], [2], [3, -4]), [2, 2, 8, 1], [6, 0]],
  ["a slice by a scalar index", slices([3, 2], [], [1]), [2, 1, 6, 1], [2]],
  ["slices along axis 1 share offsets", slices([2, 3], [2], [2, 0], [1, 0]), [1, 2, 3, 2], [2, 0]],
  ["slices within batches", slices([2, 3, 2], [2, 2], [0, 2, 1, 1], [1, 1]), [2, 2, 6, 2], [0, 4, 2, 2]],
  ["slices, an axis between", slices([2, 2, 3], [2, 2], [0, 2, 1, 1], [2, 1]), [1, 2, 3, 4], [0, 2, 0, 2, 1, 1, 1, 1]],
  ["empty slices", slices([2, 0], [2], [1, 1]), [0, 0, 0, 1], []],
  ["slices of no batches", slices([0, 3], [2], [0, 1], [1, 0]), [1, 0, 3, 0], []],
  ["slices, one filled", slices([3], [2], [5, 1], [0, 0], fill), [1, 1, 3, 1], [1], [1]],
  ["slices, filled in each batch", slices([2, 3], [2], [9, 1], [1, 0], fill), [1, 2, 6, 1], [1, 4], [1, 3]],
  ["slices, filled between", slices([2, 2, 2], [2, 1], [9, 1], [2, 1], fill), [1, 2, 8, 1], [5, 7], [2, 3]],
  ["elements, clipped", elements([2, 3], [2, 2], [0, 3, -4, -3], 1, clip), [1, 2, 3, 2, 1], [0, 2, 0, 0]],
  ["slices of an axis without places", slices([0, 2], [2], [0, -1], [0, 0], fill), [2, 0, 0, 1], [], []],
  ["elements along axis 0", elements([3, 4], [2, 2], [0, 1, 2, -1], 0), [1, 4, 12, 1, 2], [0, 5, 8, 9]],
  ["elements along axis 1, of fewer rows", elements([2, 3], [1, 2], [2, 0], 1), [1, 2, 3, 1, 1], [2, 0]],
  ["elements of three axes", elements([2, 3, 2], [2, 1, 2], [2, 0, -1, 1], 1), [1, 2, 6, 2, 2], [4, 1, 4, 3]],
  ["elements, all of axis 1", elements([5, 3, 4], [2, 3, 1], [0, 3, -1, 1, -4, 2], 2), [1, 1, 4, 6, 1], [0, 3, 3, 1, 0, 2]],
  ["elements along axis 2", elements([1, 3, 2], [1, 2, 1], [1, 0], 2), [1, 2, 6, 1, 1], [1, 2]],
  ["no elements", elements([2, 3], [2, 0], [], 1), [1, 0, 3, 2, 1], []],
  ["elements of no batches", elements([2, 3], [0, 2], [], 1), [1, 0, 3, 0, 1], []],
  ["elements, some dropped", elements([2, 3], [2, 2], [0, 3, -4, -3], 1, drop), [1, 2, 6, 1], [0, 3], [0, 3]],
  ["sequences", sequences([2, 3, 2], [1, 0], 1, 2), [2, 2, 6, 2], [2, 4, 0, 2]],
  ["sequences of two heads", sequences([2, 2, 3], [1, 0], 2, 2), [1, 2, 3, 4], [1, 2, 1, 2, 0, 1, 0, 1]],
  ["sequences that wrap around", sequences([3, 2], [1, -1, 4], 1, 2, true), [1, 2, 2, 3], [1, 0, 1, 0, 0, 1]],
  ["a position beyond 2^53", sequences([1, 3], [2n ** 60n + 1n], 1, 1, true), [1, 1, 3, 1], [2]],
  ["sequences without length", sequences([2, 3], [3, 0], 1, 0), [1, 0, 3, 2], []],
  ["sequences in an axis without places", sequences([2, 0], [5, -5], 1, 0, true), [1, 0, 0, 2], []],
  ["sequences of empty slices", sequences([1, 3, 0], [1], 1, 2), [0, 0, 0, 1], []],
];

for (const [says, plan, [slice, count, span, batches, lanes], offsets, source] of PLANS) {
  test(`the Plan of ${says}`, () => {
    const { offsets: gotOffsets, source: gotSource, ...rest } = plan;
    assert.deepEqual(Array.from(gotOffsets), offsets);
    assert.deepEqual(gotSource && Array.from(gotSource), source);
    const { size } = plan;
    const counts = { slice, count, span, batches, size };
    assert.deepEqual(rest, lanes === undefined ? counts : { ...counts, lanes });
    checkPlan(plan);
  });
}

/** The invariants of a Plan as an operator makes it. */
function checkPlan(plan: Plan, size = plan.size): void {
  const { offsets, source, slice, count, batches, span, lanes } = plan;
  assert.equal(plan.size, size);
  assert.ok(offsets.length === count || offsets.length === batches * count);
  assert.ok(offsets.every((offset) => offset + slice <= span));
  assert.ok(batches * span <= size, "batches beyond data");
  if (source !== undefined) assert.deepEqual([source.length, batches], [count, 1]);
  const lanesOfTarget = new Map<number, number>();
  const absolute = absoluteOffsets(plan);
  for (const [position, target] of absolute.entries()) {
    if (lanes === undefined) break;
    const lane = position % lanes;
    assert.equal(lanesOfTarget.get(target) ?? lane, lane, "targets of two lanes");
    lanesOfTarget.set(target, lane);
  }
  const targets = Array.from(new Set(absolute)).toSorted((a, b) => a - b);
  for (let t = 1; t < targets.length; t++) {
    assert.ok(targets[t] - targets[t - 1] >= slice, "slices that overlap in part");
  }
}

test("every Plan: slices are equal or disjoint, lanes share no target, nothing leaves its batch", () => {
  const random = randomFrom(20261122);
  for (const engine of Object.values(ENGINES)) {
    const session = engine[EXECUTOR].begin();
    const rules = { ...strict, merge: true, read: session.readIndices };
    for (const pattern of Object.values(PATTERNS)) {
      for (let round = 0; round < 4; round++) {
        const data = [1 + random(3), 2 + random(4), 1 + random(4), 1 + random(3)];
        const size = product(data);
        const axis = random(4);
        const shape = data.map((dim, d) => (d === axis ? 1 + random(6) : 1 + random(dim)));
        const along = indicesOf("int32", pattern, shape, [data[axis]], random);
        const pairs = indicesOf("int64", pattern, [data[0], 5, 2], [data[1], data[2]], random);
        const rows = indicesOf("int64", pattern, [7], [data[axis]], random);
        checkPlan(planElements(along, data, axis, rules), size);
        checkPlan(planTuples(pairs, data, 1, rules), size);
        checkPlan(planSlices(rows, data, axis, 0, rules), size);
      }
    }
    session.end();
  }
});

test("a row of indices that is merged is one offset, and has no lanes", () => {
  const jobs: IndexJob[] = [];
  const read = (job: IndexJob): Uint32Array => {
    jobs.push(job);
    return Uint32Array.of(4, 8);
  };
  const plan = elements([3, 4], [2, 2], [1, 1, 2, 2], 0, { ...strict, merge: true, read });
  const offsets = Uint32Array.of(4, 8);
  assert.deepEqual(plan, { offsets, slice: 2, count: 2, size: 12, batches: 1, span: 12 });
  assert.deepEqual(
    jobs.map((job) => job.kind === "elements" && job.merge),
    [true],
  );
});

test("rows are not merged where an index is outside its axis", () => {
  const merges: unknown[] = [];
  const read = (job: IndexJob): ReturnType<typeof readIndices> => {
    merges.push(job.kind === "elements" && job.merge);
    return readIndices(job);
  };
  const rules = { ...drop, merge: true, read };
  const plan = elements([3, 2], [2, 2], [1, 1, 9, 9], 0, rules);
  assert.deepEqual([plan.offsets, plan.source], [Uint32Array.of(2, 3), Uint32Array.of(0, 1)]);
  assert.deepEqual(merges, [true, false]);
});

/** Indices of every integer type that mean the first, the last and no place of an axis of 3. */
const TYPES: readonly (readonly [dtype: DType, values: Values, offsets: Shape, source: Shape])[] = [
  ["int8", [0, -1, 3, -128], [0, 2], [0, 1]],
  ["uint8", [0, 2, 3, 255], [0, 2], [0, 1]],
  ["int16", [0, -1, 3, -32768], [0, 2], [0, 1]],
  ["uint16", [0, 2, 65535, 32768], [0, 2], [0, 1]],
  ["int32", [2 ** 31 - 1, -3, -4, 2], [0, 2], [1, 3]],
  ["uint32", [2 ** 32 - 1, 0, 2 ** 32 - 3, 2], [0, 2], [1, 3]],
  ["int64", [2n ** 32n + 1n, 0n, -(2n ** 32n), -1n], [0, 2], [1, 3]],
  ["uint64", [2n ** 64n - 1n, 0n, 2n ** 63n, 2n], [0, 2], [1, 3]],
];

for (const [dtype, values, offsets, source] of TYPES) {
  test(`${dtype} indices outside their axis are left out`, () => {
    const plan = planSlices(ints([4], values, dtype), [3], 0, 0, fill);
    assert.deepEqual([Array.from(plan.offsets), Array.from(plan.source ?? [])], [offsets, source]);
  });
}

test("the offsets of one batch are not copied", () => {
  const plan = tuples([4, 2], [2, 1], [3, -4]);
  assert.equal(absoluteOffsets(plan), plan.offsets);
  const shared = slices([2, 3], [2], [2, 0], [1, 0]);
  assert.deepEqual(absoluteOffsets(shared), Uint32Array.of(2, 0, 5, 3));
  assert.deepEqual(absoluteOffsets(tuples([2, 3], [2, 1, 1], [2, 0], 1)), Uint32Array.of(2, 3));
});

test("what is left out is marked for each offset, or for those that all batches share", () => {
  const own = without(tuples([2, 3], [2, 2, 1], [2, 0, 1, 1], 1), Uint8Array.of(0, 1, 0, 1));
  assert.deepEqual([own.offsets, own.source], [Uint32Array.of(2, 4), Uint32Array.of(0, 2)]);
  const shared = without(slices([2, 3], [2], [2, 0], [1, 0]), Uint8Array.of(1, 0));
  assert.deepEqual([shared.offsets, shared.source], [Uint32Array.of(0, 3), Uint32Array.of(1, 3)]);
  assert.deepEqual([shared.count, shared.batches, shared.span, shared.size], [2, 1, 6, 6]);
});

type Bad = readonly [plan: () => Plan, facts: Facts];

// prettier-ignore
const BAD: readonly Bad[] = [
  [() => tuples([3, 2], [2, 2], [0, 1, 1, 2]), { at: [1, 1], axis: 1, got: 2, expected: [-2, 1] }],
  [() => tuples([2, 3, 4], [2, 1, 2], [0, 1, 2, -5], 1), { at: [1, 0, 1], axis: 2, got: -5, expected: [-4, 3] }],
  [() => tuples([3], [1, 1], [2n ** 62n]), { at: [0, 0], axis: 0, got: 2n ** 62n, expected: [-3, 2] }],
  [() => tuples([0, 2], [1, 1], [0]), { at: [0, 0], axis: 0, got: 0, expected: [0, -1] }],
  [() => tuples([3], [2, 1], [-3, 3]), { at: [1, 0], axis: 0, got: 3, expected: [-3, 2] }],
  [() => tuples([3], [2, 1], [0, -1], 0, rulesFor("error", false)), { at: [1, 0], axis: 0, got: -1, expected: [0, 2] }],
  [() => tuples([3], [3, 1], [9, -1, -2], 0, rulesFor("drop", false)), { at: [1, 0], axis: 0, got: -1, expected: [0, 2] }],
  [() => tuples([2, 0], [1, 2], [9, 4], 0, clip), { at: [0, 1], axis: 1, got: 4, expected: [0, -1] }],
  [() => slices([2, 3], [2, 1], [2, 3], [1, 0]), { at: [1, 0], axis: 1, got: 3, expected: [-3, 2] }],
  [() => slices([3, 0], [1], [3]), { at: [0], axis: 0, got: 3, expected: [-3, 2] }],
  [() => elements([2, 3], [2, 2], [2, -3, 0, -4], 1), { at: [1, 1], axis: 1, got: -4, expected: [-3, 2] }],
  [() => sequences([2, 3], [1, 2], 1, 2), { at: [1], axis: 1, got: 2, expected: [0, 1] }],
  [() => sequences([2, 3], [-1, 7], 1, 2), { at: [0], axis: 1, got: -1, expected: [0, 1] }],
  [() => sequences([1, 3, 0], [3], 1, 1), { at: [0], axis: 1, got: 3, expected: [0, 2] }],
];

for (const [plan, facts] of BAD) {
  test(`a bad index: ${String(plan)}`, () => {
    assertRefused("index-out-of-range", facts, plan);
  });
}

test("every bad index is reported before the first one is thrown", () => {
  const reported: TensorError[] = [];
  const onBad = (errorOf: () => TensorError): void => void reported.push(errorOf());
  const rules = { ...strict, onBad };
  const first = assertRefused("index-out-of-range", { at: [0, 0] }, () =>
    tuples([3, 2], [3, 2], [3, 0, -4, 2, 2, -2], 0, rules),
  );
  assert.equal(first.message, reported[0].message);
  assert.deepEqual(
    reported.map(({ at, got }) => [at, got]),
    [
      [[0, 0], 3],
      [[1, 0], -4],
      [[1, 1], 2],
    ],
  );
  assert.throws(() => elements([2, 2], [2, 2], [0, 5, -3, 1], 1, rules));
  assert.equal(reported.length, 5);
  assert.throws(() => sequences([3, 2], [4, 0, -1], 1, 1, false, rules));
  assert.equal(reported.length, 7);
});

test("the offsets of a session stay until it ends, whatever another one reads", () => {
  const job = (count: number, first: number): IndexJob => ({
    kind: "tuples",
    words: Int32Array.from({ length: count }, (_, p) => (first + p) % 7),
    step: 1,
    count,
    axes: [{ dim: 7, wrap: 7, stride: 3 }],
  });
  const wanted = (count: number, first: number): number[] =>
    Array.from({ length: count }, (_, p) => 3 * ((first + p) % 7));
  for (const [name, engine] of Object.entries(ENGINES)) {
    for (const count of [1, 200, 256, 1024, 1025, 3000])
      withLimits(count, () => compare(name, engine, count));
  }

  function compare(name: string, engine: Engine, count: number): void {
    const sessions = [0, 1, 2].map(() => engine[EXECUTOR].begin());
    const offsets = sessions.map((session, first) => session.readIndices(job(count, first)));
    for (const [first, own] of offsets.entries()) {
      assert.ok(own instanceof Uint32Array);
      assert.deepEqual(Array.from(own), wanted(count, first), `${name}, ${count}`);
    }
    for (const session of sessions) session.end();
  }
});
