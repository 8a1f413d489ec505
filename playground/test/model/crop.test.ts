/** Parts of calls that are larger than the page shows: what is wrong with the whole is wrong with the part. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { gather, run, tensor, type Tensor } from "ndscatter";
import { writeNpy } from "ndscatter/npy";
import { explainState, readState } from "../../src/document/read-state.ts";
import { withOperator } from "../../src/document/with-operator.ts";
import { cropOf, type Cropped } from "../../src/reading/crop.ts";
import { fromTensors } from "../../src/reading/from-tensors.ts";
import { MOST_ELEMENTS } from "../../src/values/limits.ts";
import { stateOf, SUM } from "../support/states.ts";

const BASE = stateOf(SUM);
const under = (op: string, opset: number) =>
  withOperator(BASE, { domain: "ai.onnx", op, opset }).state;

const ROWS = 5000;
const WIDTH = 40;
const COUNT = 3000;

/** A tensor whose values say their positions; `sign` tells data and updates apart. */
function numbered(dtype: "float32" | "int32", shape: readonly number[], sign = 1): Tensor {
  const size = shape.reduce((all, dim) => all * dim, 1);
  return tensor(
    dtype,
    shape,
    Array.from({ length: size }, (_, n) => sign * n),
  );
}

const DATA = numbered("float32", [ROWS, WIDTH]);
/** All rows once, but the last ten are row 77, one is out of range, and one counts from the end. */
const targets = Array.from({ length: COUNT }, (_, n) => (n >= COUNT - 10 ? 77 : n + 1000));
targets[1500] = ROWS + 3;
targets[1501] = -1;
const INDICES = tensor("int64", [COUNT, 1], targets) as Tensor;
const UPDATES = numbered("float32", [COUNT, WIDTH], -1);

function cropped(state: typeof BASE, tensors: readonly Tensor[]): Cropped {
  const part = cropOf(state, tensors);
  assert.ok(part);
  for (const input of part.state.inputs)
    assert.ok(input !== null && input.values.length <= MOST_ELEMENTS);
  return part;
}

test("ScatterND: the index out of range and the shared target are in the part", () => {
  const { state, remarks } = cropped(BASE, [DATA, INDICES, UPDATES]);
  const { explanation, faults } = explainState(state);
  assert.equal(faults.length, 1);
  assert.deepEqual(
    explanation?.badIndices.map(({ got }) => Number(got) - (state.inputs[0]?.shape[0] ?? 0)),
    [3],
  );
  const [, indices] = state.inputs;
  // The bad one first, then those of one target.
  const row = indices?.values[1];
  assert.deepEqual(indices?.values.slice(1, 11), Array(10).fill(row));
  assert.notEqual(indices?.values[11], row);
  assert.ok(
    remarks.some(
      (one) =>
        one === "1 of 3,000 index tuples is out of range and 10 share a target; these come first.",
    ),
  );
});

test("ScatterND without the bad index: the part gives what the whole gives there", () => {
  const right = tensor("int64", [COUNT, 1], targets.with(1500, 0)) as Tensor;
  const { state, remarks } = cropped(BASE, [DATA, right, UPDATES]);
  const { node, inputs, faults } = readState(state);
  assert.deepEqual(faults, []);
  const [whole] = run({ ...node }, [DATA, right, UPDATES]);
  const [part] = run(node, inputs);
  const named = /coordinates ([\d, …]+) of/.exec(remarks[1])?.[1].split(/, (?=\d)/) ?? [];
  const rows = named.slice(0, 5).map((one) => Number(one.replaceAll(/[^\d]/g, "")));
  const picked = gather(
    gather(whole, tensor("int64", [5], rows)),
    tensor("int64", [8], [0, 1, 2, 3, 4, 5, 6, 7]),
    { axis: 1 },
  );
  assert.deepEqual(picked.toArray(), gather(part, tensor("int64", [5], [0, 1, 2, 3, 4])).toArray());
});

test("a part with all tuples keeps each update with its tuple, and the wrong ones come first", () => {
  const indices = tensor("int64", [4, 1], [5, 2, ROWS, 2]) as Tensor;
  const updates = tensor("float32", [4, WIDTH], targets.slice(0, 4 * WIDTH)) as Tensor;
  const [data, places, values] = cropped(BASE, [DATA, indices, updates]).state.inputs;
  assert.deepEqual(data?.rows, [2, 5]);
  assert.deepEqual(places?.values, ["2", "0", "0", "1"]);
  const firsts = [2, 1, 3, 0].map((tuple) => String(targets[tuple * WIDTH]));
  assert.deepEqual(
    firsts.map((_, row) => values?.values[row * 8]),
    firsts,
  );
});

test("Gather, GatherND, ScatterElements and GatherElements keep what is wrong", () => {
  const flat = tensor("int64", [COUNT], targets) as Tensor;
  const full = tensor(
    "int64",
    [COUNT, WIDTH],
    Array.from({ length: COUNT * WIDTH }, (_, n) => (n === 77_777 ? -ROWS - 2 : n % ROWS)),
  ) as Tensor;
  const calls = [
    [under("Gather", 13), [DATA, flat]],
    [under("GatherND", 13), [DATA, INDICES]],
    [under("ScatterElements", 18), [DATA, full, UPDATES]],
    [under("GatherElements", 13), [DATA, full]],
  ] as const;
  for (const [state, tensors] of calls) {
    const part = cropped(state, tensors);
    const { explanation } = explainState(part.state);
    assert.equal(explanation?.badIndices.length, 1, state.op);
    assert.match(part.remarks[0], /^1 of .* is out of range/);
  }
});

test("ScatterUpdate has no part", () => {
  const { state } = withOperator(BASE, { domain: "openvino", op: "ScatterUpdate", opset: 3 });
  assert.equal(cropOf(state, [DATA, INDICES, UPDATES, null]), null);
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

test("the part contains a given cell, and gives what the whole gives there", () => {
  const size = 3000;
  const cell = fc.integer({ min: 0, max: size - 1 });
  fc.assert(
    fc.property(fc.array(cell, { minLength: size, maxLength: size }), cell, (where, at) => {
      const data = numbered("int32", [size]);
      const updates = numbered("int32", [size], -1);
      const scatter = {
        ...{ domain: "ai.onnx" as const, op: "ScatterElements", opset: 18, inputs: [] },
        attributes: { reduction: "add" },
      };
      const indices = tensor("int64", [size], where);
      const part = cropOf(scatter, [data, indices, updates], [where[at]]);
      assert.ok(part?.state.inputs[0]?.values.includes(String(where[at])));
      const tuples = { ...scatter, op: "ScatterND" };
      const same = cropOf(tuples, [data, tensor("int64", [size, 1], where), updates], [where[at]]);
      assert.ok(same?.state.inputs[0]?.values.includes(String(where[at])));
      const gather = { ...scatter, op: "Gather", opset: 13, attributes: {} };
      const gathered = cropOf(gather, [data, indices], [at]);
      assert.ok(gathered?.state.inputs[0]?.values.includes(String(where[at])));
    }),
    { numRuns: 20 },
  );
});
