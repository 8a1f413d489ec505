/**
 * Implements `ndscatter fix`, which finds a fix for incorrect scatters and gathers and tests the fix in the user's
 * runtime.
 */

import * as path from "node:path";
import type { Command } from "commander";
import { printFile, type Status, WRONG_DATA } from "../failure.ts";
import { allFiles, RANDOM_HELP } from "../input/feeds.ts";
import {
  addCheckOptions,
  inRuntime,
  readWithInputs,
  type RuntimeOptions,
  withOwnWeights,
} from "../input/runtime.ts";
import { checkExternal, checkNotRead, checkPlace, writeFiles } from "../input/write-files.ts";
import { type Io, printNote, printResult } from "../io.ts";
import { expectedLines } from "../text/differences.ts";
import { cut, JSON_HELP, printLines } from "../text/layout.ts";
import { printCount } from "../../core/foreign.ts";
import {
  type Cure,
  externalFiles,
  type FaultyNodeReport,
  fixModel,
  type FixProgress,
  type FixReport,
  type Model,
  modelNotes,
} from "../../entries/onnx.ts";

interface FixCommand extends RuntimeOptions {
  readonly output?: string;
  readonly json?: boolean;
}

const HELP = `
The command first verifies the model, like ndscatter verify, in the ONNX Runtime
that is installed in the folder where the command runs. If a scatter or gather is
wrong, or its result varies between runs, the command tries cures in order of
increasing cost:

  settings       one thread, one node at a time, or no graph optimization; also
                 the CPU if --provider names another execution provider
  another model  an ordinary ONNX file in which the faulty nodes are rewritten as
                 equivalent nodes that the runtime runs correctly
                 (docs/known-faults.md lists the faults)
  exact session  this package runs the faulty nodes

Each cure is measured. Every faulty node runs alone on its real inputs, at most
100 times, and must give the exact bits each time. The whole model runs at most
100 times, and must give the same result each time. The median time of these runs
is compared with the median time of the plain session. The command chooses the
correct cure of the lowest cost, unless a more expensive cure runs much faster:
it must save more than 1 ms, and another model must save a fifth of the time, an
exact session half of the time.

If the model does not give the outputs of --expected, such as those of the PyTorch
model that was exported, the command also tries models in which one node has another
axis, operator, reduction, batch_dims or order of updates, or inputs that are
transposed, exchanged or too large.

-o writes the model of the chosen cure; a session setting needs no file. The exit
status is 0 if nothing is wrong or a cure was found, and 1 if no cure works.
${RANDOM_HELP}

Examples:
  ndscatter fix examples/faults/nan-max.onnx --random
  ndscatter fix examples/faults/unknown-reduction.onnx --random
  ndscatter fix model.onnx --feed x=x.npy
  ndscatter fix model.onnx --random --dim N=4 -o cured.onnx`;

export function addFixCommand(program: Command, io: Io, fail: (status: Status) => void): void {
  const command = program
    .command("fix")
    .summary("find a cure for the faults that verify reports")
    .description(
      "Find a cure for scatters and gathers that are wrong in your ONNX Runtime, and measure it there.",
    );
  addCheckOptions(command)
    .option("-o, --output <file>", "write the model of the chosen cure to this file")
    .option("--json", JSON_HELP)
    .addHelpText("after", HELP)
    .action(async (file: string, options: FixCommand) => {
      const { iteration = 0, call = 0, output, provider = "cpu", json = false } = options;
      const checkOutput = (model: Model): void => {
        if (output === undefined) return;
        checkNotRead(io, output, allFiles(file, model, options));
        checkPlace(io, output);
        checkExternal(io, file, output, model);
      };
      // Fixes are tested on the whole model, so all inputs are required even with --node.
      const { node, ...ofAll } = options;
      const read = await readWithInputs(io, file, ofAll, checkOutput);
      const { bytes, model, feeds, expected } = read;
      // The model file is excluded, because readers always find weights embedded in the model file.
      const dataFiles = externalFiles(model).filter((one) => one !== path.basename(file));
      let runtime = "";
      const run = { doing: "the model as it is, in ONNX Runtime" };
      const report = await inRuntime(io, file, options, run, (sessions, show) => {
        ({ runtime } = sessions);
        const isOnCpu = provider === "cpu" || provider === "wasm";
        const onCpu = { "the execution provider cpu": sessions.onCpu };
        const others = { ...sessions.others, ...(!isOnCpu && onCpu) };
        const onProgress = ({ what }: FixProgress): void => show(what, what);
        const how = { iteration, call, others, onProgress, ...(node !== undefined && { node }) };
        return fixModel(bytes, feeds, { ...sessions.own, ...how, ...expected });
      });
      await printNote(io, ...modelNotes(model));
      const cured = report.chosen?.model ?? null;
      const written = cured === null ? null : (output ?? null);
      if (cured !== null && written !== null)
        await writeFiles(io, [{ file: written, bytes: withOwnWeights(io, file, cured) }]);
      const context = { file, runtime, provider: options.provider, dataFiles, output, written };
      await printResult(io, json ? fixFacts(report, context) : fixText(report, context));
      if (!report.agrees && report.chosen === null) fail(WRONG_DATA);
    });
}

