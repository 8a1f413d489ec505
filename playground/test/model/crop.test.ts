/** Parts of calls that are larger than the page shows: what is wrong with the whole is wrong with the part. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  explain,
  operators,
  run,
  tensor,
  type OperatorVersion,
  type Role,
  type Tensor,
} from "ndscatter";
import { writeNpy } from "ndscatter/npy";
import { resolve, roleOf } from "ndscatter/operators";
import { explainState, readState } from "../../src/document/read-state.ts";
import { withOperator } from "../../src/document/with-operator.ts";
import { cropOf, type Cropped } from "../../src/reading/crop.ts";
import { fromTensors } from "../../src/reading/from-tensors.ts";
import { MOST_ELEMENTS } from "../../src/values/limits.ts";
import { rolePosition } from "../../src/values/schema.ts";
import { positionOf, sizeOf } from "../../src/values/shape.ts";
import type { State } from "../../src/values/state.ts";
import { stateOf, SUM } from "../support/states.ts";

type Shape = readonly number[];

const BASE = stateOf(SUM);

const under = (
  domain: State["domain"],
  op: string,
  opset: number,
  attributes: State["attributes"],
): State => ({ ...withOperator(BASE, { domain, op, opset }).state, attributes });

const sequence = (attributes: State["attributes"] = {}): State =>
  under("ai.onnx", "TensorScatter", 24, { axis: "1", ...attributes });

/** A tensor whose values say their positions, from 1; `sign` tells data and updates apart. */
const numbered = (shape: Shape, sign = 1): Tensor =>
  tensor(
    "float64",
    shape,
    Array.from({ length: sizeOf(shape) }, (_, n) => sign * (n + 1)),
  ) as Tensor;

const indicesOf = (shape: Shape, values: readonly number[]): Tensor =>
  tensor("int64", shape, values) as Tensor;

function partOf(
  state: State,
  tensors: readonly (Tensor | null)[],
  at: Shape | null = null,
): Cropped {
  const part = cropOf(state, tensors, at);
  assert.ok(part);
  for (const input of part.state.inputs) assert.ok((input?.values.length ?? 0) <= MOST_ELEMENTS);
  return part;
}

const numbersIn = ({ data }: Tensor): number[] => Array.from(data as Float64Array);

/** The numbers in data, updates and the output of a part, which has no faults. */
function outputOf({ state }: Cropped) {
  const { node, inputs, faults } = readState(state);
  assert.deepEqual(faults, []);
  const inputOf = (role: Role): Tensor | undefined => inputs[rolePosition(resolve(node), role)];
  const [data, updates = null] = [inputOf("data"), inputOf("updates")];
  assert.ok(data);
  return { data, updates, output: run(node, inputs)[0] };
}

/** The bad indices of a part. */
const badOf = ({ state }: Cropped) =>
  (explainState(state).explanation?.badIndices ?? []).map(({ at, got }) => ({
    at,
    got: Number(got),
  }));

const ROWS = 5000;
const WIDTH = 40;
const COUNT = 3000;
const DATA = numbered([ROWS, WIDTH]);
/** All rows once, but the last ten are row 77, one is out of range, and one counts from the end. */
const targets = Array.from({ length: COUNT }, (_, n) => (n >= COUNT - 10 ? 77 : n + 1000));
targets[1500] = ROWS + 3;
targets[1501] = -1;
const INDICES = indicesOf([COUNT, 1], targets);
const UPDATES = numbered([COUNT, WIDTH], -1);

test("ScatterND: the index out of range and the shared target are in the part", () => {
  const part = partOf(BASE, [DATA, INDICES, UPDATES]);
  const [data, indices] = part.state.inputs;
  assert.deepEqual(badOf(part), [{ at: [0, 0], got: (data?.shape[0] ?? 0) + 3 }]);
  // The bad one first, then those of one target.
  const row = indices?.values[1];
  assert.deepEqual(indices?.values.slice(1, 11), Array(10).fill(row));
  assert.notEqual(indices?.values[11], row);
  assert.equal(
    part.remarks[0],
    "1 of 3,000 index tuples is out of range and 10 share a target; these come first.",
  );
});

