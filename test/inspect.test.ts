/** What inspecting a model finds: a row for each id, models that are as they should be, and where nodes are found. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { isTensorError, TensorError } from "../src/errors.ts";
import {
  buildModel,
  FINDINGS,
  inspectModel,
  readModel,
  readOutline,
  runModel,
  type Attribute,
  type AttributeInput,
  type Constant,
  type Finding,
  type Graph,
  type Model,
  type Report,
} from "../src/onnx/index.ts";
import { roleOf, type Role, type TensorType } from "../src/operators/operator.ts";
import { operators } from "../src/operators/registry.ts";
import { product } from "../src/tensor/shape.ts";
import { tensor, zeros, type Tensor } from "../src/tensor/tensor.ts";
import { readIR } from "../src/openvino/index.ts";
import { bytes, file, int, random, text, type Bytes } from "./onnx-encoder.ts";
import { layer, net } from "./support/ir.ts";

const type =
  (dtype: TensorType["dtype"]) =>
  (...shape: (number | string | null)[]): TensorType => ({ dtype, shape });
const [F32, F16, I64, I32, BOOL, BF16] = (
  ["float32", "float16", "int64", "int32", "bool", "bfloat16"] as const
).map(type);
const unranked: TensorType = { dtype: "float32", shape: null };
const i64 = (shape: readonly number[], ...values: number[]) => tensor("int64", shape, values);
const i32 = (shape: readonly number[], ...values: number[]) => tensor("int32", shape, values);

/** One node; its inputs are types or constants. */
interface Case {
  readonly op: string;
  readonly opset: number;
  readonly domain?: string;
  readonly inputs: readonly (TensorType | Tensor | Constant | null)[];
  readonly attributes?: Readonly<Record<string, AttributeInput>>;
  /** Declared for the output. */
  readonly output?: TensorType | null;
  readonly outputs?: readonly string[];
  readonly opsets?: Readonly<Record<string, number>>;
}

const isConstant = (one: Case["inputs"][number]): one is Tensor | Constant =>
  one !== null && ("data" in one || "read" in one);

function modelOf({ op, opset, domain = "ai.onnx", inputs, ...rest }: Case): Model {
  const { attributes = {}, output = null, outputs = ["y"], opsets = { [domain]: opset } } = rest;
  const names = inputs.map((one, position) => (one === null ? "" : `x${position}`));
  const model = buildModel({
    opsets,
    inputs: Object.fromEntries(
      inputs.flatMap((one, position) =>
        one === null || isConstant(one) ? [] : [[names[position], one] as const],
      ),
    ),
    nodes: [{ op, domain, inputs: names, outputs, attributes }],
    outputs: { y: output },
  });
  for (const [position, one] of inputs.entries()) {
    if (!isConstant(one)) continue;
    const { dtype, shape } = one;
    const read = "read" in one ? () => one.read() : () => one;
    model.graph.constants.push({ name: names[position], dtype, shape, read });
  }
  return model;
}

const nodeFindings = ({ nodes, findings }: Report): Finding[] => [
  ...nodes.flatMap((node) => node.findings),
  ...findings,
];

const scatterND = (
  indices: Case["inputs"][number],
  updates: TensorType | null = F32(2, 4),
  more: Partial<Case> = {},
): Case => ({ op: "ScatterND", opset: 18, inputs: [F32(8, 4), indices, updates], ...more });

const openvino = (
  op: string,
  opset: number,
  inputs: Case["inputs"],
  attributes: Case["attributes"] = {},
): Case => ({ domain: "openvino", op, opset, inputs, attributes });

const tensorScatter = (
  indices: Case["inputs"][number],
  attributes: Case["attributes"] = {},
): Case => ({
  op: "TensorScatter",
  opset: 24,
  inputs: [F32(2, 1, 4, 8), F32(2, 1, 2, 8), indices],
  attributes,
});

const unreadable: Constant = {
  name: "",
  dtype: "int64",
  shape: [2, 1],
  read: () => {
    throw new TensorError("malformed-file", "its bytes are not there");
  },
};
const outOfReach: Constant = {
  ...unreadable,
  read: () => {
    throw new TensorError("unsupported-model", "its data are in another file");
  },
};
const floating: Attribute = { type: "float", value: 1 };

interface Row {
  readonly ids: readonly string[];
  readonly of: Case;
  /** A part of the first sentence. */
  readonly says?: RegExp;
  /** Fields of the first finding. */
  readonly fields?: Partial<Finding>;
}

