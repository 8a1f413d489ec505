/** The page shows what the library computes, before and after every change. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { equals, run, tensor, zeros, type Tensor } from "ndscatter";
import type { Page } from "playwright-core";
import { PRESETS } from "../src/examples/presets.ts";
import { readState } from "../src/document/read-state.ts";
import { cellsOf, chooseExample, SUM, useSite } from "./support/page.ts";
import { sentenceOf } from "./support/refused.ts";
import { shownAs } from "./support/values.ts";
import { sampleOf } from "./support/sample.ts";

const site = useSite();

const DATA = tensor("float32", [4, 3], [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]);
const INDICES = tensor("int64", [3, 1], [1, -1, 1]);
const UPDATES = tensor("float32", [3, 3], [10, 20, 30, 40, 50, 60, 70, 80, 90]);

const flat = (values: unknown): string[] => [values].flat(9).map(String);

/** Chooses an example by clicks of a script, because the pointer takes a third of a second for each of a hundred. */
const chooseAtOnce = (page: Page, id: string): Promise<void> =>
  page.evaluate(async (wanted) => {
    const click = async (selector: string): Promise<void> => {
      document.querySelector<HTMLElement>(selector)?.click();
      await new Promise(requestAnimationFrame);
      await new Promise(requestAnimationFrame);
    };
    await click('[aria-label="Examples"]');
    // The dialog is loaded when it opens first.
    while (document.querySelector(".examples") === null) await new Promise(requestAnimationFrame);
    await click(`[data-example="${wanted}"]`);
  }, id);

test("every preset shows what the library computes, or what it says is wrong", async (t) => {
  await using opened = await site.open();
  const { page } = opened;
  for (const { id, state } of sampleOf(PRESETS, 3)) {
    await t.test(id, async () => {
      await chooseAtOnce(page, id);
      const { node, inputs } = readState(state);
      let expected: Tensor | undefined;
      let message = "";
      try {
        [expected] = run(node, inputs);
      } catch (error) {
        ({ message } = error as Error);
      }
      if (expected === undefined) {
        assert.ok((await page.locator(".story").innerText()).includes(message), message);
        return;
      }
      assert.deepEqual(await page.locator(".faults").allInnerTexts(), []);
      const shown = shownAs(expected, await cellsOf(page, "output"));
      assert.ok(equals(shown, expected), `${shown} for ${expected}`);
      for (const [position, input] of state.inputs.entries()) {
        if (input === null) continue;
        assert.deepEqual(await cellsOf(page, position), input.values);
      }
      assert.equal(
        await page.locator('[data-tensor="output"] .shape-of-output').innerText(),
        `[${expected.shape.join(", ")}]`,
      );
    });
  }
});

test("a tab beside each index names its row, also for a negative index, and the verb stands where updates meet", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  const chips = await page.locator(".chip").allInnerTexts();
  assert.deepEqual(
    chips.map((text) => text.replaceAll(/\s+/g, " ")),
    ["→ 1", "→ 3", "→ 1"],
  );
  assert.deepEqual(await page.locator(".mark").allInnerTexts(), ["2× add", "add"]);
  assert.equal(await page.locator("#cell-1-1").innerText(), "-1");
  // The updates of one target have its colour, and so have the target's cells; a shared target has stripes.
  const hueOf = async (id: string): Promise<string> =>
    /hue-\d/.exec((await page.locator(`#cell-${id}`).getAttribute("class")) ?? "")?.[0] ?? "";
  const shared = await hueOf("output-3");
  assert.notEqual(shared, "");
  assert.notEqual(await hueOf("output-9"), shared);
  for (const id of ["1-0", "1-2", "2-0", "2-8", "0-5"]) assert.equal(await hueOf(id), shared, id);
  assert.equal(await hueOf("output-0"), "");
  const striped = await page.$$eval("td.several", (cells) => cells.map(({ id }) => id));
  assert.deepEqual(
    striped,
    [3, 4, 5].map((e) => `cell-0-${e}`).concat([3, 4, 5].map((e) => `cell-output-${e}`)),
  );
});

test("the story of a cell is in order, when it is pointed at and when it is in focus", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  await page.hover("#cell-output-4");
  const story = page.locator(".story");
  const lines = [
    "updates[0, 1] is 20, through indices[0] = [1]\n1 + 20 = 21",
    "updates[2, 1] is 80, through indices[2] = [1]\n21 + 80 = 101",
  ];
  assert.equal(
    await story.locator(".title").innerText(),
    "output[1, 1] is 101 after two updates in this order",
  );
  assert.deepEqual(await story.locator("li").allInnerTexts(), lines);
  // The lines of both updates stand out, and the third is faint.
  assert.deepEqual(
    [await page.locator(".wire.on").count(), await page.locator(".wire.off").count()],
    [2, 1],
  );
  await page.mouse.move(0, 0);
  await page.focus("#cell-2-3");
  assert.equal(await story.locator(".title").innerText(), "updates[1, 0] goes to output[3, 0]");
  assert.deepEqual(await story.locator("li").allInnerTexts(), [
    "updates[1, 0] is 40, through indices[1] = [-1] (-1 is 3)\n3 + 40 = 43",
  ]);
  assert.equal(
    await page.locator("#aloud").innerText(),
    "updates[1, 0] goes to output[3, 0]. updates[1, 0] is 40, through indices[1] = [-1] (-1 is 3): 3 + 40 = 43",
  );
  await page.focus("#cell-output-0");
  assert.match(
    await story.innerText(),
    /no update reaches this cell, so the cell keeps the value of data\[0, 0\]/,
  );
});

