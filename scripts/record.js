/**
 * Records what a build of the package does: `node scripts/record.js --out FILE [--root CHECKOUT]`, after `npm test` has
 * compiled this checkout and the other one. The record has a line for each case: a hash of results, or the code, fields
 * and sentence of an error, and a hash of what was printed. The cases are those of this checkout, so two checkouts are
 * compared by recording both here:
 *
 *   node scripts/record.js --root ../before --corpus /tmp/cases --out before.txt
 *   node scripts/record.js --corpus /tmp/cases --out after.txt
 *   node scripts/record.js --compare before.txt after.txt [--all]
 *   node scripts/record.js --only call/wasm/1234 --show [--root ../before]
 *
 * `--corpus` keeps the command lines and programs that were collected from the tests, which takes half of the time.
 */

import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { inParallel } from "../build/test/runners/parallel.js";
import { collect } from "./record/collect.js";
import { differences, printDifferences } from "./record/compare.js";
import { temporary } from "./record/replay.js";

// The helpers of the tests draw from this seed when they are loaded: a number must always give the same call.
process.env["SEED"] = "1";
const { casesOf, ENGINE_NAMES, partNames, partOf } = await import("./record/parts.js");

const FILE = fileURLToPath(import.meta.url);
const OWN = path.join(path.dirname(FILE), "..");

const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: "string" },
    root: { type: "string", default: OWN },
    corpus: { type: "string" },
    only: { type: "string", default: "" },
    show: { type: "boolean", default: false },
    compare: { type: "boolean", default: false },
    all: { type: "boolean", default: false },
    part: { type: "string" },
  },
});

/** A line of the record. */
const lineOf = (one) =>
  JSON.stringify(one, (_, value) => (typeof value === "bigint" ? `${value}n` : value));

/** Runs one part in this process, and prints its lines. */
async function runPart(part, setup) {
  let isFound = false;
  for await (const { shown, ...one } of casesOf(part, setup)) {
    const text = `${lineOf(one)}\n${given.show ? `${lineOf(shown ?? null)}\n` : ""}`;
    fs.writeSync(1, text);
    isFound = true;
  }
  if (!isFound && setup.only !== "") throw new Error(`no case of ${part} has the id ${setup.only}`);
}

/** Runs one part in another process, and returns its lines. */
async function startPart(part, setup) {
  const argv = [FILE, "--part", part, "--root", setup.root, "--corpus", setup.corpus];
  const child = spawn(process.execPath, [...argv, "--only", setup.only], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (output += text));
  const status = await new Promise((resolve) => child.on("close", resolve));
  if (status !== 0) throw new Error(`${part} ended with status ${status}`);
  return output.split("\n").filter((line) => line !== "");
}

/** Prints the calls on which the engines do not agree. @returns their number */
function disagreements(lines) {
  const ofCall = new Map();
  for (const line of lines) {
    const { id, ...result } = JSON.parse(line);
    const [kind, engine, key] = id.split("/");
    if (!ENGINE_NAMES.includes(engine)) continue;
    const call = `${kind}/${key}`;
    const first = ofCall.get(call);
    if (first === undefined) ofCall.set(call, { text: lineOf(result), isSame: true });
    else if (first.text !== lineOf(result)) first.isSame = false;
  }
  const differing = [...ofCall].filter(([, { isSame }]) => !isSame);
  for (const [call] of differing) console.log(`the engines do not agree on ${call}`);
  return differing.length;
}

/** Counts the cases of each kind, and the refused calls among them. */
function count(lines) {
  const kinds = {};
  for (const line of lines) {
    const { id, code } = JSON.parse(line);
    const kind = (kinds[id.split("/")[0]] ??= { cases: 0, refused: 0 });
    kind.cases++;
    if (code !== undefined) kind.refused++;
  }
  return kinds;
}

async function record(setup) {
  const start = performance.now();
  const lines = await inParallel(partNames(setup.corpus), (part) => startPart(part, setup));
  const sorted = lines.flat().toSorted();
  fs.writeFileSync(given.out, `${sorted.join("\n")}\n`);
  console.table(count(sorted));
  console.log(`${sorted.length} cases in ${Math.round((performance.now() - start) / 1000)} s`);
  if (disagreements(sorted) > 0) process.exitCode = 1;
}

async function main() {
  if (given.compare) {
    const [a, b] = positionals.map((file) => fs.readFileSync(file, "utf8"));
    const found = differences(a, b);
    process.stdout.write(printDifferences(found, given.all ? Infinity : undefined));
    process.exitCode = found.length === 0 ? 0 : 1;
    return;
  }
  const part = given.part ?? (given.only === "" ? undefined : partOf(given.only));
  const isNeeded = part === undefined || part.startsWith("collected");
  const corpus = given.corpus ?? temporary();
  const setup = { root: path.resolve(given.root), corpus, only: given.only };
  if (!fs.existsSync(path.join(setup.root, "build/src/entries/index.js"))) {
    throw new Error(`${setup.root} must be built: npm run build && npx tsc -p tsconfig.json`);
  }
  const isThere = fs.existsSync(corpus) && fs.readdirSync(corpus).length > 0;
  try {
    if (isNeeded && !isThere) await collect(corpus, part?.split(" ")[1]);
    if (part !== undefined) await runPart(part, setup);
    else await record(setup);
  } finally {
    if (given.corpus === undefined) fs.rmSync(corpus, { recursive: true, force: true });
  }
}

await main();
// Commands may have left workers that would wait for more.
process.exit();
