/**
 * Implements `ndscatter conformance`, which runs test folders from the ONNX backend suite. Each folder contains
 * `model.onnx` and data sets named `test_data_set_0`, `test_data_set_1` and so on. The files in a data set, such as
 * `input_0.pb` and `output_0.pb`, are numbered in graph order.
 *
 * The command compares results bit for bit, whereas the ONNX test runner allows a relative error of 1e-3.
 */

import * as fs from "node:fs";
import * as path from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Command } from "commander";
import { printCount } from "../../core/foreign.ts";
import { isTensorError, tensor, type Tensor } from "../../entries/index.ts";
import { runModel, unsupportedOperators, type Model, type ValueInfo } from "../../entries/onnx.ts";
import { compareTensors } from "../text/differences.ts";
import { Failure, failureOf, withPath, wrongData, WRONG_DATA, type Status } from "../failure.ts";
import { printResult, type Io } from "../io.ts";
import { JSON_HELP, quote } from "../text/layout.ts";
import { isFolder, readModelFile, readTensorFile } from "../input/read-files.ts";

const HELP = `
DIR is a test folder or contains test folders. A test folder contains model.onnx,
and test_data_set_0 with input_0.pb, ..., output_0.pb, .... Results are compared
bit for bit. The exit status is 1 if any folder failed.

The command skips a folder, and prints the reason, if the test needs operators,
data types or casts that this package does not have. It also skips expected
results that are bfloat16 stored as uint16, because ONNX before release 1.19
truncated such results instead of rounding them.

Examples:
  ndscatter conformance onnx/backend/test/data/node
  ndscatter conformance onnx/backend/test/data/node/test_scatternd_add
  ndscatter conformance --json tests > report.json`;

export function addConformanceCommand(
  program: Command,
  io: Io,
  fail: (status: Status) => void,
): void {
  program
    .command("conformance")
    .summary("run ONNX backend test folders")
    .description("Run ONNX backend test folders, and print a line for each folder.")
    .argument("<dir>", "a test folder, or a folder that contains test folders")
    .option("--json", JSON_HELP)
    .addHelpText("after", HELP)
    .action(async (dir: string, { json = false }: { json?: boolean }) => {
      if ((await testAll(io, dir, json)) > 0) fail(WRONG_DATA);
    });
}

interface Verdict {
  readonly name: string;
  readonly status: "ok" | "FAIL" | "skipped";
  readonly reason?: string;
}

async function testAll(io: Io, dir: string, json: boolean): Promise<number> {
  const verdicts: Verdict[] = [];
  for (const folder of findFolders(io, dir)) {
    const name = path.basename(path.resolve(io.cwd, folder));
    const verdict = { name, ...testFolder(io, folder) };
    verdicts.push(verdict);
    // oxlint-disable-next-line no-await-in-loop
    if (!json) await io.stdout.write(`${printVerdict(verdict)}\n`);
    // Yielding to the event loop lets it write the line and detect a closed pipe.
    // oxlint-disable-next-line no-await-in-loop
    await setImmediate();
  }
  const count = (status: Verdict["status"]): number =>
    verdicts.filter((verdict) => verdict.status === status).length;
  const [passed, failed, skipped] = [count("ok"), count("FAIL"), count("skipped")];
  const summary = `${passed} passed, ${failed} failed, ${skipped} skipped`;
  await printResult(io, json ? { passed, failed, skipped, folders: verdicts } : summary);
  return failed;
}

const printVerdict = ({ name, status, reason }: Verdict): string =>
  `${status.padEnd("skipped".length)}  ${name}${reason === undefined ? "" : `: ${reason}`}`;

const MODEL = "model.onnx";
const DATA_SET = /^test_data_set_\d+$/;

/** Throws a `Failure` if `dir` neither is nor contains a test folder. */
function findFolders(io: Io, dir: string): string[] {
  if (isTestFolder(io, dir)) return [dir];
  const folders = list(io, dir)
    .map((name) => path.join(dir, name))
    .filter((place) => isFolder(io, place) && isTestFolder(io, place));
  if (folders.length > 0) return folders;
  throw wrongData(`${dir} must contain a ${MODEL}, or folders that contain it`);
}

const isTestFolder = (io: Io, folder: string): boolean =>
  list(io, folder).some((name) => name === MODEL || DATA_SET.test(name));

