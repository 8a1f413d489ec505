/** The command `ndscatter` before any of its commands runs: help, version, and what is typed wrong. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { makeCliFolder } from "./support/cli-files.ts";
import { prints, refuses, testRows } from "./support/cli.ts";

const folder = makeCliFolder();
const { ndscatter } = folder;

testRows(folder, [
  refuses("", "a command is missing; --help lists them"),
  refuses("rum", "unknown command 'rum' (Did you mean run?)"),
  refuses("run", "missing required argument 'target'"),
  refuses("inspect", "missing required argument 'file'"),
  refuses("convert add.xml --opset 16", /required option '-o, --output <file>'/),
  prints("--version", /^\d+\.\d+\.\d+\n$/),
  prints("--help", /^Usage: ndscatter [\s\S]*\nThe status is 0 when all is well, 1 for wrong data/),
  prints("help run", /^Usage: ndscatter run /),
  prints("run --help", /Examples:\n {2}ndscatter run ScatterND/),
  prints("explain --help", /Examples:\n {2}ndscatter explain ScatterND/),
]);

const COMMANDS = ["run", "explain", "ops", "infer", "inspect", "convert", "conformance"];

test("every command is listed, and its help has examples", async () => {
  const { stdout } = await ndscatter("--help");
  for (const command of COMMANDS) {
    assert.match(stdout, new RegExp(`^ {2}${command} `, "m"));
    const help = await ndscatter(`${command} --help`);
    assert.match(help.stdout, new RegExp(`\\nExamples:\\n {2}ndscatter ${command} ?`));
    assert.equal(help.status, 0);
  }
});

test("help is as wide as the terminal", async () => {
  const widest = async (columns: number): Promise<number> => {
    const { stdout } = await ndscatter("run --help", { isTTY: true, columns });
    const options = stdout.slice(stdout.indexOf("Options:"), stdout.indexOf("Files end in"));
    return Math.max(...options.split("\n").map((line) => line.length));
  };
  assert.ok((await widest(75)) <= 75);
  assert.ok((await widest(120)) > 80);
});
