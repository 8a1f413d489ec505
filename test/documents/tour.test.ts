/**
 * Runs the code of docs/tour.md as one module, and then the lines of docs/commands.md on the files that the code has
 * written. Runs the code of docs/api.md. Holds docs/operators.md to the registry.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { assertPrints, blocksOf, ndscatter, read, ROOT } from "../support/documents.ts";
import {
  assertPromised,
  programsOf,
  promisedOutput,
  runProgram,
  runShell,
} from "../support/snippets.ts";

const tour = read("docs/tour.md");
const commands = read("docs/commands.md");
const code = blocksOf(tour, "ts").join("\n");
const programs = blocksOf(read("docs/api.md"), "ts");
const folders = programsOf("tour", () => [code, ...programs]);
const folderOf = (program: string): string => folders().get(program) ?? "";

test("the table of operators is the registry's", async () => {
  const file = path.join(ROOT, "scripts/operators-table.js");
  const { renewed }: { renewed: () => string } = await import(file);
  assert.equal(read("docs/operators.md"), renewed(), "run node scripts/operators-table.js");
});

test("the code of the tour compiles and prints what its comments say", () => {
  assertPromised(blocksOf(tour, "ts"), runProgram(folderOf(code)));
  assert.ok(promisedOutput(code).split("\n").length > 15);
});

test("the code of api.md compiles and prints what its comments say", () => {
  assert.equal(programs.length, 2);
  for (const program of programs) {
    assertPromised([program], runProgram(folderOf(program)));
    assert.notEqual(promisedOutput(program), "");
  }
});

test("the lines of commands.md run, and print what the page shows", async () => {
  const lines = blocksOf(commands, "sh").join("").trimEnd().split("\n");
  assert.equal(lines.length, 13);
  assert.ok(lines.every((line) => line.startsWith("ndscatter ")));
  const folder = folderOf(code);
  for (const line of lines) {
    const [words] = line.replace(/^ndscatter /, "").split(/ +# /);
    if (/[<>|]/.test(words)) {
      runShell(folder, [line]);
      continue;
    }
    const { status, stdout, stderr } = await ndscatter(words, folder);
    assert.equal(status, 0, `${line}\n${stdout}${stderr}`);
  }
  for (const name of ["taken.npy", "m16.onnx", "net.bin"]) {
    assert.ok(fs.existsSync(path.join(folder, name)), name);
  }
  const xml = fs.readFileSync(path.join(folder, "net.xml"), "utf8");
  assert.match(xml, /type="ScatterNDUpdate"/);
  const shown = blocksOf(commands, "text");
  const statuses = await Promise.all(shown.map((block) => assertPrints(block, folder)));
  assert.deepEqual(statuses, [[0], [0]]);
});

test("the picture has the values of the first code", () => {
  const rows = [...tour.matchAll(/^(\d) │.*(\d) │ +(\d+) +(\d+) +(\d+) │/gm)];
  const picture = rows.map(([, , , ...row]) => row.map(Number));
  const [, printed] = /^\/\/ tensor\((\[[^]*?\]\])/m.exec(code) ?? [];
  const sums = printed.replaceAll("//", "").replaceAll(".", "");
  assert.deepEqual(picture, JSON.parse(sums));
});
