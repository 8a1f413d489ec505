/** Fixes that are offered: the right words for the usual faults, and no fix that leaves its fault. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { DType, Role } from "ndscatter";
import { resolve } from "ndscatter/operators";
import { withInput, withShape } from "../../src/document/edit.ts";
import { fixesOf } from "../../src/document/fixes.ts";
import { PRESETS } from "../../src/examples/presets.ts";
import { explainState } from "../../src/document/read-state.ts";
import { rolePosition } from "../../src/values/schema.ts";
import type { State, TensorText } from "../../src/values/state.ts";
import { stateOf } from "../support/states.ts";

const DATA = "float32:4,3:1,2,3,4,5,6,7,8,9,10,11,12";
const UPDATES = "float32:3,3:1,2,3,4,5,6,7,8,9";

/** Three rows that are scattered into four. */
const nd = (indices: string): State =>
  stateOf(`ai.onnx/ScatterND/18;${DATA};int64:3,1:${indices};${UPDATES}`);

const elements = (axis: string): State =>
  stateOf(`ai.onnx/ScatterElements/18;axis=${axis};${DATA};int64:1,2:0,1;float32:1,2:0,1`);

type Row = readonly [name: string, state: State, labels: readonly string[]];

// prettier-ignore
const ROWS_OF_FIXES: readonly Row[] = [
  ["an index behind the end", nd("0,7,1"), ["clamp to 3", "make data [8, 3]"]],
  ["the length as an index", nd("0,4,1"), ["clamp to 3", "use -1, the last index", "make data [5, 3]"]],
  ["an index before the beginning", nd("0,-6,1"), ["clamp to 0", "make data [6, 3]"]],
  ["an axis that data lacks", elements("5"), ["use axis 1", "use axis 0"]],
  ["an axis before the first", elements("-3"), ["use axis 0", "use axis 1"]],
  ["updates of another shape", stateOf(`ai.onnx/ScatterND/18;${DATA};int64:3,1:0,1,2;float32:2,3:1,2,3,4,5,6`), ["make updates [3, 3]"]],
  ["indices of int8", stateOf(`ai.onnx/ScatterND/18;${DATA};int8:3,1:0,1,2;${UPDATES}`), ["use int64"]],
  ["a list as indices", stateOf(`ai.onnx/ScatterND/18;${DATA};int64:3:0,1,2;${UPDATES}`), ["give indices the shape [3, 1]"]],
  ["a reduction of a newer version", stateOf(`ai.onnx/ScatterND/16;reduction=max;${DATA};int64:3,1:0,1,2;${UPDATES}`), ["use ScatterND-18"]],
  ["a reduction of nobody", stateOf(`ai.onnx/ScatterND/18;reduction=avg;${DATA};int64:3,1:0,1,2;${UPDATES}`), ["use reduction none"]],
  ["no error", nd("0,1,2"), []],
];

for (const [name, state, labels] of ROWS_OF_FIXES) {
  test(`${name}: ${labels.join("; ")}`, () => {
    const offered = fixesOf(state).map(({ label }) => label);
    assert.deepEqual(labels.length === 0 ? offered : offered.slice(0, labels.length), labels);
  });
}

test("many bad indices are clamped at once", () => {
  const all = fixesOf(nd("9,8,-7")).find(({ label }) => label === "clamp all 3");
  assert.deepEqual(all?.state.inputs[1]?.values, ["3", "3", "0"]);
});

test("what a fix keeps: larger data has its values, and new rows are zero", () => {
  const fix = fixesOf(nd("0,5,1")).find(({ label }) => label.startsWith("make"));
  const [data] = nd("0,1,2").inputs;
  assert.deepEqual(fix?.state.inputs[0]?.values, [...(data?.values ?? []), ..."000000"]);
});

type Injection = readonly [name: string, of: (state: State) => State | null];

/** A fault of one kind in any state; null where the state has no place for it. */
// prettier-ignore
const INJECTIONS: readonly Injection[] = [
  ["an index out of range", (state) => withIndex(state, "99")],
  ["a negative index out of range", (state) => withIndex(state, "-99")],
  ["an index that is no number", (state) => withIndex(state, "x")],
  ["an axis out of range", withAxis],
  ["updates of another shape", (state) => reshaped(state, "updates", (shape) => (shape.length === 0 ? [2] : [...shape.slice(0, -1), shape[shape.length - 1] + 1]))],
  ["indices of a lower rank", (state) => reshaped(state, "indices", (shape) => (shape.at(-1) === 1 ? shape.slice(0, -1) : null))],
  ["indices of another data type", (state) => retyped(state, "indices", "float64")],
  ["updates of another data type", (state) => retyped(state, "updates", "float8e8m0")],
  ["an unknown reduction", (state) => (hasAttribute(state, "reduction") ? { ...state, attributes: { ...state.attributes, reduction: "avg" } } : null)],
];

const hasAttribute = (state: State, name: string): boolean =>
  resolve(state).attributes.some((one) => one.name === name);

/** Changes the input of a role; null if the state has no such input, or the change does not apply. */
function changed(
  state: State,
  role: Role,
  change: (text: TensorText) => TensorText | null,
): State | null {
  const position = rolePosition(resolve(state), role);
  const text = state.inputs[position] ?? null;
  const next = text === null ? null : change(text);
  return next && withInput(state, position, next);
}

const withIndex = (state: State, first: string): State | null =>
  changed(state, "indices", (text) =>
    text.values.length === 0 ? null : { ...text, values: text.values.with(0, first) },
  );

const reshaped = (
  state: State,
  role: Role,
  shapeOf: (shape: readonly number[]) => readonly number[] | null,
): State | null =>
  changed(state, role, (text) => {
    const shape = shapeOf(text.shape);
    const edited = shape && withShape(text, shape);
    return edited && "input" in edited ? edited.input : null;
  });

const retyped = (state: State, role: Role, dtype: DType): State | null =>
  changed(state, role, (text) => ({ ...text, dtype }));

function withAxis(state: State): State | null {
  if (!hasAttribute(state, "axis"))
    return changed(state, "axis", () => ({ dtype: "int64", shape: [], values: ["9"] }));
  return { ...state, attributes: { ...state.attributes, axis: "9" } };
}

for (const [name, inject] of INJECTIONS) {
  test(`${name}, in every preset: each fix that is offered is one`, () => {
    let [injected, single, offered] = [0, 0, 0];
    for (const { id, state } of PRESETS) {
      const broken = explainState(state).faults.length === 0 ? inject(state) : null;
      if (broken === null) continue;
      const { faults } = explainState(broken);
      // Some operators take what is wrong elsewhere: OpenVINO's Gather-8 gives 0 for an index out of range.
      if (faults.length === 0) continue;
      injected++;
      const fixes = fixesOf(broken);
      assert.ok(fixes.length <= 4);
      for (const { label, state: fixed } of fixes) {
        const left = explainState(fixed);
        const isOneGone = faults.some(
          ({ sentence }) => !left.faults.some((fault) => fault.sentence === sentence),
        );
        assert.ok(isOneGone, `${id}: ${label}`);
        assert.ok(left.faults.length < faults.length, `${id}: ${label}`);
        if (faults.length > 1) continue;
        assert.deepEqual(left.faults, [], `${id}: ${label}`);
        assert.ok(left.explanation?.output, `${id}: ${label}`);
      }
      if (faults.length > 1) continue;
      single++;
      if (fixes.length > 0) offered++;
    }
    assert.ok(injected > 10, `${injected} presets have this fault`);
    assert.equal(offered, single, "a single fault has a fix");
  });
}
