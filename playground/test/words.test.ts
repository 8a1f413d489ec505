/** What cells and stories say where values are long or have parts, keys while a menu has the focus, and other systems. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { hiderOf } from "./support/access.ts";
import { cellsOf, showState, SUM, useSite } from "./support/page.ts";

const site = useSite();

test("the story writes complex values as cells do", async () => {
  await using opened = await site.open("ai.onnx/GatherElements/13;complex64:2:1+2j,3;int64:1:0");
  const { page } = opened;
  assert.deepEqual(await cellsOf(page, "output"), ["1+2j"]);
  await page.locator("#cell-output-0").hover();
  assert.match(await page.locator(".story .title").innerText(), /^output\[0\] is 1\+2j$/);
});

test("a link shows what the call does, and the sender's question, on every screen", async () => {
  for (const [width, height] of [
    [1440, 900],
    [1024, 768],
    [720, 450],
    [390, 844],
    [320, 844],
    [320, 568],
  ]) {
    const viewport = { width, height };
    await using opened = await site.open(`${SUM}!ask=Why%20is%20row%201%20not%2080%3F`, {
      viewport,
    });
    const { page } = opened;
    const [question, headline] = [page.locator(".title-line p"), page.locator(".title-line h2")];
    const own = page.getByRole("button", { name: "Try with your own numbers" });
    assert.equal(await question.innerText(), "Asked: “Why is row 1 not 80?”");
    // On a low phone, the headline is behind a button.
    const isLow = height === 568;
    for (const part of isLow ? [question, own] : [question, own, headline]) {
      assert.equal(await part.evaluate(hiderOf), "", `${width} × ${height}`);
      assert.ok(await part.evaluate((one) => one.scrollHeight <= one.clientHeight + 1), `${width}`);
    }
    // Only the question is in the suffix, so nothing is compared.
    assert.equal(await page.locator(".why").count(), 0);
    assert.match(await page.locator(".story").innerText(), /^Each row .* Two went to row 1, so/);
    await own.click();
    await page.locator("dialog[open]").getByRole("button", { name: "close" }).click();
    if (isLow) await page.getByRole("button", { name: "more of the note" }).click();
    assert.equal(await headline.innerText(), "Row 1 gets two updates; add keeps both.");
  }
});

test("a gather that opens with an error has reads", async () => {
  await using opened = await site.open("ai.onnx/Gather/13;float32:2:1,2;int64:1:7");
  assert.equal(await opened.page.locator(".player output").innerText(), "0 reads");
});

test("a text that is cut ends with a whole character, and every int64 is shown whole", async () => {
  for (const [type, text, shown] of [
    ["string", "💥".repeat(20), /^(💥)+…$/u],
    ["int64", "-9223372036854775808", /^-9223372036854775808$/],
  ] as const) {
    const hash = `ai.onnx/GatherElements/13;${type}:1:${encodeURIComponent(text)};int64:1:0`;
    await using opened = await site.open(hash);
    const cell = opened.page.locator("#cell-output-0");
    assert.match(await cell.evaluate(({ firstChild }) => firstChild?.nodeValue ?? ""), shown);
  }
});

test("Ctrl+Z is undo while a menu of the bar has the focus", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  const menu = page.getByLabel("reduction");
  await menu.selectOption("max");
  await menu.focus();
  await page.keyboard.press("Control+z");
  await page.waitForFunction(() => document.querySelector(".verb")?.textContent === "add");
  assert.equal(await menu.inputValue(), "add");
});

test("the steps of the player are the specification's also while another system is shown", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  const whole = await cellsOf(page, "output");
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByRole("button", { name: "Show the result of TensorFlow on a GPU" }).click();
  await page.waitForSelector("td.other");
  assert.notDeepEqual(await cellsOf(page, "output"), whole);
  await page.getByLabel("updates carried out").fill("0");
  await page.waitForFunction(() => document.querySelector("td.other") === null);
  assert.deepEqual(await cellsOf(page, "output"), await cellsOf(page, 0));
  assert.doesNotMatch(await page.locator('[data-tensor="output"] .dtype').innerText(), /by/);
});

test("what is wrong is said and mended also while something is compared", async () => {
  await using opened = await site.open(SUM.replace("1,-1,1", "1,9,1"));
  const { page } = opened;
  await page.getByRole("button", { name: "Compare" }).click();
  await page
    .locator(".faults")
    .getByText(/indices\[1, 0\] is 9/)
    .waitFor({ timeout: 5000 });
  await page.getByRole("button", { name: "clamp to 3" }).click();
  await page.getByText(/indices\[1, 0\] is 9/).waitFor({ state: "detached" });
  assert.deepEqual(await cellsOf(page, 1), ["1", "3", "1"]);
  assert.notEqual(await page.evaluate(() => document.activeElement?.tagName), "BODY");
});

test("another call begins at the first rows, whatever was seen of the one before", async () => {
  const zeros = (rows: number) => `float32:${rows},2:0*${rows * 2}`;
  const indices = Array.from({ length: 301 }, () => "1").join(",");
  await using opened = await site.open(`ai.onnx/Gather/13;${zeros(7)};int64:301:${indices}`);
  const { page } = opened;
  await page.locator('[data-tensor="output"] .scroller').evaluate((box) => {
    box.scrollTop = box.scrollHeight;
  });
  await page.locator("#cell-output-601").waitFor({ timeout: 5000 });
  await showState(page, `ai.onnx/ScatterND/18;${zeros(400)};int64:1,1:0;float32:1,2:1,2`);
  await page.locator("#cell-0-0").waitFor({ timeout: 5000 });
  await page.locator("#cell-output-0").waitFor({ timeout: 5000 });
});

test("the numbers of rows are beside cells, also in a column of all elements", async () => {
  const numbers = Array.from({ length: 24 }, (_, number) => number).join(",");
  await using opened = await site.open(
    `ai.onnx/Gather/13;float32:24:${numbers};int64:2,1,12:${numbers}`,
  );
  const over = await opened.page.$$eval(
    "tbody tr",
    (rows) =>
      rows.filter((row) => {
        const head = row.querySelector("th");
        return head !== null && head.scrollWidth > head.clientWidth;
      }).length,
  );
  assert.equal(over, 0);
});

test("on a low screen the result of a comparison and its cause are in sight at once", async () => {
  await using opened = await site.open(SUM, { viewport: { width: 1024, height: 768 } });
  const { page } = opened;
  await page.getByRole("button", { name: "Compare" }).click();
  const panel = page.locator(".why");
  await panel.locator("textarea").fill("[[0, 0, 0], [1, 1, 1], [2, 2, 2], [3, 3, 3]]");
  await panel.getByRole("button", { name: "Compare" }).click();
  const cause = panel.getByText(/This explains all \d+ cells/).first();
  await cause.waitFor();
  assert.match(await cause.innerText(), /^[A-Z]/);
  // What is read on a button is in its name, which speech control needs.
  for (const button of await panel.locator("[aria-pressed]").all()) {
    const name = (await button.getAttribute("aria-label")) ?? "";
    assert.ok(name === "" || name.startsWith(await button.innerText()), name);
  }
  for (const one of [panel.locator(".why-verdict"), cause]) {
    const box = await one.boundingBox();
    assert.ok(box !== null && box.y > 370 && box.y + box.height < 768, JSON.stringify(box));
  }
});

test("in every layout, a line leads from each update to its row, and the verb stands where updates meet", async () => {
  for (const [width, height] of [
    [1440, 900],
    [1024, 768],
    [390, 844],
    [320, 844],
  ] as const) {
    for (const op of ["ScatterND", "GatherND"]) {
      const hash =
        op === "ScatterND" ? SUM : "ai.onnx/GatherND/13;float32:4,3:0*12;int64:3,1:1,-1,1";
      await using opened = await site.open(hash, { viewport: { width, height } });
      const { page } = opened;
      // By target, the ends of the lines.
      const heads = await page.$$eval(".wire .head", (all) =>
        all.map((one) => {
          const { top, bottom, right } = one.getBoundingClientRect();
          return { y: (top + bottom) / 2, right };
        }),
      );
      const cells = await page.$$eval("[data-tensor='0'] td[data-element]", (all) =>
        all.map((one) => {
          const { top, bottom, left } = one.getBoundingClientRect();
          return { y: (top + bottom) / 2, left };
        }),
      );
      for (const [row, count] of [
        [1, 2],
        [3, 1],
      ]) {
        const { y, left } = cells[row * 3];
        const here = heads.filter((one) => Math.abs(one.y - y) < 2 && one.right < left);
        const wanted = op === "ScatterND" ? count : 1;
        assert.ok(here.length >= wanted, `${op} ${width}: ${here.length} lines to row ${row}`);
      }
      if (op === "ScatterND")
        assert.match(await page.locator(".stage").innerText(), /2× add|⇓ add/);
    }
  }
});

test("a bubble that fits into the gap between two tables covers neither", async () => {
  const hash = "ai.onnx/GatherND/13;float32:4,3:0*12;int64:2,1:1,9";
  await using opened = await site.open(hash, { viewport: { width: 1024, height: 768 } });
  const [bubble, cell, table] = await Promise.all(
    [".bubble", "#cell-1-1", '[data-tensor="0"] table'].map((one) =>
      opened.page.locator(one).boundingBox(),
    ),
  );
  assert.ok(bubble !== null && cell !== null && table !== null);
  assert.ok(bubble.x >= cell.x + cell.width, "the cell is covered");
  assert.ok(bubble.x + bubble.width <= table.x, "data is covered");
});

test("an error stands in a bubble beside its cell, until another cell is pointed at", async () => {
  for (const viewport of [
    { width: 1440, height: 900 },
    { width: 390, height: 844 },
    { width: 320, height: 568 },
  ]) {
    for (const [hash, id] of [
      [SUM.replace("1,-1,1", "1,9,1"), "1-1"],
      [SUM.replace("80,90", "80,x"), "2-8"],
      [SUM.replace("float32:4,3:0", "float32:4,3:many"), "0-0"],
      ["openvino/ScatterUpdate/3;float32:3,4:0*12;int64:2:1,-1;float32:3,2:1*6;int64::1", "1-1"],
    ]) {
      await using opened = await site.open(hash, { viewport });
      const { page } = opened;
      const bubble = await page.locator(".bubble").boundingBox();
      const cell = await page.locator(`#cell-${id}`).boundingBox();
      assert.ok(bubble !== null && cell !== null);
      assert.ok(bubble.x >= 0 && bubble.x + bubble.width <= viewport.width, JSON.stringify(bubble));
      const below = bubble.y + bubble.height / 2 - cell.y - cell.height / 2;
      assert.ok(Math.abs(below) < 4, `${id} at ${viewport.width}: ${below}`);
      const away = Math.min(
        Math.abs(bubble.x - cell.x - cell.width),
        Math.abs(cell.x - bubble.x - bubble.width),
      );
      assert.ok(away < 16, `${away} pixels away`);
      await page.locator("#cell-1-0").focus();
      assert.equal(await page.locator(".bubble").count(), 0);
    }
  }
});