// prettier-ignore
const ROWS: readonly Row[] = [
  // The operator.
  { ids: ["no-opset"], of: scatterND(I64(2, 1), F32(2, 4), { opsets: { "com.example": 1 } }), says: /no version of the domain ai\.onnx/ },
  { ids: ["operator-newer-than-opset"], of: scatterND(I64(2, 1), F32(2, 4), { opset: 10 }), says: /opset 10 of ai\.onnx does not have it yet; it came with version 11/, fields: { code: "unknown-operator", got: 10 } },
  { ids: ["version-not-known"], of: openvino("Gather", 7, [F32(2), I64(1), i32([], 0)]), says: /its versions before 8, as of opset 7 of openvino, are not known here/, fields: { severity: "note" } },
  // Attributes.
  { ids: ["attribute-newer-than-opset"], of: scatterND(I64(2, 1), F32(2, 4), { opset: 13, attributes: { reduction: "add" } }), says: /reduction is in version 16/ },
  { ids: ["attribute-newer-than-opset"], of: { op: "GatherND", opset: 11, inputs: [F32(2, 3), I64(2, 1)], attributes: { batch_dims: 1 } }, says: /batch_dims is in version 12/ },
  { ids: ["attribute-unknown"], of: scatterND(I64(2, 1), F32(2, 4), { attributes: { axis: 1 } }), says: /no attribute "axis": it has reduction/ },
  { ids: ["attribute-invalid"], of: { op: "GatherElements", opset: 13, inputs: [F32(2, 3), I64(2, 3)], attributes: { axis: "1" } }, says: /axis must be an integer/ },
  { ids: ["attribute-invalid"], of: { op: "GatherElements", opset: 13, inputs: [F32(2, 3), I64(2, 3)], attributes: { axis: floating } }, says: /axis is of floats/ },
  { ids: ["attribute-invalid"], of: { op: "GatherND", opset: 13, inputs: [F32(2, 3), I64(2, 1)], attributes: { batch_dims: -1 } }, says: /at least 0, got -1/, fields: { code: "attribute", got: -1 } },
  { ids: ["reduction-newer-than-opset"], of: scatterND(I64(2, 1), F32(2, 4), { opset: 17, attributes: { reduction: "max" } }), says: /it is in version 18/ },
  { ids: ["reduction-unknown"], of: scatterND(I64(2, 1), F32(2, 4), { attributes: { reduction: "mean" } }), says: /no reduction "mean".*several runtimes take it for none/, fields: { code: "reduction" } },
  { ids: ["reduction-unknown"], of: scatterND(I64(2, 1), F32(2, 4), { attributes: { reduction: "" } }) },
  { ids: ["reduction-undefined"], of: scatterND(I64(2, 1), type("string")(2, 4), { inputs: [type("string")(8, 4), I64(2, 1), type("string")(2, 4)], attributes: { reduction: "mul" } }), says: /string has no reduction "mul"/ },
  { ids: ["reduction-unknown"], of: scatterND(I64(2, 1), F32(2, 4), { attributes: { reduction: "sum" } }) },
  { ids: ["attribute-missing"], of: openvino("GatherElements", 6, [F32(2, 3), I64(2, 3)]), says: /the attribute axis must be given/ },
  { ids: ["attribute-invalid"], of: openvino("GatherElements", 6, [F32(2, 3), I64(2, 3)], { axis: "last" }) },
  { ids: ["attribute-invalid"], of: tensorScatter(I64(2), { mode: "ring" }), says: /no mode "ring": it is one of linear, circular/ },
  // Inputs and outputs.
  { ids: ["input-count"], of: scatterND(null, null, { inputs: [F32(8, 4), I64(2, 1)] }), says: /updates is left out/, fields: { input: "updates" } },
  { ids: ["input-count"], of: scatterND(null), fields: { input: "indices" } },
  { ids: ["input-count"], of: { op: "GatherND", opset: 13, inputs: [F32(8), I64(1), F32(1)] }, says: /there are 3 inputs, but GatherND has 2: data, indices/, fields: { got: 3 } },
  { ids: ["output-count"], of: { op: "GatherND", opset: 13, inputs: [F32(8), I64(1)], outputs: ["y", "z"] }, fields: { got: 2 } },
  { ids: ["data-type-not-taken"], of: { op: "GatherND", opset: 12, inputs: [BF16(8), I64(1)] }, says: /got bfloat16; version 13 takes it/, fields: { code: "dtype", input: "data" } },
  { ids: ["index-type-not-taken"], of: scatterND(I32(2, 1)), says: /indices must be int64, got int32/, fields: { input: "indices" } },
  { ids: ["index-type-not-taken", "index-out-of-range"], of: scatterND(i32([2, 1], 0, 9)) },
  { ids: ["index-type-not-taken"], of: scatterND(tensor("float32", [2, 1], [0, 9])) },
  { ids: ["index-type-not-taken", "data-types-differ"], of: scatterND(I32(2, 1), F16(2, 4)) },
  { ids: ["data-types-differ"], of: scatterND(I64(2, 1), F16(2, 4)), says: /updates must have the data type of data, float32, got float16/ },
  // Shapes, as far as they are known.
  { ids: ["rank-does-not-fit"], of: scatterND(I64(2, 3), unranked), says: /length of an index tuple, is 3/ },
  { ids: ["rank-does-not-fit"], of: { op: "GatherND", opset: 13, inputs: [unranked, I64()] }, says: /indices must have rank >= 1/ },
  { ids: ["axis-out-of-range"], of: { op: "ScatterElements", opset: 18, inputs: [unranked, I64("N", 2), unranked], attributes: { axis: 2 } }, fields: { axis: 2, expected: [-2, 1] } },
  { ids: ["shape-does-not-fit"], of: scatterND(I64("N", 1), F32("N", 5)), says: /= \[N, 4\], got \[N, 5\]/ },
  { ids: ["shape-does-not-fit"], of: { op: "GatherND", opset: 13, inputs: [F32(2, null, 4), I64(3, 5, 1)], attributes: { batch_dims: 1 } }, says: /the first 1 axes/ },
  { ids: ["declared-type-differs"], of: scatterND(I64(2, 1), F32(2, 4), { output: F32("N", 5) }), says: /"y" is declared to be float32\[N, 5\], but the inputs make float32\[8, 4\]/ },
  { ids: ["declared-type-differs"], of: scatterND(I64(2, 1), F32(2, 4), { output: F16(8, 4) }) },
  { ids: ["axis-out-of-range"], of: openvino("Gather", 8, [F32(2, 3), I64(4), i32([], -3)]), fields: { got: -3, expected: [-2, 1] } },
  { ids: ["shape-does-not-fit"], of: openvino("Gather", 8, [F32(2, 3), I64(4), i32([2], 0, 1)]), says: /axis must be a scalar or have the shape \[1\], got \[2\]/ },
  { ids: ["index-type-not-taken"], of: openvino("Gather", 8, [F32(2, 3), I64(4), F32()]), says: /axis must be one of/ },
  { ids: ["constant-unreadable"], of: openvino("Gather", 8, [F32(2, 3), I64(4), { ...unreadable, shape: [] }]) },
  { ids: ["shape-does-not-fit"], of: openvino("ScatterUpdate", 3, [F32(2, 3), I64(4), F32(2, 3), i64([1], 1)]), says: /= \[2, 4\], got \[2, 3\]/ },
  // Constant indices.
  { ids: ["index-out-of-range"], of: scatterND(i64([2, 1], 0, 8)), says: /indices\[1, 0\] is 8, but axis 0 of data \[8, 4\] takes -8\.\.7/, fields: { at: [1, 0], axis: 0, got: 8, expected: [-8, 7] } },
  { ids: ["index-out-of-range"], of: { op: "GatherND", opset: 13, inputs: [F32("N", 4), i64([1, 2], 1000, 4)] }, says: /indices\[0, 1\] is 4, but axis 1 of data \[N, 4\] takes -4\.\.3/, fields: { expected: [-4, 3] } },
  { ids: ["index-out-of-range"], of: { op: "GatherND", opset: 13, inputs: [F32("N", 0), i64([1, 2], 1000, 0)] }, says: /axis 1 of data \[N, 0\] has no elements/ },
  { ids: ["negative-index-not-taken"], of: openvino("ScatterNDUpdate", 4, [F32(8), i32([2, 1], 0, -1), F32(2)]), says: /indices\[1, 0\] is -1, but version 3 takes no negative indices/, fields: { at: [1, 0], got: -1 } },
  { ids: ["negative-index-not-taken"], of: openvino("ScatterNDUpdate", 3, [unranked, i32([1, 1], -1), unranked]) },
  { ids: ["negative-index-not-taken", "index-out-of-range"], of: openvino("ScatterNDUpdate", 4, [F32(8), i32([2, 1], -1, 9), F32(2)]) },
  { ids: ["constant-unreadable"], of: scatterND(unreadable), says: /its bytes are not there/, fields: { code: "malformed-file" } },
  { ids: ["repeated-target"], of: scatterND(i64([3, 1], 2, 7, -1), F32(3, 4)), says: /1 of 3 updates.*that of indices\[2\], after indices\[1\]/, fields: { code: "duplicate-index", at: [2] } },
  { ids: ["repeated-target"], of: scatterND(i64([3, 1], 5, -1, -1), null, { inputs: [F32("N", 4), i64([3, 1], 5, -1, -1), F32(3, 4)] }), fields: { at: [2] } },
  { ids: ["repeated-target"], of: scatterND(null, null, { inputs: [unranked, i64([3, 2], 0, 1, 1, 0, 0, 1), unranked] }), fields: { at: [2] } },
  { ids: ["repeated-target"], of: { op: "ScatterElements", opset: 11, inputs: [unranked, i64([2, 2], 0, 1, 1, 1), unranked] }, says: /that of indices\[1, 1\], after indices\[0, 1\]/ },
  { ids: ["repeated-target-reduced"], of: scatterND(i64([2, 1], 3, 3), F32(2, 4), { attributes: { reduction: "add" } }) },
  { ids: ["repeated-target-reduced"], of: { op: "ScatterElements", opset: 16, inputs: [F32(2, "N"), i64([2, 2], 5, 5, 1, 1), F32(2, 2)], attributes: { axis: 1, reduction: "mul" } }, says: /2 of 4 updates/, fields: { at: [0, 1] } },
  { ids: ["indices-not-checked"], of: scatterND(outOfReach), says: /in another file/ },
  { ids: ["indices-not-checked"], of: scatterND(zeros("int64", [2 ** 20 + 1, 1]), null, { inputs: [F32(8), zeros("int64", [2 ** 20 + 1, 1]), unranked] }), says: /the 1048577 constant indices were not looked at/ },
  { ids: ["indices-not-checked"], of: scatterND(null, null, { inputs: [F32(2 ** 16, 2 ** 16), i64([2, 1], 0, 0), unranked] }), says: /more than 2\^32 - 1 elements/ },
  { ids: ["index-out-of-range"], of: tensorScatter(i64([2], 0, 3)), says: /write_indices\[1\] is 3, .* a sequence of 2 takes 0\.\.2/, fields: { input: "write_indices", at: [1], expected: [0, 2] } },
  { ids: ["index-out-of-range"], of: { ...tensorScatter(i64([2], 0, 3)), inputs: [F32("B", 1, 4, "D"), F32(null, 1, 2, 8), i64([1], 3)] }, says: /axis 2 of past_cache \[B, 1, 4, D\] takes 0\.\.2/ },
  { ids: ["index-filled"], of: openvino("Gather", 8, [F32(2, "N", 3), i32([2], 1, 9), i32([], 2)]), says: /indices\[1\] is 9, but axis 2 of data \[2, N, 3\] takes -3\.\.2/, fields: { severity: "risky" } },
  { ids: ["negative-index-not-taken"], of: { op: "Gather", opset: 10, inputs: [unranked, i32([], -1)] }, says: /indices\[\] is -1, but version 1 takes no negative/ },
  { ids: ["negative-index-not-taken"], of: openvino("ScatterElementsUpdate", 4, [F32("N"), i32([2], 0, -1), unranked, I32()]) },
  { ids: ["repeated-target-reduced"], of: openvino("ScatterElementsUpdate", 12, [F32("N", 2), i32([2, 2], 0, 1, 0, -1), F32(2, 2), i64([1], 0)], { reduction: "mean" }), says: /1 of 4 updates.*indices\[1, 0\], after indices\[0, 0\]/ },
  { ids: ["repeated-target"], of: openvino("ScatterUpdate", 3, [F32(5, 3), i32([3], 2, 1, 2), unranked, i32([], -1)]), says: /5 of 15 updates.*indices\[2\], after indices\[0\]/ },
  { ids: ["repeated-target"], of: openvino("ScatterUpdate", 3, [unranked, i32([3], 2, 1, 2), unranked, i32([], 1)]) },
  { ids: ["indices-not-checked"], of: openvino("ScatterUpdate", 3, [F32(2 ** 20, 2 ** 11), zeros("int32", [17]), unranked, i32([], 1)]), says: /places in data are too many/ },
  // The operator as a whole.
  { ids: ["operator-deprecated"], of: { op: "Scatter", opset: 13, inputs: [F32(3), I64(2), F32(2)] }, says: /^ScatterElements has replaced it$/ },
  // Several at once.
  { ids: ["attribute-unknown", "index-type-not-taken", "data-types-differ", "shape-does-not-fit"], of: scatterND(I32(2, 1), F16(2, 5), { attributes: { mode: 1 } }) },
  // Nothing.
  { ids: [], of: scatterND(I64(2, 1)) },
  { ids: [], of: scatterND(i64([2, 1], -8, 7)) },
  { ids: [], of: scatterND(null, null, { inputs: [F32("N", 4), i64([2, 1], -1, 1), F32(2, 4)] }) },
  { ids: [], of: scatterND(null, null, { inputs: [F32("N", "M"), i64([2, 2], 0, 1, 1, 0), F32(2)] }) },
  { ids: [], of: scatterND(i64([2, 1], 1, 2), F32(2, 4), { output: F32("N", null), attributes: { reduction: "max" } }) },
  { ids: [], of: { op: "GatherND", opset: 13, inputs: [F32(8), i64([2, 1], 1, 1)] } },
  { ids: [], of: { op: "GatherND", opset: 13, inputs: [F32("B", 3), i64([2, 2, 1], 0, 2, 2, 2)], attributes: { batch_dims: 1 } } },
  { ids: [], of: { op: "ScatterElements", opset: 18, inputs: [BOOL("N", 3), i64([1, 3], 4, 4, 4), BOOL(1, 3)] } },
  { ids: [], of: { op: "GatherElements", opset: 11, inputs: [unranked, I32(2)] } },
  { ids: [], of: { op: "Scatter", opset: 10, inputs: [F32(3), i64([2], 0, 1), F32(2)] } },
  { ids: [], of: tensorScatter(null) },
  { ids: [], of: tensorScatter(i64([2], 0, 3), { mode: "circular" }) },
  { ids: [], of: { op: "Gather", opset: 13, inputs: [F32("N", 3), i32([2, 2], 0, -9, 1, 8)] } },
  // Of an axis that is not known indices may be any.
  { ids: [], of: openvino("Gather", 8, [F32(2, 3), i32([2], 0, 9), I64()]) },
  { ids: [], of: openvino("ScatterUpdate", 3, [F32(2, 3), i32([2], 0, 0), unranked, I64(1)]) },
];

