/** What the values of an IR are called. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { buildModel } from "../../src/entries/onnx.ts";
import { convertModel, readIR, writeIR, type Model } from "../../src/entries/openvino.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { layer, net, parameter, result } from "../support/ir.ts";

/** A layer whose first output port has these `names`. */
const named = (text: string, names: string): string =>
  text.replace("<port ", `<port names="${names}" `);
/** A layer of several outputs. */
const split = (id: number, name: string, outputs = 2): string =>
  layer(id, { type: "Split", name, outputs: Array(outputs).fill("FP32") });

interface Row {
  readonly what: string;
  readonly layers: readonly string[];
  /** Of the values of all layers, in the order in which they are in the model. */
  readonly names: readonly string[];
}

// prettier-ignore
const ROWS: readonly Row[] = [
  { what: "the first of the names", layers: [named(parameter(0, "a"), "b,a")], names: ["b"] },
  { what: "the layer's, where the port has none", layers: [parameter(0, "a")], names: ["a"] },
  { what: "the layer's, where the names are empty", layers: [named(parameter(0, "a"), "")], names: ["a"] },
  { what: "the first that is not empty", layers: [named(parameter(0, "a"), ",,b")], names: ["b"] },
  { what: "a name with a comma", layers: [named(parameter(0, "a"), "x\\,y,z")], names: ["x,y"] },
  { what: "a name with two commas", layers: [named(parameter(0, "a"), "x\\,y\\,z,w\\,v")], names: ["x,y,z"] },
  { what: "a name of commas", layers: [named(parameter(0, "a"), "\\,\\,")], names: [",,"] },
  { what: "the number, where there is no name", layers: [parameter(3, "")], names: ["#3"] },
  { what: "a name twice", layers: [parameter(0, "b"), parameter(1, "b")], names: ["b", "b#1"] },
  { what: "the name of a port and of a layer", layers: [named(parameter(0, "a"), "b"), parameter(1, "b")],
    names: ["b", "b#1"] },
  { what: "second names, which do not count", layers: [named(parameter(0, "a"), "b,c"), parameter(1, "c")],
    names: ["b", "c"] },
  { what: "a name with another layer's number", layers: [parameter(0, "a#1"), parameter(2, "a"), parameter(1, "a")],
    names: ["a#1", "a", "a#1#"] },
  { what: "that name as well",
    layers: [parameter(0, "a#1"), parameter(2, "a#1#"), parameter(3, "a"), parameter(1, "a")],
    names: ["a#1", "a#1#", "a", "a#1##"] },
  { what: "several outputs", layers: [split(4, "s", 3)], names: ["s.0", "s.1", "s.2"] },
  { what: "several outputs without a name", layers: [split(4, "")], names: [".0", ".1"] },
  { what: "several outputs of one name", layers: [split(4, "s"), split(5, "s")],
    names: ["s.0", "s.1", "s.0#5.0", "s.1#5.1"] },
  { what: "a name for one of several outputs", layers: [named(split(4, "s"), "x")], names: ["x", "s.1"] },
  { what: "names of JavaScript", layers: [parameter(0, "__proto__"), parameter(1, "constructor")],
    names: ["__proto__", "constructor"] },
  { what: "markup", layers: [parameter(0, "s&lt;&#65;&#x42;&quot;")], names: ['s<AB"'] },
];

const valueNames = ({ graph }: Model): string[] => [
  ...graph.inputs.map(({ name }) => name),
  ...graph.nodes.flatMap(({ outputs }) => outputs),
];

for (const { what, layers, names } of ROWS) {
  test(`values are called by ${what}`, () => {
    const model = readIR(net(layers, []));
    assert.deepEqual(valueNames(model), names);
    assert.equal(new Set(names).size, names.length);
    // A file that is written calls them the same.
    assert.deepEqual(valueNames(readIR(writeIR(model).xml)), names);
  });
}

test("each use of a name that two layers have means the right one", () => {
  const foo = layer(2, { type: "Foo", inputs: ["FP32 4", "FP32 4"], outputs: ["FP32 4"] });
  const layers = [parameter(0, "x"), parameter(1, "x"), foo, result(3), result(4)];
  const model = readIR(net(layers, ["1:0 2:0", "0:0 2:1", "0:0 3:0", "1:0 4:0"]));
  for (const { graph } of [model, readIR(writeIR(model).xml)]) {
    assert.deepEqual(graph.nodes[0].inputs, ["x#1", "x"]);
    assert.deepEqual(
      graph.outputs.map(({ name }) => name),
      ["x", "x#1"],
    );
  }
});

