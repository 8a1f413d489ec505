/** The summary of a call: rows with the sentences that a person would write. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { DType } from "ndscatter";
import { PRESETS } from "../../src/examples/presets.ts";
import { explainState } from "../../src/document/read-state.ts";
import type { State, TensorText } from "../../src/values/state.ts";
import { linksOf } from "../../src/cells/links.ts";
import { routeOf } from "../../src/story/route.ts";
import { summaryOf } from "../../src/story/summary.ts";

const tensor = (dtype: DType, shape: readonly number[], values = ""): TensorText => {
  const size = shape.reduce((product, length) => product * length, 1);
  const texts = values === "" ? Array<string>(size).fill("1") : values.split(" ");
  return { dtype, shape, values: texts };
};

const call = (
  op: string,
  attributes: State["attributes"],
  data: readonly number[],
  indices: readonly [shape: readonly number[], values: string],
  updates: readonly number[] | null,
): State => ({
  domain: "ai.onnx",
  op,
  opset: op.startsWith("Gather") ? 13 : 18,
  attributes,
  inputs: [
    tensor("float32", data),
    tensor("int64", ...indices),
    ...(updates === null ? [] : [tensor("float32", updates)]),
  ],
});

const add = { reduction: "add" };

type Row = readonly [state: State, sentences: readonly string[]];

// prettier-ignore
const ROWS: readonly Row[] = [
  [call("ScatterND", {}, [4, 3], [[3, 1], "1 -1 1"], [3, 3]),
    ["Row 1 gets two updates; `none` keeps the last.", "Negative indices count from the end: -1 is row 3."]],
  [call("ScatterND", add, [4, 3], [[3, 1], "1 0 1"], [3, 3]),
    ["Row 1 gets two updates; `add` keeps both."]],
  [call("ScatterND", add, [4, 3], [[3, 1], "1 1 1"], [3, 3]),
    ["Row 1 gets three updates; `add` keeps all of them."]],
  [call("ScatterND", { reduction: "max" }, [4, 3], [[4, 1], "1 1 2 2"], [4, 3]),
    ["Row 1 and row 2 get two updates each; `max` keeps the largest."]],
  [call("ScatterND", { reduction: "min" }, [4], [[2, 1], "1 1"], [2]),
    ["Element [1] gets two updates; `min` keeps the smallest."]],
  [call("ScatterND", { reduction: "mul" }, [4, 3], [[5, 1], "1 1 1 2 2"], [5, 3]),
    ["Row 1 gets three updates and row 2 two updates; `mul` multiplies by all of them."]],
  [call("ScatterND", add, [4], [[6, 1], "0 0 1 1 2 2"], [6]),
    ["3 elements get more than one update (element [0]: two updates); `add` keeps both."]],
  [call("ScatterND", {}, [2, 2], [[2, 1], "0 1"], [2, 2]),
    ["2 rows get one update each."]],
  [call("ScatterND", {}, [2, 2], [[1, 2], "0 -2"], [1]),
    ["Element [0, 0] gets one update.", "Negative indices count from the end: [0, -2] is element [0, 0]."]],
  [call("ScatterND", {}, [2, 3, 4], [[2, 1], "1 1"], [2, 3, 4]),
    ["Slice [1, :, :] gets two updates; `none` keeps the last."]],
  [call("ScatterND", {}, [2, 3, 4], [[1, 2], "1 2"], [1, 4]),
    ["Slice [1, 2, :] gets one update."]],
  [call("ScatterND", {}, [4, 3], [[2, 1], "-1 -2"], [2, 3]),
    ["2 rows get one update each.", "Negative indices count from the end: -1 is row 3 and -2 is row 2."]],
  [call("ScatterND", {}, [4, 3], [[3, 1], "-1 -2 -3"], [3, 3]),
    ["3 rows get one update each.", "Negative indices count from the end: -1 is row 3."]],
  [call("ScatterND", {}, [4, 3], [[0, 1], "x"], [0, 3]), ["No updates, so the output is a copy of data."]],
  [call("ScatterElements", { axis: "1" }, [2, 3], [[2, 2], "0 0 1 -1"], [2, 2]),
    ["Element [0, 0] gets two updates; `none` keeps the last.", "Negative indices count from the end: -1 is position 2 on axis 1."]],
  [call("Gather", {}, [4, 3], [[3], "1 -1 1"], null),
    ["Row 1 is read twice.", "Negative indices count from the end: -1 is row 3."]],
  [call("Gather", {}, [2, 3], [[2], "0 1"], null), ["2 rows are read, each once."]],
  [call("GatherND", {}, [2, 2], [[1, 2], "0 1"], null),
    ["Element [0, 1] is read once."]],
  [call("GatherElements", {}, [2, 2], [[2, 2], "0 0 0 1"], null),
    ["Element [0, 0] is read twice."]],
  [{ domain: "ai.onnx", op: "TensorScatter", opset: 24, attributes: { axis: "1", mode: "circular" },
    inputs: [tensor("float32", [1, 4]), tensor("float32", [1, 3]), tensor("int64", [1], "-2")] },
    ["3 elements get one update each.", "Negative indices count from the end: -2 is position 2 on axis 1."]],
  [{ domain: "openvino", op: "Gather", opset: 8, attributes: {},
    inputs: [tensor("float32", [3]), tensor("int32", [3], "0 5 -1"), tensor("int32", [], "0")] },
    ["2 elements are read, each once.", "1 cell of the output is 0, because its index is out of range.", "Negative indices count from the end: -1 is element [2]."]],
  [{ domain: "openvino", op: "ScatterElementsUpdate", opset: 12, attributes: { reduction: "sum", use_init_val: "false" },
    inputs: [tensor("float32", [3]), tensor("int32", [2], "1 1"), tensor("float32", [2]), tensor("int32", [], "0")] },
    ["Element [1] gets two updates; `add` keeps both.", "The old values of the targets are not used."]],
  [call("ScatterND", {}, [4, 3], [[1, 1], "9"], [1, 3]), []],
];

for (const [state, expected] of ROWS) {
  const { op, attributes, inputs } = state;
  const [data, indices] = inputs.map((input) => `[${input?.shape.join(", ") ?? ""}]`);
  const values = inputs[1]?.values.join(" ");
  test(`${op} ${JSON.stringify(attributes)} of ${data} by ${values} as ${indices}`, () => {
    const valued = state.inputs.map((input) =>
      input?.shape.includes(0) === true ? { ...input, values: [] } : input,
    );
    const { explanation } = explainState({ ...state, inputs: valued });
    assert.ok(explanation !== null);
    assert.deepEqual(summaryOf(explanation, linksOf(explanation)?.tuples ?? []), expected);
  });
}

test("every preset that runs has one to three sentences of at most 120 characters", () => {
  for (const { id, state } of PRESETS) {
    const { explanation } = explainState(state);
    if (explanation === null || explanation.output === null) continue;
    const sentences = summaryOf(explanation, linksOf(explanation)?.tuples ?? []);
    assert.ok(sentences.length >= 1 && sentences.length <= 3, id);
    for (const sentence of sentences) {
      assert.ok(sentence.length <= 120 && !/undefined|NaN/.test(sentence), `${id}: ${sentence}`);
    }
  }
});

// prettier-ignore
const ROUTES: readonly (readonly [state: State, sentence: string])[] = [
  [call("ScatterND", add, [4, 3], [[3, 1], "1 -1 1"], [3, 3]),
    "Each row of numbers goes to the row its index names. Two went to row 1, so they add up: 1 + 1 + 1 = 3 in the first cell."],
  [call("ScatterND", {}, [4, 3], [[3, 1], "1 1 1"], [3, 3]),
    "Each row of numbers goes to the row its index names. Three went to row 1, so the last one stays."],
  [call("ScatterND", add, [4, 3], [[4, 1], "2 1 1 2"], [4, 3]),
    "Each row of numbers goes to the row its index names. Two went to row 1, for example, so they add up: 1 + 1 + 1 = 3 in the first cell."],
  [call("ScatterND", { reduction: "max" }, [4], [[2, 1], "1 1"], [2]),
    "Each number goes to the cell its index names. Two went to element [1], so the largest stays: max(1, 1, 1) = 1."],
  [call("ScatterND", add, [4], [[4, 1], "1 1 1 1"], [4]),
    "Each number goes to the cell its index names. Four went to element [1], so they add up."],
  [call("ScatterND", { reduction: "max" }, [4], [[2, 1], "1 -1"], [2]),
    "Each number goes to the cell its index names. The larger of the two stays."],
  [call("ScatterND", {}, [2, 3, 4], [[2, 1], "1 0"], [2, 3, 4]),
    "Each slice goes to the slice its index names. It replaces what was there."],
  [call("ScatterND", {}, [], [[1, 0], "x"], [1]), ""],
  [call("ScatterND", {}, [4, 3], [[0, 1], "x"], [0, 3]), ""],
  [call("ScatterElements", { axis: "1" }, [2, 3], [[2, 2], "0 1 1 -1"], [2, 2]),
    "Each number goes to the column its index names, in its own row. It replaces what was there."],
  [call("ScatterElements", {}, [2, 3, 4], [[1, 1, 1], "1"], [1, 1, 1]),
    "Each number goes to the position its index names on axis 0, at its own place on the other axes. It replaces what was there."],
  [call("Gather", {}, [4, 3], [[3], "1 -1 1"], null),
    "Each row of the output comes from the row its index names. Two came from row 1."],
  [call("GatherND", { batch_dims: "1" }, [2, 3, 2], [[2, 1], "1 -1"], null),
    "Each row of the output comes from the row its index names, in its own batch."],
  [call("ScatterND", {}, [4, 3], [[1, 1], "9"], [1, 3]), ""],
];

test("the sentence under the picture says where the parts go, and what becomes of those that meet", () => {
  for (const [state, sentence] of ROUTES) {
    assert.equal(routeOf(explainState(state).explanation ?? assert.fail()), sentence);
  }
});
