/**
 * Calls that are refused at once: for shapes, data types, options and indices of the host, with the error that the
 * JavaScript engine throws for the same call; and for what only tensors of a GPU can have wrong. Nothing is submitted then,
 * and later calls are good.
 */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { BUFFER_USAGE } from "../../src/gpu/kernels/webgpu.ts";
import { DTYPE_NAMES, reductionsOf } from "../../src/core/tensor/dtype.ts";
import { tensor, Tensor, zeros } from "../../src/core/tensor/tensor.ts";
import type { GpuTensor } from "../../src/gpu/calls/types.ts";
import { assertRefused, assertRejected } from "../support/refusal.ts";
import { thrownBy } from "./expected-error.ts";
import {
  bufferOf,
  bytesOfTensor,
  device,
  engine,
  guarded,
  hasArithmetic,
  openEngine,
  readBuffers,
  TENSOR_USAGE,
} from "./gpu.ts";
import type { Name } from "../support/ways.ts";
import { assertSame, i32, i64, js } from "./ways.ts";

const f32 = (...shape: number[]): Tensor => zeros("float32", shape);

interface Row {
  readonly name: string;
  readonly operator: Name;
  readonly inputs: readonly Tensor[];
  readonly options?: Readonly<Record<string, unknown>>;
  readonly out?: Tensor;
}

const ok = (): Tensor[] => [f32(8), i32([2, 1], 0, 1), f32(2)];

const nd = (name: string, inputs: Tensor[], options = {}): Row => ({
  name,
  operator: "scatterND",
  inputs,
  options,
});
const intoOut = (name: string, out: Tensor): Row => ({
  name,
  operator: "scatterND",
  inputs: ok(),
  out,
});
const call = (operator: Name, name: string, inputs: Tensor[], options = {}): Row => ({
  name,
  operator,
  inputs,
  options,
});

/** Refused for shapes, types and options, whatever the indices are. */
const ROWS: readonly Row[] = [
  nd("updates of another shape", [f32(8), i32([2, 1], 0, 1), f32(3)]),
  nd("updates of another rank", [f32(8), i32([2, 1], 0, 1), f32(2, 1)]),
  nd("updates of another type", [f32(8), i32([2, 1], 0, 1), zeros("float64", [2])]),
  nd("indices of floats", [f32(8), f32(2, 1), f32(2)]),
  nd("indices of 8 bits", [f32(8), zeros("uint8", [2, 1]), f32(2)]),
  nd("tuples that are too long", [f32(8), i32([1, 2], 0, 1), f32(1)]),
  nd("indices of rank 0", [f32(8), i32([], 0), f32()]),
  nd("data of rank 0", [f32(), i32([1, 0]), f32(1)]),
  nd("an unknown reduction", ok(), { reduction: "sum" }),
  nd("a reduction that is no word", ok(), { reduction: 7 }),
  nd("an unknown option", ok(), { axes: 1 }),
  nd("an axis that it does not have", ok(), { axis: 0 }),
  nd("an unknown policy", ok(), { bounds: "wrap" }),
  nd("a policy of gathers", ok(), { bounds: "fill" }),
  nd("the mean of booleans", [zeros("bool", [4]), i32([1, 1], 0), zeros("bool", [1])], {
    reduction: "mean",
  }),
  intoOut("out of another shape", f32(9)),
  intoOut("out of another type", zeros("int32", [8])),
  intoOut("out of another rank", f32(8, 1)),
  call("scatterElements", "an axis outside", [f32(2, 3), i32([1, 1], 0), f32(1, 1)], { axis: 2 }),
  call("scatterElements", "an axis that is no integer", [f32(2), i32([1], 0), f32(1)], {
    axis: 0.5,
  }),
  call("scatterElements", "indices larger than data", [
    f32(2, 3),
    zeros("int32", [1, 4]),
    f32(1, 4),
  ]),
  call("scatterElements", "indices of another rank", [f32(2, 3), i32([1], 0), f32(1)]),
  call("gatherND", "batches that differ", [f32(2, 3), zeros("int64", [3, 1])], { batchDims: 1 }),
  call("gatherND", "tuples of none", [f32(2, 3), zeros("int64", [3, 0])]),
  call("gatherND", "as many batches as axes", [f32(2, 3), zeros("int64", [2, 3])], {
    batchDims: 2,
  }),
  call("gatherElements", "indices of another rank", [f32(2, 3), i32([2], 0, 0)]),
  call("gather", "an axis outside", [f32(2, 3), i32([1], 0)], { axis: -3 }),
  call("gather", "more batches than axes before", [f32(2, 3), i32([2, 1], 0, 0)], { batchDims: 1 }),
  call("gather", "a policy of scatters", [f32(2, 3), i32([1], 0)], { duplicates: "error" }),
  call("tensorScatter", "the axis of the batch", [f32(2, 3), f32(2, 1), i64([2], 0, 0)], {
    axis: 0,
  }),
  call("tensorScatter", "a longer sequence", [f32(2, 3), f32(2, 4), i64([2], 0, 0)], { axis: 1 }),
  call("tensorScatter", "places of another batch", [f32(2, 3, 1), f32(2, 1, 1), i64([3], 0, 0, 0)]),
  call("tensorScatter", "an unknown mode", [f32(2, 3, 1), f32(2, 1, 1), i64([2], 0, 0)], {
    mode: "ring",
  }),
  ...DTYPE_NAMES.filter((dtype) => dtype !== "string" && reductionsOf(dtype).length === 1).map(
    (dtype) =>
      nd(`sums of ${dtype}`, [zeros(dtype, [4]), i32([1, 1], 0), zeros(dtype, [1])], {
        reduction: "add",
      }),
  ),
];

