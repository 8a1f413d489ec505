/** Error messages of runtimes: the page shows a call that fails for the same reason. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { explainState } from "../../src/document/read-state.ts";
import { positionOf } from "../../src/values/shape.ts";
import { readMessage } from "../../src/reading/runtime-message.ts";

const ort = (op: string, status: string): string =>
  `Non-zero status code returned while running ${op} node. Name:'n_${op}' Status Message: ${status}`;

type Row = readonly [
  text: string,
  op: string,
  shapes: readonly string[],
  bad: readonly string[],
  attributes?: string,
];

/** Messages of onnxruntime-node 1.30.0 as it printed them; those of torch, NumPy and TensorFlow from their sources. */
// prettier-ignore
const MESSAGES: readonly Row[] = [
  [ort("ScatterND", "invalid indice found, indice = 7"), "ScatterND", ["4,3", "3,1", "3,3"], ["7"]],
  [ort("ScatterND", "updates tensor should have shape equal to indices.shape[:-1] + data.shape[indices.shape[-1]:]. updates shape: {3,4}, indices shape: {3,1}, data shape: {4,3}"), "ScatterND", ["4,3", "3,1", "3,4"], []],
  [ort("ScatterND", "last dimension of indices must not be larger than rank of input tensor"), "ScatterND", ["4", "2,2", "2"], []],
  [ort("ScatterElements", "indices element out of data bounds, idx=7 must be within the inclusive range [-4,3]"), "ScatterElements", ["4,3", "2,3", "2,3"], ["7"]],
  [ort("ScatterElements", "Indices vs updates dimensions differs at position=1 3 vs 2"), "ScatterElements", ["2,4", "2,3", "2,2"], []],
  [ort("ScatterElements", "Indices dim=4 at pos=1 is greater than input dim=3"), "ScatterElements", ["2,3", "2,4", "2,4"], []],
  [ort("GatherND", "invalid index found, index = 9"), "GatherND", ["4,3", "3,1"], ["9"]],
  [ort("GatherND", "GatherND: indices batch size (3) is not divisible by input batch size (4)"), "GatherND", ["4,3", "3,1"], [], "batch_dims=1"],
  [ort("GatherND", "last dimension of indices must not be larger than rank of input tensor"), "GatherND", ["4", "2,2"], []],
  [ort("GatherElements", "/onnxruntime_src/onnxruntime/core/providers/cpu/tensor/gather_elements.cc:150 void onnxruntime::core_impl(const Tensor*) GatherElements op: Out of range value in index tensor"), "GatherElements", ["4,3", "2,3"], ["7"]],
  [ort("GatherElements", "GatherElements op: 'indices' shape should have values within bounds of 'data' shape. Invalid value in indices shape is: 3"), "GatherElements", ["2,3", "3,1"], [], "axis=1"],
  [ort("GatherElements", "GatherElements op: Rank of input 'data' needs to be equal to rank of input 'indices'"), "GatherElements", ["2,3", "3"], []],
  [ort("Gather", "indices element out of data bounds, idx=-5 must be within the inclusive range [-4,3]"), "Gather", ["4,3", "3"], ["-5"]],
  ["IndexError: index 5 is out of bounds for axis 1 with size 3", "Gather", ["3,3", "3"], ["5"], "axis=1"],
  ["RuntimeError: index 5 is out of bounds for dimension 0 with size 3", "GatherElements", ["3,3", "2,3"], ["5"]],
  ["    y = torch.scatter(x, 0, i, u)\nRuntimeError: index 5 is out of bounds for dimension 0 with size 3", "ScatterElements", ["3,3", "2,3", "2,3"], ["5"]],
  ["RuntimeError: Size does not match at dimension 1 expected index [3, 4] to be smaller than self [3, 2] apart from dimension 0", "GatherElements", ["3,2", "3,4"], []],
  ["RuntimeError: Expected index [2, 3] to be no larger than self [3, 4] apart from dimension 0 and to be no larger size than src [1, 3]", "ScatterElements", ["3,4", "2,3", "1,3"], []],
  ["ValueError: shape mismatch: value array of shape (2,3) could not be broadcast to indexing result of shape (3,3)", "ScatterND", ["4,3", "3,1", "2,3"], []],
  ["InvalidArgumentError: {{function_node __wrapped__TensorScatterUpdate}} indices[1] = [7, 0] does not index into shape [4,3]", "ScatterND", ["4,3", "2,2", "2"], ["7"]],
  ["InvalidArgumentError: indices[0,1] = 7 is not in [0, 4) [Op:GatherV2]", "Gather", ["4,3", "2,3"], ["7"]],
  ["ScatterND: indices[1, 0] is 9, but axis 0 of data [4, 3] takes -4 to 3", "ScatterND", ["4,3", "3,1", "3,3"], ["9"]],
  ["TensorError: Gather-13: indices[0] is 9, but axis 1 of data [4, 2] takes -2 to 1", "Gather", ["4,2", "2"], ["9"], "axis=1"],
  ["ScatterND: updates.shape must be indices.shape[:-1] ++ data.shape[1:] = [2] ++ [3] = [2, 3], got [2, 2]", "ScatterND", ["4,3", "2,1", "2,2"], []],
];

