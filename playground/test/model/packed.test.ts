/** Compressed links: shorter, read as before, and harmless when they are cut, damaged or hostile. */

import assert from "node:assert/strict";
import { test } from "node:test";
import * as zlib from "node:zlib";
import fc from "fast-check";
import { operators } from "ndscatter";
import { fromHash, suffixIn, toHash } from "../../src/document/hash.ts";
import { LONGEST, unpack, unpacked } from "../../src/document/packed.ts";
import { PRESETS } from "../../src/examples/presets.ts";
import { readText } from "../../src/reading/read-text.ts";
import type { State } from "../../src/values/state.ts";
import { linkRemark, packed } from "../../src/writing/link.ts";
import { anyText } from "../support/any-text.ts";
import { stateOf } from "../support/states.ts";
import LINKS from "../links.json" with { type: "json" };

/** Updates of a table, as many as `count`; their values have two decimals. */
function scatterOf(count: number): State {
  const numbers = Array.from({ length: count }, (_, i) => (i * 7919) % 10_007);
  const indices = numbers.map((one) => one % count).join(",");
  const updates = numbers.map((one) => one / 100).join(",");
  return stateOf(
    `ai.onnx/ScatterND/18;reduction=add;float32:${count}:0*${count};int64:${count},1:${indices};float32:${count}:${updates}`,
  );
}

/** Reads a link as the page does: first it is decompressed. */
async function opened(link: string): Promise<ReturnType<typeof fromHash>> {
  await unpack(link);
  return fromHash(link);
}

async function textIn(link: string): Promise<ReturnType<typeof unpacked>> {
  await unpack(link);
  return unpacked(link);
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
    assert.deepEqual(await opened(`#${link}`), { state });
    assert.deepEqual(await textIn(link), { text: hash, error: null });
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
  await unpack(link);
  assert.equal(suffixIn(`#${link}`), "!float32:4:1,10,20,4;digits=4e");
  assert.deepEqual(fromHash(link), { state: scatterOf(100) });
});

/**
 * Links that earlier versions of this page wrote, with the states that they open: every operator, version and setting,
 * readable and compressed in every kind of block. They never change.
 */
const KEPT = Object.entries(LINKS).map(
  ([link, text]) => [link, JSON.parse(text) as State] as const,
);

test("every kept link opens the same state", async () => {
  assert.ok(KEPT.length >= 200);
  assert.ok(KEPT.filter(([link]) => link.includes("z1.")).length >= 20);
  for (const [link, state] of KEPT) assert.deepEqual(await opened(link), { state }, link);
});

test("the kept links are of every operator", () => {
  const ids = new Set(KEPT.map(([, { domain, op }]) => `${domain}/${op}`));
  for (const { domain, name } of operators()) assert.ok(ids.has(`${domain}/${name}`), name);
});

test("a pasted compressed link is recognized", async () => {
  const link = await packed(toHash(scatterOf(100)));
  const found = await readText(` https://example.org/ndscatter/#${link}\n`);
  assert.ok("choices" in found);
  assert.deepEqual(
    found.choices.map((choice) => (choice.kind === "node" ? choice.state : null)),
    [scatterOf(100)],
  );
});

const BYTES = Buffer.from(toHash(scatterOf(60)));
const WHOLE = zlib.deflateSync(BYTES);

test("a cut link is refused wherever it is cut, and its readable part is offered", async () => {
  const link = linkOf(WHOLE);
  for (let end = 4; end < link.length; end++) {
    const { text, error } = await textIn(link.slice(0, end));
    assert.match(error ?? "", /^the link cannot be read: its end is missing, or it was/, `${end}`);
    assert.ok(BYTES.toString().startsWith(text) || link.startsWith(text), `${end}`);
  }
  // The codes and the first block come first, so half of the link gives a good part of the text.
  const half = await textIn(link.slice(0, link.length / 2));
  assert.ok(half.text.startsWith("ai.onnx/ScatterND/18;"));
  assert.deepEqual(fromHash(link.slice(0, link.length / 2)), { error: half.error });
});

test("any changed bit is found", async () => {
  for (let bit = 0; bit < 8 * WHOLE.length; bit++) {
    const changed = Buffer.from(WHOLE);
    changed[bit >> 3] ^= 1 << (bit & 7);
    assert.ok("error" in (await opened(linkOf(changed))), `${bit}`);
  }
});

test("blanks in a link and text behind it do no harm", async () => {
  const link = linkOf(WHOLE);
  for (const one of [`${link}).`, `${link}%0A`, `${link.slice(0, 70)}\r\n${link.slice(70)}>`]) {
    assert.deepEqual(await textIn(one), { text: BYTES.toString(), error: null });
  }
});

test("a link that unpacks to too much stops at the limit, in a sentence", async () => {
  const most = LONGEST.toLocaleString("en");
  for (const size of [LONGEST + 1, 60 * LONGEST]) {
    const link = linkOf(zlib.deflateSync(Buffer.alloc(size, "0"), { level: 9 }));
    const { text, error } = await textIn(link);
    assert.equal(error, `the link cannot be read: it unpacks to more than ${most} characters`);
    assert.equal(text, link);
  }
  const whole = linkOf(zlib.deflateSync(Buffer.alloc(LONGEST, "0")));
  assert.deepEqual(await textIn(whole), { text: "0".repeat(LONGEST), error: null });
});

test("a link of a later version says what to do", () => {
  assert.match(
    unpacked("#z2.abcdefgh").error ?? "",
    /begins with "z2\.", a format that this page does not know; reload the page/,
  );
});

test("what is no zlib data never throws", async () => {
  const damaged = fc
    .tuple(fc.nat(WHOLE.length - 1), fc.uint8Array({ maxLength: 5 }))
    .map(([at, bytes]) => Buffer.concat([WHOLE.subarray(0, at), bytes, WHOLE.subarray(at + 3)]));
  const link = fc.oneof(
    fc.oneof(fc.uint8Array(), damaged).map(linkOf),
    anyText().map((text) => `z1.${text}`),
  );
  await fc.assert(fc.asyncProperty(link, async (one) => assert.ok("error" in (await opened(one)))));
});

test("the sentence on the length says that a link is compressed", () => {
  assert.equal(
    linkRemark("https://example.org/#z1.abc"),
    "This link has 27 characters. The link is compressed; the page shows it as text.",
  );
});