test("a part with all tuples keeps each update with its tuple, and the wrong ones come first", () => {
  const indices = indicesOf([4, 1], [-1, 2, ROWS, 2]);
  const updates = numbered([4, WIDTH], -1);
  const [data, places, values] = partOf(BASE, [DATA, indices, updates]).state.inputs;
  assert.deepEqual(data?.rows, [2, ROWS - 1]);
  assert.deepEqual(places?.values, ["2", "0", "0", "-1"]);
  assert.deepEqual(
    [0, 1, 2, 3].map((row) => values?.values[row * 8]),
    [2, 1, 3, 0].map((tuple) => String(-1 - tuple * WIDTH)),
  );
});

test("files: a part and the command; nothing where all can be shown", async () => {
  const files = [
    { name: "u.npy", bytes: writeNpy(UPDATES) },
    { name: "x.npy", bytes: writeNpy(DATA) },
    { name: "idx.npy", bytes: writeNpy(INDICES) },
  ];
  const large = await fromTensors(files, BASE);
  assert.ok("choices" in large);
  assert.equal(large.choices.length, 1);
  assert.equal(
    large.command,
    "npx ndscatter explain ScatterND --opset 18 --attr reduction=add x.npy idx.npy u.npy",
  );
  const small = [{ name: "x.npy", bytes: writeNpy(tensor("float32", [2], [1, 2])) }];
  assert.ok(!("command" in (await fromTensors(small, BASE))));
});

test("an index out of range in a late batch is in the part, and misses the axis by as much", () => {
  const values = Array.from({ length: 40 * 30 * 2 }, (_, at) => ((at * 7919 + 93) % 100) - 50);
  values[(33 * 30 + 28) * 2 + 1] = 63;
  const state = under("ai.onnx", "GatherND", 13, { batch_dims: "1" });
  const part = partOf(state, [numbered([40, 50, 60]), indicesOf([40, 30, 2], values)]);
  const [bad, ...others] = badOf(part);
  assert.deepEqual(others, []);
  assert.equal(bad.got - (part.state.inputs[0]?.shape[2] ?? 0), 3);
  assert.deepEqual(part.remarks.slice(0, 2), [
    "1 of 1,200 index tuples in all batches is out of range; these come first.",
    "data keeps the coordinates 0, 1, 2, 33 of 40 along axis 0.",
  ]);
  assert.deepEqual(part.state.inputs[1]?.shape, [4, 8, 2]);
  const { shape: kept = [], values: data = [] } = part.state.inputs[0] ?? {};
  assert.deepEqual(
    [0, 1, 2, 3].map((batch) =>
      Math.floor((Number(data[batch * kept[1] * kept[2]]) - 1) / (50 * 60)),
    ),
    [0, 1, 2, 33],
  );
});

// prettier-ignore
const WITHOUT: readonly (readonly [title: string, state: State, tensors: readonly (Tensor | null)[]])[] = [
  ["ScatterUpdate", under("openvino", "ScatterUpdate", 3, {}), [DATA, INDICES, UPDATES, null]],
  ["GatherND with different batches", under("ai.onnx", "GatherND", 13, { batch_dims: "1" }),
    [numbered([4, 5]), indicesOf([3, 1], [0, 0, 0])]],
  ["Gather along an axis of the batches", under("openvino", "Gather", 8, { batch_dims: "1" }),
    [numbered([4, 5]), indicesOf([4, 1], [0, 0, 0, 0]), indicesOf([], [0])]],
  ["updates longer than the cache", sequence(), [numbered([300, 100]), numbered([300, 101]), null]],
  ["updates of fewer samples", sequence(), [numbered([300, 100]), numbered([299, 9]), null]],
  ["write_indices of fewer samples", sequence(),
    [numbered([300, 100]), numbered([300, 9]), indicesOf([299], Array(299).fill(0))]],
  ["a cache without the axis", sequence(), [numbered([300]), numbered([300]), null]],
];

for (const [title, state, tensors] of WITHOUT) {
  test(`no part: ${title}`, () => assert.equal(cropOf(state, tensors), null));
}

/** The versions whose calls have parts, except TensorScatter, if they accept negative indices. */
const VERSIONS = operators().filter(
  ({ name, indexForm, negativeIndices }) =>
    indexForm !== "sequences" && name !== "ScatterUpdate" && negativeIndices,
);

