/** The reference: that nothing of the registry, the examples and the errata is missing, and that everyone can read it. */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { dialects, isTensorError, operators, run, type OperatorVersion } from "ndscatter";
import { compareVersions, printShape, roleOf, typesOf } from "ndscatter/operators";
import type { Page } from "playwright-core";
import { fromHash } from "../src/document/hash.ts";
import { PRESETS } from "../src/examples/presets.ts";
import { explainState, readState } from "../src/document/read-state.ts";
import { printElement } from "../src/values/scalar-text.ts";
import { elementsOf } from "../src/values/tensor-text.ts";
import { DIST, REPOSITORY, useSite } from "./support/page.ts";

const site = useSite();

const FOLDER = path.join(DIST, "reference");
const FILES = fs.readdirSync(FOLDER).filter((name) => name.endsWith(".html"));

/** The address of an operator's page, which links from elsewhere rely on. */
const fileOf = ({ domain, name }: Pick<OperatorVersion, "domain" | "name">): string =>
  `${domain === "ai.onnx" ? "onnx" : domain}-${name.toLowerCase()}.html`;

/** Text with single blanks, as people see it. */
const plain = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

/** Without JavaScript: all that is tested here must be there without it. */
const open = (file: string, options = {}) =>
  site.open("", { javaScriptEnabled: false, ...options }, `reference/${file}`);

/** What the tests look at in a file, which is loaded once. */
interface Seen {
  readonly versions: Readonly<Record<string, ShownVersion>>;
  readonly examples: readonly ShownExample[];
  /** The cells of the rows of errata. */
  readonly errata: readonly (readonly string[])[];
}

async function lookAt(page: Page): Promise<Seen> {
  const errata = await page.evaluate(() =>
    [...document.querySelectorAll('tr[id^="erratum-"]')].map((row) =>
      [...row.children].map((cell) => cell.textContent ?? ""),
    ),
  );
  const versions = await page.evaluate(versionsIn);
  return { errata, versions, examples: await page.evaluate(examplesIn) };
}

let looking: Promise<ReadonlyMap<string, Seen>> | undefined;

/** Every file in turn, in one page, because a new page takes a second. */
const seen = (): Promise<ReadonlyMap<string, Seen>> => {
  looking ??= (async () => {
    await using opened = await open("index.html");
    const { page } = opened;
    const all = new Map<string, Seen>();
    for (const file of FILES) {
      await page.goto(new URL(file, page.url()).href);
      all.set(file, await lookAt(page));
    }
    return all;
  })();
  return looking;
};

const OPERATORS: ReadonlySet<string> = new Set(operators().map(fileOf));

/** A section of a version, as its texts. */
interface ShownVersion {
  readonly text: string;
  /** The cells of the tables after the headings of these parts. */
  readonly tables: Readonly<Record<string, string[][]>>;
  readonly types: readonly string[];
  /** The paths of the changes that are told. */
  readonly paths: readonly string[];
}

/** The sections of all versions on a page, by what they are a version since. */
const versionsIn = (): Record<string, ShownVersion> =>
  Object.fromEntries(
    [...document.querySelectorAll<HTMLElement>("section[data-version]")]
      .filter((section) => section.querySelector("h2")?.id === `v${section.dataset["version"]}`)
      .map((section) => {
        const id = section.querySelector("h2")?.id;
        return [
          section.dataset["version"] ?? "",
          {
            text: section.textContent ?? "",
            tables: Object.fromEntries(
              ["attributes", "inputs", "outputs"].map((part) => [
                part,
                [...section.querySelectorAll(`#${id}-${part} + .wide tbody tr`)].map((row) =>
                  [...row.children].map((cell) => cell.textContent?.trim() ?? ""),
                ),
              ]),
            ),
            types: [...section.querySelectorAll(".types dd")].map((one) => one.textContent ?? ""),
            paths: [
              ...section.querySelectorAll<HTMLElement>(`#${id}-changes + .changes li`),
            ].flatMap((one) => one.dataset["paths"]?.split(" ") ?? []),
          },
        ];
      }),
  );

