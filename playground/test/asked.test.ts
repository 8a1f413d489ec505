/** What belongs to one call: the sender's question and a compared output; and actions before all of the page is loaded. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "ndscatter";
import { writeNpy } from "ndscatter/npy";
import type { Page } from "playwright-core";
import { toHash } from "../src/document/hash.ts";
import { PRESETS } from "../src/examples/presets.ts";
import { packed } from "../src/writing/link.ts";
import { mixedModel } from "./support/models.ts";
import { cellsOf, chooseExample, showState, SUM, typeAt, undo, useSite } from "./support/page.ts";

const site = useSite();

const QUESTION = "!ask=Why%20is%20row%201%20not%2080%3F";
const COMPARED = "!float32:4,3:1*12";

const noteOf = (page: Page): Promise<string> => page.locator(".title-line p").innerText();

const isWritten = (page: Page, end: string): Promise<void> =>
  page.waitForURL((url) => url.hash.endsWith(end));

const reloaded = async (page: Page): Promise<void> => {
  await page.reload();
  await page.waitForSelector("td[data-element]");
};

/** Waits longer than the page rests before it writes the URL. */
const rested = (page: Page): Promise<void> => page.waitForTimeout(600);

const EDITED = SUM.replace("float32:4,3:0*3", "float32:4,3:5,0,0");

test("the sender's question is shown and written only with its call, also after a reload", async () => {
  await using opened = await site.open(`${SUM}${QUESTION}`);
  const { page } = opened;
  assert.equal(await noteOf(page), "Asked: “Why is row 1 not 80?”");
  await reloaded(page);
  assert.equal(await noteOf(page), "Asked: “Why is row 1 not 80?”");
  await typeAt(page, "#cell-0-0", "5");
  await isWritten(page, EDITED);
  assert.doesNotMatch(await noteOf(page), /Why is row/);
  await reloaded(page);
  assert.doesNotMatch(await noteOf(page), /Why is row/);
  await undo(page);
  await isWritten(page, QUESTION);
  assert.equal(await noteOf(page), "Asked: “Why is row 1 not 80?”");
});

test("an example that is chosen shows neither the question nor the compared output of the call before", async () => {
  await using opened = await site.open(`${SUM}${COMPARED};${QUESTION.slice(1)}`);
  const { page } = opened;
  await page.locator(".why-verdict").waitFor({ state: "attached" });
  await page.locator("dialog[open]").getByRole("button", { name: "close" }).click();
  const [, , example] = PRESETS;
  await chooseExample(page, example.id);
  await page.waitForURL((url) => url.hash === `#${toHash(example.state)}`);
  await rested(page);
  assert.equal(new URL(page.url()).hash, `#${toHash(example.state)}`);
  assert.equal(await page.locator(".why-verdict").count(), 0);
  assert.equal(await page.locator(".why textarea").inputValue(), "");
  assert.doesNotMatch(await noteOf(page), /Why is row/);
  await page.locator(".why-close").click();
  await page.goBack();
  await isWritten(page, QUESTION.slice(1));
  assert.equal(await noteOf(page), "Asked: “Why is row 1 not 80?”");
});

test("a compared output follows the edits of its call, and a closed panel leaves the URL", async () => {
  await using opened = await site.open(`${SUM}${COMPARED}`);
  const { page } = opened;
  await page.locator("dialog[open]").getByRole("button", { name: "close" }).click();
  await typeAt(page, "#cell-0-0", "5");
  await isWritten(page, EDITED + COMPARED);
  await page.locator(".why-close").click();
  await isWritten(page, EDITED);
  await undo(page);
  await isWritten(page, SUM);
  await rested(page);
  assert.equal(new URL(page.url()).hash, `#${SUM}`);
});

