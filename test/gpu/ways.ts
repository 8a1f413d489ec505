/**
 * Every way to make one call on a GPU: where its indices and updates are, where its result goes, by a call or by a kept
 * plan. A case is a row of data; the ways are the same for all rows. Calls are made without waiting for each other, and
 * all buffers are read at the end: nothing but the results that are expected may have changed.
 */

import assert from "node:assert/strict";
import type { GpuBufferLike } from "../../src/gpu/kernels/webgpu.ts";
import { createEngine } from "../../src/core/create-engine.ts";
import { firstDifference } from "../../src/core/tensor/compare.ts";
import type { DType } from "../../src/core/tensor/dtype.ts";
import { tensor, Tensor } from "../../src/core/tensor/tensor.ts";
import type { GpuTensor } from "../../src/gpu/calls/types.ts";
import { LIMITS_SEED, withLimits } from "../support/limits.ts";
import { randomFrom, randomTensor } from "../support/random.ts";
import type { Case, Name } from "../support/ways.ts";
import { areGuards, bytesOfTensor, engine, guarded, readBuffers, tensorOf } from "./gpu.ts";

export const js = createEngine({ kind: "js" });

export const i32 = (shape: readonly number[], ...values: number[]): Tensor =>
  tensor("int32", shape, values);
export const i64 = (shape: readonly number[], ...values: (number | bigint)[]): Tensor =>
  tensor("int64", shape, values);

/** A call of random data and updates. */
export interface Row {
  readonly operator: Name;
  readonly data: readonly number[];
  /** Of a scatter. */
  readonly updates?: readonly number[];
  readonly options?: Readonly<Record<string, unknown>>;
}

/** A case with the result of the JavaScript engine. The indices are undefined where TensorScatter's are left out. */
export function caseOf(
  { operator, data, updates, options = {} }: Row,
  indices: Tensor | undefined,
  dtype: DType,
): Case {
  const random = randomFrom(data.length * 7 + (updates?.length ?? 0));
  const [first, ...values] = [data, ...(updates === undefined ? [] : [updates])].map((shape) =>
    randomTensor(dtype, shape, random),
  );
  const known =
    operator === "tensorScatter" ? [first, ...values, indices] : [first, indices, ...values];
  const expected: Tensor = Reflect.apply(js[operator], js, [...known, options]);
  const inputs = known.filter((one) => one !== undefined);
  const types = inputs.map((one) => `${one.dtype}[${one.shape}]`).join(" ");
  return {
    name: `${operator} ${types} ${JSON.stringify(options)}`,
    operator,
    inputs,
    options,
    expected,
  };
}

type Place = "gpu" | "host";

export interface Way {
  readonly name: string;
  /** Where the second and the third input are. */
  readonly places: readonly [Place, Place];
  /** Where the result goes: a new tensor, one that is given, or data itself. */
  readonly result: "new" | "out" | "in place";
  readonly by: "call" | "plan";
}

const way = (places: Way["places"], result: Way["result"], by: Way["by"] = "call"): Way => ({
  name: `${places.join(" and ")}, ${result}, ${by}`,
  places,
  result,
  by,
});

export const WAYS: readonly Way[] = [
  way(["gpu", "gpu"], "new"),
  way(["gpu", "gpu"], "out"),
  way(["gpu", "gpu"], "in place"),
  way(["gpu", "host"], "in place"),
  way(["host", "gpu"], "out"),
  way(["host", "gpu"], "in place"),
  way(["host", "host"], "new"),
  way(["host", "gpu"], "new", "plan"),
  way(["host", "gpu"], "out", "plan"),
  way(["host", "host"], "in place", "plan"),
];

/** One way of each kind, where all of them would take too long. */
export const FEW: readonly Way[] = [
  way(["gpu", "gpu"], "out"),
  way(["host", "gpu"], "in place"),
  way(["host", "gpu"], "out", "plan"),
];

export const PLANNERS = {
  scatterND: "planScatterND",
  scatterElements: "planScatterElements",
  gatherND: "planGatherND",
  gatherElements: "planGatherElements",
  gather: "planGather",
} as const;

/** Plans have no policies. */
export const POLICIES = ["bounds", "negative", "duplicates", "includeSelf"];

/** Whether a case can go a way: gathers have no data to write to, and no updates. */
export const canGo = ({ operator, options, inputs }: Case, { result, by, places }: Way): boolean =>
  (operator.includes("catter") || (result !== "in place" && places[1] === "gpu")) &&
  (inputs.length > 1 || places[0] === "gpu") &&
  (by === "call" ||
    (operator in PLANNERS && !POLICIES.some((name) => options[name] !== undefined)));

/** What a buffer of a call has to be when all is done. */
interface Outcome {
  readonly what: string;
  readonly buffer: GpuBufferLike;
  readonly expected: Tensor;
  /** Whether the bytes behind the tensor are the test's own. */
  readonly isGuarded: boolean;
}

