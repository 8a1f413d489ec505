/** What cells and stories say where values are long or have parts, keys while a menu has the focus, and other systems. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { cellsOf, SUM, useSite } from "./support/page.ts";

const site = useSite();

test("the story writes complex values as cells do", async () => {
  await using opened = await site.open("ai.onnx/GatherElements/13;complex64:2:1+2j,3;int64:1:0");
  const { page } = opened;
  assert.deepEqual(await cellsOf(page, "output"), ["1+2j"]);
  await page.locator("#cell-output-0").hover();
  assert.match(await page.locator(".story .title").innerText(), /^output\[0\] is 1\+2j$/);
});

test("a text that is cut ends with a whole character", async () => {
  const text = "💥💥💥💥💥💥💥💥💥";
  const hash = `ai.onnx/GatherElements/13;string:1:${encodeURIComponent(text)};int64:1:0`;
  await using opened = await site.open(hash);
  const shown = await opened.page
    .locator("#cell-0-0")
    .evaluate((cell) => cell.firstChild?.nodeValue);
  assert.match(String(shown), /^(💥)+…$/u);
});

test("Ctrl+Z is undo while a menu of the bar has the focus", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  const menu = page.getByLabel("reduction");
  await menu.selectOption("max");
  await menu.focus();
  await page.keyboard.press("Control+z");
  await page.waitForFunction(() => document.querySelector(".verb")?.textContent === "add");
  assert.equal(await menu.inputValue(), "add");
});

test("the steps of the player are the specification's also while another system is shown", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  const whole = await cellsOf(page, "output");
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByRole("button", { name: "Show the result of TensorFlow on a GPU" }).click();
  await page.waitForSelector("td.other");
  assert.notDeepEqual(await cellsOf(page, "output"), whole);
  await page.getByLabel("updates carried out").fill("0");
  await page.waitForFunction(() => document.querySelector("td.other") === null);
  assert.deepEqual(await cellsOf(page, "output"), await cellsOf(page, 0));
  assert.doesNotMatch(await page.locator('[data-tensor="output"] .dtype').innerText(), /by/);
});
