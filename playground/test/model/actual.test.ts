/** What another runtime gave: how it is read, which cells differ, and what may be the cause. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { compareDialects, dialects, diagnose, tensor, type DType } from "ndscatter";
import {
  compareActual,
  fitActual,
  isResultOf,
  outputTypeOf,
  readActual,
  type Actual,
  type Cause,
  type Comparison,
  type ReadActual,
} from "../../src/why/actual.ts";
import { DIALECT_NAMES } from "../../src/why/dialect-names.ts";
import { f32, i64 } from "../support/values.ts";
import { isPrintedAs, roundingOf } from "../../src/why/printed-digits.ts";
import { explainState, readState } from "../../src/document/read-state.ts";
import type { State } from "../../src/values/state.ts";
import { valueTexts } from "../../src/values/tensor-text.ts";
import { CALLS } from "./calls.ts";
import { stateOf } from "../support/states.ts";

const scatter = (inputs: State["inputs"]): State => ({
  ...{ domain: "ai.onnx", op: "ScatterND", opset: 18, attributes: {}, inputs },
});

const OUTPUT = { dtype: "float32", shape: [4] } as const;

function right(read: ReadActual): Actual {
  assert.ok("text" in read, "error" in read ? read.error : "");
  return read;
}

function wrong(read: ReadActual): string {
  assert.ok("error" in read);
  return read.error;
}

function compared(state: State, text: string): Comparison {
  const call = explainState(state);
  const type = outputTypeOf(readState(state));
  assert.ok("dtype" in type, "error" in type ? type.error : "");
  const found = compareActual(call, right(readActual(text, type)));
  assert.ok("texts" in found, "error" in found ? found.error : "");
  return found;
}

test("a text of the right shape is taken as it is", () => {
  assert.deepEqual(readActual("array([1., 10., 20., 4.], dtype=float32)", OUTPUT), {
    text: { dtype: "float32", shape: [4], values: ["1", "10", "20", "4"] },
    rounding: null,
    remarks: [],
  });
});

test("another nesting is taken in the order of the elements, and it is said", () => {
  const { text, remarks } = right(readActual("[[1, 10], [20, 4]]", OUTPUT));
  assert.deepEqual(text.shape, [4]);
  assert.deepEqual(text.values, ["1", "10", "20", "4"]);
  assert.deepEqual(remarks, [
    "The text has the shape [2, 2]; its 4 elements are taken as [4], in order.",
  ]);
  const flat = right(readActual("1 2 3 4 5 6", { dtype: "int64", shape: [2, 3] }));
  assert.deepEqual(flat.text.shape, [2, 3]);
  assert.equal(flat.remarks.length, 1);
});

test("what is no such output is refused with a sentence", () => {
  assert.equal(
    wrong(readActual("[1, 2, 3]", OUTPUT)),
    "The text has 3 elements, but the output of this call, float32 [4], has 4.",
  );
  assert.equal(
    wrong(readActual("tensor([1, 2, 3, 4], dtype=torch.float64)", OUTPUT)),
    "The text is float64, but the output of this call is float32 [4].",
  );
  assert.match(wrong(readActual("[300]", { dtype: "uint8", shape: [1] })), /not a uint8: .*300/);
  assert.match(wrong(readActual("[1, 2", OUTPUT)), /^The text cannot be read: line 1/);
  assert.match(wrong(readActual("  ", OUTPUT)), /paste the output/);
});

test("a tensor of a file is taken like a text", () => {
  assert.deepEqual(right(fitActual(f32([1, 2, 3, 4]), OUTPUT)).remarks, []);
  assert.equal(right(fitActual(f32([[1], [2], [3], [4]]), OUTPUT)).remarks.length, 1);
  assert.match(wrong(fitActual(i64([1, 2, 3, 4]), OUTPUT)), /^The file is int64/);
});

test("an output of more axes than the page reads is taken as a list", () => {
  const shape = [1, 2, 1, 1, 1, 1, 2];
  assert.deepEqual(right(readActual("1 2 3 4", { dtype: "int8", shape })).text.shape, shape);
});

/** A call, another runtime's output, the cells that differ, the verdict, and the first cause; null if there is none. */
type Row = readonly [
  name: string,
  call: string,
  output: string,
  differing: readonly number[],
  verdict: RegExp,
  cause: (Partial<Cause> & Pick<Cause, "id">) | null,
  first?: Comparison["first"],
];

