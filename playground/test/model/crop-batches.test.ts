/** Parts of large calls with batches: gathers with batch dimensions, and TensorScatter. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { run, tensor, type Tensor } from "ndscatter";
import { explainState, readState } from "../../src/document/read-state.ts";
import { withOperator } from "../../src/document/with-operator.ts";
import { cropOf, type Cropped } from "../../src/reading/crop.ts";
import type { State } from "../../src/values/state.ts";
import { stateOf, SUM } from "../support/states.ts";

const BASE = stateOf(SUM);

type Attributes = State["attributes"];

const under = (
  domain: State["domain"],
  op: string,
  opset: number,
  attributes: Attributes,
): State => ({
  ...withOperator(BASE, { domain, op, opset }).state,
  attributes,
});

const sizeOf = (shape: readonly number[]): number => shape.reduce((all, dim) => all * dim, 1);

/** Each value says its position; `sign` tells data and updates apart. */
const numbered = (shape: readonly number[], sign = 1): Tensor =>
  tensor(
    "float64",
    shape,
    Array.from({ length: sizeOf(shape) }, (_, n) => sign * (n + 1)),
  ) as Tensor;

const indicesOf = (shape: readonly number[], values: readonly number[]): Tensor =>
  tensor("int64", shape, values) as Tensor;

function partOf(state: State, tensors: readonly (Tensor | null)[]): Cropped {
  const part = cropOf(state, tensors);
  assert.ok(part);
  return part;
}

/** The output of a part, which has no faults, and its tensors. */
function outputOf({ state }: Cropped): { readonly output: Tensor; readonly inputs: Tensor[] } {
  const { node, inputs, faults } = readState(state);
  assert.deepEqual(faults, []);
  return { output: run(node, inputs)[0], inputs: inputs as Tensor[] };
}

const numbersIn = ({ data }: Tensor): number[] => Array.from(data as Float64Array);

/** The bad indices of a part: their places, and by how much each misses the axis of `size`. */
const badOf = ({ state }: Cropped) =>
  (explainState(state).explanation?.badIndices ?? []).map(({ at, got }) => ({
    at,
    got: Number(got),
  }));

test("TensorScatter: samples that do not fit come first, and miss the end by as much", () => {
  const state = under("ai.onnx", "TensorScatter", 24, { axis: "1" });
  const begins = Array.from({ length: 64 }, (_, sample) => sample * 5);
  begins[40] = 395;
  begins[41] = -2;
  begins[50] = 1000;
  const part = partOf(state, [
    numbered([64, 400, 9]),
    numbered([64, 20, 9], -1),
    indicesOf([64], begins),
  ]);
  assert.deepEqual(part.remarks.slice(0, 2), [
    "3 of 64 samples are out of range; these come first.",
    "past_cache keeps the coordinates 40, 41, 50, 0, 1, 2 of 64 along axis 0.",
  ]);
  assert.match(part.remarks[2], /^past_cache keeps the coordinates .* of 400 along axis 1\.$/);
  assert.match(part.remarks[3], /^update keeps the coordinates 14, 15, .* of 20 along axis 1\.$/);
  const [data, update] = part.state.inputs;
  assert.deepEqual(update?.shape, [6, 6, 8]);
  const size = data?.shape[1] ?? 0;
  // The part begins with sample 40, and its update with element 14 of that sample.
  assert.equal(Math.floor((Number(data?.values[0]) - 1) / (400 * 9)), 40);
  assert.equal(Number(update?.values[0]), -((40 * 20 + 14) * 9 + 1));
  // The last six of twenty elements of sample 40 begin at 395 + 14, which is 9 behind the last position.
  assert.deepEqual(badOf(part), [
    { at: [0], got: size + 9 },
    { at: [1], got: -2 },
    { at: [2], got: size + 99 },
  ]);
});

test("TensorScatter: where no sample fits, the part has that fault and no other", () => {
  const state = under("ai.onnx", "TensorScatter", 24, { axis: "1" });
  const begins = Array.from({ length: 30 }, () => 500);
  const tensors = [numbered([30, 100, 9]), numbered([30, 20, 9], -1), indicesOf([30], begins)];
  const part = partOf(state, tensors);
  assert.equal(badOf(part).length, 3);
  assert.ok(explainState(part.state).explanation?.shapes.every(({ fits }) => fits));
});

test("TensorScatter: a sequence whose end alone does not fit shows both of its parts", () => {
  const state = under("ai.onnx", "TensorScatter", 24, { axis: "1" });
  const begins = Array.from({ length: 30 }, (_, sample) => (sample === 7 ? 83 : 0));
  const part = partOf(state, [
    numbered([30, 100, 9]),
    numbered([30, 20, 9], -1),
    indicesOf([30], begins),
  ]);
  const size = part.state.inputs[0]?.shape[1] ?? 0;
  // Elements 14 to 19 go to 97 to 102: three are in, three are out.
  assert.deepEqual(badOf(part), [{ at: [0], got: size - 3 }]);
});

