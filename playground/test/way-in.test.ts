/** The ways in with one's own data: several files, calls, messages, and what is larger than the page shows. */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { tensor, zeros } from "ndscatter";
import { writeNpy } from "ndscatter/npy";
import type { Page } from "playwright-core";
import { drop, type Dropped } from "./support/drop.ts";
import { mixedModel } from "./support/models.ts";
import { PRESETS } from "../src/examples/presets.ts";
import { cellsOf, chooseExample, REPOSITORY, SUM, useSite } from "./support/page.ts";

const site = useSite();

/** Pastes texts, one right after the other, where nothing has the focus. */
const paste = (page: Page, ...texts: readonly string[]): Promise<void> =>
  page.evaluate((all) => {
    for (const text of all) {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", text);
      const event = { clipboardData, bubbles: true, cancelable: true };
      document.body.dispatchEvent(new ClipboardEvent("paste", event));
    }
  }, texts);

const example = (name: string): Dropped => ({
  name,
  bytes: fs.readFileSync(path.join(REPOSITORY, "examples", name)),
});

const said = (page: Page): Promise<string> => page.locator(".said").innerText();

const THREE: readonly Dropped[] = [
  { name: "u.npy", bytes: writeNpy(tensor("float32", [2], [5, 6])) },
  { name: "idx.npy", bytes: writeNpy(tensor("int64", [2, 1], [3, 3])) },
  { name: "x.npy", bytes: writeNpy(tensor("float32", [4], [1, 1, 1, 1])) },
];

test("files that can change places ask, with the best guess chosen, and no longer offer to run a model", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  const dialog = page.locator("dialog[open]");
  const run = dialog.getByRole("button", { name: /^Run the model here/ });
  await drop(page, "body", [{ name: "mixed.onnx", bytes: mixedModel() }]);
  await run.waitFor();
  await page.keyboard.press("Escape");
  const twins = [
    { name: "first.npy", bytes: writeNpy(tensor("float32", [2], [1, 2])) },
    { name: "where.npy", bytes: writeNpy(tensor("int64", [2, 1], [0, 1])) },
    { name: "second.npy", bytes: writeNpy(tensor("float32", [2], [10, 20])) },
  ];
  await drop(page, "body", twins);
  const menu = (name: string) => dialog.getByLabel(name, { exact: true });
  await menu("data").waitFor();
  const shown = (name: string) => menu(name).locator("option:checked").innerText();
  // The model belongs to the files that were dropped before.
  assert.equal(await run.count(), 0);
  assert.equal(await shown("data"), "first · float32 [2]");
  assert.equal(await shown("indices"), "where · int64 [2, 1]");
  // The two change places.
  await menu("data").selectOption({ label: "second · float32 [2]" });
  assert.equal(await shown("updates"), "first · float32 [2]");
  await dialog.getByRole("button", { name: "Show this call" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual(await cellsOf(page, 0), ["10", "20"]);
  assert.deepEqual(await cellsOf(page, "output"), ["11", "22"]);
});

test("the files of the README's example are the node with its inputs", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  const names = ["kv-cache.onnx", "kv-cache.cache.npy", "kv-cache.where.npy", "kv-cache.key.npy"];
  await drop(page, "body", names.map(example));
  await page.locator('[data-tensor="2"]').getByText("1.33").waitFor();
  assert.deepEqual(await cellsOf(page, 1), ["0", "3", "1", "3"]);
  assert.deepEqual((await cellsOf(page, 2)).slice(0, 4), ["0.3", "0.31", "0.32", "0.33"]);
  assert.equal(await said(page), "");
});

test("a text that is not read changes nothing, and the page says why", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  const before = await cellsOf(page, "output");
  await paste(page, "x = np.array([3, 1])\ny = np.sort(x)");
  await page
    .locator(".said")
    .getByText(/line 2, column 5: np\.sort\(x\) is not a call that is read\. The page reads/)
    .waitFor();
  await paste(page, "<script>alert(1)</script>\n) hello (");
  await page
    .locator(".said")
    .getByText(/line 1, column/)
    .waitFor();
  assert.deepEqual(await cellsOf(page, "output"), before);
});

