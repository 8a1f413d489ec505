/** Which input a file or an array is for: by its name, its data type and its shape. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { DType } from "ndscatter";
import { resolve } from "ndscatter/operators";
import { withOperator } from "../../src/document/with-operator.ts";
import { certainOf } from "../../src/reading/certain.ts";
import { commandOf } from "../../src/reading/command.ts";
import { matched, unusedRemarks, type NamedTensor } from "../../src/reading/named.ts";
import { sizeOf } from "../../src/values/shape.ts";
import type { State } from "../../src/values/state.ts";
import { stateOf, SUM } from "../support/states.ts";

/** ScatterND with data [4, 3]. */
const BASE = stateOf(SUM);

const under = (op: string, opset: number): State =>
  withOperator(BASE, { domain: "ai.onnx", op, opset }).state;

const FRESH = stateOf(
  "openvino/ScatterElementsUpdate/12;reduction=sum;use_init_val=false;float32:2:0*2;int64:1:0;float32:1:1;int64::0",
);

/** `data float32 4,3` */
function named(text: string): NamedTensor {
  const [name, dtype, dims = ""] = text.split(" ");
  const shape = dims === "" ? [] : dims.split(",").map(Number);
  const values = Array<string>(sizeOf(shape)).fill("0");
  return { name, input: { dtype: dtype as DType, shape, values } };
}

type Row = readonly [files: readonly string[], state: State, says: string, isSure: boolean];

// prettier-ignore
const ROWS: readonly Row[] = [
  [["data float32 5,2", "indices int64 3,1", "updates float32 3,2"], BASE, "ScatterND data=data indices=indices updates=updates", true],
  [["updates float32 3,2", "data float32 5,2", "indices int64 3,1"], BASE, "ScatterND data=data indices=indices updates=updates", true],
  [["input_0 float32 5,2", "input_1 int64 3,1", "input_2 float32 3,2"], BASE, "ScatterND data=input_0 indices=input_1 updates=input_2", true],
  [["kv.cache float32 5,2", "kv.where int64 3,1", "kv.key float32 3,2"], BASE, "ScatterND data=kv.cache indices=kv.where updates=kv.key", true],
  // Names that say nothing: types and shapes leave one way.
  [["a1 float32 5,2", "b1 int64 3,1", "c1 float32 3,2"], BASE, "ScatterND data=a1 indices=b1 updates=c1", true],
  [["c1 float32 3,2", "b1 int64 3,1", "a1 float32 5,2"], BASE, "ScatterND data=a1 indices=b1 updates=c1", true],
  // Data and updates of one shape can change places.
  [["a1 float32 3,2", "b1 int64 3,1", "c1 float32 3,2"], BASE, "ScatterND data=a1 indices=b1 updates=c1", false],
  // Names do not help where the shapes do not fit: somebody has to look at it.
  [["data float32 5,2", "indices int64 3,1", "updates float32 4,2"], BASE, "ScatterND data=data indices=indices updates=updates", false],
  // All of integers.
  [["x int64 5", "i int64 3,1", "u int64 3"], BASE, "ScatterND data=x indices=i updates=u", true],
  [["data float32 5,2", "indices int64 3"], under("Gather", 13), "Gather data=data indices=indices", true],
  // Indices of a type that the operator refuses become int64.
  [["data float32 5,2", "indices int32 3,1", "updates float32 3,2"], BASE, "ScatterND data=data indices=indices updates=updates", true],
  [["a1 float32 5,2", "b1 uint8 3,1", "c1 float32 3,2"], BASE, "ScatterND data=a1 indices=b1 updates=c1", true],
  // Data and updates get one type.
  [["data int64 5,2", "indices int64 3,1", "updates float64 3,2"], BASE, "ScatterND data=data indices=indices updates=updates", true],
  // An attribute that is true or false.
  [["data float32 4,2", "indices int64 3,2", "updates float32 3,2"], FRESH, "ScatterElementsUpdate data=data indices=indices updates=updates", true],
  // Another operator: two files are no ScatterND.
  [["x float32 5,2", "indices int64 3", "extra float32 7,7"], BASE, "ScatterND data=x indices=indices updates=extra", false],
  [["past_cache float32 2,1,4,3", "update float32 2,1,1,3", "write_indices int64 2"], { ...under("TensorScatter", 24), attributes: {} }, "TensorScatter past_cache=past_cache update=update write_indices=write_indices", true],
];

for (const [files, state, says, isSure] of ROWS) {
  test(`matched: ${files.join("; ")}`, () => {
    const tensors = files.map(named);
    const match = matched(tensors, state);
    const { inputs } = resolve(match.base);
    const parts = match.assignment.map((number, position) =>
      number === null ? "" : ` ${inputs[position].name}=${tensors[number].name}`,
    );
    assert.equal(match.base.op + parts.join(""), says);
    assert.equal(match.isSure, isSure);
    assert.equal(certainOf(tensors, state) !== null, isSure);
  });
}

test("conversions, unused tensors and the inherited reduction are said", () => {
  const tensors = ["data int64 5,2", "indices int32 3,1", "updates float64 3,2"].map(named);
  const certain = certainOf(tensors, BASE);
  assert.deepEqual(
    certain?.state.inputs.map((one) => one?.dtype),
    ["float64", "int64", "float64"],
  );
  assert.deepEqual(certain?.remarks, [
    "The page read data, indices and updates.",
    "data is int64; ScatterND reads it here as float64.",
    "indices is int32; ScatterND reads it here as int64.",
    "The operator is still ScatterND-18 with reduction add.",
  ]);
  const four = [...tensors, named("more float32 2")];
  assert.deepEqual(unusedRemarks(BASE, four, [0, 1, 2]), [
    "more is not used: every input has a tensor.",
  ]);
  assert.deepEqual(unusedRemarks(BASE, four, [0, 1, null]), [
    "updates is not used: float64 [3, 2] was not recognized as updates.",
    "more is not used: float32 [2] was not recognized as updates.",
  ]);
});

test("the order of the files does not matter", () => {
  const tensors = ["a1 float32 5,2", "b1 int64 3,1", "c1 float32 3,2"].map(named);
  for (const order of [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
  ]) {
    const certain = certainOf(
      order.map((one) => tensors[one]),
      BASE,
    );
    assert.deepEqual(
      certain?.state.inputs.map((one) => one?.shape),
      [
        [5, 2],
        [3, 1],
        [3, 2],
      ],
    );
  }
});

// With 100 files, a search through all assignments would never end.
test("many files are not assigned in every way", () => {
  const tensors = Array.from({ length: 100 }, (_, number) => named(`f${number} float32 2,2`));
  assert.equal(certainOf(tensors, BASE), null);
});

test("the command says the call, and quotes what a shell would read", () => {
  const files = ["data.npy", "my indices.npy", "it's.npy", "-o.npy"];
  assert.equal(
    commandOf(files, BASE),
    String.raw`npx ndscatter explain ScatterND --opset 18 --attr reduction=add data.npy 'my indices.npy' 'it'\''s.npy' '-o.npy'`,
  );
  assert.equal(commandOf(["x.npy", "m.onnx"], BASE), "npx ndscatter explain m.onnx x.npy");
});
