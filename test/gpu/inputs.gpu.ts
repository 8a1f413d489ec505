/** What may stand for indices and updates, one tensor in several places of a call, and plans that serve many calls. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { DTYPE_NAMES, reductionsOf, viewOf } from "../../src/core/tensor/dtype.ts";
import { tensor, Tensor } from "../../src/core/tensor/tensor.ts";
import { assertRefused } from "../support/refusal.ts";
import { randomFrom, randomTensor } from "../support/random.ts";
import { device, engine, guarded, hasArithmetic, openEngine, readBuffers } from "./gpu.ts";
import { assertSame, js } from "./ways.ts";

const DATA = tensor("float32", [5, 2], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
const INDICES = tensor("int64", [3, 1], [4, -5, 4]);
const UPDATES = tensor("float32", [3, 2], [0.5, 0.25, 8, 16, 32, 64]);

/** The same indices, and the same updates. */
const SAME_INDICES: readonly unknown[] = [
  [[4], [-5], [4]],
  [[4n], [-5n], [4n]],
  { type: "int64", dims: [3, 1], data: BigInt64Array.of(4n, -5n, 4n) },
  { type: "int32", dims: [3, 1], data: Int32Array.of(4, -5, 4) },
  tensor("int32", [3, 1], [4, -5, 4]),
];
const SAME_UPDATES: readonly unknown[] = [
  [
    [0.5, 0.25],
    [8, 16],
    [32, 64],
  ],
  { type: "float32", dims: [3, 2], data: Float32Array.of(0.5, 0.25, 8, 16, 32, 64) },
  UPDATES,
];

test("lists and tensors of other packages stand for indices and updates", async () => {
  for (const reduction of ["none", "add"] as const) {
    const expected = js.scatterND(DATA, INDICES, UPDATES, { reduction });
    const results = SAME_INDICES.flatMap((indices) =>
      SAME_UPDATES.flatMap((updates) => {
        const data = engine.upload(DATA);
        return [
          Reflect.apply(engine.scatterND, engine, [data, indices, updates, { reduction }]),
          Reflect.apply(engine.planScatterND, engine, [[5, 2], indices]).scatter(data, updates, {
            reduction,
          }),
        ];
      }),
    );
    assert.equal(results.length, 30);
    for (const result of results) assertSame(await result.read(), expected, reduction);
  }
});

/** A tensor of onnxruntime-web on the GPU: whoever asks for its elements gets an error. */
const onRuntime = (type: string, dims: readonly number[], gpuBuffer: unknown) => ({
  ...{ type, dims, gpuBuffer, location: "gpu-buffer" },
  get data(): Float32Array {
    throw new Error("The data is not on CPU. Use `getData()` to download GPU data to CPU");
  },
});

test("tensors of onnxruntime on the GPU stand for indices and updates", async () => {
  const places = onRuntime("int64", [3, 1], guarded(INDICES).buffer);
  const values = onRuntime("float32", [3, 2], guarded(UPDATES).buffer);
  const data = engine.upload(DATA);
  const plan = engine.planScatterND([5, 2], INDICES);
  const options = { reduction: "add" } as const;
  const expected = js.scatterND(DATA, INDICES, UPDATES, options);
  for (const result of [
    engine.scatterND(data, places, values, options),
    engine.scatterND(data, INDICES, values, options),
    engine.scatterND(data, places, UPDATES, options),
    plan.scatter(data, values, options),
  ]) {
    assertSame(await result.read(), expected, "by tensors of onnxruntime");
  }
  assertSame(
    await engine.gatherND(data, places).read(),
    js.gatherND(DATA, INDICES),
    "places of a gather",
  );
});

test("tensors of onnxruntime on the GPU that do not fit", () => {
  const data = engine.upload(DATA);
  const updates = guarded(UPDATES);
  const withUpdates = (given: unknown) => () =>
    Reflect.apply(engine.scatterND, engine, [data, INDICES, given]);
  const was = onRuntime("float32", [3, 2], undefined);
  const disposedOf = Object.create(was, { location: { value: "none" } });
  for (const [code, facts, given] of [
    ["dtype", {}, onRuntime("int32", [3, 2], updates.buffer)],
    ["dtype", {}, onRuntime("odd", [3, 2], updates.buffer)],
    ["shape-mismatch", {}, onRuntime("float32", [100], updates.buffer)],
    ["shape-mismatch", { expected: [3, 2] }, onRuntime("float32", [3, 1], updates.buffer)],
    ["attribute", {}, onRuntime("float32", [3], 7)],
    ["disposed", {}, disposedOf],
  ] as const) {
    assertRefused(code, { op: "ScatterND", input: "updates", ...facts }, withUpdates(given));
  }
  // Elements on the GPU are no elements of the host.
  const upload = (): unknown => engine.upload(onRuntime("float32", [3, 2], updates.buffer));
  assertRefused("dtype", {}, upload);
});

