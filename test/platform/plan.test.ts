import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Executor } from "../../src/core/engines/executor.ts";
import { absoluteOffsets, coarsen, type Plan } from "../../src/core/plan/plan.ts";
import { split } from "../../src/core/plan/targets.ts";
import { seedOf } from "../support/random.ts";

const js = new Executor().begin();
const seed = seedOf("plan");

const plan = (offsets: number[], slice: number, size: number, batches = 1): Plan => ({
  offsets: Uint32Array.from(offsets),
  slice,
  count: offsets.length,
  size,
  batches,
  span: size / batches,
});

test("coarsen merges runs of one length", () => {
  const { offsets, slice, count } = coarsen(plan([8, 9, 10, 11, 0, 1, 2, 3], 1, 12));
  assert.deepEqual(
    { offsets, slice, count },
    { offsets: Uint32Array.of(8, 0), slice: 4, count: 2 },
  );
});

test("longer slices have no lanes, and keep everything else", () => {
  const one = { ...plan([4, 5, 0, 1, 4, 5, 0, 1], 1, 24, 2), count: 4, lanes: 2 };
  assert.deepEqual(coarsen(one), {
    offsets: Uint32Array.of(4, 0, 4, 0),
    slice: 2,
    count: 2,
    size: 24,
    batches: 2,
    span: 12,
    lanes: 1,
  });
  const dropped = { ...plan([4, 5], 1, 12), source: Uint32Array.of(0, 2) };
  assert.equal(coarsen(dropped), dropped);
});

test("coarsen takes the longest run that all places share", () => {
  const { offsets, slice } = coarsen(plan([0, 1, 2, 3, 8, 9], 1, 12));
  assert.deepEqual({ offsets, slice }, { offsets: Uint32Array.of(0, 2, 8), slice: 2 });
  const random = plan([5, 3, 4], 1, 12);
  assert.equal(coarsen(random), random);
});

/** Plans of one or more batches, with offsets of their own or shared. Slices may repeat, but not overlap in part. */
const arbitraryPlan = fc
  .record({
    slice: fc.integer({ min: 1, max: 3 }),
    cells: fc.integer({ min: 1, max: 6 }),
    batches: fc.integer({ min: 1, max: 3 }),
    count: fc.integer({ min: 0, max: 12 }),
    shared: fc.boolean(),
    picks: fc.array(fc.nat(5), { minLength: 36, maxLength: 36 }),
  })
  .map(({ slice, cells, batches, count, shared, picks }): Plan => ({
    offsets: Uint32Array.from(
      picks.slice(0, shared ? count : batches * count),
      (pick) => (pick % cells) * slice,
    ),
    slice,
    count,
    size: batches * cells * slice,
    batches,
    span: cells * slice,
  }));

const scattered = (plans: readonly Plan[], updates: Float64Array, size: number): Float64Array => {
  const out = Float64Array.from({ length: size }, (_, p) => p);
  for (const one of plans) js.scatter(one, "float64", "sub", out, updates, out);
  return out;
};

const assertPlans = (property: (plan: Plan, updates: Float64Array) => void) =>
  fc.assert(
    fc.property(arbitraryPlan, (one) => {
      const length = one.batches * one.count * one.slice;
      property(
        one,
        Float64Array.from({ length }, (_, p) => (p * p) % 101),
      );
    }),
    { seed, numRuns: 1000, includeErrorInReport: true },
  );

test("a coarsened Plan does the same", () => {
  assertPlans((one, updates) => {
    assert.deepEqual(
      scattered([coarsen(one)], updates, one.size),
      scattered([one], updates, one.size),
    );
  });
});

test("the two parts of a split Plan do the same, and the first touches nothing twice", () => {
  assertPlans((one, updates) => {
    const { first, later } = split(one);
    assert.equal(new Set(first.offsets).size, first.count);
    assert.equal(first.count, new Set(absoluteOffsets(one)).size);
    assert.equal(first.count + later.count, one.batches * one.count);
    assert.deepEqual(
      scattered([first, later], updates, one.size),
      scattered([one], updates, one.size),
    );
  });
});

test("a gather after a scatter of distinct targets gives the updates back", () => {
  assertPlans((one, updates) => {
    const { first } = split(one);
    const chosen = Float64Array.from(updates);
    const out = new Float64Array(one.size);
    js.scatter(first, "float64", "none", out, chosen, out);
    const back = new Float64Array(updates.length);
    js.gather(first, "float64", out, back);
    for (const position of first.source ?? []) {
      const at = position * one.slice;
      assert.deepEqual(back.subarray(at, at + one.slice), updates.subarray(at, at + one.slice));
    }
  });
});

test("split finds repeats in huge, thinly touched tensors without a bit for each cell", () => {
  const { first, later } = split(plan([4294967290, 7, 4294967290], 1, 4294967295));
  assert.deepEqual(
    [first.offsets, later.offsets, later.source],
    [Uint32Array.of(4294967290, 7), Uint32Array.of(4294967290), Uint32Array.of(2)],
  );
});
