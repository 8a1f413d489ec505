/** The whole site around the page: that every link holds, that nothing is missing, and that the search finds it. */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { dialects, operators } from "ndscatter";
import type { Page } from "playwright-core";
import { fromHash } from "../src/document/hash.ts";
import type { Row } from "../src/site/search/index.ts";
import { placesIn } from "../src/site/search/match.ts";
import { violationsOf } from "./support/axe.ts";
import { DIST, REPOSITORY, useSite } from "./support/page.ts";
import { sampleOf } from "./support/sample.ts";

const site = useSite();

const filesIn = (folder: string, ending: string): string[] =>
  fs
    .readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => name.split(path.sep).join("/"))
    .filter((name) => name.endsWith(ending))
    .toSorted();

/** The pages around the page, which has tests of its own. */
const PAGES = filesIn(DIST, ".html").filter((name) => name !== "index.html");

const textOf = (name: string): string => fs.readFileSync(path.join(DIST, name), "utf8");

/** Entities that the site's templates write. */
const decoded = (text: string): string =>
  text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");

const attributesOf = (markup: string, names: string): string[] =>
  [...markup.matchAll(new RegExp(`\\s(?:${names})="([^"]*)"`, "g"))].map(([, value]) =>
    decoded(value),
  );

const idsOf = (name: string): string[] => attributesOf(textOf(name), "id");

test("no link of the site leads nowhere, and every id is on its page once", () => {
  const ids = new Map(PAGES.map((name) => [name, new Set(idsOf(name))]));
  let count = 0;
  for (const file of PAGES) {
    assert.equal(ids.get(file)?.size, idsOf(file).length, `${file} has an id twice`);
    for (const to of attributesOf(textOf(file), "href|src|data-index")) {
      if (to.startsWith("https://")) continue;
      count++;
      // A link that leaves the site's folder would not hold in a sub-folder of a server.
      assert.ok(!/^(\/|http:)/.test(to), `${file}: ${to}`);
      const { pathname, hash } = new URL(to, `https://site/a/b/c/${file}`);
      assert.ok(pathname.startsWith("/a/b/c/"), `${file}: ${to}`);
      const target = pathname.slice("/a/b/c/".length).replace(/(^|\/)$/, "$1index.html");
      assert.ok(fs.existsSync(path.join(DIST, target)), `${file}: ${to}`);
      const place = decodeURIComponent(hash.slice(1));
      if (target === "index.html") {
        assert.ok(hash === "" || "state" in fromHash(hash), `${file}: ${to}`);
      } else if (place !== "") assert.ok(ids.get(target)?.has(place), `${file}: ${to}`);
    }
  }
  assert.ok(count > 3000, `${count}`);
});

/** The documents that readers find on the site, from the folder itself. */
const DOCUMENTS = [
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  ...filesIn(path.join(REPOSITORY, "docs"), ".md").map((name) => `docs/${name}`),
  ...["graph-network", "node-service", "onnxruntime-web", "vite", "zarr-job"].map(
    (name) => `examples/${name}/README.md`,
  ),
];

const sourceOf = (name: string): string => fs.readFileSync(path.join(REPOSITORY, name), "utf8");

/** Lines outside blocks of code. */
const proseOf = (document: string): string => document.replaceAll(/^```[\s\S]*?^```$/gm, "");