test("every version of every operator has a section with all that its row says", async () => {
  const all = operators();
  const pages = await seen();
  for (const [at, version] of all.entries()) {
    const page = pages.get(fileOf(version));
    assert.ok(page, fileOf(version));
    const { text, tables, types, paths } = page.versions[version.sinceVersion];
    const { name, domain, summary, attributes, inputs, outputs } = version;
    assert.ok(plain(text).includes(plain(summary)), summary);
    assert.deepEqual(
      tables["attributes"].map(([called, type, initial, , meaning]) => [
        called,
        type,
        initial,
        meaning,
      ]),
      attributes.map((one) => [
        one.name,
        one.type,
        String(one.default ?? "required"),
        one.description,
      ]),
    );
    for (const [row, { values, minimum }] of attributes.entries()) {
      const [, , , takes] = tables["attributes"][row];
      if (values !== undefined) assert.equal(takes, values.join(", "));
      if (minimum !== undefined) assert.equal(takes, `${minimum} and above`);
    }
    const namesOf = (list: typeof inputs): string[] =>
      list.map((one) => (one.optional ? `${one.name} (optional)` : one.name));
    assert.deepEqual(
      tables["inputs"].map(([called, role, , meaning]) => [called, role, meaning]),
      inputs.map((one, row) => [namesOf(inputs)[row], roleOf(one), one.description]),
    );
    assert.deepEqual(
      tables["outputs"].map(([called, , meaning]) => [called, meaning]),
      outputs.map((one, row) => [namesOf(outputs)[row], one.description]),
    );
    for (const { type } of [...inputs, ...outputs]) {
      const names = typesOf(version, type).join(", ");
      assert.ok(names === type || types.some((one) => one.startsWith(`${names}.`)), names);
    }
    const before = all[at - 1];
    const isFirst = before?.name !== name || before.domain !== domain;
    const changed = isFirst ? [] : compareVersions(before, version).map((one) => one.path);
    const told = changed.filter((one) => one !== "sinceVersion" && one !== "opset");
    assert.deepEqual(paths.toSorted(), told.toSorted(), `${name}-${version.sinceVersion}`);
  }
});

/** What a rendered tensor shows: its label, and the texts of its cells in row-major order. */
interface Shown {
  readonly label: string;
  readonly cells: readonly string[];
}

interface ShownExample {
  readonly id: string;
  readonly tensors: readonly Shown[];
  readonly errors: readonly string[];
  readonly frame: string;
}

const examplesIn = (): ShownExample[] =>
  [...document.querySelectorAll("article[data-preset]")].map((article): ShownExample => ({
    id: article.querySelector("h3")?.id ?? "",
    tensors: [...article.querySelectorAll("[data-tensor]")].map((one) => ({
      label: one.querySelector(".label")?.textContent ?? "",
      cells: [...one.querySelectorAll("tbody td")].map((cell) => cell.textContent ?? ""),
    })),
    errors: [...article.querySelectorAll(".result .error")].map((one) => one.textContent ?? ""),
    frame: article.querySelector("iframe")?.getAttribute("src") ?? "",
  }));

test("the examples of an operator are all on its page, with what run gives", async () => {
  let count = 0;
  for (const [file, { examples: shown }] of await seen()) {
    if (!OPERATORS.has(file)) continue;
    count += shown.length;
    const presets = PRESETS.filter(
      ({ state }) => fileOf({ domain: state.domain, name: state.op }) === file,
    );
    assert.ok(presets.length > 0);
    assert.deepEqual(
      shown.map(({ id }) => id),
      presets.map(({ id }) => id),
    );
    for (const [at, { state, id }] of presets.entries()) {
      const { node, inputs, version } = readState(state);
      const given = inputs.flatMap((one, position) =>
        one === undefined ? [] : [{ name: version?.inputs[position].name ?? "", tensor: one }],
      );
      const { tensors, errors, frame } = shown[at];
      const results = (() => {
        try {
          return run(node, inputs).map((tensor) => ({
            name: version?.outputs[0].name ?? "",
            tensor,
          }));
        } catch (error) {
          assert.ok(isTensorError(error), id);
          assert.ok(errors.length > 0, id);
          assert.ok(
            errors.some((one) => error.message.includes(one)),
            `${id}: ${error.message}`,
          );
          return [];
        }
      })();
      const wanted = [...given, ...results].map(({ name, tensor }) => ({
        label: `${name} ${tensor.dtype} ${printShape(tensor.shape)}`,
        cells: elementsOf(tensor).map((value) => printElement(tensor.dtype, value)),
      }));
      assert.deepEqual(
        tensors.map(({ label, cells }) => ({ label: plain(label), cells })),
        wanted,
        id,
      );
      assert.deepEqual(fromHash(frame.replace("../?embed=1#", "")), { state }, id);
    }
  }
  assert.equal(count, PRESETS.length);
});