/** Draws a call whose indices are valid, except for `misses` of them. */
function drawn(one: fc.GeneratorValue, misses: number) {
  const version = one(fc.constantFrom<OperatorVersion[]>, ...VERSIONS);
  const number = (min: number, max: number): number => one(fc.integer, { min, max });
  const dims = (length: number, max: number): number[] =>
    Array.from({ length }, () => number(1, max));
  const has = (name: string): boolean => version.attributes.some((schema) => schema.name === name);
  const { indexForm: form, domain, name: op, sinceVersion: opset } = version;
  const isTuples = form === "tuples";
  const batchDims = has("batch_dims") ? number(0, 2) : 0;
  const axis = batchDims + (isTuples ? 0 : number(0, 1));
  const k = isTuples ? number(1, 2) : 1;
  const data = [...dims(axis, 6), ...dims(k, 60), ...dims(number(0, 1), 40)];
  const places = [...data.slice(0, batchDims), ...dims(number(0, 2), 30)];
  const shape =
    form === "elements"
      ? data.map((dim, d) => number(1, d === axis ? 90 : dim))
      : [...places, ...(isTuples ? [k] : [])];
  const step = 2 * number(0, 5000) + 1;
  const values = Array.from({ length: sizeOf(shape) }, (_, at) => {
    const size = data[axis + (at % k)];
    return ((at * step) % (2 * size)) - size;
  });
  for (let n = 0; n < misses; n++) {
    const at = number(0, values.length - 1);
    values[at] = data[axis + (at % k)] + number(0, 9);
  }
  const written = number(0, 1) === 0 ? axis : axis - data.length;
  const slices = [...shape.slice(0, -1), ...data.slice(axis + k)];
  const byRole = {
    data: numbered(data),
    indices: indicesOf(shape, values),
    updates: numbered(isTuples ? slices : shape, -1),
    axis: indicesOf([], [written]),
  };
  const attributes = {
    ...(has("axis") ? { axis: written } : {}),
    ...(has("batch_dims") ? { batch_dims: batchDims } : {}),
  };
  const texts = Object.entries(attributes).map(([name, value]) => [name, String(value)]);
  return {
    node: { domain, op, opset, attributes },
    state: { domain, op, opset, attributes: Object.fromEntries(texts), inputs: [] } as State,
    tensors: version.inputs.map((schema) => byRole[roleOf(schema)]),
    isFilled: version.outOfRange === "fill",
    ...{ number, batchDims, data, byRole, form, axis },
  };
}

test("a part has bad indices if and only if the whole has some, and no other faults", () => {
  let count = 0;
  fc.assert(
    fc.property(fc.gen(), fc.integer({ min: 0, max: 3 }), (one, misses) => {
      const { node, state, tensors, isFilled } = drawn(one, misses);
      const { badIndices } = explain(node, tensors);
      const part = partOf(state, tensors);
      assert.equal(badOf(part).length > 0, badIndices.length > 0);
      assert.equal(badIndices.length > 0, misses > 0 && !isFilled);
      assert.match(part.remarks[0], misses > 0 ? /^[1-3] of / : /^0 of /);
      assert.ok(explainState(part.state).explanation?.shapes.every(({ fits }) => fits));
      if (badIndices.length > 0) count++;
    }),
  );
  assert.ok(count > 20, `${count}`);
});

test("a part gives what the whole gives there, and has the cell that it should have", () => {
  fc.assert(
    fc.property(fc.gen(), (one) => {
      const { node, state, tensors, number, batchDims, data, byRole, form, axis } = drawn(one, 0);
      const [whole] = run(node, tensors);
      const all = numbersIn(whole);
      const at = number(0, 1) === 0 ? null : whole.shape.map((dim) => number(0, dim - 1));
      const cell = at && all[positionOf(at, whole.shape)];
      const { data: kept, updates, output } = outputOf(partOf(state, tensors, at));
      const [before, got] = [kept, output].map(numbersIn);
      if (updates === null) {
        // Each batch of the part reads elements that the same batch reads in the whole.
        const batches = sizeOf(kept.shape.slice(0, batchDims));
        const perBatch = sizeOf(data.slice(batchDims));
        const inBatch = all.length / sizeOf(data.slice(0, batchDims));
        for (const [place, value] of got.entries()) {
          const batch = Math.floor((place * batches) / got.length);
          const origin = Math.floor((before[(batch * before.length) / batches] - 1) / perBatch);
          assert.ok(all.indexOf(value, origin * inBatch) < (origin + 1) * inBatch);
          assert.ok(all.includes(value, origin * inBatch));
        }
        assert.ok(got.length > 0 && (cell === null ? got[0] === all[0] : got.includes(cell)));
        return;
      }
      // The data that each update replaces is what a gather with the same indices reads.
      const gathers = form === "tuples" ? "GatherND" : "GatherElements";
      const attributes = form === "tuples" ? {} : { axis };
      const read = { domain: "ai.onnx", op: gathers, opset: 13, attributes } as const;
      const replaced = numbersIn(run(read, [byRole.data, byRole.indices])[0]);
      const here = new Set(numbersIn(updates));
      for (const [place, value] of got.entries()) {
        const wanted = all[before[place] - 1];
        if (wanted > 0 || here.has(wanted)) assert.equal(value, wanted);
        // An update that the part leaves out may replace an earlier one.
        else assert.ok(value === before[place] || replaced[-value - 1] === before[place]);
      }
      if (cell !== null && cell < 0)
        assert.ok(before.includes(positionOf(at ?? [], whole.shape) + 1));
    }),
    { numRuns: 200 },
  );
});

