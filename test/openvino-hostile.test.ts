/** IR files that are broken, or made to hurt: nothing but TensorError may come out, and soon. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { isTensorError, type ErrorCode } from "../src/errors.ts";
import { readIR, runModel, writeIR } from "../src/openvino/index.ts";
import { zeros } from "../src/tensor/tensor.ts";
import { mutate, random } from "./onnx-encoder.ts";
import { layer, net } from "./support/ir.ts";

const assertCode = (code: ErrorCode, pattern: RegExp, action: () => unknown): void =>
  assert.throws(action, (error) => {
    assert.ok(isTensorError(error, code), String(error));
    assert.match(error.message, pattern);
    assert.doesNotMatch(error.message, /\n/);
    return true;
  });

const PARAMETER = layer(0, {
  type: "Parameter",
  name: "data",
  data: 'shape="2,2" element_type="f32"',
  outputs: ["FP32 2,2"],
});
const CONST = layer(1, {
  type: "Const",
  name: "indices",
  data: 'element_type="i64" shape="1,1" offset="0" size="8"',
  outputs: ["I64 1,1"],
});
const SCATTER = layer(2, {
  type: "ScatterNDUpdate",
  name: "scatter",
  version: "opset15",
  data: 'reduction="sum"',
  inputs: ["FP32 2,2", "I64 1,1", "FP32 1,2"],
  outputs: ["FP32 2,2"],
});
const UPDATES = layer(3, {
  type: "Const",
  name: "updates",
  data: 'element_type="f32" shape="1,2" offset="8" size="8"',
  outputs: ["FP32 1,2"],
});
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

const body = GOOD.slice(GOOD.indexOf("\n") + 1);
const layers = (...list: readonly string[]): string => net(list, []);

type Row = readonly [code: ErrorCode, pattern: RegExp, xml: string | Uint8Array];

// prettier-ignore
const ROWS: readonly Row[] = [
  // What is no XML, or more than an IR has.
  ["malformed-file", /not well-formed/, ""],
  ["malformed-file", /not well-formed: .* \(line \d+\)/, GOOD.slice(0, 500)],
  ["malformed-file", /not well-formed/, but("</layers>", "</layer>")],
  ["malformed-file", /holds "<!DOCTYPE net"/, `<!DOCTYPE net>${body}`],
  ["malformed-file", /holds "<!DOCTYPE net SYSTEM/, `<?xml version="1.0"?><!DOCTYPE net SYSTEM "file:///etc/passwd">${body}`],
  ["malformed-file", /holds "<!DOCTYPE net \[/, `<!DOCTYPE net [<!ENTITY a "b"><!ENTITY c "&a;&a;">]>${body.replace('name="data"', 'name="&c;"')}`],
  ["malformed-file", /holds "<!doctype/, `<!doctype net>${body}`],
  ["malformed-file", /holds "<!\[CDATA\[/, but("<layers>", "<layers><![CDATA[x]]>")],
  ["malformed-file", /holds "<\?php/, but("<layers>", "<layers><?php x ?>")],
  ["malformed-file", /holds "<\?xml/, but("<layers>", '<layers><?xml version="1.0"?>')],
  ["malformed-file", /"&evil;", which is none of the entities/, but('name="data"', 'name="&evil;"')],
  ["malformed-file", /"& b", which is none/, but('name="data"', 'name="a & b"')],
  ["malformed-file", /"&#0;"/, but('name="data"', 'name="&#0;"')],
  ["malformed-file", /"&#xD800;"/, but('name="data"', 'name="&#xD800;"')],
  ["malformed-file", /"&#1114112;"/, but('name="data"', 'name="&#1114112;"')],
  ["malformed-file", /a character that XML forbids/, but('name="data"', 'name="\u0001"')],
  ["malformed-file", /a "<" in the attribute name/, but('name="data"', 'name="<x"')],
  ["malformed-file", /Attribute 'name' is repeated/, but('name="data"', 'name="a" name="data"')],
  ["malformed-file", /one root and nothing beside it/, `${GOOD}<net/>`],
  ["malformed-file", /not well-formed: Extra text/, `${GOOD}text`],
  ["malformed-file", /one root and nothing beside it/, "<net/>text"],
  ["malformed-file", /in UTF-16, but an IR is in UTF-8/, GOOD.replace('version="1.0"?', 'version="1.0" encoding="UTF-16"?')],
  ["malformed-file", /no UTF-8/, Uint8Array.of(0x3c, 0xff, 0x3e)],
  ["malformed-file", /holds <model>, but an IR holds <net>/, "<model/>"],
  ["malformed-file", /nested/i, `${"<net>".repeat(100)}${"</net>".repeat(100)}`],
  ["malformed-file", /more than 128 blanks in a row/, `<net${" ".repeat(300)}/>`],
  ["too-large", /33554433 characters/, "x".repeat(2 ** 25 + 1)],
  ["too-large", /more than 1048576 tags/, `<net>${"<a>".repeat(2 ** 21)}`],
  ["too-large", /more than 16384 signs of equality/, `<net ${'a="" '.repeat(2 ** 15)}/>`],
  ["too-large", /a tag or text of more than 1048576 characters/, `<net name="${"x".repeat(2 ** 21)}"/>`],
  // Names that JavaScript has too.
  ["malformed-file", /<layers> holds <constructor>/, but("<layers>", "<layers><constructor/>")],
  ["malformed-file", /<layers> holds <#?__proto__>/, but("<layers>", "<layers><__proto__/>")],
  // The net.
  ["unsupported-model", /version 7; versions 10 and 11 are read/, net(LAYERS, EDGES, 7)],
  ["malformed-file", /the net has no version/, '<net name="x"><layers/></net>'],
  ["malformed-file", /the net has version "1e1", which is no decimal number/, GOOD.replace('version="11"', 'version="1e1"')],
  ["malformed-file", /the net has no <layers>/, '<net version="11"/>'],
  ["malformed-file", /the net has 2 parts <edges>/, but("</edges>", "</edges><edges/>")],
  // Layers and ports.
  ["malformed-file", /there are two layers 0/, layers(PARAMETER, PARAMETER)],
  ["malformed-file", /a layer has no id/, but('layer id="0"', "layer")],
  ["malformed-file", /a layer has id "-1", which is no decimal number/, but('layer id="0"', 'layer id="-1"')],
  ["malformed-file", /a layer has id "99999999999999999"/, but('layer id="0"', 'layer id="99999999999999999"')],
  ["malformed-file", /layer 0 "data" has no type/, but(' type="Parameter"', "")],
  ["malformed-file", /layer 4 "result" has no version/, but('type="Result" version="opset1"', 'type="Result"')],
  ["malformed-file", /layer 2 "scatter" has two ports 0/, but('<port id="1" precision="I64">', '<port id="0" precision="I64">')],
  ["malformed-file", /layer 2 "scatter" has 2 parts <input>/, but("<output><port id=\"3\"", "<input/><output><port id=\"3\"")],
  ["malformed-file", /layer 0 "data", a Parameter, has 0 inputs and 0 outputs, not 0 and 1/, layers(layer(0, { type: "Parameter", name: "data", data: 'shape="" element_type="f32"' }))],
  ["malformed-file", /has 0 inputs and 0 outputs, not 1 and 0/, layers(layer(0, { type: "Result" }))],
  ["malformed-file", /has 0 inputs and 2 outputs/, layers(layer(0, { type: "Const", outputs: ["I32", "I32"] }))],
  ["malformed-file", /layer 0 "data", a Parameter, has no shape in its <data>/, but('shape="2,2" ', "")],
  ["malformed-file", /layer 2 "scatter" has the dimension "2x"/, but('<port id="3" precision="FP32"><dim>2<', '<port id="3" precision="FP32"><dim>2x<')],
  ["malformed-file", /layer 0 "data" has more than 64 dimensions/, but('shape="2,2"', `shape="${"1,".repeat(64)}1"`)],
  ...["-2", "1.5", "0x10", "1e3", "5..2", "9007199254740992", ",", "1,", "1...2", "N"].map((text): Row =>
    ["malformed-file", /layer 0 "data" has the dimension/, but('shape="2,2"', `shape="${text}"`)]),
  // Constants.
  ["malformed-file", /layer 1 "indices" has 4 bytes, but int64 of the shape \[1, 1\] takes 8/, but('offset="0" size="8"', 'offset="0" size="4"')],
  ["malformed-file", /layer 1 "indices" has 8 bytes from byte 9 of the \.bin, which has 16/, but('offset="0"', 'offset="9"')],
  ["malformed-file", /8 bytes from byte 9007199254740991 of/, but('offset="0"', 'offset="9007199254740991"')],
  ["malformed-file", /offset "9007199254740992"/, but('offset="0"', 'offset="9007199254740992"')],
  ["malformed-file", /offset "-8"/, but('offset="0"', 'offset="-8"')],
  ["malformed-file", /offset "0x8"/, but('offset="0"', 'offset="0x8"')],
  ["malformed-file", /has no offset in its <data>/, but(' offset="0"', "")],
  ["malformed-file", /layer 1 "indices", a constant, has the shape "\?,1"/, but('shape="1,1"', 'shape="?,1"')],
  ["malformed-file", /takes 72057594037927930/, but('shape="1,1"', 'shape="9007199254740991,1"')],
  ["malformed-file", /\[4294967295, 0\] takes 0/, but('shape="1,1"', 'shape="4294967295,0"')],
  // Edges.
  ["malformed-file", /an edge has the from-layer 9, which there is not/, net(LAYERS, ["9:0 2:0"])],
  ["malformed-file", /the from-port 1, but layer 0 "data" has no such port among its outputs/, net(LAYERS, ["0:1 2:0"])],
  ["malformed-file", /the to-port 3, but layer 2 "scatter" has no such port among its inputs/, net(LAYERS, ["0:0 2:3"])],
  ["malformed-file", /two edges lead to port 0 of layer 2 "scatter"/, net(LAYERS, [...EDGES, "0:0 2:0"])],
  ["malformed-file", /no edge leads to port 1 of layer 2 "scatter"/, net(LAYERS, EDGES.filter((one) => one !== "1:0 2:1"))],
  ["malformed-file", /no edge leads to port 0 of layer 7 "inner"/, layers(layer(0, { type: "Loop", parts: `<body><layers>${layer(7, { type: "Result", name: "inner", inputs: ["FP32 2"] })}</layers></body>` }))],
  ["malformed-file", /the body of layer 0 "l0" has 2 parts <layers>/, layers(layer(0, { type: "Loop", parts: "<body><layers/><layers/></body>" }))],
  ["malformed-file", /an edge has no to-port/, but(' to-port="1"', "")],
  ["malformed-file", /layer 2 "scatter" needs what is made of its own output/, net(LAYERS, EDGES.with(0, "2:3 2:0"))],
  // Attributes.
  ["malformed-file", /has reduction on its <layer>/, but('type="ScatterNDUpdate"', 'type="ScatterNDUpdate" reduction="sum"')],
];

for (const [code, pattern, xml] of ROWS) {
  test(`refused: ${pattern.source}`, () => {
    const begin = performance.now();
    assertCode(code, pattern, () => readIR(xml, BIN));
    assert.ok(performance.now() - begin < 5000);
  });
}

test("what is no file at all is refused", () => {
  for (const xml of [null, 7, {}, new ArrayBuffer(8)]) {
    assertCode("malformed-file", /must be text or bytes/, () => readIR(xml as never));
  }
  for (const bin of [null, "bin", {}, { size: 1.5, read() {} }, { size: 2 }]) {
    assertCode("malformed-file", /must be bytes, or \{ size, read \}/, () =>
      readIR(GOOD, bin as never),
    );
  }
  const lying = { size: 16, read: () => new Uint8Array(3) };
  assertCode("malformed-file", /reading 8 bytes from byte 0 of the file gave 3 bytes/, () =>
    readIR(GOOD, lying).graph.constants[0].read(),
  );
});

test("a truth value other than 0 and 1 is refused", () => {
  const xml = layers(
    layer(0, {
      type: "Const",
      data: 'element_type="boolean" shape="3" offset="0" size="3"',
      outputs: ["BOOL 3"],
    }),
  );
  const model = readIR(xml, Uint8Array.of(0, 1, 2));
  assertCode("malformed-file", /^layer 0 "l0" has the value 2, which is no bool/, () =>
    model.graph.constants[0].read(),
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
    assertCode("unsupported-model", /operators that are not run here/, () =>
      runModel(model, { data: DATA }),
    );
  }
  assert.equal(({} as Record<string, unknown>)["1"], undefined);
});

test("the time that a file takes grows with its length, not with its square", () => {
  const line = Array.from({ length: 20_000 }, (_, at) =>
    layer(at + 1, {
      type: "Convert",
      data: 'destination_type="f32"',
      inputs: ["FP32"],
      outputs: ["FP32"],
    }),
  );
  const edges = line.map((_, at) => `${at}:${at === 0 ? 0 : 1} ${at + 1}:0`);
  const chain = net([...line.toReversed(), PARAMETER], edges);
  const begin = performance.now();
  assert.equal(readIR(chain).graph.nodes.length, 20_000);
  const named = net(
    line.map((one) =>
      one.replaceAll(/ name="[^"]*"/g, ' name="same"').replace(/<input>.*<\/input>/, ""),
    ),
    [],
  );
  assert.equal(readIR(named).graph.nodes.length, 20_000);
  const fat = `<net version="11" ${Array.from({ length: 16_000 }, (_, at) => `a${at}="1"`).join(" ")}><layers/></net>`;
  assert.equal(readIR(fat).graph.nodes.length, 0);
  const ports = Array.from({ length: 100_000 }, (_, id) => `<port id="${id}" names="same"/>`);
  const wide = `<net version="11"><layers><layer id="5" type="Foo" version="x"><output>${ports.join("")}</output></layer></layers></net>`;
  const [{ outputs }] = readIR(wide).graph.nodes;
  assert.deepEqual([outputs[0], outputs[1], outputs.at(-1)], ["same", "same#5.1", "same#5.99999"]);
  const comments = `<net version="11"><layers>${"<!-- -->".repeat(500_000)}</layers></net>`;
  assert.equal(readIR(comments).graph.nodes.length, 0);
  assert.ok(performance.now() - begin < 20_000, `${performance.now() - begin} ms`);
});

const MUTATIONS = 2000;
const SEED = 20;

test(`${MUTATIONS} mutated files`, () => {
  const next = random(SEED);
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
        throw new Error(`mutant ${i} of seed ${SEED} (${[...mutant].join()})`, { cause: error });
      }
    }
  }
  assert.ok(taken > MUTATIONS / 20 && taken < (2 * MUTATIONS) / 3, `${taken} taken`);
  assert.ok(runs > MUTATIONS / 50 && runs <= taken, `${runs} run`);
});

test("every prefix of a file", () => {
  for (let length = 0; length < GOOD.length - 1; length++) {
    assert.throws(
      () => readIR(GOOD.slice(0, length), BIN),
      (error) => isTensorError(error, "malformed-file"),
      String(length),
    );
  }
});
