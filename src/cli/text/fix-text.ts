/** Prints the report of `fix`, as text and as JSON data. */

import * as path from "node:path";
import { printCount } from "../../core/foreign.ts";
import type { Cure, FaultyNodeReport, FixReport } from "../../entries/onnx.ts";
import { printFile } from "../failure.ts";
import { expectedLines } from "./expected-text.ts";
import { escapeControls } from "./layout.ts";
import { cut } from "./lines.ts";

/** The maximum length of a runtime's message in the text; --json has the whole message. */
const LONGEST = 160;

/** Information about the runtime and the -o option. */
interface Context {
  /** The runtime's package name. */
  readonly runtime: string;
  /** The execution provider selected by the user. */
  readonly provider: string | undefined;
  /** The model's external data files, relative to its folder. */
  readonly dataFiles: readonly string[];
  readonly output: string | undefined;
  /** The path of the written file; null if no file was written. */
  readonly written: string | null;
}

export function fixText(file: string, report: FixReport, context: Context): string {
  const { agrees, fault, faulty, verified, cures, chosen, ignored } = report;
  const name = printFile(file);
  const lines = agrees
    ? [`${name}: ${nothingWrong(report)}`]
    : [
        `${name}: ${printCount(verified.nodes.length, "scatter/gather node")}, ${faulty.length} faulty`,
        ...(fault === null ? [] : [`  ${fault.id}: ${fault.fault}`]),
        ...faulty.flatMap(faultyLines),
        ...otherProblems(report),
        ...(verified.expected === null ? [] : expectedLines(verified.expected)),
        ...(cures.length === 0 ? [] : ["the cures below were tried, in order of increasing cost:"]),
        ...cureLines(cures),
        ...(ignored.length === 0
          ? []
          : [`  settings not tried, because this runtime ignores them: ${ignored.join(", ")}`]),
        ...(chosen === null ? ["no cure was found"] : chosenLines(file, chosen, faulty, context)),
      ];
  return lines.map(escapeControls).join("\n");
}

/** Describes a correct model, with the number of test runs. */
function nothingWrong({ verified, plain }: FixReport): string {
  const ran = verified.nodes.filter(({ verdict }) => verdict !== "not-run");
  const alone = ran.reduce((sum, { reruns }) => sum + (reruns?.count ?? 0), 0);
  const others = alone === 0 ? "" : ` and ${printCount(alone, "run")} of single nodes`;
  const tried = `a comparison of ${printCount(ran.length, "node")}${others} found no fault`;
  return `nothing is wrong: ${tried}, and ${modelRuns(plain)}`;
}

/** Describes whether repeated model runs gave different results. */
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

/** Describes failures of operators other than scatters and gathers. */
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

function cureFacts({
  kind,
  nodeRuns,
  rightRuns,
  whole,
  ratio,
  problem,
  isRight,
  isExpected,
  notes,
}: Cure): string {
  if (problem !== null) return `fails: ${cut(problem, LONGEST)}`;
  const parts = [
    isRight ? "correct" : "wrong",
    ...(kind === "exact-session" || nodeRuns === 0
      ? []
      : [
          `the faulty nodes were exact in ${rightRuns} of ${printCount(nodeRuns, "run")} of single nodes`,
        ]),
    modelRuns(whole),
    ...(isExpected === null
      ? []
      : [
          isExpected
            ? "the outputs are as expected"
            : "the outputs differ from the expected outputs",
        ]),
    ...(ratio === null
      ? []
      : [`the run took ${ratio.toFixed(2)} times as long as a run of the plain session`]),
    ...notes,
  ];
  return parts.join("; ");
}

function chosenLines(
  file: string,
  { title, settings, model, nodes }: Cure,
  faulty: readonly FaultyNodeReport[],
  { runtime, provider, output, written, dataFiles }: Context,
): string[] {
  const begin = `cure: ${title}`;
  if (model !== null) {
    const cures = new Set(faulty.flatMap(({ faults }) => faults.map(({ cure }) => cure)));
    const where = written === null ? "-o FILE writes the model" : `the model is in ${written}`;
    return [begin, ...[...cures].map((one) => `  ${one}`), `  ${where}`];
  }
  const noFile = output === undefined ? [] : ["  this cure needs no file, so no file was written"];
  const always = provider === undefined ? {} : { executionProviders: [provider] };
  if (nodes !== null) {
    return [begin, ...codeLines(file, { runtime, always, dataFiles }, nodes), ...noFile];
  }
  if (settings === null) return [begin, ...noFile];
  const option = `InferenceSession.create(model, ${literalOf({ ...always, ...settings })})`;
  return [begin, `  ${option}`, ...noFile];
}

/** Formats settings as a JavaScript literal. */
const literalOf = (value: unknown): string =>
  typeof value !== "object" || value === null || Array.isArray(value)
    ? JSON.stringify(value)
    : `{ ${Object.entries(value)
        .map(([name, one]) => `${name}: ${literalOf(one)}`)
        .join(", ")} }`;

function codeLines(
  file: string,
  { runtime, always, dataFiles }: Pick<Context, "runtime" | "dataFiles"> & { always: object },
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

/** Converts the report to JSON data without tensors. */
export function fixJson(file: string, report: FixReport, written: string | null): object {
  const { verified, cures, chosen, ...rest } = report;
  const nodes = verified.nodes.map(({ path, op, verdict, sentence, isReproducible }) => ({
    ...{ path, op, verdict, sentence, isReproducible },
  }));
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
