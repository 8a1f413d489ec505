/**
 * Collects the command lines and the documents' programs that tests run, with the files that they find: runs those test
 * files, whose helpers write them down (`test/support/collect.ts`).
 */

import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { inParallel } from "../../build/test/runners/parallel.js";

const BUILD = path.join(import.meta.dirname, "../../build/test");

/** The documents whose tests run programs and commands. */
const DOCUMENTS = ["arrays-documents", "docs", "readme", "tour"].map((name) => `documents/${name}`);

/** The longest first, so that no process works alone at the end. */
const FIRST = ["cli/chunked", "documents/arrays-documents", "documents/tour", "cli/targets"];

/** Names of test files, in the order in which they run. */
function testFiles() {
  const commands = fs
    .readdirSync(path.join(BUILD, "../../test/cli"))
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => `cli/${name.slice(0, -".test.ts".length)}`);
  const rank = (name) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  return [...commands, ...DOCUMENTS].toSorted((a, b) => rank(a) - rank(b));
}

/**
 * Fills `folder` with a folder for each test file that ran anything.
 * @param only the name of one test file
 */
export async function collect(folder, only) {
  await inParallel(only === undefined ? testFiles() : [only], async (name) => {
    const to = path.join(folder, name);
    fs.mkdirSync(to, { recursive: true });
    const argv = [path.join(BUILD, "runners/several.js"), path.join(BUILD, `${name}.test.js`)];
    // Properties draw the same cases every time.
    const env = { ...process.env, SEED: "1", LIMITS: "1", COLLECT: to };
    const child = spawn(process.execPath, argv, { env, stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    child.stdout.on("data", (text) => (output += text));
    const status = await new Promise((resolve) => child.on("close", resolve));
    const failed = output.match(/^not ok .*/gm) ?? [];
    // Commands that ran before the failure are still recorded.
    if (status !== 0) console.error(`collecting ${name}: ${failed.join(", ") || output}`);
  });
}

/** Returns the collected commands and programs of each test file, in order. */
export function readCollected(folder) {
  const files = fs.readdirSync(folder, { recursive: true });
  const collected = files.filter((file) => path.basename(file) === "collected.jsonl").toSorted();
  return collected.map((file) => {
    const lines = fs.readFileSync(path.join(folder, file), "utf8").trimEnd().split("\n");
    const store = path.join(folder, path.dirname(file));
    return {
      name: path.dirname(file).replaceAll(path.sep, "/"),
      store,
      rows: lines.map((line) => JSON.parse(line)),
    };
  });
}
