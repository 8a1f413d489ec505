/** The check of the visitor's GPU: what it compares, its report, and the page with WebGPU and without. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor, TensorError } from "ndscatter";
import type { Page } from "playwright-core";
import { allCalls } from "../src/gpu/calls.ts";
import { differenceOf, outcomeOf } from "../src/gpu/compare.ts";
import { hashOf, isGood, reportFrom, textOf, verdictOf, type Report } from "../src/gpu/report.ts";
import { violationsOf } from "./support/axe.ts";
import { useSite } from "./support/page.ts";

/** The example's page took 20 s on two cores. */
const PATIENCE = 240_000;

const withGpu = useSite(["--enable-unsafe-webgpu"]);
/** It has WebGPU, and no adapter. */
const plain = useSite();

const open = (site: typeof plain, hash = "", options = {}) => site.open(hash, options, "gpu.html");

test("the calls are of every type and reduction, in every way, and always the same", () => {
  const calls = [...allCalls()];
  const titles = calls.map(({ title }) => title);
  assert.equal(new Set(titles).size, titles.length);
  assert.ok(titles.includes("ScatterND, scatternd_add"));
  for (const text of [
    "scatterND of float32, add, indices in a kept plan",
    "gatherND of int4, indices on the GPU",
    "scatterND of float16, add, bounds clip, includeSelf false",
    "scatterND of int64, none, a bad index",
    "tensorScatter of bool",
  ]) {
    assert.ok(titles.includes(text), text);
  }
  const works = new Set(calls.map(({ data, reduction }) => `${data.dtype} ${reduction}`));
  for (const dtype of ["float32", "float16", "bfloat16", "int64", "uint8", "bool"]) {
    for (const reduction of ["none", "add", "mul", "max", "min", null]) {
      assert.ok(works.has(`${dtype} ${reduction}`), `${dtype} ${reduction}`);
    }
  }
  assert.deepEqual([...allCalls()], calls);
});

const right = { tensor: tensor("float32", [2, 2], [1, 0, 3, NaN]) };

test("a result that differs in a bit is told with both, and the same one is not", () => {
  assert.equal(differenceOf(right, { tensor: tensor("float32", [2, 2], [1, 0, 3, NaN]) }), null);
  assert.equal(
    differenceOf(right, { tensor: tensor("float32", [2, 2], [1, -0, 3, 4]) }),
    "2 of 4 elements of float32 [2, 2] differ; [0, 1] has the bits 80000000 instead of 00000000",
  );
  assert.equal(
    differenceOf(right, { tensor: tensor("float32", [4], [1, 0, 3, NaN]) }),
    "the result is float32 [4] instead of float32 [2, 2]",
  );
});

test("an error must have the same code, and a result is no substitute for one", () => {
  const bad = { code: "index-out-of-range", sentence: "index 9" };
  assert.equal(differenceOf(bad, { ...bad, sentence: "another" }), null);
  assert.equal(
    differenceOf(bad, right),
    "a result was returned instead of the error index-out-of-range",
  );
  assert.equal(
    differenceOf(bad, { code: "engine", sentence: "lost" }),
    "the error is engine instead of index-out-of-range: lost",
  );
  assert.equal(differenceOf(right, bad), "the error index-out-of-range: index 9");
});

test("errors of the library are outcomes, others are not caught", async () => {
  const failing = (error: Error) => outcomeOf(() => Promise.reject(error));
  assert.deepEqual(await failing(new TensorError("engine", "no")), {
    code: "engine",
    sentence: "no",
  });
  await assert.rejects(failing(new Error("a bug")), /a bug/);
});

const REPORT: Report = {
  adapter: "vendor, architecture <b>",
  browser: "a browser",
  date: "2026-01-02",
  version: "1.2.3",
  calls: 30,
  different: 25,
  differences: [{ call: "scatterND of float32, add", difference: "1 of 4 elements differ" }],
  refused: ["float64 (add, mul)"],
  failure: null,
};
const GOOD = { ...REPORT, different: 0, differences: [] };

test("the verdict is one sentence", () => {
  assert.equal(
    verdictOf(GOOD),
    "This adapter is bit-exact: all 30 calls gave the same results as the JavaScript engine.",
  );
  assert.equal(verdictOf(REPORT), "This adapter is not bit-exact: 25 of 30 calls differ.");
  const ended = { ...GOOD, failure: "the device is lost" };
  assert.equal(verdictOf(ended), "The check ended early, after 30 calls: the device is lost");
  assert.deepEqual([GOOD, REPORT, ended].map(isGood), [true, false, false]);
});

