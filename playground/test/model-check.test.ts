/** A model that is run in the page: its nodes, the picture of the first that differs, and what is sent. */

import assert from "node:assert/strict";
import fs from "node:fs";
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { tensor } from "ndscatter";
import { writeNpy } from "ndscatter/npy";
import { externalFiles, readModel } from "ndscatter/onnx";
import type { Page } from "playwright-core";
import { cutControls, sidewaysParts, smallTargets } from "./support/access.ts";
import { violationsOf } from "./support/axe.ts";
import { drop } from "./support/drop.ts";
import {
  farModel,
  heavyModel,
  largeModel,
  mixedModel,
  plainModel,
  unknownModel,
} from "./support/models.ts";
import { cellsOf, PHONE, REPOSITORY, SUM, useSite } from "./support/page.ts";

const site = useSite();
const RUNTIME = /ort-wasm|assets\/worker-/;

const strip = (page: Page) => page.locator(".model-check");

/**
 * Asks to run a model: in the dialog for files with several choices, or else in the strip, whose button the dialog would
 * cover.
 */
const ask = (page: Page, where: "dialog" | "strip" = "dialog"): Promise<void> =>
  (where === "strip" ? strip(page) : page.locator("dialog[open]"))
    .getByRole("button", { name: /^(?:Check the model|Run the model here, and check every node)$/ })
    .click();

/** The rows of the list, when the check has ended. */
async function rowsOf(page: Page): Promise<string[]> {
  await page.locator(".model-nodes").waitFor();
  await page.locator(".model-check progress").waitFor({ state: "detached" });
  return page.locator(".model-nodes li").allInnerTexts();
}

/** Waits until the other workers have ended, which the driver learns later than the page. */
async function workersLeft(page: Page, count: number): Promise<void> {
  while (page.workers().length > count) await page.waitForTimeout(50);
}

const wordsOf = (rows: readonly string[]): string[] =>
  rows.map((row) => row.split("\n").slice(0, 2).join(" "));

test("nodes of a model are equal, different or not run, also in bodies, and the first that differs is a picture", async () => {
  await using opened = await site.open(SUM);
  const { page, requests } = opened;
  const data = { name: "data.npy", bytes: writeNpy(tensor("float32", [4], [0.5, 1, 2, 3])) };
  await drop(page, "body", [{ name: "mixed.onnx", bytes: mixedModel() }, data]);
  await page.locator("dialog[open]").getByText("Run the model here").waitFor();
  assert.ok(
    !requests.some((url) => RUNTIME.test(url)),
    "the runtime is loaded before it is asked for",
  );
  await ask(page);
  const rows = await rowsOf(page);
  assert.deepEqual(wordsOf(rows), [
    "equal Gather-13 take",
    "equal ScatterND-18 put",
    'different ScatterND-18 If "choose" / then_branch / lose',
    'not run ScatterND If "choose" / else_branch / put',
  ]);
  assert.match(rows[2], /1 of 4 cells differs; .*\[1\] is 7, expected NaN; NaNs were ignored/);
  // The picture has the real inputs, and the panel compares the runtime's output.
  assert.deepEqual(await cellsOf(page, 0), ["0.5", "1", "2", "3"]);
  assert.deepEqual(await cellsOf(page, "output"), ["0.5", "nan", "2", "5"]);
  const why = page.locator(".why");
  await why.getByText("1 of 4 cells differs.").waitFor();
  // The fault of this runtime comes before others that explain the cell too.
  await why.getByText("NaNs were ignored: the other operand was kept.").waitFor();
  const text = await why.innerText();
  const [known, other] = ["NaNs were ignored", "The reduction was none"].map((one) =>
    text.indexOf(one),
  );
  assert.ok(known > 0 && known < other, text);
  await strip(page)
    .getByText(/^Cure: .*The first scatter excludes NaNs/)
    .waitFor();
  assert.deepEqual(await violationsOf(page), []);
  const saving = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save the fixed model" }).click();
  const saved = await saving;
  assert.equal(saved.suggestedFilename(), "mixed-fixed.onnx");
  const { graph } = readModel(fs.readFileSync(await saved.path()));
  assert.deepEqual(
    graph.outputs.map(({ name }) => name),
    ["taken", "written", "chosen"],
  );
  await page.getByRole("button", { name: "show put", exact: true }).click();
  await page.locator("aside.open").waitFor({ state: "detached" });
  assert.deepEqual(await cellsOf(page, "output"), ["0.5", "7", "2", "5"]);
});