for (const [position, { ids, of, says, fields }] of ROWS.entries()) {
  test(`row ${position}: ${of.op} at ${of.opset} has ${ids.join(", ") || "nothing"}`, () => {
    const found = nodeFindings(inspectModel(modelOf(of)));
    assert.deepEqual(
      found.map(({ id }) => id),
      ids,
      found.map(({ sentence }) => sentence).join("\n"),
    );
    for (const { id, severity } of found) assert.equal(severity, FINDINGS[id].severity);
    if (says !== undefined) assert.match(found[0].sentence, says);
    for (const [field, value] of Object.entries(fields ?? {})) {
      assert.deepEqual(
        Object.entries(found[0]).find(([name]) => name === field)?.[1],
        value,
        field,
      );
    }
  });
}

test("every id has a row here", () => {
  const ids = new Set(ROWS.flatMap((row) => row.ids));
  assert.deepEqual(
    Object.keys(FINDINGS).filter((id) => !ids.has(id)),
    ["graph-too-deep"],
  );
});

/** A graph that scatters into `data` by `indices` of its own. */
const scattering = (name: string, index: number, more: Partial<Graph> = {}): Graph => {
  const { graph } = buildModel({
    opsets: {},
    constants: { indices: i64([1, 1], index) },
    nodes: [
      { op: "ScatterND", name, inputs: ["data", "indices", "updates"], outputs: [`${name}_y`] },
    ],
    outputs: {},
  });
  return { ...graph, ...more };
};

