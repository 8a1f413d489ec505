/** IR files: what is read of them, what is run, and what is written. Broken ones are in `openvino-hostile.test.ts`. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { DTYPES, type DType } from "../src/tensor/dtype.ts";
import { isTensorError, type ErrorCode } from "../src/errors.ts";
import { elementTypeOf } from "../src/model/element-type.ts";
import { buildModel, constant, writeModel, type Model } from "../src/onnx/index.ts";
import { readIR, runModel, writeIR } from "../src/openvino/index.ts";
import { roleOf, type OperatorVersion } from "../src/operators/operator.ts";
import { operators, resolve } from "../src/operators/registry.ts";
import { run } from "../src/call/run.ts";
import { equals, fromNested, tensor, zeros, type Tensor } from "../src/tensor/tensor.ts";
import { EXAMPLES } from "./cases/examples.ts";
import { layer, net, type LayerText } from "./support/ir.ts";

const f32 = (shape: number[], values: number[]): Tensor => tensor("float32", shape, values);
const i32 = (shape: number[], values: number[]): Tensor => tensor("int32", shape, values);

const assertCode = (code: ErrorCode, pattern: RegExp, action: () => unknown): void =>
  assert.throws(action, (error) => {
    assert.ok(isTensorError(error, code), String(error));
    assert.match(error.message, pattern);
    return true;
  });

/** A parameter, indices from the `.bin`, updates from a parameter, a scatter and a result. */
const scatterNet = (scatter: Partial<LayerText> = {}, version = 11): string =>
  net(
    [
      layer(0, {
        type: "Parameter",
        name: "data",
        data: 'shape="4" element_type="f32"',
        outputs: ["FP32 4"],
      }),
      layer(1, {
        type: "Const",
        name: "indices",
        data: 'element_type="i32" shape="5,1" offset="4" size="20"',
        outputs: ["I32 5,1"],
      }),
      layer(2, {
        type: "Parameter",
        name: "updates",
        data: 'shape="5" element_type="f32"',
        outputs: ["FP32 5"],
      }),
      layer(3, {
        type: "ScatterNDUpdate",
        name: "scatter",
        version: "opset15",
        inputs: ["FP32 4", "I32 5,1", "FP32 5"],
        outputs: ["FP32 4"],
        ...scatter,
      }),
      layer(7, { type: "Result", name: "y/sink_port_0", inputs: ["FP32 4"] }),
    ],
    ["0:0 3:0", "1:0 3:1", "2:0 3:2", "3:3 7:0"],
    version,
  );

/** Four bytes of nothing, then the indices of the examples of ScatterNDUpdate-15. */
const BIN = new Uint8Array(Int32Array.of(-1, 0, 2, -3, -3, 0).buffer);
const DATA = f32([4], [1, 2, 3, 4]);
const UPDATES = f32([5], [10, 20, 30, 40, 50]);

/** ScatterNDUpdate-15, examples 1 to 4 with their errata corrected. */
const REDUCED: readonly (readonly [reduction: string, output: readonly number[]])[] = [
  ["none", [50, 40, 20, 4]],
  ["sum", [61, 72, 23, 4]],
  ["sub", [-59, -68, -17, 4]],
  ["prod", [500, 2400, 60, 4]],
];

for (const version of [10, 11]) {
  for (const [reduction, output] of REDUCED) {
    test(`the example of ScatterNDUpdate-15 with ${reduction} in an IR of version ${version}`, () => {
      const model = readIR(scatterNet({ data: `reduction="${reduction}"` }, version), BIN);
      assert.equal(model.irVersion, version);
      const { scatter } = runModel(model, { data: DATA, updates: UPDATES });
      assert.deepEqual(scatter.toArray(), output);
    });
  }
}

