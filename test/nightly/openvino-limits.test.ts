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
const fat = (count: number): string => `<net version="11" ${attributes(count)}><layers/></net>`;
const named = (length: number): string =>
  `<net version="11" name="${"x".repeat(length)}"><layers/></net>`;

// prettier-ignore
const REFUSED: readonly (readonly [what: string, code: ErrorCode, xml: () => string | Uint8Array])[] = [
  ["100 elements in each other", "malformed-file", () => nested(100)],
  ["129 blanks in a row", "malformed-file", () => `<net${" ".repeat(129)}/>`],
  ["129 line breaks in a row", "malformed-file", () => `<net>${"\n\t\r".repeat(43)}</net>`],
  ["2^25 characters and one", "too-large", () => "x".repeat(2 ** 25 + 1)],
  ["3 * 2^25 bytes and one", "too-large", () => new Uint8Array(3 * 2 ** 25 + 1)],
  ["2^20 tags and one", "too-large", () => `<net>${"<a>".repeat(2 ** 21)}`],
  ["2^14 attributes and one", "too-large", () => fat(2 ** 14)],
  ["signs of equality in text", "too-large", () => `<net>${"=".repeat(2 ** 14 + 1)}</net>`],
  ["a tag of 2^20 characters and more", "too-large", () => named(2 ** 20)],
  ["text of 2^20 characters and more", "too-large", () => `<net>${"x".repeat(2 ** 20)}</net>`],
];

for (const [what, code, make] of REFUSED) {
  test(`refused soon: ${what}`, () => {
    const xml = make();
    const seconds = secondsOf(() => {
      assertCode(code, {}, () => readIR(xml));
    });
    assert.ok(seconds < 5, `${seconds} s`);
  });
}

test("the last of what is taken", () => {
  assert.equal(readIR(fat(2 ** 14 - 1)).graph.nodes.length, 0);
  // The tag has 26 characters beside the name.
  assert.equal(readIR(named(2 ** 20 - 26)).graph.name.length, 2 ** 20 - 26);
  // As deep as a dimension is in a body of a body, and deeper than any.
  assertCode("malformed-file", {}, () => readIR(nested(60)));
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

test("attributes and comments take time by their length", () => {
  const seconds = secondsOf(() => {
    assert.equal(readIR(fat(16_000)).graph.nodes.length, 0);
    const comments = `<net version="11"><layers>${"<!-- -->".repeat(500_000)}</layers></net>`;
    assert.equal(readIR(comments).graph.nodes.length, 0);
  });
  assert.ok(seconds < 10, `${seconds} s`);
});
