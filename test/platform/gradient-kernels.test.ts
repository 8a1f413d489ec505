import assert from "node:assert/strict";
import { test } from "node:test";
import { vjp } from "../../src/core/functions.ts";
import { scatterND } from "../../src/core/operators/tuples.ts";
import { scatterElements } from "../../src/core/operators/elements.ts";
import { REDUCTIONS, type DType, type Reduction } from "../../src/core/tensor/dtype.ts";
import { product } from "../../src/core/tensor/shape.ts";
import { copy } from "../../src/core/tensor/storage.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { caseList } from "../support/cases.ts";
import { ENGINES } from "../support/engines.ts";
import { LIMITS_SEED, setLimits } from "../support/limits.ts";
import { randomFrom, randomTensor, type Random } from "../support/random.ts";
import { gradients, type ReferenceCall } from "../support/reference-gradients.ts";

/**
 * Calls whose updates suffice for kernels of WebAssembly: single elements, elements of rows, blocks of 64 bytes, and
 * what is left behind a block; targets that repeat at once and far apart, and runs of targets.
 */
// prettier-ignore
const SHAPES: readonly (readonly [name: string, targets: number, slice: number, indices: readonly number[]])[] = [
  ["single elements", 40, 1, many(90, (p) => (p * 7) % 40)],
  ["one element", 1, 1, many(50, () => 0)],
  ["an odd number of elements", 37, 1, many(41, (p) => (p * 5) % 37)],
  ["few elements of many", 3000, 1, many(50, (p) => (p * 59) % 3000)],
  ["rows of 2", 12, 2, many(30, (p) => (p * 5) % 12)],
  ["rows of 2, enough for the kernels under the package's limits", 300, 2, many(800, (p) => (p * 7) % 300)],
  ["rows of 3", 12, 3, many(30, (p) => (p * 5) % 12)],
  ["rows of a block", 9, 16, many(20, (p) => (p * 4) % 9)],
  ["rows of blocks and a rest", 7, 43, many(25, (p) => (p * 3) % 7)],
  ["a target of most updates", 6, 21, many(40, (p) => (p % 9 === 0 ? 5 : 2))],
  ["the first target again at the end", 30, 18, [4, ...many(28, (p) => p), 4]],
  ["runs of targets", 30, 5, many(40, (p) => (p % 20) + 3)],
  ["rows of many that are not touched", 400, 17, many(12, (p) => (p * 31) % 400)],
];

function many(count: number, make: (position: number) => number): number[] {
  return Array.from({ length: count }, (_, position) => make(position));
}

/** Numbers of which many are equal; some are NaN, or zeros of both signs, or infinite. */
function valuesOf(dtype: DType, shape: readonly number[], random: Random, some: readonly number[]) {
  const complex = dtype.startsWith("complex");
  const all = many(product(shape), () => some[random(some.length)]);
  const pairs = all.map((re) => [re, some[random(some.length)]]);
  return tensor(dtype, shape, (complex ? pairs : all) as never) as Tensor;
}

const VALUES = [
  [1, 2, 3, -1, -2, 0, -0],
  [5, 5, 5, 4],
  [NaN, 1, 2, Infinity, -Infinity, -0, 0],
  [-Infinity, -Infinity, NaN],
  [...many(200, (p) => p / 7)],
];

const LIMITS = [
  { kernels: 0 },
  { kernels: 0, group: 64 },
  { kernels: 0, group: 4096, dense: 0 },
  { kernels: 0, scratch: 100 },
  {},
] as const;

const TIES = ["even", "first", "last", "all"] as const;

/** Compares the gradients of a call with the definition on every engine: on the heap, resident, and in place. */
function check(call: ReferenceCall, name: string, random: Random, seed: number): void {
  const { operator, inputs, attributes } = call;
  const [data] = inputs;
  const gradient = randomTensor(data.dtype, data.shape, random);
  const ties = TIES[random(4) & random(4)];
  const wanted = gradients(call, gradient, ties);
  const node = { function: name, options: attributes } as Parameters<typeof vjp>[0];
  const assertSame = (found: readonly (Tensor | null)[], who: string): void => {
    for (const [position, one] of found.entries()) {
      const { [position]: expected } = wanted;
      if (one === null) continue;
      assert.ok(expected !== null && equals(one, expected), `${who}: ${position}, seed ${seed}`);
    }
  };
  for (const [who, engine] of Object.entries(ENGINES)) {
    assert.equal(operator.kind, "scatter");
    assertSame(vjp(node, inputs, gradient, { engine, ties }), who);
    for (const argnums of [0, 2]) {
      const alone = vjp(node, inputs, gradient, { engine, ties, argnums });
      assert.equal(alone[2 - argnums], null);
      assertSame(alone, `${who}, ${argnums}`);
    }
    const resident = [...inputs, gradient].map((input) => {
      const own = engine.alloc(input.dtype, input.shape);
      copy(input.data, own.data);
      return own as Tensor;
    });
    const own = resident.slice(0, -1);
    const [given] = resident.slice(-1);
    const updates = engine.alloc(data.dtype, inputs[2].shape);
    for (const argnums of [0, 2]) {
      assertSame(vjp(node, own, given, { engine, ties, argnums }), `${who}, of ${argnums}`);
    }
    assertSame(vjp(node, own, given, { engine, ties, out: [given, null, updates] }), `${who}, in`);
    for (const one of [...resident, updates]) one.dispose();
  }
}

