/** IR files that run: every operator of openvino, through a file. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { DTYPES, type DType } from "../../src/core/tensor/dtype.ts";
import { elementTypeOf } from "../../src/models/model/element-type.ts";
import { buildModel, type Model, type ModelSpec } from "../../src/entries/onnx.ts";
import { readIR, runModel, writeIR } from "../../src/entries/openvino.ts";
import { roleOf, type OperatorVersion } from "../../src/core/operators/operator.ts";
import { operators, resolve } from "../../src/core/operators/registry.ts";
import { run } from "../../src/core/functions.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { fromNested, tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import { EXAMPLES } from "../fixtures/examples.ts";
import { layer, net, SCATTER_BIN, scatterNet, type LayerText } from "../support/ir.ts";
import { assertRefused } from "../support/refusal.ts";

const f32 = (shape: number[], values: number[]): Tensor => tensor("float32", shape, values);
const i32 = (shape: number[], values: number[]): Tensor => tensor("int32", shape, values);

/** A model of an IR. */
const irModel = (spec: Partial<ModelSpec> & Pick<ModelSpec, "nodes" | "outputs">): Model =>
  buildModel({ opsets: {}, irVersion: 11, ...spec });

test("an attribute that is left out has its default, one of another version is refused", () => {
  const inputs = { data: f32([4], [1, 2, 3, 4]), updates: f32([5], [10, 20, 30, 40, 50]) };
  assert.deepEqual(
    runModel(readIR(scatterNet(), SCATTER_BIN), inputs)["scatter"].toArray(),
    [50, 40, 20, 4],
  );
  const older = readIR(scatterNet({ version: "opset4", data: 'reduction="sum"' }), SCATTER_BIN);
  assertRefused("attribute", { op: "ScatterNDUpdate", opset: 3 }, () => runModel(older, inputs));
  const negative = readIR(scatterNet({ version: "opset4" }), SCATTER_BIN);
  assertRefused(
    "index-out-of-range",
    {
      op: "ScatterNDUpdate",
      opset: 3,
      input: "indices",
      at: [2, 0],
      axis: 0,
      got: -3,
      expected: [0, 3],
    },
    () => runModel(negative, inputs),
  );
});

/** A layer of one operator on constants alone; what they hold. */
function onConstants(
  text: Pick<LayerText, "type" | "version" | "data">,
  tensors: readonly Tensor[],
): unknown {
  const constants = Object.fromEntries(tensors.map((one, position) => [`c${position}`, one]));
  // Layers 0 and up of the file are the constants.
  const { xml, bin } = writeIR(irModel({ constants, nodes: [], outputs: {} }));
  const id = tensors.length;
  const inputs = tensors.map(() => "UNSPECIFIED");
  const added = [
    layer(id, { ...text, name: "y", inputs, outputs: ["UNSPECIFIED"] }),
    layer(id + 1, { type: "Result", inputs: ["UNSPECIFIED"] }),
  ];
  const edges = [...tensors.map((_, from) => `${from}:0 ${id}:${from}`), `${id}:${id} ${id + 1}:0`];
  const [, list] = /<edges>([^]*)<\/edges>/.exec(net([], edges)) ?? [];
  const whole = xml
    .replace("</layers>", `${added.join("")}</layers>`)
    .replace("<edges/>", `<edges>${list}</edges>`);
  return runModel(readIR(whole, bin), {})["y"].toArray();
}

test("an axis is an input, and attributes have the types of their version", () => {
  const line = f32([1, 5], [1, 2, 3, 4, 5]);
  const twice = [line, i32([1, 3], [1, 1, 3]), f32([1, 3], [10, 20, 30])];
  const axis = tensor("int64", [], [1]);
  const update = { type: "ScatterElementsUpdate", version: "opset12" };
  const rows: readonly (readonly [data: string, output: readonly number[]])[] = [
    ['reduction="none" use_init_val="true"', [1, 20, 3, 30, 5]],
    ['reduction="sum" use_init_val="true"', [1, 32, 3, 34, 5]],
    ['reduction="sum" use_init_val="False"', [1, 30, 3, 30, 5]],
    ['reduction="mean" use_init_val="0"', [1, 15, 3, 30, 5]],
  ];
  for (const [data, output] of rows) {
    assert.deepEqual(onConstants({ ...update, data }, [...twice, axis]), [output]);
  }
  const table = i32([2, 3], [1, 2, 3, 4, 5, 6]);
  const picks = i32([2, 1], [2, 0]);
  const gather = { type: "gather", version: "opset8", data: 'batch_dims="1"' };
  assert.deepEqual(onConstants(gather, [table, picks, tensor("int32", [1], [-1])]), [[3], [4]]);
  assertRefused("malformed-file", {}, () =>
    onConstants({ ...gather, data: 'batch_dims="1.5"' }, [table, picks, axis]),
  );
  assertRefused("malformed-file", {}, () =>
    onConstants({ ...update, data: 'use_init_val="yes"' }, [...twice, axis]),
  );
});

