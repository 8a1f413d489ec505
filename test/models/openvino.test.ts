/**
 * IR files as they are read. What runs is in `openvino-run.test.ts`, what is written in `openvino-write.test.ts`, what
 * is refused in `openvino-hostile.test.ts`.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { DType } from "../../src/core/tensor/dtype.ts";
import { readIR, runModel } from "../../src/entries/openvino.ts";
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
import { assertRefused } from "../support/refusal.ts";

const f32 = (shape: number[], values: number[]): Tensor => tensor("float32", shape, values);
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
      const model = readIR(scatterNet({ data: `reduction="${reduction}"` }, version), SCATTER_BIN);
      assert.equal(model.irVersion, version);
      const { scatter } = runModel(model, { data: DATA, updates: UPDATES });
      assert.deepEqual(scatter.toArray(), output);
    });
  }
}

test("a model shows its inputs, outputs, constants and nodes", () => {
  const xml = new TextEncoder().encode(scatterNet({ data: 'reduction="sum"' }));
  const { graph, opsets, producer } = readIR(xml, SCATTER_BIN);
  assert.deepEqual([graph.name, opsets, producer], ["model", {}, ""]);
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
  assert.deepEqual(
    graph.values?.map((value) => [value.name, value.type]),
    [["scatter", { dtype: "float32", shape: [4] }]],
  );
});

test("reduction belongs on <data>, not on <layer>", () => {
  const misplaced = scatterNet({ more: ' reduction="sum"' });
  assertRefused("malformed-file", {}, () => readIR(misplaced, SCATTER_BIN));
});

test("types match without regard to case, and Constant is Const", () => {
  const text = scatterNet({ type: "ScatterNdUpdate" })
    .replace('type="Const"', 'type="constant"')
    .replaceAll('type="Parameter"', 'type="PARAMETER"')
    .replace('type="Result"', 'type="result"');
  const model = readIR(text, SCATTER_BIN);
  assert.equal(model.graph.nodes[0].op, "ScatterNDUpdate");
  const { scatter } = runModel(model, { data: DATA, updates: UPDATES });
  assert.deepEqual(scatter.toArray(), [50, 40, 20, 4]);
});

// prettier-ignore
const VERSIONS: readonly (readonly [version: string, domain: string, opset: number])[] = [
  ["opset1", "openvino", 1],
  ["OPSET15", "openvino", 15],
  ["opset99999", "openvino", 99999],
  ["opset100000", "openvino.opset100000", 0],
  ["opset0", "openvino.opset0", 0],
  ["opset015", "openvino.opset015", 0],
  ["opset", "openvino.opset", 0],
  ["my opset15", "openvino.my opset15", 0],
  ["opset15a", "openvino.opset15a", 0],
  ["extension", "openvino.extension", 0],
  ["", "openvino.", 0],
];

for (const [version, domain, opset] of VERSIONS) {
  test(`a layer of version "${version}" is of ${domain}`, () => {
    const { nodes } = readIR(scatterNet({ version, type: "scatterndupdate" }), SCATTER_BIN).graph;
    const op = domain === "openvino" ? "ScatterNDUpdate" : "scatterndupdate";
    assert.deepEqual([nodes[0].domain, nodes[0].opset, nodes[0].op], [domain, opset, op]);
  });
}

test("attributes have the types of the operator's version, and are text where there is none", () => {
  const attribute = (type: string, version: string, data: string): unknown =>
    Object.values(
      readIR(scatterNet({ type, version, data }), SCATTER_BIN).graph.nodes[0].attributes,
    );
  assert.deepEqual(attribute("Gather", "opset8", 'batch_dims="+1"'), [{ type: "int", value: 1 }]);
  assert.deepEqual(attribute("Gather", "opset8", 'batch_dims="-9007199254740991"'), [
    { type: "int", value: -(2 ** 53 - 1) },
  ]);
  // Gather-1 has no such attribute.
  assert.deepEqual(attribute("Gather", "opset1", 'batch_dims="1"'), [
    { type: "string", value: "1" },
  ]);
  assert.deepEqual(attribute("Gather", "extension", 'batch_dims="1"'), [
    { type: "string", value: "1" },
  ]);
  assert.deepEqual(attribute("Foo", "opset8", 'axis="1"'), [{ type: "string", value: "1" }]);
});

test("truth values are true, false, 1 and 0 in letters of any case", () => {
  for (const [text, value] of [
    ["true", true],
    ["TRUE", true],
    ["1", true],
    ["False", false],
    ["0", false],
  ] as const) {
    const data = `reduction="sum" use_init_val="${text}"`;
    const xml = scatterNet({ type: "ScatterElementsUpdate", version: "opset12", data });
    const { attributes } = readIR(xml, SCATTER_BIN).graph.nodes[0];
    assert.deepEqual(attributes["use_init_val"], { type: "boolean", value });
  }
});

test("layers stand in any order, and nodes come in one in which they run", () => {
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
        result(0, "i32", "2"),
        convert(1, "third", "boolean"),
        convert(2, "second", "f32"),
        convert(3, "first", "i8"),
        parameter(5, "x", "i32", "2"),
      ],
      ["1:1 0:0", "2:1 1:0", "3:1 2:0", "5:0 3:0"],
    ),
  );
  assert.deepEqual(
    model.graph.nodes.map(({ name }) => name),
    ["first", "second", "third"],
  );
  const { third } = runModel(model, { x: tensor("int32", [2], [256, 255]) });
  // 256 as int8 is 0, 255 is -1.
  assert.deepEqual(third.toArray(), [false, true]);
});

test("parameters and results are in the order of the file", () => {
  const { graph } = readIR(
    net(
      [
        result(0, "i8", ""),
        parameter(1, "b", "i8", ""),
        result(2, "i8", ""),
        parameter(3, "c", "i8", ""),
        parameter(4, "a", "i8", ""),
      ],
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

test("inputs are in the order of their ports, whatever the edges say first", () => {
  const foo = layer(2, { type: "Foo", inputs: ["FP32 4", "FP32 4"], outputs: ["FP32 4"] });
  const swapped = foo.replace('id="0" precision', 'id="7" precision');
  const edges = ["1:0 2:1", "0:0 2:7"];
  const { nodes } = readIR(net([parameter(0, "a"), parameter(1, "b"), swapped], edges)).graph;
  assert.deepEqual(nodes[0].inputs, ["a", "b"]);
});

test("one port may feed many", () => {
  const foo = layer(1, { type: "Foo", inputs: ["FP32 4", "FP32 4"], outputs: ["FP32 4"] });
  const edges = ["0:0 1:0", "0:0 1:1", "0:0 2:0"];
  const { graph } = readIR(net([parameter(0, "a"), foo, result(2)], edges));
  assert.deepEqual([graph.nodes[0].inputs, graph.outputs[0].name], [["a", "a"], "a"]);
});

// prettier-ignore
const PORTS: readonly (readonly [port: string, type: readonly [DType, readonly unknown[] | null] | null])[] = [
  ["FP32 2,3", ["float32", [2, 3]]],
  ["f32 2", ["float32", [2]]],
  ["BOOL 1", ["bool", [1]]],
  ["boolean 1", ["bool", [1]]],
  ["I64 -1,?", ["int64", [null, null]]],
  // Without dimensions it may be a scalar or of any rank.
  ["U8", ["uint8", null]],
  ["U1 2", null],
  ["UNSPECIFIED 2", null],
];

test("a port declares a type", () => {
  for (const [port, type] of PORTS) {
    const { graph } = readIR(net([layer(0, { type: "Foo", outputs: [port] })], []));
    const declared = type === null ? [] : [{ dtype: type[0], shape: type[1] }];
    assert.deepEqual(
      graph.values?.map((value) => value.type),
      declared,
    );
  }
  const bare = net(
    ["<layer id='0' type='Foo' version='x'><output><port id='0'/></output></layer>"],
    [],
  );
  assert.deepEqual(readIR(bare).graph.values, []);
});

test("a run holds its inputs against the declared shape", () => {
  const model = readIR(net([parameter(0, "x", "f32", "2,?"), result(1)], ["0:0 1:0"]));
  assert.equal(runModel(model, { x: zeros("float32", [2, 9]) })["x"].size, 18);
  assertRefused("shape-mismatch", { input: "x", axis: 0, got: 3 }, () =>
    runModel(model, { x: zeros("float32", [3, 9]) }),
  );
});

test("an input of a type that is not known here has none", () => {
  const { inputs, outputs } = readIR(
    net([parameter(0, "x", "nf4", "2"), result(1)], ["0:0 1:0"]),
  ).graph;
  assert.deepEqual([inputs[0].type, outputs[0].type], [null, null]);
});

test("constants are read one by one, from bytes or from a file in parts", () => {
  const asked: number[][] = [];
  const source = {
    size: SCATTER_BIN.length,
    read(offset: number, length: number): Uint8Array {
      asked.push([offset, length]);
      return SCATTER_BIN.slice(offset, offset + length);
    },
  };
  const [indices] = readIR(scatterNet(), source).graph.constants;
  assert.deepEqual(asked, []);
  assert.deepEqual(indices.read().toArray(), [[0], [2], [-3], [-3], [0]]);
  assert.deepEqual(asked, [[4, 20]]);
  // In memory of its own.
  (indices.read().data as Int32Array).fill(9);
  assert.deepEqual(indices.read().toArray(), [[0], [2], [-3], [-3], [0]]);
});

test("constants of a part of a larger buffer, up to its last byte, and of no bytes", () => {
  const bin = new Uint8Array([9, 9, 9, 1, 2, 3]).subarray(3);
  const xml = net(
    [
      constantLayer(0, "last", "u8", "2", { offset: 1, size: 2 }),
      constantLayer(1, "none", "u8", "0", { offset: 3, size: 0 }),
      // OpenVINO writes a byte, of any value.
      constantLayer(2, "surplus", "boolean", "2,0", { offset: 2, size: 1 }),
    ],
    [],
  );
  const [last, none, surplus] = readIR(xml, bin).graph.constants;
  assert.deepEqual(surplus.read().toArray(), [[], []]);
  assert.deepEqual([last.read().toArray(), none.read().toArray()], [[2, 3], []]);
  // Without a .bin there is nothing to be had of it.
  assert.deepEqual(readIR(xml).graph.constants[1].read().toArray(), []);
});

test("without the .bin only constants cannot be read", () => {
  const model = readIR(scatterNet());
  assert.equal(model.graph.nodes.length, 1);
  assertRefused("unsupported-model", {}, () => runModel(model, { data: DATA, updates: UPDATES }));
});
