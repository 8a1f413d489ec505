/**
 * Calls with a bad index on the GPU. Each leaves everything as it was, and `done` and `read` give the error that the
 * JavaScript engine throws for the same call; what uses its result writes nothing either; later calls are good.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { DType } from "../../src/core/tensor/dtype.ts";
import { tensor, Tensor, zeros } from "../../src/core/tensor/tensor.ts";
import type { GpuTensor } from "../../src/gpu/calls/types.ts";
import { randomFrom, randomTensor } from "../support/random.ts";
import { assertRejects, thrownBy, type Said } from "./expected-error.ts";
import { areGuards, bytesOfTensor, engine, guarded, readBuffers } from "./gpu.ts";
import type { Name } from "../support/ways.ts";
import { assertSame, i32, i64, js } from "./ways.ts";

interface Row {
  readonly name: string;
  readonly operator: Name;
  readonly data: readonly number[];
  readonly indices: Tensor;
  /** Of a scatter. */
  readonly updates?: readonly number[];
  readonly options?: Readonly<Record<string, unknown>>;
}

/** Indices of one column with the bad ones at some positions. */
function long(count: number, bad: Readonly<Record<number, number>>): Tensor {
  const data = Int32Array.from({ length: count }, (_, i) => i % 7);
  for (const [position, index] of Object.entries(bad)) data[Number(position)] = index;
  return new Tensor("int32", [count, 1], count, data);
}

const nd = (
  name: string,
  data: number[],
  indices: Tensor,
  updates: number[],
  options = {},
): Row => ({
  ...{ name, operator: "scatterND", data, indices, updates, options },
});
const take = (
  operator: Name,
  name: string,
  data: number[],
  indices: Tensor,
  options = {},
): Row => ({
  ...{ name, operator, data, indices, options },
});