// prettier-ignore
const CONVERSIONS: readonly (readonly [from: Tensor, to: string, values: unknown])[] = [
  [f32([4], [1.9, -1.9, -0.5, 3]), "i32", [1, -1, 0, 3]],
  [f32([3], [0, -0, NaN]), "boolean", [false, false, true]],
  [tensor("bool", [2], [true, false]), "i64", [1n, 0n]],
  [tensor("bool", [2], [true, false]), "f16", [1, 0]],
  [tensor("int64", [3], [2n ** 32n + 5n, -1n, 2n ** 31n]), "i32", [5, -1, -(2 ** 31)]],
  [i32([3], [-1, 256, 255]), "u8", [255, 0, 255]],
  [i32([3], [-1, 4, 6]), "u2", [3, 0, 2]],
  [tensor("int64", [1], [2n ** 53n + 1n]), "f64", [2 ** 53]],
  [tensor("float64", [1], [65520]), "f16", [Infinity]],
  [tensor("uint64", [1], [2n ** 64n - 1n]), "i64", [-1n]],
  [i32([], [7]), "f32", 7],
  // Run with OpenVINO 2026.4.1, which saturates in floats of 8 bits without fraction only.
  [f32([5], [464, 480, -1000, Infinity, -0]), "f8e4m3", [448, NaN, NaN, NaN, -0]],
  [f32([4], [1e6, -Infinity, NaN, 0.3]), "f8e5m2", [Infinity, -Infinity, NaN, 0.3125]],
  [f32([8], [Infinity, 0, -2, 0.3, 1.4, 1.5, 460, NaN]), "f8e8m0",
    [2 ** 127, 2 ** -127, 2 ** -127, 0.25, 1, 2, 512, NaN]],
  [f32([4], [1000, -Infinity, 5, 5.1]), "f4e2m1", [6, -6, 4, 6]],
];

/** A model of one Convert. */
const converting = (from: DType, shape: readonly number[], to: string): Model =>
  irModel({
    opsets: { openvino: 1 },
    inputs: { x: { dtype: from, shape } },
    nodes: [
      {
        domain: "openvino",
        op: "Convert",
        inputs: ["x"],
        outputs: ["y"],
        attributes: { destination_type: to },
      },
    ],
    outputs: { y: null },
  });

for (const [from, to, values] of CONVERSIONS) {
  test(`Convert of ${from.dtype} to ${to}`, () => {
    const { y } = runModel(converting(from.dtype, from.shape, to), { x: from });
    assert.equal(elementTypeOf(y.dtype), to);
    assert.deepEqual(y.toArray(), values);
  });
}

test("Convert refuses what has no value in the other type", () => {
  for (const value of [NaN, Infinity, 3e9]) {
    assertRefused("dtype", { op: "Convert", opset: 1, at: [0] }, () =>
      runModel(converting("float32", [1], "i32"), { x: f32([1], [value]) }),
    );
  }
  assertRefused("attribute", { op: "Convert", opset: 1 }, () =>
    runModel(converting("float32", [1], "x1"), { x: f32([1], [0]) }),
  );
});

const TYPED = (row: OperatorVersion, type: string): readonly DType[] =>
  row.typeConstraints.find(({ name }) => name === type)?.types ?? [type as DType];

/** Inputs that every operator of the family takes: one element, index 0, axis 0. */
const inputsOf = (row: OperatorVersion, dtype: DType): Tensor[] =>
  row.inputs.map(({ name, type }) => {
    const types = TYPED(row, type);
    return zeros(types.includes(dtype) ? dtype : types[0], name === "axis" ? [] : [1]);
  });