/** Refused for values of indices, where they are on the host. */
const OF_HOST: readonly Row[] = [
  nd("an index outside", [f32(8), i32([2, 1], 0, 8), f32(2)]),
  nd("a far index", [f32(8), i64([2, 1], 0, 2n ** 40n), f32(2)]),
  nd("a negative one", [f32(8), i64([2, 1], 0, -1), f32(2)], { negative: "error" }),
  nd("a target twice", [f32(8), i64([3, 1], 5, 0, -3), f32(3)], { duplicates: "error" }),
  call("scatterElements", "an index outside", [f32(2, 3), i32([1, 2], 0, 3), f32(1, 2)], {
    axis: 1,
  }),
  call("tensorScatter", "a place outside", [f32(2, 3, 1), f32(2, 2, 1), i64([2], 0, 2)]),
  call("gatherND", "an index outside", [f32(2, 3), i64([1, 2], 1, -4)]),
  call("gatherElements", "an index outside", [f32(2, 3), i32([1, 1], 2)]),
  call("gather", "an index outside", [f32(2, 3), i32([1], 3)], { axis: 1 }),
];

function check({ name, operator, inputs, options, out }: Row, areHost: boolean): void {
  const expected = thrownBy(`${name} elsewhere`, () =>
    Reflect.apply(js[operator], js, [...inputs, { ...options, out }]),
  );
  const gpu = inputs.map((input, i) => (i > 0 && areHost ? input : engine.upload(input)));
  const own = out && engine.upload(out);
  const said = thrownBy(name, () =>
    Reflect.apply(engine[operator], engine, [...gpu, { ...options, out: own }]),
  );
  assert.deepEqual(said, expected);
}

for (const row of ROWS) {
  test(`${row.operator}: ${row.name}`, () => {
    check(row, false);
    check(row, true);
  });
}
for (const row of OF_HOST)
  test(`${row.operator}, on the host: ${row.name}`, () => check(row, true));

test("what a GPU has no arithmetic for", () => {
  const types = DTYPE_NAMES.filter(
    (dtype) => dtype !== "string" && reductionsOf(dtype).length > 1 && !hasArithmetic(dtype),
  );
  assert.deepEqual(types, ["float64", "complex64", "complex128"]);
  for (const dtype of types) {
    for (const reduction of reductionsOf(dtype).filter((one) => one !== "none")) {
      const [data, updates] = [engine.alloc(dtype, [4]), engine.alloc(dtype, [1])];
      const plan = engine.planScatterND([4], [[1]]);
      for (const action of [
        () => engine.scatterND(data, [[1]], updates, { reduction }),
        () =>
          engine.scatterND(data, engine.upload(i32([1, 1], 1)), updates, {
            reduction,
            includeSelf: false,
          }),
        () => plan.scatter(data, updates, { reduction }),
      ]) {
        assertRefused("dtype", { input: "data" }, action);
      }
    }
  }
});

test("text", () => {
  const text = tensor("string", [1], ["a"]);
  assertRefused("dtype", {}, () => engine.upload(text));
  assertRefused("dtype", {}, () => engine.alloc("string", [1]));
  assertRefused("dtype", {}, () => engine.fromBuffer(bufferOf(new Uint8Array(8)), "string", [1]));
});

/** What no program that the compiler has seen does. */
const given = (value: unknown): GpuTensor => value as GpuTensor;