const ROWS: readonly Row[] = [
  nd("just behind", [7], i32([2, 1], 3, 7), [2]),
  nd("just before", [7], i64([2, 1], 3, -8), [2]),
  nd("in the second place of a tuple", [4, 5], i32([3, 2], 1, 1, 3, 5, 9, 0), [3]),
  nd("in a row of slices", [4, 3], i64([2, 2, 1], 0, 1, 9, 2), [2, 2, 3]),
  nd("both of a tuple", [4, 5], i64([1, 2], -9, 9), [1]),
  nd("as one tuple", [4, 5], i64([2], 4, 0), []),
  nd("the first of several", [7], long(1000, { 999: 7, 500: -30, 501: 8, 700: 9 }), [1000]),
  nd("the last of many", [7, 3], long(100_000, { 99_999: 7 }), [100_000, 3]),
  nd(
    "many of many",
    [7],
    long(70_000, Object.fromEntries(Array.from({ length: 9000 }, (_, i) => [i * 7 + 44, 100 + i]))),
    [70_000],
  ),
  nd("a high word", [7], i64([3, 1], 3, 2n ** 32n + 3n, 2n ** 40n), [3]),
  nd("a high word of a negative one", [7], i64([1, 1], -(2n ** 32n) + 3n), [1]),
  nd("the least", [7], i64([1, 1], -(2n ** 63n)), [1]),
  nd("the greatest", [7], i64([1, 1], 2n ** 63n - 1n), [1]),
  nd("the least of 32 bits", [7], i32([1, 1], -(2 ** 31)), [1]),
  nd("into slices without elements", [3, 0], i32([2, 1], 0, 3), [2, 0]),
  nd("into an axis without elements", [0, 3], i32([1, 1], 0), [1, 3]),
  nd("negative where that is an error", [7], i32([3, 1], 3, -2, -3), [3], { negative: "error" }),
  nd("negative although others are dropped", [7], i64([3, 1], 9, 0, -3), [3], {
    negative: "error",
    bounds: "drop",
  }),
  nd("nearest to none", [0], i64([1, 1], 0), [1], { bounds: "clip" }),
  nd("the same target", [7], i32([5, 1], 3, 1, 2, 1, 3), [5], { duplicates: "error" }),
  nd("the same target by another word", [4, 5], i64([3, 2], 1, 1, 0, 0, -3, -4), [3], {
    duplicates: "error",
  }),
  nd(
    "the same target late",
    [70_001],
    tensor("int32", [70_001, 1], [...Array(70_000).keys(), 65_536]),
    [70_001],
    { duplicates: "error" },
  ),
  nd("outside before the same target", [7], i32([4, 1], 1, 1, 7, 1), [4], { duplicates: "error" }),
  nd("the same target where others are dropped", [7], i32([4, 1], 8, 8, 1, 1), [4], {
    duplicates: "error",
    bounds: "drop",
  }),
  nd("the same target where others are nearest", [7], i32([3, 1], 8, 1, 6), [3], {
    duplicates: "error",
    bounds: "clip",
  }),
  {
    name: "an element",
    operator: "scatterElements",
    data: [4, 5],
    indices: i32([2, 3], 1, 2, 3, 0, 1, 4),
    updates: [2, 3],
  },
  {
    name: "an element on axis 1",
    operator: "scatterElements",
    data: [4, 5],
    indices: i64([2, 2], 1, 4, -6, 5),
    updates: [2, 2],
    options: { axis: 1 },
  },
  {
    name: "an element's target twice",
    operator: "scatterElements",
    data: [4, 5],
    indices: i32([2, 2], 1, 2, 1, 3),
    updates: [2, 2],
    options: { duplicates: "error" },
  },
  {
    name: "a sequence too far",
    operator: "tensorScatter",
    data: [2, 4, 3],
    indices: i64([2], 1, 3),
    updates: [2, 2, 3],
    options: { axis: 1 },
  },
  {
    name: "a sequence too early",
    operator: "tensorScatter",
    data: [2, 4, 3],
    indices: i32([2], -1, 9),
    updates: [2, 2, 3],
  },
  {
    name: "a sequence at a high word",
    operator: "tensorScatter",
    data: [2, 4, 3],
    indices: i64([2], 0, 2n ** 32n),
    updates: [2, 2, 3],
  },
  {
    name: "an empty sequence",
    operator: "tensorScatter",
    data: [2, 4, 3],
    indices: i64([2], 4, 5),
    updates: [2, 0, 3],
  },
  take("gatherND", "a tuple", [4, 5], i32([2, 2], 3, 4, 4, 4)),
  take("gatherND", "a batch", [2, 4, 5], i64([2, 2, 1], 0, 3, 1, -5), { batchDims: 1 }),
  take("gatherND", "an empty slice", [4, 0], i64([1, 1], 4)),
  take("gatherElements", "an element", [4, 5], i64([2, 2], 0, 1, 3, 9), { axis: 1 }),
  take("gather", "a slice", [4, 5], i32([2, 2], 0, 1, 5, 2), { axis: 1 }),
  take("gather", "a scalar", [4, 5], i64([], 4)),
  take("gather", "of a batch", [2, 4, 5], i32([2, 2], 0, 1, 2, -5), { axis: 1, batchDims: 1 }),
  take("gather", "negative where that is an error", [4], i32([2], 3, -1), {
    negative: "error",
    bounds: "fill",
  }),
  take(
    "gather",
    "the last of many",
    [7, 3],
    tensor("int32", [100_000], long(100_000, { 99_999: -8 }).data as Int32Array),
  ),
];

/** What a scatter with bad indices would have done: each takes another way through an engine. */
const REDUCING: readonly (readonly [DType, object])[] = [
  ["float32", { reduction: "add" }],
  ["float32", { reduction: "max" }],
  ["int8", { reduction: "add" }],
  ["int64", { reduction: "mul" }],
  ["float16", { reduction: "mean" }],
  ["bfloat16", { reduction: "sub", includeSelf: false }],
];

/** A call on the GPU, the buffers that it must not change, and the error of the same call elsewhere. */
function bad(
  { operator, data, indices, updates, options }: Row,
  dtype: DType,
  result: string,
  more: object,
) {
  const random = randomFrom(3);
  const all = { ...options, ...more };
  const own = [randomTensor(dtype, data, random)];
  if (updates !== undefined) own.push(randomTensor(dtype, updates, random));
  if (operator === "tensorScatter") own.push(indices);
  else own.splice(1, 0, indices);
  const inputs = own.map(guarded);
  const error = thrownBy(operator, () => Reflect.apply(js[operator], js, [...own, all]));
  const shape =
    operator === "gather" || operator.startsWith("gather") ? shapeOf(operator, own, all) : data;
  const given = randomTensor(dtype, shape, random);
  const out = result === "out" ? guarded(given) : result === "in place" ? inputs[0] : undefined;
  const used = result === "out" && out !== undefined ? [...inputs, out] : inputs;
  const was = result === "out" ? [...own, given] : own;
  const gpu = inputs.map((one) => one.tensor);
  const made: GpuTensor = Reflect.apply(engine[operator], engine, [
    ...gpu,
    { ...all, out: out?.tensor },
  ]);
  const check = async (what: string): Promise<void> => {
    const bytes = await readBuffers(used.map(({ buffer }) => buffer));
    for (const [i, tensor] of was.entries()) {
      const expected = bytesOfTensor(tensor);
      const same = expected.every((byte, at) => byte === bytes[i][at]);
      assert.ok(
        same && areGuards(bytes[i].subarray(expected.length), used[i].buffer),
        `${what}: tensor ${i} changed`,
      );
    }
  };
  const dispose = (): void => {
    made.dispose();
    for (const { tensor, buffer } of used) {
      tensor.dispose();
      buffer.destroy();
    }
  };
  return { error, made, check, dispose };
}