test("tensors of the heap at every address, and in shared memory", async () => {
  const bytes = Uint8Array.from({ length: 64 }, (_, i) => 3 * i + 1);
  for (const [dtype, step] of [
    ["uint8", 1],
    ["float16", 2],
    ["float32", 4],
    ["int64", 8],
  ] as const) {
    for (const begin of [0, 1, 2, 3, 5].map((n) => n * step)) {
      for (const size of [1, 2, 3, 5].filter((n) => begin + n * step <= 64)) {
        const heap = new Tensor(
          dtype,
          [size],
          size,
          viewOf(dtype, bytes.buffer, begin, size) as never,
        );
        assertSame(await engine.upload(heap).read(), heap, `${dtype} from ${begin} on`);
      }
    }
  }
  if (typeof SharedArrayBuffer === "undefined") return;
  const shared = new Float32Array(new SharedArrayBuffer(24), 4, 4);
  shared.set([1, 2, 3, 4]);
  const heap = tensor("float32", [4], shared);
  assertSame(await engine.upload(heap).read(), tensor("float32", [4], [1, 2, 3, 4]), "shared");
});

test("one tensor in several places of a call", async () => {
  const places = tensor("int32", [4], [3, 0, 0, 1]);
  const one = guarded(places);
  const other = guarded(places);
  const results = [
    [engine.gather(one.tensor, one.tensor), js.gather(places, places)],
    [
      engine.scatterElements(one.tensor, one.tensor, one.tensor, { reduction: "add" }),
      js.scatterElements(places, places, places, { reduction: "add" }),
    ],
    [
      engine.scatterElements(other.tensor, one.tensor, one.tensor, {
        reduction: "mul",
        out: other.tensor,
      }),
      js.scatterElements(places, places, places, { reduction: "mul" }),
    ],
    [engine.gatherElements(one.tensor, one.tensor), js.gatherElements(places, places)],
  ] as const;
  for (const [result, expected] of results) assertSame(await result.read(), expected, "shared");
  assertSame(await one.tensor.read(), places, "the inputs");
  await engine.done();
});

test("one plan serves all data types and reductions, scatters and gathers", async () => {
  const indices = tensor("int64", [6, 1], [3, 0, 3, -1, 3, 2]);
  const plan = engine.planScatterND([5, 3], indices);
  const random = randomFrom(9);
  for (const dtype of DTYPE_NAMES.filter((name) => name !== "string")) {
    const [data, updates] = [
      randomTensor(dtype, [5, 3], random),
      randomTensor(dtype, [6, 3], random),
    ];
    const gpu = [data, updates].map((one) => engine.upload(one));
    for (const reduction of reductionsOf(dtype)) {
      if (reduction !== "none" && !hasArithmetic(dtype)) continue;
      const expected = js.scatterND(data, indices, updates, { reduction });
      // More than once: what the first call has made is kept.
      for (const way of ["first", "again", "host"]) {
        const result = plan.scatter(gpu[0], way === "host" ? updates : gpu[1], { reduction });
        assertSame(await result.read(), expected, `${dtype} ${reduction}, ${way}`);
        result.dispose();
      }
    }
    assertSame(await plan.gather(gpu[0]).read(), js.gatherND(data, indices), `${dtype}, gathered`);
    for (const one of gpu) one.dispose();
  }
  plan.dispose();
});

test("a plan that was disposed of", () => {
  const plan = engine.planGather([5, 2], [1]);
  plan.dispose();
  const data = engine.upload(DATA);
  assertRefused("disposed", {}, () => plan.gather(data));
  assertRefused("disposed", {}, () => plan.scatter(data, [[1, 2]]));
  // What it knows on the host is still there.
  assert.deepEqual([plan.shape, plan.duplicates()], [[1, 2], []]);
});

test("two engines on one device do not see each other's calls", async () => {
  const other = await openEngine({ device });
  const data = guarded(DATA);
  const same = other.fromBuffer(data.buffer, "float32", [5, 2]);
  let expected = DATA;
  for (let n = 0; n < 20; n++) {
    const options = { reduction: "add" } as const;
    if (n % 2 === 0)
      engine.scatterND(data.tensor, INDICES, UPDATES, { ...options, out: data.tensor });
    else other.scatterND(same, INDICES, UPDATES, { ...options, out: same });
    expected = js.scatterND(expected, INDICES, UPDATES, options);
  }
  const bad = other.gather(same, other.upload(tensor("int32", [1], [5])));
  await engine.done();
  await assert.rejects(bad.read(), { code: "index-out-of-range" });
  await assert.rejects(other.done(), { code: "index-out-of-range" });
  const [bytes] = await readBuffers([data.buffer]);
  assert.deepEqual(
    [...new Float32Array(bytes.buffer, 0, 10)],
    [...(expected.data as Float32Array)],
  );
  other.dispose();
});
