/** What a visit keeps: a step of Back, a reload, a file's way home, and a shape while it is typed. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { fromHash } from "../src/document/hash.ts";
import { PRESETS } from "../src/examples/presets.ts";
import { cellsOf, chooseExample, SUM, useSite } from "./support/page.ts";

const site = useSite();

async function typeAt(page: Page, cell: string, text: string): Promise<void> {
  await page.focus(cell);
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
}

const dataAt = async (page: Page): Promise<string> => (await cellsOf(page, 0)).join(" ");

const dimension = '[aria-label="dimension 0 of data"]';
const FULL = "0 0 0 1 1 1 2 2 2 3 3 3";

test("a dimension is applied on Enter or on leaving the field, and Escape gives it up", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  await page.fill(dimension, "2");
  assert.equal(await dataAt(page), FULL);
  await page.keyboard.press("Escape");
  assert.equal(await page.inputValue(dimension), "4");
  await page.fill(dimension, "2");
  await page.keyboard.press("Enter");
  assert.equal(await dataAt(page), "0 0 0 1 1 1");
  await page.fill(dimension, "4");
  await page.focus("#cell-0-0");
  assert.equal(await dataAt(page), FULL);
  await page.focus(dimension);
  await page.keyboard.press("ArrowDown");
  assert.equal(await dataAt(page), "0 0 0 1 1 1 2 2 2");
});

test("an axis that is removed comes back with its length and its values", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  await page.getByLabel("one dimension fewer for data").click();
  assert.equal(await dataAt(page), "0 1 2 3");
  await page.getByLabel("one dimension more for data").click();
  assert.equal(await dataAt(page), FULL);
});

test("an edit outlives a reload that follows at once", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  await typeAt(page, "#cell-0-0", "5");
  await typeAt(page, "#cell-0-1", "6");
  await typeAt(page, "#cell-0-2", "7");
  // Fewer than 350 ms after the first edit, the address does not hold the others yet.
  await page.reload();
  await page.waitForSelector("td[data-element]");
  assert.equal(await dataAt(page), "5 6 7 1 1 1 2 2 2 3 3 3");
});

test("where the browser refuses to write the address, the page goes on and a reload loses nothing", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  await page.evaluate(() => {
    history.replaceState = () => {
      throw new DOMException("too many calls", "SecurityError");
    };
  });
  await page.waitForTimeout(400);
  await typeAt(page, "#cell-0-0", "5");
  assert.ok(
    page.url().endsWith("0*3,1*3,2*3,3*3;int64:3,1:1,-1,1;float32:3,3:10,20,30,40,50,60,70,80,90"),
  );
  await page.reload();
  await page.waitForSelector("td[data-element]");
  assert.equal(await dataAt(page), "5 0 0 1 1 1 2 2 2 3 3 3");
});

test("operators and examples are steps of Back, with what was edited between them", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  await typeAt(page, "#cell-0-0", "5");
  const operator = page.locator(".sentence .operator").first();
  await operator.selectOption("ai.onnx/ScatterElements");
  await chooseExample(page, PRESETS[0].id);
  const example = await dataAt(page);
  await typeAt(page, "#cell-0-0", "8");
  await page.goBack();
  assert.equal(await operator.inputValue(), "ai.onnx/ScatterElements");
  await page.goBack();
  assert.equal(await operator.inputValue(), "ai.onnx/ScatterND");
  assert.equal(await dataAt(page), "5 0 0 1 1 1 2 2 2 3 3 3");
  await page.goForward();
  await page.goForward();
  assert.equal(await dataAt(page), example.replace(/^\S+/, "8"));
  const found = fromHash(new URL(page.url()).hash);
  assert.ok("state" in found);
});

test("an operator comes back with its tensors, and says so", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  const operator = page.locator(".sentence .operator").first();
  await operator.selectOption("ai.onnx/ScatterElements");
  await operator.selectOption("ai.onnx/ScatterND");
  assert.equal(await dataAt(page), FULL);
  assert.equal(
    await page.locator(".said").innerText(),
    "the tensors of ScatterND are as they were left",
  );
});

test("a link on the page is followed, and Back shows the call before it", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  await typeAt(page, "#cell-0-0", "5");
  await page.waitForTimeout(400);
  await page.evaluate(
    (hash) => {
      location.hash = hash;
    },
    SUM.replace("0*3,", "9*3,"),
  );
  await page.waitForFunction(() => document.querySelector("#cell-0-0")?.textContent === "9");
  await page.goBack();
  await page.waitForFunction(() => document.querySelector("#cell-0-0")?.textContent === "5");
  assert.equal(await dataAt(page), "5 0 0 1 1 1 2 2 2 3 3 3");
});
