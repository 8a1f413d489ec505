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

/** One or a few words, some of them misspelled. */
const WORDS: readonly Question[] = [
  ["run one node", "docs/onnxruntime.html#run-one-node-of-a-model"],
  ["onnxruntime tensors", "docs/onnxruntime.html#onnxruntime-tensors-on-the-cpu"],
  ["bundle size", "docs/browsers.html#bundle-size"],
  ["CommonJS", "docs/browsers.html#commonjs"],
  ["Next.js", "docs/browsers.html#nextjs-and-other-servers"],
  ["webpack", "docs/browsers.html#bundlers-vite-webpack-rollup-esbuild-parcel"],
  ["threads headers", "docs/browsers.html#threads"],
  ["two threads", "docs/browsers.html#threads"],
  ["CSP", "docs/browsers.html#content-security-policy-csp"],
  ["cdn", "docs/browsers.html#from-a-cdn"],
  ["install", "docs/browsers.html#installation-node-version-and-browsers"],
  ["Node version", "docs/browsers.html#installation-node-version-and-browsers"],
  ["bun", "docs/browsers.html#installation-node-version-and-browsers"],
  ["typescript", "docs/browsers.html#typescript"],
  ["how fast", "docs/performance.html"],
  ["performance", "docs/performance.html"],
  ["benchmark", "docs/performance.html#run-the-benchmark"],
  ["license", "docs/readme.html#documentation"],
  ["sum by group", "docs/readme.html#recipes"],
  ["histogram", "docs/readme.html#recipes"],
  ["embeding lookup", "docs/readme.html#recipes"],
  ["message passing gnn", "docs/readme.html#recipes"],
  ["one hot", "docs/readme.html#recipes"],
  ["kv cache", "docs/readme.html#recipes"],
  ["deterministic", "reference/semantics.html#order-and-repeated-targets"],
  ["repeated targets", "reference/semantics.html#order-and-repeated-targets"],
  ["int32 indices", "reference/semantics.html#data-types-of-indices-int32-or-int64"],
  ["string tensors", "reference/semantics.html#string-tensors"],
  ["bfloat16", "reference/semantics.html#half-precision-float16-and-bfloat16"],
  ["overflow", "reference/semantics.html#arithmetic"],
  ["arithmetic NaN", "reference/semantics.html#arithmetic"],
  ["clip indices", "reference/semantics.html#an-index-is-out-of-range-or-out-of-bounds"],
  ["includeSelf", "docs/tour.html#options"],
  ["shape mismatch", "docs/api.html#errors"],
  ["in place out", "docs/api.html#in-place-and-out"],
  ["errors code", "docs/api.html#errors"],
  ["int64 BigInt", "reference/semantics.html#data-types-of-indices-int32-or-int64"],
  ["dispose memory", "docs/tour.html#engines-memory-and-threads"],
  ["load onnx model", "docs/tour.html#models-and-files"],
  ["tensors GPU", "docs/webgpu.html"],
  ["onnxruntime-web", "docs/webgpu.html#with-onnxruntime-web"],
  ["nondeterministic gpu scatter", "docs/webgpu.html#bit-identical-results-on-every-gpu"],
  ["larger than memory", "docs/arrays/index.html"],
  ["zarr on s3", "docs/arrays/zarr.html#servers-s3-and-other-object-storage"],
  ["many machines", "docs/arrays/distributed.html"],
  ["slurm", "docs/arrays/distributed.html#slurm"],
  ["cancel", "docs/arrays/chunked.html#canceling-a-job-and-resuming-it-after-a-crash"],
  ["exact session", "docs/exact.html"],
  ["inputs node out", "docs/my-model-fails.html#3-take-the-node-out-with-its-inputs"],
  ["messages causes", "docs/my-model-fails.html#error-messages-and-their-causes"],
  ["NPY files", "docs/files.html#npy-files"],
  ["glossary", "docs/glossary.html"],
  ["vulnerability", "docs/security.html#reporting-a-vulnerability"],
  ["other systems dialects", "reference/other-systems.html"],
  ["dependencies", "docs/dependencies.html"],
];

