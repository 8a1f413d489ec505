/**
 * Gradients on the GPU against the definition: every reduction that moves or adds, and every policy, wherever indices
 * and updates are and wherever the gradients go. Nothing but the gradients may have changed.
 */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import fc from "fast-check";
import type { FunctionSpec } from "../../src/core/call/vjp.ts";
import { FUNCTIONS } from "../../src/core/operators/registry.ts";
import type { DType } from "../../src/core/tensor/dtype.ts";
import { tensor, Tensor, zeros } from "../../src/core/tensor/tensor.ts";
import type { GpuGradientOptions, GpuTensor } from "../../src/gpu/calls/types.ts";
import { LIMITS_SEED, withLimits } from "../support/limits.ts";
import {
  arbitraryShape,
  differentiable,
  gatherCase,
  gatherElementsCase,
  gatherNDCase,
  openvinoCases,
  rulesOf,
  scatterElementsCase,
  scatterNDCase,
  tensorScatterCase,
  type Case,
  type Shapes,
} from "../support/random-calls.ts";
import { randomTensor, seedOf } from "../support/random.ts";
import { gradients } from "../support/reference-gradients.ts";
import {
  areGuards,
  bytesOfTensor,
  engine,
  guarded,
  readBuffers,
  tensorOf,
  WITH_GRADIENTS,
} from "./gpu.ts";
import { assertSame, PLANNERS, POLICIES } from "./ways.ts";

const seed = seedOf("vjp");
const FLOATS = ["float32", "float16", "bfloat16"] as const;

let calls = 0;
let plans = 0;

/** A gradient that was computed, and what it has to be. */
interface Made {
  readonly what: string;
  readonly result: GpuTensor;
  readonly expected: Tensor;
  /** The test's own buffer that it was written to; null for a new tensor. */
  readonly buffer: ReturnType<typeof guarded>["buffer"] | null;
}

/** An input that has to stay as it was. */
type Kept = ReturnType<typeof guarded> & { readonly what: string; readonly expected: Tensor };

/** One call with gradients: its inputs in drawn places, its results in drawn tensors. */
function differentiate(one: Case, what: string): { made: Made[]; kept: Kept[] } {
  const { expected, random, operator } = one;
  const { node, inputs } = differentiable(one);
  const gradient = randomTensor(expected.dtype, expected.shape, random);
  const wanted = gradients(one, gradient, "even");
  while (wanted.length < inputs.length) wanted.push(null);
  const isKept = canKeep(one);
  if (isKept) plans++;
  // The indices of a plan and an axis are on the host.
  const places = inputs.map((input, position) =>
    position === 0 || (random(2) === 0 && !(isKept && position === 1) && position < 3)
      ? guarded(input)
      : null,
  );
  const given = guarded(gradient);
  const isInPlace = operator.kind === "scatter" && random(3) === 0;
  const outs = wanted.map((right, position) => {
    if (right === null || random(2) === 0) return null;
    return position === 0 && isInPlace ? given : garbage(right);
  });
  const argnums = wanted.flatMap((right, position) => (right === null ? [] : [position]));
  const alone = random(4) === 0 ? argnums[random(argnums.length)] : null;
  const options = {
    out: outs.map((out, position) => (alone === null || alone === position ? out?.tensor : null)),
    ...(alone !== null && { argnums: alone }),
  };
  const values = inputs.map((input, position) => places[position]?.tensor ?? input);
  const results = isKept
    ? byPlan(node as FunctionSpec, values as Tensor[], given.tensor, options)
    : engine.vjp(node, values, given.tensor, options);
  const made = results.flatMap((result, position): Made[] => {
    const right = alone === null || alone === position ? wanted[position] : null;
    assert.equal(result === null, right === null, `${what}: gradient ${position}`);
    if (result === null || right === null) return [];
    const out = options.out[position] ? outs[position] : null;
    assert.ok(out === null || out?.tensor === result, `${what}: the result is not out`);
    const name = `${what}, ${JSON.stringify(node)}: gradient ${position}`;
    return [{ what: name, result, expected: right, buffer: out?.buffer ?? null }];
  });
  const kept = [
    ...places.map((place, i) => [place, inputs[i]] as const),
    [given, gradient] as const,
  ]
    .filter(([place]) => place !== null && !made.some(({ buffer }) => buffer === place.buffer))
    .map(([place, expected], i) => ({ ...(place as Kept), what: `${what}: input ${i}`, expected }));
  calls++;
  return { made, kept };
}

const nameOf = (operator: Case["operator"]): string =>
  Object.entries(FUNCTIONS).find(([, one]) => one === operator)?.[0] ?? "";

/** Whether half of the calls, those of an operator with plans and without policies, go by a kept plan. */
const canKeep = ({ operator, attributes, random, inputs }: Case): boolean =>
  random(2) === 0 &&
  nameOf(operator) in PLANNERS &&
  !POLICIES.some((name) => attributes[name] !== undefined) &&
  inputs.length > 1;

