/** Low and narrow screens, print, and the space that the picture gets. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { SUM, useSite } from "./support/page.ts";

const site = useSite();

const SIZES = [
  [640, 360],
  [915, 412],
  [1024, 400],
  [1366, 400],
  [320, 568],
  [1280, 320],
] as const;

/** Tables that are cut off although nothing scrolls to the rest, or that scroll without a sign of it. */
const lostIn = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const lost: string[] = [];
    const middle = document.querySelector(".middle");
    if (middle === null) return ["no stage"];
    for (const box of document.querySelectorAll<HTMLElement>(".lane .scroller")) {
      const name = box.closest(".tensor")?.getAttribute("aria-label") ?? "";
      const { overflowX, overflowY, maskImage } = getComputedStyle(box);
      const isScrolled = (overflow: string) => overflow === "auto" || overflow === "scroll";
      const [isWide, isHigh] = [
        box.scrollWidth > box.clientWidth + 1,
        box.scrollHeight > box.clientHeight + 1,
      ];
      if ((isWide && !isScrolled(overflowX)) || (isHigh && !isScrolled(overflowY)))
        lost.push(`${name} is cut off`);
      const fades = ["--below", "--right"].map((one) => box.style.getPropertyValue(one));
      if ((isHigh && fades[0] === "0px") || (isWide && fades[1] === "0px"))
        lost.push(`${name} does not fade`);
      if ((isWide || isHigh) && maskImage === "none") lost.push(`${name} has no mask`);
    }
    // On a wide page, the whole example is drawn, and the page scrolls.
    const isWide = !document.documentElement.classList.contains("small");
    if (isWide && document.querySelector(".lane .window") !== null) lost.push("rows are hidden");
    const heights = [...document.querySelectorAll(".lane table")].map((one) => one.clientHeight);
    if (middle.clientHeight < Math.max(...heights) / 2) lost.push("the stage is too low");
    if (!getComputedStyle(middle).backgroundImage.includes("gradient")) lost.push("no shadow");
    if (getComputedStyle(middle).overflowY !== "auto") lost.push("the stage does not scroll");
    return lost;
  });

for (const [width, height] of SIZES) {
  test(`at ${width} × ${height} everything can be reached, and one sees that there is more`, async () => {
    for (const hash of ["", SUM]) {
      await using opened = await site.open(hash, { viewport: { width, height } });
      const { page } = opened;
      assert.deepEqual(await lostIn(page), []);
      const last = page.locator('[data-tensor="output"] td[data-element]').last();
      await last.focus();
      const box = await last.boundingBox();
      assert.ok(box !== null && box.y >= 0 && box.y + box.height <= height, JSON.stringify(box));
      const isOnTop = await last.evaluate((cell) => {
        const { left, top, width: w, height: h } = cell.getBoundingClientRect();
        return cell.contains(document.elementFromPoint(left + w / 2, top + h / 2));
      });
      assert.ok(isOnTop, "the last cell is covered");
    }
  });
}

test("at 1440 × 900 the tables get half of the height", async () => {
  await using opened = await site.open("", { viewport: { width: 1440, height: 900 } });
  const heights = await opened.page.$$eval(".lane table", (all) =>
    all.map((one) => one.getBoundingClientRect().height),
  );
  assert.ok(Math.max(...heights) >= 450, heights.join());
});

for (const viewport of [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
]) {
  test(`the first edit, which changes the title, does not move the picture, ${viewport.width} pixels wide`, async () => {
    await using opened = await site.open("", { viewport });
    const { page } = opened;
    const top = () => page.locator("#cell-0-0").evaluate((one) => one.getBoundingClientRect().top);
    const before = await top();
    await page.click("#cell-0-0");
    await page.keyboard.type("5");
    await page.keyboard.press("Enter");
    await page.locator("h2", { hasText: "Row 1 gets two updates; add keeps both." }).waitFor();
    assert.equal(await top(), before);
  });
}

test("on paper there are the whole picture and the story, on a light page without controls", async () => {
  await using opened = await site.open(SUM, { colorScheme: "dark" });
  const { page } = opened;
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  await page.waitForFunction(
    () => document.querySelectorAll('[data-tensor="output"] td[data-element]').length === 12,
  );
  assert.equal(await page.locator(".bar, .player, .ways").first().isVisible(), false);
  assert.ok(await page.locator(".story").isVisible());
  const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(paper, "rgb(246, 247, 249)");
});