for (const dtype of ["float32", "float64", "float16", "complex64"] as const) {
  test(`gradients of ${dtype} in slices and blocks equal the definition`, () => {
    let seed = 0;
    // The seed of the run chooses other limits for each shape and reduction.
    let turn = LIMITS_SEED;
    for (const [name, targets, slice, at] of SHAPES) {
      for (const reduction of ["none", "max", "min"] as const satisfies Reduction[]) {
        for (const limits of caseList(LIMITS, turn++, 4)) {
          const random = randomFrom(++seed);
          const some = VALUES[seed % VALUES.length];
          const data = valuesOf(dtype, [targets, slice], random, some);
          const updates = valuesOf(dtype, [at.length, slice], random, some);
          const includeSelf = random(3) > 0;
          // Every third call drops some of its updates, which then have the gradient 0.
          const drops = seed % 3 === 0;
          const places = at.map((index, p) => (drops && p % 5 === 2 ? targets : index));
          const attributes = {
            reduction,
            ...(reduction !== "none" && { includeSelf }),
            ...(drops && { bounds: "drop" }),
          };
          const indices = tensor("int64", [at.length, 1], places) as Tensor;
          const restore = setLimits({ GRADIENTS: limits, WASM: { call: 0 } });
          try {
            const rows = { operator: scatterND, inputs: [data, indices, updates], attributes };
            check(rows, "scatterND", random, seed);
            if (slice > 1) continue;
            // The same positions along the last axis of three batches.
            const [first, rest] = [
              [3, targets],
              [3, at.length],
            ];
            const inputs = [
              valuesOf(dtype, first, random, some),
              tensor("int64", rest, [...places, ...places.toReversed(), ...places]) as Tensor,
              valuesOf(dtype, rest, random, some),
            ];
            const along = {
              operator: scatterElements,
              inputs,
              attributes: { ...attributes, axis: 1 },
            };
            check(along, "scatterElements", random, seed);
          } catch (error) {
            const { message } = error as Error;
            throw new Error(`${name}, ${reduction}, ${JSON.stringify(limits)}: ${message}`, {
              cause: error,
            });
          } finally {
            restore();
          }
        }
      }
    }
  });
}

/**
 * Kept plans whose batches share their offsets, with one gradient wanted or both. Their scatter is that of
 * ScatterElements with the same indices in every batch and column, which the definition differentiates.
 */
for (const [who, engine] of Object.entries(ENGINES)) {
  test(`gradients of kept plans with shared offsets equal the definition, on ${who}`, () => {
    let seed = 0;
    for (const batches of [1, 2, 3]) {
      for (const columns of [1, 3]) {
        const shape = [batches, 9, columns];
        const at = [7, 2, 2, 0, 7, 7, 3];
        const rows = [batches, at.length, columns];
        const all = many(product(rows), (p) => at[Math.floor(p / columns) % at.length]);
        const indices = tensor("int64", rows, all) as Tensor;
        // The plan keeps what its calls derive from the offsets, for other reductions too.
        const plan = engine.planGather(shape, at, { axis: 1 });
        for (const reduction of REDUCTIONS) {
          for (const limits of LIMITS) {
            const random = randomFrom(++seed);
            const some = VALUES[seed % VALUES.length];
            const [data, updates] = [shape, rows].map((own) =>
              valuesOf("float32", own, random, some),
            );
            const gradient = randomTensor("float32", shape, random);
            const call = {
              operator: scatterElements,
              inputs: [data, indices, updates],
              attributes: { axis: 1, reduction },
            };
            const [ofData, , ofUpdates] = gradients(call, gradient, "even");
            const restore = setLimits({ GRADIENTS: limits, WASM: { call: 0 } });
            try {
              for (const argnums of [1, 0, [0, 1]]) {
                const found = plan.scatterVjp(data, updates, gradient, { reduction, argnums });
                for (const [position, expected] of [ofData, ofUpdates].entries()) {
                  const { [position]: one } = found;
                  const name = `${reduction}, ${shape}, ${argnums}, seed ${seed}: ${position}`;
                  if (![argnums].flat().includes(position)) assert.equal(one, null, name);
                  else assert.ok(one && expected && equals(one, expected), name);
                }
              }
            } finally {
              restore();
            }
          }
        }
      }
    }
  });
}
