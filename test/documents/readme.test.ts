/** Holds the README to its limits, and runs its code and its commands as they stand. */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { buildModel, writeModel, writeTensor } from "../../src/entries/onnx.ts";
import { DTYPE_NAMES } from "../../src/core/tensor/dtype.ts";
import { scatterElements, tensorScatter } from "../../src/core/functions.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor, zeros } from "../../src/core/tensor/tensor.ts";
import * as ndscatterEntry from "../../src/entries/index.ts";
import { writeNpy } from "../../src/entries/npy.ts";
import { DATA } from "../support/cli-files.ts";
import { F32, SCATTER_ADD } from "../support/cli-models.ts";
import { blocksOf, inFolder, ndscatter, read, tablesOf } from "../support/documents.ts";
import { assertPromised, programsOf, runProgram } from "../support/snippets.ts";

const readme = read("README.md");
const snippets = blocksOf(readme, "ts");
const lines = blocksOf(readme, "sh").flatMap((block) => block.trimEnd().split("\n"));

test("it has at most 200 lines and, outside of code and tables, 1,000 words", () => {
  assert.ok(readme.split("\n").length <= 200);
  const prose = readme
    .replaceAll(/^```[^]*?^```$/gm, "")
    .replaceAll(/^\|.*$/gm, "")
    .split(/\s+/);
  assert.ok(prose.length > 300 && prose.length <= 1000, `${prose.length} words`);
});

test("it counts the data types", () => {
  assert.ok(readme.includes(`all ${DTYPE_NAMES.length} data types`));
});

test("the table of entries has those of package.json", () => {
  const table = tablesOf(readme).find(({ head }) => head[0] === "entry");
  const { exports }: { exports: object } = JSON.parse(read("package.json"));
  const entries = Object.keys(exports).filter((name) => name !== "./package.json");
  assert.deepEqual(
    table?.rows.map(([entry]) => entry).toSorted(),
    entries.map((name) => `\`ndscatter${name.slice(1)}\``).toSorted(),
  );
});

test("the table of functions has exported functions, and the default axes", () => {
  const rows = tablesOf(readme).find(({ head }) => head[0] === "function")?.rows ?? [];
  const names = rows.flatMap(([cell]) => [...cell.matchAll(/`(\w+)/g)].map(([, name]) => name));
  assert.ok(names.length > 12);
  for (const name of names)
    assert.equal(typeof Reflect.get(ndscatterEntry, name), "function", name);
  const said = rows.filter(([, purpose]) => purpose.includes("axis -2")).map(([cell]) => cell);
  assert.deepEqual(said, ["`tensorScatter(past_cache, update, write_indices)`"]);
  const cache = zeros("float32", [1, 4, 2]);
  const update = tensor("float32", [1, 1, 2], [7, 8]);
  assert.ok(
    equals(tensorScatter(cache, update, [2]), tensorScatter(cache, update, [2], { axis: -2 })),
  );
  const matrix = zeros("float32", [2, 2]);
  const call = (options: object) => scatterElements(matrix, [[1, 0]], [[5, 6]], options);
  assert.ok(equals(call({}), call({ axis: 0 })) && !equals(call({}), call({ axis: 1 })));
});

const folders = programsOf("readme", () => snippets);

for (const [number, code] of snippets.entries()) {
  test(`piece ${number + 1} of its code compiles by itself, and prints what it says, twice`, () => {
    const folder = folders().get(code) ?? "";
    assertPromised([code], runProgram(folder));
    assertPromised([code], runProgram(folder));
  });
}

test("the first piece of code has eight lines at most, without blank ones", () => {
  assert.ok(snippets[0].split("\n").filter((line) => line !== "").length <= 8);
});

test("exactly one line does the main job in a clone, and one passes the tests", () => {
  const once = (text: string): number => lines.filter((line) => line.startsWith(text)).length;
  assert.equal(once("npm ci && npm start"), 1);
  assert.equal(once("npm ci && npm test"), 1);
});

const zeroRows = tensor("float32", [4, 3], new Float32Array(12));
const indices = tensor("int64", [3, 1], [1, 3, 1]);
const updates = tensor("float32", [3, 3], [1, 2, 3, 4, 5, 6, 7, 8, 9]);

/** A model with one input, `x`. */
const OWN_MODEL = buildModel({
  opsets: { "ai.onnx": 18 },
  inputs: { x: F32(3, 3) },
  constants: { data: zeroRows, indices },
  nodes: [{ op: "ScatterND", name: "sums", inputs: ["data", "indices", "x"], outputs: ["y"] }],
  outputs: { y: F32(4, 3) },
});

/** The files that the commands take, which are the reader's own. */
function writeOwnFiles(folder: string): void {
  const sums = tensor("float32", [4, 3], [0, 0, 0, 8, 10, 12, 0, 0, 0, 4, 5, 6]);
  const files = { d: zeroRows, i: indices, u: updates, x: updates, yours: sums };
  for (const [name, value] of Object.entries(files)) {
    fs.writeFileSync(path.join(folder, `${name}.npy`), writeNpy(value));
  }
  fs.writeFileSync(path.join(folder, "model.onnx"), writeModel(OWN_MODEL));
  const suite = path.join(folder, "DIR/test_scatternd");
  fs.mkdirSync(path.join(suite, "test_data_set_0"), { recursive: true });
  fs.writeFileSync(path.join(suite, "model.onnx"), writeModel(SCATTER_ADD));
  const tensors = {
    input_0: DATA,
    input_1: tensor("int64", [2, 1], [1, 1]),
    input_2: tensor("float32", [2, 2], [10, 20, 30, 40]),
    output_0: tensor("float32", [4, 2], [1, 2, 43, 64, 5, 6, 7, 8]),
  };
  for (const [name, value] of Object.entries(tensors)) {
    fs.writeFileSync(path.join(suite, `test_data_set_0/${name}.pb`), writeTensor(value));
  }
}

/** Each command of the README, its status here, where no ONNX Runtime is installed, and what it prints. */
const COMMANDS: readonly (readonly [line: string, status: number, prints: RegExp])[] = [
  // The README's sums were added; this command replaces, so the last update of row 1 wins.
  [
    "run ScatterND d.npy i.npy u.npy --expect yours.npy",
    1,
    /: output\[1, 0\] is 7, but yours\.npy has 8\n$/,
  ],
  ["conformance DIR", 0, /^ok {7}test_scatternd\n1 passed, 0 failed, 0 skipped\n$/],
  ["inspect model.onnx", 0, /^model\.onnx: ai\.onnx 18, 1 node, 1 /],
  ["verify model.onnx --feed x=x.npy", 2, /no ONNX Runtime is installed here/],
  ["capture model.onnx --feed x=x.npy --node sums -o case", 2, /no ONNX Runtime is installed here/],
  ["fix model.onnx --feed x=x.npy", 2, /no ONNX Runtime is installed here/],
];

test("its commands do what it says", () =>
  inFolder(async (folder) => {
    writeOwnFiles(folder);
    const typed = [...readme.matchAll(/npx ndscatter ([^`#\n]+)/g)].map(([, line]) => line.trim());
    assert.deepEqual(
      typed,
      COMMANDS.map(([line]) => line),
    );
    for (const [line, status, prints] of COMMANDS) {
      // oxlint-disable-next-line no-await-in-loop
      const result = await ndscatter(line, folder);
      assert.match(`${result.stdout}${result.stderr}`, prints);
      assert.equal(result.status, status, line);
    }
  }));
