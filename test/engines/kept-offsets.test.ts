/** The offsets of a kept plan stay in an engine's memory: from the second call on, and no longer than the plan. */

import assert from "node:assert/strict";
import v8 from "node:v8";
import vm from "node:vm";
import { after, test } from "node:test";
import { planScatterElements, planScatterND, type KeptPlan } from "../../src/entries/index.ts";
import type { DType } from "../../src/core/tensor/dtype.ts";
import { copy } from "../../src/core/tensor/storage.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import type { Tensor } from "../../src/core/tensor/tensor.ts";
import { TINY, tracedEngine } from "../support/engines.ts";
import { withLimits } from "../support/limits.ts";
import { indicesOf, PATTERNS } from "../support/patterns.ts";
import { settle, WITHOUT_NODE_ITSELF, WITHOUT_THREADS } from "../support/platform.ts";
import { randomFrom, randomTensor } from "../support/random.ts";

const TRACED = await Promise.all(
  (WITHOUT_THREADS ? [1] : [1, 2]).map((threads) => tracedEngine(threads, TINY)),
);
after(() => {
  for (const { engine } of TRACED) engine.dispose();
});

/** Slices that are split by columns, slices that are too short for it, and elements. */
const SHAPES = { "long rows": [40, 64], "short rows": [40, 3], elements: [40] } as const;

let turn = 0;
for (const { engine, executor } of TRACED) {
  const taken = (): number => executor.shared?.taken ?? 0;

  const resident = (one: Tensor): Tensor => {
    const there: Tensor = engine.alloc<DType, readonly number[]>(one.dtype, one.shape);
    copy(one.data, there.data);
    return there;
  };

  /** Scatters and gathers by both plans, again and again, with every data type of a few. */
  const use = (plan: KeptPlan, expected: KeptPlan, shape: readonly number[]): void => {
    const random = randomFrom(1);
    const counts: number[] = [];
    for (const dtype of ["float32", "int64", "float32", "uint8"] as const) {
      const inputs = [randomTensor(dtype, shape, random), randomTensor(dtype, plan.shape, random)];
      const tensors = [...inputs, ...inputs].map(resident);
      const [data, updates, out, gathered] = tensors;
      plan.scatter(data, updates, { reduction: "add", out });
      assert.ok(equals(out, expected.scatter(inputs[0], inputs[1], { reduction: "add" })), dtype);
      plan.gather(data, { out: gathered });
      assert.ok(equals(gathered, expected.gather(inputs[0])), dtype);
      for (const one of tensors) one.dispose();
      counts.push(taken());
    }
    assert.equal(new Set(counts).size, 1, `memory taken: ${counts.join(", ")}`);
  };

  for (const [shapeName, shape] of Object.entries(SHAPES)) {
    for (const [patternName, pattern] of Object.entries(PATTERNS)) {
      test(`${shapeName}, ${patternName}, on ${engine.threads} threads`, () =>
        withLimits(turn++, () => {
          const indices = indicesOf("int64", pattern, [32, 1], [40], randomFrom(2));
          use(engine.planScatterND(shape, indices), planScatterND(shape, indices), shape);
          const own = shape.map((size, axis) => (axis === 0 ? 32 : size));
          const elements = indicesOf("int32", pattern, own, [40], randomFrom(3));
          const [plan, expected] = [engine.planScatterElements, planScatterElements].map((make) =>
            make(shape, elements, { axis: 0 }),
          );
          use(plan, expected, shape);
        }));
    }
  }
}

test("offsets stay in memory that threads share from a plan's second call on, and only those of plans", () => {
  for (const { engine, executor } of TRACED) {
    const { shared } = executor;
    if (shared === null) continue;
    const [data, updates, out] = [
      [40, 3],
      [32, 3],
      [40, 3],
    ].map((shape) => engine.alloc("float32", shape));
    const indices = indicesOf("int64", PATTERNS.random, [32, 1], [40], randomFrom(5));
    const plan = engine.planScatterND([40, 3], indices);
    const stays: number[] = [];
    let before = shared.taken;
    const note = (): void => {
      stays.push(shared.taken - before);
      before = shared.taken;
    };
    for (let call = 0; call < 3; call++) {
      plan.scatter(data, updates, { out });
      note();
    }
    for (let call = 0; call < 3; call++) {
      engine.scatterND(data, indices, updates, { out });
      note();
    }
    const [first, second, ...later] = stays;
    assert.equal(first, 0);
    assert.ok(second >= 4 * 32, `${second} bytes stay`);
    assert.deepEqual(later, [0, 0, 0, 0]);
    for (const one of [data, updates, out]) one.dispose();
  }
});

test("the offsets of plans that are garbage are freed", { skip: WITHOUT_NODE_ITSELF }, async () => {
  v8.setFlagsFromString("--expose-gc");
  const collect: () => void = vm.runInNewContext("gc");
  for (const { executor } of TRACED) {
    for (let turn = 0; turn < 50 && executor.shared?.taken !== 0; turn++) {
      collect();
      await settle(); // oxlint-disable-line no-await-in-loop -- finalizers run between tasks
    }
    assert.equal(executor.shared?.taken, 0);
  }
});
