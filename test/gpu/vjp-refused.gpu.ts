/** Gradients on the GPU that are refused, at once or by the GPU; what stays as it was; and calls that are not awaited. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { vjp } from "../../src/core/functions.ts";
import { full, tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import type { GpuTensor } from "../../src/gpu/calls/types.ts";
import { randomFrom, randomIndices, randomTensor } from "../support/random.ts";
import { assertRefused, assertRejected } from "../support/refusal.ts";
import { thrownBy } from "./expected-error.ts";
import { device, engine, openEngine, WITH_GRADIENTS } from "./gpu.ts";
import { assertSame } from "./ways.ts";

const SCATTER = { function: "scatterND", options: { reduction: "add" } } as const;
const f32 = (...values: number[]): Tensor => tensor("float32", [values.length], values) as Tensor;
const rows = (...values: number[]): Tensor => tensor("int64", [values.length, 1], values) as Tensor;
const inputs = (...indices: number[]): Tensor[] => [
  f32(5, 6, 7, 8),
  rows(...indices),
  f32(2, 3, 0),
];

/** What a call is given: a node, inputs, the output's gradient and options. */
type Arguments = readonly [node: unknown, inputs: Tensor[], gradient: Tensor, options?: object];

const OUT = zeros("float32", [4]);

/** Refused with the error of the JavaScript engine. */
const REFUSED: Readonly<Record<string, Arguments>> = {
  "data of integers": [SCATTER, [zeros("int32", [4]), rows(1), zeros("int32", [1])], OUT],
  "a gradient of another type": [SCATTER, inputs(1, 3, 1), zeros("float16", [4])],
  "a gradient of another shape": [SCATTER, inputs(1, 3, 1), f32(1, 2, 3)],
  "an unknown tie": [SCATTER, inputs(1, 3, 1), OUT, { ties: "odd" }],
  "the gradient of indices": [SCATTER, inputs(1, 3, 1), OUT, { argnums: 1 }],
  "out for indices": [SCATTER, inputs(1, 3, 1), OUT, { out: [null, OUT] }],
  "out of another shape": [SCATTER, inputs(1, 3, 1), OUT, { out: [null, null, OUT] }],
  "an unknown function": [{ function: "toString" }, inputs(1, 3, 1), OUT],
  "an unknown operator": [{ op: "Add", opset: 13 }, inputs(1, 3, 1), OUT],
  "updates of another shape": [SCATTER, inputs(1, 3), OUT],
  "an index outside, on the host": [SCATTER, inputs(1, 4, 1), OUT],
};

for (const [name, [node, tensors, gradient, options]] of Object.entries(REFUSED)) {
  test(`refused as elsewhere: ${name}`, () => {
    const expected = thrownBy(`${name} elsewhere`, () =>
      vjp(node as typeof SCATTER, tensors, gradient, options),
    );
    const upload = (one: unknown): unknown => (one === null ? null : engine.upload(one as Tensor));
    const own: { out?: readonly unknown[] } = { ...options };
    if (own.out !== undefined) own.out = own.out.map(upload);
    const values = [engine.upload(tensors[0]), ...tensors.slice(1)];
    const said = thrownBy(name, () =>
      engine.vjp(node as typeof SCATTER, values, engine.upload(gradient), own as object),
    );
    assert.deepEqual(said, expected);
  });
}

test("what only tensors of a GPU can have wrong", async () => {
  const values = inputs(1, 3, 1);
  const data = engine.upload(values[0]);
  const g = engine.upload(f32(1, 10, 100, 1000));
  const call = (node: unknown, given: unknown[], gradient: unknown, options?: object) => () =>
    engine.vjp(node as typeof SCATTER, given, gradient as GpuTensor, options);
  assertRefused(
    "dtype",
    { op: "ScatterND", input: "outputGradient" },
    call(SCATTER, [data, values[1], values[2]], f32(1, 1, 1, 1)),
  );
  assertRefused("dtype", { op: "ScatterND", input: "data" }, call(SCATTER, values, g));
  assertRefused("attribute", {}, call(SCATTER, [data, values[1], values[2]], g, { engine }));
  const gone = engine.upload(f32(1, 1, 1, 1));
  gone.dispose();
  assertRefused(
    "disposed",
    { input: "outputGradient" },
    call(SCATTER, [data, values[1], values[2]], gone),
  );
  const other = await openEngine({ device });
  const elsewhere = other.upload(f32(1, 1, 1, 1));
  assertRefused(
    "engine",
    { input: "outputGradient" },
    call(SCATTER, [data, values[1], values[2]], elsewhere),
  );
  assertRefused(
    "overlap",
    { input: "out" },
    call(SCATTER, [data, values[1], values[2]], g, { out: [data] }),
  );
  const gather = { function: "gatherND" } as const;
  assertRefused(
    "overlap",
    { input: "out" },
    call(gather, [data, rows(0, 1, 2, 3)], g, { out: [g] }),
  );
  const both = engine.upload(f32(1, 1, 1, 1));
  assertRefused(
    "overlap",
    { input: "out" },
    call(SCATTER, [data, rows(0, 1, 2, 3), data], g, { out: [both, null, both] }),
  );
});