/** The maximum length of a runtime's message in the text; --json has the whole message. */
const LONGEST = 160;

interface Context {
  readonly file: string;
  /** The package name of the runtime. */
  readonly runtime: string;
  /** The execution provider selected by the user. */
  readonly provider: string | undefined;
  /** The model's external data files, relative to its folder. */
  readonly dataFiles: readonly string[];
  readonly output: string | undefined;
  /** The path of the written file; null if no file was written. */
  readonly written: string | null;
}

function fixText(report: FixReport, context: Context): string {
  const { agrees, fault, faulty, verified, cures, chosen, ignored } = report;
  const name = printFile(context.file);
  if (agrees) return printLines(`${name}: ${nothingWrong(report)}`);
  return printLines(
    `${name}: ${printCount(verified.nodes.length, "scatter/gather node")}, ${faulty.length} faulty`,
    fault !== null && `  ${fault.id}: ${fault.fault}`,
    faulty.flatMap(faultyLines),
    otherProblems(report),
    verified.expected && expectedLines(verified.expected),
    cures.length > 0 && "the cures below were tried, in order of increasing cost:",
    cureLines(cures),
    ignored.length > 0 &&
      `  settings not tried, because this runtime ignores them: ${ignored.join(", ")}`,
    chosen === null ? "no cure was found" : chosenLines(chosen, faulty, context),
  );
}

function nothingWrong({ verified, plain }: FixReport): string {
  const ran = verified.nodes.filter(({ verdict }) => verdict !== "not-run");
  const alone = ran.reduce((sum, { reruns }) => sum + (reruns?.count ?? 0), 0);
  const others = alone === 0 ? "" : ` and ${printCount(alone, "run")} of single nodes`;
  const tried = `a comparison of ${printCount(ran.length, "node")}${others} found no fault`;
  return `nothing is wrong: ${tried}, and ${modelRuns(plain)}`;
}

const modelRuns = ({ results, runs }: FixReport["plain"]): string =>
  results === 1
    ? `the model gave the same result in ${printCount(runs, "run")}`
    : `the model gave ${results} different results in ${printCount(runs, "run")}`;

function faultyLines(node: FaultyNodeReport): string[] {
  const { path, op, verdict, isReproducible, sentence, faults, uncured } = node;
  const runs = isReproducible ? "" : "; not reproducible";
  const unknown = verdict === "wrong" ? "invalid call" : "unknown fault";
  const ids = faults.map(({ id }) => id).join(", ") || unknown;
  return [
    `  ${ids}: ${op} ${path}: ${cut(sentence, LONGEST)}${runs}`,
    ...(uncured === null ? [] : [`    the node was not rewritten as equivalent nodes: ${uncured}`]),
  ];
}

function otherProblems({ faulty, fault, verified, plain }: FixReport): string[] {
  const failures = verified.failures.filter(({ isCompared }) => !isCompared);
  const named = failures.map(
    ({ title, message }) => `  the runtime fails at ${title}: ${cut(message, LONGEST)}`,
  );
  if (faulty.length > 0 || fault !== null || named.length > 0) return named;
  if (plain.problem !== null) return [`  the model does not run: ${cut(plain.problem, LONGEST)}`];
  return plain.results > 1
    ? [`  ${modelRuns(plain)}, but no scatter or gather causes this`]
    : named;
}

