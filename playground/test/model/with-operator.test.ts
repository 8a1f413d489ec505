/** Choosing another operator or version: what it does not take is left out, with the library's reason. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { operators, type ErrorCode } from "ndscatter";
import { resolve } from "ndscatter/operators";
import { toHash } from "../../src/document/hash.ts";
import type { OperatorChoice } from "../../src/document/state.ts";
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

/** A call, another version or operator, and the call and remarks that follow. */
type Row = readonly [
  name: string,
  from: string,
  choice: OperatorChoice,
  to: string,
  remarks: readonly (string | RegExp)[],
];

const refusal = (code: ErrorCode, op: string, opset: number, attributes: Record<string, string>) =>
  sentenceOf(code, { op, opset, attributes }, []);

// prettier-ignore
const ROWS: readonly Row[] = [
  ["an older version without the attribute", "ai.onnx/ScatterND/18;reduction=add;bfloat16:2:1,2;int64:1,1:0;bfloat16:1:5", onnx("ScatterND", 13),
    "ai.onnx/ScatterND/13;bfloat16:2:1,2;int64:1,1:0;bfloat16:1:5",
    ['ScatterND-13: unknown attribute "reduction"; this version has no attributes; reduction came with version 16, so reduction = add is left out']],
  ["an older version without the word", "ai.onnx/ScatterND/18;reduction=max;bfloat16:2:1,2;int64:1,1:0;bfloat16:1:5", onnx("ScatterND", 16),
    "ai.onnx/ScatterND/16;bfloat16:2:1,2;int64:1,1:0;bfloat16:1:5",
    [`${refusal("reduction", "ScatterND", 16, { reduction: "max" })}, so reduction = max is left out`]],
  ["an older version without the data type: data and updates change together", "ai.onnx/ScatterND/18;bfloat16:2:1,2;int64:1,1:0;bfloat16:1:5", onnx("ScatterND", 11),
    "ai.onnx/ScatterND/11;float32:2:1,2;int64:1,1:0;float32:1:5",
    [/^ScatterND-11: data .* bfloat16; .*, so it becomes float32$/]],
  ["a newer version, which keeps everything", "ai.onnx/ScatterND/16;reduction=add;bfloat16:2:1,2;int64:1,1:0;bfloat16:1:5", onnx("ScatterND", 18),
    "ai.onnx/ScatterND/18;reduction=add;bfloat16:2:1,2;int64:1,1:0;bfloat16:1:5", []],
  ["an opset between two versions, which means the one before", "ai.onnx/ScatterND/18;float32:2:1,2;int64:1,1:0;float32:1:5", onnx("ScatterND", 17),
    "ai.onnx/ScatterND/16;float32:2:1,2;int64:1,1:0;float32:1:5", []],
  ["an unknown operator, which changes nothing", "ai.onnx/ScatterND/18;float32:2:1,2;int64:1,1:0;float32:1:5", onnx("Scatterer", 18),
    "ai.onnx/ScatterND/18;float32:2:1,2;int64:1,1:0;float32:1:5", [/unknown operator/]],
  ["an opset before the operator, which changes nothing", "ai.onnx/ScatterND/18;float32:2:1,2;int64:1,1:0;float32:1:5", onnx("ScatterND", 10),
    "ai.onnx/ScatterND/18;float32:2:1,2;int64:1,1:0;float32:1:5", [/does not have this operator yet/]],
  ["a sibling of another domain, which keeps the tensors", "ai.onnx/ScatterND/18;float32:2:1,2;int64:1,1:0;float32:1:5", ND_UPDATE,
    "openvino/ScatterNDUpdate/15;float32:2:1,2;int64:1,1:0;float32:1:5", []],
  ["an operator that lacks the reduction", "openvino/ScatterNDUpdate/15;reduction=sub;float32:2:1,2;int64:1,1:0;float32:1:5", onnx("ScatterND", 18),
    "ai.onnx/ScatterND/18;float32:2:1,2;int64:1,1:0;float32:1:5", [/: reduction .* "sub", so reduction = sub is left out$/]],
  ["a gather from a scatter, which loses the updates", "ai.onnx/ScatterND/18;bfloat16:2:1,2;int64:1,1:0;bfloat16:1:5", onnx("GatherND", 13),
    "ai.onnx/GatherND/13;bfloat16:2:1,2;int64:1,1:0", ["GatherND has no input updates, so it is left out"]],
  ["a scatter from a gather, which gets zeros of the right shape", "ai.onnx/GatherND/13;bfloat16:2,2:1,2,3,4;int64:3,1:0,1,0", onnx("ScatterND", 18),
    "ai.onnx/ScatterND/18;bfloat16:2,2:1,2,3,4;int64:3,1:0,1,0;bfloat16:3,2:0*6", []],
  ["an axis that becomes an input", "ai.onnx/ScatterElements/18;axis=1;float32:1,2:1,2;int64:1,1:0;float32:1,1:5", { domain: "openvino", op: "ScatterElementsUpdate", opset: 12 },
    "openvino/ScatterElementsUpdate/12;float32:1,2:1,2;int64:1,1:0;float32:1,1:5;int64::1", []],
  ["an axis that becomes an attribute", "openvino/ScatterElementsUpdate/12;float32:1,2:1,2;int64:1,1:0;float32:1,1:5;int64::1", onnx("ScatterElements", 18),
    "ai.onnx/ScatterElements/18;axis=1;float32:1,2:1,2;int64:1,1:0;float32:1,1:5", []],
  ["an axis that is no number, which is quoted as it was typed", "openvino/Gather/8;bfloat16:2:1,2;int64:1,1:0;int64::x", onnx("Gather", 13),
    "ai.onnx/Gather/13;bfloat16:2:1,2;int64:1,1:0", [`${refusal("attribute", "Gather", 13, { axis: "x" })}, so axis = x is left out`]],
];

for (const [name, from, choice, to, remarks] of ROWS) {
  test(`choosing ${name}`, () => {
    const before = stateOf(from);
    const found = withOperator(before, choice);
    assert.equal(toHash(found.state), to);
    if (from === to) assert.equal(found.state, before);
    assert.equal(found.remarks.length, remarks.length, found.remarks.join("\n"));
    for (const [at, remark] of remarks.entries()) {
      if (typeof remark === "string") assert.equal(found.remarks[at], remark);
      else assert.match(found.remarks[at], remark);
    }
  });
}

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
