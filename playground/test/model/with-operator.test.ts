/** Choosing another operator or version: what it does not take is left out, with the library's reason. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { operators } from "ndscatter";
import { resolve } from "ndscatter/operators";
import { PRESETS } from "../../src/examples/presets.ts";
import { readState, explainState } from "../../src/document/read-state.ts";
import { withOperator } from "../../src/document/with-operator.ts";
import { states } from "./states.ts";
import { sentenceOf } from "../support/refused.ts";
import { dtypesOf, operatorGroups } from "../../src/values/schema.ts";
import { stateOf } from "../support/states.ts";

const ADD = stateOf("ai.onnx/ScatterND/18;reduction=add;bfloat16:2:1,2;int64:1,1:0;bfloat16:1:5");
const PLAIN = stateOf("ai.onnx/ScatterND/18;float32:2:1,2;int64:1,1:0;float32:1:5");
const ND_UPDATE = { domain: "openvino", op: "ScatterNDUpdate", opset: 15 } as const;
const onnx = (op: string, opset: number) => ({ domain: "ai.onnx", op, opset }) as const;

test("an older version without the attribute", () => {
  const { state, remarks } = withOperator(ADD, { ...ADD, opset: 13 });
  assert.deepEqual(state, { ...ADD, opset: 13, attributes: {} });
  assert.deepEqual(remarks, [
    'ScatterND-13: unknown attribute "reduction"; this version has no attributes; ' +
      "reduction came with version 16, so reduction = add is left out",
  ]);
});

test("an older version without the word", () => {
  const { state, remarks } = withOperator(
    { ...ADD, attributes: { reduction: "max" } },
    { ...ADD, opset: 16 },
  );
  assert.deepEqual(state.attributes, {});
  assert.equal(remarks.length, 1);
  const older = { op: "ScatterND", opset: 16, attributes: { reduction: "max" } };
  assert.ok(remarks[0].includes(sentenceOf("reduction", older, [])), remarks[0]);
});

test("an older version without the data type: data and updates change together", () => {
  const { state, remarks } = withOperator({ ...ADD, attributes: {} }, { ...ADD, opset: 11 });
  assert.deepEqual(
    state.inputs.map((input) => input?.dtype),
    ["float32", "int64", "float32"],
  );
  assert.deepEqual(
    state.inputs.map((input) => input?.values),
    ADD.inputs.map((input) => input?.values),
  );
  assert.equal(remarks.length, 1);
  assert.match(remarks[0], /^ScatterND-11: data .* bfloat16; .*, so it becomes float32$/);
});

test("a newer version keeps everything, and an opset between two means the one before", () => {
  const old = { ...ADD, opset: 16 };
  assert.deepEqual(withOperator(old, ADD), { state: ADD, remarks: [] });
  assert.equal(withOperator(ADD, { ...ADD, opset: 17 }).state.opset, 16);
});

test("an unknown operator, domain or version changes nothing", () => {
  for (const other of [
    { ...ADD, op: "Scatterer" },
    { ...ADD, opset: 10 },
  ]) {
    const { state, remarks } = withOperator(ADD, other);
    assert.equal(state, ADD);
    assert.equal(remarks.length, 1);
  }
});

test("a sibling of another domain keeps the tensors", () => {
  const { state, remarks } = withOperator(PLAIN, ND_UPDATE);
  assert.deepEqual(state.inputs, PLAIN.inputs);
  assert.deepEqual(remarks, []);
});

for (const [word, other] of [
  ["add", "sum"],
  ["mul", "prod"],
  ["max", "max"],
] as const) {
  test(`${word} is called ${other} in OpenVINO, and back`, () => {
    const square = { ...PLAIN, attributes: { reduction: word } };
    const there = withOperator(square, ND_UPDATE);
    assert.deepEqual(there.state.attributes, { reduction: other });
    assert.deepEqual(
      there.remarks,
      word === other ? [] : [`reduction = ${word} is called ${other} in ScatterNDUpdate-15`],
    );
    assert.deepEqual(withOperator(there.state, square).state, square);
  });
}

test("a reduction that the other operator lacks is left out", () => {
  const state = { ...PLAIN, ...ND_UPDATE, attributes: { reduction: "sub" } };
  const { state: there, remarks } = withOperator(state, ADD);
  assert.deepEqual(there.attributes, {});
  assert.match(remarks[0], /: reduction .* "sub", so reduction = sub is left out$/);
});

test("a gather from a scatter loses the updates; a scatter from a gather gets zeros of the right shape", () => {
  const gathered = withOperator({ ...ADD, attributes: {} }, onnx("GatherND", 13));
  assert.deepEqual(gathered.state.inputs, ADD.inputs.slice(0, 2));
  assert.deepEqual(gathered.remarks, ["GatherND has no input updates, so it is left out"]);
  const scattered = withOperator(gathered.state, ADD);
  assert.deepEqual(scattered.state.inputs[2], { dtype: "bfloat16", shape: [1], values: ["0"] });
});

test("an axis that is an attribute becomes an input, and back", () => {
  const square = stateOf(
    "ai.onnx/ScatterElements/18;axis=1;float32:1,2:1,2;int64:1,1:0;float32:1,1:5",
  );
  const update = { domain: "openvino", op: "ScatterElementsUpdate", opset: 12 } as const;
  const there = withOperator(square, update);
  const inputs = [...square.inputs, { dtype: "int64", shape: [], values: ["1"] }];
  assert.deepEqual(there, { state: { ...update, attributes: {}, inputs }, remarks: [] });
  assert.deepEqual(withOperator(there.state, square), { state: square, remarks: [] });
});

test("an axis that is no number is left out, and quoted as it was typed", () => {
  const state = stateOf("openvino/Gather/8;bfloat16:2:1,2;int64:1,1:0;int64::x");
  const { state: there, remarks } = withOperator(state, onnx("Gather", 13));
  assert.deepEqual(there.attributes, {});
  const own = sentenceOf("attribute", { op: "Gather", opset: 13, attributes: { axis: "x" } }, []);
  assert.deepEqual(remarks, [`${own}, so axis = x is left out`]);
});

test("shapes that another operator cannot have give way to an example of it", () => {
  const { state, remarks } = withOperator({ ...ADD, attributes: {} }, onnx("ScatterElements", 11));
  assert.deepEqual([state.op, state.opset], ["ScatterElements", 11]);
  assert.deepEqual(explainState(state).faults, []);
  assert.match(remarks[0], /^ScatterElements-11 cannot be run on these shapes/);
});

test("of the user's own call every operator keeps the data, in shapes that fit", () => {
  const own = stateOf(
    "ai.onnx/ScatterND/18;float32:4,3:0.5,1.5,2.5,3.5,4.5,5.5,6.5,7.5,8.5,9.5,10.5,11.5;" +
      "int64:2,1:3,1;float32:2,3:1,2,3,4,5,6",
  );
  for (const { name: op, domain, sinceVersion: opset } of operators()) {
    if (["TensorScatter", "ScatterUpdate"].includes(op)) continue;
    const { state } = withOperator(own, { domain, op, opset }, true);
    assert.deepEqual(state.inputs[0], own.inputs[0], op);
    assert.deepEqual(readState(state).faults, [], op);
  }
  const there = withOperator(own, onnx("ScatterElements", 18), true);
  assert.deepEqual(there.state.inputs.slice(1), [
    own.inputs[1],
    { dtype: "float32", shape: [2, 1], values: ["1", "4"] },
  ]);
  assert.deepEqual(there.remarks, [
    "ScatterElements-18 needs other shapes, so updates is reshaped; undo restores the call",
  ]);
});

test("every preset can be taken to every version of its operator, with data types that the version takes", () => {
  for (const { id, state } of PRESETS) {
    for (const { domain, name: op, sinceVersion: opset } of operators()) {
      if (op !== state.op || domain !== state.domain) continue;
      const chosen = withOperator(state, { domain, op, opset });
      assert.equal(chosen.state.opset, opset);
      const version = resolve(chosen.state);
      const { faults } = readState(chosen.state);
      assert.deepEqual(faults, [], `${id} as version ${opset}`);
      chosen.state.inputs.forEach((input, position) => {
        if (input !== null)
          assert.ok(dtypesOf(version, version.inputs[position]).includes(input.dtype), id);
      });
    }
  }
});

test("the page offers every version", () => {
  const offered = operatorGroups().flatMap(({ domain, op, versions }) =>
    versions.map(({ sinceVersion }) => `${domain}/${op}/${sinceVersion}`),
  );
  const there = operators().map(
    ({ domain, name, sinceVersion }) => `${domain}/${name}/${sinceVersion}`,
  );
  assert.deepEqual(offered.toSorted(), there.toSorted());
});

test("no choice throws, and its state has the inputs and data types of the version", () => {
  fc.assert(
    fc.property(states, fc.constantFrom(...operators()), (state, version) => {
      const { domain, name: op, sinceVersion: opset } = version;
      const chosen = withOperator(state, { domain, op, opset });
      assert.deepEqual([chosen.state.op, chosen.state.opset], [op, opset]);
      assert.equal(chosen.state.inputs.length, version.inputs.length);
      chosen.state.inputs.forEach((input, position) => {
        if (input !== null)
          assert.ok(dtypesOf(version, version.inputs[position]).includes(input.dtype));
      });
      // Choosing the same again changes nothing.
      assert.deepEqual(withOperator(chosen.state, { domain, op, opset }), {
        state: chosen.state,
        remarks: [],
      });
    }),
    { numRuns: 300 },
  );
});