test("TensorScatter: samples that do not fit come first, and miss the end by as much", () => {
  const begins = Array.from({ length: 64 }, (_, sample) => sample * 5);
  begins[40] = 395;
  begins[41] = -2;
  begins[50] = 1000;
  const tensors = [numbered([64, 400, 9]), numbered([64, 20, 9], -1), indicesOf([64], begins)];
  const part = partOf(sequence(), tensors);
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

test("TensorScatter: where no sample fits, or the end of a sequence does not, the part has these faults only", () => {
  const tensorsOf = (begins: readonly number[]) => [
    ...[numbered([30, 100, 9]), numbered([30, 20, 9], -1), indicesOf([30], begins)],
  ];
  const part = partOf(sequence(), tensorsOf(Array(30).fill(500)));
  assert.equal(badOf(part).length, 3);
  assert.ok(explainState(part.state).explanation?.shapes.every(({ fits }) => fits));
  const end = partOf(sequence(), tensorsOf(Array(30).fill(0).with(7, 83)));
  // Elements 14 to 19 go to 97 to 102: three are in, three are out.
  assert.deepEqual(badOf(end), [{ at: [0], got: (end.state.inputs[0]?.shape[1] ?? 0) - 3 }]);
});

test("TensorScatter: the part writes what the whole writes, in both modes", () => {
  fc.assert(
    fc.property(fc.gen(), fc.boolean(), fc.boolean(), (one, isRing, isLast) => {
      const number = (min: number, max: number): number => one(fc.integer, { min, max });
      const [batch, size] = [number(1, 12), number(1, 40)];
      const length = number(1, size);
      const begins = Array.from({ length: batch }, () =>
        isRing ? number(-90, 90) : number(0, size - length),
      );
      const shapeOf = (along: number): number[] => (isLast ? [batch, 3, along] : [batch, along, 3]);
      const tensors = [
        ...[numbered(shapeOf(size)), numbered(shapeOf(length), -1), indicesOf([batch], begins)],
      ];
      const attributes = { axis: isLast ? -1 : 1, mode: isRing ? "circular" : "linear" };
      const node = { domain: "ai.onnx", op: "TensorScatter", opset: 24, attributes } as const;
      const all = numbersIn(run(node, tensors)[0]);
      const state = sequence({ axis: String(attributes.axis), mode: attributes.mode });
      const part = partOf(state, tensors);
      const { data, updates, output } = outputOf(part);
      assert.ok(updates !== null);
      for (const [sample, begin] of part.state.inputs[2]?.values.entries() ?? [])
        assert.equal(begin.startsWith("-"), begins[sample] < 0);
      const [before, got] = [data, output].map(numbersIn);
      const here = new Set(numbersIn(updates));
      for (const [at, value] of got.entries()) {
        // A cell is what the whole has there, or data if the whole has an update that the part leaves out.
        const wanted = all[before[at] - 1];
        assert.equal(value, wanted > 0 || here.has(wanted) ? wanted : before[at]);
      }
      for (const update of here) assert.equal(got.filter((value) => value === update).length, 1);
    }),
  );
});

test("TensorScatter without write_indices", () => {
  const state = { ...sequence(), inputs: [null, null, null] };
  const part = partOf(state, [numbered([300, 100]), numbered([300, 9], -1), null]);
  const { updates, output } = outputOf(part);
  assert.deepEqual(output.shape, [6, 6]);
  assert.deepEqual(numbersIn(output), updates && numbersIn(updates));
});
