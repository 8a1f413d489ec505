/** The bodies of layers in an IR: they are read as graphs, kept as they were, and refused where they were changed. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { constant } from "../../src/entries/onnx.ts";
import {
  readIR,
  writeIR,
  type Attribute,
  type Graph,
  type Model,
  type ModelNode,
} from "../../src/entries/openvino.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { constantLayer, layer, net, parameter, result } from "../support/ir.ts";
import { assertRefused } from "../support/refusal.ts";

/** A Loop with a body that has a constant of two bytes, and a constant that feeds it. */
const LOOPING = net(
  [
    constantLayer(0, "l0", "u8", "3", { offset: 1, size: 3 }),
    layer(1, {
      type: "Loop",
      version: "opset5",
      name: "loop",
      inputs: ["U8 3"],
      outputs: ["U8 2"],
      parts:
        `<port_map/><body><layers>${constantLayer(0, "c", "u8", "2", { offset: 6, size: 2 })}` +
        "</layers><edges/></body>",
    }),
  ],
  ["0:0 1:0"],
);

test("the body of a layer keeps its constants, wherever they come to lie in the .bin", () => {
  const model = readIR(LOOPING, Uint8Array.of(0, 1, 2, 3, 4, 5, 6, 7));
  const { body } = model.graph.nodes[0].attributes;
  assert.ok(body.type === "other" && body.graphs?.length === 1);
  assert.deepEqual(body.graphs[0].constants[0].read().toArray(), [6, 7]);
  const { xml: written, bin } = writeIR(model);
  // After the three bytes of the other constant, at the next multiple of 8.
  assert.match(written, /<body>[^]*element_type="u8" shape="2" offset="8" size="2"/);
  assert.deepEqual([...bin], [1, 2, 3, 0, 0, 0, 0, 0, 6, 7]);
  assert.deepEqual(readIR(written, bin).graph.constants[0].read().toArray(), [1, 2, 3]);
  assert.match(written, /<port_map\/>/);
  // Without its .bin the body has nothing to take along.
  assertRefused("unsupported-model", {}, () => writeIR(readIR(LOOPING)));
});

type Body = NonNullable<Extract<Attribute, { type: "other" }>["graphs"]>[0];

const EMPTY: Graph = { name: "", inputs: [], outputs: [], nodes: [], constants: [] };
const RELU: ModelNode = {
  name: "",
  op: "Relu",
  domain: "openvino",
  inputs: [],
  outputs: ["y"],
  attributes: {},
};

/** The model of {@link LOOPING}, and the graph of its body. */
function loopModel(): { model: Model; node: ModelNode; body: Body } {
  const model = readIR(LOOPING, new Uint8Array(8));
  const [node] = model.graph.nodes;
  const { body } = node.attributes;
  assert.ok(body.type === "other" && body.graphs?.length === 1);
  return { model, node, body: body.graphs[0] };
}

/** Numbers of layers in a body are part of its layer, so that a body is kept whole or not at all. */
const BODY_EDITS: Readonly<Record<string, (parts: ReturnType<typeof loopModel>) => void>> = {
  "a node more": ({ body }) => void body.nodes.push(RELU),
  "an output more": ({ body }) => void body.outputs.push({ name: "c", type: null }),
  "another name": ({ body }) => void (body.constants[0] = { ...body.constants[0], name: "d" }),
  "another constant": ({ body }) => {
    body.constants[0] = constant("c", tensor("uint8", [2], [1, 2]));
  },
  "no body": ({ node }) => void delete node.attributes["body"],
  "another body": ({ node }) => {
    node.attributes["body"] = {
      type: "other",
      value: "GRAPH",
      graphs: [{ ...EMPTY, nodes: [RELU] }],
    };
  },
  "a body that is none": ({ node }) => void (node.attributes["body"] = { type: "int", value: 1 }),
};

for (const [what, edit] of Object.entries(BODY_EDITS)) {
  test(`a body that was changed is not written as it was: ${what}`, () => {
    const parts = loopModel();
    edit(parts);
    assertRefused("unsupported-model", { op: "Loop" }, () => writeIR(parts.model));
  });
}

test("an attribute that is no text is not dropped because a part of the layer has its name", () => {
  for (const name of ["port_map", "more"]) {
    const { model, node } = loopModel();
    node.attributes[name] = { type: "other", value: "GRAPH" };
    assertRefused("unsupported-model", { op: "Loop" }, () => writeIR(model));
  }
});

/** An If with a body for each of its ways, and in one of them a Loop with a body again. */
const NESTED = net(
  [
    parameter(0, "condition", "boolean", ""),
    layer(1, {
      type: "If",
      version: "opset8",
      name: "if",
      inputs: ["BOOL"],
      outputs: ["U8 3"],
      parts:
        `<then_body>${LOOPING.slice(LOOPING.indexOf("<layers>"), LOOPING.indexOf("</net>"))}</then_body>` +
        `<else_body><layers>${constantLayer(0, "e", "u8", "1", { offset: 7, size: 1 })}</layers></else_body>`,
    }),
    result(2, "u8", "3"),
  ],
  ["0:0 1:0", "1:1 2:0"],
);

test("bodies in bodies are read, and their constants are taken along", () => {
  const bin = Uint8Array.of(0, 1, 2, 3, 4, 5, 6, 7);
  const check = (model: Model): void => {
    const { then_body: yes, else_body: no } = model.graph.nodes[0].attributes;
    assert.ok(yes.type === "other" && yes.graphs && no.type === "other" && no.graphs);
    const [outer] = yes.graphs;
    const { body } = outer.nodes[0].attributes;
    assert.ok(body.type === "other" && body.graphs);
    assert.deepEqual(
      [outer.name, body.graphs[0].name, no.graphs[0].name],
      ["then_body", "body", "else_body"],
    );
    const constants = [outer, body.graphs[0], no.graphs[0]].map(({ constants: [one] }) => one);
    assert.deepEqual(
      constants.map((one) => one.read().toArray()),
      [[1, 2, 3], [6, 7], [7]],
    );
  };
  const model = readIR(NESTED, bin);
  check(model);
  const written = writeIR(model);
  check(readIR(written.xml, written.bin));
  const { then_body: yes } = model.graph.nodes[0].attributes;
  assert.ok(yes.type === "other" && yes.graphs);
  yes.graphs[0].nodes[0].attributes["body"] = { type: "other", value: "GRAPH", graphs: [EMPTY] };
  assertRefused("unsupported-model", { op: "If" }, () => writeIR(model));
});
