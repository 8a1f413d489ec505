/** What is typed takes the place of what was in a cell or a field, however it was opened; errors draw no wrong output. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { visible } from "../src/values/visible.ts";
import { cellsOf, PHONE, useSite } from "./support/page.ts";

const site = useSite();

const SHORT = "ai.onnx/ScatterElements/18;float32:4:7,-1,-2,-3;int64:1:0;float32:1:5";

/** How a cell is opened that has the focus. */
const OPENINGS: Readonly<Record<string, (page: Page, cell: string) => Promise<void>>> = {
  "a click": (page, cell) => page.click(cell),
  Enter: (page) => page.keyboard.press("Enter"),
  F2: (page) => page.keyboard.press("F2"),
  "a key": async () => {},
};

for (const [name, open] of Object.entries(OPENINGS)) {
  test(`what is typed after ${name} replaces the value of a cell`, async () => {
    await using opened = await site.open(SHORT);
    const { page } = opened;
    await page.click("#cell-0-0");
    await page.keyboard.type("2");
    await page.keyboard.press("Enter");
    await open(page, "#cell-0-1");
    await page.keyboard.type("25");
    await page.keyboard.press("Enter");
    assert.deepEqual(await cellsOf(page, 0), ["2", "25", "-2", "-3"]);
    // Where the first key is the value that the cell has, the next one follows it.
    await page.keyboard.type("-2");
    await page.keyboard.type("1");
    await page.keyboard.press("Enter");
    assert.deepEqual(await cellsOf(page, 0), ["2", "25", "-21", "-3"]);
  });
}

test("after Enter the next cell is described, though the pointer rests on the former one", async () => {
  await using opened = await site.open(SHORT);
  const { page } = opened;
  await page.click("#cell-0-0");
  await page.keyboard.type("2");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement?.id === "cell-0-1");
  // A browser tells of the new element under the pointer a frame later.
  await page.waitForTimeout(100);
  const lit = page.locator('[data-tensor="0"] [data-lit]');
  assert.deepEqual(await lit.evaluateAll((cells) => cells.map(({ id }) => id)), ["cell-0-1"]);
  await page.hover("#cell-0-2");
  await page.locator("#cell-0-2[data-lit]").waitFor();
});

test("a finger opens a cell with its value selected", async () => {
  await using opened = await site.open(SHORT, PHONE);
  const { page } = opened;
  for (const element of [1, 2]) {
    await page.tap(`#cell-0-${element}`);
    await page.tap(`#cell-0-${element}`);
    // The whole cell is the field, so that the next tap cannot miss it.
    const cell = await page.locator(`#cell-0-${element}`).boundingBox();
    const editor = await page.locator(".editor").boundingBox();
    assert.ok(cell !== null && editor !== null);
    assert.ok(editor.height >= cell.height - 2, `${editor.height} of ${cell.height}`);
    assert.ok(editor.width >= cell.width - 2, `${editor.width} of ${cell.width}`);
    await page.keyboard.type("2");
  }
  await page.keyboard.press("Enter");
  assert.deepEqual(await cellsOf(page, 0), ["7", "2", "2", "-3"]);
});

test("a second click in an open cell puts the caret into its value", async () => {
  await using opened = await site.open(SHORT);
  const { page } = opened;
  await page.click("#cell-0-1");
  await page.click("#cell-0-1");
  await page.click(".editor");
  await page.keyboard.press("End");
  await page.keyboard.type("5");
  await page.keyboard.press("Enter");
  assert.deepEqual(await cellsOf(page, 0), ["7", "-15", "-2", "-3"]);
});

const DIMENSION = '[aria-label="dimension 0 of data"]';
const AXIS = ".sentence .number";
const TALL = "ai.onnx/GatherElements/13;float32:4,1:1,2,3,4;int64:1,1:0";

/** How a field gets the focus. */
const ENTRIES: Readonly<Record<string, (page: Page, field: string) => Promise<void>>> = {
  "a click": (page, field) => page.click(field),
  "a click at its right": async (page, field) => {
    const { width, height } = (await page.locator(field).boundingBox()) ?? { width: 0, height: 0 };
    await page.click(field, { position: { x: width - 3, y: height / 2 } });
  },
  Tab: async (page, field) => {
    await page.focus(field);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Shift+Tab");
  },
};

for (const [name, enter] of Object.entries(ENTRIES)) {
  test(`what is typed after ${name} replaces a dimension and an attribute`, async () => {
    await using opened = await site.open(TALL);
    const { page } = opened;
    for (const [field, first] of [
      [DIMENSION, "2"],
      [AXIS, "-1"],
    ]) {
      await enter(page, field);
      for (const text of [first, "1", "0"]) {
        await page.keyboard.type(text);
        await page.keyboard.press("Enter");
        assert.equal(await page.inputValue(field), text, field);
      }
      await page.keyboard.press("ArrowUp");
      await page.keyboard.type("3");
      await page.keyboard.press("Escape");
      assert.equal(await page.inputValue(field), "1");
      await page.keyboard.type("2");
      await page.keyboard.press("Tab");
      assert.equal(await page.inputValue(field), "2");
      // A shape that is refused is not typed on either.
      if (field !== DIMENSION) continue;
      await enter(page, field);
      await page.keyboard.type("99999999");
      await page.keyboard.press("Enter");
      assert.equal(await page.inputValue(field), "2");
      await page.keyboard.type("4");
      await page.keyboard.press("Enter");
      assert.equal(await page.inputValue(field), "4");
    }
  });
}

test("a second click in a field puts the caret into its number", async () => {
  await using opened = await site.open(TALL);
  const { page } = opened;
  await page.click(DIMENSION);
  await page.click(DIMENSION);
  await page.keyboard.press("End");
  await page.keyboard.type("0");
  await page.keyboard.press("Enter");
  assert.equal(await page.inputValue(DIMENSION), "40");
});