/** `model` whose node has one more attribute. */
function withGraphs(model: Model, name: string, graphs: readonly Graph[] | null): Model {
  const [node] = model.graph.nodes;
  node.attributes[name] = { type: "other", value: "GRAPH", graphs };
  return model;
}

const IF = (): Model =>
  buildModel({
    opsets: { "ai.onnx": 18 },
    inputs: { data: F32(3, 2), updates: F32(1, 2), which: BOOL() },
    nodes: [{ op: "If", name: "choose", inputs: ["which"], outputs: ["y"] }],
    outputs: { y: null },
  });

/** Where a report's nodes stand, what they are called, and their findings. */
const placesOf = ({ nodes }: Report) =>
  nodes.map(({ path, name, findings }) => [
    [...path, name].join(" / "),
    ...findings.map(({ id }) => id),
  ]);

test("nodes in bodies are told with their path, and see what is outside", () => {
  const inner = withGraphs(IF(), "then_branch", [scattering("c", 4)]).graph;
  const model = withGraphs(IF(), "then_branch", [scattering("a", 2)]);
  const [node] = withGraphs(model, "else_branch", [scattering("b", 3)]).graph.nodes;
  node.attributes["more"] = { type: "other", value: "GRAPHS", graphs: [inner, scattering("d", 0)] };
  const report = inspectModel(model);
  assert.deepEqual(placesOf(report), [
    ['If "choose" / then_branch / a'],
    ['If "choose" / else_branch / b', "index-out-of-range"],
    ['If "choose" / more 0 / If "choose" / then_branch / c', "index-out-of-range"],
    ['If "choose" / more 1 / d'],
  ]);
  assert.equal(report.nodeCount, 6);
  assert.deepEqual(report.counts, { wrong: 2, risky: 0, note: 0 });
});

