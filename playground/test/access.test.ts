/**
 * The page and its site for everyone, in each of their states: what axe finds in both themes, the size of targets, what is
 * left of the page at 200 % and 400 %, and that nothing moves where people ask for stillness.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { cutControls, moving, sidewaysParts, smallTargets } from "./support/access.ts";
import { violationsOf } from "./support/axe.ts";
import { DIST, loaded, PHONE, SUM, useSite } from "./support/page.ts";
import { sampleOf } from "./support/sample.ts";
import { LARGE, RANK_4 } from "./support/states.ts";

const site = useSite();

const ERROR = "ai.onnx/ScatterND/18;reduction=add;float32:4,3:0*12;int64:3,1:1,7,1;float32:3,3:1*9";
/** An operator whose bar is as long as bars become. */
const LONG = [
  "openvino/ScatterElementsUpdate/12",
  "reduction=mean;use_init_val=false",
  "float32:3,3:0*9;int64:2,3:1,0,2,0,2,1;float32:2,3:1,1.1,1.2,2,2.1,2.2;int64::0",
].join(";");

interface State {
  readonly hash?: string;
  readonly file?: string;
  /** What a visitor does to come to the state. */
  reach?(page: Page): Promise<void>;
}

/** Opens an entry of the bar, which narrow pages keep behind a button. */
const entry =
  (name: string) =>
  async (page: Page): Promise<void> => {
    const more = page.locator(".bar .more");
    if (await more.isVisible()) await more.click();
    await page.locator(".bar .actions").getByRole("button", { name, exact: true }).click();
    await loaded(page);
  };

const STATES: Readonly<Record<string, State>> = {
  start: {},
  "a gather": { hash: "ai.onnx/GatherND/13;int32:2,2:0,1,2,3;int64:3,1:1,-2,1" },
  "rank 4": { hash: RANK_4 },
  "rank 0": { hash: "ai.onnx/ScatterND/18;float64::1;int64:2,0:;float64:2:5,6" },
  "no elements": { hash: "ai.onnx/GatherElements/13;float32:0,3:;int64:0,3:" },
  "an optional input": { hash: "ai.onnx/TensorScatter/24;float32:1,2,2:0*4;float32:1,1,2:5,6;-" },
  "wrong elements": { hash: "ai.onnx/ScatterND/18;float32:2:1,2;int64:2,1:5,-9;float32:2:3,x" },
  "wrong updates": {
    hash: "ai.onnx/ScatterND/18;float32:2,2:0*4;int64:1,1:0;float32:1,3:1,2,3",
  },
  "a wrong attribute": { hash: "ai.onnx/GatherElements/13;axis=7;float32:1:1;int64:1:0" },
  "64 × 64": { hash: LARGE },
  "an error": { hash: ERROR },
  // The output would have 1,000,000 elements.
  "an error of the whole call": {
    hash: "ai.onnx/GatherND/13;float32:1,1000:0*1000;int64:1000,1:0*1000",
  },
  "a remark on a version": {
    hash: SUM,
    reach: async (page) => {
      await page.getByLabel("version", { exact: true }).last().selectOption("11");
      await page.locator(".said p").waitFor();
    },
  },
  "a long bar": { hash: LONG },
  "a story": {
    hash: SUM,
    reach: async (page) => {
      await page.focus("#cell-output-4");
      const more = page.locator(".opener");
      if (await more.isVisible()) await more.click();
    },
  },
  examples: { hash: SUM, reach: entry("Examples") },
  share: { hash: SUM, reach: entry("Share") },
  help: { hash: SUM, reach: entry("Help") },
  why: { hash: SUM, reach: entry("Compare") },
  "why, with an answer": {
    hash: SUM.replace("reduction=add;", ""),
    reach: async (page) => {
      await entry("Compare")(page);
      const panel = page.locator(".why");
      // The first update of row 1 has won.
      await panel.locator("textarea").fill("[[0,0,0],[10,20,30],[2,2,2],[40,50,60]]");
      await panel.getByRole("button", { name: "Compare" }).click();
      await page.locator("#cell-output-3.other").waitFor();
    },
  },
  "a tensor as text": { hash: SUM, reach: openText },
  "a text that is no tensor": {
    hash: SUM,
    reach: async (page) => {
      await openText(page);
      await page.locator("dialog[open] textarea").fill("[[1, 2], [3]]");
      await page.getByRole("button", { name: "apply" }).click();
      await page.locator("#text-error").waitFor();
    },
  },
  "a link that cannot be read": { hash: "ai.onnx/ScatterND/18;reduction" },
  embed: { hash: SUM, file: "?embed=1" },
  "an error in a frame": { hash: ERROR, file: "?embed=1" },
  "all operators": { file: "reference/index.html" },
  "an operator": { file: "reference/openvino-gather.html" },
  "an operator, unfolded": { file: "reference/onnx-tensorscatter.html", reach: unfold },
  "all documents": { file: "docs/index.html" },
  "a document": { file: "docs/arrays/zarr.html" },
  "a document of tables": { file: "reference/other-systems.html", reach: unfold },
  "all entries": { file: "api/index.html" },
  "an entry, unfolded": { file: "api/webgpu.html", reach: unfold },
  "a search without a result": {
    file: "docs/readme.html",
    reach: async (page) => {
      await page.keyboard.press("/");
      await page.keyboard.type("zzzz");
      await page.waitForTimeout(300);
    },
  },
  search: {
    file: "docs/readme.html",
    reach: async (page) => {
      await page.keyboard.press("/");
      await page.keyboard.type("reduction");
      await page.locator("[role=option]").first().waitFor();
    },
  },
};

