/** The picture: where tables and lines stand, over all examples, and that an edit moves nothing. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { toHash } from "../src/document/hash.ts";
import { PRESETS } from "../src/examples/presets.ts";
import {
  crampedParts,
  misplacedIn,
  missingIn,
  pictureOf,
  type Picture,
  type Size,
} from "./support/measure.ts";
import { cellsOf, showState, SUM, useSite } from "./support/page.ts";
import { sampleOf } from "./support/sample.ts";

const site = useSite();

const measure = (page: Page): Promise<Picture> => page.evaluate(pictureOf, null);

/** A check of the example that the page shows. */
type Check = (page: Page, viewport: Size, preset: (typeof PRESETS)[number]) => Promise<void>;

const CHECKS = {
  "the output stands beside data, and no line crosses a cell": async (page, viewport) => {
    assert.deepEqual(misplacedIn(await measure(page), viewport), []);
  },
  "nothing is cut off, and no label touches another": async (page) => {
    assert.deepEqual(await page.evaluate(crampedParts), []);
  },
  "cells of every tensor are seen without scrolling": async (page, viewport) => {
    assert.deepEqual(missingIn(await measure(page), viewport), []);
  },
  "every title and note can be read": async (page, _, { note }) => {
    const cutIn = () =>
      page.locator("#note").evaluate((box) =>
        // A note that finds no space below its title is in a column of its own, beside the box.
        [box, ...box.children].some(
          ({ scrollWidth, clientWidth, scrollHeight, clientHeight }) =>
            scrollWidth > clientWidth || scrollHeight > clientHeight + 1,
        ),
      );
    const more = page.locator(".whole-note");
    if (!(await cutIn())) return;
    await more.click();
    assert.equal(await cutIn(), false);
    assert.equal(await page.locator(".note-of-preset").innerText(), note);
    await more.click();
    assert.equal(await more.getAttribute("aria-expanded"), "false");
  },
} as const satisfies Readonly<Record<string, Check>>;

const [BESIDE, WHOLE, SEEN, READABLE] = Object.keys(CHECKS) as (keyof typeof CHECKS)[];

// Each size shows all examples once, because drawing an example takes longer than its checks.
for (const [width, height, file, names] of [
  [1920, 1080, "", [BESIDE, WHOLE]],
  [1440, 900, "", [BESIDE, WHOLE]],
  [1024, 768, "", [BESIDE, WHOLE, READABLE]],
  [390, 844, "", [SEEN, READABLE]],
  [844, 390, "", [SEEN, READABLE]],
  [640, 400, "?embed=1", [SEEN]],
  [400, 300, "?embed=1", [SEEN]],
  [300, 250, "?embed=1", [SEEN]],
] as const) {
  const viewport = { width, height };
  test(`at ${width} × ${height}${file && ", in a frame,"} ${names.join("; ")}`, async (t) => {
    await using opened = await site.open(SUM, { viewport }, file);
    const { page } = opened;
    for (const preset of sampleOf(PRESETS, 6)) {
      await t.test(preset.id, async () => {
        await showState(page, toHash(preset.state));
        for (const name of names) await CHECKS[name](page, viewport, preset);
      });
    }
  });
}

/** The corners of everything that must not move. */
const placesOf = (page: Page): Promise<Record<string, string>> =>
  page.evaluate(() =>
    Object.fromEntries(
      [...document.querySelectorAll(".lane, .lane table, .player, aside, .bar, .gutter")].map(
        (element, i) => {
          const { left, top } = element.getBoundingClientRect();
          return [`${i} ${element.className}`, `${Math.round(left)}, ${Math.round(top)}`];
        },
      ),
    ),
  );

/** Types a value into a cell by events, because a hundred examples with real keys take most of a minute. */
const typeAtOnce = (page: Page, cell: string, text: string): Promise<void> =>
  page.evaluate(
    async ([id, value]) => {
      const drawn = () => new Promise(requestAnimationFrame);
      const press = (key: string) =>
        document.activeElement?.dispatchEvent(
          new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }),
        );
      document.getElementById(id)?.focus();
      press("F2");
      await drawn();
      const { activeElement: editor } = document;
      if (!(editor instanceof HTMLInputElement)) throw new Error("the cell has no editor");
      editor.value = value;
      press("Enter");
      await drawn();
      await drawn();
    },
    [cell, text],
  );

test("an edit of a value moves nothing, whether it is right or wrong", async (t) => {
  await using opened = await site.open(SUM, { viewport: { width: 1024, height: 768 } });
  const { page } = opened;
  for (const [number, { id, state }] of sampleOf([...PRESETS.entries()], 3)) {
    // Each input has its turn.
    const position = number % state.inputs.length;
    if ((state.inputs[position]?.values.length ?? 0) === 0) continue;
    await t.test(id, async () => {
      await showState(page, toHash(state));
      const before = await placesOf(page);
      for (const text of ["-123456.5", "many"]) {
        await typeAtOnce(page, `cell-${position}-0`, text);
        assert.equal((await cellsOf(page, position))[0].slice(0, 3), text.slice(0, 3));
        assert.deepEqual(await placesOf(page), before, text);
      }
    });
  }
});

test("rows of indices stand beside their updates, and rows of data beside the output", async () => {
  const blocks = "ai.onnx/ScatterND/18;float32:4,2,3:1*24;int64:2,1:0,2;float32:2,2,3:5*6,7*6";
  await using opened = await site.open(blocks);
  const { page } = opened;
  const topOf = async (id: string): Promise<number> =>
    Math.round((await page.locator(`#cell-${id}`).boundingBox())?.y ?? -1);
  assert.equal(await topOf("1-0"), await topOf("2-0"));
  assert.equal(await topOf("1-1"), await topOf("2-6"));
  for (const element of [0, 3, 6, 12, 21]) {
    assert.equal(await topOf(`0-${element}`), await topOf(`output-${element}`));
  }
  // The index of a slice of two rows is as tall as both.
  const tall = await page.locator("#cell-1-0").boundingBox();
  const last = await page.locator("#cell-2-3").boundingBox();
  assert.ok(tall !== null && last !== null);
  assert.equal(Math.round(tall.y + tall.height), Math.round(last.y + last.height));
});
