/** Runs what the README shows, as it stands and one after the other, and holds its opening to what it is for. */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { writeModel, writeTensor } from "../src/entries/onnx.ts";
import { DTYPE_NAMES } from "../src/core/tensor/dtype.ts";
import { tensor } from "../src/core/tensor/tensor.ts";
import { DATA } from "./support/cli-files.ts";
import { SCATTER_ADD } from "./support/cli-models.ts";
import { assertPrints, blocksOf, ndscatter, read, ROOT } from "./support/documents.ts";
import { promisedOutput, runProgram, runShell } from "./support/snippets.ts";

const readme = read("README.md");
const opening = readme.slice(0, readme.indexOf("```text"));
const code = blocksOf(readme, "ts").join("\n");
const commands = blocksOf(readme, "sh").join("").trimEnd().split("\n");

/** What a line of a shell block begins with where it needs the network or the whole clone. */
const ELSEWHERE = ["npm ci && npm start", "npm ci && npm test", "npm run playground"];

let folder = "";
before(() => {
  // Inside build/, so that the package is found by its own name.
  folder = fs.mkdtempSync(path.join(ROOT, "build", "readme-"));
});
after(() => fs.rmSync(folder, { recursive: true }));

test("the table of operators is the registry's", async () => {
  const { renewed }: { renewed: () => string } = await import(path.join(ROOT, "scripts/readme.js"));
  assert.equal(readme, renewed(), "run node scripts/readme.js");
});

test("it counts the data types", () => {
  assert.ok(readme.includes(`all ${DTYPE_NAMES.length} data types`));
});

test("its readers come before the first picture, on less than two screens", () => {
  const places = ["A model fails", "Code needs", "An implementation needs"].map((who) =>
    opening.indexOf(`\n**${who}`),
  );
  assert.ok(places.every((place, number) => place > (places[number - 1] ?? 0)));
  const lines = opening.split("\n");
  assert.ok(lines.length <= 48, `${lines.length} lines`);
  assert.ok(lines.every((line) => line.length <= 120));
});

test("all of its code is known to the tests", () => {
  const languages = [...readme.matchAll(/^```(\w+)$/gm)].map(([, language]) => language);
  assert.deepEqual([...new Set(languages)].toSorted(), ["sh", "text", "ts"]);
  // So the code can run as one module before the commands, which need its files.
  assert.ok(readme.lastIndexOf("```ts") < readme.search(/^ndscatter /m));
});

test("its code compiles and prints what it says", () => {
  assert.equal(runProgram(folder, code), promisedOutput(code));
  assert.ok(promisedOutput(code).split("\n").length > 15);
});

test("its commands run, and print what it shows", async () => {
  const lines = commands.filter((line) => !ELSEWHERE.some((start) => line.startsWith(start)));
  assert.equal(lines.length, 13);
  assert.ok(lines.every((line) => line.startsWith("ndscatter ")));
  runShell(folder, lines);
  for (const name of ["taken.npy", "m16.onnx", "net.bin"]) {
    assert.ok(fs.existsSync(path.join(folder, name)), name);
  }
  const xml = fs.readFileSync(path.join(folder, "net.xml"), "utf8");
  assert.match(xml, /type="ScatterNDUpdate"/);
  const shown = blocksOf(readme, "text").filter((block) => block.startsWith("$ ndscatter "));
  const statuses = await Promise.all(shown.map((block) => assertPrints(block, folder)));
  assert.deepEqual(statuses, [[0]]);
});

test("exactly one line does the main job in a clone, and one passes the tests", () => {
  const once = (text: string): number => commands.filter((line) => line.startsWith(text)).length;
  assert.equal(once("npm ci && npm start"), 1);
  assert.equal(once("npm ci && npm test"), 1);
});

test("the picture has the values of the first code", () => {
  const rows = [...readme.matchAll(/^(\d) │.*(\d) │ +(\d+) +(\d+) +(\d+) │/gm)];
  const picture = rows.map(([, , , ...row]) => row.map(Number));
  const [, printed] = /^\/\/ tensor\((\[[^]*?\]\])/m.exec(code) ?? [];
  const sums = printed.replaceAll("//", "").replaceAll(".", "");
  assert.deepEqual(picture, JSON.parse(sums));
});

/** The files that the commands of the opening take, which are the reader's own. */
function writeOwnFiles(): void {
  const files = { data: "d", indices: "i", updates: "u", sums: "yours" };
  for (const [from, to] of Object.entries(files)) {
    fs.copyFileSync(path.join(folder, `${from}.npy`), path.join(folder, `${to}.npy`));
  }
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

/** What the first commands of each reader say, with their status. */
const FIRST: readonly (readonly [line: string, status: number, says: RegExp])[] = [
  ["inspect model.onnx", 0, /^model\.onnx: ai\.onnx 18, 2 nodes, 2 of the family\n/],
  [
    "verify model.onnx --random",
    2,
    /no ONNX Runtime is installed here; install yours first, such as by /,
  ],
  // The README adds updates up, and the command of its opening replaces.
  [
    "run ScatterND d.npy i.npy u.npy --expect yours.npy",
    1,
    /: output\[1, 0\] is 7, but yours\.npy has 8\n$/,
  ],
  ["conformance DIR", 0, /^ok {7}test_scatternd\n1 passed, 0 failed, 0 skipped\n$/],
  ["ops ScatterND --diff 13 18", 0, /reduction/],
];

test("what each reader types first does what it says", async () => {
  writeOwnFiles();
  const typed = [...opening.matchAll(/`npx ndscatter ([^`]+)`/g)].map(([, line]) => line);
  assert.deepEqual(
    typed,
    FIRST.map(([line]) => line),
  );
  for (const [line, status, says] of FIRST) {
    // oxlint-disable-next-line no-await-in-loop
    const result = await ndscatter(line, folder);
    assert.match(`${result.stdout}${result.stderr}`, says);
    assert.equal(result.status, status, line);
  }
});
