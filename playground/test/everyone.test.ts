/** The page for everyone: by keyboard, with a screen reader, on any screen, in light and dark, and fast. */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { cellsOf, DIST, SUM, useSite } from "./support/page.ts";
import { LARGE, RANK_4 } from "./support/states.ts";

const site = useSite();

test("the background follows the system, and the menu overrules it", async () => {
  await using opened = await site.open(SUM, { colorScheme: "dark" });
  const { page } = opened;
  const lightness = () =>
    page.evaluate(() => {
      const canvas = document.createElement("canvas").getContext("2d");
      if (canvas === null) return -1;
      canvas.fillStyle = getComputedStyle(document.body).backgroundColor;
      canvas.fillRect(0, 0, 1, 1);
      return canvas.getImageData(0, 0, 1, 1).data[0];
    });
  assert.ok((await lightness()) < 60);
  await page.getByRole("button", { name: "Help" }).click();
  await page.selectOption(".theme select", "light");
  await page.keyboard.press("Escape");
  assert.ok((await lightness()) > 200);
  await page.reload();
  await page.waitForSelector("main");
  assert.ok((await lightness()) > 200);
});

test("keys alone move between cells, edit them, play, read the story, and share it", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  const group = page.getByRole("group", { name: "indices: type and shape", exact: true });
  assert.equal(await group.locator("button, select, input").count(), 6);
  const focused = () => page.evaluate(() => document.activeElement?.id ?? "");
  await page.focus("#cell-0-0");
  const keys = ["ArrowDown", "ArrowRight", "End", "ArrowDown", "Home", "Control+End", "ArrowUp"];
  const places: string[] = [];
  for (const key of keys) {
    await page.keyboard.press(key);
    places.push((await focused()).replace("cell-0-", ""));
  }
  assert.deepEqual(places, ["3", "4", "5", "8", "6", "11", "8"]);
  await page.keyboard.press("F2");
  await page.keyboard.press("Backspace");
  await page.keyboard.type("-7");
  await page.keyboard.press("Enter");
  assert.equal((await cellsOf(page, "output"))[8], "-7");
  assert.equal(await focused(), "cell-0-11");
  await page.keyboard.press("9");
  await page.keyboard.press("Escape");
  assert.deepEqual([await focused(), (await cellsOf(page, 0))[11]], ["cell-0-11", "3"]);
  assert.match(await page.locator("#aloud").innerText(), /^data\[3, 2\] is 3, and becomes 63/);
  // One cell of each tensor is in the order of Tab.
  const stops = await page.$$eval("td[data-element][tabindex='0']", (cells) =>
    cells.map(({ id }) => id),
  );
  assert.deepEqual(stops, ["cell-1-0", "cell-2-0", "cell-0-11", "cell-output-0"]);
  await page.focus(".player input[type=range]");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.locator(".player output").innerText(), "1 of 3 updates");
  assert.match(await page.locator("#aloud").innerText(), /^update 1 of 3/);
  // The link of the changed call is read from a dialog, which keys open and close.
  const share = page.getByRole("button", { name: "Share" });
  await share.press("Enter");
  const code = page.locator("dialog[open] textarea");
  await code.waitFor();
  assert.match(await code.inputValue(), /#ai\.onnx\/ScatterND\/18;.*2,2,-7,3/);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("dialog[open]").count(), 0);
  assert.equal(await share.evaluate((one) => one === document.activeElement), true);
});

test("grids are tables with headers", async () => {
  await using opened = await site.open(RANK_4);
  const { page } = opened;
  const table = page.locator('[data-tensor="0"] table');
  assert.equal(await table.count(), 1);
  assert.equal(await table.getAttribute("aria-label"), "data [2, 2, 3, 4] int8");
  assert.deepEqual(await table.locator("th[scope=col]").allInnerTexts(), ["0", "1", "2", "3"]);
  const rows = ["0,0,0", "0,0,1", "0,0,2", "0,1,0", "0,1,1", "0,1,2"];
  const headers = await table.locator("th[scope=row]").allInnerTexts();
  assert.deepEqual(headers.slice(0, 6), rows);
  assert.equal(headers.length, 12);
  // Matrices stand apart.
  assert.equal(await table.locator("tr.gap").count(), 3);
});

test("of a large tensor only the part in view is drawn, and keys bring the rest", async () => {
  await using opened = await site.open(LARGE);
  const { page } = opened;
  const table = page.locator('[data-tensor="1"] table');
  assert.equal(await table.getAttribute("aria-rowcount"), "65");
  assert.equal(await table.getAttribute("aria-colcount"), "65");
  assert.ok((await page.locator('[data-tensor="1"] td[data-element]').count()) < 1500);
  await page.focus("#cell-1-0");
  await page.keyboard.press("Control+End");
  const last = page.locator("#cell-1-4095");
  await last.waitFor();
  assert.equal(await last.evaluate((cell) => cell === document.activeElement), true);
  const row = page.locator('[data-tensor="1"] tr', { has: last });
  assert.equal(await row.getAttribute("aria-rowindex"), "65");
  assert.equal(await row.locator("th").innerText(), "63");
  assert.equal(
    await last.evaluate((cell) => cell.firstChild?.textContent),
    String((4095 * 7) % 64),
  );
  // Scrolling to the start brings the first cell back, once the scrolling for the key has ended.
  await page.locator('[data-tensor="1"] .scroller').evaluate(async (box) => {
    const frames = (): Promise<unknown> =>
      new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    for (let last = -1; last !== box.scrollTop; await frames()) last = box.scrollTop;
    box.scrollTo(0, 0);
  });
  await page.locator("#cell-1-0").waitFor();
});