for (const [text, op, shapes, bad, attributes = ""] of MESSAGES) {
  test(`message: ${text.slice(-70)}`, () => {
    const found = readMessage(text);
    assert.ok(found !== null && "state" in found);
    const { state, understood } = found;
    assert.equal(state.op, op);
    assert.deepEqual(
      state.inputs.map((one) => String(one?.shape)),
      shapes,
    );
    assert.equal(
      Object.entries(state.attributes)
        .map(([name, value]) => `${name}=${value}`)
        .join(" "),
      attributes,
    );
    assert.ok(understood.length >= 2);
    // The call fails here too: at the index of the message, or because of shapes.
    const { explanation, faults } = explainState(state);
    assert.ok(faults.length > 0);
    const refused = explanation?.badIndices.map(({ at }) => {
      const [, indices] = state.inputs;
      assert.ok(indices);
      return indices.values[positionOf(at, indices.shape)];
    });
    assert.deepEqual(refused, bad);
  });
}

test("a message that names no operator is attributed with a probably", () => {
  const first = (text: string): string | undefined => {
    const found = readMessage(text);
    return found !== null && "state" in found ? found.understood[0] : undefined;
  };
  for (const [text, op] of [
    ["IndexError: index 5 is out of bounds for axis 1 with size 3", "Gather"],
    ["RuntimeError: index 5 is out of bounds for dimension 0 with size 3", "GatherElements"],
  ] as const) {
    assert.equal(first(text), `The message names no operator; it is probably about ${op}.`);
  }
  const named = ort("GatherND", "invalid index found, index = 9");
  assert.equal(first(named), "The message is about GatherND (node n_GatherND).");
  assert.equal(
    first(
      `  y = torch.scatter(x, 0, i, u)\n${"RuntimeError: index 5 is out of bounds for dimension 0 with size 3"}`,
    ),
    "The message is about ScatterElements.",
  );
});

test("a message about a table of 30,522 rows is shown on a small one", () => {
  const found = readMessage(
    ort(
      "Gather",
      "indices element out of data bounds, idx=30600 must be within the inclusive range [-30522,30521]",
    ),
  );
  assert.ok(found !== null && "state" in found);
  const { explanation } = explainState(found.state);
  assert.equal(explanation?.badIndices.length, 1);
  assert.match(found.understood.join(" "), /Sizes are smaller here/);
});

test("an operator that the page does not show is refused", () => {
  const text = ort("MatMul", "left operand cannot broadcast on dim 0");
  const found = readMessage(text);
  assert.ok(found !== null && "error" in found);
  assert.match(found.error, /^MatMul is not a scatter or gather/);
});

for (const text of [
  "",
  "x = 1",
  "[1, 2, 3]",
  "running late",
  `${"index ".repeat(3000)}`,
  `{${"1,".repeat(9000)}}`,
]) {
  test(`no message: ${text.slice(0, 20)}`, () => assert.equal(readMessage(text), null));
}