test("a gather shows where each element comes from, and which elements read one", async () => {
  await using opened = await site.open("ai.onnx/GatherND/13;int32:2,2:0,1,2,3;int64:3,1:1,-2,1");
  const { page } = opened;
  assert.deepEqual(await cellsOf(page, "output"), ["2", "3", "0", "1", "2", "3"]);
  await page.hover("#cell-output-2");
  const story = page.locator(".story");
  assert.equal(await story.locator(".title").innerText(), "output[1, 0] is 0");
  assert.deepEqual(await story.locator("li").allInnerTexts(), [
    "copied from data[0, 0], through indices[1] = [-2] (-2 is 0)",
  ]);
  await page.hover("#cell-0-3");
  assert.equal(await story.locator(".title").innerText(), "data[1, 1] is read twice");
  assert.deepEqual(await story.locator("li").allInnerTexts(), [
    "output[0, 1], through indices[0] = [1]",
    "output[2, 1], through indices[2] = [1]",
  ]);
  await page.fill(".player input[type=range]", "1");
  assert.deepEqual(await cellsOf(page, "output"), ["2", "3", "", "", "", ""]);
});

test("a second click on a cell edits it; the first is for its story", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  await page.click("#cell-0-0");
  assert.equal(await page.locator(".editor").count(), 0);
  assert.match(await page.locator(".story .title").innerText(), /^output\[0, 0\] is 0$/);
  await page.click("#cell-0-0");
  await page.locator(".editor").fill("8");
  // When the field loses the focus, its text is taken.
  await page.click(".title-line h2");
  assert.equal((await cellsOf(page, "output"))[0], "8");
  // An output cannot be edited.
  await page.click("#cell-output-0");
  await page.click("#cell-output-0");
  assert.equal(await page.locator(".editor").count(), 0);
});

test("a shape that does not fit is marked at its dimension, the last picture stays, one click mends it", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  const before = await cellsOf(page, "output");
  await page.fill('[aria-label="dimension 1 of updates"]', "4");
  await page.keyboard.press("Enter");
  const wrong = page.locator('[data-tensor="2"] .dimension[aria-invalid=true]');
  assert.equal(await wrong.count(), 1);
  assert.equal(await wrong.getAttribute("aria-label"), "dimension 1 of updates");
  const inputs = [DATA, INDICES, zeros("float32", [3, 4])];
  const sentence = sentenceOf("shape-mismatch", { op: "ScatterND", opset: 18 }, inputs);
  assert.equal(await page.locator(".story .faults p").first().innerText(), sentence);
  // The error is reported once, so the rule is not shown as well.
  assert.equal(await page.getByText("got [3, 4]").count(), 1);
  // Values keep their coordinates, and new ones are 0.
  assert.deepEqual(await cellsOf(page, 2), flat([10, 20, 30, 0, 40, 50, 60, 0, 70, 80, 90, 0]));
  assert.deepEqual(await cellsOf(page, "output"), before);
  assert.equal(await page.locator('[data-tensor="output"].stale').count(), 1);
  // One button repairs the shape: it stands with the error, and is not offered beside the rule again.
  const repair = page.getByRole("button", { name: "make updates [3, 3]" });
  await repair.waitFor();
  assert.equal(await page.getByRole("button", { name: "use this shape" }).count(), 0);
  await repair.click();
  assert.deepEqual(await cellsOf(page, 2), flat(UPDATES.toArray()));
  assert.equal(await page.locator(".stale").count(), 0);
});

test("a version takes away what it does not have, and says why", async () => {
  await using opened = await site.open(
    "ai.onnx/ScatterND/18;reduction=add;bfloat16:2:1,2;int64:1,1:0;bfloat16:1:3",
  );
  const { page } = opened;
  assert.equal(await page.getByLabel("reduction").inputValue(), "add");
  const version = page.getByLabel("version", { exact: true });
  await version.selectOption("13");
  assert.equal(await page.getByLabel("reduction").count(), 0);
  const said = page.locator(".said p");
  assert.match((await said.allInnerTexts()).join("\n"), /ScatterND-13.*reduction.*version 16/);
  assert.deepEqual(await cellsOf(page, "output"), ["3", "2"]);
  await version.selectOption("11");
  assert.match(
    (await said.allInnerTexts()).join("\n"),
    /ScatterND-11.*bfloat16.*version 13 accepts it/,
  );
  const dtypes = page.getByLabel("data type of data");
  assert.notEqual(await dtypes.inputValue(), "bfloat16");
  const option = dtypes.locator("option[value=bfloat16]");
  assert.equal(await option.isDisabled(), true);
  assert.equal(await option.innerText(), "bfloat16 (version 13 accepts it)");
});