test("data on the host, and what is no tensor", () => {
  const [data, indices, updates] = ok();
  const plan = engine.planScatterND([8], indices);
  const bytes = bufferOf(new Uint8Array(32));
  for (const value of [data, [1, 2], null, undefined, "data", bytes, {}]) {
    assertRefused("dtype", { op: "ScatterND", input: "data" }, () =>
      engine.scatterND(given(value), indices, updates),
    );
    assertRefused("dtype", { op: "Gather", input: "data" }, () => engine.gather(given(value), [0]));
    assertRefused("dtype", { op: "ScatterND", input: "data" }, () =>
      plan.scatter(given(value), updates),
    );
    assertRefused("dtype", { op: "ScatterND", input: "data" }, () => plan.gather(given(value)));
    if (value === undefined) continue;
    const own = engine.upload(data);
    assertRefused("dtype", { op: "ScatterND", input: "out" }, () =>
      engine.scatterND(own, indices, updates, { out: given(value) }),
    );
    assertRefused("dtype", { op: "ScatterND", input: "out" }, () =>
      plan.scatter(own, updates, { out: given(value) }),
    );
  }
});

test("indices of a kept plan are on the host", () => {
  const indices = engine.upload(i32([2, 1], 0, 1));
  assertRefused("dtype", { input: "indices" }, () =>
    Reflect.apply(engine.planScatterND, engine, [[8], indices]),
  );
});

test("kept plans refuse as they do elsewhere", () => {
  const plans = [js, engine].map((one) => one.planScatterND([8], [[1], [3]]));
  const place = [(one: Tensor): Tensor => one, (one: Tensor): GpuTensor => engine.upload(one)];
  const rows: readonly ((at: 0 | 1) => unknown)[] = [
    (at) => Reflect.apply(plans[at].scatter, plans[at], [place[at](f32(9)), [1, 2]]),
    (at) => Reflect.apply(plans[at].scatter, plans[at], [place[at](f32(8)), place[at](f32(3))]),
    (at) =>
      Reflect.apply(plans[at].scatter, plans[at], [
        place[at](f32(8)),
        place[at](zeros("int32", [2])),
      ]),
    (at) =>
      Reflect.apply(plans[at].scatter, plans[at], [
        place[at](f32(8)),
        [1, 2],
        { reduction: "sum" },
      ]),
    (at) =>
      Reflect.apply(plans[at].scatter, plans[at], [place[at](f32(8)), [1, 2], { bounds: "clip" }]),
    (at) => Reflect.apply(plans[at].gather, plans[at], [place[at](f32(8, 1))]),
    (at) =>
      Reflect.apply(plans[at].gather, plans[at], [place[at](f32(8)), { out: place[at](f32(3)) }]),
    (at) => (at === 0 ? js : engine).planGather([8], [8]),
    (at) => (at === 0 ? js : engine).planScatterElements([8], [[1]]),
    (at) => (at === 0 ? js : engine).planGatherND([8, -1], [[1]]),
  ];
  for (const [i, row] of rows.entries()) {
    const expected = thrownBy(`row ${i} elsewhere`, () => row(0));
    assert.deepEqual(
      thrownBy(`row ${i}`, () => row(1)),
      expected,
    );
  }
});

test("a kept plan tells repeated targets, and does not change with its indices", async () => {
  const indices = i32([4, 1], 1, 3, 1, -5);
  const plan = engine.planScatterND([8], indices);
  assert.deepEqual(plan.duplicates(), js.planScatterND([8], indices).duplicates());
  assert.deepEqual([plan.dataShape, plan.shape], [[8], [4]]);
  const data = engine.upload(f32(8));
  const updates = tensor("float32", [4], [1, 2, 4, 8]);
  const expected = js.scatterND(f32(8), indices, updates, { reduction: "add" });
  (indices.data as Int32Array).fill(7);
  assertSame(await plan.scatter(data, updates, { reduction: "add" }).read(), expected, "the plan");
  plan.dispose();
  plan.dispose();
});

test("host tensors may change as soon as a call has returned", async () => {
  const [data, indices, updates] = [f32(8), i32([2, 1], 2, 5), tensor("float32", [2], [3, 4])];
  const resident = engine.upload(data);
  (data.data as Float32Array).fill(9);
  const result = engine.scatterND(resident, indices, updates);
  (indices.data as Int32Array).fill(0);
  (updates.data as Float32Array).fill(9);
  assert.deepEqual((await result.read()).toArray(), [0, 0, 3, 0, 0, 4, 0, 0]);
});

test("disposed tensors", async () => {
  const [data, indices, updates] = ok();
  const gpu = [data, indices, updates].map((one) => engine.upload(one));
  for (const [i, name] of ["data", "indices", "updates"].entries()) {
    const gone = engine.upload([data, indices, updates][i]);
    gone.dispose();
    gone.dispose();
    assert.equal(gone.isDisposed, true);
    const inputs = gpu.with(i, gone);
    assertRefused("disposed", { input: name }, () =>
      engine.scatterND(inputs[0], inputs[1], inputs[2]),
    );
    await assertRejected("disposed", {}, () => gone.read());
  }
  const out = engine.upload(data);
  out.dispose();
  assertRefused("disposed", { input: "out" }, () =>
    engine.scatterND(gpu[0], gpu[1], gpu[2], { out }),
  );
  const heap = f32(4);
  structuredClone(0, { transfer: [(heap.data as Float32Array).buffer as ArrayBuffer] });
  assertRefused("disposed", {}, () => engine.upload(heap));
});