/** The shape of what a gather would give, by a call that fills in. */
const shapeOf = (operator: Name, own: readonly Tensor[], options: object): readonly number[] =>
  Reflect.apply(js[operator], js, [...own, { ...options, bounds: "fill", negative: "wrap" }]).shape;

for (const row of ROWS) {
  const choices: readonly (readonly [DType, object])[] = [
    ["float32", {}],
    ["uint8", {}],
    ...(row.operator === "scatterND" && row.options?.["duplicates"] === undefined ? REDUCING : []),
  ];
  test(`${row.operator}: ${row.name}`, async () => {
    for (const [dtype, options] of choices) {
      for (const result of row.updates === undefined
        ? ["new", "out"]
        : ["new", "out", "in place"]) {
        const what = `${row.operator}, ${row.name}, ${dtype}, ${result}, ${JSON.stringify(options)}`;
        const call = bad(row, dtype, result, options);
        await assertRejects(`${what}: read`, call.made.read(), call.error);
        await assertRejects(`${what}: done`, engine.done(), call.error);
        await call.check(what);
        await engine.done();
        call.dispose();
      }
    }
  });
}

const GOOD = i32([3, 1], 1, 0, 1);
const BAD = i32([3, 1], 1, 5, 1);
const DATA = tensor("float32", [5], [1, 2, 3, 4, 5]);
const UPDATES = tensor("float32", [3], [0.5, 0.25, 8]);

/** What the JavaScript engine says of `BAD`. */
const ERROR: Said = thrownBy("BAD", () => js.scatterND(DATA, BAD, UPDATES));

const upload = (...tensors: Tensor[]): GpuTensor[] => tensors.map((one) => engine.upload(one));

test("what uses the result of a bad call writes nothing, and has its error", async () => {
  const [data, badIndices, goodIndices, updates] = upload(DATA, BAD, GOOD, UPDATES);
  const result = engine.scatterND(data, badIndices, updates, { reduction: "add" });
  const kept = Array.from({ length: 4 }, () => guarded(DATA));
  const three = guarded(UPDATES);
  const byPlan = engine.planScatterND([5], GOOD);
  const chained = [
    engine.scatterND(result, goodIndices, updates, { out: kept[0].tensor }),
    engine.gatherND(result, goodIndices, { out: three.tensor }),
    byPlan.scatter(result, updates, { reduction: "max", out: kept[1].tensor }),
    // As updates: the result has five elements.
    engine.scatterElements(kept[2].tensor, i32([5], 0, 1, 2, 3, 4), result, {
      out: kept[2].tensor,
    }),
    // Once more removed.
    engine.gather(engine.gather(result, GOOD), i32([1], 0)),
  ];
  const reads = chained.map((one, i) => assertRejects(`chained ${i}`, one.read(), ERROR));
  await assertRejects("done", engine.done(), ERROR);
  await Promise.all(reads);
  const bytes = await readBuffers([...kept, three].map(({ buffer }) => buffer));
  for (const [i, one] of [DATA, DATA, DATA, DATA, UPDATES].entries()) {
    const expected = bytesOfTensor(one);
    assert.deepEqual([...bytes[i].subarray(0, expected.length)], [...expected], `kept ${i}`);
  }
  for (const one of [data, badIndices, goodIndices, updates, result, ...chained]) one.dispose();
});

test("buffers of results of bad calls, read past the tensors, hold zeros or data", async () => {
  const [data, badIndices, updates] = upload(DATA, BAD, UPDATES);
  const gathered = engine.gatherND(data, badIndices);
  const scattered = engine.scatterND(data, badIndices, updates, { reduction: "add" });
  const past = [
    engine.fromBuffer(gathered.buffer, "float32", [3]),
    engine.fromBuffer(scattered.buffer, "float32", [5]),
  ];
  const reads = await Promise.all(past.map((one) => one.read()));
  assert.deepEqual(
    reads.map((one) => one.toArray()),
    [
      [0, 0, 0],
      [1, 2, 3, 4, 5],
    ],
  );
  await assert.rejects(engine.done(), { code: "index-out-of-range" });
});