test("a model shows its inputs, outputs, constants and nodes", () => {
  const model = readIR(new TextEncoder().encode(scatterNet({ data: 'reduction="sum"' })), BIN);
  const { graph } = model;
  assert.equal(graph.name, "model");
  assert.deepEqual(
    graph.inputs.map(({ name, type }) => [name, type]),
    [
      ["data", { dtype: "float32", shape: [4] }],
      ["updates", { dtype: "float32", shape: [5] }],
    ],
  );
  assert.deepEqual(
    graph.outputs.map(({ name, type }) => [name, type]),
    [["scatter", { dtype: "float32", shape: [4] }]],
  );
  assert.deepEqual(
    graph.constants.map(({ name, dtype, shape }) => [name, dtype, shape]),
    [["indices", "int32", [5, 1]]],
  );
  const [{ name, op, domain, opset, inputs, outputs, attributes }] = graph.nodes;
  assert.deepEqual([name, op, domain, opset], ["scatter", "ScatterNDUpdate", "openvino", 15]);
  assert.deepEqual([inputs, outputs], [["data", "indices", "updates"], ["scatter"]]);
  assert.deepEqual(attributes, { reduction: { type: "string", value: "sum" } });
});

test("reduction belongs on <data>, not on <layer>", () => {
  const misplaced = scatterNet({ more: ' reduction="sum"' });
  assertCode("malformed-file", /^layer 3 "scatter" has reduction on its <layer>/, () =>
    readIR(misplaced, BIN),
  );
});

test("types match without regard to case, and Constant is Const", () => {
  const text = scatterNet({ type: "ScatterNdUpdate" })
    .replace('type="Const"', 'type="constant"')
    .replaceAll('type="Parameter"', 'type="PARAMETER"')
    .replace('type="Result"', 'type="result"');
  const model = readIR(text, BIN);
  assert.equal(model.graph.nodes[0].op, "ScatterNDUpdate");
  const { scatter } = runModel(model, { data: DATA, updates: UPDATES });
  assert.deepEqual(scatter.toArray(), [50, 40, 20, 4]);
});

test("an attribute that is left out has its default, one of another version is refused", () => {
  const inputs = { data: DATA, updates: UPDATES };
  assert.deepEqual(
    runModel(readIR(scatterNet(), BIN), inputs)["scatter"].toArray(),
    [50, 40, 20, 4],
  );
  const older = readIR(scatterNet({ version: "opset4", data: 'reduction="sum"' }), BIN);
  assertCode("attribute", /^ScatterNDUpdate-3: there is no attribute "reduction"/, () =>
    runModel(older, inputs),
  );
  const negative = readIR(scatterNet({ version: "opset4" }), BIN);
  assertCode("index-out-of-range", /^ScatterNDUpdate-3: indices\[2, 0\] is -3/, () =>
    runModel(negative, inputs),
  );
});

/** A layer of one operator on constants alone; what they hold. */
function onConstants(
  text: Pick<LayerText, "type" | "version" | "data">,
  tensors: readonly Tensor[],
): unknown {
  const constants = Object.fromEntries(tensors.map((one, position) => [`c${position}`, one]));
  const { xml, bin } = writeIR(
    buildModel({ opsets: {}, irVersion: 11, constants, nodes: [], outputs: {} }),
  );
  const data = text.data === undefined ? "" : `<data ${text.data}/>`;
  const ports = tensors.map((_, port) => `<port id="${port}"/>`).join("");
  const id = tensors.length;
  const node = `<layer id="${id}" name="y" type="${text.type}" version="${text.version}">${data}<input>${ports}</input><output><port id="${id}"/></output></layer>`;
  const result = `<layer id="${id + 1}" type="Result" version="opset1"><input><port id="0"/></input></layer>`;
  const edges = tensors.map(
    (_, from) => `<edge from-layer="${from}" from-port="0" to-layer="${id}" to-port="${from}"/>`,
  );
  const last = `<edge from-layer="${id}" from-port="${id}" to-layer="${id + 1}" to-port="0"/>`;
  const whole = xml
    .replace("</layers>", `${node}${result}</layers>`)
    .replace("<edges/>", `<edges>${edges.join("")}${last}</edges>`);
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
  assertCode("malformed-file", /^layer 3 "y" has batch_dims "1.5", which is no integer/, () =>
    onConstants({ ...gather, data: 'batch_dims="1.5"' }, [table, picks, axis]),
  );
  assertCode("malformed-file", /^layer 4 "y" has use_init_val "yes", which is neither true/, () =>
    onConstants({ ...update, data: 'use_init_val="yes"' }, [...twice, axis]),
  );
});

