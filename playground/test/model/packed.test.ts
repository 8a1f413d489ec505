/** Compressed links: shorter, read as before, and harmless when they are cut, damaged or hostile. */

import assert from "node:assert/strict";
import { test } from "node:test";
import * as zlib from "node:zlib";
import fc from "fast-check";
import { fromHash, suffixIn, toHash } from "../../src/document/hash.ts";
import { inflate } from "../../src/document/inflate.ts";
import { LONGEST, unpacked } from "../../src/document/packed.ts";
import { PRESETS } from "../../src/examples/presets.ts";
import { readText } from "../../src/reading/read-text.ts";
import type { State } from "../../src/values/state.ts";
import { linkRemark } from "../../src/writing/link-length.ts";
import { packed } from "../../src/writing/pack-link.ts";
import { anyText } from "../support/any-text.ts";
import { states } from "./states.ts";

/** Updates of a table, as many as `count`; their values have two decimals. */
function scatterOf(count: number): State {
  const numbers = Array.from({ length: count }, (_, i) => (i * 7919) % 10_007);
  return {
    domain: "ai.onnx",
    op: "ScatterND",
    opset: 18,
    attributes: { reduction: "add" },
    inputs: [
      { dtype: "float32", shape: [count], values: numbers.map(() => "0") },
      { dtype: "int64", shape: [count, 1], values: numbers.map((one) => String(one % count)) },
      { dtype: "float32", shape: [count], values: numbers.map((one) => String(one / 100)) },
    ],
  };
}

const linkOf = (bytes: Uint8Array): string => `z1.${Buffer.from(bytes).toString("base64url")}`;

test("short links stay readable, and those of all examples are short", async () => {
  for (const { id, state } of PRESETS) {
    const hash = toHash(state);
    assert.equal(await packed(hash), hash, id);
    assert.ok(hash.length < 250, id);
  }
});

test("a long link is compressed to less than two thirds, and opens the same call", async (t) => {
  for (const count of [100, 1000, 20_000]) {
    const state = scatterOf(count);
    const hash = toHash(state);
    const link = await packed(hash);
    t.diagnostic(`${count} updates: ${hash.length} characters become ${link.length}`);
    assert.match(link, /^z1\.[\w-]+$/);
    assert.ok(link.length < (hash.length * 2) / 3);
    assert.deepEqual(fromHash(`#${link}`), { state });
    assert.deepEqual(unpacked(link), { text: hash, error: null });
  }
});

test("a link that compression makes longer stays as it is", async () => {
  const noise = zlib.deflateRawSync(Buffer.from(toHash(scatterOf(2000)))).toString("base64url");
  const hash = noise.slice(0, 2000);
  assert.equal(await packed(hash), hash);
});

test("a compressed link holds what is compared, too", async () => {
  const hash = `${toHash(scatterOf(100))}!float32:4:1,10,20,4;digits=4e`;
  const link = await packed(hash);
  assert.match(link, /^z1\./);
  assert.equal(suffixIn(`#${link}`), "!float32:4:1,10,20,4;digits=4e");
  assert.deepEqual(fromHash(link), { state: scatterOf(100) });
});

/** Links as earlier versions of this page wrote them, each with its operator. They never change. */
// prettier-ignore
const KEPT: readonly (readonly [link: string, op: string, inputs: string])[] = [
  ["ai.onnx/ScatterND/18;reduction=add;float32:4,2:0*8;int64:2,1:1,-1;float32:2,2:1.5,nan,,a%3Bb", "ScatterND", "0,0,0,0,0,0,0,0|1,-1|1.5,nan,,a;b"],
  ["ai.onnx/TensorScatter/24;float32:1,1,1:0;float32:1,1,1:1;-", "TensorScatter", "0|1|"],
  // Compressed by zlib, of Node and of Python: the first text again, and another.
  ["z1.eJw9yTEKgDAMAMDXuEisJlaRFBdxdvEF0SoUJAWJ4PPdvPUkuaz61usuZse9zDUO4T7is1vKOkqM4byyWEvsgbgph5DUes8EyAgV_k1AjK4DFQWQop22D3K9G8E", "ScatterND", "0,0,0,0,0,0,0,0|1,-1|1.5,nan,,a;b"],
  ["z1.eJxLzNTLz8ur0HdPLMlILXLNSc1NzSsp1jc0tk6syCy2NbROy8lPLDE2sjLWMbYy1DHSMdYx0THVMdMx17HQsbTOzAPJGUHlDMDYAABptxde", "GatherElements", "1,2,3,4,5,6,7,8,9|1,2,0,2,0,0"],
];

for (const [link, op, inputs] of KEPT) {
  test(`a kept link is read: ${link.slice(0, 40)}`, () => {
    const found = fromHash(link);
    assert.ok("state" in found, JSON.stringify(found));
    assert.equal(found.state.op, op);
    assert.equal(found.state.inputs.map((one) => one?.values.join() ?? "").join("|"), inputs);
  });
}

