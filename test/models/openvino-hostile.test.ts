/** IR files that are broken: nothing but TensorError may come out. Great sizes are in `test/nightly/openvino-limits.test.ts`. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { isTensorError } from "../../src/core/errors.ts";
import { readIR, runModel, writeIR } from "../../src/entries/openvino.ts";
import { zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import { mutate } from "../support/onnx-encoder.ts";
import { constantLayer, layer, net, parameter } from "../support/ir.ts";
import { assertCode, assertRefused } from "../support/refusal.ts";
import { caseCount } from "../support/cases.ts";
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

type File = string | Uint8Array;

/** What is no XML, and what an IR has not. */
// prettier-ignore
const XML: readonly File[] = [
  "",
  GOOD.slice(0, 500),
  but("</layers>", "</layer>"),
  GOOD.replace("</net>", ""),
  declaring("<!DOCTYPE net>"),
  declaring('<?xml version="1.0"?><!DOCTYPE net SYSTEM "file:///etc/passwd">'),
  `<!DOCTYPE net [<!ENTITY a "b"><!ENTITY c "&a;&a;">]>${calling("&c;")}`,
  declaring("<!doctype net>"),
  inserting("<!ELEMENT a (b)>"),
  inserting("<!- a -->"),
  inserting("<![CDATA[x]]>"),
  inserting("<?php x ?>"),
  inserting('<?xml version="1.0"?>'),
  declaring(' <?xml version="1.0"?>'),
  declaring('<?xml version="1.1"?>'),
  declaring('<?xml version="1.0" standalone="maybe"?>'),
  calling("&evil;"),
  calling("&AMP;"),
  calling("&lt"),
  calling("&;"),
  calling("a & b"),
  calling("&#;"),
  calling("&#x;"),
  calling("&#65"),
  calling("&#6a;"),
  calling("&#0;"),
  calling("&#11;"),
  calling("&#xFFFE;"),
  calling("&#xD800;"),
  calling("&#xDFFF;"),
  calling("&#1114112;"),
  calling("&#x110000;"),
  but("<dim>1</dim><dim>1</dim></port></output>", "<dim>&evil;</dim><dim>1</dim></port></output>"),
  ...["\0", "\u0001", "\u0008", "\u000b", "\u000c", "\u001f", "\ufffe", "\uffff"].map((character): File =>
    calling(character)),
  calling("<x"),
  calling("x<y"),
  but('name="data"', 'name="a" name="data"'),
  `${GOOD}<net/>`,
  `${GOOD}text`,
  "<net/>text",
  "<!-- nothing -->",
  declaring('<?xml version="1.0" encoding="UTF-16"?>'),
  declaring("<?xml version='1.0' encoding='utf-80'?>"),
  Uint8Array.of(0x3c, 0xff, 0x3e),
  "<!doctype html>\n<html>",
  "<model/>",
  // Names that JavaScript has too.
  inserting("<constructor/>"),
  inserting("<__proto__/>"),
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
const NETS: readonly File[] = [
  '<net name="x"><layers/></net>',
  GOOD.replace('version="11"', 'version="1e1"'),
  GOOD.replace('version="11"', 'version=""'),
  '<net version="11"/>',
  '<net version="11"><layers/><layers/></net>',
  but("</edges>", "</edges><edges/>"),
  layers(PARAMETER, PARAMETER),
  but('layer id="0"', "layer"),
  but('layer id="0"', 'layer id="-1"'),
  but('layer id="0"', 'layer id="9007199254740992"'),
  but('layer id="0"', 'layer id="99999999999999999"'),
  but(' type="Parameter"', ""),
  but('type="Result" version="opset1"', 'type="Result"'),
  but('<data reduction="sum"/>', '<data reduction="sum"/><data/>'),
  but('<output><port id="3"', '<input/><output><port id="3"'),
  but('<output><port id="3"', '<output/><output><port id="3"'),
  but('<port id="1" precision="I64">', '<port id="0" precision="I64">'),
  but('<output><port id="3"', '<output><part/><port id="3"'),
  but('<port id="3"', "<port"),
  layers(layer(0, { type: "Parameter", name: "data", data: 'shape="" element_type="f32"' })),
  layers(layer(0, { type: "Result" })),
  layers(layer(0, { type: "Const", outputs: ["I32", "I32"] })),
  net([PARAMETER, layer(1, { type: "Const", inputs: ["I32"], outputs: ["I32"] })], ["0:0 1:0"]),
  but('shape="2,2" ', ""),
  but('shape="2,2" element_type="f32"', 'shape="2,2"'),
  made("<dim>2x</dim>"),
  ...["0x2", "2.0", "2e0"].map((text): File =>
    made(`<dim>${text}</dim>`)),
  made("<dim>1</dim>".repeat(63)),
  but('shape="2,2"', `shape="${"1,".repeat(64)}1"`),
  ...SHAPES.map((text): File => but('shape="2,2"', `shape="${text}"`)),
  but('type="ScatterNDUpdate"', 'type="ScatterNDUpdate" reduction="sum"'),
  gather('batch_dims="1.5"'),
  gather('batch_dims=""'),
  gather('batch_dims="9007199254740992"'),
  elements('use_init_val="yes"'),
  elements('use_init_val=""'),
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
const CONSTANTS: readonly File[] = [
  placed('shape="1,1" offset="0" size="4"'),
  placed('shape="1,1" offset="0" size="16"'),
  placed('shape="1,1" offset="9" size="8"'),
  placed('shape="1,1" offset="9007199254740991" size="8"'),
  placed('shape="1,0" offset="17" size="0"'),
  placed('shape="1,1" offset="0" size="9007199254740991"'),
  placed('shape="1,1" offset="9007199254740992" size="8"'),
  placed('shape="1,1" offset="-8" size="8"'),
  placed('shape="1,1" offset="0x8" size="8"'),
  placed('shape="1,1" offset="" size="8"'),
  placed('shape="1,1" offset="0" size="-8"'),
  placed('shape="1,1" size="8"'),
  placed('shape="1,1" offset="0"'),
  placed('offset="0" size="8"'),
  placed('shape="?,1" offset="0" size="8"'),
  placed('shape="..." offset="0" size="8"'),
  placed('shape="9007199254740991,1" offset="0" size="8"'),
];

const INNER = layer(7, { type: "Result", name: "inner", inputs: ["FP32 2"] });
const self = ["2:3 2:0", ...EDGES.slice(1)];
/** Two layers that feed each other. */
const pair = [1, 2].map((id) => layer(id, { type: "Foo", inputs: ["I8"], outputs: ["I8"] }));

// prettier-ignore
const LINKS: readonly File[] = [
  but("<edges>", "<edges><layer/>"),
  net(LAYERS, ["9:0 2:0"]),
  net(LAYERS, ["0:0 9:0"]),
  net(LAYERS, ["0:1 2:0"]),
  net(LAYERS, ["0:0 2:3"]),
  net(LAYERS, ["2:0 4:0"]),
  but(' to-port="1"', ""),
  but('from-layer="1"', 'from-layer="x"'),
  net(LAYERS, [...EDGES, "0:0 2:0"]),
  net(LAYERS, EDGES.filter((one) => one !== "1:0 2:1")),
  layers(...LAYERS),
  net(LAYERS, EDGES).replace(/<edges>[^]*<\/edges>/, ""),
  looping(`<body><layers>${INNER}</layers></body>`),
  looping("<body><layers/></body><body><layers/></body>"),
  looping('<data body="1"/><body><layers/></body>'),
  looping("<body><layers/><layers/></body>"),
  net(LAYERS, self),
  net(pair, ["1:1 2:0", "2:1 1:0"]),
];

/** Files that are valid, but no IR that this package reads. */
const OTHERS: ReadonlySet<File> = new Set([
  declaring('<?xml version="1.0" encoding="UTF-16"?>'),
  declaring("<?xml version='1.0' encoding='utf-80'?>"),
  "<model/>",
  "<!doctype html>\n<html>",
  made("<dim>1</dim>".repeat(63)),
  but('shape="2,2"', `shape="${"1,".repeat(64)}1"`),
]);

/** What a file has where `GOOD` has something else, as the title of a test. */
function differenceOf(xml: File): string {
  if (typeof xml !== "string") return xml.join(" ");
  let start = 0;
  while (start < xml.length && xml[start] === GOOD[start]) start++;
  let end = 0;
  while (end < Math.min(xml.length, GOOD.length) - start && xml.at(-end - 1) === GOOD.at(-end - 1))
    end++;
  const [now, before] = [xml, GOOD].map((text) =>
    JSON.stringify(text.slice(start, text.length - end).slice(0, 60)),
  );
  return `${now} at ${start}, which was ${before}`;
}

for (const [position, xml] of [...XML, ...NETS, ...CONSTANTS, ...LINKS].entries()) {
  test(`refused: file ${position}, ${differenceOf(xml)}`, () => {
    assertRefused(OTHERS.has(xml) ? "unsupported-file" : "malformed-file", {}, () =>
      readIR(xml, BIN),
    );
  });
}

for (const version of [7, 12]) {
  test(`refused: version ${version}`, () => {
    assertRefused("unsupported-model", {}, () => readIR(net(LAYERS, EDGES, version)));
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
  ["surplus bytes of an empty constant", placed('shape="4294967295,0" offset="0" size="8"')],
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
    assertRefused("malformed-file", {}, () => readIR(xml as never));
  }
  for (const bin of [null, "bin", {}, { size: 1.5, read() {} }, { size: 2 }, { read() {} }]) {
    assertRefused("malformed-file", {}, () => readIR(GOOD, bin as never));
  }
  const lying = { size: 16, read: () => new Uint8Array(3) };
  assertRefused("malformed-file", {}, () => readIR(GOOD, lying).graph.constants[0].read());
});

/** The words of two strings, "é" and "", and their bytes in UTF-8. */
const STRINGS: readonly (readonly [
  what: string,
  words: readonly number[],
  bytes: readonly number[],
])[] = [
  ["a number other than that of the shape", [1, 0, 2, 2], [0xc3, 0xa9]],
  ["a negative offset", [2, -1, 2, 2], [0xc3, 0xa9]],
  ["a string that ends before it begins", [2, 0, 2, 1], [0xc3, 0xa9]],
  ["a string beyond the end", [2, 0, 2, 3], [0xc3, 0xa9]],
  ["a string that is not UTF-8", [2, 0, 1, 2], [0xc3, 0xa9]],
  ["too few offsets", [2, 0, 2], []],
];

const stringsOf = (words: readonly number[], bytes: readonly number[]): Tensor => {
  const bin = Uint8Array.of(...new Uint8Array(Int32Array.from(words).buffer), ...bytes);
  const xml = layers(constantLayer(0, "l0", "string", "2", { offset: 0, size: bin.length }));
  return readIR(xml, bin).graph.constants[0].read();
};

test("strings are read as OpenVINO packs them", () => {
  assert.deepEqual(stringsOf([2, 0, 2, 2], [0xc3, 0xa9]).toArray(), ["é", ""]);
});

for (const [what, words, bytes] of STRINGS) {
  test(`refused: strings with ${what}`, () => {
    assertRefused("malformed-file", {}, () => stringsOf(words, bytes));
  });
}

test("a truth value other than 0 and 1 is refused", () => {
  const xml = layers(constantLayer(0, "l0", "boolean", "3", { offset: 0, size: 3 }));
  const model = readIR(xml, Uint8Array.of(0, 1, 2));
  assertRefused("malformed-file", {}, () => model.graph.constants[0].read());
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
    assertRefused("unsupported-model", {}, () => runModel(model, { data: DATA }));
  }
  assert.equal(({} as Record<string, unknown>)["1"], undefined);
});

const MUTATIONS = caseCount(2000, 4);

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
  assert.ok(taken > MUTATIONS / 100 && taken < (2 * MUTATIONS) / 3, `${taken} taken`);
  assert.ok(runs > MUTATIONS / 200 && runs <= taken, `${runs} run`);
});

test("every prefix of a file", () => {
  for (let length = 0; length < GOOD.length - 1; length++) {
    assertCode("malformed-file", {}, () => readIR(GOOD.slice(0, length), BIN));
  }
});
