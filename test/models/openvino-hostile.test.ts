/** IR files that are broken: nothing but TensorError may come out. Great sizes are in `test/nightly/openvino-limits.test.ts`. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { isTensorError, type ErrorCode } from "../../src/core/errors.ts";
import { readIR, runModel, writeIR } from "../../src/entries/openvino.ts";
import { zeros } from "../../src/core/tensor/tensor.ts";
import { mutate } from "../support/onnx-encoder.ts";
import { constantLayer, layer, net, parameter } from "../support/ir.ts";
import { assertRefused } from "../support/refusal.ts";
import { randomFrom, SEED } from "../support/random.ts";

const PARAMETER = parameter(0, "data", "f32", "2,2");
const CONST = constantLayer(1, "indices", "i64", "1,1", { offset: 0, size: 8 });
const SCATTER = layer(2, {
  type: "ScatterNDUpdate",
  name: "scatter",
  version: "opset15",
  data: 'reduction="sum"',
  inputs: ["FP32 2,2", "I64 1,1", "FP32 1,2"],
  outputs: ["FP32 2,2"],
});
const UPDATES = constantLayer(3, "updates", "f32", "1,2", { offset: 8, size: 8 });
const RESULT = layer(4, { type: "Result", name: "result", inputs: ["FP32 2,2"] });
const EDGES = ["0:0 2:0", "1:0 2:1", "3:0 2:2", "2:3 4:0"];
const LAYERS = [PARAMETER, CONST, SCATTER, UPDATES, RESULT];
const GOOD = net(LAYERS, EDGES);
const BIN = new Uint8Array(16);
const DATA = zeros("float32", [2, 2]);

test("the file that the others are made of is sound", () => {
  assert.deepEqual(runModel(readIR(GOOD, BIN), { data: DATA })["scatter"].shape, [2, 2]);
});

/** `GOOD` with a part replaced that is in it once. */
function but(part: string, other: string): string {
  assert.equal(GOOD.split(part).length, 2, part);
  return GOOD.replace(part, () => other);
}

/** `GOOD` with another name of its parameter, as it stands in the file. */
const calling = (name: string): string => but('name="data"', `name="${name}"`);
/** `GOOD` with this in front of its first layer. */
const inserting = (text: string): string => but("<layers>", `<layers>${text}`);
/** `GOOD` behind another declaration, or none. */
const declaring = (declaration: string): string =>
  `${declaration}${GOOD.slice(GOOD.indexOf("\n") + 1)}`;
const layers = (...list: readonly string[]): string => net(list, []);
/** A layer with a body. */
const looping = (body: string): string => layers(layer(0, { type: "Loop", parts: body }));

type Row = readonly [says: RegExp, xml: string | Uint8Array, code?: ErrorCode];

