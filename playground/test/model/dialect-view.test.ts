/** A call as other systems do it: who agrees, who gives another result, who refuses. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { compareDialects, dialects } from "ndscatter";
import { habitOf, ruleFor, rulesOf, type RuleChoice } from "../../src/why/dialect-view.ts";
import { f32, i64 } from "../support/values.ts";
import { readState } from "../../src/document/read-state.ts";
import type { State } from "../../src/values/state.ts";

const call = (op: string, inputs: State["inputs"], attributes = {}): ReturnType<typeof readState> =>
  readState({ domain: "ai.onnx", op, opset: 18, attributes, inputs });

function choices({ node, inputs }: ReturnType<typeof readState>): readonly RuleChoice[] {
  const found = rulesOf(node, inputs);
  assert.ok("choices" in found, "error" in found ? found.error : "");
  return found.choices;
}

const choiceWith = (all: readonly RuleChoice[], id: string): RuleChoice => {
  const found = all.filter(({ rows }) => rows.some((row) => row.id === id));
  assert.equal(found.length, 1, id);
  return found[0];
};

/** Index 4 is out of range of 4 elements. */
const OUTSIDE = call("ScatterND", [f32([1, 2, 3, 4]), i64([[0], [4]]), f32([10, 20])]);

test("an index out of range: who refuses, who leaves it out, who clips", () => {
  const all = choices(OUTSIDE);
  const numpy = choiceWith(all, "numpy");
  assert.ok(numpy.agrees && numpy.rule === null);
  assert.match(numpy.sentence, /NumPy.* refuse the call too\.$/);
  const jax = choiceWith(all, "jax");
  assert.deepEqual(jax.rule?.output.toArray(), [10, 2, 3, 4]);
  assert.equal(jax, choiceWith(all, "tensorflow-gpu"));
  assert.equal(
    jax.sentence,
    "TensorFlow on a GPU and JAX leave out updates whose index is out of range.",
  );
  const webnn = choiceWith(all, "webnn");
  assert.deepEqual(webnn.rule?.output.toArray(), [10, 2, 3, 20]);
  assert.deepEqual([...(webnn.rule?.differing ?? [])], [3]);
  assert.equal(
    webnn.sentence,
    "WebNN clips an index out of range to the nearest valid one: 1 cell differs.",
  );
});

test("repeats without a reduction: some leave open which stays", () => {
  const all = choices(call("ScatterND", [f32([1, 2, 3]), i64([[1], [1]]), f32([10, 20])]));
  const onnx = choiceWith(all, "onnx");
  assert.deepEqual([...(onnx.rule?.undecided ?? [])], [1]);
  assert.deepEqual([...(onnx.rule?.differing ?? [])], [1]);
  assert.match(onnx.sentence, /^ONNX.* keep any one of the repeated updates: 1 cell may differ\.$/);
  const tensorflow = choiceWith(all, "tensorflow-cpu");
  assert.ok(tensorflow.agrees);
  assert.match(tensorflow.sentence, /^.*TensorFlow on the CPU.* agree\.$/);
});

test("a negative index: PyTorch's scatter_ refuses what ScatterElements takes", () => {
  const all = choices(call("ScatterElements", [f32([1, 2]), i64([-1]), f32([9])]));
  const torch = choiceWith(all, "torch-scatter");
  assert.ok(!torch.agrees && torch.rule === null);
  assert.match(torch.sentence, /^PyTorch's scatter_ refuses the call\.$/);
  assert.ok(
    all.some(({ why, sentence }) => why === "missing" && /lacks? the operator/.test(sentence)),
  );
});

test("systems that differ in the same way, but in other bits, are two choices", () => {
  // Exactly the results are 0 and 0. NumPy keeps the update where the operands are equal, PyTorch the value of data.
  const inputs = [f32([0, -0]), i64([0, 1]), f32([-0, 0])];
  const all = choices(call("ScatterElements", inputs, { reduction: "max" }));
  assert.deepEqual(choiceWith(all, "numpy").rule?.output.toArray(), [-0, 0]);
  assert.deepEqual(choiceWith(all, "torch-scatter-reduce").rule?.output.toArray(), [0, -0]);
});

test("those who agree come first, and those that cannot say it last", () => {
  const all = choices(call("ScatterND", [f32([1]), i64([[0]]), f32([9])]));
  assert.ok(all[0].agrees);
  assert.deepEqual(all[0].rule?.output.toArray(), [9]);
  assert.equal(all.at(-1)?.why, "missing");
});

test("each system is in one choice, with what compareDialects says of it", () => {
  for (const { node, inputs } of [OUTSIDE, call("GatherElements", [f32([1, 2]), i64([5])])]) {
    const all = choices({ ...OUTSIDE, node, inputs });
    const rows = all.flatMap((choice) => choice.rows);
    assert.equal(rows.length, dialects().length);
    for (const one of compareDialects(node, inputs)) {
      const row = rows.find(({ id }) => id === one.dialect);
      assert.equal(row?.why, one.why);
      assert.deepEqual([...(row?.differing ?? [])], [...one.differing]);
      assert.equal(row?.output === null, one.output === null);
    }
  }
});

test("the rule of one system", () => {
  const { node, inputs } = OUTSIDE;
  assert.deepEqual(ruleFor(node, inputs, "webnn")?.output.toArray(), [10, 2, 3, 20]);
  assert.equal(ruleFor(node, inputs, "webnn")?.name, "WebNN");
  assert.equal(ruleFor(node, inputs, "numpy"), null);
});

test("a call that nobody can do is a sentence", () => {
  const { node, inputs } = call("ScatterND", [f32([1]), i64([[0], [0]]), f32([9])]);
  const found = rulesOf(node, inputs);
  assert.ok("error" in found);
  assert.match(found.error, /updates/);
  assert.equal(ruleFor(node, inputs, "numpy"), null);
});

test("whatever a system is known for has words", () => {
  const ids = dialects().flatMap(({ facts }) => facts.flatMap(({ id }) => id ?? []));
  assert.ok(ids.length > 10);
  for (const id of ids) assert.ok(habitOf(id, true) && habitOf(id, false), id);
});
