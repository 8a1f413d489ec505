/** Small screens: what each entry of the menu opens can be used and closed, and leaves nothing inert behind it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "ndscatter";
import { writeNpy } from "ndscatter/npy";
import type { Locator, Page } from "playwright-core";
import { hiderOf } from "./support/access.ts";
import { cellsOf, SUM, useSite } from "./support/page.ts";
import { sampleOf } from "./support/sample.ts";

const site = useSite();

/** A phone, a phone on its side, and a window of 1600 pixels at a zoom of 200 %. */
const SCREENS = [
  { width: 390, height: 844 },
  { width: 844, height: 390 },
  { width: 800, height: 450 },
];

const menu = (page: Page): Locator => page.locator(".bar .more");

/** Taps ☰, then an entry. */
async function choose(page: Page, entry: string): Promise<void> {
  await menu(page).tap();
  await page.locator("#actions").getByText(entry, { exact: true }).tap();
}

/** The dialog that is open: all of it is on the screen, and it is modal. */
async function dialogOf(page: Page): Promise<Locator> {
  const dialog = page.locator("dialog:modal");
  const box = await dialog.boundingBox();
  const { width = 0, height = 0 } = page.viewportSize() ?? {};
  assert.ok(box !== null && box.width > 200 && box.height > 100, JSON.stringify(box));
  assert.ok(box.x >= 0 && box.x + box.width <= width, JSON.stringify(box));
  assert.ok(box.y >= 0 && box.y + box.height <= height, JSON.stringify(box));
  return dialog;
}

/** Nothing is modal, the focus is where the visitor was, and a tap reaches a cell. */
async function checkFree(page: Page): Promise<void> {
  assert.equal(await page.locator("dialog[open]").count(), 0);
  assert.equal(await menu(page).evaluate((one) => one === document.activeElement), true);
  const cell = page.locator("#cell-1-0");
  await cell.tap();
  assert.equal(await cell.evaluate((one) => one === document.activeElement), true);
}

/** What a visitor does with each entry. */
const VISITS: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  "Examples, Share and Help are closed in every way": async (page) => {
    const ways: readonly ((dialog: Locator) => Promise<void>)[] = [
      () => page.keyboard.press("Escape"),
      (dialog) => dialog.getByRole("button", { name: "close" }).tap(),
      // Beside it.
      () => page.touchscreen.tap(3, 3),
    ];
    for (const entry of ["Examples", "Share", "?"]) {
      for (const close of ways) {
        await choose(page, entry);
        await close(await dialogOf(page));
        await page.locator("dialog[open]").waitFor({ state: "detached" });
        await checkFree(page);
      }
    }
  },
  "an example is searched for and chosen": async (page) => {
    await page.locator(".sentence .operator").selectOption("ai.onnx/Gather");
    await choose(page, "Examples");
    const dialog = await dialogOf(page);
    await dialog.locator("input[type=search]").tap();
    await page.keyboard.type("rows added");
    await dialog.locator("[data-example=first]").tap();
    await checkFree(page);
    assert.equal(await page.locator(".title-line h2").innerText(), "Where did my row go?");
  },
  "the call is given as code": async (page) => {
    await choose(page, "Share");
    const dialog = await dialogOf(page);
    await dialog.getByRole("button", { name: "NumPy" }).tap();
    assert.match(await dialog.locator("textarea").inputValue(), /import numpy/);
    await page.keyboard.press("Escape");
    await checkFree(page);
  },
  "Help changes the colours": async (page) => {
    await choose(page, "?");
    await (await dialogOf(page)).locator("select").selectOption("dark");
    await page.keyboard.press("Escape");
    await checkFree(page);
    assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
  },
  "a file is opened, becomes an input, and is undone and done again": async (page) => {
    await choose(page, "Open");
    const choosing = page.getByRole("button", { name: "Choose files" });
    const [chooser] = await Promise.all([page.waitForEvent("filechooser"), choosing.click()]);
    const bytes = writeNpy(tensor("float32", [2], [100, 200]));
    await chooser.setFiles({
      name: "data.npy",
      mimeType: "application/octet-stream",
      buffer: Buffer.from(bytes),
    });
    const button = page.locator("dialog:modal").getByRole("button", { name: "data" });
    await button.waitFor();
    await dialogOf(page);
    await button.tap();
    await checkFree(page);
    assert.deepEqual(await cellsOf(page, 0), ["100", "200"]);
    // The menu stays open for more than one step.
    await menu(page).tap();
    await page.getByRole("button", { name: "undo" }).tap();
    assert.equal((await cellsOf(page, 0)).length, 12);
    await page.getByRole("button", { name: "redo" }).tap();
    assert.deepEqual(await cellsOf(page, 0), ["100", "200"]);
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("#actions").isVisible(), false);
    await checkFree(page);
  },
  "another result is compared": async (page) => {
    await choose(page, "Compare");
    const panel = page.locator(".why");
    await panel.locator("textarea").fill("[[0,0,0],[0,0,0],[0,0,0],[0,0,0]]");
    await panel.getByRole("button", { name: "Compare" }).tap();
    await panel.locator(".why-verdict").waitFor();
    // The first cell that differs, and its story, are seen beside the panel.
    for (const seen of ["#cell-output-3.other", ".story .result"])
      assert.equal(await page.locator(seen).first().evaluate(hiderOf), "");
    await panel.getByRole("button", { name: "Close" }).tap();
    await panel.waitFor({ state: "detached" });
    await checkFree(page);
  },
  "Docs leads to the reference": async (page) => {
    await choose(page, "Docs");
    await page.waitForURL(/\/reference\/$/);
  },
};

