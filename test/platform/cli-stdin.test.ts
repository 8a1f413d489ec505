/** Standard input in the place of a file: what it may be, and what cannot come that way. */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { test } from "node:test";
import { equals } from "../../src/entries/index.ts";
import { writeNpy } from "../../src/entries/npy.ts";
import { readModel } from "../../src/entries/onnx.ts";
import { ADDED, makeCliFolder } from "../support/cli-files.ts";
import {
  checkResult,
  fails,
  MAIN,
  prints,
  refuses,
  startCommand,
  words,
  type Row,
} from "../support/cli.ts";

const folder = makeCliFolder();
const { at, home, load, ndscatter } = folder;

/** Rows whose standard input is a file; null for a terminal. */
// prettier-ignore
const ROWS: readonly (readonly [stdin: string | null, row: Row])[] = [
  // Tensors, whose content tells the format.
  ["u.npy", prints("run ScatterND --attr reduction=add d.npy i.npy -", /^output: float32\[4, 2\]\n/)],
  ["u.pb", prints("run add.onnx d.npy i.npy - -o out.npy", "y: float32[4, 2]\n  written to out.npy\n")],
  ["d.npy", prints("run add.onnx data=- i.npy u.npy --expect y.npy", "y: float32[4, 2]\n  equals y.npy\n")],
  ["y.npy", prints("run add.onnx d.npy i.npy u.npy --expect -", "y: float32[4, 2]\n  equals standard input\n")],
  ["wrong.npy", fails("run add.onnx d.npy i.npy u.npy --expect y=-", /standard input/, /differs from standard input\n  why: nothing known explains it\n$/)],
  ["i.npy", prints("explain ScatterND d.npy - u.npy", /output: float32\[4, 2\]/)],
  ["cut.npy", fails("run ScatterND d.npy i.npy -", /^standard input: the NPY file declares 32 bytes .* but 12 follow/)],
  ["add.onnx", fails("run ScatterND d.npy i.npy -", /^standard input: /)],
  ["empty", fails("run ScatterND d.npy i.npy -", "standard input is empty; pipe a file into the command, or name one")],
  // Models.
  ["add.onnx", prints("run - d.npy i.npy u.npy --expect y.npy", "y: float32[4, 2]\n  equals y.npy\n")],
  ["add.onnx", prints("explain - d.npy i.npy u.npy", /output: float32\[4, 2\]/)],
  ["add.onnx", refuses("run - d.npy i.npy", /^standard input needs files for data, indices, updates; add /)],
  ["add.onnx", refuses("run - --opset 18 d.npy", "--opset goes with an operator, but standard input is a model, which has its own")],
  ["add.onnx", prints("inspect -", /^standard input: ai\.onnx 18, 1 node, 1 scatter\/gather\n/)],
  ["add.onnx", prints("convert - --opset 16 -o from-stdin.onnx", /^from-stdin\.onnx: /)],
  ["add.onnx", prints("convert - -o from-stdin.xml", /^from-stdin\.xml: /)],
  ["ir.xml", prints("inspect -", /^standard input: \d+ nodes?, /)],
  ["cut.onnx", fails("inspect -", /^standard input: /)],
  ["empty", fails("inspect -", "standard input is empty; pipe a file into the command, or name one")],
  // What lies beside a file does not come along.
  ["net.xml", fails("run - data=d.npy updates=u.npy",
    /^standard input: .*a model in standard input has no \.bin file; give the name of the model file/)],
  ["model/good.pb", fails("run ScatterND d.npy i.npy -",
    /^standard input: .*a model in standard input has no weights\.bin; give the name of the model file$/)],
  ["model/good.onnx", fails("convert - --opset 18 -o model/x.onnx",
    "the model in standard input has data in weights.bin; give the name of the model file")],
  // How often, and where.
  ["u.npy", refuses("run ScatterND d.npy - -", "standard input is one file, but - is given for 2 files; name the others")],
  ["u.npy", refuses("run ScatterND d.npy - u.npy --expect -", "standard input is one file, but - is given for 2 files; name the others")],
  ["add.onnx", refuses("run - d.npy i.npy -", "standard input is one file, but - is given for 2 files; name the others")],
  ["add.onnx", refuses("explain - d.npy i.npy -", "standard input is one file, but - is given for 2 files; name the others")],
  ["u.npy", refuses("run ScatterND d.npy i.npy - -o -", "- must end in .npy or .pb, which determines its format")],
  ["add.onnx", refuses("convert - --opset 18 -o -", "the output must end in .onnx or .xml, which determines the format, got -")],
  ["u.npy", fails("run ScatterND d.npy i.npy ./-.npy", "./-.npy: no such file or directory; check the name and the folder")],
  [null, refuses("inspect -", "standard input is a terminal; pipe a file into the command, or name one")],
];

