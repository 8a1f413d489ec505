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
import { MAIN, startCommand, words } from "../support/cli.ts";
import { testTranscript } from "../support/transcripts.ts";

const folder = makeCliFolder();
const { at, home, load } = folder;

fs.writeFileSync(at("empty"), "");

testTranscript(folder, "stdin", "Tensors, whose content determines the format");
testTranscript(folder, "stdin", "Models");
testTranscript(folder, "stdin", "Files beside a model");
testTranscript(folder, "stdin", "How often, and where");

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
    child.stdin.write(bytes.subarray(start, start + 100_000));
    // oxlint-disable-next-line no-await-in-loop
    await new Promise((resolve) => setTimeout(resolve, 20));
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