test("a body's own values hide those outside", () => {
  const inputs = [{ name: "data", type: F32(9, 2) }];
  const model = withGraphs(IF(), "body", [scattering("a", 8, { inputs })]);
  assert.deepEqual(placesOf(inspectModel(model)), [['If "choose" / body / a']]);
  // And not the other way round.
  model.graph.nodes.push(...scattering("b", 8).nodes);
  model.graph.constants.push(...scattering("b", 8).constants);
  assert.deepEqual(placesOf(inspectModel(model))[1], ["b", "index-out-of-range"]);
});

test("graphs are looked at 16 deep, and what lies deeper is told", () => {
  let model = withGraphs(IF(), "body", [scattering("deep", 0)]);
  for (let depth = 1; depth < 16; depth++) model = withGraphs(IF(), "body", [model.graph]);
  assert.equal(inspectModel(model).nodes.length, 1);
  const deeper = inspectModel(withGraphs(IF(), "body", [model.graph]));
  for (const report of [deeper, inspectModel(withGraphs(IF(), "body", null))]) {
    assert.deepEqual(report.nodes, []);
    assert.deepEqual(
      report.findings.map(({ id }) => id),
      ["graph-too-deep"],
    );
    assert.match(report.findings[0].sentence, /^the graph of If "choose" \/ body.* too deep/);
  }
});

