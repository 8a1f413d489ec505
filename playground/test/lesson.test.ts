/** The lesson of a first visit: what it drives, how it ends, and who does not get it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { cellsOf, PHONE, SUM, useSite } from "./support/page.ts";

const site = useSite();

const sentence = (page: Page): Promise<string> => page.locator(".lesson-sentence").innerText();
const isOn = async (page: Page): Promise<boolean> => (await page.locator(".lesson").count()) > 0;
/** By the role of a table, the rows of cells that are within its frames. */
const framed = (page: Page): Promise<Record<string, string>> =>
  page.evaluate(() => {
    const found: Record<string, string> = {};
    for (const lane of document.querySelectorAll(".lane")) {
      const frames = [...lane.querySelectorAll(".frame")].map((one) => one.getBoundingClientRect());
      const rows = [...lane.querySelectorAll("tbody tr")].flatMap((row, number) => {
        const cells = [...row.querySelectorAll("td[data-element]")];
        const isWithin = (cell: Element): boolean => {
          const { left, right, top, bottom } = cell.getBoundingClientRect();
          const [x, y] = [(left + right) / 2, (top + bottom) / 2];
          return frames.some(
            (box) => x > box.left && x < box.right && y > box.top && y < box.bottom,
          );
        };
        const count = cells.filter(isWithin).length;
        return count === 0 ? [] : [`${number}${count === cells.length ? "" : "?"}`];
      });
      found[lane.className.replace("lane ", "")] = rows.join(" ");
    }
    return found;
  });
const begun = (page: Page): Promise<void> =>
  page
    .getByText(/^The tuple A/)
    .first()
    .waitFor();

test("a first visit begins with four steps that drive the picture", async () => {
  await using opened = await site.open("", { reducedMotion: "reduce" });
  const { page } = opened;
  await begun(page);
  assert.equal(
    await sentence(page),
    "The tuple A = [1] in indices is an address: it names row 1 of data.",
  );
  assert.deepEqual(await framed(page), { indices: "0", updates: "", data: "1", output: "" });
  assert.deepEqual(await cellsOf(page, "output"), await cellsOf(page, 0));
  assert.equal(await page.locator("#aloud").innerText(), await sentence(page));
  // It is heard from the status line, so nothing else of it is announced.
  assert.equal(
    await page.locator(".lesson").locator("[role=status], [role=alert], [aria-live]").count(),
    0,
  );
  const next = page.getByRole("button", { name: "Next" });
  await next.click();
  assert.match(await sentence(page), /1 \+ 10 = 11/);
  assert.deepEqual((await cellsOf(page, "output")).slice(3, 6), ["11", "21", "31"]);
  assert.deepEqual(await framed(page), { indices: "", updates: "0", data: "", output: "1" });
  await next.click();
  assert.deepEqual(await framed(page), { indices: "", updates: "", data: "0 2", output: "0 2" });
  await next.click();
  assert.match(
    await sentence(page),
    /A and C both name row 1: add keeps both, so its first cell ends as 81/,
  );
  assert.deepEqual((await cellsOf(page, "output")).slice(3, 6), ["81", "101", "121"]);
  assert.deepEqual(await framed(page), { indices: "0 2", updates: "0 2", data: "", output: "1" });
  await page.getByRole("button", { name: "Done" }).click();
  await page.locator(".lesson").waitFor({ state: "detached" });
  assert.equal(await page.locator(".frame").count(), 0);
});

test("arrows go through the steps, Escape ends them, and the focus goes where they begin again", async () => {
  await using opened = await site.open("", { reducedMotion: "reduce" });
  const { page } = opened;
  await begun(page);
  await page.keyboard.press("ArrowRight");
  assert.match(await sentence(page), /^updates/);
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  assert.match(await sentence(page), /^The tuple A/);
  await page.getByRole("button", { name: "Next" }).focus();
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.activeElement?.id === "lesson-opener");
  assert.equal(await isOn(page), false);
  await page.keyboard.press("Enter");
  await begun(page);
  // The opener is gone, and Enter goes on.
  await page.waitForFunction(() => document.activeElement?.id === "lesson-next");
  await page.keyboard.press("Enter");
  assert.match(await sentence(page), /^updates/);
});

