/**
 * Questions of users, and the words that they search for: the first place that the search finds must be on a page that
 * answers the question. The answer is a text of that page.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Row } from "../src/site/search/index.ts";
import { matches } from "../src/site/search/match.ts";

const SITE = fileURLToPath(new URL("../dist", import.meta.url));

const QUESTIONS: readonly (readonly [
  question: string,
  words: string,
  page: RegExp,
  answer: RegExp,
])[] = [
  [
    "How do I run one node from JavaScript?",
    "run one node",
    /^(api\/ndscatter|docs\/(onnxruntime|tour))\.html/,
    /run/,
  ],
  [
    "How do I use tensors of onnxruntime on the CPU?",
    "onnxruntime tensors",
    /^docs\/onnxruntime\.html/,
    /toRuntime/,
  ],
  ["How many bytes does it add to my page?", "bundle size", /^docs\/browsers\.html/, /37 kB/],
  [
    "Can I require it from CommonJS?",
    "CommonJS",
    /^docs\/browsers\.html/,
    /require\("ndscatter"\)/,
  ],
  ["Does it work in Next.js?", "Next.js", /^docs\/browsers\.html/, /Next\.js/],
  ["Does it work with webpack?", "webpack", /^docs\/browsers\.html/, /webpack/],
  [
    "How does a page get threads?",
    "threads headers",
    /^docs\/browsers\.html/,
    /Cross-Origin-Opener-Policy/,
  ],
  ["Is the result the same in every run?", "deterministic", /^docs\/readme\.html/, /same bits/],
  [
    "What happens if indices repeat?",
    "repeated targets",
    /semantics\.html/,
    /the last update of a target wins/,
  ],
  [
    "What happens to an index out of range?",
    "bounds negative",
    /semantics\.html/,
    /index-out-of-range/,
  ],
  ["How do max and min treat NaN?", "arithmetic NaN", /semantics\.html/, /NaN if either is NaN/],
  [
    "How do I write into a tensor that I have?",
    "in place out",
    /^docs\/api\.html/,
    /A scatter may have data itself as/,
  ],
  ["When must I dispose of a result?", "dispose memory", /^docs\/tour\.html/, /dispose/],
  ["Are there gradients?", "gradients", /api\.html/, /vjp/],
  ["Does it run on a GPU?", "tensors GPU", /^docs\/webgpu\.html/, /createGpuEngine/],
  [
    "Can the array be larger than memory?",
    "larger than memory",
    /^docs\/arrays\//,
    /scatterChunked|run ScatterND/,
  ],
  ["How do I read Zarr from S3?", "object storage S3", /^docs\/arrays\/zarr\.html/, /s3:\/\//],
  [
    "How do several machines share a job?",
    "many machines",
    /^docs\/arrays\/distributed\.html/,
    /BullMQ/,
  ],
  [
    "How do I convert a model to another opset?",
    "convert opset",
    /^docs\/convert\.html/,
    /--opset/,
  ],
  [
    "Which operators and versions are there?",
    "which versions",
    /^docs\/operators\.html/,
    /ScatterNDUpdate/,
  ],
  ["How is float16 added?", "arithmetic float16", /semantics\.html/, /rounded to nearest even/],
  [
    "Why does the result change from run to run?",
    "race",
    /^(docs\/(known-faults|my-model-fails)|reference\/other-systems)\.html/,
    /race/,
  ],
  [
    "How do I replace a wrong scatter in my session?",
    "exact session",
    /^docs\/exact\.html/,
    /createExactSession/,
  ],
  [
    "How do I get the inputs of one node?",
    "inputs node out",
    /^docs\/my-model-fails\.html/,
    /capture/,
  ],
  ["Why is my result different?", "yours different", /^docs\/my-model-fails\.html/, /why/],
  [
    "What does a runtime's message mean?",
    "messages causes",
    /^docs\/my-model-fails\.html/,
    /Unrecognized attribute/,
  ],
  [
    "What does each error code mean?",
    "errors code",
    /^(docs\/api|api\/ndscatter)\.html/,
    /index-out-of-range/,
  ],
  ["Which files are refused?", "NPY files", /^docs\/files\.html/, /malformed-file/],
  ["What does a word of the documents mean?", "glossary", /^docs\/glossary\.html/, /index tuple/],
  ["How fast is it?", "performance", /^docs\/performance\.html/, /onnxruntime-node/],
  [
    "What do PyTorch and JAX do differently?",
    "other systems dialects",
    /other-systems\.html/,
    /JAX/,
  ],
  ["What does an install bring?", "dependencies", /^docs\/dependencies\.html/, /numcodecs/],
];

async function loadRows(): Promise<readonly Row[]> {
  const folder = path.join(SITE, "site");
  const name = fs.readdirSync(folder).find((one) => /^index-\w+\.js$/.test(one));
  assert.ok(name !== undefined, "the site is not built");
  const { rows }: { rows: readonly Row[] } = await import(path.join(folder, name));
  return rows;
}

test("there are 32 questions, each with words of its own", () => {
  assert.equal(QUESTIONS.length, 32);
  assert.equal(new Set(QUESTIONS.map(([, words]) => words)).size, 32);
});

for (const [question, words, page, answer] of QUESTIONS) {
  test(`${question} A search for "${words}" finds the answer first`, async () => {
    const [first] = matches(await loadRows(), words);
    assert.ok(first !== undefined, "nothing is found");
    const [, , , address] = first.row;
    assert.match(address, page);
    const html = fs.readFileSync(path.join(SITE, address.split("#")[0]), "utf8");
    assert.match(html.replaceAll(/<[^>]*>/g, "").replaceAll("&quot;", '"'), answer);
  });
}

/** How far down people look. */
const LOOK = 6;

test("at least 26 of the questions, typed as they are, find their page among the first 6 places", async () => {
  const rows = await loadRows();
  const missed = QUESTIONS.filter(
    ([question, , page]) =>
      !matches(rows, question)
        .slice(0, LOOK)
        .some(({ row }) => page.test(row[3])),
  );
  assert.ok(missed.length <= 6, missed.map(([question]) => question).join("\n"));
});

test("a search reads a word by its stem, and words that mean the same", async () => {
  const rows = await loadRows();
  const pages = (query: string): string[] => matches(rows, query).map(({ row }) => row[3]);
  assert.ok(pages("determinism").some((address) => address.startsWith("docs/readme.html")));
  assert.ok(
    pages("how do I run one node from JavaScript")
      .slice(0, 3)
      .some((address) => address.startsWith("docs/onnxruntime.html")),
  );
  assert.match(
    pages("why is my output wrong")[0],
    /^(docs\/my-model-fails|reference\/other-systems)\.html/,
  );
  assert.deepEqual(pages("zebra xyzzy"), []);
});