/** Prints one line per fix. Consecutive fixes that fail for the same reason share a line. */
function cureLines(cures: readonly Cure[]): string[] {
  const lines: { titles: string[]; facts: string }[] = [];
  for (const cure of cures) {
    const facts = cureFacts(cure);
    const last = lines.at(-1);
    if (cure.problem !== null && last?.facts === facts) last.titles.push(cure.title);
    else lines.push({ titles: [cure.title], facts });
  }
  return lines.map(({ titles, facts }) => `  ${titles.join(", ")}: ${facts}`);
}

function cureFacts(cure: Cure): string {
  const { kind, nodeRuns, rightRuns, whole, ratio, problem, isRight, isExpected, notes } = cure;
  if (problem !== null) return `fails: ${cut(problem, LONGEST)}`;
  const parts = [isRight ? "correct" : "wrong"];
  if (kind !== "exact-session" && nodeRuns > 0) {
    const runs = `${rightRuns} of ${printCount(nodeRuns, "run")} of single nodes`;
    parts.push(`the faulty nodes were exact in ${runs}`);
  }
  parts.push(modelRuns(whole));
  if (isExpected === true) parts.push("the outputs are as expected");
  if (isExpected === false) parts.push("the outputs differ from the expected outputs");
  if (ratio !== null)
    parts.push(`the run took ${ratio.toFixed(2)} times as long as a run of the plain session`);
  return [...parts, ...notes].join("; ");
}

function chosenLines(
  { title, settings, model, nodes }: Cure,
  faulty: readonly FaultyNodeReport[],
  context: Context,
): string[] {
  const { provider, output, written } = context;
  const begin = `cure: ${title}`;
  if (model !== null) {
    const cures = new Set(faulty.flatMap(({ faults }) => faults.map(({ cure }) => cure)));
    const where = written === null ? "-o FILE writes the model" : `the model is in ${written}`;
    return [begin, ...[...cures].map((one) => `  ${one}`), `  ${where}`];
  }
  const noFile = output === undefined ? [] : ["  this cure needs no file, so no file was written"];
  const always = provider === undefined ? {} : { executionProviders: [provider] };
  if (nodes !== null) return [begin, ...codeLines(context, always, nodes), ...noFile];
  if (settings === null) return [begin, ...noFile];
  const option = `InferenceSession.create(model, ${literalOf({ ...always, ...settings })})`;
  return [begin, `  ${option}`, ...noFile];
}

const literalOf = (value: unknown): string =>
  typeof value !== "object" || value === null || Array.isArray(value)
    ? JSON.stringify(value)
    : `{ ${Object.entries(value)
        .map(([name, one]) => `${name}: ${literalOf(one)}`)
        .join(", ")} }`;

function codeLines(
  { file, runtime, dataFiles }: Context,
  always: object,
  nodes: NonNullable<Cure["nodes"]>,
): string[] {
  const folder = path.dirname(file);
  // The package onnxruntime-web cannot open external data files.
  const data =
    runtime === "onnxruntime-node"
      ? { extra: { session: { model_external_initializers_file_folder_path: folder } } }
      : { externalData: dataFiles.map((one) => ({ path: one, data: path.join(folder, one) })) };
  const hasData = dataFiles.length > 0;
  const settings = { ...always, ...(hasData && data) };
  const options = Object.keys(settings).length === 0 ? "" : `, ${literalOf(settings)}`;
  return [
    'import fs from "node:fs";',
    `import { InferenceSession } from ${JSON.stringify(runtime)};`,
    'import { createExactSession } from "ndscatter/onnx";',
    `const session = await createExactSession(fs.readFileSync(${JSON.stringify(file)}), {`,
    `  createSession: (model) => InferenceSession.create(model${options}),`,
    ...(hasData
      ? [
          "  external: (location, offset, length) =>",
          `    fs.readFileSync(${JSON.stringify(`${folder}/`)} + location).subarray(offset, offset + length),`,
        ]
      : []),
    `  nodes: ${JSON.stringify(nodes)},`,
    "});",
  ].map((line) => `  ${line}`);
}

function fixFacts(report: FixReport, { file, written }: Context): object {
  const { verified, cures, chosen, ...rest } = report;
  const nodes = verified.nodes.map(({ path, op, verdict, sentence, isReproducible }) => {
    return { path, op, verdict, sentence, isReproducible };
  });
  return {
    file,
    ...rest,
    nodes,
    expected: verified.expected,
    cures: cures.map(({ model, ...cure }) => ({ ...cure, modelBytes: model?.length ?? null })),
    chosen: chosen === null ? null : chosen.title,
    written,
  };
}