fs.writeFileSync(at("empty"), "");

for (const [file, row] of ROWS) {
  test(`ndscatter ${row.line} < ${file ?? "a terminal"}`, async () => {
    const surroundings = file === null ? {} : { stdin: new Uint8Array(fs.readFileSync(at(file))) };
    checkResult(await ndscatter(row.line, surroundings), row);
  });
}

test("what was read from standard input is what was written", () => {
  assert.ok(equals(load("out.npy"), ADDED));
  assert.equal(readModel(fs.readFileSync(at("from-stdin.onnx"))).opsets["ai.onnx"], 16);
});

test("a file through a pipe, piece by piece", async () => {
  const child = spawn(
    process.execPath,
    [MAIN, ...words("run ScatterND - none.npy empty.npy -o piped.npy")],
    { cwd: home },
  );
  const bytes = fs.readFileSync(at("big.npy"));
  for (let start = 0; start < bytes.length; start += 100_000) {
    const piece = bytes.subarray(start, start + 100_000);
    // A pipe holds 64 kB, so the command has read most of a piece when the next one begins.
    // oxlint-disable-next-line no-await-in-loop
    await new Promise((resolve) => child.stdin.write(piece, resolve));
  }
  child.stdin.end();
  assert.deepEqual(await once(child, "close"), [0, null]);
  assert.deepEqual(new Uint8Array(fs.readFileSync(at("piped.npy"))), writeNpy(load("big.npy")));
});

test("a file, a folder, nothing at all and a closed stream as standard input", () => {
  const run = (redirected: string): [number | null, string] => {
    const line = `exec "$0" "$@" ${redirected}`;
    const args = ["-c", line, process.execPath, MAIN, ...words("inspect -")];
    const { status, stdout, stderr } = spawnSync("sh", args, { cwd: home, encoding: "utf8" });
    return [status, stdout.split("\n")[0] + stderr];
  };
  assert.deepEqual(run("< add.onnx"), [0, "standard input: ai.onnx 18, 1 node, 1 scatter/gather"]);
  const folderError = "ndscatter: standard input: illegal operation on a directory\n";
  assert.deepEqual(run("< model"), [1, folderError]);
  for (const nothing of ["< /dev/null", "<&-"]) {
    assert.deepEqual(run(nothing), [
      1,
      "ndscatter: standard input is empty; pipe a file into the command, or name one\n",
    ]);
  }
});

test("a reader that has seen enough ends the command quietly, with status 0", () => {
  const line = `("$0" "$@"; echo "status $?" >&2) | head -n 1`;
  const command = words("run --json ScatterND big.npy none.npy empty.npy");
  const args = ["-c", line, process.execPath, MAIN, ...command];
  const { stdout, stderr } = spawnSync("sh", args, { cwd: home, encoding: "utf8" });
  assert.deepEqual([stderr, stdout.split("\n").length], ["status 0\n", 2]);
});

test("an error that nobody reads is one by its status", async () => {
  const child = spawn(process.execPath, [MAIN, "run"], { cwd: home });
  child.stderr.destroy();
  assert.deepEqual(await once(child, "close"), [2, null]);
  assert.equal(startCommand(home, ["run"]).status, 2);
});