test("attributes and data types are chosen, and the errors of attributes are beside them", async () => {
  await using opened = await site.open(
    "ai.onnx/ScatterElements/18;float32:2,2:1,2,3,4;int64:1,2:1,0;float32:1,2:8,9",
  );
  const { page } = opened;
  assert.deepEqual(await cellsOf(page, "output"), ["1", "9", "8", "4"]);
  await page.fill(".sentence .number", "1");
  await page.keyboard.press("Enter");
  assert.deepEqual(await cellsOf(page, "output"), ["9", "8", "3", "4"]);
  await page.fill(".sentence .number", "5");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator(".sentence .number").getAttribute("aria-invalid"), "true");
  assert.match(await page.locator("main").innerText(), /ScatterElements-18: .*axis.*5/);
  await page.fill(".sentence .number", "0");
  await page.keyboard.press("Enter");
  await page.selectOption('[aria-label="data type of data"]', "int8");
  assert.equal(await page.getByLabel("data type of updates").inputValue(), "int8");
  assert.deepEqual(await cellsOf(page, "output"), ["1", "9", "8", "4"]);
});

test("text that is entered becomes the tensor; text that is no tensor shows why", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  const dialog = page.locator("dialog[open]");
  const enter = async (text: string): Promise<void> => {
    if ((await dialog.count()) === 0)
      await page.getByRole("button", { name: "updates as text" }).click();
    await dialog.locator("textarea").fill(text);
    await dialog.getByRole("button", { name: "apply" }).click();
  };
  await enter("array([[1., 2., 3.],\n       [4., 5., 6.],\n       [7., 8., 9.]], dtype=float32)");
  const node = { op: "ScatterND", opset: 18, attributes: { reduction: "add" } };
  const updates = tensor("float32", [3, 3], [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const [expected] = run(node, [DATA, INDICES, updates]);
  assert.deepEqual(await cellsOf(page, "output"), flat(expected.toArray()));
  await enter("[[1, 2], [3]]");
  assert.equal(await dialog.locator("[role=alert]").count(), 1);
  assert.deepEqual(await cellsOf(page, "output"), flat(expected.toArray()));
});

test("text pasted on a cell is its value, or the tensor; text that is neither says why", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  const paste = (cell: string, text: string) =>
    page.$eval(
      cell,
      (element, words) => {
        const clipboardData = new DataTransfer();
        clipboardData.setData("text/plain", words);
        element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
      },
      text,
    );
  // What reads texts is loaded when the page is touched.
  await Promise.all([page.waitForResponse(/\/paste-/), page.click("#cell-2-4")]);
  // The text is read when its reader is loaded, which may be after the response.
  const shows = (cell: string, text: string) =>
    page.waitForFunction(
      ([id, words]) => document.querySelector(id)?.firstChild?.textContent === words,
      [cell, text] as const,
    );
  await paste("#cell-2-4", " 7 ");
  await shows("#cell-2-4", "7");
  assert.deepEqual(await cellsOf(page, 2), flat([10, 20, 30, 40, 7, 60, 70, 80, 90]));
  await paste("#cell-2-4", "[[1, 1, 1], [2, 2, 2], [3, 3, 3]]");
  await shows("#cell-2-4", "2");
  assert.deepEqual(await cellsOf(page, 2), flat([1, 1, 1, 2, 2, 2, 3, 3, 3]));
  // A text that is no tensor changes nothing, and says why.
  await paste("#cell-2-4", "[[1, 1], [2]]");
  await page.locator(".said p").waitFor();
  assert.match(await page.locator(".said p").innerText(), /line 1, column \d+/);
  assert.deepEqual(await cellsOf(page, 2), flat([1, 1, 1, 2, 2, 2, 3, 3, 3]));
  // On no cell, it asks for which input it is.
  await paste("body", "[[1], [1], [0]]");
  const dialog = page.locator("dialog[open]");
  await dialog.getByRole("button", { name: "indices", exact: true }).click();
  await shows("#cell-1-2", "0");
});

test("an example keeps nothing of the one before it", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  await chooseExample(page, "classic-confusions-and-without-it-is-refused");
  assert.match(await page.locator("[data-tensor=output]").innerText(), /no output/);
  assert.deepEqual(new Set(await cellsOf(page, "output")), new Set([""]));
});

test("the steps of three updates of one cell are all visible", async () => {
  await using opened = await site.open(
    "#ai.onnx/ScatterND/18;reduction=add;float32:3,2:1*6;int64:3,1:1*3;float32:3,2:10,20,30,40,50,60",
    { viewport: { width: 1440, height: 900 } },
  );
  const { page } = opened;
  await page.locator("#cell-output-2").hover();
  const last = page.locator(".story li").last();
  assert.match(await last.innerText(), /41 \+ 50 = 91/);
  const box = await last.boundingBox();
  assert.ok(box !== null && box.y + box.height <= 900, JSON.stringify(box));
});
