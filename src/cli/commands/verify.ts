/**
 * Implements `ndscatter verify`, which compares the scatter and gather results of the user's runtime with the exact
 * results.
 */

import type { Command } from "commander";
import { listFirst, printCount } from "../../core/foreign.ts";
import { explain } from "../../entries/index.ts";
import {
  VERDICTS,
  verifyModel,
  type FailedNode,
  type Model,
  type VerifiedNode,
  type VerifyProgress,
  type VerifyReport,
} from "../../entries/onnx.ts";
import { printFile, WRONG_DATA, wrongUsage, type Status } from "../failure.ts";
import { printResult, type Io } from "../io.ts";
import { RANDOM_HELP } from "../input/feeds.ts";
import { JSON_HELP, printLines, quote, wrap } from "../text/layout.ts";
import { wholeOption } from "../input/arguments.ts";
import { expectedLines, historyLines, reasonLines } from "../text/differences.ts";
import {
  addCheckOptions,
  inRuntime,
  readWithInputs,
  type RuntimeOptions,
} from "../input/runtime.ts";

interface VerifyCommand extends RuntimeOptions {
  readonly runs?: number;
  readonly tolerance?: number;
  readonly json?: boolean;
}

const verdicts = Object.entries(VERDICTS).map(([verdict, meaning]) =>
  wrap(meaning, `  ${verdict.padEnd(11)}  `),
);

const HELP = `
The model runs in the ONNX Runtime that is installed in the folder where the
command runs (onnxruntime-node or onnxruntime-web). The command computes the
exact result of every scatter and gather from the inputs that the node had in the
runtime, and compares the two results bit for bit. In a loop the first iteration
is compared, or the iteration of --iteration; in a function the first call that
runs is compared, or the call of --call. Then the whole model runs. If that run
fails, the command searches for the iteration or call that fails, and compares
it. If a result differs, the command names the likely reason (see
docs/other-systems.md) and explains the exact value of the first cell that
differs.

Every node gets a verdict:
${verdicts.join("\n")}

If several updates of a node have the same target, the node may race: threads
lose updates in some runs. Such a node runs alone until a result differs, but at
most 200 times or for 2 seconds; with onnxruntime-node it also runs with one
thread. With --runs the model runs several times with each thread count of
--threads. A node is not reproducible if the same inputs give another result; the
first such result is explained, and the other runs are counted.

--expected compares an output of the model with a file, such as the output of the
PyTorch model that was exported. Floats may differ by --tolerance; without this
option by 1e-5, or by 2^-7 for float16 and bfloat16. If the outputs differ more, the
command looks for a change of one scatter or gather that gives the expected output:
another axis, operator, reduction, batch_dims or order of updates, or inputs that are
transposed, exchanged or too large.

The exit status is 0 only if the model loads and runs, every node that ran is equal
or near and reproducible, and the outputs are those of --expected. If the model
does not load, the command tries it once without graph optimization.
${RANDOM_HELP}

Examples:
  ndscatter verify examples/graph-sum.onnx --random --dim nodes=5 --dim edges=7
  ndscatter verify examples/kv-cache.onnx --feed cache=examples/kv-cache.cache.npy --feed where=examples/kv-cache.where.npy --feed key=examples/kv-cache.key.npy
  ndscatter verify model.onnx --feed x=x.npy
  ndscatter verify model.onnx --random --dim N=4 --dim '?=2'
  ndscatter verify model.onnx --feed x=x.npy --expected y=pytorch.npy
  ndscatter verify model.onnx --feed x=x.npy --threads 1,8 --runs 5`;