const REPEATS_LINK = "ai.onnx/ScatterND/18;float32:4:1,2,3,4;int64:3,1:1,2,1;float32:3:10,20,30";

// prettier-ignore
const ROWS: readonly Row[] = [
  ["no cell differs", REPEATS_LINK, "[1, 30, 20, 4]", [], /^All cells are equal, bit for bit\.$/, null, null],
  ["the first of several updates stayed", REPEATS_LINK, "[1, 10, 20, 4]", [1], /^1 of 4 cells differs\.$/,
    { id: "first-wins", share: "explains the cell", who: "No known runtime or library returns this result." },
    { at: [1], actual: "10", exact: "30" }],
  ["no update was applied", REPEATS_LINK, "[1, 2, 3, 4]", [1, 2], /^2 of 4 cells differ\.$/,
    { id: "not-applied", share: "explains all 2 cells" }],
  ["the offset in the whole tensor, of a call that is an error", "ai.onnx/ScatterND/18;float32:2,2:0*4;int64:2,2:0,0,0,2;float32:2:5,6",
    "[[5, 0], [6, 0]]", [2], /^The call is invalid\. 1 of 4 cells differs from the result/,
    { id: "flat-offset", isWhole: true, who: "TensorFlow.js on the CPU and TensorFlow.js in WebAssembly return this result." }],
  ["an index that was clipped, of a gather", "ai.onnx/Gather/13;float32:3:1,2,3;int64:2:1,7", "[2, 3]", [1], /with 0 for its bad indices\.$/,
    { id: "out-of-range-clipped", isWhole: true, who: "JAX and WebNN return this result." }, { at: [1], actual: "3", exact: null }],
  ["nothing, but the call is an error", "ai.onnx/ScatterND/18;float32:2:1,2;int64:2,1:0,2;float32:2:5,6", "[5, 2]", [],
    /No cell differs from the result without its bad indices\.$/,
    { id: "out-of-range-dropped", who: "TensorFlow on a GPU and JAX return this result." }],
  ["an element that no rule gives its exact value", "ai.onnx/GatherElements/13;float32:3:1,2,3;int64:2:1,7", "[2, 3]", [1], /^The call is invalid/, { id: "out-of-range-clipped" }],
  // JAX clips the indices of gathers only.
  ["an index that was clipped, of a scatter", "ai.onnx/ScatterND/18;float32:3:1,2,3;int64:2,1:0,7;float32:2:5,6", "[5, 2, 6]", [2], /^The call is invalid/,
    { id: "out-of-range-clipped", dialects: ["webnn"], who: "WebNN returns this result." }],
  ["an error that no system runs has causes alone", "ai.onnx/TensorScatter/24;axis=1;float32:1,4:1,2,3,4;float32:1,3:10,20,30;int64:1:3",
    "[[20, 30, 3, 10]]", [], /no cell has an exact value/, { id: "other-mode" }],
  ["every NaN is the same", "ai.onnx/ScatterND/18;float32:2:nan,0;int64:1,1:1;float32:1:-0", "[nan, -0.]", [], /^All cells/, null],
  ["zeros differ in their sign", "ai.onnx/ScatterND/18;float32:2:nan,0;int64:1,1:1;float32:1:-0", "[nan, 0.]", [1], /^1 of 2/, { id: "not-applied" }],
];

for (const [name, call, text, differing, verdict, cause, first] of ROWS) {
  test(`what differs: ${name}`, () => {
    const found = compared(stateOf(call), text);
    assert.deepEqual([...found.differing], differing);
    assert.match(found.sentences[0], verdict);
    if (first !== undefined) assert.deepEqual(found.first, first);
    if (cause === null) assert.deepEqual(found.causes, []);
    else assert.deepEqual({ ...found.causes[0], ...cause }, found.causes[0]);
  });
}

test("what another print has rounded away is no difference, and it is said", () => {
  const state = scatter([f32([0.12345678, 2, 0.5]), i64([[1]]), f32([1 / 3])]);
  const same = compared(state, "tensor([0.1235, 0.3333, 0.5000])");
  assert.equal(same.differing.size, 0);
  assert.match(
    same.sentences[1],
    /^2 cells count as equal, because the text shows only 4 decimals/,
  );
  assert.deepEqual([...compared(state, "tensor([0.1235, 0.3333, 0.5001])").differing], [2]);
  // JSON has all digits.
  assert.deepEqual([...compared(state, "[0.123, 0.333, 0.5]").differing], [0, 1]);
});