/** The rows of a document's tables whose cells are at least as many. */
const rowsOf = (name: string): string[][] =>
  fs
    .readFileSync(path.join(REPOSITORY, "docs", name), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| ") && !/^\| (document|dialect) /.test(line))
    .map((line) => line.slice(2, -2).split(" | "));

/** Markdown without its marks. */
const unmarked = (text: string): string => plain(text.replaceAll("`", ""));

test("every erratum is on the pages of the operators that it names", async () => {
  const errata = rowsOf("errata.md");
  assert.ok(errata.length > 30);
  const rows = new Map(
    [...(await seen())]
      .filter(([file]) => OPERATORS.has(file))
      .map(([file, page]) => [file, page.errata.map((row) => row.map(plain))]),
  );
  for (const [document, printed, right] of errata) {
    const names = document.match(/\b(?:Scatter|Gather|TensorScatter)[A-Za-z]*\b/g) ?? [];
    assert.ok(names.length > 0, document);
    for (const name of names) {
      const pages = [...rows].filter(([file]) => file.endsWith(`-${name.toLowerCase()}.html`));
      const found = pages.filter(([, cells]) =>
        cells.some(
          (row) =>
            row[0] === unmarked(document) &&
            row[1] === unmarked(printed) &&
            row[2] === unmarked(right),
        ),
      );
      assert.equal(found.length, 1, `${document}: ${printed}`);
    }
  }
  // Both domains have a GatherND, and only OpenVINO's has versions 5 and 8.
  const isOn = (file: string, document: string): boolean =>
    rows.get(file)?.some(([one]) => one === document) ?? false;
  assert.ok(isOn("openvino-gathernd.html", "GatherND-5"));
  assert.ok(!isOn("onnx-gathernd.html", "GatherND-5"));
  assert.ok(isOn("onnx-gathernd.html", "GatherND-12, 13"));
});

test("what dialects are known to do is on the page of an operator, from where it is known", async () => {
  await using opened = await open("onnx-scatternd.html");
  const { page } = opened;
  const jax = page.locator("tr#dialect-jax");
  const fact = dialects()
    .find(({ id }) => id === "jax")
    ?.facts.find(({ aspect }) => aspect === "scatters");
  assert.ok(fact !== undefined);
  assert.match(
    (await jax.locator("td").nth(1).textContent()) ?? "",
    new RegExp(`${fact.does} ${fact.how}`),
  );
  const addresses = await jax
    .locator("td a")
    .evaluateAll((all) => all.map((one) => one.getAttribute("href")));
  const known = new Set(
    rowsOf("other-systems.md").map((row) => row.at(-1)?.replaceAll(/[<>]/g, "")),
  );
  assert.ok(addresses.length > 3 && addresses.every((one) => known.has(one ?? "")));
  // It is in the library's table, but it has no such operator.
  assert.equal(await page.locator("tr#dialect-torch-scatter").count(), 0);
});

test("indices at the edges of an axis: what is shown is what a call does", async () => {
  await using opened = await open("openvino-gather.html");
  const rows = await opened.page
    .locator("#v8-bounds ~ .wide")
    .first()
    .locator("tbody tr")
    .evaluateAll((all) =>
      all.map((row) => ({
        said: row.children[1].textContent?.trim() ?? "",
        hash: row.querySelector("a")?.getAttribute("href")?.replace("../", "") ?? "",
      })),
    );
  assert.equal(rows.length, 6);
  // Gather-8 of OpenVINO takes -s to s - 1, and gives 0 on either side.
  assert.deepEqual(
    rows.map(({ said }) => said.startsWith("no position")),
    [true, false, false, false, false, true],
  );
  for (const { hash } of rows) {
    const read = fromHash(hash);
    assert.ok("state" in read && explainState(read.state).faults.length === 0);
  }
});

test("a stage is loaded when it is asked for, and not before", async () => {
  await using opened = await site.open("", {}, "reference/onnx-gathernd.html");
  const { page, requests } = opened;
  const frames = (): number => requests.filter((url) => url.includes("embed=1")).length;
  const example = page.locator("article").first();
  await example.scrollIntoViewIfNeeded();
  assert.equal(frames(), 0);
  await example.locator("summary").first().click();
  assert.equal(frames(), 0);
  await example.locator(".live summary").click();
  await example.frameLocator("iframe").locator("main").waitFor();
  assert.equal(frames(), 1);
});

test("the pages of the reference are under 132 kB gzipped, none over 18 kB, and no picture over 3 kB", (t) => {
  const sizes = fs.readdirSync(FOLDER).map((name) => ({
    name,
    size: gzipSync(fs.readFileSync(path.join(FOLDER, name))).length,
  }));
  const isPage = ({ name }: { name: string }): boolean => name.endsWith(".html");
  const pages = sizes.filter(isPage);
  const pictures = sizes.filter((one) => !isPage(one));
  for (const { name, size } of pages) t.diagnostic(`${name}: ${size} bytes`);
  const total = pages.reduce((sum, { size }) => sum + size, 0);
  t.diagnostic(`${pages.length} pages, ${total} bytes; ${pictures.length} pictures`);
  assert.ok(total < 132_000, `${total}`);
  assert.deepEqual(
    pages.filter(({ size }) => size > 18_000),
    [],
  );
  // Of each operator one for each theme.
  assert.equal(pictures.length, 2 * OPERATORS.size);
  assert.deepEqual(
    pictures.filter(({ size }) => size > 3000),
    [],
  );
});

test("a name in a table stays in one line where the page has the width", async () => {
  await using opened = await site.open("", {}, "reference/onnx-scatternd.html");
  const lines = await opened.page
    .locator("table.facts tbody th > code")
    .evaluateAll((names) =>
      names
        .filter(({ textContent }) => textContent === "reduction")
        .map((name) => name.getClientRects().length),
    );
  assert.ok(lines.length > 0 && lines.every((count) => count === 1), lines.join(" "));
});