test("a shared buffer outlives its tensors", async () => {
  const values = tensor("float32", [3], [1, 2, 3]);
  const { tensor: one, buffer } = guarded(values);
  one.dispose();
  assertSame(await engine.fromBuffer(buffer, "float32", [3]).read(), values, "another tensor");
});

const other = await openEngine({ device });
after(() => other.dispose());

test("tensors of another engine", async () => {
  const own = ok().map((one) => engine.upload(one));
  for (const [i, one] of ok().entries()) {
    const inputs = own.with(i, other.upload(one));
    assertRefused("engine", {}, () => engine.scatterND(inputs[0], inputs[1], inputs[2]));
  }
  const out = other.upload(f32(8));
  assertRefused("engine", { input: "out" }, () =>
    engine.scatterND(own[0], own[1], own[2], { out }),
  );
  // The buffer of one's device is no other engine's.
  const shared = engine.fromBuffer(out.buffer, "float32", [8]);
  assertSame(await shared.read(), f32(8), "through the buffer");
});

test("out in the memory of an input", () => {
  const buffer = bufferOf(new Uint8Array(64));
  const over = (dtype: "float32" | "int32", ...shape: number[]) =>
    engine.fromBuffer(buffer, dtype, shape);
  const elsewhere = engine.upload(f32(8));
  const [, indices, updates] = ok();
  const rows: readonly (() => unknown)[] = [
    () => engine.scatterND(elsewhere, indices, over("float32", 2), { out: over("float32", 8) }),
    () => engine.scatterND(elsewhere, over("int32", 2, 1), updates, { out: over("float32", 8) }),
    () => engine.gatherND(over("float32", 8), indices, { out: over("float32", 2) }),
    () => engine.gather(over("float32", 2), [1, 0], { out: over("float32", 2) }),
    () => engine.planGather([8], [0, 1]).gather(over("float32", 8), { out: over("float32", 2) }),
    () =>
      engine
        .planScatterND([8], indices)
        .scatter(elsewhere, over("float32", 2), { out: over("float32", 8) }),
  ];
  for (const row of rows) assertRefused("overlap", { input: "out" }, row);
});

test("another tensor over the buffer of data is data itself", async () => {
  const start = tensor("float32", [8], [1, 2, 3, 4, 5, 6, 7, 8]);
  const { tensor: data, buffer } = guarded(start);
  const [, indices, updates] = ok();
  const out = engine.fromBuffer(buffer, "float32", [8]);
  engine.scatterND(data, indices, updates, { out });
  assertSame(await data.read(), js.scatterND(start, indices, updates), "in place");
});

test("buffers that cannot hold a tensor", () => {
  const buffer = bufferOf(new Uint8Array(16));
  assertRefused("shape-mismatch", { got: 16 }, () => engine.fromBuffer(buffer, "float32", [5]));
  assertRefused("shape-mismatch", { got: 16 }, () => engine.fromBuffer(buffer, "int8", [17]));
  assertRefused("dtype", {}, () => engine.fromBuffer(buffer, "float33" as "float32", [1]));
  assertRefused("shape-mismatch", {}, () => engine.fromBuffer(buffer, "float32", [-1]));
  for (const missing of [BUFFER_USAGE.STORAGE, BUFFER_USAGE.COPY_SRC, BUFFER_USAGE.COPY_DST]) {
    const poor = device.createBuffer({ size: 16, usage: TENSOR_USAGE & ~missing });
    assertRefused("attribute", {}, () => engine.fromBuffer(poor, "float32", [4]));
    poor.destroy();
  }
  assert.equal(engine.fromBuffer(buffer, "int8", [16]).size, 16);
});

test("refused calls are not calls: nothing changed, and done has nothing to tell", async () => {
  const values = tensor("float32", [8], [1, 2, 3, 4, 5, 6, 7, 8]);
  const { tensor: data, buffer } = guarded(values);
  assertRefused("index-out-of-range", { at: [0, 0], got: 8 }, () =>
    engine.scatterND(data, [[8]], [1], { out: data }),
  );
  await engine.done();
  const [bytes] = await readBuffers([buffer]);
  assert.deepEqual([...bytes.subarray(0, 32)], [...bytesOfTensor(values)]);
});