test("a finger selects a dimension and an attribute", async () => {
  await using opened = await site.open(TALL, PHONE);
  const { page } = opened;
  await page.tap(AXIS);
  await page.keyboard.type("1");
  await page.keyboard.press("Enter");
  assert.equal(await page.inputValue(AXIS), "1");
  await page.tap('[data-tensor="0"] .short');
  const dimension = `dialog:modal ${DIMENSION}`;
  await page.tap(dimension);
  await page.keyboard.type("2");
  await page.keyboard.press("Enter");
  assert.equal(await page.inputValue(dimension), "2");
});

/** Gathers with an error, and the shape of their output: null where it does not follow. */
const WRONG: Readonly<Record<string, readonly [hash: string, shape: string | null]>> = {
  "an index out of range": ["ai.onnx/GatherND/13;int32:2,3:0*6;int64:4,1:1,0,7,1", "[4, 3]"],
  "an index that is no number": ["ai.onnx/Gather/13;int32:2,3:0*6;int64:1,2:x,0", "[1, 2, 3]"],
  "an index out of range of an axis": [
    "ai.onnx/GatherElements/13;axis=1;int32:2,3:0*6;int64:2,1:0,9",
    "[2, 1]",
  ],
  "a tuple that is too long": ["ai.onnx/GatherND/13;int32:2,3:0*6;int64:4,3:0*12", null],
  "an axis that data has not": ["ai.onnx/Gather/13;axis=5;int32:2,3:0*6;int64:2:0,1", null],
  "an axis that is no number": ["openvino/Gather/8;int32:2,3:0*6;int64:2:0,1;int64::many", null],
};

for (const [name, [hash, shape]] of Object.entries(WRONG)) {
  test(`the output of a gather with ${name} is drawn as ${shape ?? "nothing"}`, async () => {
    await using opened = await site.open(hash);
    const { page } = opened;
    await page.locator(".story .faults p").first().waitFor();
    const output = page.locator("[data-tensor=output]");
    const shapes = await output.locator(".shape-of-output").allInnerTexts();
    assert.deepEqual(shapes, shape === null ? [] : [shape]);
    if (shape === null) assert.equal(await output.count(), 0);
    assert.deepEqual(new Set(await cellsOf(page, "output")), new Set(shape === null ? [] : [""]));
  });
}

test("after an edit that gives an output of another shape and an error, that shape is drawn", async () => {
  await using opened = await site.open("ai.onnx/GatherND/13;int32:2,2:0,1,2,3;int64:3,1:1,-2,1");
  const { page } = opened;
  const shape = page.locator(".shape-of-output");
  // The shape is that of the call before, and so are the values.
  await page.fill("[aria-label='dimension 0 of data']", "1");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator(".story .faults").count(), 1);
  assert.deepEqual(await cellsOf(page, "output"), ["2", "3", "0", "1", "2", "3"]);
  await page.fill("[aria-label='dimension 1 of data']", "3");
  await page.keyboard.press("Enter");
  assert.equal(await shape.innerText(), "[3, 3]");
  assert.deepEqual(await cellsOf(page, "output"), Array(9).fill(""));
});

test("a size that is refused says why", async () => {
  await using opened = await site.open(TALL);
  const { page } = opened;
  for (const [typed, says] of [
    ["1e9", /up to 20,000 elements, but .*1,000,000,000/],
    ["-1", /must be a non-negative integer, got -1/],
    ["abc", /must be a non-negative integer, got a text that is not a number/],
  ] as const) {
    await page.fill(DIMENSION, typed);
    await page.keyboard.press("Enter");
    await page.locator(".said p", { hasText: says }).waitFor();
    assert.equal(await page.inputValue(DIMENSION), "4");
  }
});

test("while an index is out of range, no input has a colour of the call before", async () => {
  await using opened = await site.open(
    "ai.onnx/ScatterND/18;float32:3:1,2,3;int64:2,1:0,1;float32:2:5,6",
  );
  const { page } = opened;
  const coloured = page.locator('[data-tensor="1"] td[class*="hue-"]');
  assert.equal(await coloured.count(), 2);
  await page.click("#cell-1-0");
  await page.keyboard.type("7");
  await page.keyboard.press("Enter");
  await page.locator(".faults").waitFor();
  assert.equal(await coloured.count(), 0);
  await page.click("#cell-1-0");
  await page.keyboard.type("2");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector(".faults") === null);
  assert.equal(await coloured.count(), 2);
});

test("marks of writing direction are shown as escapes", async () => {
  const text = encodeURIComponent("a\u202e12");
  await using opened = await site.open(`ai.onnx/GatherElements/13;string:1:${text};int64:1:0`);
  const { page } = opened;
  const [shown] = await cellsOf(page, 0);
  assert.ok(!/[\u202a-\u202e]/.test(shown), shown);
  await page.hover("#cell-output-0");
  assert.match(await page.locator(".story .title").innerText(), /a\\u202e12/);
  // The arrow between two Hebrew texts points to the right, as in English.
  assert.equal(visible('"א" → "ב"'), '\u200e"א"\u200e → \u200e"ב"\u200e');
});

test("the call of a link is not called one's own until it is changed", async () => {
  await using opened = await site.open("ai.onnx/GatherElements/13;float32:2:1,2;int64:1:0");
  const { page } = opened;
  const note = page.locator("#note p");
  assert.match(await note.innerText(), /^This call came with the link/);
  await page.click("#cell-0-0");
  await page.keyboard.type("5");
  await page.keyboard.press("Enter");
  await note.getByText("The link of this page contains the whole call").waitFor();
  await page.reload();
  await note.getByText("The link of this page contains the whole call").waitFor();
});