for (const viewport of [
  { width: 1440, height: 900 },
  { width: 1024, height: 768 },
  { width: 800, height: 600 },
  { width: 390, height: 844 },
]) {
  test(`the buttons of a lesson stay under the pointer from step to step, ${viewport.width} pixels wide`, async () => {
    await using opened = await site.open("", { viewport, reducedMotion: "reduce" });
    const { page } = opened;
    await begun(page);
    const box = await page.getByRole("button", { name: "Next" }).boundingBox();
    assert.ok(box !== null);
    for (const begins of [/^updates/, /^No tuple/, /^A and C/]) {
      await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
      assert.match(await sentence(page), begins);
    }
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    await page.locator(".lesson").waitFor({ state: "detached" });
  });
}

test("an example that is opened is heard", async () => {
  await using opened = await site.open("", { reducedMotion: "reduce" });
  const { page } = opened;
  await page.getByRole("button", { name: "Examples" }).click();
  await page.getByRole("button", { name: /Why did only one update survive/ }).click();
  await page
    .locator("#aloud")
    .getByText("Why did only one update survive? Three updates write row 1.")
    .waitFor({ state: "attached" });
});

for (const [name, leave] of [
  ["an edit", (page: Page) => page.getByLabel("reduction").selectOption("max")],
  ["the player", (page: Page) => page.locator(".play").click()],
  ["Skip", (page: Page) => page.getByRole("button", { name: "Skip" }).click()],
] as const) {
  test(`${name} ends the lesson`, async () => {
    await using opened = await site.open();
    const { page } = opened;
    await begun(page);
    await leave(page);
    await page.locator(".lesson").waitFor({ state: "detached" });
    assert.ok(await page.locator(".title-line h2").innerText());
  });
}

test("a second visit, a link and a frame begin without a lesson; Help has one for each kind", async () => {
  await using opened = await site.open();
  const { page } = opened;
  await begun(page);
  await page.goto(page.url().replace(/#.*/, ""));
  await page.locator("td[data-element]").first().waitFor();
  assert.equal(await isOn(page), false);
  for (const [title, first] of [
    ["Gather", /^The tuple A = \[2\]/],
    ["Elements", /^The index A = 2 .*part of an address/],
    ["Batches", /in batch 0/],
    ["Scatter", /^The tuple A = \[1\]/],
  ] as const) {
    await page.getByRole("button", { name: "Help" }).click();
    await page.locator("dialog[open]").getByRole("button", { name: title, exact: true }).click();
    await page.locator(".lesson-sentence").getByText(first).waitFor();
  }
  await using linked = await site.open(SUM);
  assert.equal(await isOn(linked.page), false);
});

test("a phone has the sentence, its buttons and the tuple on the first screen", async () => {
  await using opened = await site.open("", PHONE);
  const { page } = opened;
  await begun(page);
  for (const wanted of [".lesson-sentence", ".lesson-ways .main", "#cell-1-0", "#cell-output-3"]) {
    const box = await page.locator(wanted).boundingBox();
    assert.ok(box !== null && box.y >= 48 && box.y + box.height <= 716, wanted);
  }
  // The last step has the ways to the other lessons besides, and they fit, too.
  for (let step = 0; step < 4; step++) {
    const over = await page.$$eval(".lesson, .lesson *", (parts) =>
      Math.max(...parts.map((part) => part.getBoundingClientRect().right)),
    );
    assert.ok(over <= 390, `${over} at step ${step}`);
    if (step < 3) await page.getByRole("button", { name: "Next" }).tap();
  }
});