const ROWS = operators().filter(({ domain }) => domain === "openvino");

test("every operator of openvino in every data type goes through a file", () => {
  let count = 0;
  for (const row of ROWS) {
    for (const dtype of TYPED(row, row.outputs[0].type)) {
      const tensors = inputsOf(row, dtype);
      const names = row.inputs.map(({ name }) => name);
      const attributes = Object.fromEntries(
        row.attributes.map(({ name, default: value }) => [name, value ?? 0]),
      );
      const node = { domain: "openvino", op: row.name, opset: row.opset ?? row.sinceVersion };
      const expected = run({ ...node, attributes }, tensors)[0];
      const { dtype: type, shape } = expected;
      // Data is an input of the model, the rest are constants.
      const model = irModel({
        opsets: { openvino: node.opset },
        inputs: { data: { dtype, shape: tensors[0].shape } },
        constants: Object.fromEntries(names.slice(1).map((name, at) => [name, tensors[at + 1]])),
        nodes: [{ domain: "openvino", op: row.name, inputs: names, outputs: ["y"], attributes }],
        outputs: { y: { dtype: type, shape } },
      });
      const { xml, bin } = writeIR(model);
      const back = readIR(xml, bin);
      const { y } = runModel(back, { data: tensors[0] });
      assert.ok(equals(y, expected), `${row.name}-${row.sinceVersion} ${dtype}`);
      assert.deepEqual(back.graph.nodes[0].opset, node.opset);
      assert.deepEqual(
        back.graph.outputs.map(({ name, type: declared }) => [name, declared]),
        // A port says a scalar as it says an unknown rank.
        [["y", { dtype: type, shape: shape.length === 0 ? null : shape }]],
      );
      for (const [position, one] of back.graph.constants.entries()) {
        assert.ok(equals(one.read(), tensors[position + 1]), one.name);
      }
      // What is written of what was written is the same.
      assert.deepEqual(writeIR(back), { xml, bin });
      count++;
    }
  }
  assert.ok(count >= 26, String(count));
});

const SHOWN = EXAMPLES.filter(({ domain }) => domain === "openvino");

for (const { source, versions, op, attributes = {}, dtype, indexType, ...values } of SHOWN) {
  for (const opset of versions) {
    test(`${source}, version ${opset}, from a file`, () => {
      const given = {
        data: { dtype, value: values.data },
        indices: { dtype: indexType, value: values.indices },
        updates: { dtype, value: values.updates },
        axis: { dtype: "int64", value: values.axis },
      } as const;
      const { inputs } = resolve({ domain: "openvino", op, opset });
      const constants = Object.fromEntries(
        inputs.map((input) => {
          const { dtype: type, value } = given[roleOf(input)];
          return [input.name, fromNested(type, value, {})];
        }),
      );
      const names = inputs.map(({ name }) => name);
      const model = buildModel({
        opsets: { openvino: opset },
        irVersion: 10,
        constants,
        nodes: [{ domain: "openvino", op, inputs: names, outputs: ["y"], attributes }],
        outputs: { y: null },
      });
      const { xml, bin } = writeIR(model);
      const { y } = runModel(readIR(xml, bin), {});
      assert.ok(equals(y, fromNested(dtype, values.output, {})), String(y));
    });
  }
}

test("values of every data type go through the .bin", () => {
  for (const name of Object.keys(DTYPES) as DType[]) {
    if (elementTypeOf(name) === null) continue;
    // Every numeric type has 1 and 2, and not every one has 0.
    const [one, two] = name === "string" ? ["", "\u{1F600}é, b"] : [1, name === "bool" ? 0 : 2];
    const value = tensor(name, [1, 5], [one, two, two, one, two] as never);
    const model = irModel({
      constants: { odd: tensor("bool", [1], [true]), value },
      nodes: [],
      outputs: { value: null },
    });
    const { xml, bin } = writeIR(model);
    const back = runModel(readIR(xml, bin), {});
    assert.ok(equals(back["value"], value), name);
    assert.ok(xml.includes(`element_type="${elementTypeOf(name)}" shape="1,5" offset="8"`), name);
  }
});