test("as indices too the result of a bad call writes nothing", async () => {
  const data = guarded(DATA);
  const badIndices = engine.gather(engine.upload(GOOD), i32([1], 0));
  const lost = engine.gatherND(engine.upload(i32([5], 0, 0, 0, 0, 0)), engine.upload(BAD));
  const result = engine.scatterElements(data.tensor, lost, UPDATES, { out: data.tensor });
  const code = await rejectedCode(result.read());
  await assert.rejects(engine.done());
  assert.equal(code, "index-out-of-range");
  const [bytes] = await readBuffers([data.buffer]);
  assert.deepEqual([...bytes.subarray(0, 20)], [...bytesOfTensor(DATA)]);
  badIndices.dispose();
});

async function rejectedCode(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return Reflect.get(Object(error), "code");
  }
  return null;
}

test("done gives the first of several bad calls, and the next done is good", async () => {
  const [data, good, updates] = upload(DATA, GOOD, UPDATES);
  const seconds = [9, -7, 30].map((index) => engine.upload(i32([3, 1], 0, 1, index)));
  const sums = engine.scatterND(data, good, updates, { reduction: "add" });
  const bads = [engine.upload(BAD), ...seconds].map((indices) =>
    engine.scatterND(data, indices, updates),
  );
  const more = engine.scatterND(sums, good, updates, { reduction: "add" });
  await assertRejects("done", engine.done(), ERROR);
  await engine.done();
  const codes = await Promise.all(bads.map((one) => rejectedCode(one.read())));
  assert.deepEqual(
    codes,
    bads.map(() => "index-out-of-range"),
  );
  const once = js.scatterND(DATA, GOOD, UPDATES, { reduction: "add" });
  assertSame(await sums.read(), once, "before the bad calls");
  assertSame(
    await more.read(),
    js.scatterND(once, GOOD, UPDATES, { reduction: "add" }),
    "after them",
  );
  await engine.done();
});

test("each of many bad calls has its own error", async () => {
  const data = engine.upload(zeros("int32", [9]));
  const calls = Array.from({ length: 300 }, (_, i) => {
    const indices = engine.upload(i32([2], i % 9, i % 2 === 0 ? 100 + i : 3));
    return engine.gather(data, indices);
  });
  const gots = await Promise.all(
    calls.map((one) =>
      one.read().then(
        () => null,
        (error: object) => Reflect.get(error, "got"),
      ),
    ),
  );
  assert.deepEqual(
    gots,
    calls.map((_, i) => (i % 2 === 0 ? 100 + i : null)),
  );
  await assert.rejects(engine.done(), { got: 100 });
  await engine.done();
});

test("a tensor that a bad call should have written can be written by a good one", async () => {
  const out = guarded(UPDATES);
  const [data, badIndices, good] = upload(DATA, BAD, GOOD);
  engine.gatherND(data, badIndices, { out: out.tensor });
  await assertRejects(
    "done",
    engine.done(),
    thrownBy("gatherND", () => js.gatherND(DATA, BAD)),
  );
  const result = engine.gatherND(data, good, { out: out.tensor });
  assertSame(await result.read(), js.gatherND(DATA, GOOD), "the good call");
  await engine.done();
});

test("whoever reads what a bad call left as it was is told once", async () => {
  const out = guarded(UPDATES);
  const [data, badIndices] = upload(DATA, BAD);
  const error = thrownBy("gatherND", () => js.gatherND(DATA, BAD));
  const result = engine.gatherND(data, badIndices, { out: out.tensor });
  // Both ask before either knows.
  const [read, done] = [result.read(), engine.done()];
  await assertRejects("read", read, error);
  await assertRejects("done", done, error);
  assertSame(await result.read(), UPDATES, "what was there");
});

test("a bad call is not forgotten when its tensors are disposed of before anyone waits", async () => {
  const [data, badIndices, updates] = upload(DATA, BAD, UPDATES);
  const result = engine.scatterND(data, badIndices, updates);
  for (const one of [data, badIndices, updates, result]) one.dispose();
  await assertRejects("done", engine.done(), ERROR);
  await engine.done();
});