interface Sequences {
  readonly batch: number;
  readonly size: number;
  readonly length: number;
  readonly begins: readonly number[];
  readonly isRing: boolean;
  readonly isLast: boolean;
}

const sequences: fc.Arbitrary<Sequences> = fc
  .record({
    batch: fc.integer({ min: 1, max: 12 }),
    size: fc.integer({ min: 1, max: 40 }),
    isRing: fc.boolean(),
    isLast: fc.boolean(),
  })
  .chain((one) =>
    fc.integer({ min: 1, max: one.size }).chain((length) => {
      const most = one.size - length;
      const begin = one.isRing
        ? fc.integer({ min: -90, max: 90 })
        : fc.integer({ min: 0, max: most });
      const begins = fc.array(begin, { minLength: one.batch, maxLength: one.batch });
      return begins.map((list) => ({ ...one, length, begins: list }));
    }),
  );

test("TensorScatter: the part writes what the whole writes, in both modes", () => {
  fc.assert(
    fc.property(sequences, ({ batch, size, length, begins, isRing, isLast }) => {
      const shapeOf = (along: number): number[] => (isLast ? [batch, 3, along] : [batch, along, 3]);
      const attributes = { axis: isLast ? "-1" : "1", ...(isRing ? { mode: "circular" } : {}) };
      const state = under("ai.onnx", "TensorScatter", 24, attributes);
      const tensors = [
        numbered(shapeOf(size)),
        numbered(shapeOf(length), -1),
        indicesOf([batch], begins),
      ];
      const [whole] = run(
        {
          domain: "ai.onnx",
          op: "TensorScatter",
          opset: 24,
          attributes: { axis: isLast ? -1 : 1, mode: isRing ? "circular" : "linear" },
        },
        tensors,
      );
      const all = numbersIn(whole);
      const { output, inputs } = outputOf(partOf(state, tensors));
      const [before, written] = inputs.map(numbersIn);
      const here = new Set(written);
      const got = numbersIn(output);
      assert.ok(written.length > 0 && written.every((one) => got.includes(one)));
      for (const [at, value] of got.entries()) {
        // A cell is what the whole has there, or data if the whole has an update that the part leaves out.
        const wanted = all[before[at] - 1];
        assert.equal(value, wanted > 0 || here.has(wanted) ? wanted : before[at]);
      }
      for (const one of here) assert.equal(got.filter((value) => value === one).length, 1);
    }),
  );
});

test("TensorScatter without write_indices, and with shapes that do not fit", () => {
  const state = {
    ...under("ai.onnx", "TensorScatter", 24, { axis: "1" }),
    inputs: [null, null, null],
  };
  const data = numbered([300, 100]);
  const { output, inputs } = outputOf(partOf(state, [data, numbered([300, 9], -1), null]));
  assert.deepEqual(output.shape, [6, 6]);
  assert.deepEqual(numbersIn(output), numbersIn(inputs[1]));
  assert.equal(cropOf(state, [data, numbered([300, 101]), null]), null);
  assert.equal(cropOf(state, [data, numbered([299, 9]), null]), null);
  assert.equal(
    cropOf(state, [data, numbered([300, 9]), indicesOf([299], Array(299).fill(0))]),
    null,
  );
});

interface Batched {
  readonly batches: readonly number[];
  readonly rows: readonly number[];
  readonly sizes: readonly number[];
  readonly behind: readonly number[];
  readonly seed: number;
}

const dims = (minLength: number, maxLength: number, max: number): fc.Arbitrary<number[]> =>
  fc.array(fc.integer({ min: 1, max }), { minLength, maxLength });

const batched: fc.Arbitrary<Batched> = fc.record({
  batches: dims(1, 2, 6),
  rows: dims(0, 2, 12),
  sizes: dims(1, 2, 30),
  behind: dims(0, 1, 10),
  seed: fc.nat(10_000),
});

/** Indices of all signs in range: neighbours differ by an odd step. */
const inRange = (count: number, sizes: readonly number[], seed: number): number[] =>
  Array.from({ length: count * sizes.length }, (_, at) => {
    const size = sizes[at % sizes.length];
    return ((at * 7919 + seed * 31) % (2 * size)) - size;
  });