test("no script of the page imports itself by way of others, which would run it before what it imports", () => {
  const folder = path.join(DIST, "assets");
  const scripts = fs.readdirSync(folder).filter((name) => name.endsWith(".js"));
  const importsOf = (name: string): string[] => {
    const text = fs.readFileSync(path.join(folder, name), "utf8");
    return [...text.matchAll(/(?:from|import)"\.\/([^"]+\.js)"/g)].map(([, other]) => other);
  };
  const circle = (name: string, above: readonly string[]): readonly string[] =>
    above.includes(name)
      ? [...above, name]
      : importsOf(name).flatMap((other) => circle(other, [...above, name]));
  assert.ok(scripts.flatMap(importsOf).length > 10);
  assert.deepEqual(
    scripts.flatMap((name) => circle(name, [])),
    [],
  );
});

test("what the first picture needs is under 91 kB gzipped", (t) => {
  const html = fs.readFileSync(path.join(DIST, "index.html"), "utf8");
  const named = [...html.matchAll(/(?:src|href)="\.\/([^"]+\.(?:js|css))"/g)].map(
    ([, name]) => name,
  );
  assert.ok(named.length >= 2, named.join());
  const sizeOf = (name: string): number => gzipSync(fs.readFileSync(path.join(DIST, name))).length;
  const first = ["index.html", ...named].reduce((sum, name) => sum + sizeOf(name), 0);
  const all = fs
    .readdirSync(path.join(DIST, "assets"))
    .reduce((sum, name) => sum + sizeOf(path.join("assets", name)), 0);
  t.diagnostic(
    `${first} bytes of ${named.length + 1} files at first, ${all} bytes with what is loaded later`,
  );
  assert.ok(first <= 91_000, `${first}`);
});

test("the page has a policy that lets nothing in and nothing out to another origin", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  const policy = page.locator("meta[http-equiv=Content-Security-Policy]");
  assert.match(
    (await policy.getAttribute("content")) ?? "",
    /^default-src 'none'; frame-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; connect-src 'self'; style-src 'self'; img-src [^;]*; base-uri 'none'; form-action 'none'$/,
  );
  const reached = await page.evaluate(() =>
    fetch("http://127.0.0.1:9/").then(
      () => true,
      () => false,
    ),
  );
  assert.equal(reached, false);
  const words = opened.wrongs.splice(0);
  assert.ok(words.length > 0 && words.every((one) => one.includes("Content Security Policy")));
});

// Times depend on what else the machine does, so they are only reported. What is asserted is the work.

test("the first picture waits for the page and what the page names, and nothing else", async (t) => {
  await using opened = await site.open(SUM);
  const { page, requests } = opened;
  const html = fs.readFileSync(path.join(DIST, "index.html"), "utf8");
  const isNamed = ({ pathname }: URL): boolean => html.includes(path.basename(pathname));
  const held: string[] = [];
  // What the page loads later never arrives.
  await page.route(
    (url) => url.pathname.includes("/assets/") && !isNamed(url),
    (route) => void held.push(route.request().url()),
  );
  const [first] = requests;
  for (const hash of ["", `#${SUM}`]) {
    await page.goto("about:blank");
    await page.goto(first.replace(/#.*/, "") + hash, { waitUntil: "commit" });
    await page.waitForSelector("td[data-element]");
    assert.equal((await cellsOf(page, "output")).length, 12);
  }
  t.diagnostic(`${held.length} files are loaded later`);
  assert.ok(held.length > 0);
});

test("64 × 64 cells play, and a step draws only the rows that it changes", async (t) => {
  await using opened = await site.open(LARGE);
  const { page } = opened;
  await page.locator(".play").click();
  const { steps, rows, seconds, heights } = await page.evaluate(async () => {
    const stepOf = () =>
      Number(document.querySelector(".player output")?.textContent?.split(" ")[0]);
    const drawn: (Element | null | undefined)[] = [];
    const observer = new MutationObserver((records) => {
      // Each row counts once for each time that the page is drawn.
      drawn.push(...new Set(records.map(({ target }) => rowOf(target)).filter(Boolean)));
    });
    const rowOf = (node: Node) =>
      (node instanceof Element ? node : node.parentElement)?.closest("tr");
    for (const table of document.querySelectorAll("table")) {
      observer.observe(table, {
        subtree: true,
        childList: true,
        characterData: true,
        attributes: true,
      });
    }
    const [begin, from] = [performance.now(), stepOf()];
    await new Promise((resolve) => setTimeout(resolve, 2000));
    observer.disconnect();
    const seconds = (performance.now() - begin) / 1000;
    const heights = [...document.querySelectorAll("table")].map(({ rows: { length } }) => length);
    return { steps: stepOf() - from, rows: drawn.length, seconds, heights };
  });
  t.diagnostic(
    `${(steps / seconds).toFixed(1)} steps a second, ${(rows / steps).toFixed(1)} rows a step`,
  );
  assert.ok(steps > 0);
  // A table turns a page at most once for as many steps as it has rows, and is drawn anew then.
  const turned = heights.map((height) => 2 * height * (1 + Math.ceil(steps / height)));
  const most = turned.reduce((all, one) => all + one, 0);
  // The rows of the output, of the update and of its index, before and after.
  assert.ok(rows <= 6 * steps + 6 + most, `${rows} rows in ${steps} steps`);
});