/** The gradients by a kept plan, in the order of the function's inputs. */
function byPlan(
  { function: name, options: { reduction, ...settings } = {} }: FunctionSpec,
  [data, indices, updates]: readonly (Tensor | GpuTensor)[],
  gradient: GpuTensor,
  { out, argnums }: GpuGradientOptions,
): (GpuTensor | null)[] {
  const planner = engine[PLANNERS[name as keyof typeof PLANNERS]];
  const host = indices as Tensor;
  const plan = planner(data.shape, host, settings as never);
  if (updates === undefined) {
    const [given] = out ?? [];
    const made = plan.gatherVjp(gradient, { out: given ?? undefined });
    plan.dispose();
    return [made, null];
  }
  const own = {
    ...{ reduction: reduction as "add", out: [out?.[0], out?.[2]] },
    ...(argnums !== undefined && { argnums: argnums === 0 ? 0 : 1 }),
  };
  const [first, second] = plan.scatterVjp(data as GpuTensor, updates, gradient, own);
  // What was called before takes effect all the same.
  plan.dispose();
  return [first, null, second];
}

/** A tensor like another one, of elements that it does not have. */
function garbage({ dtype, shape, size, data }: Tensor) {
  const other = new Tensor(dtype, shape, size, data.slice());
  bytesOfTensor(other).fill(0x5a);
  return guarded(other);
}

type Make = (shapes: Shapes) => Case;

async function checkAll(count: number, kind: string, make: Make): Promise<void> {
  const own = [...kind].reduce((sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0), seed);
  const all = fc.sample(arbitraryShape, { seed: own, numRuns: count }).map((shapes) => {
    const what = `${kind} ${JSON.stringify(shapes)}, LIMITS=${LIMITS_SEED}, turn ${calls}`;
    return withLimits(calls, () => differentiate(make(shapes), what));
  });
  await engine.done();
  const made = all.flatMap((call) => call.made);
  const kept = all.flatMap((call) => call.kept);
  const guards = [
    ...made.flatMap(({ buffer, expected, what }) => (buffer ? [{ buffer, expected, what }] : [])),
    ...kept,
  ];
  const bytes = await readBuffers(guards.map(({ buffer }) => buffer));
  for (const [i, { what, expected }] of guards.entries()) {
    const { length } = bytesOfTensor(expected);
    const { dtype, shape } = expected;
    assertSame(tensorOf(dtype, shape, bytes[i].slice(0, length)), expected, what);
    assert.ok(
      areGuards(bytes[i].subarray(length), guards[i].buffer),
      `${what}: bytes behind it changed`,
    );
  }
  const results = await Promise.all(made.map(({ result }) => result.read()));
  for (const [i, { what, expected }] of made.entries()) assertSame(results[i], expected, what);
  for (const { buffer } of guards) buffer.destroy();
  for (const { result } of made) result.dispose();
}

for (const dtype of FLOATS) {
  test(`gradients of gathers of ${dtype}`, async () => {
    for (const type of ["int32", "int64"] as const) {
      await checkAll(6, `${dtype} ${type} gatherND`, (shapes) => gatherNDCase(dtype, type, shapes));
      await checkAll(6, `${dtype} ${type} gatherElements`, (shapes) =>
        gatherElementsCase(dtype, type, shapes),
      );
      await checkAll(6, `${dtype} ${type} gather`, (shapes) => gatherCase(dtype, type, shapes));
    }
  });
  for (const reduction of WITH_GRADIENTS) {
    test(`gradients of scatters of ${dtype} by ${reduction}`, async () => {
      const name = `${dtype} ${reduction}`;
      await checkAll(16, `${name} scatterND`, (shapes) =>
        scatterNDCase(dtype, reduction, "int64", shapes),
      );
      await checkAll(16, `${name} scatterElements`, (shapes) =>
        scatterElementsCase(dtype, reduction, "int32", shapes),
      );
      for (const stays of rulesOf(dtype, reduction)) {
        if (stays === undefined) continue;
        await checkAll(16, `${name}, ${stays} stays`, (shapes) =>
          openvinoCases[stays](dtype, reduction, shapes),
        );
      }
    });
  }
}

for (const dtype of ["float32", "complex64"] as const) {
  test(`gradients of sequences of ${dtype}`, async () => {
    await checkAll(16, `${dtype} tensorScatter`, (shapes) => tensorScatterCase(dtype, shapes));
  });
}

test("the gradient of a sequence without write_indices replaces outputGradient", async () => {
  const [data, updates] = [zeros("float32", [2, 3]), zeros("float32", [2, 1])];
  const given = tensor("float32", [2, 3], [1, 2, 3, 4, 5, 6]);
  const [place, gradient] = [guarded(data), guarded(given)];
  const node = { function: "tensorScatter", options: { axis: 1 } } as const;
  const results = engine.vjp(node, [place.tensor, updates], gradient.tensor, {
    out: [gradient.tensor, null],
  });
  assert.equal(results[0], gradient.tensor);
  assert.deepEqual((await results[0].read()).toArray(), [
    [0, 2, 3],
    [0, 5, 6],
  ]);
  assert.deepEqual((await results[1]?.read())?.toArray(), [[1], [4]]);
  results[1]?.dispose();
  for (const { tensor: one, buffer } of [place, gradient]) {
    one.dispose();
    buffer.destroy();
  }
});

/** What needs no arithmetic is moved, whatever its type. */
for (const dtype of ["float64", "complex64", "complex128"] as const satisfies readonly DType[]) {
  test(`gradients that are moved: ${dtype}`, async () => {
    for (const reduction of ["none", "add"] as const) {
      await checkAll(8, `${dtype} ${reduction}`, (shapes) =>
        scatterNDCase(dtype, reduction, "int64", shapes),
      );
    }
  });
}

after(() => {
  assert.ok(calls >= 450, `only ${calls} calls were made`);
  assert.ok(plans >= 45, `only ${plans} of them by plans`);
});