test("nodes of functions are told; what their callers decide is unknown", () => {
  const { graph } = modelOf({
    op: "ScatterElements",
    opset: 18,
    inputs: [F32(2, 2), I64(2, 2), F32(2, 2)],
  });
  const [node] = graph.nodes;
  node.attributes["axis"] = { type: "other", value: "int", reference: "along" };
  node.attributes["reduction"] = { type: "other", value: "string", reference: "how" };
  node.attributes["no"] = { type: "other", value: "string", reference: "such" };
  const opsets = { "ai.onnx": 16 };
  const functions = [
    { name: "Sum", domain: "com.example", opsets, graph: { ...graph, inputs: [] } },
  ];
  const report = inspectModel({ ...IF(), functions });
  assert.deepEqual(placesOf(report), [["function com.example.Sum / ", "attribute-unknown"]]);
  assert.equal(report.nodes[0].version, 16);
});

test("types and constants come through Constant, Identity and the family, and from declarations", () => {
  const indices = i64([1, 1], 7);
  const model = buildModel({
    opsets: { "ai.onnx": 18 },
    inputs: { data: F32("N", 4), updates: F32(1, 4) },
    nodes: [
      { op: "Relu", inputs: ["data"], outputs: ["relu"] },
      { op: "Constant", inputs: [], outputs: ["made"], attributes: { value: indices } },
      { op: "Identity", inputs: ["made"], outputs: ["indices"] },
      { op: "Constant", inputs: [], outputs: ["list"], attributes: { value_ints: [0, 4] } },
      { op: "ScatterND", name: "s", inputs: ["relu", "indices", "updates"], outputs: ["y"] },
      { op: "GatherND", name: "g", inputs: ["y", "list"], outputs: ["z"] },
    ],
    outputs: { z: null },
  });
  model.graph.values = [{ name: "relu", type: F32(7, null) }];
  const { nodes, nodeCount } = inspectModel(model);
  assert.equal(nodeCount, 6);
  const [s, g] = nodes;
  assert.deepEqual(
    s.inputs.map(({ name, parameter, type: its, isConstant: is }) => [name, parameter, its, is]),
    [
      ["relu", "data", F32(7, null), false],
      ["indices", "indices", I64(1, 1), true],
      ["updates", "updates", F32(1, 4), false],
    ],
  );
  assert.deepEqual(
    s.findings.map(({ id }) => id),
    ["index-out-of-range"],
  );
  assert.deepEqual(s.outputs, [
    { name: "y", parameter: "output", type: F32(7, null), isConstant: false },
  ]);
  // The axis of which nothing is known takes any index.
  assert.deepEqual(g.findings, []);
  assert.deepEqual(g.outputs[0].type, F32());
});

test("indices that OpenVINO converts are read through it, and others are not made up", () => {
  const convert = (to: string): Model =>
    buildModel({
      opsets: { openvino: 8 },
      inputs: { data: F32(3, 2) },
      constants: { far: tensor("float32", [1], [3]), axis: i32([], 0) },
      nodes: [
        {
          domain: "openvino",
          op: "Convert",
          inputs: ["far"],
          outputs: ["i"],
          attributes: { destination_type: to },
        },
        { domain: "openvino", op: "Gather", inputs: ["data", "i", "axis"], outputs: ["y"] },
      ],
      outputs: { y: null },
    });
  const [{ inputs, findings }] = inspectModel(convert("i64")).nodes;
  assert.deepEqual(inputs[1], { name: "i", parameter: "indices", type: I64(1), isConstant: true });
  assert.deepEqual(
    findings.map(({ id, got }) => [id, got]),
    [["index-filled", 3]],
  );
  assert.deepEqual(
    nodeFindings(inspectModel(convert("f16"))).map(({ id }) => id),
    ["index-type-not-taken"],
  );
  assert.deepEqual(inspectModel(convert("i65")).nodes[0].findings, []);
});

test("indices are read through Cast", () => {
  const nodes = [
    { op: "Cast", inputs: ["far"], outputs: ["i"], attributes: { to: 7 } },
    { op: "Gather", inputs: ["data", "i"], outputs: ["y"] },
  ];
  const model = buildModel({
    opsets: { "": 13 },
    inputs: { data: F32(3, 2) },
    constants: { far: i32([1], 3) },
    nodes,
    outputs: { y: null },
  });
  const [{ inputs, findings }] = inspectModel(model).nodes;
  assert.deepEqual(inputs[1], { name: "i", parameter: "indices", type: I64(1), isConstant: true });
  assert.deepEqual(
    findings.map(({ id, got }) => [id, got]),
    [["index-out-of-range", 3]],
  );
});