test("a pasted compressed link is recognized", async () => {
  const link = await packed(toHash(scatterOf(100)));
  const { choices } = readText(` https://example.org/ndscatter/#${link}\n`);
  assert.deepEqual(
    choices.map((choice) => (choice.kind === "node" ? choice.state : null)),
    [scatterOf(100)],
  );
});

const BYTES = Buffer.from(toHash(scatterOf(60)));
const WHOLE = zlib.deflateSync(BYTES);

test("a cut link is refused wherever it is cut, and its readable part is offered", () => {
  const link = linkOf(WHOLE);
  for (let end = 4; end < link.length; end++) {
    const { text, error } = unpacked(link.slice(0, end));
    assert.match(error ?? "", /^the link cannot be read: its end is missing/, `${end}`);
    assert.ok(BYTES.toString().startsWith(text) || link.startsWith(text), `${end}`);
  }
  // The codes and the first block come first, so half of the link gives a good part of the text.
  assert.ok(unpacked(link.slice(0, link.length / 2)).text.startsWith("ai.onnx/ScatterND/18;"));
  assert.deepEqual(fromHash(link.slice(0, -3)), {
    error: unpacked(link.slice(0, -3)).error,
  });
});

test("any changed bit is found", () => {
  for (let bit = 0; bit < 8 * WHOLE.length; bit++) {
    const changed = Buffer.from(WHOLE);
    changed[bit >> 3] ^= 1 << (bit & 7);
    assert.ok("error" in fromHash(linkOf(changed)), `${bit}`);
  }
});

test("blanks in a link and text behind it do no harm", () => {
  const link = linkOf(WHOLE);
  for (const one of [`${link}).`, `${link}%0A`, `${link.slice(0, 70)}\r\n${link.slice(70)}>`]) {
    assert.deepEqual(unpacked(one), { text: BYTES.toString(), error: null });
  }
});

test("a link that unpacks to too much stops at the limit, in a sentence", () => {
  const most = LONGEST.toLocaleString("en");
  for (const size of [LONGEST + 1, 60 * LONGEST]) {
    const link = linkOf(zlib.deflateSync(Buffer.alloc(size, "0"), { level: 9 }));
    const { text, error } = unpacked(link);
    assert.equal(error, `the link cannot be read: it unpacks to more than ${most} characters`);
    assert.equal(text, link);
  }
  const { bytes, wrong } = inflate(zlib.deflateSync(Buffer.alloc(5000)), 4999);
  assert.deepEqual([bytes.buffer.byteLength <= 4999, wrong], [true, "too long"]);
  const all = inflate(zlib.deflateSync(Buffer.alloc(5000)), 5000);
  assert.deepEqual([all.bytes.length, all.wrong], [5000, null]);
});

test("a link of a later version says what to do", () => {
  assert.match(
    unpacked("#z2.abcdefgh").error ?? "",
    /begins with "z2\.", a format that this page does not know; reload the page/,
  );
});

const { Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE, Z_DEFAULT_STRATEGY } = zlib.constants;

test("what zlib writes is read, in every kind of block", () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 400 }),
    states.map((state) => new TextEncoder().encode(toHash(state))),
    fc
      .tuple(fc.uint8Array({ minLength: 1, maxLength: 9 }), fc.integer({ max: 9000, min: 0 }))
      .map(([part, size]) =>
        Uint8Array.from({ length: size }, (_, i) => part[(i * i) % part.length]),
      ),
  );
  const strategy = fc.constantFrom(Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE, Z_DEFAULT_STRATEGY);
  fc.assert(
    fc.property(bytes, fc.integer({ min: 0, max: 9 }), strategy, (data, level, kind) => {
      const written = zlib.deflateSync(data, { level, strategy: kind });
      const found = inflate(written, data.length);
      assert.deepEqual([found.wrong, Buffer.from(found.bytes)], [null, Buffer.from(data)]);
    }),
  );
});

test("what is no zlib data never throws", () => {
  const damaged = fc
    .tuple(fc.nat(WHOLE.length - 1), fc.uint8Array({ maxLength: 5 }))
    .map(([at, bytes]) => Buffer.concat([WHOLE.subarray(0, at), bytes, WHOLE.subarray(at + 3)]));
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array(), damaged), (bytes) => {
      const { wrong, bytes: found } = inflate(bytes, 10_000);
      assert.ok(wrong !== null || Buffer.from(found).equals(zlib.inflateSync(bytes)));
    }),
  );
  fc.assert(
    fc.property(anyText(), (text) => {
      assert.ok("error" in fromHash(`z1.${text}`));
    }),
  );
});

test("the sentence on the length says that a link is compressed", () => {
  assert.equal(
    linkRemark("https://example.org/#z1.abc"),
    "This link has 27 characters. The link is compressed; the page shows it as text.",
  );
});
