/** Links and input that nobody would make: the page stays usable. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { PRESETS } from "../src/examples/presets.ts";
import { chooseExample, SUM, useSite } from "./support/page.ts";
import { drawing, SEED } from "./support/sample.ts";

const site = useSite();

/** Links that nobody would make. */
const HOSTILE = [
  "%",
  "ai.onnx/ScatterND/18",
  "ai.onnx/ScatterND/99999999999;float32::1;int64::1;float32::1",
  "ai.onnx/Nothing/1",
  "ai.onnx/ScatterND/18;reduction=<b>x</b>;float32:2:1,2;int64:1,1:0;float32:1:3",
  "ai.onnx/ScatterND/18;float32:9999999999,9999999999:0*9;-;-",
  "ai.onnx/ScatterND/18;float32::1;int64::1;float32::1",
  "ai.onnx/ScatterND/18;float32:0,3:;int64:0,1:;float32:0,3:",
  "ai.onnx/ScatterND/18;float32:2:nan,-inf;int64:1,1:0.5;float32:1:%3Cimg%20src=x%3E",
  "ai.onnx/GatherND/13;float32:1,1,1,1,1:7;int64:1,1,1,1,5:0,0,0,0,0",
  "ai.onnx/GatherElements/13;axis=99999999999999999999;float32:1:1;int64:1:0",
  "openvino/Gather/8;float32:2:1,2;int64:2:9,-9;int64::0",
  "__proto__/constructor/1;a=b",
] as const;

test("no link breaks the page", async (t) => {
  for (const hash of HOSTILE) {
    await t.test(hash, async () => {
      await using opened = await site.open(hash);
      const { page } = opened;
      assert.equal(await page.locator("h1").innerText(), "ndscatter");
      assert.ok((await page.locator("td[data-element], .empty").count()) > 0);
      // The page can still be used.
      await chooseExample(page, PRESETS[0].id);
      assert.ok((await page.locator("#cell-output-0").count()) === 1);
    });
  }
});

/** Texts that somebody might type, and texts that nobody would. */
const WORDS = [
  "",
  "-1",
  "99",
  "1e400",
  "nan",
  "x",
  "0x10",
  "1,2",
  "<i>",
  "💥",
  "-0",
  "true",
  "9".repeat(40),
];

test("no input breaks the page", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  // Keys can reach the button that opens a tensor as text: Escape closes it then, as a person would.
  await page.addLocatorHandler(page.locator("dialog[open]:has(.row)"), async () => {
    await page.keyboard.press("Escape");
  });
  const below = drawing();
  const pick = async (selector: string) => {
    const all = page.locator(selector);
    const count = await all.count();
    return count === 0 ? null : all.nth(below(count));
  };
  const choose = async (selector: string): Promise<void> => {
    const menu = await pick(selector);
    const values = await menu
      ?.locator("option:not(:disabled)")
      .evaluateAll((options) => options.map((option) => (option as HTMLOptionElement).value));
    if (menu !== null && values !== undefined)
      await menu.selectOption(values[below(values.length)]);
  };
  const actions = [
    async () => {
      await (await pick("td[data-element]"))?.focus();
      await page.keyboard.type(WORDS[below(WORDS.length)] || "q");
      await page.keyboard.press(["Enter", "Tab", "Escape"][below(3)]);
    },
    async () =>
      (await pick(".dimension"))?.fill(["0", "1", "2", "3", "5", "-", "99999999"][below(7)]),
    async () => (await pick(".shape button:enabled"))?.click(),
    async () => choose(".sentence select"),
    async () => choose(".sentence select"),
    async () => choose(".tensor select"),
    async () => choose(".version"),
    async () => (await pick(".sentence .number"))?.fill(WORDS[below(WORDS.length)]),
    async () => (await pick(".unfit button"))?.click(),
    async () => (await pick(".player button:not(:disabled, [aria-disabled=true])"))?.click(),
    async () => (await pick(".left-out button"))?.click(),
    async () => chooseExample(page, PRESETS[below(PRESETS.length)].id),
    async () => (await pick(".fixes button"))?.click(),
  ];
  for (let n = 0; n < 250; n++) {
    await actions[below(actions.length)]();
    assert.equal(
      await page.locator("h1").innerText(),
      "ndscatter",
      `seed ${SEED}, after ${n} actions`,
    );
  }
  assert.ok((await page.locator(".tensor").count()) > 0);
});