test("external data is dropped with its model; a file that is missing is named, and no path leads out of the folder", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  const index = new Uint8Array(BigInt64Array.of(3n).buffer);
  const dropped = (path: string, ...names: readonly string[]): Promise<void> =>
    drop(page, "body", [
      { name: "far.onnx", bytes: farModel(path) },
      ...names.map((name) => ({ name, bytes: index })),
    ]);
  const missing = '"index.data", which was not opened; drop the model together with this file';
  await dropped("weights/index.data");
  await page.locator(".said").getByText(missing).waitFor();
  await ask(page, "strip");
  await strip(page).getByText(missing).waitFor();
  await dropped("../index.data", "index.data");
  await page.locator(".said").getByText("which leads out of the model's folder").waitFor();
  await dropped("weights/index.data", "index.data", "notes.txt");
  await page.waitForFunction(() => document.querySelector("#cell-1-0")?.textContent === "3");
  await ask(page, "strip");
  assert.deepEqual(wordsOf(await rowsOf(page)), ["equal Gather-13 take"]);
  const unused = "notes.txt is neither a tensor nor data of the model, so it is not used.";
  await strip(page).getByText(unused).waitFor();
  assert.equal(await strip(page).getByText("index.data").count(), 0);
});

test("a fixed model still needs its external data, which the cure says", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  await drop(page, "body", [
    { name: "far.onnx", bytes: farModel("weights/index.data", true) },
    { name: "index.data", bytes: new Uint8Array(BigInt64Array.of(3n).buffer) },
  ]);
  await ask(page);
  const cure = /^Cure: .* Its data stays in weights\/index\.data\.$/;
  await strip(page).getByText(cure).waitFor();
  const saving = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save the fixed model" }).click();
  const fixed = readModel(fs.readFileSync(await (await saving).path()));
  assert.deepEqual(externalFiles(fixed), ["weights/index.data"]);
});

test("the worker has the policy of the page, so it can reach no other origin", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  await drop(page, "body", [{ name: "mixed.onnx", bytes: mixedModel() }]);
  await ask(page);
  await rowsOf(page);
  let count = 0;
  const other = http.createServer((_, response) => {
    count++;
    response.writeHead(200, { "Access-Control-Allow-Origin": "*" });
    response.end();
  });
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as AddressInfo;
  const [worker] = page.workers();
  const reached = await worker.evaluate(
    (urls) =>
      Promise.all(
        urls.map((url) =>
          fetch(url).then(
            () => true,
            () => false,
          ),
        ),
      ),
    [`http://127.0.0.1:${port}/`, page.url()],
  );
  other.close();
  assert.deepEqual([reached, count], [[false, true], 0]);
});

test("a second run, another model and a closed strip", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  await drop(page, "body", [{ name: "mixed.onnx", bytes: mixedModel() }]);
  await ask(page);
  const first = await rowsOf(page);
  // Inputs are made up, which the list says.
  await strip(page)
    .getByText(/data float32\[4\] is made up/)
    .waitFor();
  const bytes = fs.readFileSync(path.join(REPOSITORY, "examples/faults/unknown-reduction.onnx"));
  await drop(page, "body", [{ name: "other.onnx", bytes }]);
  await strip(page).getByText("Check every scatter and gather").waitFor();
  await ask(page, "strip");
  assert.match((await rowsOf(page)).join(), /^invalid\nScatterND/);
  await drop(page, "body", [{ name: "mixed.onnx", bytes: mixedModel() }]);
  await ask(page);
  assert.deepEqual(await rowsOf(page), first);
  await workersLeft(page, 1);
  await page.getByRole("button", { name: "close the check" }).click();
  await strip(page).waitFor({ state: "detached" });
  await workersLeft(page, 0);
});