test("gradients of products and extreme values, which the host computes", () => {
  const fields = { op: "ScatterND", allowed: WITH_GRADIENTS };
  const [data, list] = [engine.upload(f32(1, 2, 3, 4)), engine.upload(f32(1, 2))];
  for (const reduction of ["mul", "max", "min"] as const) {
    const node = { function: "scatterND", options: { reduction } } as const;
    const refused = { ...fields, got: reduction };
    assertRefused("reduction", refused, () => engine.vjp(node, [data, [[1], [2]], list], data));
    const plan = engine.planScatterND([4], [[1], [2]]);
    assertRefused("reduction", refused, () => plan.scatterVjp(data, list, data, { reduction }));
  }
});

test("gradients that take arithmetic which a GPU does not do", () => {
  for (const dtype of ["float64", "complex64", "complex128"] as const) {
    const data = engine.alloc(dtype, [4]);
    const [updates, ones] = [engine.alloc(dtype, [2]), engine.alloc(dtype, [4])];
    assertRefused("dtype", {}, () => engine.vjp({ function: "gather" }, [data, [0, 1]], updates));
    for (const reduction of WITH_GRADIENTS) {
      const node = { function: "scatterND", options: { reduction } } as const;
      const call = () => engine.vjp(node, [data, [[1], [2]], updates], ones);
      if (reduction === "none" || reduction === "add") call();
      else assertRefused("dtype", {}, call);
      const plan = engine.planScatterND([4], [[1], [2]]);
      const kept = () => plan.scatterVjp(data, updates, ones, { reduction });
      if (reduction === "none" || reduction === "add") kept();
      else assertRefused("dtype", {}, kept);
    }
  }
});

for (const reduction of WITH_GRADIENTS) {
  test(`an index that is bad on the GPU: ${reduction}`, async () => {
    const node = { function: "scatterND", options: { reduction } } as const;
    const [data, , updates] = inputs(1, 3, 1).map((one) => engine.upload(one));
    const indices = engine.upload(rows(1, 4, 1));
    const gradient = engine.upload(f32(1, 10, 100, 1000));
    const outs = [full("float32", [4], 7), null, full("float32", [3], 7)];
    const out = outs.map((one) => one && engine.upload(one as Tensor));
    engine.vjp(node, [data, indices, updates], gradient, { out });
    await assertRejected("index-out-of-range", { op: "ScatterND", at: [1, 0], got: 4 }, () =>
      engine.done(),
    );
    for (const [at, one] of out.entries()) {
      if (one) assertSame(await one.read(), outs[at] as Tensor, `out[${at}]`);
    }
    assertSame(await gradient.read(), f32(1, 10, 100, 1000), "outputGradient");
    const made = engine.vjp(node, [data, indices, updates], gradient);
    const after = engine.vjp(SCATTER, [data, rows(0), made[2] ? [1] : [1]], made[0] as GpuTensor);
    for (const result of [made[0], made[2], after[0]]) {
      await assertRejected("index-out-of-range", { at: [1, 0], got: 4 }, () =>
        (result as GpuTensor).read(),
      );
      result?.dispose();
    }
    after[2]?.dispose();
    await engine.done().catch(() => {});
  });
}

test("calls that are not awaited see what earlier ones wrote", async () => {
  const random = randomFrom(8);
  const data = randomTensor("float32", [300, 5], random);
  const indices = randomIndices("int32", [900, 1], () => 300, random);
  const updates = randomTensor("float32", [900, 5], random);
  const g = randomTensor("float32", [300, 5], random);
  const table = engine.upload(data);
  const where = engine.upload(indices);
  const what = engine.upload(updates);
  const gradient = engine.upload(g);
  // The gradient of the first call is that of the output of the second.
  const mean = { function: "scatterND", options: { reduction: "mean" } } as const;
  const [first] = engine.vjp(mean, [table, where, what], gradient, { argnums: 0 });
  engine.scatterND(gradient, where, what, { reduction: "add", out: gradient });
  const sub = { function: "scatterND", options: { reduction: "sub" } } as const;
  const [, , second] = engine.vjp(sub, [table, where, what], first as GpuTensor);
  gradient.dispose();
  const [right] = vjp(mean, [data, indices, updates], g, { argnums: 0 });
  const [, , expected] = vjp(sub, [data, indices, updates], right as Tensor);
  assertSame(await (second as GpuTensor).read(), expected as Tensor, "the second gradient");
  assertSame(await (first as GpuTensor).read(), right as Tensor, "the first gradient");
});

test("nodes, with an axis on the host", async () => {
  const node = { op: "Gather", opset: 8, domain: "openvino" };
  const data = tensor("float32", [2, 3], [1, 2, 3, 4, 5, 6]) as Tensor;
  const [indices, axis] = [tensor("int64", [2], [2, 2]), tensor("int64", [], [1])] as Tensor[];
  const g = tensor("float32", [2, 2], [1, 10, 100, 1000]) as Tensor;
  const [found, ...others] = engine.vjp(
    node,
    [engine.upload(data), engine.upload(indices), axis],
    engine.upload(g),
  );
  assert.deepEqual(others, [null, null]);
  assert.deepEqual([...(await (found as GpuTensor).read()).data], [0, 0, 11, 0, 0, 1100]);
  assertRefused("dtype", { input: "axis" }, () =>
    engine.vjp(node, [engine.upload(data), indices, engine.upload(axis)], engine.upload(g)),
  );
});