test("a value that is renamed is written with all commas of its name", () => {
  const model = readIR(net([parameter(0, "x"), split(1, "s")], []));
  const [node] = model.graph.nodes;
  node.outputs = ["p,q,r", "a\\,b,,c"];
  const again = readIR(writeIR(model).xml);
  assert.deepEqual(again.graph.nodes[0].outputs, ["p,q,r", "a\\,b,,c"]);
});

/** The names of all ports that a file declares, as OpenVINO splits them. */
const namesIn = (xml: string): readonly (readonly string[])[] =>
  [...xml.matchAll(/ names="([^"]*)"/g)].map(([, text]) =>
    text.split(/(?<!\\),/).map((name) => name.replaceAll("\\,", ",")),
  );

test("ports of a new model have the names of their values, and those that Identity gives", () => {
  const model = buildModel({
    opsets: { "": 18 },
    inputs: { "a/b:0,": { dtype: "float32", shape: [3] } },
    constants: { "i,1": tensor("int64", [1], [0]) },
    nodes: [
      { op: "Identity", inputs: ["a/b:0,"], outputs: ["again,1"] },
      { op: "Identity", inputs: ["again,1"], outputs: ["once\\"] },
      { op: "Identity", inputs: ["once\\"], outputs: ["more"] },
      { op: "Gather", name: "n", inputs: ["more", "i,1"], outputs: [",y,"] },
    ],
    outputs: { ",y,": null },
  });
  const { xml } = writeIR(convertModel(model, { domain: "openvino" }).model);
  assert.deepEqual(namesIn(xml), [
    // The name with the backslash is last, because the backslash would hide a comma behind it.
    ["a/b:0,", "again,1", "more", "once\\"],
    ["i,1"],
    [",y,/axis"],
    [",y,"],
  ]);
});

// prettier-ignore
const KEPT: readonly (readonly [what: string, change: (model: Model) => void, names: readonly string[]])[] = [
  ["nothing", () => {}, ["p", "q,r", "s"]],
  ["the type", ({ graph: { inputs } }) => { inputs[0].type = { dtype: "int8", shape: [9] }; }, ["p", "q,r", "s"]],
  ["the name", ({ graph: { inputs } }) => { inputs[0].name = "z"; }, ["z", "q,r", "s"]],
  ["the name to another of the port", ({ graph: { inputs } }) => { inputs[0].name = "s"; }, ["s", "q,r"]],
  ["the name to one that ends with a backslash", ({ graph: { inputs } }) => { inputs[0].name = "z\\"; }, ["z\\"]],
  ["the name of another value", ({ graph: { inputs } }) => { inputs[1].name = "q,r"; }, ["p", "s"]],
];

for (const [what, change, names] of KEPT) {
  test(`the further names of a port are kept if this is changed: ${what}`, () => {
    const model = readIR(net([named(parameter(0, "l"), "p,q\\,r,s"), parameter(1, "x")], []));
    change(model);
    assert.deepEqual(namesIn(writeIR(model).xml)[0], names);
  });
}

/** Gives the ports of a layer other ids, in the order of the file. */
const renumbered = (text: string, ...ids: readonly number[]): string => {
  const rest = ids.values();
  return text.replaceAll(/<port id="\d+"/g, () => `<port id="${rest.next().value}"`);
};

test("ports are told by their ids and ordered as in the file, whatever the ids are", () => {
  const foo = layer(2, {
    type: "Foo",
    inputs: ["FP32 4", "FP32 4"],
    outputs: ["FP32 4", "FP32 4"],
  });
  const layers = [
    renumbered(parameter(0, "x"), 5),
    renumbered(parameter(1, "y"), 3),
    // Neither sorted nor without gaps; an input and an output may have one id.
    renumbered(foo, 9, 4, 12, 9),
    renumbered(
      layer(6, { type: "Bar", inputs: ["FP32 4", "FP32 4"], outputs: ["FP32 4"] }),
      2,
      1,
      0,
    ),
    renumbered(result(7), 8),
    renumbered(result(8), 1),
  ];
  const edges = ["1:3 2:4", "0:5 2:9", "2:9 6:1", "2:12 6:2", "6:0 7:8", "2:9 8:1"];
  const model = readIR(net(layers, edges));
  for (const { graph } of [model, readIR(writeIR(model).xml)]) {
    assert.deepEqual(
      graph.nodes.map(({ inputs, outputs }) => [inputs, outputs]),
      [
        [
          ["x", "y"],
          ["l2.0", "l2.1"],
        ],
        [["l2.0", "l2.1"], ["l6"]],
      ],
    );
    assert.deepEqual(
      graph.outputs.map(({ name }) => name),
      ["l6", "l2.1"],
    );
  }
});