test("an output is compared from a file, which a worker reads if it is large; other files are refused", async () => {
  await using opened = await site.open(
    "ai.onnx/ScatterND/18;float64:12000:0*12000;int64:1,1:5;float64:1:3",
  );
  const { page } = opened;
  let workers = 0;
  page.on("worker", () => workers++);
  await page.getByRole("button", { name: "Compare" }).click();
  const why = page.locator(".why");
  const choose = async (name: string, bytes: Uint8Array): Promise<void> => {
    const file = { name, mimeType: "application/octet-stream", buffer: Buffer.from(bytes) };
    await why.locator("input[type=file]").setInputFiles(file);
  };
  const output = tensor("float64", [12_000], new Float64Array(12_000).fill(4, 5, 6));
  await choose("output.npy", writeNpy(output));
  await why.getByText("1 of 12,000 cells differs.").waitFor();
  assert.equal(workers, 1);
  // The driver learns later than the page that a worker has ended.
  while (page.workers().length > 0) await page.waitForTimeout(50);
  await choose("mixed.onnx", mixedModel());
  await why.getByRole("alert").getByText("mixed.onnx does not hold exactly one tensor").waitFor();
  await choose("broken.npy", new Uint8Array(9));
  await why
    .getByRole("alert")
    .getByText(/the file must be an NPY file/)
    .waitFor();
  assert.equal(workers, 1);
});

test("a link whose output cannot be read says so", async () => {
  await using opened = await site.open(`${SUM}!float32:4,3:1*11`);
  await opened.page.getByText("The output of the link cannot be read.").waitFor();
});

test("a link to an example with a question shows the question", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  await showState(page, `${toHash(PRESETS[1].state)}${QUESTION}`);
  assert.equal(await noteOf(page), "Asked: “Why is row 1 not 80?”");
  await showState(page, toHash(PRESETS[1].state));
  await page.getByText("“Why is row 1 not 80?”").waitFor({ state: "detached" });
});

const REDUCER = /assets\/reduce-/;

test("an edit whose code cannot be loaded is reported, and applied with the next action", async () => {
  await using opened = await site.open(SUM);
  const { page, wrongs } = opened;
  await page.route(REDUCER, (route) => route.abort());
  await reloaded(page);
  await typeAt(page, "#cell-0-0", "5");
  await page.locator(".said").getByText("A part of the page is not loaded").waitFor();
  await page.unroute(REDUCER);
  await typeAt(page, "#cell-0-1", "6");
  await page.waitForFunction(() => document.querySelector("#cell-0-1")?.textContent === "6");
  assert.deepEqual((await cellsOf(page, 0)).slice(0, 3), ["5", "6", "0"]);
  assert.equal(await page.locator(".said").innerText(), "");
  wrongs.length = 0;
});

test("what is done before the page is loaded happens in order, and a followed link keeps its URL", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(REDUCER, async (route) => {
    await held;
    await route.continue();
  });
  await reloaded(page);
  await typeAt(page, "#cell-0-0", "5");
  const next = SUM.replace("0*3,", "9*3,");
  await page.evaluate((hash) => {
    location.hash = hash;
  }, next);
  await page.waitForTimeout(100);
  release();
  await page.waitForFunction(() => document.querySelector("#cell-0-0")?.textContent === "9");
  await rested(page);
  assert.equal(new URL(page.url()).hash, `#${next}`);
  assert.equal((await cellsOf(page, 0))[0], "9");
  await page.goBack();
  await page.waitForFunction(() => document.querySelector("#cell-0-0")?.textContent === "5");
});

test("an edit right before a compressed link does not replace the link", async () => {
  const numbers = Array.from({ length: 400 }, (_, number) => number + 9).join(",");
  const link = await packed(`ai.onnx/Gather/13;float32:400:${numbers};int64:1:0`);
  await using opened = await site.open(SUM);
  const { page } = opened;
  await page.route(/assets\/inflate-/, async (route) => {
    await page.waitForTimeout(300);
    await route.continue();
  });
  await typeAt(page, "#cell-0-0", "5");
  await page.evaluate((hash) => {
    location.hash = hash;
  }, link);
  await page.waitForFunction(() => document.querySelector("#cell-0-0")?.textContent === "9");
});
