/** What a visit keeps: a step of Back, a reload, a file's way home, and a shape while it is typed. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { fromHash } from "../src/document/hash.ts";
import { PRESETS } from "../src/examples/presets.ts";
import { cellsOf, chooseExample, SUM, typeAt, undo, useSite } from "./support/page.ts";

const site = useSite();

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
  await page.getByRole("button", { name: "one dimension fewer for data" }).click();
  assert.equal(await dataAt(page), "0 1 2 3");
  await page.getByRole("button", { name: "one dimension more for data" }).click();
  assert.equal(await dataAt(page), FULL);
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
    "the ScatterND tensors are as you left them",
  );
});

const redo = (page: Page): Promise<void> => page.getByRole("button", { name: "redo" }).click();

test("undo and redo outlive a reload, over edits, a shape and an example", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  await typeAt(page, "#cell-0-0", "5");
  await page.fill(dimension, "2");
  await page.keyboard.press("Enter");
  await chooseExample(page, PRESETS[0].id);
  const example = await dataAt(page);
  await typeAt(page, "#cell-0-0", "77");
  await undo(page);
  await page.reload();
  await page.waitForSelector("td[data-element]");
  assert.equal(await dataAt(page), example);
  await redo(page);
  assert.equal(await dataAt(page), example.replace(/^\S+/, "77"));
  await undo(page);
  await undo(page);
  assert.equal(await dataAt(page), "5 0 0 1 1 1");
  await undo(page);
  assert.equal(await dataAt(page), "5 0 0 1 1 1 2 2 2 3 3 3");
  // A second reload has what the first had.
  await page.reload();
  await page.waitForSelector("td[data-element]");
  await undo(page);
  assert.equal(await dataAt(page), FULL);
  await page.locator("[aria-label=undo][aria-disabled=true]").waitFor();
});

test("what is left of another visit, or is not what the page left, is no undo", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  await page.evaluate(() =>
    sessionStorage.setItem(
      "ndscatter-left",
      JSON.stringify({
        at: location.hash,
        to: location.hash,
        around: { past: [["nonsense", null], 7], future: "x" },
      }),
    ),
  );
  // The page writes its own on leaving, so the text is put back before the page reads it.
  await page.addInitScript(
    (text) => sessionStorage.setItem("ndscatter-left", text),
    await page.evaluate(() => sessionStorage.getItem("ndscatter-left") ?? ""),
  );
  await page.reload();
  await page.waitForSelector("td[data-element]");
  assert.equal(await dataAt(page), FULL);
  await page.locator("[aria-label=undo][aria-disabled=true]").waitFor();
});

test("after Back, undo and redo are those of the step that is shown", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  await typeAt(page, "#cell-0-0", "5");
  await typeAt(page, "#cell-0-0", "6");
  await chooseExample(page, PRESETS[0].id);
  const example = await dataAt(page);
  await page.goBack();
  await page.waitForFunction(
    () => document.querySelector("#cell-0-0")?.firstChild?.textContent === "6",
  );
  await undo(page);
  assert.equal(await dataAt(page), FULL.replace("0", "5"));
  await redo(page);
  assert.equal(await dataAt(page), FULL.replace("0", "6"));
  await page.goForward();
  await page.waitForFunction(
    (text) => document.querySelector("#cell-0-0")?.firstChild?.textContent === text,
    example.split(" ")[0],
  );
  await undo(page);
  assert.equal(await dataAt(page), FULL.replace("0", "6"));
});

test("a link that cannot be read stays in the address and in a field, until it is corrected", async () => {
  const wrong = SUM.replace("float32:4,3", "flaot32:4,3");
  await using opened = await site.open(wrong);
  const { page } = opened;
  const field = page.getByLabel("the link");
  await field.waitFor();
  assert.equal(await field.inputValue(), wrong);
  assert.match(await page.locator(".repair .faults").innerText(), /cannot be read: "flaot32"/);
  // The error is said once, and its place is selected.
  assert.equal(await page.getByText(/cannot be read/).count(), 1);
  assert.equal(
    await field.evaluate((one: HTMLTextAreaElement) =>
      one.value.slice(one.selectionStart, one.selectionEnd),
    ),
    "flaot32",
  );
  await page.waitForTimeout(500);
  assert.ok(page.url().endsWith(`#${wrong}`));
  await page.reload();
  await field.waitFor();
  await field.fill("https://example.org/any#ai.onnx/Nothing/1");
  await page.keyboard.press("Enter");
  await page.locator(".repair .faults").getByText("Nothing").waitFor();
  await field.fill(SUM);
  await page.getByRole("button", { name: "Open the corrected link" }).click();
  await field.waitFor({ state: "detached" });
  assert.equal(await dataAt(page), FULL);
  await page.waitForURL((url) => url.hash === `#${SUM}`);
});

test("a link that cannot be read changes nothing of an open page, and an edit takes its place", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  await page.evaluate(() => {
    location.hash = "nonsense";
  });
  await page.getByLabel("the link").waitFor();
  assert.equal(await dataAt(page), FULL);
  await typeAt(page, "#cell-0-0", "5");
  await page.getByLabel("the link").waitFor({ state: "detached" });
  await page.waitForURL(/float32:4,3:5,0,0,1/);
});
