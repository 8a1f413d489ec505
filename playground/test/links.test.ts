/** Compressed links in the browser: made by Share, opened, followed within the page, and repaired. */

import assert from "node:assert/strict";
import { test } from "node:test";
import * as zlib from "node:zlib";
import type { Page } from "playwright-core";
import { toHash } from "../src/document/hash.ts";
import { LONGEST } from "../src/document/packed.ts";
import type { State } from "../src/values/state.ts";
import { cellsOf, SUM, useSite } from "./support/page.ts";

const site = useSite();

const ROWS = 300;

/** A gather of 300 rows whose link is long. */
const LONG: State = {
  domain: "ai.onnx",
  op: "Gather",
  opset: 13,
  attributes: {},
  inputs: [
    { dtype: "float32", shape: [9], values: Array.from({ length: 9 }, (_, i) => String(i * 1.25)) },
    {
      dtype: "int64",
      shape: [ROWS],
      values: Array.from({ length: ROWS }, (_, i) => String((i * i) % 9)),
    },
  ],
};
const TEXT = toHash(LONG);
/** By Node's own compressor, not by the page. */
const LINK = `z1.${zlib.deflateSync(TEXT).toString("base64url")}`;

const dataOf = async (page: Page): Promise<string> => (await cellsOf(page, 0)).join(" ");
const DATA = "0 1.25 2.5 3.75 5 6.25 7.5 8.75 10";

const hashOf = (page: Page): string => new URL(page.url()).hash.slice(1);

test("a compressed link opens its call, and the address becomes readable", async () => {
  assert.ok(LINK.length < TEXT.length / 1.5);
  await using opened = await site.open(LINK);
  const { page } = opened;
  assert.equal(await dataOf(page), DATA);
  await page.waitForFunction((text) => location.hash === `#${text}`, TEXT);
  await page.reload();
  await page.waitForSelector("td[data-element]");
  assert.equal(await dataOf(page), DATA);
});

test("a compressed link is followed within the page, and Back shows the call before it", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  const before = await dataOf(page);
  await page.evaluate((link) => {
    location.hash = link;
  }, LINK);
  await page.waitForFunction(() => document.querySelector("#cell-0-1")?.textContent === "1.25");
  assert.equal(await dataOf(page), DATA);
  await page.goBack();
  await page.waitForFunction(() => document.querySelector("#cell-0-1")?.textContent === "0");
  assert.equal(await dataOf(page), before);
});

test("Share gives a long call a compressed link, which opens it", async () => {
  await using opened = await site.open(TEXT);
  const { page } = opened;
  await page.getByRole("button", { name: "Share" }).click();
  const code = page.locator("dialog[open] textarea");
  await page.locator(".share-length", { hasText: "The link is compressed" }).waitFor();
  const link = new URL(await code.inputValue());
  assert.match(link.hash, /^#z1\.[\w-]+$/);
  assert.ok(link.href.length < TEXT.length / 1.5);
  assert.equal(
    await page.locator(".share-length").innerText(),
    `This link has ${link.href.length.toLocaleString("en")} characters. The link is compressed; the page shows it as text.`,
  );
  await page.getByRole("button", { name: "Embed", exact: true }).click();
  assert.ok((await code.inputValue()).includes(`?embed${link.hash}"`));
  const frame = page.frameLocator("dialog[open] iframe");
  assert.equal(await frame.locator("#cell-0-1").innerText(), "1.25");
  await using other = await site.open(link.hash);
  assert.equal(await dataOf(other.page), DATA);
});

test("a cut link offers the part that arrived as text, which can be completed", async () => {
  const cut = LINK.slice(0, -20);
  await using opened = await site.open(cut);
  const { page } = opened;
  assert.match(await page.locator(".repair .faults").innerText(), /its end is missing/);
  const field = page.locator(".repair textarea");
  const part = await field.inputValue();
  assert.ok(part.length > 60 && part.length < TEXT.length && TEXT.startsWith(part), part);
  await page.waitForTimeout(400);
  assert.equal(hashOf(page), cut);
  await field.fill(TEXT);
  await page.getByRole("button", { name: "Open the corrected link" }).click();
  await page.waitForFunction(() => document.querySelector("#cell-0-1")?.textContent === "1.25");
  await page.waitForFunction((text) => location.hash === `#${text}`, TEXT);
});

test("a whole compressed link mends a broken one, and a bomb is refused in a sentence", async () => {
  const bomb = zlib.deflateSync(Buffer.alloc(50 * LONGEST, "0"), { level: 9 });
  await using opened = await site.open(`z1.${bomb.toString("base64url")}`);
  const { page } = opened;
  assert.equal(
    await page.locator(".repair .faults").innerText(),
    "The link cannot be read: it unpacks to more than 4,000,000 characters",
  );
  await page.locator(".repair textarea").fill(`https://example.org/#${LINK}`);
  await page.getByRole("button", { name: "Open the corrected link" }).click();
  await page.waitForFunction(() => document.querySelector("#cell-0-1")?.textContent === "1.25");
});