test("how a text was rounded", () => {
  assert.deepEqual(roundingOf("tensor([0.1235, 2.0000])"), { decimals: 4, isScientific: false });
  assert.deepEqual(roundingOf("[1.2346e-01, 2.0000e+00]"), { decimals: 4, isScientific: true });
  assert.deepEqual(roundingOf("[0.12345678 0.5]"), { decimals: 8, isScientific: false });
  for (const text of ["[0.1235, 2.0]", "[1, 2]", "[0.123456789, 0.12345678]", ""]) {
    assert.equal(roundingOf(text), null, text);
  }
  const fourth = { decimals: 4, isScientific: false };
  assert.ok(isPrintedAs(0.12345, 0.1235, fourth) && isPrintedAs(0.12345, 0.1234, fourth));
  assert.ok(!isPrintedAs(0.123_555, 0.1235, fourth) && !isPrintedAs(NaN, 0, fourth));
  assert.ok(isPrintedAs(12_346_000, 1.2346e7, { decimals: 4, isScientific: true }));
  assert.ok(!isPrintedAs(12_347_000, 1.2346e7, { decimals: 4, isScientific: true }));
});

test("a call that is wrong in another way is to be corrected first", () => {
  const faulty = scatter([f32([1]), i64([[0], [0]]), f32([1])]);
  const type = outputTypeOf(readState(faulty));
  assert.ok("error" in type);
  assert.match(type.error, /^First correct the call: .*updates/);
  const text = { dtype: "float32" as const, shape: [1], values: ["x"] };
  const unread = outputTypeOf(readState(scatter([text, i64([[0]]), f32([1])])));
  assert.ok("error" in unread);
});

test("the cells that differ are those that diagnose counts, in every data type", () => {
  const seen = new Set<DType>();
  for (const state of CALLS.values()) {
    const call = explainState(state);
    const { node, inputs } = call;
    const output = call.explanation?.output ?? null;
    if (output === null || seen.has(output.dtype) || output.size < 2 || output.shape.length > 5)
      continue;
    // In reverse order some cells differ; a call without a diagnosis says nothing here.
    const values = output.data.slice().reverse() as typeof output.data;
    const causes = diagnose(node, inputs, tensor(output.dtype, output.shape, values));
    if (causes.length === 0) continue;
    const text = fitActual(
      {
        dtype: output.dtype,
        shape: output.shape,
        values: valueTexts(tensor(output.dtype, output.shape, values)),
      },
      output,
    );
    const found = compareActual(call, right(text));
    assert.ok("texts" in found);
    seen.add(output.dtype);
    assert.equal(found.differing.size, causes[0].cells.differing, output.dtype);
    assert.deepEqual(
      found.causes.map(({ id }) => id),
      causes.map(({ id }) => id),
      output.dtype,
    );
  }
  assert.ok(seen.size > 15, [...seen].join());
});

test("lost updates are no result of a system that adds in any order", () => {
  const updates = "0.1,0.2,0.3,0.1,0.2,0.3,1,1,1";
  const state = stateOf(
    `ai.onnx/ScatterND/18;reduction=add;float32:3,3:0*3,1*3,2*3;int64:3,1:0,0,2;float32:3,3:${updates}`,
  );
  const lost = compared(state, "[[0.1, 0.2, 0.3], [1, 1, 1], [3, 3, 3]]");
  const { node, inputs } = readState(state);
  const named = compareDialects(node, inputs).filter(({ dialect, output, undecided }) => {
    const rule = output && { output, undecided: new Set(undecided) };
    return rule !== null && isResultOf(rule, [dialect], lost);
  });
  assert.deepEqual(named, []);
  // An update that any order may keep is such a result.
  const race = scatter([f32([0, 0]), i64([[0], [0]]), f32([1, 2])]);
  const kept = compared(race, "[1, 0]");
  const { node: other, inputs: given } = readState(race);
  const jax = compareDialects(other, given).find(({ dialect }) => dialect === "jax");
  assert.ok(
    jax?.output &&
      isResultOf({ output: jax.output, undecided: new Set(jax.undecided) }, ["jax"], kept),
  );
});

test("every dialect has a name of its own", () => {
  const ids = dialects().map(({ id }) => id);
  assert.deepEqual(Object.keys(DIALECT_NAMES).toSorted(), ids.toSorted());
  assert.equal(new Set(Object.values(DIALECT_NAMES)).size, ids.length);
});
