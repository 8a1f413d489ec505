/**
 * Questions as users type them, with the section that answers each: the search must find this section first. A section
 * in this table has been read, so a failure means that a heading has lost its words, or that the answer has moved.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Row } from "../src/site/search/index.ts";
import { placesIn } from "../src/site/search/match.ts";

const SITE = fileURLToPath(new URL("../dist/site", import.meta.url));

type Question = readonly [query: string, answer: string];

/** One or a few words. */
const WORDS: readonly Question[] = [
  ["run one node", "docs/onnxruntime.html#run-one-node-of-a-model"],
  ["onnxruntime tensors", "docs/onnxruntime.html#onnxruntime-tensors-on-the-cpu"],
  ["bundle size", "docs/browsers.html#bundle-size"],
  ["CommonJS", "docs/browsers.html#commonjs"],
  ["Next.js", "docs/browsers.html#nextjs-and-other-servers"],
  ["webpack", "docs/browsers.html#vite-esbuild-and-webpack"],
  ["threads headers", "docs/browsers.html#threads"],
  ["two threads", "docs/browsers.html#threads"],
  ["CSP", "docs/browsers.html#content-security-policy-csp"],
  ["cdn", "docs/browsers.html#from-a-cdn"],
  ["Node version", "docs/browsers.html#node-version-runtimes-and-browsers"],
  ["how fast", "docs/performance.html"],
  ["performance", "docs/performance.html"],
  ["benchmark", "docs/performance.html#run-the-benchmark"],
  ["repeated targets", "reference/semantics.html#order-and-repeated-targets"],
  ["index is out of range", "reference/semantics.html#an-index-is-out-of-range"],
  ["int32 indices", "reference/semantics.html#data-types-of-indices-int32-or-int64"],
  ["string tensors", "reference/semantics.html#string-tensors"],
  ["arithmetic NaN", "reference/semantics.html#arithmetic"],
  ["arithmetic float16", "reference/semantics.html#arithmetic"],
  ["in place out", "docs/api.html#in-place-and-out"],
  ["errors code", "docs/api.html#errors"],
  ["dispose memory", "docs/tour.html#engines-memory-and-threads"],
  ["tensors GPU", "docs/webgpu.html"],
  ["larger than memory", "docs/arrays/index.html"],
  ["zarr on s3", "docs/arrays/zarr.html#servers-s3-and-other-object-storage"],
  ["many machines", "docs/arrays/distributed.html"],
  ["exact session", "docs/exact.html"],
  ["inputs node out", "docs/my-model-fails.html#3-take-the-node-out-with-its-inputs"],
  ["messages causes", "docs/my-model-fails.html#error-messages-and-their-causes"],
  ["NPY files", "docs/files.html#npy-files"],
  ["glossary", "docs/glossary.html"],
  ["other systems dialects", "reference/other-systems.html"],
  ["dependencies", "docs/dependencies.html"],
];

/** Whole questions, with misspelled words and the minus signs of keyboards and documents. */
const SENTENCES: readonly Question[] = [
  ["what does −1 mean", "reference/semantics.html#negative-indices--1-means-the-last-element"],
  ["index –1", "reference/semantics.html#negative-indices--1-means-the-last-element"],
  ["duplicate indices which one wins", "reference/semantics.html#order-and-repeated-targets"],
  ["What happens if indices repeat?", "reference/semantics.html#order-and-repeated-targets"],
  [
    "resume a job after crash",
    "docs/arrays/chunked.html#resuming-a-job-after-a-crash-or-an-interruption",
  ],
  ["convert modle to opset 18", "docs/convert.html"],
  ["Can I require it from CommonJS?", "docs/browsers.html#commonjs"],
  ["How do I read Zarr from S3?", "docs/arrays/zarr.html#servers-s3-and-other-object-storage"],
  ["How do several machines share a job?", "docs/arrays/distributed.html"],
  ["Which operators and versions are there?", "docs/operators.html"],
  ["What does each error code mean?", "docs/api.html#errors"],
  ["crossOriginIsolated SharedArrayBuffer is not defined", "docs/browsers.html#threads"],
];

async function search(): Promise<ReturnType<typeof placesIn>> {
  const name = fs.readdirSync(SITE).find((one) => /^index-\w+\.js$/.test(one));
  assert.ok(name !== undefined, "the site is not built");
  const { rows }: { rows: readonly Row[] } = await import(path.join(SITE, name));
  return placesIn(rows);
}

test("the search finds the section that answers a question first", async () => {
  const find = await search();
  const wrong = [...WORDS, ...SENTENCES].flatMap(([query, answer]) => {
    const [, , , first] = find(query)[0]?.item ?? [];
    return first === answer ? [] : `${query}: ${first}, not ${answer}`;
  });
  assert.deepEqual(wrong, []);
});

test("words without an ending, synonyms and misspelled words find the same sections", async () => {
  const find = await search();
  const first = (query: string): string | undefined => find(query)[0]?.item[3];
  assert.equal(first("benchmarks"), first("benchmark"));
  assert.equal(first("twice"), first("duplicates"));
  assert.equal(first("performence"), first("performance"));
  assert.deepEqual(find("xyzzyplugh"), []);
});