/** Names of other frameworks. */
const NAMES: readonly Question[] = [
  ["index_add_", "docs/frameworks.html#pytorch"],
  ["scatter_add", "docs/frameworks.html#pytorch"],
  ["index_put_ accumulate", "docs/frameworks.html#pytorch"],
  ["take_along_axis", "docs/frameworks.html#jax"],
  [".at[].add", "docs/frameworks.html#jax"],
  ["x.at[idx].set(y)", "docs/frameworks.html#jax"],
  ["np.add.at", "docs/frameworks.html#numpy"],
  ["tensor_scatter_nd_update", "docs/frameworks.html#tensorflow"],
  ["tf.gather_nd", "docs/frameworks.html#tensorflow"],
  ["pytorch", "docs/frameworks.html#pytorch"],
  ["mlx", "docs/frameworks.html#mlx"],
];

/** Whole questions and error messages, with the minus signs of keyboards and documents. */
const SENTENCES: readonly Question[] = [
  ["what does −1 mean", "reference/semantics.html#negative-indices--1-means-the-last-element"],
  ["index –1", "reference/semantics.html#negative-indices--1-means-the-last-element"],
  ["index is out of range", "reference/semantics.html#an-index-is-out-of-range-or-out-of-bounds"],
  [
    "IndexError: index 7 is out of bounds for axis 0 with size 3",
    "reference/semantics.html#an-index-is-out-of-range-or-out-of-bounds",
  ],
  ["duplicate indices which one wins", "reference/semantics.html#order-and-repeated-targets"],
  ["What happens if indices repeat?", "reference/semantics.html#order-and-repeated-targets"],
  ["How do max and min treat NaN?", "reference/semantics.html#nan-in-max-min-and-sums"],
  ["How is float16 added?", "reference/semantics.html#half-precision-float16-and-bfloat16"],
  [
    "difference between gather and gatherND",
    "docs/tour.html#the-difference-between-gather-gathernd-and-gatherelements",
  ],
  ["updates.shape must be [3, 3], got [2, 3]", "docs/tour.html#shapes-of-indices-and-updates"],
  ["which update wrote a cell", "docs/tour.html#explanations"],
  ["gradient of gather", "reference/semantics.html#gradients"],
  ["What does each error code mean?", "docs/api.html#errors"],
  [
    "resume a job after crash",
    "docs/arrays/chunked.html#canceling-a-job-and-resuming-it-after-a-crash",
  ],
  ["convert modle to opset 18", "docs/convert.html"],
  ["Which operators and versions are there?", "docs/operators.html"],
  ["How do I run one node from JavaScript?", "docs/onnxruntime.html#run-one-node-of-a-model"],
  ["Can I require it from CommonJS?", "docs/browsers.html#commonjs"],
  ["Error [ERR_REQUIRE_ESM]: require() of ES Module not supported", "docs/browsers.html#commonjs"],
  [
    "Cannot find module 'ndscatter/zarr' or its corresponding type declarations. TS2307",
    "docs/browsers.html#typescript",
  ],
  [
    "Refused to evaluate a string as JavaScript because 'unsafe-eval' is not an allowed source of script",
    "docs/browsers.html#content-security-policy-csp",
  ],
  ["crossOriginIsolated SharedArrayBuffer is not defined", "docs/browsers.html#threads"],
  ["How do I read Zarr from S3?", "docs/arrays/zarr.html#servers-s3-and-other-object-storage"],
  [
    "indices element out of data bounds, idx=5 must be within the inclusive range [-4,3]",
    "reference/semantics.html#an-index-is-out-of-range-or-out-of-bounds",
  ],
  [
    "Non-zero status code returned while running ScatterND node. invalid indice found, indice = 4",
    "docs/my-model-fails.html#error-messages-and-their-causes",
  ],
];

async function search(): Promise<ReturnType<typeof placesIn>> {
  const name = fs.readdirSync(SITE).find((one) => /^index-\w+\.js$/.test(one));
  assert.ok(name !== undefined, "the site is not built");
  const { rows }: { rows: readonly Row[] } = await import(path.join(SITE, name));
  return placesIn(rows);
}

test("the search finds the section that answers a question first", async () => {
  const find = await search();
  const wrong = [...WORDS, ...NAMES, ...SENTENCES].flatMap(([query, answer]) => {
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
  assert.deepEqual(find("z".repeat(100_000)), []);
});