test("a runtime's message becomes a call that fails for the same reason", async () => {
  await using opened = await site.open(SUM, { viewport: { width: 1440, height: 900 } });
  const { page } = opened;
  const line = page.getByLabel(/error message of your own/);
  await line.fill(
    "Non-zero status code returned while running Gather node. Name:'emb' Status Message: indices element out of data bounds, idx=7 must be within the inclusive range [-4,3]",
  );
  await line.press("Enter");
  await page.getByText("The message is about Gather (node emb).").waitFor();
  assert.equal(
    await page.getByLabel("operator", { exact: true }).last().inputValue(),
    "ai.onnx/Gather",
  );
  assert.ok((await cellsOf(page, 1)).includes("7"));
});

test("Open says what the page takes, and then lets files be chosen", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  await page.getByRole("button", { name: "Open", exact: true }).click();
  const dialog = page.locator("dialog[open]");
  await dialog.getByRole("button", { name: "Choose files" }).waitFor();
  assert.match(await dialog.innerText(), /\.npy, \.pb[^]*error message/);
  const choosing = page.waitForEvent("filechooser");
  await dialog.getByRole("button", { name: "Choose files" }).click();
  const files = THREE.map(({ name, bytes }) => ({
    name,
    mimeType: "",
    buffer: Buffer.from(bytes),
  }));
  await (await choosing).setFiles(files);
  await page.getByText("By names and shapes, x is data, idx is indices, u is updates.").waitFor();
  // Files of tensors do not say which reduction is meant.
  await page.getByText("The operator is still ScatterND-18 with reduction add.").waitFor();
  assert.equal(await page.locator("dialog[open]").count(), 0);
  assert.deepEqual(await cellsOf(page, "output"), ["1", "1", "1", "12"]);
});

test("of large files the part that matters is shown, and the command for all of them", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  const indices = tensor(
    "int64",
    [900, 1],
    Array.from({ length: 900 }, (_, n) => (n === 500 ? 4000 : n)),
  );
  await drop(page, "body", [
    { name: "data.npy", bytes: writeNpy(zeros("float32", [1000, 50])) },
    { name: "indices.npy", bytes: writeNpy(indices) },
    { name: "updates.npy", bytes: writeNpy(zeros("float32", [900, 50])) },
  ]);
  const dialog = page.locator("dialog[open]");
  await dialog
    .getByText(/^npx ndscatter explain ScatterND .* data\.npy indices\.npy updates\.npy$/)
    .waitFor();
  await dialog.getByRole("button", { name: /Show the relevant part/ }).click();
  await page
    .locator(".said")
    .getByText(/1 of 900 index tuples is out of range/)
    .waitFor();
  // Rows have their own number and the number in the file.
  const labels = await page
    .locator('[data-tensor="output"], [data-tensor="0"]')
    .first()
    .locator("tbody th")
    .allInnerTexts();
  assert.ok(labels.length > 0 && labels.every((one) => /^\d+=\d+$/.test(one)), labels.join());
  assert.equal(
    await page
      .locator('[data-tensor="1"] td[aria-invalid="true"], [data-tensor="1"] td.bad')
      .count(),
    1,
  );
});

test("a large text is read in a worker, until Cancel, Back or another text ends the reading", async () => {
  await using opened = await site.open();
  const { page } = opened;
  const before = await cellsOf(page, "output");
  await chooseExample(page, PRESETS[2].id);
  // The worker's script never arrives, so reading takes as long as the test wants.
  await page.route(/reader-[^/]*\.js$/, () => {});
  const large = Array.from({ length: 100_000 }, (_, n) => n % 7).join("\n");
  const cancel = page.locator(".reading button");
  await paste(page, large);
  await cancel.click();
  await cancel.waitFor({ state: "detached" });
  await paste(page, large);
  await cancel.waitFor();
  await page.goBack();
  await cancel.waitFor({ state: "detached" });
  assert.deepEqual(await cellsOf(page, "output"), before);
  await page.unroute(/reader-[^/]*\.js$/);
  await paste(page, large, "np.add.at([0, 1, 2], [2, 2], [3, 4])");
  await page.getByText("is ScatterND-18.").waitFor();
  await page.waitForTimeout(500);
  assert.deepEqual(await cellsOf(page, "output"), ["0", "1", "9"]);
  assert.equal(await page.locator("dialog[open], .reading button").count(), 0);
  const worker = page.waitForEvent("worker");
  await paste(page, large);
  await worker;
  await page
    .locator(".said")
    .getByText(/20,000 elements/)
    .waitFor();
});