/** A call that was made. */
interface Made {
  readonly outcomes: readonly Outcome[];
  readonly result: GpuTensor;
  /** Where the engine made the result. */
  readonly isNew: boolean;
  readonly expected: Tensor;
  readonly what: string;
  dispose(): void;
}

/** How many calls drew limits. */
let turns = 0;

/** Makes each call in all its ways, with other limits each time, and then checks everything that they wrote, or had to leave as it was. */
export async function goAll(
  cases: readonly Case[],
  { ways = WAYS, areLimitsDrawn = true } = {},
): Promise<number> {
  const made = cases.flatMap((one) =>
    ways
      .filter((way) => canGo(one, way))
      .map((way) => {
        const what = `${one.name}: ${way.name}`;
        if (!areLimitsDrawn) return make(one, way, what);
        const turn = turns++;
        const limits = `LIMITS=${LIMITS_SEED}, turn ${turn}`;
        return withLimits(turn, () => make(one, way, `${what}, with ${limits}`));
      }),
  );
  await engine.done();
  const outcomes = made.flatMap((call) => call.outcomes);
  const [bytes, results] = await Promise.all([
    readBuffers(outcomes.map(({ buffer }) => buffer)),
    Promise.all(made.map(({ result, isNew }) => (isNew ? result.read() : null))),
  ]);
  for (const [i, { what, expected }] of made.entries()) {
    const result = results[i];
    if (result !== null) assertSame(result, expected, what);
  }
  for (const [i, outcome] of outcomes.entries()) assertOutcome(outcome, bytes[i]);
  for (const call of made) call.dispose();
  return made.length;
}

/** Tensors are printed only where they differ: that costs more than to compare them. */
export function assertSame(result: Tensor, expected: Tensor, what: string): void {
  assert.equal(result.dtype, expected.dtype, what);
  assert.deepEqual(result.shape, expected.shape, what);
  const at = firstDifference(result, expected);
  if (at !== null) assert.fail(`${what}: differs at [${at}]: ${result} is not ${expected}`);
}

function assertOutcome(outcome: Outcome, bytes: Uint8Array): void {
  const { what, buffer, expected, isGuarded } = outcome;
  const { dtype, shape } = expected;
  const { length } = bytesOfTensor(expected);
  assertSame(tensorOf(dtype, shape, bytes.slice(0, length)), expected, what);
  if (isGuarded)
    assert.ok(areGuards(bytes.subarray(length), buffer), `${what}: bytes behind it changed`);
}

function make(one: Case, way: Way, what: string): Made {
  const data = guarded(one.inputs[0]);
  const rest = one.inputs
    .slice(1)
    .map((input, i) =>
      way.places[i] === "gpu" ? guarded(input) : { tensor: input, buffer: null },
    );
  const out =
    way.result === "new" ? undefined : way.result === "in place" ? data : garbage(one.expected);
  const inputs = [data, ...rest].map(({ tensor }) => tensor);
  const result = call(one, way, inputs, out?.tensor);
  if (out !== undefined) assert.equal(result, out.tensor, `${what}: the result is not out`);
  const outcomes = [data, ...rest].flatMap(({ buffer }, i): Outcome[] =>
    buffer === null || buffer === out?.buffer
      ? []
      : [{ what: `${what}: input ${i}`, buffer, expected: one.inputs[i], isGuarded: true }],
  );
  const written = { what, buffer: result.buffer, expected: one.expected };
  outcomes.push({ ...written, isGuarded: out !== undefined });
  const dispose = (): void => {
    result.dispose();
    for (const { tensor, buffer } of [data, ...rest, ...(out === undefined ? [] : [out])]) {
      // Tensors of the heap are the case's own.
      if (buffer === null) continue;
      tensor.dispose();
      buffer.destroy();
    }
  };
  return { outcomes, result, isNew: out === undefined, expected: one.expected, what, dispose };
}

function call(
  { operator, options }: Case,
  { by }: Way,
  inputs: readonly (Tensor | GpuTensor)[],
  out: GpuTensor | undefined,
): GpuTensor {
  if (by === "call") {
    const all =
      operator === "tensorScatter" && inputs.length === 2 ? [...inputs, undefined] : inputs;
    return Reflect.apply(engine[operator], engine, [...all, { ...options, out }]);
  }
  const [data, indices, updates] = inputs;
  const { reduction, ...settings } = options;
  const planner = engine[PLANNERS[operator as keyof typeof PLANNERS]];
  const plan = planner(data.shape, indices as Tensor, settings as never);
  const gpuData = data as GpuTensor;
  const result =
    updates === undefined
      ? plan.gather(gpuData, { out })
      : plan.scatter(gpuData, updates, { reduction: reduction as "add", out });
  // What was called before takes effect all the same.
  plan.dispose();
  return result;
}

/** A tensor like another one, of elements that it does not have. */
function garbage({ dtype, shape, size, data }: Tensor) {
  const other = new Tensor(dtype, shape, size, data.slice());
  bytesOfTensor(other).fill(0x5a);
  return guarded(other);
}