export function addVerifyCommand(program: Command, io: Io, fail: (status: Status) => void): void {
  const command = program
    .command("verify")
    .summary("compare your runtime's results with the exact results, node by node")
    .description(
      "Compare the results of a model in your ONNX Runtime with the exact results, node by node.",
    );
  addCheckOptions(command)
    .addOption(wholeOption("--runs <count>", "the number of model runs (default: 1)", 1, 10_000))
    .option(
      "--tolerance <part>",
      "the largest relative difference to accept between floats, such as 1e-6",
      parsePart,
    )
    .option("--json", JSON_HELP)
    .addHelpText("after", HELP)
    .action(async (file: string, options: VerifyCommand) => {
      const { node, iteration = 0, call = 0, runs = 1, tolerance, json = false } = options;
      const { bytes, model, feeds, expected } = await readWithInputs(io, file, options);
      const how = {
        iteration,
        call,
        runs,
        ...(tolerance !== undefined && { tolerance }),
        ...(node !== undefined && { node }),
        ...expected,
      };
      const run = { doing: "run 1, in ONNX Runtime", isBrief: true };
      const report = await inRuntime(io, file, options, run, (sessions, show) => {
        const { own, others, oneThread } = sessions;
        const onProgress = (progress: VerifyProgress): void => show(...progressText(progress));
        const more = { others, onProgress, ...(oneThread && { oneThread }) };
        return verifyModel(bytes, feeds, { ...own, ...how, ...more });
      });
      const isRandom = options.random === true && hasRandomIntegers(model, options);
      await printResult(io, json ? reportFacts(file, report) : reportText(file, report, isRandom));
      if (!report.agrees) fail(WRONG_DATA);
    });
}

/** Returns true if --random generates an input of integers, which may be indices. */
const hasRandomIntegers = ({ graph }: Model, { feed = [] }: VerifyCommand): boolean =>
  graph.inputs.some(
    ({ name, type }) =>
      /^int(?:32|64)$/.test(type?.dtype ?? "int64") &&
      !graph.constants.some((one) => one.name === name) &&
      !feed.some((one) => one.startsWith(`${name}=`)),
  );

/** Parses a nonnegative number. Blank text is refused, because `Number` converts it to 0. */
function parsePart(text: string): number {
  const part = text.trim() === "" ? NaN : Number(text);
  if (part >= 0 && part < Infinity) return part;
  throw wrongUsage(
    `--tolerance must be a number that is at least 0, such as 1e-6, got ${quote(text)}`,
  );
}

/** Returns a line of progress, and the run that it is about. */
function progressText(progress: VerifyProgress): [text: string, run: string] {
  const { run, runs, nodes, searches, alone } = progress;
  if (alone !== null) {
    const text = `${alone.path} alone, run ${alone.count}`;
    return [text, text];
  }
  const nth = `run ${run} of ${runs}`;
  return searches === 0
    ? [`${nth}, ${printCount(nodes, "node")} compared`, nth]
    : [`${nth}, the runtime fails; session ${searches} in search of the node`, nth];
}

/**
 * Converts the report to JSON data, which contains the history of each node's first differing cell instead of the
 * inputs.
 */
function reportFacts(file: string, { nodes, ...report }: VerifyReport): object {
  const facts = nodes.map((node) => ({
    ...node,
    call: undefined,
    result: undefined,
    history: historyOf(node),
  }));
  return { file, nodes: facts, ...report };
}

function historyOf({ call, difference }: VerifiedNode): string[] {
  return call === null || difference === null
    ? []
    : historyLines(explain(call.node, call.inputs), difference.at);
}

/** Note about the limits of verification with generated inputs. */
const RANDOM_LIMIT =
  "  --random generates indices within bounds; to check your own indices, use --feed";

/** Verdicts for which the report only counts nodes, because a failed node's line already names the nodes after it. */
const COUNTED_ONLY: ReadonlySet<string> = new Set(["equal", "behind"]);

const FAILING: ReadonlySet<string> = new Set(["wrong", "failed", "behind"]);