test("nodes in the bodies of OpenVINO's layers are told, with the constants of those", () => {
  const constant = (id: number, shape: string, offset: number) =>
    layer(id, {
      type: "Const",
      data: `element_type="i32" shape="${shape}" offset="${offset}" size="4"`,
      outputs: [`I32 ${shape}`],
    });
  const body = [
    layer(0, {
      type: "Parameter",
      name: "p",
      data: 'element_type="f32" shape="3,2"',
      outputs: ["FP32 3,2"],
    }),
    constant(1, "1", 4),
    constant(2, "", 0),
    layer(3, {
      type: "Gather",
      name: "g",
      version: "opset8",
      inputs: ["FP32 3,2", "I32 1", "I32"],
      outputs: ["FP32 1,2"],
    }),
    layer(4, { type: "Result", inputs: ["FP32 1,2"] }),
  ];
  const [, inner] =
    /(<layers>[^]*<\/edges>)/.exec(net(body, ["0:0 3:0", "1:0 3:1", "2:0 3:2", "3:3 4:0"])) ?? [];
  const parts = `<then_body>${inner}</then_body><else_body>${inner}</else_body>`;
  const xml = net([layer(0, { type: "If", name: "if", version: "opset8", parts })], []);
  const report = inspectModel(readIR(xml, new Uint8Array(new Int32Array([0, 5]).buffer)));
  assert.equal(report.nodeCount, 3);
  assert.deepEqual(placesOf(report), [
    ['If "if" / then_body / g', "index-filled"],
    ['If "if" / else_body / g', "index-filled"],
  ]);
});

test("what is declared of an output completes what its inputs tell", () => {
  const model = modelOf(
    scatterND(I64("M", 1), null, {
      inputs: [F32("N", 4), I64("M", 1), unranked],
      output: F32(8, null),
    }),
  );
  assert.deepEqual(inspectModel(model).nodes[0].outputs[0].type, F32(8, 4));
});

test("a constant that is also an input counts before version 4 of the format alone", () => {
  const model = modelOf(scatterND(i64([1, 1], 9), F32(1, 4)));
  model.graph.inputs.push({ name: "x1", type: I64(1, 1) });
  assert.deepEqual(nodeFindings(inspectModel(model)), []);
  assert.deepEqual(
    nodeFindings(inspectModel({ ...model, irVersion: 3 })).map(({ id }) => id),
    ["index-out-of-range"],
  );
});

test("of 200 nodes the four of the family are told, by their own opsets", () => {
  const others = Array.from({ length: 196 }, (_, n) => ({
    op: n % 2 === 0 ? "Relu" : "ScatterND",
    // The same name in another domain is another operator.
    domain: n % 2 === 0 ? "" : "com.example",
    inputs: [n === 0 ? "data" : `v${n - 1}`],
    outputs: [`v${n}`],
  }));
  const model = buildModel({
    opsets: { "ai.onnx": 13, "com.example": 1 },
    inputs: { data: F32(8, 4), indices: I64(2, 1), updates: F32(2, 4) },
    nodes: [
      ...others,
      { op: "ScatterND", name: "a", inputs: ["v195", "indices", "updates"], outputs: ["a"] },
      {
        op: "ScatterND",
        name: "b",
        inputs: ["data", "indices", "updates"],
        outputs: ["b"],
        attributes: { reduction: "add" },
      },
      { op: "GatherND", name: "c", inputs: ["b", "indices"], outputs: ["c"] },
      { op: "ScatterElements", name: "d", inputs: ["data", "c", "c"], outputs: ["d"] },
    ],
    outputs: { c: null },
  });
  const report = inspectModel(model);
  assert.equal(report.nodeCount, 200);
  assert.deepEqual(placesOf(report), [
    ["a"],
    ["b", "attribute-newer-than-opset"],
    ["c"],
    ["d", "index-type-not-taken"],
  ]);
  assert.deepEqual(
    report.nodes.map(({ version }) => version),
    [13, 13, 13, 13],
  );
  assert.deepEqual(report.opsets, { "ai.onnx": 13, "com.example": 1 });
});