test("a report goes through a link, and what is none is refused", () => {
  assert.deepEqual(reportFrom(hashOf(REPORT)), REPORT);
  assert.match(
    textOf(REPORT),
    /^- scatterND of float32, add: 1 of 4 elements differ\n- and 24 more$/m,
  );
  const broken: unknown[] = [
    null,
    [],
    {},
    { ...REPORT, calls: -1 },
    { ...REPORT, different: "2" },
    { ...REPORT, adapter: 1 },
    { ...REPORT, failure: 0 },
    { ...REPORT, refused: [1] },
    { ...REPORT, differences: [{ call: "a" }] },
    { ...REPORT, differences: Array.from({ length: 21 }, () => REPORT.differences[0]) },
  ];
  for (const one of broken) {
    const hash = `#report=${encodeURIComponent(JSON.stringify(one))}`;
    assert.equal(reportFrom(hash), null, hash);
  }
  for (const hash of ["", "#", "#report=", "#report=%", "#report=[", "#other"]) {
    assert.equal(reportFrom(hash), null, hash);
  }
});

const verdictOn = (page: Page): Promise<string | null> => page.locator("#verdict").textContent();

test("with WebGPU the page checks the adapter, and its link shows the same report", async () => {
  await using opened = await open(withGpu);
  const { page } = opened;
  await page.getByRole("button", { name: "Check this browser" }).click();
  const button = page.locator("#check:not(:disabled)");
  await button.waitFor({ timeout: PATIENCE });
  const calls = [...allCalls()];
  const verdict = (await verdictOn(page)) ?? "";
  const report = await page.locator("#report").innerText();
  assert.match(verdict, /^This adapter is bit-exact: all \d+ calls gave the same/, report);
  // What WGSL has no numbers for; all else is compared.
  const works = "(add, mul, max, min, sub, mean)";
  const refused = ["float64", "complex64", "complex128"].map((dtype) => `${dtype} ${works}`);
  assert.ok(report.split("\n").includes(`Calls refused on a GPU: ${refused.join(", ")}`), report);
  assert.ok(Number(/\d+/.exec(verdict)?.[0]) > calls.length / 2, report);
  assert.match(report, /^Adapter: .*swiftshader/im);
  assert.match(report, /^Browser: .*Chrom/m);
  const link = (await page.locator("#link").getAttribute("href")) ?? "";
  assert.equal(new URL(page.url()).hash, link);
  assert.deepEqual(await violationsOf(page), []);
  await using again = await open(plain, link);
  assert.equal(await verdictOn(again.page), verdict);
  const titles = [page, again.page].map((one) => one.locator("#title").innerText());
  assert.deepEqual(await Promise.all(titles), ["Report", "Report from a link"]);
  assert.equal(await again.page.locator("#report").innerText(), report);
});

test("without WebGPU the page says so in one sentence, and still shows reports", async () => {
  await using opened = await open(plain);
  const { page } = opened;
  await page.addInitScript(() => Reflect.deleteProperty(Navigator.prototype, "gpu"));
  await page.reload();
  assert.equal(await verdictOn(page), "This browser has no WebGPU, so nothing can be checked.");
  assert.equal(await page.getByRole("button", { name: "Check" }).count(), 0);
  assert.equal(await page.locator("#result").isVisible(), false);
  await page.evaluate((hash) => {
    location.hash = hash;
  }, hashOf(REPORT));
  await page.locator("#result").waitFor();
  assert.equal(await verdictOn(page), verdictOf(REPORT));
  // A link may hold anything, and it is shown as text.
  assert.equal(await page.locator("#report").innerText(), textOf(REPORT));
});

test("where WebGPU finds no adapter the page says so in one sentence", async () => {
  await using opened = await open(plain);
  const { page } = opened;
  await page.getByRole("button", { name: "Check this browser" }).click();
  await page.locator("#verdict:not(:empty)").waitFor();
  assert.equal(
    await verdictOn(page),
    "This browser has WebGPU, but WebGPU found no adapter, so nothing can be checked.",
  );
  assert.equal(await page.locator("#result").isVisible(), false);
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`the report of a link fits on a phone, and everyone can read it: ${colorScheme}`, async () => {
    const options = { viewport: { width: 390, height: 800 }, colorScheme };
    await using opened = await open(plain, hashOf(REPORT), options);
    const { page } = opened;
    assert.equal(await verdictOn(page), verdictOf(REPORT));
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    assert.equal(overflow, 0);
    assert.deepEqual(await violationsOf(page), []);
  });
}