/** Lists a folder in natural order, in which `input_10` follows `input_9`. */
const list = ({ cwd }: Io, folder: string): string[] =>
  withPath(folder, () => fs.readdirSync(path.resolve(cwd, folder))).toSorted(
    new Intl.Collator("en", { numeric: true }).compare,
  );

/** A test that fails never throws, because one bad folder must not hide the results of the others. */
function testFolder(io: Io, folder: string): Omit<Verdict, "name"> {
  try {
    const model = readModelFile(io, path.join(folder, MODEL));
    const obstacle = obstacleOf(model);
    if (obstacle !== null) return { status: "skipped", reason: obstacle };
    const sets = list(io, folder).filter((name) => DATA_SET.test(name));
    if (sets.length === 0) return { status: "FAIL", reason: "test_data_set_0 is missing" };
    const differences = sets.flatMap((set) => testDataSet(io, model, folder, set));
    return differences.length === 0
      ? { status: "ok" }
      : { status: "FAIL", reason: differences.join("; ") };
  } catch (error) {
    const isBeyond = error instanceof Unsupported || isMissingCast(error);
    return { status: isBeyond ? "skipped" : "FAIL", reason: failureOf(error).message };
  }
}

class Unsupported extends Failure {}

const isMissingCast = (error: unknown): boolean =>
  isTensorError(error, "dtype", "attribute") && error.op === "Cast";

/** Returns the reason why a model is not supported, or null. */
function obstacleOf(model: Model): string | null {
  const missing = unsupportedOperators(model);
  if (missing.length > 0) return missing.join(", ");
  const odd = model.graph.inputs.find(({ type }) => type === null);
  return odd === undefined
    ? null
    : `the input ${quote(odd.name)} must be a tensor of a data type that this package has`;
}

function testDataSet(io: Io, model: Model, folder: string, set: string): string[] {
  const { graph } = model;
  const files = list(io, path.join(folder, set));
  const given = files.filter((name) => /^input_\d+\.pb$/.test(name));
  const wanted = files.filter((name) => /^output_\d+\.pb$/.test(name));
  const constants = new Set(graph.constants.map(({ name }) => name));
  // A constant is also an input before ONNX's IR version 4, but has no file.
  const inputs = graph.inputs.filter(
    ({ name }) => graph.inputs.length === given.length || !constants.has(name),
  );
  checkCount(set, "input", given.length, inputs.length);
  checkCount(set, "output", wanted.length, graph.outputs.length);
  const read = (name: string): Tensor => readTensorFile(io, path.join(folder, set, name));
  // An expanded CastLike declares an input that it never reads. Some releases of ONNX have a file of another shape for
  // the input.
  const needed = new Set([
    ...graph.nodes.flatMap((node) => node.inputs),
    ...graph.outputs.map(({ name }) => name),
  ]);
  const values = inputs.flatMap((input, position) => {
    const value = read(given[position]);
    return needed.has(input.name) ? [[input.name, bfloat16Of(value, input) ?? value]] : [];
  });
  const isNeeded = ({ name }: ValueInfo): boolean => needed.has(name);
  const results = runModel(
    { ...model, graph: { ...graph, inputs: graph.inputs.filter(isNeeded) } },
    Object.fromEntries(values),
  );
  return wanted.flatMap((file, position) => {
    const output = graph.outputs[position];
    const expected = read(file);
    const place = `${set}/${file}`;
    if (bfloat16Of(expected, output) !== null) {
      throw new Unsupported(
        WRONG_DATA,
        `${place} is bfloat16 stored as uint16, truncated instead of rounded`,
      );
    }
    const difference = compareTensors(output.name, results[output.name], expected, place);
    return difference === null ? [] : [difference.sentence];
  });
}

/**
 * Reinterprets a uint16 tensor as bfloat16, because ONNX test files up to release 1.18 store bfloat16 values as uint16.
 * Returns null for other tensors.
 */
const bfloat16Of = ({ dtype, shape, data }: Tensor, { type }: ValueInfo): Tensor | null =>
  dtype === "uint16" && type?.dtype === "bfloat16" && data instanceof Uint16Array
    ? tensor("bfloat16", [...shape], data)
    : null;

function checkCount(set: string, what: string, files: number, needed: number): void {
  if (files === needed) return;
  throw wrongData(
    `${set} must have ${printCount(needed, `${what} file`)}, one for each ${what} of the model, got ${files}`,
  );
}