test("a model that the runtime does not know is reported with its words", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  await drop(page, "body", [{ name: "unknown.onnx", bytes: unknownModel() }]);
  await ask(page, "strip");
  const rows = await rowsOf(page);
  await strip(page)
    .getByText(/The runtime cannot load the model, so .*Sparkle/)
    .waitFor();
  assert.deepEqual(wordsOf(rows), ["equal Gather-13 take"]);
});

for (const [width, height] of [
  [390, 844],
  [320, 568],
])
  test(`on a phone of ${width} × ${height} pixels the strip leaves space, and everything can be reached`, async () => {
    await using opened = await site.open(SUM, { ...PHONE, viewport: { width, height } });
    const { page } = opened;
    await drop(page, "body", [{ name: "mixed.onnx", bytes: mixedModel() }]);
    await ask(page);
    await page.getByRole("button", { name: "Save the fixed model" }).waitFor();
    await page.locator(".why-verdict").waitFor();
    const { strip: above, panel } = await page.evaluate(() => ({
      strip: document.querySelector(".model-check")?.getBoundingClientRect().bottom ?? 0,
      panel: document.querySelector("aside")?.getBoundingClientRect().top ?? 0,
    }));
    assert.ok(panel - above > 90, `${panel - above} px are left for the picture`);
    await page.getByRole("button", { name: "Nodes" }).click();
    await page.getByRole("button", { name: /^show If/ }).waitFor();
    const isMarked = (list: Element): boolean =>
      list.scrollHeight > list.clientHeight &&
      /^local, local, scroll, scroll$/.test(getComputedStyle(list).backgroundAttachment);
    assert.ok(await page.locator(".model-nodes").evaluate(isMarked));
    const found = [smallTargets, sidewaysParts, cutControls].map((one) => page.evaluate(one));
    assert.deepEqual((await Promise.all(found)).flat(), []);
    assert.deepEqual(await violationsOf(page), []);
  });

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "model-check-"));
after(() => fs.rmSync(folder, { recursive: true }));

/** Opens a file that is too large to pass through the driver. */
async function openFile(page: Page, name: string, bytes: Uint8Array): Promise<void> {
  const file = path.join(folder, name);
  fs.writeFileSync(file, bytes);
  const open = page.getByRole("button", { name: "Open", exact: true });
  if (!(await open.isVisible())) await page.locator(".bar .more").click();
  await open.click();
  await page.setInputFiles("input[type=file]", file);
}

test("of a call that is too large to show, the part around the first wrong cell runs again", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  await drop(page, "body", [{ name: "large.onnx", bytes: largeModel(40_000) }]);
  await ask(page);
  const [row] = await rowsOf(page);
  assert.match(row, /1 of 40,000 cells differs; .*lost\[39998\] is 39999, expected NaN/);
  await strip(page).getByText("lose is too large to show, so this is a part of it").waitFor();
  await page
    .locator(".why")
    .getByText(/^1 of \d+ cells differs\.$/)
    .waitFor();
  assert.ok((await cellsOf(page, 2)).includes("39999"));
});