/** Checks that each slice of the part's output is a slice of the same batch in the whole, and that the order is kept. */
function checkGather(part: Cropped, whole: Tensor, data: Tensor, batchAxes: number): void {
  const { output, inputs } = outputOf(part);
  const [kept] = inputs;
  const perBatch = sizeOf(data.shape.slice(batchAxes));
  const inBatch = whole.size / (data.size / perBatch);
  const batches = sizeOf(kept.shape.slice(0, batchAxes));
  const all = numbersIn(whole);
  const got = numbersIn(output);
  const [own, each] = [kept.size / batches, got.length / batches];
  assert.ok(each > 0);
  for (let batch = 0; batch < batches; batch++) {
    const origin = Math.floor((numbersIn(kept)[batch * own] - 1) / perBatch);
    const row = new Set(all.slice(origin * inBatch, (origin + 1) * inBatch));
    for (const value of got.slice(batch * each, (batch + 1) * each)) assert.ok(row.has(value));
  }
  // All rows of few batches: the part begins with the first row of the first batch.
  assert.equal(got[0], all[0]);
}

test("GatherND with batches: each batch of the part gathers what it gathers in the whole", () => {
  fc.assert(
    fc.property(batched, ({ batches, rows, sizes, behind, seed }) => {
      const data = numbered([...batches, ...sizes, ...behind]);
      fc.pre(data.shape.length <= 5 && batches.length + rows.length < 5);
      const count = sizeOf([...batches, ...rows]);
      const indices = indicesOf([...batches, ...rows, sizes.length], inRange(count, sizes, seed));
      const attributes = { batch_dims: batches.length };
      const [whole] = run({ domain: "ai.onnx", op: "GatherND", opset: 13, attributes }, [
        data,
        indices,
      ]);
      const state = under("ai.onnx", "GatherND", 13, { batch_dims: String(batches.length) });
      checkGather(partOf(state, [data, indices]), whole, data, batches.length);
    }),
    // Each row of each batch has coordinates of its own, so data of 8 rows a batch would be larger than the page shows.
    { examples: [[{ batches: [3, 3], rows: [3], sizes: [11, 27], behind: [8], seed: 0 }]] },
  );
});

test("Gather of OpenVINO with batches: each batch of the part gathers what it gathers in the whole", () => {
  fc.assert(
    fc.property(batched, fc.boolean(), ({ batches, rows, sizes, behind, seed }, isNegative) => {
      const data = numbered([...batches, ...sizes, ...behind]);
      fc.pre(data.shape.length <= 5 && batches.length + rows.length <= 5);
      const axis = data.shape.length - behind.length - 1;
      const count = sizeOf([...batches, ...rows]);
      const indices = indicesOf([...batches, ...rows], inRange(count, [data.shape[axis]], seed));
      const typed = tensor("int64", [], [isNegative ? axis - data.shape.length : axis]) as Tensor;
      const written = isNegative ? batches.length - indices.shape.length : batches.length;
      const attributes = { batch_dims: written };
      const inputs = [data, indices, typed];
      const [whole] = run({ domain: "openvino", op: "Gather", opset: 8, attributes }, inputs);
      // Where the axis is not the first behind the batches, the part has few coordinates of the axes between.
      const state = under("openvino", "Gather", 8, { batch_dims: String(written) });
      if (written !== 0) checkGather(partOf(state, inputs), whole, data, batches.length);
    }),
  );
});

test("an index out of range in a late batch is in the part, and misses the axis by as much", () => {
  const shape = [40, 30, 2];
  const values = inRange(40 * 30, [50, 60], 3);
  values[(33 * 30 + 28) * 2 + 1] = 63;
  const state = under("ai.onnx", "GatherND", 13, { batch_dims: "1" });
  const part = partOf(state, [numbered([40, 50, 60]), indicesOf(shape, values)]);
  const bad = badOf(part);
  assert.equal(bad.length, 1);
  assert.equal(bad[0].got - (part.state.inputs[0]?.shape[2] ?? 0), 3);
  assert.deepEqual(part.remarks.slice(0, 2), [
    "1 of 1,200 index tuples in all batches is out of range; these come first.",
    "data keeps the coordinates 0, 1, 2, 33 of 40 along axis 0.",
  ]);
  assert.deepEqual(part.state.inputs[1]?.shape, [4, 8, 2]);
  const { shape: kept = [], values: data = [] } = part.state.inputs[0] ?? {};
  const batchOf = (value: string): number => Math.floor((Number(value) - 1) / (50 * 60));
  const perBatch = kept[1] * kept[2];
  assert.deepEqual(
    [0, 1, 2, 3].map((batch) => batchOf(data[batch * perBatch])),
    [0, 1, 2, 33],
  );
});

test("batches that do not agree have no part", () => {
  const state = under("ai.onnx", "GatherND", 13, { batch_dims: "1" });
  assert.equal(cropOf(state, [numbered([4, 5]), indicesOf([3, 1], [0, 0, 0])]), null);
  const gather = under("openvino", "Gather", 8, { batch_dims: "1" });
  const axis = tensor("int64", [], [0]) as Tensor;
  assert.equal(cropOf(gather, [numbered([4, 5]), indicesOf([4, 1], [0, 0, 0, 0]), axis]), null);
});
