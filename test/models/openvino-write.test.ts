/** IR files as they are written: over what a file said, or afresh; and what an IR cannot say. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { ErrorCode } from "../../src/core/errors.ts";
import {
  buildModel,
  constant,
  writeModel,
  type Model,
  type ModelSpec,
} from "../../src/entries/onnx.ts";
import { readIR, runModel, writeIR } from "../../src/entries/openvino.ts";
import { tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import {
  constantLayer,
  layer,
  net,
  parameter,
  result,
  SCATTER_BIN,
  scatterNet,
} from "../support/ir.ts";
import { assertRefused, type Facts } from "../support/refusal.ts";

const f32 = (shape: number[], values: number[]): Tensor => tensor("float32", shape, values);
const i32 = (shape: number[], values: number[]): Tensor => tensor("int32", shape, values);
const DATA = f32([4], [1, 2, 3, 4]);
const UPDATES = f32([5], [10, 20, 30, 40, 50]);

/** A model of an IR. */
const irModel = (spec: Partial<ModelSpec>): Model =>
  buildModel({ opsets: { openvino: 1 }, irVersion: 11, nodes: [], outputs: {}, ...spec });

/** A parameter of that shape, of which its port says nothing. */
const shaped = (shape: string): string =>
  net(
    [
      layer(0, {
        type: "Parameter",
        data: `shape="${shape}" element_type="f32"`,
        outputs: ["FP32"],
      }),
      result(1, "f32", ""),
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

test("operators that are not run here are kept, and refused by runModel", () => {
  const foo = layer(1, {
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
      parameter(0, "l0", "f32", "2"),
      foo,
      layer(2, { type: "Relu", inputs: ["U1 2"], outputs: ["U1 2"] }),
      result(3, "u1", "2"),
    ],
    ["0:0 1:0", "1:1 2:0", "2:1 3:0"],
  ).replace("</net>", '<rt_info><Runtime_version value="1"/></rt_info></net>');
  const model = readIR(xml);
  const [first, other] = model.graph.nodes;
  assert.deepEqual(first.attributes, {
    mode: { type: "string", value: "a&b" },
    count: { type: "string", value: "3" },
  });
  assert.deepEqual(
    [first.domain, other.domain, other.opset],
    ["openvino.extension", "openvino", 1],
  );
  assertRefused("unsupported-model", {}, () => runModel(model, { l0: zeros("float32", [2]) }));
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

test("a constant of an unknown type is kept", () => {
  const one = constantLayer(0, "l0", "nf4", "3", { offset: 1, size: 2 });
  const xml = net([one, result(1, "nf4", "3")], ["0:0 1:0"]);
  const model = readIR(xml, Uint8Array.of(9, 7, 8));
  assertRefused("unsupported-file", {}, () => model.graph.constants[0].read());
  const written = writeIR(model);
  assert.deepEqual([...written.bin], [7, 8]);
  assert.match(written.xml, /element_type="nf4" shape="3" offset="0" size="2"/);
  assert.match(written.xml, /precision="NF4"/);
});

test("a node with the number of its operator's version is written with the opset that has it", () => {
  const model = readIR(scatterNet({ version: "opset4" }), SCATTER_BIN);
  model.graph.nodes[0].opset = 3;
  assert.match(writeIR(model).xml, /type="ScatterNDUpdate" version="opset4"/);
});

test("a model that was changed is written with the changes", () => {
  const model = readIR(scatterNet(), SCATTER_BIN);
  const [node] = model.graph.nodes;
  node.attributes["reduction"] = { type: "string", value: "prod" };
  node.outputs[0] = "z";
  model.graph.outputs[0].name = "z";
  model.graph.constants[0] = constant("indices", i32([5, 1], [0, 0, 0, 0, 3]));
  const { xml, bin } = writeIR(model);
  const { z } = runModel(readIR(xml, bin), { data: DATA, updates: UPDATES });
  assert.deepEqual(z.toArray(), [240000, 2, 3, 200]);
});

/** A scatter with indices from the model, from nothing but literals. */
const FRESH = irModel({
  name: "a & b",
  opsets: { openvino: 15 },
  inputs: {
    data: { dtype: "float32", shape: ["N", 2] },
    updates: { dtype: "float32", shape: null },
  },
  constants: { flag: tensor("bool", [], true), indices: tensor("int64", [1, 1], [-1]) },
  nodes: [
    {
      op: "ScatterNDUpdate",
      name: "scatter",
      domain: "openvino",
      inputs: ["data", "indices", "updates"],
      outputs: ["y, z"],
      attributes: { reduction: "sum" },
    },
    {
      op: "Foo",
      domain: "openvino",
      inputs: ["indices"],
      outputs: ["v", "w"],
      attributes: { list: [1, 2] },
    },
  ],
  outputs: { "y, z": { dtype: "float32", shape: [] } },
});

const FRESH_XML = `<?xml version="1.0"?>
<net name="a &amp; b" version="11">
	<layers>
		<layer id="0" name="data" type="Parameter" version="opset1">
			<data element_type="f32" shape="?,2"/>
			<output>
				<port id="0" precision="FP32" names="data">
					<dim>-1</dim>
					<dim>2</dim>
				</port>
			</output>
		</layer>
		<layer id="1" name="updates" type="Parameter" version="opset1">
			<data element_type="f32" shape="..."/>
			<output>
				<port id="0" precision="FP32" names="updates"/>
			</output>
		</layer>
		<layer id="2" name="flag" type="Const" version="opset1">
			<data element_type="boolean" shape="" offset="0" size="1"/>
			<output>
				<port id="0" precision="BOOL" names="flag"/>
			</output>
		</layer>
		<layer id="3" name="indices" type="Const" version="opset1">
			<data element_type="i64" shape="1,1" offset="8" size="8"/>
			<output>
				<port id="0" precision="I64" names="indices">
					<dim>1</dim>
					<dim>1</dim>
				</port>
			</output>
		</layer>
		<layer id="4" name="scatter" type="ScatterNDUpdate" version="opset15">
			<data reduction="sum"/>
			<input>
				<port id="0" precision="FP32">
					<dim>-1</dim>
					<dim>2</dim>
				</port>
				<port id="1" precision="I64">
					<dim>1</dim>
					<dim>1</dim>
				</port>
				<port id="2" precision="FP32"/>
			</input>
			<output>
				<port id="3" precision="FP32" names="y\\, z"/>
			</output>
		</layer>
		<layer id="5" name="v" type="Foo" version="opset15">
			<data list="1,2"/>
			<input>
				<port id="0" precision="I64">
					<dim>1</dim>
					<dim>1</dim>
				</port>
			</input>
			<output>
				<port id="1" precision="UNSPECIFIED" names="v"/>
				<port id="2" precision="UNSPECIFIED" names="w"/>
			</output>
		</layer>
		<layer id="6" name="y, z/sink_port_0" type="Result" version="opset1">
			<input>
				<port id="0" precision="FP32"/>
			</input>
		</layer>
	</layers>
	<edges>
		<edge from-layer="0" from-port="0" to-layer="4" to-port="0"/>
		<edge from-layer="3" from-port="0" to-layer="4" to-port="1"/>
		<edge from-layer="1" from-port="0" to-layer="4" to-port="2"/>
		<edge from-layer="3" from-port="0" to-layer="5" to-port="0"/>
		<edge from-layer="4" from-port="3" to-layer="6" to-port="0"/>
	</edges>
</net>
`;

test("a model from literals is written as these bytes", () => {
  const { xml, bin } = writeIR(FRESH);
  assert.equal(xml, FRESH_XML);
  assert.deepEqual([...bin], [1, 0, 0, 0, 0, 0, 0, 0, ...Array<number>(8).fill(255)]);
  const again = readIR(xml, bin);
  assert.deepEqual(again.graph.nodes[0].outputs, ["y, z"]);
  assert.deepEqual(writeIR(again), { xml, bin });
});

test("an output that no one declared has the type that its operator gives it", () => {
  const written = (inputs: ModelSpec["inputs"]): string => {
    const node = { ...FRESH.graph.nodes[0], attributes: {} };
    const outputs = { "y, z": null };
    return writeIR(irModel({ opsets: { openvino: 15 }, inputs, nodes: [node], outputs })).xml;
  };
  const index = { dtype: "int32", shape: null } as const;
  const half = { dtype: "float16", shape: [2] } as const;
  const xml = written({ data: half, indices: index, updates: half });
  assert.match(xml, /<port id="3" precision="FP16" names="y\\, z"\/>/);
});

const FOO = { op: "Foo", domain: "openvino", inputs: [], outputs: ["y"] } as const;
const I8 = { dtype: "int8", shape: [] } as const;

/** A model of one node with one attribute. */
const withAttribute = (value: NonNullable<ModelSpec["nodes"][0]["attributes"]>[string]): Model =>
  irModel({ nodes: [{ ...FOO, attributes: { t: value } }], outputs: { y: null } });

// prettier-ignore
const ATTRIBUTES: readonly (readonly [value: Parameters<typeof withAttribute>[0], text: string])[] = [
  [-1, "-1"],
  [2n ** 62n, "4611686018427387904"],
  [0.5, "0.5"],
  ["a\n\t\"<&>", "a&#10;&#9;&quot;&lt;&amp;&gt;"],
  [true, "true"],
  [false, "false"],
  [[1, 2n], "1,2"],
  [[0.5, 1], "0.5,1"],
];

test("attributes are written as text", () => {
  for (const [value, text] of ATTRIBUTES) {
    const { xml } = writeIR(withAttribute(value));
    assert.ok(xml.includes(`<data t="${text}"/>`), xml);
    const { t } = readIR(xml).graph.nodes[0].attributes;
    assert.deepEqual(t, {
      type: "string",
      value: Array.isArray(value) ? value.join() : String(value),
    });
  }
});

const untyped = irModel({});
untyped.graph.inputs.push({ name: "x", type: null });

/** A model with this as the name of an input. */
const calling = (name: string): Model => irModel({ inputs: { [name]: I8 } });
const onnx = { op: "Identity", name: "y", inputs: ["x"], outputs: ["y"] } as const;

// prettier-ignore
const UNWRITABLE: readonly (readonly [name: string, code: ErrorCode, facts: Facts, model: Model])[] = [
  ["IR version 8", "unsupported-model", {}, irModel({ irVersion: 8 })],
  ["IR version 12", "unsupported-model", {}, irModel({ irVersion: 12 })],
  ["a node of ONNX", "unsupported-model", {},
    irModel({ opsets: { "ai.onnx": 18 }, inputs: { x: I8 }, nodes: [onnx], outputs: { y: null } })],
  ["an input without a type", "unsupported-model", {}, untyped],
  ["a constant of complex64", "dtype", { input: "c" }, irModel({ constants: { c: zeros("complex64", [1]) } })],
  ["a constant of int2", "dtype", { input: "c" }, irModel({ constants: { c: zeros("int2", [1]) } })],
  ["an input of complex64", "dtype", { input: "x" }, irModel({ inputs: { x: { dtype: "complex64", shape: [] } } })],
  ["an attribute that is a tensor", "unsupported-model", { op: "Foo" }, withAttribute(zeros("int8", []))],
  ["an attribute that is a list of text", "unsupported-model", { op: "Foo" }, withAttribute(["a"])],
  ["an attribute of an unknown type", "unsupported-model", { op: "Foo" },
    withAttribute({ type: "other", value: "GRAPH" })],
  ["a node without its second input", "unsupported-model", {},
    irModel({ inputs: { x: I8 }, nodes: [{ ...FOO, inputs: ["x", ""] }], outputs: { y: null } })],
  ["a node without its only input", "unsupported-model", {},
    irModel({ nodes: [{ ...FOO, inputs: [""] }], outputs: { y: null } })],
  ["an input with a default", "unsupported-model", {},
    irModel({ inputs: { x: I8 }, constants: { x: zeros("int8", []) }, outputs: { x: null } })],
  ["the character U+0001", "unsupported-model", {}, calling("a\u0001")],
  ["the character U+FFFF", "unsupported-model", {}, calling("a\uffff")],
  ["the first half of a surrogate pair", "unsupported-model", {}, calling("a\ud800")],
  ["the second half of a surrogate pair", "unsupported-model", {}, calling("\udc00b")],
  ["an attribute whose name has a blank", "unsupported-model", {},
    irModel({ nodes: [{ ...FOO, attributes: { "a b": 1 } }], outputs: { y: null } })],
  ["an attribute whose name begins with a digit", "unsupported-model", {},
    irModel({ nodes: [{ ...FOO, attributes: { "1a": 1 } }], outputs: { y: null } })],
  ["an output that no node computes", "malformed-file", {}, irModel({ outputs: { y: null } })],
];

for (const [name, code, facts, model] of UNWRITABLE) {
  test(`what an IR cannot say: ${name}`, () => {
    assertRefused(code, facts, () => writeIR(model));
  });
}

test("a model of an IR is no ONNX model", () => {
  assertRefused("unsupported-model", { op: "ScatterNDUpdate" }, () =>
    writeModel(readIR(scatterNet(), SCATTER_BIN)),
  );
});