test("a model of 70 MB shows its progress, is canceled at once, and runs again", async (t) => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  await openFile(page, "heavy.onnx", heavyModel(70 * 2 ** 20));
  // A fast machine shows a step for less time than the driver needs to look, or takes it between two messages.
  await page.evaluate(() => {
    const seen = new Set<string>();
    Reflect.set(window, "seen", seen);
    const look = (): void => {
      const text = document.querySelector(".model-check")?.textContent ?? "";
      const steps = /Loading the runtime|Reading [\d.]+ of 73\.4 MB|Running the model|Node \d/;
      for (const [step] of [steps.exec(text)].filter((one) => one !== null)) seen.add(step);
    };
    new MutationObserver(look).observe(document.body, {
      ...{ subtree: true, childList: true, characterData: true },
    });
  });
  await ask(page);
  await page.getByRole("button", { name: "Cancel" }).click();
  await strip(page).getByText("Canceled.").waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Check again");
  await page.evaluate(() => {
    const long: number[] = [];
    Reflect.set(window, "long", long);
    const observer = new PerformanceObserver((list) =>
      long.push(...list.getEntries().map(({ duration }) => duration)),
    );
    observer.observe({ type: "longtask" });
  });
  await page.getByRole("button", { name: "Check again" }).click();
  assert.deepEqual(wordsOf(await rowsOf(page)), ["equal Gather-13 take"]);
  const seen = await page.evaluate(() => [...Reflect.get(window, "seen")]);
  assert.equal(seen[0], "Loading the runtime");
  assert.ok(seen.length > 1, "only the start was shown");
  const long = await page.evaluate(() => Reflect.get(window, "long"));
  t.diagnostic(`tasks of the page over 50 ms: ${long.map(Math.round).join(", ") || "none"}`);
  await page.getByRole("button", { name: "show take" }).click();
  await strip(page).getByText("take is too large to show, so this is a part of it.").waitFor();
  assert.deepEqual(await cellsOf(page, 1), ["1", "0"]);
  await page.workers()[0].evaluate(() => {
    Object.getPrototypeOf(Uint8Array.prototype).set = () => {
      throw new RangeError("Array buffer allocation failed");
    };
  });
  await page.getByRole("button", { name: "show take" }).click();
  const refusal = /its inputs were not kept, to save memory, and cannot be read again: .* fit/;
  await strip(page).getByRole("alert").filter({ hasText: refusal }).waitFor();
  await page.getByRole("button", { name: "Nodes" }).click();
  await strip(page).getByRole("status").filter({ hasText: refusal }).waitFor();
});

for (const file of [/ort-wasm/, /assets\/worker-/])
  test(`if ${file} cannot be loaded, one sentence says so, and the next check loads the file`, async () => {
    await using opened = await site.open(SUM);
    const { page, wrongs } = opened;
    await page.context().route(file, (route) => route.abort());
    await drop(page, "body", [{ name: "unknown.onnx", bytes: unknownModel() }]);
    await ask(page, "strip");
    const status = strip(page).getByRole("status");
    await strip(page).getByRole("button", { name: "Check again" }).waitFor();
    assert.equal(
      await status.innerText(),
      "unknown.onnx The runtime could not be loaded; check the connection, then check again.",
    );
    assert.equal(await page.locator(".model-nodes").count(), 0);
    await page.context().unroute(file);
    await strip(page).getByRole("button", { name: "Check again" }).click();
    assert.deepEqual(wordsOf(await rowsOf(page)), ["equal Gather-13 take"]);
    wrongs.length = 0;
  });

test("while a cure is searched for, the list is shown with progress and Cancel", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  await page.evaluate(() => {
    const bare: string[] = [];
    Reflect.set(window, "bare", bare);
    const look = (): void => {
      const text = document.querySelector(".model-check")?.textContent ?? "";
      const isDone = text.includes("Cure: ") || document.querySelector(".model-nodes") === null;
      if (!isDone && document.querySelector(".model-check progress") === null) bare.push(text);
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true });
  });
  await drop(page, "body", [{ name: "mixed.onnx", bytes: mixedModel() }]);
  await ask(page);
  await strip(page)
    .getByText(/^Cure: /)
    .waitFor();
  assert.deepEqual(await page.evaluate(() => Reflect.get(window, "bare")), []);
});

test("a model without a scatter or gather is not offered to be run, and a phone says what it cannot hold", async () => {
  await using opened = await site.open(SUM, PHONE);
  const { page } = opened;
  await drop(page, "body", [{ name: "plain.onnx", bytes: plainModel() }]);
  await page
    .locator(".said")
    .getByText(/the model has no scatter or gather/)
    .waitFor();
  assert.equal(await strip(page).count(), 0);
  await page.evaluate(() => Object.defineProperty(navigator, "deviceMemory", { value: 0.5 }));
  await openFile(page, "heavy.onnx", heavyModel(70 * 2 ** 20));
  await ask(page);
  await strip(page)
    .getByText(
      "The model has 73 MB, but a device with 0.5 GB of memory can hold models of up to 67 MB.",
    )
    .waitFor();
  assert.equal(page.workers().length, 0);
});