test("layers stand in any order, and nodes come in one in which they run", () => {
  const parameter = layer(5, {
    type: "Parameter",
    name: "x",
    data: 'shape="2" element_type="i32"',
    outputs: ["I32 2"],
  });
  const convert = (id: number, name: string, to: string): string =>
    layer(id, {
      type: "Convert",
      name,
      data: `destination_type="${to}"`,
      inputs: ["I32 2"],
      outputs: ["I32 2"],
    });
  const model = readIR(
    net(
      [
        layer(0, { type: "Result", inputs: ["I32 2"] }),
        convert(1, "third", "boolean"),
        convert(2, "second", "f32"),
        convert(3, "first", "i8"),
        parameter,
      ],
      ["1:1 0:0", "2:1 1:0", "3:1 2:0", "5:0 3:0"],
    ),
  );
  assert.deepEqual(
    model.graph.nodes.map(({ name }) => name),
    ["first", "second", "third"],
  );
  const { third } = runModel(model, { x: i32([2], [256, 255]) });
  // 256 as int8 is 0, 255 is -1.
  assert.deepEqual(third.toArray(), [false, true]);
});

test("parameters and results are in the order of the file", () => {
  const parameter = (id: number, name: string): string =>
    layer(id, { type: "Parameter", name, data: 'shape="" element_type="i8"', outputs: ["I8"] });
  const result = (id: number): string => layer(id, { type: "Result", inputs: ["I8"] });
  const { graph } = readIR(
    net(
      [result(0), parameter(1, "b"), result(2), parameter(3, "c"), parameter(4, "a")],
      ["4:0 0:0", "3:0 2:0"],
    ),
  );
  assert.deepEqual(
    graph.inputs.map(({ name }) => name),
    ["b", "c", "a"],
  );
  assert.deepEqual(
    graph.outputs.map(({ name }) => name),
    ["a", "c"],
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
  [tensor("int64", [1], [2n ** 53n + 1n]), "f64", [2 ** 53]],
  [tensor("float64", [1], [65520]), "f16", [Infinity]],
  [tensor("uint64", [1], [2n ** 64n - 1n]), "i64", [-1n]],
  [i32([], [7]), "f32", 7],
];

/** A model of one Convert. */
const converting = (from: DType, shape: readonly number[], to: string): Model =>
  buildModel({
    opsets: { openvino: 1 },
    irVersion: 11,
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
    assertCode("dtype", /^Convert-1: int32 has no value for/, () =>
      runModel(converting("float32", [1], "i32"), { x: f32([1], [value]) }),
    );
  }
  assertCode("attribute", /^Convert-1: destination_type is "x1"/, () =>
    runModel(converting("float32", [1], "x1"), { x: f32([1], [0]) }),
  );
});

const shaped = (shape: string): string =>
  net(
    [
      layer(0, {
        type: "Parameter",
        data: `shape="${shape}" element_type="f32"`,
        outputs: ["FP32"],
      }),
      layer(1, { type: "Result", inputs: ["FP32"] }),
    ],
    ["0:0 1:0"],
  );

// prettier-ignore
const SHAPES: readonly (readonly [text: string, shape: readonly (number | null)[] | null])[] = [
  ["", []],
  ["4", [4]],
  ["4,?,1..10,-1", [4, null, null, null]],
  ["0, 3 ,..5,7..", [0, 3, null, null]],
  ["[2,?]", [2, null]],
  ["5..5", [5]],
  ["...", null],
];

for (const [text, shape] of SHAPES) {
  test(`the shape ${JSON.stringify(text)} is read, and written as it was`, () => {
    const model = readIR(shaped(text));
    assert.deepEqual(model.graph.inputs[0].type, { dtype: "float32", shape });
    assert.deepEqual(model.graph.outputs[0].type, { dtype: "float32", shape });
    assert.match(writeIR(model).xml, new RegExp(`shape="${text.replaceAll(/[.?[\]]/g, "\\$&")}"`));
  });
}

test("a shape that was changed is written anew", () => {
  const model = readIR(shaped("1..10,?"));
  model.graph.inputs[0].type = { dtype: "float32", shape: ["N", 2] };
  assert.match(writeIR(model).xml, /shape="\?,2"/);
});

test("a run holds its inputs against the declared shape", () => {
  const model = readIR(shaped("2,?"));
  assert.equal(runModel(model, { l0: zeros("float32", [2, 9]) })["l0"].size, 18);
  assertCode("shape-mismatch", /has the shape \[2, \?\], got \[3, 9\]/, () =>
    runModel(model, { l0: zeros("float32", [3, 9]) }),
  );
});

test("values have the names of their ports, else of their layers", () => {
  const parameter = (id: number, name: string, names?: string): string =>
    layer(id, {
      type: "Parameter",
      name,
      data: 'shape="1" element_type="f32"',
      outputs: ["FP32 1"],
    }).replace("<port ", names === undefined ? "<port " : `<port names="${names}" `);
  const split = layer(4, {
    type: "Split",
    name: "s&lt;&#65;",
    data: 'num_splits="2"',
    inputs: ["FP32 1"],
    outputs: ["FP32", "FP32 1"],
  });
  const xml = net(
    [
      parameter(0, "a", "b,a"),
      parameter(1, "b"),
      parameter(2, "c", "x\\,y"),
      parameter(3, ""),
      split,
    ],
    ["0:0 4:0"],
  );
  const check = ({ graph }: Model): void => {
    assert.deepEqual(
      graph.inputs.map(({ name }) => name),
      ["b", "b#1", "x,y", "#3"],
    );
    assert.deepEqual(graph.nodes[0].outputs, ["s<A.0", "s<A.1"]);
    assert.deepEqual(
      graph.values?.map(({ type }) => type?.shape),
      [null, [1]],
    );
  };
  check(readIR(xml));
  check(readIR(writeIR(readIR(xml)).xml));
});

test("operators that are not run here are kept, and refused by runModel", () => {
  const relu = layer(1, {
    type: "Foo",
    version: "extension",
    data: 'mode="a&amp;b" count="3"',
    inputs: ["FP32 2"],
    outputs: ["U1 2"],
    more: ' extra="1"',
    parts: '<rt_info><attribute name="fused_names_0" version="0" value="x"/></rt_info>',
  });
  const xml = net(
    [
      layer(0, { type: "Parameter", data: 'shape="2" element_type="f32"', outputs: ["FP32 2"] }),
      relu,
      layer(2, { type: "Relu", inputs: ["U1 2"], outputs: ["U1 2"] }),
      layer(3, { type: "Result", inputs: ["U1 2"] }),
    ],
    ["0:0 1:0", "1:1 2:0", "2:1 3:0"],
  ).replace("</net>", '<rt_info><Runtime_version value="1"/></rt_info></net>');
  const model = readIR(xml);
  const [foo, other] = model.graph.nodes;
  assert.deepEqual(foo.attributes, {
    mode: { type: "string", value: "a&b" },
    count: { type: "string", value: "3" },
  });
  assert.deepEqual([foo.domain, other.domain, other.opset], ["openvino.extension", "openvino", 1]);
  assertCode("unsupported-model", /openvino\.extension\.Foo .*openvino\.Relu at opset 1/, () =>
    runModel(model, { l0: zeros("float32", [2]) }),
  );
  const written = writeIR(model).xml;
  for (const kept of [
    'type="Foo" version="extension" extra="1"',
    'mode="a&amp;b" count="3"',
    'precision="U1"',
    'name="fused_names_0"',
    '<Runtime_version value="1"/>',
  ]) {
    assert.ok(written.includes(kept), kept);
  }
  assert.equal(writeIR(readIR(written)).xml, written);
});

test("constants are read one by one, from bytes or from a file in parts", () => {
  const asked: number[][] = [];
  const source = {
    size: BIN.length,
    read(offset: number, length: number): Uint8Array {
      asked.push([offset, length]);
      return BIN.slice(offset, offset + length);
    },
  };
  const model = readIR(scatterNet(), source);
  assert.deepEqual(asked, []);
  const [indices] = model.graph.constants;
  assert.deepEqual(indices.read().toArray(), [[0], [2], [-3], [-3], [0]]);
  assert.deepEqual(asked, [[4, 20]]);
  // In memory of its own.
  (indices.read().data as Int32Array).fill(9);
  assert.deepEqual(indices.read().toArray(), [[0], [2], [-3], [-3], [0]]);
});

test("without the .bin only constants cannot be read", () => {
  const model = readIR(scatterNet());
  assert.equal(model.graph.nodes.length, 1);
  assertCode("unsupported-model", /^layer 1 "indices" has its data in the \.bin/, () =>
    runModel(model, { data: DATA, updates: UPDATES }),
  );
});

/** Element types that are not known here keep their bytes. */
test("a constant of an unknown type is kept", () => {
  const xml = net(
    [
      layer(0, {
        type: "Const",
        data: 'element_type="nf4" shape="3" offset="1" size="2"',
        outputs: ["NF4 3"],
      }),
      layer(1, { type: "Result", inputs: ["NF4 3"] }),
    ],
    ["0:0 1:0"],
  );
  const model = readIR(xml, Uint8Array.of(9, 7, 8));
  assertCode("malformed-file", /element type "nf4", which this package does not know/, () =>
    model.graph.constants[0].read(),
  );
  const written = writeIR(model);
  assert.deepEqual([...written.bin], [7, 8]);
  assert.match(written.xml, /element_type="nf4" shape="3" offset="0" size="2"/);
  assert.match(written.xml, /precision="NF4"/);
});

test("the body of a layer keeps its constants, wherever they come to lie in the .bin", () => {
  const inner = layer(0, {
    type: "Const",
    name: "c",
    data: 'element_type="u8" shape="2" offset="6" size="2"',
    outputs: ["U8 2"],
  });
  const loop = layer(1, {
    type: "Loop",
    version: "opset5",
    name: "loop",
    inputs: ["U8 3"],
    outputs: ["U8 2"],
    parts: `<port_map/><body><layers>${inner}</layers><edges/></body>`,
  });
  const outer = layer(0, {
    type: "Const",
    data: 'element_type="u8" shape="3" offset="1" size="3"',
    outputs: ["U8 3"],
  });
  const xml = net([outer, loop], ["0:0 1:0"]);
  const model = readIR(xml, Uint8Array.of(0, 1, 2, 3, 4, 5, 6, 7));
  const { body } = model.graph.nodes[0].attributes;
  assert.ok(body.type === "other" && body.graphs?.length === 1);
  assert.deepEqual(body.graphs[0].constants[0].read().toArray(), [6, 7]);
  const { xml: written, bin } = writeIR(model);
  const [, offset] = /<body>[^]*offset="(\d+)" size="2"/.exec(written) ?? [];
  assert.deepEqual([...bin.subarray(Number(offset), Number(offset) + 2)], [6, 7]);
  assert.deepEqual(readIR(written, bin).graph.constants[0].read().toArray(), [1, 2, 3]);
  // Without its .bin the body has nothing to take along.
  assertCode("unsupported-model", /^the constant "l0" has its data in the \.bin/, () =>
    writeIR(readIR(xml)),
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
      const model = buildModel({
        opsets: { openvino: node.opset },
        irVersion: 11,
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
    // Every type has 1 and 2, but truth values, and not every type has 0.
    const two = name === "bool" ? 0 : 2;
    const value = tensor(name, [1, 5], [1, two, two, 1, two] as never);
    const model: Model = buildModel({
      opsets: {},
      irVersion: 11,
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

test("a node with the number of its operator's version is written with the opset that has it", () => {
  const model = readIR(scatterNet({ version: "opset4" }), BIN);
  model.graph.nodes[0].opset = 3;
  assert.match(writeIR(model).xml, /type="ScatterNDUpdate" version="opset4"/);
});

test("a model that was changed is written with the changes", () => {
  const model = readIR(scatterNet(), BIN);
  const [node] = model.graph.nodes;
  node.attributes["reduction"] = { type: "string", value: "prod" };
  node.outputs[0] = "z";
  model.graph.outputs[0].name = "z";
  model.graph.constants[0] = constant("indices", i32([5, 1], [0, 0, 0, 0, 3]));
  const { xml, bin } = writeIR(model);
  const { z } = runModel(readIR(xml, bin), { data: DATA, updates: UPDATES });
  assert.deepEqual(z.toArray(), [240000, 2, 3, 200]);
});

const SMALL: Model = converting("float32", [1], "f16");

// prettier-ignore
const UNWRITABLE: readonly (readonly [code: ErrorCode, pattern: RegExp, model: Model])[] = [
  ["unsupported-model", /version 10 or 11, but irVersion is 8/, { ...SMALL, irVersion: 8 }],
  ["unsupported-model", /"y" is of ai\.onnx, but an IR/, buildModel({ opsets: { "ai.onnx": 18 }, irVersion: 11, inputs: { x: { dtype: "float32", shape: [] } }, nodes: [{ op: "Identity", name: "y", inputs: ["x"], outputs: ["y"] }], outputs: { y: null } })],
  ["unsupported-model", /the input "x" has no type/, buildModel({ opsets: {}, irVersion: 11, inputs: {}, nodes: [], outputs: {} , name: "g" })],
  ["dtype", /"c" is complex64, which OpenVINO has not/, buildModel({ opsets: {}, irVersion: 11, constants: { c: zeros("complex64", [1]) }, nodes: [], outputs: { c: null } })],
  ["unsupported-model", /attribute "t" of .* is of type tensor/, buildModel({ opsets: { openvino: 1 }, irVersion: 11, nodes: [{ op: "Foo", domain: "openvino", inputs: [], outputs: ["y"], attributes: { t: zeros("int8", []) } }], outputs: { y: null } })],
  ["unsupported-model", /leaves input 1 out/, buildModel({ opsets: { openvino: 1 }, irVersion: 11, inputs: { x: { dtype: "int8", shape: [] } }, nodes: [{ op: "Foo", domain: "openvino", inputs: ["x", ""], outputs: ["y"] }], outputs: { y: null } })],
  ["unsupported-model", /the input "x" has a default/, buildModel({ opsets: {}, irVersion: 11, inputs: { x: { dtype: "int8", shape: [] } }, constants: { x: zeros("int8", []) }, nodes: [], outputs: { x: null } })],
  ["unsupported-model", /XML cannot hold a character/, buildModel({ opsets: {}, irVersion: 11, inputs: { "a\u0001": { dtype: "int8", shape: [] } }, nodes: [], outputs: {} })],
  ["malformed-file", /nothing makes the graph's output "y"/, buildModel({ opsets: {}, irVersion: 11, nodes: [], outputs: { y: null } })],
];
UNWRITABLE[2][2].graph.inputs.push({ name: "x", type: null });

for (const [code, pattern, model] of UNWRITABLE) {
  test(`what an IR cannot say: ${pattern.source}`, () => {
    assertCode(code, pattern, () => writeIR(model));
  });
}

test("a model of an IR is no ONNX model", () => {
  assertCode("unsupported-model", /operator set version 15 of its own/, () =>
    writeModel(readIR(scatterNet(), BIN)),
  );
});