async function openText(page: Page): Promise<void> {
  await page
    .locator('[data-tensor="2"] header :is(.short, [aria-label="updates as text"])')
    .click();
  await page.locator("dialog[open] textarea").waitFor();
}

async function unfold(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const one of document.querySelectorAll<HTMLDetailsElement>("details.fold")) {
      one.open = true;
    }
  });
}

/** Runs in the page. */
async function threeFrames(): Promise<void> {
  for (let frame = 0; frame < 3; frame++) {
    // oxlint-disable-next-line no-await-in-loop -- one frame after the other
    await new Promise((resolve) => void requestAnimationFrame(resolve));
  }
}

const openState = async ({ hash = "", file = "", reach }: State, options: object) => {
  const opened = await site.open(hash, { reducedMotion: "reduce", ...options }, file);
  await reach?.(opened.page);
  return opened;
};

/** A phone, and what is left of 1280 × 1024 pixels at 200 % and at 400 %. */
const ZOOMED = [
  { width: 390, height: 844 },
  { width: 640, height: 512 },
  { width: 320, height: 256 },
] as const;

for (const [name, state] of Object.entries(STATES)) {
  test(`axe finds nothing in ${name}, in both themes, and no target is small`, async () => {
    await using opened = await openState(state, { colorScheme: "light" });
    const { page } = opened;
    assert.deepEqual(await violationsOf(page), [], "light");
    assert.deepEqual(await page.evaluate(smallTargets), []);
    assert.equal(await page.locator("h1").count(), 1);
    await page.emulateMedia({ colorScheme: "dark" });
    assert.deepEqual(await violationsOf(page), [], "dark");
    await page.setViewportSize({ width: 3840, height: 2160 });
    await page.evaluate(threeFrames);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 3840, `${width}`);
  });

  test(`on a phone axe finds nothing in ${name}, and at 200 % and 400 % nothing is cut off or small`, async () => {
    await using opened = await openState(state, PHONE);
    const { page } = opened;
    assert.deepEqual(await violationsOf(page), []);
    for (const viewport of ZOOMED) {
      await page.setViewportSize(viewport);
      // The layout follows the size in the same or in the next frame; a busy machine draws frames late.
      await page.evaluate(threeFrames);
      const at = `${viewport.width}`;
      assert.deepEqual(await page.evaluate(sidewaysParts), [], at);
      assert.deepEqual(await page.evaluate(cutControls), [], at);
      assert.deepEqual(await page.evaluate(smallTargets), [], at);
    }
  });
}

for (const [size, options] of [
  ["a desktop", {}],
  ["a phone", PHONE],
] as const) {
  test(`axe finds nothing in each form to share on ${size}, in both themes`, async () => {
    await using opened = await openState(STATES["share"], options);
    const { page } = opened;
    for (const form of ["Link", "Embed", "Markdown", "TypeScript", "NumPy", "PyTorch"]) {
      await page.getByRole("button", { name: form, exact: true }).click();
      // The part behind a tab is drawn in the next frame.
      await page.waitForTimeout(50);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        assert.deepEqual(await violationsOf(page), [], `${form} ${colorScheme}`);
      }
      for (const wrongs of [smallTargets, sidewaysParts, cutControls]) {
        assert.deepEqual(await page.evaluate(wrongs), [], form);
      }
    }
  });
}

test("axe finds nothing on any page of the site, in both themes", async (t) => {
  const files = fs
    .readdirSync(DIST, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".html") && file !== "index.html");
  assert.ok(files.length > 50);
  await using opened = await site.open("", { reducedMotion: "reduce" }, files[0]);
  const { page } = opened;
  const base = page.url().slice(0, -files[0].length);
  for (const file of sampleOf(files, 8)) {
    await t.test(file, async () => {
      await page.goto(base + file);
      await unfold(page);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        assert.deepEqual(await violationsOf(page), [], colorScheme);
      }
    });
  }
});

/** Plays two steps by keys, and says what was animated. */
async function animated(page: Page): Promise<string[]> {
  await page.evaluate(() => {
    const { animate } = Element.prototype;
    Reflect.set(window, "seen", []);
    Element.prototype.animate = function (...args) {
      Reflect.get(window, "seen").push(this.tagName);
      return animate.apply(this, args);
    };
  });
  await page.focus(".player input[type=range]");
  for (const shown of ["1 of 3 updates", "2 of 3 updates"]) {
    await page.keyboard.press("ArrowRight");
    await page.locator(".player output", { hasText: shown }).waitFor();
  }
  return page.evaluate(() => Reflect.get(window, "seen"));
}

test("values travel while a call is played, and nothing moves for those who ask for stillness", async () => {
  {
    await using opened = await site.open(SUM, { reducedMotion: "no-preference" });
    // The first step begins anew, so nothing travels; the second brings the three values of a row.
    assert.deepEqual(await animated(opened.page), ["SPAN", "SPAN", "SPAN"]);
  }
  await using opened = await openState({ hash: SUM }, {});
  assert.deepEqual(await animated(opened.page), []);
  assert.deepEqual(await opened.page.evaluate(moving), []);
});

test("nothing moves by itself in pages and dialogs", async () => {
  for (const name of ["start", "share", "search", "an operator"]) {
    await using opened = await openState(STATES[name], {});
    assert.deepEqual(await opened.page.evaluate(moving), [], name);
  }
});