/** Returns a line about a model that the runtime cannot load without changes. */
function loadLine(
  loads: "never" | "unoptimized",
  problem: string | null,
  hasNodes: boolean,
): string {
  const how = {
    never: "the nodes were compared by running separate parts of the model",
    unoptimized:
      'it loads without graph optimization (graphOptimizationLevel: "disabled"), so the nodes were compared that way',
  };
  const end = hasNodes || loads === "unoptimized" ? `; ${how[loads]}` : "";
  return `  the runtime cannot load the model: ${problem}${end}`;
}

function reportText(
  file: string,
  { nodes, notes, failures, loads, problem, expected }: VerifyReport,
  isRandom: boolean,
): string {
  const shown = nodes.filter(
    // Branches that did not run may contain most nodes. In a voice detection model, these branches contain two thirds
    // of the nodes.
    ({ verdict, isReproducible, reruns }) =>
      (!COUNTED_ONLY.has(verdict) && (verdict !== "not-run" || nodes.length === 1)) ||
      !isReproducible ||
      reruns !== null,
  );
  const counts = new Map<string, number>();
  for (const { verdict } of nodes) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  // A node that causes a runtime failure is printed on its own line.
  const isSaid =
    problem === null ||
    loads !== "as-is" ||
    failures.length > 0 ||
    nodes.some(({ verdict, where }) => FAILING.has(verdict) && where === null);
  const summary = [...counts].map(([verdict, count]) => `${count} ${verdict}`).join(", ");
  return printLines(
    `${printFile(file)}: ${printCount(nodes.length, "scatter/gather node")}`,
    loads !== "as-is" && loadLine(loads, problem, nodes.length > 0),
    shown.flatMap(linesOf),
    failures.map(failureLine),
    !isSaid && `  the whole model does not run: ${problem}`,
    expected && expectedLines(expected),
    notes.map((note) => `  note: ${note}`),
    isRandom && nodes.length > 0 && RANDOM_LIMIT,
    summary === "" ? "nothing to compare" : summary,
  );
}

/** Maximum number of nodes to list after a failed node. With --json, the report lists all nodes. */
const MOST_BEHIND = 10;

function failureLine({ title, message, isCompared, behind }: FailedNode): string {
  const names = listFirst(behind, MOST_BEHIND);
  const unknown = `so ${printCount(behind.length, "later node")} could not be compared: ${names}`;
  return isCompared
    ? `  behind: ${title} has no result, ${unknown}`
    : `  failed: ${title}: the runtime says: ${message}; ${unknown}`;
}

function linesOf(node: VerifiedNode): string[] {
  const { path, op, version, verdict, sentence, where, call, diagnoses } = node;
  const title = version === null ? op : `${op}-${version}`;
  const isExplained = call !== null && (verdict === "differs" || diagnoses.length > 0);
  return [
    `  ${verdict}: ${title} ${path}: ${where === null ? "" : `in ${where}, `}${[sentence, ...runsOf(node)].filter(Boolean).join("; ")}`,
    ...[...(isExplained ? reasonLines(diagnoses) : []), ...historyOf(node)].map(
      (line) => `    ${line}`,
    ),
  ];
}

/** Maximum number of differing runs to list. With --json, the report lists all runs. */
const MOST_RUNS = 3;

/** Describes a node's runs: whether the results are equal, and how often the node ran alone. */
function runsOf({ verdict, otherRuns, reruns }: VerifiedNode): string[] {
  const said: string[] = [];
  if (otherRuns.length > 0) {
    const runs = listFirst(otherRuns, MOST_RUNS, "other run");
    said.push(`not reproducible: the same inputs gave a different result in ${runs}`);
  } else if (reruns !== null) {
    const isEqual = verdict === "equal";
    const suspect = "several updates have the same target";
    const times = `${printCount(reruns.count, "run")} of the node alone`;
    if (reruns.problem !== null)
      said.push(`${suspect}, but the node does not run alone: ${reruns.problem}`);
    else
      said.push(isEqual ? `${suspect}; also equal in ${times}` : `${times} gave the same result`);
  }
  if (reruns?.isExactInOneThread === true) said.push("exact on one thread");
  return said;
}