/** What is no XML, and what an IR has not. */
// prettier-ignore
const XML: readonly Row[] = [
  [/not well-formed/, ""],
  [/not well-formed: .* \(line \d+\)/, GOOD.slice(0, 500)],
  [/not well-formed/, but("</layers>", "</layer>")],
  [/not well-formed/, GOOD.replace("</net>", "")],
  [/holds "<!DOCTYPE net"/, declaring("<!DOCTYPE net>")],
  [/holds "<!DOCTYPE net SYSTEM/, declaring('<?xml version="1.0"?><!DOCTYPE net SYSTEM "file:///etc/passwd">')],
  [/holds "<!DOCTYPE net \[/, `<!DOCTYPE net [<!ENTITY a "b"><!ENTITY c "&a;&a;">]>${calling("&c;")}`],
  [/holds "<!doctype/, declaring("<!doctype net>")],
  [/holds "<!ELEMENT/, inserting("<!ELEMENT a (b)>")],
  [/holds "<!- a/, inserting("<!- a -->")],
  [/holds "<!\[CDATA\[/, inserting("<![CDATA[x]]>")],
  [/holds "<\?php/, inserting("<?php x ?>")],
  [/holds "<\?xml/, inserting('<?xml version="1.0"?>')],
  [/holds "<\?xml/, declaring(' <?xml version="1.0"?>')],
  [/holds "<\?xml/, declaring('<?xml version="1.1"?>')],
  [/holds "<\?xml/, declaring('<?xml version="1.0" standalone="maybe"?>')],
  [/"&evil;", which is not an entity/, calling("&evil;")],
  [/"&AMP;", which is not an entity/, calling("&AMP;")],
  [/"&lt", which is not an entity/, calling("&lt")],
  [/"&;", which is not an entity/, calling("&;")],
  [/"& b", which is not an entity/, calling("a & b")],
  [/"&#;"/, calling("&#;")],
  [/"&#x;"/, calling("&#x;")],
  [/"&#65", which is not an entity/, calling("&#65")],
  [/"&#6a;"/, calling("&#6a;")],
  [/"&#0;"/, calling("&#0;")],
  [/"&#11;"/, calling("&#11;")],
  [/"&#xFFFE;"/, calling("&#xFFFE;")],
  [/"&#xD800;"/, calling("&#xD800;")],
  [/"&#xDFFF;"/, calling("&#xDFFF;")],
  [/"&#1114112;"/, calling("&#1114112;")],
  [/"&#x110000;"/, calling("&#x110000;")],
  [/"&evil;"/, but("<dim>1</dim><dim>1</dim></port></output>", "<dim>&evil;</dim><dim>1</dim></port></output>")],
  ...["\0", "\u0001", "\u0008", "\u000b", "\u000c", "\u001f", "\ufffe", "\uffff"].map((character): Row =>
    [/a character that XML forbids/, calling(character)]),
  [/a "<" in the attribute name of <layer>/, calling("<x")],
  [/a "<" in the attribute name of <layer>/, calling("x<y")],
  [/Attribute 'name' is repeated/, but('name="data"', 'name="a" name="data"')],
  [/it must have a single root element/, `${GOOD}<net/>`],
  [/not well-formed: Extra text/, `${GOOD}text`],
  [/it must have a single root element/, "<net/>text"],
  [/not well-formed/, "<!-- nothing -->"],
  [/in UTF-16, but an IR is in UTF-8/, declaring('<?xml version="1.0" encoding="UTF-16"?>')],
  [/in utf-80, but an IR is in UTF-8/, declaring("<?xml version='1.0' encoding='utf-80'?>")],
  [/must be UTF-8/, Uint8Array.of(0x3c, 0xff, 0x3e)],
  [/holds <model>, but an IR holds <net>/, "<model/>"],
  // Names that JavaScript has too.
  [/<layers> holds <constructor>/, inserting("<constructor/>")],
  [/<layers> holds <#?__proto__>/, inserting("<__proto__/>")],
];

/** `GOOD` with more dimensions of what its scatter makes. */
function made(dims: string): string {
  return but('<port id="3" precision="FP32">', `<port id="3" precision="FP32">${dims}`);
}

// prettier-ignore
const SHAPES = [
  "-2", "1.5", "0x10", "1e3", "5..2", "9007199254740992", "1..9007199254740992", ",", "1,", "1...2", "N", "1 2", "[2",
  "2]",
];

/** The net, its layers and their ports. */
// prettier-ignore
const NETS: readonly Row[] = [
  [/version 7; versions 10 and 11 are read/, net(LAYERS, EDGES, 7), "unsupported-model"],
  [/version 12; versions/, net(LAYERS, EDGES, 12), "unsupported-model"],
  [/the net has no version/, '<net name="x"><layers/></net>'],
  [/the net has version "1e1", which must be a decimal number/, GOOD.replace('version="11"', 'version="1e1"')],
  [/the net has version "", which must be a decimal number/, GOOD.replace('version="11"', 'version=""')],
  [/the net has no <layers>/, '<net version="11"/>'],
  [/the net has 2 parts <layers>/, '<net version="11"><layers/><layers/></net>'],
  [/the net has 2 parts <edges>/, but("</edges>", "</edges><edges/>")],
  [/two layers have the id 0/, layers(PARAMETER, PARAMETER)],
  [/a layer has no id/, but('layer id="0"', "layer")],
  [/a layer has id "-1", which must be a decimal number/, but('layer id="0"', 'layer id="-1"')],
  [/a layer has id "9007199254740992"/, but('layer id="0"', 'layer id="9007199254740992"')],
  [/a layer has id "99999999999999999"/, but('layer id="0"', 'layer id="99999999999999999"')],
  [/layer 0 "data" has no type/, but(' type="Parameter"', "")],
  [/layer 4 "result" has no version/, but('type="Result" version="opset1"', 'type="Result"')],
  [/layer 2 "scatter" has 2 parts <data>/, but('<data reduction="sum"/>', '<data reduction="sum"/><data/>')],
  [/layer 2 "scatter" has 2 parts <input>/, but('<output><port id="3"', '<input/><output><port id="3"')],
  [/layer 2 "scatter" has 2 parts <output>/, but('<output><port id="3"', '<output/><output><port id="3"')],
  [/layer 2 "scatter" has two ports 0/, but('<port id="1" precision="I64">', '<port id="0" precision="I64">')],
  [/layer 2 "scatter" has a <part> among its ports/, but('<output><port id="3"', '<output><part/><port id="3"')],
  [/a port of layer 2 "scatter" has no id/, but('<port id="3"', "<port")],
  [/layer 0 "data", a Parameter, has 0 inputs and 0 outputs, not 0 and 1/,
    layers(layer(0, { type: "Parameter", name: "data", data: 'shape="" element_type="f32"' }))],
  [/layer 0 "l0", a Result, has 0 inputs and 0 outputs, not 1 and 0/, layers(layer(0, { type: "Result" }))],
  [/has 0 inputs and 2 outputs/, layers(layer(0, { type: "Const", outputs: ["I32", "I32"] }))],
  [/has 1 inputs and 1 outputs, not 0 and 1/,
    net([PARAMETER, layer(1, { type: "Const", inputs: ["I32"], outputs: ["I32"] })], ["0:0 1:0"])],
  [/layer 0 "data", a Parameter, has no shape in its <data>/, but('shape="2,2" ', "")],
  [/layer 0 "data", a Parameter, has no element_type/, but('shape="2,2" element_type="f32"', 'shape="2,2"')],
  [/layer 2 "scatter" has the dimension "2x"/, made("<dim>2x</dim>")],
  ...["0x2", "2.0", "2e0"].map((text): Row =>
    [new RegExp(`layer 2 "scatter" has the dimension "${text}"`), made(`<dim>${text}</dim>`)]),
  [/layer 2 "scatter" has more than 64 dimensions/, made("<dim>1</dim>".repeat(63))],
  [/layer 0 "data" has more than 64 dimensions/, but('shape="2,2"', `shape="${"1,".repeat(64)}1"`)],
  ...SHAPES.map((text): Row => [/layer 0 "data" has the dimension/, but('shape="2,2"', `shape="${text}"`)]),
  [/has reduction on its <layer>/, but('type="ScatterNDUpdate"', 'type="ScatterNDUpdate" reduction="sum"')],
  [/layer 2 "scatter" has batch_dims "1.5", which is not an integer/, gather('batch_dims="1.5"')],
  [/has batch_dims "", which is not an integer/, gather('batch_dims=""')],
  [/has batch_dims "9007199254740992", which is not an integer/, gather('batch_dims="9007199254740992"')],
  [/has use_init_val "yes", which is neither true nor false/, elements('use_init_val="yes"')],
  [/has use_init_val "", which is neither true nor false/, elements('use_init_val=""')],
];

/** `GOOD` with other attributes of another operator. */
function operator(type: string, version: string, data: string): string {
  return but(
    'type="ScatterNDUpdate" version="opset15"',
    `type="${type}" version="${version}"`,
  ).replace('reduction="sum"', data);
}
function gather(data: string): string {
  return operator("Gather", "opset8", data);
}
function elements(data: string): string {
  return operator("ScatterElementsUpdate", "opset12", data);
}

/** `GOOD` with other attributes of its constant of indices. */
const placed = (text: string): string => but('shape="1,1" offset="0" size="8"', text);

// prettier-ignore
const CONSTANTS: readonly Row[] = [
  [/layer 1 "indices" has 4 bytes, but int64 of the shape \[1, 1\] takes 8/, placed('shape="1,1" offset="0" size="4"')],
  [/has 16 bytes, but int64 of the shape \[1, 1\] takes 8/, placed('shape="1,1" offset="0" size="16"')],
  [/layer 1 "indices" has 8 bytes from byte 9 of the \.bin, which has 16/, placed('shape="1,1" offset="9" size="8"')],
  [/8 bytes from byte 9007199254740991 of/, placed('shape="1,1" offset="9007199254740991" size="8"')],
  [/0 bytes from byte 17 of/, placed('shape="1,0" offset="17" size="0"')],
  [/9007199254740991 bytes from byte 0 of/, placed('shape="1,1" offset="0" size="9007199254740991"')],
  [/offset "9007199254740992"/, placed('shape="1,1" offset="9007199254740992" size="8"')],
  [/offset "-8"/, placed('shape="1,1" offset="-8" size="8"')],
  [/offset "0x8"/, placed('shape="1,1" offset="0x8" size="8"')],
  [/offset "", which must be a decimal number/, placed('shape="1,1" offset="" size="8"')],
  [/layer 1 "indices" has size "-8"/, placed('shape="1,1" offset="0" size="-8"')],
  [/has no offset in its <data>/, placed('shape="1,1" size="8"')],
  [/has no size in its <data>/, placed('shape="1,1" offset="0"')],
  [/layer 1 "indices", a Const, has no shape in its <data>/, placed('offset="0" size="8"')],
  [/layer 1 "indices", a constant, has the shape "\?,1"/, placed('shape="?,1" offset="0" size="8"')],
  [/layer 1 "indices", a constant, has the shape "\.\.\."/, placed('shape="..." offset="0" size="8"')],
  [/takes 72057594037927930/, placed('shape="9007199254740991,1" offset="0" size="8"')],
  [/\[4294967295, 0\] takes 0/, placed('shape="4294967295,0" offset="0" size="8"')],
];

const INNER = layer(7, { type: "Result", name: "inner", inputs: ["FP32 2"] });
const self = ["2:3 2:0", ...EDGES.slice(1)];
/** Two layers that feed each other. */
const pair = [1, 2].map((id) => layer(id, { type: "Foo", inputs: ["I8"], outputs: ["I8"] }));

// prettier-ignore
const LINKS: readonly Row[] = [
  [/<edges> holds <layer>/, but("<edges>", "<edges><layer/>")],
  [/an edge has the from-layer 9, but no layer has this id/, net(LAYERS, ["9:0 2:0"])],
  [/an edge has the to-layer 9, but no layer has this id/, net(LAYERS, ["0:0 9:0"])],
  [/the from-port 1, but layer 0 "data" has no such port among its outputs/, net(LAYERS, ["0:1 2:0"])],
  [/the to-port 3, but layer 2 "scatter" has no such port among its inputs/, net(LAYERS, ["0:0 2:3"])],
  [/the from-port 0, but layer 2 "scatter" has no such port among its outputs/, net(LAYERS, ["2:0 4:0"])],
  [/an edge has no to-port/, but(' to-port="1"', "")],
  [/an edge has from-layer "x", which must be a decimal number/, but('from-layer="1"', 'from-layer="x"')],
  [/two edges lead to port 0 of layer 2 "scatter"/, net(LAYERS, [...EDGES, "0:0 2:0"])],
  [/no edge leads to port 1 of layer 2 "scatter"/, net(LAYERS, EDGES.filter((one) => one !== "1:0 2:1"))],
  [/no edge leads to port 0 of layer 2 "scatter"/, layers(...LAYERS)],
  [/no edge leads to port 0 of layer 2 "scatter"/, net(LAYERS, EDGES).replace(/<edges>[^]*<\/edges>/, "")],
  [/no edge leads to port 0 of layer 7 "inner"/, looping(`<body><layers>${INNER}</layers></body>`)],
  [/layer 0 "l0" has two parts or attributes "body"/, looping("<body><layers/></body><body><layers/></body>")],
  [/layer 0 "l0" has two parts or attributes "body"/, looping('<data body="1"/><body><layers/></body>')],
  [/the body of layer 0 "l0" has 2 parts <layers>/, looping("<body><layers/><layers/></body>")],
  [/layer 2 "scatter" depends on its own output/, net(LAYERS, self)],
  [/layer 1 "l1" depends on its own output/, net(pair, ["1:1 2:0", "2:1 1:0"])],
];

for (const [says, xml, code = "malformed-file"] of [...XML, ...NETS, ...CONSTANTS, ...LINKS]) {
  test(`refused: ${says.source}`, () => {
    assertRefused(code, says, () => readIR(xml, BIN));
  });
}

const OUTPUT = '<output><port id="9"/></output>';

// prettier-ignore
const ACCEPTED: readonly (readonly [what: string, xml: string | Uint8Array])[] = [
  ["no declaration", declaring("")],
  ["a byte order mark", `\ufeff${GOOD}`],
  ["a byte order mark in bytes", new TextEncoder().encode(`\ufeff${GOOD}`)],
  ["an encoding", declaring('<?xml version="1.0" encoding="UTF-8" standalone="yes"?>')],
  ["quotes of the other kind", declaring("<?xml  version = '1.0' encoding='utf8' standalone='no' ?>")],
  ["comments", inserting('<!-- a "comment" of <markup> & -->')],
  ["a layer of the greatest number", net([...LAYERS, parameter(2 ** 53 - 1, "x")], EDGES)],
  ["64 dimensions", net([...LAYERS, parameter(9, "x", "i8", Array(64).fill(1).join())], EDGES)],
  ["the greatest dimension", net([...LAYERS, parameter(9, "x", "i8", "9007199254740991")], EDGES)],
  ["a Result with an output", net([...LAYERS.slice(0, 4), RESULT.replace("</layer>", `${OUTPUT}</layer>`)], EDGES)],
  ["128 blanks", inserting(" ".repeat(127))],
  ["the last character that XML has", calling("\u{10ffff}\ufffd\ud7ff\t")],
];

for (const [what, xml] of ACCEPTED) {
  test(`taken: ${what}`, () => {
    assert.equal(readIR(xml, BIN).graph.nodes[0].op, "ScatterNDUpdate");
  });
}

test("entities stand for their characters, in attributes and in text", () => {
  const model = readIR(calling("&lt;&gt;&amp;&quot;&apos;&#9;&#65;&#x41;&#x10FFFF;&#xE000;"), BIN);
  assert.equal(model.graph.inputs[0].name, "<>&\"'\tAA\u{10ffff}\ue000");
  const dims = net([...LAYERS, parameter(9, "x", "i8", "&#50;,3")], EDGES);
  assert.deepEqual(readIR(dims, BIN).graph.inputs[1].type, { dtype: "int8", shape: [2, 3] });
});

test("what is no file at all is refused", () => {
  for (const xml of [null, 7, {}, new ArrayBuffer(8)]) {
    assertRefused("malformed-file", /must be text or a Uint8Array, got/, () =>
      readIR(xml as never),
    );
  }
  for (const bin of [null, "bin", {}, { size: 1.5, read() {} }, { size: 2 }, { read() {} }]) {
    assertRefused("malformed-file", /must be bytes, or \{ size, read \}/, () =>
      readIR(GOOD, bin as never),
    );
  }
  const lying = { size: 16, read: () => new Uint8Array(3) };
  assertRefused("malformed-file", /reading 8 bytes from byte 0 of the file gave 3 bytes/, () =>
    readIR(GOOD, lying).graph.constants[0].read(),
  );
});

test("a truth value other than 0 and 1 is refused", () => {
  const xml = layers(constantLayer(0, "l0", "boolean", "3", { offset: 0, size: 3 }));
  const model = readIR(xml, Uint8Array.of(0, 1, 2));
  assertRefused("malformed-file", /^layer 0 "l0" must hold bools, got 2/, () =>
    model.graph.constants[0].read(),
  );
  assert.deepEqual(
    readIR(xml, Uint8Array.of(0, 1, 1))
      .graph.constants[0].read()
      .toArray(),
    [false, true, true],
  );
});

test("names of JavaScript are names like any other", () => {
  for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
    const foo = layer(1, {
      type: name,
      name,
      data: `${name}="1"`,
      inputs: ["FP32 2,2"],
      outputs: ["FP32 2,2"],
    });
    const model = readIR(net([PARAMETER, foo, RESULT], ["0:0 1:0", "1:1 4:0"]));
    assert.deepEqual(Object.keys(model.graph.nodes[0].attributes), [name]);
    const back = readIR(writeIR(model).xml);
    assert.deepEqual(Object.keys(back.graph.nodes[0].attributes), [name]);
    assert.deepEqual(back.graph.outputs[0].name, name);
    assertRefused("unsupported-model", /operators that this package does not run/, () =>
      runModel(model, { data: DATA }),
    );
  }
  assert.equal(({} as Record<string, unknown>)["1"], undefined);
});

const MUTATIONS = 2000;

test(`${MUTATIONS} mutated files`, () => {
  const next = randomFrom(20);
  const original = new TextEncoder().encode(GOOD);
  let taken = 0;
  let runs = 0;
  for (let i = 0; i < MUTATIONS; i++) {
    const mutant = mutate(original, next);
    try {
      const model = readIR(mutant, BIN);
      taken++;
      const { xml, bin } = writeIR(model);
      assert.equal(readIR(xml, bin).graph.nodes.length, model.graph.nodes.length);
      runModel(model, { data: DATA });
      runs++;
    } catch (error) {
      if (!isTensorError(error)) {
        throw new Error(`mutant ${i} of SEED=${SEED} (${[...mutant].join()})`, { cause: error });
      }
    }
  }
  assert.ok(taken > MUTATIONS / 20 && taken < (2 * MUTATIONS) / 3, `${taken} taken`);
  assert.ok(runs > MUTATIONS / 50 && runs <= taken, `${runs} run`);
});

test("every prefix of a file", () => {
  for (let length = 0; length < GOOD.length - 1; length++) {
    assertRefused("malformed-file", /./, () => readIR(GOOD.slice(0, length), BIN));
  }
});
