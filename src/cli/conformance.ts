/**
 * `ndscatter conformance`: test folders of ONNX's backend suite. A folder holds `model.onnx` and data sets
 * `test_data_set_0`, … of `input_0.pb`, …, `output_0.pb`, …, numbered in the order of the graph's inputs and outputs.
 *
 * Results are compared bit for bit, where ONNX's own runner allows a relative error of 1e-3.
 */

import * as fs from "node:fs";
import * as path from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Command } from "commander";
import { runModel, unsupportedOperators, type Model } from "../onnx/index.ts";
import { compareTensors } from "./comparison.ts";
import { failureOf, withPath, wrongData, WRONG_DATA } from "./failure.ts";
import { readModelFile, readTensorFile } from "./files.ts";
import { JSON_HELP, printJson } from "./layout.ts";

const HELP = `
DIR is a test folder or holds test folders. A test folder holds model.onnx and
test_data_set_0 with input_0.pb, ..., output_0.pb, .... Results are compared bit
for bit. Folders with operators or types that are not known here are skipped.
The status is 1 if any folder failed.

Examples:
  ndscatter conformance onnx/backend/test/data/node
  ndscatter conformance onnx/backend/test/data/node/test_scatternd_add
  ndscatter conformance --json tests > report.json`;

export function addConformanceCommand(program: Command): void {
  program
    .command("conformance")
    .summary("run ONNX backend test folders")
    .description("Run ONNX backend test folders and print a line for each.")
    .argument("<dir>", "a test folder, or a folder of test folders")
    .option("--json", JSON_HELP)
    .addHelpText("after", HELP)
    .action(testAll);
}

interface Verdict {
  readonly name: string;
  readonly status: "ok" | "FAIL" | "skipped";
  /** Why it failed or was skipped. */
  readonly reason?: string;
}

async function testAll(dir: string, { json = false }: { json?: boolean }): Promise<void> {
  const verdicts: Verdict[] = [];
  for (const folder of findFolders(dir)) {
    const verdict = { name: path.basename(path.resolve(folder)), ...testFolder(folder) };
    verdicts.push(verdict);
    if (!json) process.stdout.write(`${printVerdict(verdict)}\n`);
    // Lets the line out, and lets a reader that has gone away end the command.
    // oxlint-disable-next-line no-await-in-loop
    await setImmediate();
  }
  const count = (status: Verdict["status"]): number =>
    verdicts.filter((verdict) => verdict.status === status).length;
  const [passed, failed, skipped] = [count("ok"), count("FAIL"), count("skipped")];
  const summary = `${passed} passed, ${failed} failed, ${skipped} skipped`;
  process.stdout.write(
    `${json ? printJson({ passed, failed, skipped, folders: verdicts }) : summary}\n`,
  );
  if (failed > 0) process.exitCode = WRONG_DATA;
}

const printVerdict = ({ name, status, reason }: Verdict): string =>
  `${status.padEnd("skipped".length)}  ${name}${reason === undefined ? "" : `: ${reason}`}`;

const MODEL = "model.onnx";
const DATA_SET = /^test_data_set_\d+$/;

/** @throws Failure where `dir` neither is a test folder nor holds one. */
function findFolders(dir: string): string[] {
  if (isTestFolder(dir)) return [dir];
  const folders = list(dir)
    .map((name) => path.join(dir, name))
    .filter(
      (folder) =>
        fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory() && isTestFolder(folder),
    );
  if (folders.length > 0) return folders;
  throw wrongData(`${dir}: there is no ${MODEL} in it or in a folder of it`);
}

const isTestFolder = (folder: string): boolean =>
  list(folder).some((name) => name === MODEL || DATA_SET.test(name));

/** What a folder holds; numbers in names count as numbers, so that `input_10` follows `input_9`. */
const list = (folder: string): string[] =>
  withPath(folder, () => fs.readdirSync(folder)).toSorted(
    new Intl.Collator("en", { numeric: true }).compare,
  );

/** Never throws: one bad folder must not hide the others. */
function testFolder(folder: string): Omit<Verdict, "name"> {
  try {
    const model = readModelFile(path.join(folder, MODEL));
    const obstacle = obstacleOf(model);
    if (obstacle !== null) return { status: "skipped", reason: obstacle };
    const sets = list(folder).filter((name) => DATA_SET.test(name));
    if (sets.length === 0) return { status: "FAIL", reason: "there is no test_data_set_0" };
    const differences = sets.flatMap((set) => testDataSet(model, folder, set));
    return differences.length === 0
      ? { status: "ok" }
      : { status: "FAIL", reason: differences.join("; ") };
  } catch (error) {
    return { status: "FAIL", reason: failureOf(error).message };
  }
}

/** Why a model cannot be run here at all, or null. */
function obstacleOf(model: Model): string | null {
  const missing = unsupportedOperators(model);
  if (missing.length > 0) return missing.join(", ");
  const odd = model.graph.inputs.find(({ type }) => type === null);
  return odd === undefined
    ? null
    : `the input ${JSON.stringify(odd.name)} is no tensor of a type that is known here`;
}

/** The first difference of each output, as sentences. */
function testDataSet({ graph, ...model }: Model, folder: string, set: string): string[] {
  const files = list(path.join(folder, set));
  const given = files.filter((name) => /^input_\d+\.pb$/.test(name));
  const wanted = files.filter((name) => /^output_\d+\.pb$/.test(name));
  const constants = new Set(graph.constants.map(({ name }) => name));
  // Before ONNX's IR version 4 constants were inputs too, but have no files.
  const inputs = graph.inputs.filter(
    ({ name }) => graph.inputs.length === given.length || !constants.has(name),
  );
  checkCount(set, "input", given.length, inputs.length);
  checkCount(set, "output", wanted.length, graph.outputs.length);
  const read = (name: string) => readTensorFile(path.join(folder, set, name));
  const results = runModel(
    { graph, ...model },
    Object.fromEntries(given.map((file, position) => [inputs[position].name, read(file)])),
  );
  return wanted.flatMap((file, position) => {
    const { name } = graph.outputs[position];
    const difference = compareTensors(name, results[name], read(file), `${set}/${file}`);
    return difference === null ? [] : [difference.sentence];
  });
}

function checkCount(set: string, what: string, files: number, needed: number): void {
  if (files === needed) return;
  throw wrongData(`${set} has ${files} ${what} files, but the model has ${needed} ${what}s`);
}