for (const viewport of sampleOf(SCREENS, SCREENS.length)) {
  test(`at ${viewport.width} × ${viewport.height} the menu opens what can be used`, async (t) => {
    for (const [name, visit] of Object.entries(VISITS)) {
      await t.test(name, async () => {
        await using opened = await site.open(SUM, { viewport, hasTouch: true });
        opened.page.setDefaultTimeout(5000);
        await visit(opened.page);
      });
    }
  });
}

test("on a small screen ? shows the help, and gives the focus back to the cell", async () => {
  await using opened = await site.open(SUM, { viewport: SCREENS[0] });
  const { page } = opened;
  await page.focus("#cell-0-0");
  await page.keyboard.press("?");
  await (await dialogOf(page)).locator(".help").waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => document.activeElement?.id), "cell-0-0");
});

test("files that are dragged over a small screen are welcomed", async () => {
  await using opened = await site.open(SUM, { viewport: SCREENS[0] });
  const { page } = opened;
  const dataTransfer = await page.evaluateHandle(() => {
    const data = new DataTransfer();
    data.items.add(new File(["1"], "data.npy"));
    return data;
  });
  await page.dispatchEvent("body", "dragover", { dataTransfer });
  await page.locator(".drop-here").waitFor();
});

for (const viewport of [SCREENS[0], { width: 1280, height: 900 }]) {
  test(`Back closes what is open, at a width of ${viewport.width}`, async (t) => {
    await using opened = await site.open(SUM, { viewport });
    const { page } = opened;
    const before = await cellsOf(page, 0);
    const openers: Readonly<Record<string, () => Promise<void>>> = {
      "the tensor as text": () =>
        viewport.width < 900
          ? page.locator('[data-tensor="1"] .short').click()
          : page.getByRole("button", { name: "indices as text" }).click(),
      Help: () => page.keyboard.press("?"),
    };
    for (const [name, open] of Object.entries(openers)) {
      await t.test(name, async () => {
        await page.locator(".sentence .operator").selectOption("ai.onnx/GatherElements");
        await page.locator("h2", { hasText: "updates" }).waitFor({ state: "detached" });
        await open();
        await page.locator("dialog:modal").waitFor();
        await page.goBack();
        await page.locator("dialog[open]").waitFor({ state: "detached" });
        assert.deepEqual(await cellsOf(page, 0), before);
      });
    }
  });
}

test("a dialog whose opener is gone leaves the focus in the page", async () => {
  const hash = "ai.onnx/TensorScatter/24;float32:1,2,2:0*4;float32:1,1,2:5,6;int64:1:1";
  await using opened = await site.open(hash, { viewport: SCREENS[0] });
  const { page } = opened;
  await page.locator('[data-tensor="2"] .short').click();
  await page.getByRole("button", { name: "leave out" }).click();
  await page.locator("dialog[open]").waitFor({ state: "detached" });
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), "MAIN");
});

test("a press in the border of a dialog, or on its text, does not close it", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  await page.getByRole("button", { name: "Share" }).click();
  const dialog = page.locator("dialog:modal");
  const text = await dialog.locator("textarea").boundingBox();
  const box = await dialog.boundingBox();
  assert.ok(text !== null && box !== null);
  await page.mouse.click(box.x + 6, box.y + 6);
  // A text is selected by a drag that ends beside the dialog.
  await page.mouse.move(text.x + 40, text.y + 20);
  await page.mouse.down();
  await page.mouse.move(5, 5);
  await page.mouse.up();
  assert.equal(await dialog.count(), 1);
  await page.mouse.click(5, 5);
  assert.equal(await dialog.count(), 0);
});

test("a closed story ends with a whole line, and of several errors a fix is in sight", async () => {
  const wrong = SUM.replace("1,-1,1", "9223372036854775807,-9,1");
  for (const hash of [SUM, wrong]) {
    await using opened = await site.open(hash, { viewport: SCREENS[0] });
    const { page } = opened;
    const fix = page.getByRole("button", { name: "clamp all 2" });
    if (hash === wrong) await fix.waitFor();
    const cut = await page.locator("aside").evaluate((aside) => {
      const range = document.createRange();
      range.selectNodeContents(aside.querySelector(".story") ?? aside);
      const end = aside.getBoundingClientRect().top + aside.clientTop + aside.clientHeight;
      return [...range.getClientRects()].filter(
        ({ top, bottom, height }) => height < 25 && top < end - 1 && bottom > end + 3,
      ).length;
    });
    assert.equal(cut, 0);
    if (hash === wrong) assert.equal(await fix.evaluate(hiderOf), "");
  }
});

test("the opened story is no taller than its text, so the cells above it stay in sight", async () => {
  await using opened = await site.open(SUM, {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
  });
  const { page } = opened;
  await page.getByLabel("more of the story").tap();
  const empty = await page.locator("aside.open").evaluate((aside) => {
    const { bottom } = aside.getBoundingClientRect();
    const last = Math.max(
      ...[...aside.querySelectorAll(".story, .shapes")].map(
        (one) => one.getBoundingClientRect().bottom,
      ),
    );
    return bottom - last;
  });
  assert.ok(empty >= 0 && empty < 24, String(empty));
});