test("a file's bodies, functions and declared types are found by both readers", () => {
  const value = (name: string, elem: number, ...dims: number[]): Bytes => [
    ...text(1, name),
    ...bytes(
      2,
      bytes(1, [
        ...int(1, elem),
        ...bytes(
          2,
          dims.flatMap((dim) => bytes(1, int(1, dim))),
        ),
      ]),
    ),
  ];
  const node = (name: string, op: string, inputs: readonly string[], ...parts: Bytes[]): Bytes => [
    ...inputs.flatMap((input) => text(1, input)),
    ...text(2, `${name}_y`),
    ...text(3, name),
    ...text(4, op),
    ...parts.flat(),
  ];
  const indices = [...int(1, 1), ...int(1, 1), ...int(2, 7), ...text(8, "i"), ...bytes(7, [5])];
  const scatter = (name: string) => node(name, "ScatterND", ["data_y", "i", "updates"]);
  const body = [...bytes(1, scatter("inner")), ...bytes(5, indices)];
  const branch = bytes(5, [...text(1, "then_branch"), ...bytes(6, body), ...int(20, 5)]);
  const model = file(
    int(1, 9),
    bytes(7, [
      ...bytes(1, node("data", "Relu", ["x"])),
      ...bytes(1, node("if", "If", [], branch)),
      ...bytes(13, value("data_y", 1, 5, 2)),
    ]),
    bytes(8, int(2, 18)),
    bytes(25, [
      ...text(1, "f"),
      ...text(4, "data_y"),
      ...bytes(7, scatter("called")),
      ...bytes(9, int(2, 10)),
      ...text(10, "com.example"),
      ...bytes(12, value("data_y", 1, 2, 2)),
    ]),
  );
  const source = {
    size: model.length,
    read: (at: number, length: number) => model.slice(at, at + length),
  };
  for (const read of [readModel(model), readOutline(source)]) {
    assert.deepEqual(placesOf(inspectModel(read)), [
      ['If "if" / then_branch / inner', "index-out-of-range"],
      ["function com.example.f / called", "operator-newer-than-opset"],
    ]);
  }
});

test("where everything is known, what runs is not wrong and what is wrong does not run", () => {
  const next = random(22);
  const pick = <T>(list: readonly T[]): T => list[next(list.length)];
  const versions = operators();
  const outcomes = { runs: 0, fails: 0 };
  for (let i = 0; i < 4000; i++) {
    const { domain, name: op, sinceVersion, attributes, inputs } = pick(versions);
    const opset = Math.max(1, sinceVersion + pick([0, 0, 0, 0, 0, 1, -1]));
    const rank = 1 + next(3);
    const data = Array.from({ length: rank }, () => 1 + next(3));
    const indices = pick([data, [2, 1], [2], [1, data.length], [data[0], 1], []]);
    const shapes: Record<Role, readonly number[]> = {
      data,
      indices,
      updates: pick([indices, [...indices.slice(0, -1), ...data.slice(indices.at(-1))], data]),
      axis: pick([[], [1]]),
    };
    const small = (shape: readonly number[], least: number): Tensor =>
      tensor(
        next(8) === 0 ? pick(["int32", "uint8"] as const) : "int64",
        shape,
        Array.from({ length: product(shape) }, () => Math.abs(least + next(3))),
      );
    const given = inputs.map((input) => {
      const role = roleOf(input);
      if (input.optional === true && next(2) === 0) return null;
      if (role === "axis") return small(shapes.axis, next(2));
      if (role !== "indices") return zeros(next(9) === 0 ? "bool" : "float32", shapes[role]);
      const one = small(shapes.indices, 0);
      if (one.dtype === "int64" && next(3) === 0 && one.size > 0) one.data[0] = -1n;
      return one;
    });
    const chosen = attributes.map((one) => one.name).filter(() => next(2) === 0);
    if (next(9) === 0) chosen.push(pick(["axis", "reduction", "batch_dims"]));
    const values = chosen.map((name): [string, AttributeInput] => [
      name,
      name === "reduction"
        ? pick(["none", "add", "sum", "max", "mean"])
        : name === "mode"
          ? "circular"
          : next(3) - 1,
    ]);
    const node = { domain, op, opset, inputs: given, attributes: Object.fromEntries(values) };
    const model = modelOf(node);
    let error: unknown = null;
    try {
      runModel(model, {});
      outcomes.runs++;
    } catch (thrown) {
      error = thrown;
      outcomes.fails++;
    }
    const found = nodeFindings(inspectModel(model));
    const wrong = found.filter(({ severity }) => severity === "wrong");
    const told = () =>
      `${JSON.stringify(node, (_, one: unknown) => (typeof one === "bigint" ? Number(one) : one))}\n${String(error)}\n${JSON.stringify(found)}`;
    // The model tells of all nodes that are not run here at once.
    if (isTensorError(error, "unsupported-model")) {
      assert.match(found[0].id, /^(operator-newer-than-opset|version-not-known)$/, told());
      continue;
    }
    assert.equal(wrong.length > 0, error !== null, told());
    if (isTensorError(error) && wrong.length === 1) assert.equal(wrong[0].code, error.code, told());
  }
  assert.ok(outcomes.runs > 500 && outcomes.fails > 500, JSON.stringify(outcomes));
});
