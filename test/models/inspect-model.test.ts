/** Where the nodes of a model are found (bodies, functions, files), and what is known of the values around them. */

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  buildModel,
  constant,
  convertModel,
  inferTypes,
  inspectModel,
  modelNotes,
  readModel,
  readOutline,
  type Finding,
  type Graph,
  type Model,
  type Report,
} from "../../src/entries/onnx.ts";
import { readIR } from "../../src/entries/openvino.ts";
import { NEWEST_OPSETS } from "../../src/core/operators/operator.ts";
import { body } from "../support/exact-models.ts";
import { tensor, zeros } from "../../src/core/tensor/tensor.ts";
import { bytes, file, int, text, type Bytes } from "../support/onnx-encoder.ts";
import { layer, net } from "../support/ir.ts";
import {
  BOOL,
  F32,
  f32,
  I64,
  i32,
  i64,
  onnxModel,
  scatterElements,
  scatterND,
  UNRANKED,
} from "../support/node-models.ts";
import { reportSentence } from "../support/sentences.ts";

const nodeFindings = ({ nodes, findings }: Report): Finding[] => [
  ...nodes.flatMap((node) => node.findings),
  ...findings,
];

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

test("nodes in bodies are reported with their path, and see what is outside", () => {
  const { graph: nested } = withGraphs(IF(), "then_branch", [scattering("c", 4)]);
  const inner = { ...nested, inputs: [] };
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

test("a node without a name is called by what it makes, or by its operator", () => {
  const placeOf = (name: string, outputs: string[]): string => {
    const model = withGraphs(IF(), "body", [scattering("a", 2)]);
    Object.assign(model.graph.nodes[0], { name, outputs });
    return inspectModel(model).nodes[0].path[0];
  };
  assert.equal(placeOf("choose", ["y"]), 'If "choose"');
  assert.equal(placeOf("", ["y", "z"]), 'If "y"');
  assert.equal(placeOf("", []), "If");
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

test("graphs are looked at 16 deep, and what lies deeper is reported", () => {
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
    const { id, sentence } = report.findings[0];
    reportSentence(`finding ${id}`, sentence);
  }
});

test("names that are defined twice are found in each graph, and opsets newer than the newest known", () => {
  const [opset] = [NEWEST_OPSETS["ai.onnx"] + 1];
  const twice = { op: "Identity", inputs: ["c"], outputs: ["v"] };
  const inner = body({
    constants: { c: f32([1], 1) },
    nodes: [twice, twice],
    outputs: { v: null },
  });
  const model = onnxModel(NEWEST_OPSETS["ai.onnx"], {
    inputs: { x: F32(1), b: BOOL() },
    nodes: [
      { op: "Identity", name: "first", inputs: ["x"], outputs: ["y"] },
      { op: "Identity", name: "first", inputs: ["x"], outputs: ["z"] },
      {
        op: "If",
        name: "second",
        inputs: ["b"],
        outputs: ["y"],
        attributes: { then_branch: inner, else_branch: inner },
      },
    ],
    outputs: { y: null },
  });
  model.opsets["ai.onnx"] = opset;
  model.graph.constants.push(constant("k", f32([1], 1)), constant("k", f32([1], 2)));
  const { findings, counts } = inspectModel(model);
  assert.deepEqual(
    findings.map(({ id, input, got }) => [id, input ?? got]),
    [
      ["opset-not-known", opset],
      ["initializer-repeated", "k"],
      ["value-repeated", "y"],
      ["node-name-repeated", "first"],
      ["value-repeated", "v"],
      ["value-repeated", "v"],
    ],
  );
  assert.deepEqual(counts, { wrong: 4, risky: 1, note: 1 });
  for (const { id, sentence } of findings) reportSentence(`finding ${id}`, sentence);
  // The last of two constants counts, as in ONNX Runtime.
  assert.equal(
    inferTypes({ ...model, graph: { ...model.graph, inputs: [] } }).get("k")?.shape?.length,
    1,
  );
});

test("notes name opsets that are newer than known and domains that a file imports twice", () => {
  const { "ai.onnx": newest } = NEWEST_OPSETS;
  const rows: readonly [Partial<Model>, readonly (readonly [string, string, unknown])[]][] = [
    [{}, []],
    [{ opsets: { "ai.onnx": newest + 1 } }, [["opset-not-known", "note", newest + 1]]],
    [{ opsets: { "my.domain": 99 } }, []],
    [{ otherOpsets: { "ai.onnx": [13] } }, [["domain-repeated", "risky", [13, 18]]]],
    [{ otherOpsets: { "ai.onnx": [18] } }, [["domain-repeated", "note", [18, 18]]]],
    [
      {
        functions: [
          { name: "f", domain: "d", opsets: { d: 2 }, otherOpsets: { d: [1] }, graph: IF().graph },
        ],
      },
      [["domain-repeated", "risky", [1, 2]]],
    ],
  ];
  for (const [fields, expected] of rows) {
    const model = { ...IF(), opsets: { "ai.onnx": 18 }, ...fields };
    const { findings } = inspectModel(model);
    assert.deepEqual(
      findings.map(({ id, severity, got }) => [id, severity, got]),
      expected,
    );
    assert.equal(modelNotes(model).length, expected.length);
    if (model.functions || model.opsets["ai.onnx"] !== 18) continue;
    const converted = convertModel(model, { opset: 18 });
    assert.deepEqual(inspectModel(converted.model).findings, []);
  }
  const layer = { op: "Gather", name: "g", domain: "openvino", opset: NEWEST_OPSETS.openvino + 1 };
  const ir = IF();
  ir.graph.nodes = [{ ...layer, inputs: [], outputs: [], attributes: {} }];
  assert.equal(modelNotes({ ...ir, opsets: {} }).length, 1);
});

test("nodes of functions are reported; what their callers decide is unknown", () => {
  const { graph } = scatterElements({
    data: F32(2, 2),
    indices: I64(2, 2),
    updates: F32(2, 2),
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
  assert.deepEqual(placesOf(report), [["function com.example.Sum / n", "attribute-unknown"]]);
  assert.equal(report.nodes[0].version, 16);
});

test("types and constants come through Constant, Identity and the family, and from declarations", () => {
  const indices = i64([1, 1], 7);
  const model = buildModel({
    opsets: { "ai.onnx": 18, "com.example": 1 },
    inputs: { data: F32("N", 4), updates: F32(1, 4) },
    nodes: [
      { op: "Unknown", domain: "com.example", inputs: ["data"], outputs: ["other"] },
      { op: "Constant", inputs: [], outputs: ["made"], attributes: { value: indices } },
      { op: "Identity", inputs: ["made"], outputs: ["indices"] },
      { op: "Constant", inputs: [], outputs: ["list"], attributes: { value_ints: [0, 4] } },
      { op: "ScatterND", name: "s", inputs: ["other", "indices", "updates"], outputs: ["y"] },
      { op: "GatherND", name: "g", inputs: ["y", "list"], outputs: ["z"] },
    ],
    outputs: { z: null },
  });
  model.graph.values = [{ name: "other", type: F32(7, null) }];
  const { nodes, nodeCount } = inspectModel(model);
  assert.equal(nodeCount, 6);
  const [s, g] = nodes;
  assert.deepEqual(
    s.inputs.map(({ name, parameter, type: its, isConstant: is }) => [name, parameter, its, is]),
    [
      ["other", "data", F32(7, null), false],
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
  const { value, ...known } = inputs[1];
  assert.deepEqual(known, { name: "i", parameter: "indices", type: I64(1), isConstant: true });
  assert.deepEqual(value?.toArray(), [3n]);
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
  const { value, ...known } = inputs[1];
  assert.deepEqual(known, { name: "i", parameter: "indices", type: I64(1), isConstant: true });
  assert.deepEqual(value?.toArray(), [3n]);
  assert.deepEqual(
    findings.map(({ id, got }) => [id, got]),
    [["index-out-of-range", 3]],
  );
});

test("nodes in the bodies of OpenVINO's layers are reported, with the constants of those", () => {
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
  const model = scatterND({
    data: F32("N", 4),
    indices: I64("M", 1),
    updates: UNRANKED,
    declared: F32(8, null),
  });
  assert.deepEqual(inspectModel(model).nodes[0].outputs[0].type, F32(8, 4));
  // Of two names for one dimension the one that follows from the inputs stays.
  const [output] = model.graph.outputs;
  output.type = F32("M", "K");
  assert.deepEqual(inspectModel(model).nodes[0].outputs[0].type, F32("N", 4));
});

test("a constant that is also an input counts before version 4 of the format alone", () => {
  const model = scatterND({ indices: i64([1, 1], 9), updates: F32(1, 4) });
  model.graph.inputs.push({ name: "indices", type: I64(1, 1) });
  assert.deepEqual(nodeFindings(inspectModel(model)), []);
  assert.deepEqual(
    nodeFindings(inspectModel({ ...model, irVersion: 3 })).map(({ id }) => id),
    ["index-out-of-range"],
  );
});

test("of 200 nodes the four of the family are reported, by their own opsets", () => {
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

test("of constants only small ones have a value, and no other is read for it", () => {
  const sizes = { none: [0, 4], eight: [2, 4], nine: [9, 1] };
  const model = buildModel({
    opsets: { "": 13 },
    inputs: { indices: I64(2, 1) },
    constants: {
      ...Object.fromEntries(
        Object.entries(sizes).map(([name, shape]) => [name, zeros("float32", shape)]),
      ),
      words: tensor("string", [2], ["a", "b"]),
      odd: i32([1], 3),
    },
    nodes: [...Object.keys(sizes), "words", "odd"].map((name) => ({
      op: "GatherND",
      inputs: [name, "indices"],
      outputs: [`of ${name}`],
    })),
    outputs: {},
  });
  const read: string[] = [];
  const { graph } = model;
  graph.constants = graph.constants.map((one) => ({
    ...one,
    read() {
      read.push(one.name);
      // What is only shown may be out of reach.
      if (one.name === "odd") throw new Error("odd");
      return one.read();
    },
  }));
  const { nodes } = inspectModel(model);
  const values = nodes.map(({ inputs: [data] }) => [data.isConstant, data.value?.toArray()]);
  const zero = [0, 0, 0, 0];
  assert.deepEqual(values, [
    [true, undefined],
    [true, [zero, zero]],
    [true, undefined],
    [true, undefined],
    [true, undefined],
  ]);
  assert.deepEqual(read, ["eight", "odd"]);
  assert.ok(!("value" in nodes[0].inputs[0]));
});

test("a node that may race is noted beside what is risky about it, and not where it is wrong", () => {
  const sums = (declared: number, indices: number): Model => {
    const model = scatterND({
      data: F32(4, 2),
      indices: I64(indices, 1),
      updates: F32(3, 2),
      attributes: { reduction: "add" },
    });
    const [{ outputs }] = model.graph.nodes;
    model.graph.outputs = [{ name: "end", type: null }];
    model.graph.nodes.push({
      ...model.graph.nodes[0],
      name: "relu",
      op: "Relu",
      inputs: outputs,
      outputs: ["end"],
      attributes: {},
    });
    model.graph.values = [{ name: outputs[0], type: { dtype: "float32", shape: [declared, 2] } }];
    return model;
  };
  const idsOf = (model: Model): string[] => nodeFindings(inspectModel(model)).map(({ id }) => id);
  assert.deepEqual(idsOf(sums(4, 3)), ["may-race"]);
  assert.deepEqual(idsOf(sums(5, 3)), ["declared-type-differs", "may-race"]);
  assert.deepEqual(idsOf(sums(4, 2)), ["shape-does-not-fit"]);
});
