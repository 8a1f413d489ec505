/** IR files of great size: the time that they take grows with their length, and what no IR has is refused soon. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { readIR } from "../../src/entries/openvino.ts";
import type { ErrorCode } from "../../src/core/errors.ts";
import { layer, net, parameter } from "../support/ir.ts";
import { assertCode } from "../support/refusal.ts";
import { secondsOf } from "../support/seconds.ts";

const nested = (depth: number): string => `${"<net>".repeat(depth)}${"</net>".repeat(depth)}`;
const attributes = (count: number): string =>
  Array.from({ length: count }, (_, at) => `a${at}="1"`).join(" ");
const inNet = (text: string): string => `<net>${text}</net>`;
const LONG = 2 ** 24;

// prettier-ignore
const REFUSED: readonly (readonly [what: string, code: ErrorCode, xml: () => string | Uint8Array])[] = [
  ["65 elements in each other", "too-large", () => nested(65)],
  ["100,000 elements in each other", "too-large", () => nested(100_000)],
  ["2^25 characters and one", "too-large", () => "x".repeat(2 ** 25 + 1)],
  ["3 * 2^25 bytes and one", "too-large", () => new Uint8Array(3 * 2 ** 25 + 1)],
  ["2^21 tags and one", "too-large", () => `<net>${"<a>".repeat(2 ** 21)}`],
  ["a net of blanks in its tag", "malformed-file", () => `<net${" ".repeat(LONG)}/>`],
  ["a net of blanks around an attribute", "malformed-file", () => `<net a${" ".repeat(LONG)}="1"/>`],
  ["a net of line breaks", "malformed-file", () => inNet("\n\t\r".repeat(LONG / 4))],
  ["a net of line breaks of Windows", "malformed-file", () => inNet("\r\n".repeat(LONG / 2))],
  ["a net of carriage returns in an attribute", "malformed-file", () => `<net a="${"\r".repeat(LONG)}"/>`],
  ["a net of signs of equality", "malformed-file", () => inNet("=".repeat(LONG))],
  ["a net of references", "malformed-file", () => inNet("&amp;&#65;".repeat(LONG / 16))],
  ["an open reference of 2^24 letters", "malformed-file", () => inNet(`&${"a".repeat(LONG)}`)],
  ["comments without an end", "malformed-file", () => inNet("<!--".repeat(LONG / 16))],
  ["tags without a name", "malformed-file", () => "<".repeat(LONG / 16)],
  ["end tags without a start", "malformed-file", () => inNet("</a>".repeat(LONG / 16))],
  ["2^17 attributes", "malformed-file", () => `<net ${attributes(2 ** 17)}/>`],
  ["elements and text in turn", "malformed-file", () => inNet("<a/>\r\n ".repeat(LONG / 32))],
];

for (const [what, code, make] of REFUSED) {
  test(`refused soon: ${what}`, () => {
    const xml = make();
    const seconds = secondsOf(() => {
      assertCode(code, {}, () => readIR(xml));
    });
    assert.ok(seconds < 10, `${seconds} s`);
  });
}

test("the last of what is taken", () => {
  const net = (more: string): string => `<net version="11" ${more}><layers/></net>`;
  assert.equal(readIR(net(attributes(2 ** 17))).graph.nodes.length, 0);
  assert.equal(readIR(net(`name="${"x".repeat(LONG)}"`)).graph.name.length, LONG);
  // As deep as a dimension is in a body of a body, and deeper than any.
  assertCode("malformed-file", {}, () => readIR(nested(64)));
});

const CHAIN = 20_000;

test("a chain of layers against their order is ordered in linear time", () => {
  const converts = Array.from({ length: CHAIN }, (_, at) =>
    layer(at + 1, {
      type: "Convert",
      data: 'destination_type="f32"',
      inputs: ["FP32"],
      outputs: ["FP32"],
    }),
  );
  const edges = converts.map((_, at) => `${at}:${at === 0 ? 0 : 1} ${at + 1}:0`);
  const xml = net([...converts.toReversed(), parameter(0, "data")], edges);
  const seconds = secondsOf(() => {
    assert.equal(readIR(xml).graph.nodes.length, CHAIN);
  });
  assert.ok(seconds < 10, `${seconds} s`);
});

test("layers and ports of one name are distinguished in linear time", () => {
  const same = Array.from({ length: CHAIN }, (_, at) =>
    layer(at, { type: "Foo", name: "same", outputs: ["FP32"] }),
  );
  const ports = Array.from({ length: 100_000 }, (_, id) => `<port id="${id}" names="same"/>`);
  const wide = net(
    [`<layer id="5" type="Foo" version="x"><output>${ports.join("")}</output></layer>`],
    [],
  );
  const seconds = secondsOf(() => {
    assert.equal(readIR(net(same, [])).graph.nodes.length, CHAIN);
    const [{ outputs }] = readIR(wide).graph.nodes;
    assert.deepEqual(
      [outputs[0], outputs[1], outputs.at(-1)],
      ["same", "same#5.1", "same#5.99999"],
    );
    assert.equal(new Set(outputs).size, 100_000);
  });
  assert.ok(seconds < 10, `${seconds} s`);
});

test("comments take time by their length", () => {
  const seconds = secondsOf(() => {
    const comments = `<net version="11"><layers>${"<!-- -->".repeat(500_000)}</layers></net>`;
    assert.equal(readIR(comments).graph.nodes.length, 0);
  });
  assert.ok(seconds < 10, `${seconds} s`);
});