test("every document is a page with all its headings, and its links to documents are links to pages", () => {
  assert.ok(DOCUMENTS.length >= 22);
  for (const name of DOCUMENTS) {
    const source = proseOf(sourceOf(name));
    const [title] = /(?<=^# ).*$/m.exec(source) ?? [""];
    const file = PAGES.find((page) => {
      const h1 = /<h1[^>]*>(.*?)<\/h1>/s.exec(textOf(page))?.[1];
      return h1 !== undefined && /^(docs|reference)\//.test(page) && decoded(h1) === title;
    });
    assert.ok(file !== undefined, `${name}: ${title}`);
    const page = textOf(file);
    const headings = [...source.matchAll(/^##+ (.*)$/gm)].map(([, text]) => text);
    const shown = [...page.matchAll(/<h[23][^>]*>(.*?)<\/h[23]>/gs)].map(([, text]) =>
      decoded(text.replaceAll(/<a class="anchor".*?<\/a>|<[^>]*>/gs, "")).trim(),
    );
    if (name !== "docs/errata.md") {
      assert.deepEqual(
        shown,
        headings.map((text) => text.replaceAll(/[`*]/g, "")),
        name,
      );
    }
    const links = [...source.matchAll(/\]\(([^)#]+\.md)(#[^)]*)?\)/g)].filter(([, to]) =>
      DOCUMENTS.includes(path.posix.join(path.posix.dirname(name), to)),
    );
    const own = attributesOf(page.slice(page.indexOf("<main")), "href").filter((to) =>
      /\.html(#|$)/.test(to),
    );
    assert.ok(own.length >= links.length, `${name}: ${own.length} of ${links.length} links`);
    assert.doesNotMatch(page, /href="[^"]*\.md[#"]/, name);
  }
});

test("no text of a document becomes markup", () => {
  const page = textOf("docs/browsers.html");
  assert.match(sourceOf("docs/browsers.md"), /<script type="importmap">/);
  assert.match(page, /&lt;script type=&quot;importmap&quot;&gt;/);
  for (const file of PAGES) {
    const scripts = [...textOf(file).matchAll(/<script\b[^>]*>/g)].map(([tag]) => tag);
    assert.equal(scripts.length, 2, file);
    assert.ok(
      scripts.every((tag) => /\ssrc="/.test(tag)),
      file,
    );
  }
});

interface Manifest {
  readonly exports: Readonly<Record<string, { readonly default: string } | string>>;
}

const MANIFEST: Manifest = JSON.parse(sourceOf("package.json"));

test("every export of every entry is in the API reference, with its signature", async () => {
  for (const [entry, target] of Object.entries(MANIFEST.exports)) {
    if (typeof target === "string") continue;
    const name = entry === "." ? "ndscatter" : entry.slice(2);
    const page = textOf(`api/${name}.html`);
    const ids = new Set(attributesOf(page, "id"));
    const links = new Set(attributesOf(page, "href").map((to) => to.replace(/^.*#/, "")));
    const values = Object.keys(
      await import(pathToFileURL(path.join(REPOSITORY, target.default)).href),
    );
    assert.ok(values.length > 0, name);
    for (const one of values) assert.ok(ids.has(one) || links.has(one), `${name}: ${one}`);
    // Types are no values: their names are in the source of the entry.
    const source = sourceOf(`src/entries/${name === "ndscatter" ? "index" : name}.ts`);
    const types = [
      ...source.matchAll(/export type \{([^}]*)\}/g),
      ...source.matchAll(/\btype (\w+),/g),
    ].flatMap(([, list]) => list.split(",").map((part) => part.trim().split(" ").at(-1) ?? ""));
    for (const one of types.filter((part) => part !== "")) {
      assert.ok(ids.has(one) || links.has(one), `${name}: ${one}`);
    }
  }
});

test("a function has its parameters, what it returns and its errors, and shared exports lead to one place", () => {
  const page = textOf("api/ndscatter.html");
  const from = page.indexOf('<h3 id="scatterND">');
  const section = decoded(
    page.slice(from, page.indexOf("</details>", from)).replaceAll(/<[^>]*>/g, ""),
  ).replaceAll(/\s+/g, " ");
  const [docstring] = /(?<=\/\*\*)(?:(?!\*\/)[^])*(?=\*\/\s*export function scatterND\b)/.exec(
    sourceOf("src/core/functions.ts"),
  ) ?? [""];
  const names = [...docstring.matchAll(/@param (\w+)/g)].map(([, name]) => name);
  assert.deepEqual(names, ["data", "indices", "updates", "options"]);
  for (const name of names) assert.match(section, new RegExp(`\\b${name}[:. ]`));
  const codes = [...docstring.matchAll(/`([a-z-]+)`/g)].map(([, code]) => code);
  assert.ok(codes.includes("index-out-of-range"));
  for (const code of codes) assert.ok(section.includes(code), code);
  assert.match(section, /function scatterND<.*\): Tensor</);
  assert.match(section, /Returns .*Throws /);
  assert.ok(attributesOf(textOf("api/js.html"), "href").includes("ndscatter.html#diagnose"));
});

const index = async (): Promise<readonly Row[]> => {
  const name = filesIn(path.join(DIST, "site"), ".js").find((file) => file.startsWith("index-"));
  assert.ok(name !== undefined);
  const loaded: { rows: readonly Row[] } = await import(
    pathToFileURL(path.join(DIST, "site", name)).href
  );
  return loaded.rows;
};

test("the search finds operators, attributes, errata, dialects, headings and exports by their names", async (t) => {
  const rows = await index();
  const find = placesIn(rows);
  const first = (query: string, count: number): readonly Row[] =>
    find(query)
      .slice(0, count)
      .map(({ item }) => item);
  for (const { name, domain, attributes } of operators()) {
    const home = domain === "ai.onnx" ? "ONNX" : "OpenVINO";
    const found = first(name, 4).some(
      ([kind, title, of]) => kind === "operator" && title === name && of === home,
    );
    assert.ok(found, `${home} ${name}`);
    for (const attribute of attributes) {
      const place = first(`${attribute.name} ${name} ${home}`, 5).some(
        ([kind, title]) => kind === "attribute" && title === attribute.name,
      );
      assert.ok(place, `${name}: ${attribute.name}`);
    }
  }
  for (const { id } of dialects()) {
    if (!rows.some(([kind, title]) => kind === "dialect" && title === id)) continue;
    assert.ok(
      first(id, 8).some(([kind]) => kind === "dialect"),
      id,
    );
  }
  const errata = sourceOf("docs/errata.md")
    .split("\n")
    .filter((line) => line.startsWith("| ") && !/^\| (document|--)/.test(line));
  for (const row of errata) {
    const [document, printed] = row.slice(2).split(" | ");
    const words = `${document} ${printed}`.replaceAll("`", "").split(" ").slice(0, 6).join(" ");
    assert.ok(
      first(words, 5).some(([kind]) => kind === "erratum"),
      words,
    );
  }
  for (const name of DOCUMENTS.filter((one) => one !== "docs/errata.md")) {
    for (const [, heading] of proseOf(sourceOf(name)).matchAll(/^##? (.*)$/gm)) {
      const title = heading.replaceAll(/[`*]/g, "");
      assert.ok(
        find(title).some(({ item }) => item[1] === title),
        `${name}: ${title}`,
      );
    }
  }
  assert.equal(first("planScatterND", 1)[0]?.[3], "api/ndscatter.html#planScatterND");
  assert.equal(first("index-out-of-range", 1).length, 1);
  assert.deepEqual(first("", 1), []);
  assert.deepEqual(first("xyzzyplugh", 1), []);
  const ids = new Map(PAGES.map((name) => [name, new Set(idsOf(name))]));
  for (const [, , , address] of rows) {
    const [file, place] = address.split("#");
    assert.ok(ids.has(file), address);
    assert.ok(place === undefined || ids.get(file)?.has(place), address);
  }
  const size = gzipSync(JSON.stringify(rows)).length;
  t.diagnostic(`${rows.length} places, ${size} bytes gzipped`);
  assert.ok(size < 152_000, `${size}`);
});

const focusedId = (page: Page): Promise<string> =>
  page.evaluate(() => document.activeElement?.getAttribute("role") ?? "");

test("keys alone search from any page, and the index is loaded then and not before", async () => {
  await using opened = await site.open("", {}, "docs/arrays/zarr.html");
  const { page, requests } = opened;
  const loads = (): number => requests.filter((url) => /\/index-\w+\.js$/.test(url)).length;
  assert.equal(loads(), 0);
  await page.keyboard.press("/");
  assert.equal(await focusedId(page), "combobox");
  await page.keyboard.type("GatherElements");
  await page.locator("[role=option]").first().waitFor();
  assert.equal(loads(), 1);
  const chosen = page.locator("[role=option][aria-selected=true]");
  const idOfChosen = (): Promise<string | null> => chosen.getAttribute("id");
  const active = (): Promise<string | null> =>
    page.locator("[role=combobox]").getAttribute("aria-activedescendant");
  assert.equal(await idOfChosen(), "found-0");
  await page.keyboard.press("ArrowUp");
  assert.notEqual(await idOfChosen(), "found-0");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.equal(await idOfChosen(), "found-1");
  assert.equal(await active(), "found-1");
  assert.deepEqual(await violationsOf(page), []);
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await page.waitForURL(/reference\/(onnx|openvino)-gatherelements\.html$/);
  // A click does the same, and Escape gives the focus back.
  await page.locator("button.find").focus();
  await page.keyboard.press("Enter");
  await page.locator("dialog[open]").waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("dialog[open]").count(), 0);
  const isBack = await page
    .locator("button.find")
    .evaluate((one) => one === document.activeElement);
  assert.equal(isBack, true);
});

test("a link to a place that is folded opens it", async () => {
  await using opened = await site.open("v11-attributes", {}, "reference/onnx-scatternd.html");
  const { page } = opened;
  assert.ok(await page.locator("#v11-attributes").isVisible());
  assert.ok(!(await page.locator("#v13-attributes").isVisible()));
  const dialect = page.locator("#dialect-numpy");
  assert.ok(!(await dialect.isVisible()));
  await page.locator('.contents a[href="#dialects"]').click();
  await dialect.waitFor({ state: "visible" });
});

/** Of the sizes that people have: 320 is a window of 1280 pixels at 400 %. */
const WIDTHS = [320, 390, 640, 844, 1024, 1440] as const;

/** In pixels, on a phone of 390. Pages of operators fold; documents are texts, of which the longest has 24,328. */
const TALLEST = { operators: 10_000, others: 26_000 };

test("no page is wider than any screen or longer than people scroll, and nothing collides", async (t) => {
  await using opened = await site.open("", {}, "reference/index.html");
  const { page } = opened;
  const tall: string[] = [];
  for (const file of sampleOf(PAGES, 6)) {
    await page.goto(new URL(`../${file}`, page.url().replace(/any\/path\/.*/, "any/path/x/")).href);
    await page.setViewportSize({ width: 390, height: 844 });
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    const most = /^reference\/(onnx|openvino)/.test(file) ? TALLEST.operators : TALLEST.others;
    if (height > most) tall.push(`${file}: ${height}`);
    await page.evaluate(() => {
      for (const one of document.querySelectorAll("details")) one.open = true;
    });
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 844 });
      const { over, hits } = await page.evaluate(collisions);
      assert.ok(over <= width, `${file}: ${over} at ${width}`);
      assert.deepEqual(hits, [], `${file} at ${width}`);
    }
  }
  assert.deepEqual(tall, []);
  t.diagnostic(`${sampleOf(PAGES, 6).length} pages`);
});

/** Texts of the bar and of tables' cells that lie on each other or beyond their box. */
function collisions(): { over: number; hits: string[] } {
  const boxes = [...document.querySelectorAll(".bar > *, .bar nav > *")]
    .filter((one) => one.checkVisibility() && one.tagName !== "NAV")
    .map((one) => ({ text: one.textContent?.trim() ?? "", box: one.getBoundingClientRect() }));
  const hits = boxes.flatMap(({ text, box }, at) => [
    ...(box.left < 0 || box.right > innerWidth ? [`${text} is cut off`] : []),
    ...boxes
      .slice(at + 1)
      .filter(
        ({ box: other }) =>
          box.left < other.right - 1 &&
          other.left < box.right - 1 &&
          box.top < other.bottom - 1 &&
          other.top < box.bottom - 1,
      )
      .map((other) => `${text} is on ${other.text}`),
  ]);
  const nav = document.querySelector(".bar nav");
  if (nav !== null && nav.scrollWidth > nav.clientWidth) hits.push("the bar scrolls");
  const isCut = ({ scrollWidth, clientWidth }: Element): boolean => scrollWidth > clientWidth;
  // A label beside a cell may be taller than the cell.
  const isTall = ({ scrollHeight, clientHeight }: Element): boolean => scrollHeight > clientHeight;
  const cut = [...document.querySelectorAll(".wide, .picture")].filter(isCut);
  const tall = [...document.querySelectorAll(".long td")].filter(isTall);
  for (const { textContent } of [...cut, ...tall]) hits.push(textContent?.slice(0, 60) ?? "");
  return { over: document.documentElement.scrollWidth, hits };
}
