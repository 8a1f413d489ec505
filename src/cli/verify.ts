/** `ndscatter verify`: compares what the user's runtime makes of a model's scatters and gathers with the exact results. */

import type { Command } from "commander";
import { explain, tensor, zeros, type Tensor } from "../index.ts";
import {
  readModel,
  verifyModel,
  type Graph,
  type VerifiedNode,
  type VerifyProgress,
  type VerifyReport,
} from "../onnx/index.ts";
import { printFile, withPath, WRONG_DATA, wrongUsage, type Status } from "./failure.ts";
import type { Io } from "./io.ts";
import { escapeControls, JSON_HELP, printCount, printJson } from "./layout.ts";
import { collect } from "./operator-call.ts";
import { ProgressLine } from "./progress.ts";
import { readBytes } from "./read-files.ts";
import { historyLines, reasonLines } from "./reasons.ts";
import {
  addRuntimeOptions,
  inModel,
  makeSessions,
  parseCount,
  readFeeds,
  type RuntimeOptions,
} from "./runtime.ts";

interface VerifyCommand extends RuntimeOptions {
  readonly node?: string;
  readonly random?: boolean;
  readonly dim?: readonly string[];
  readonly runs?: number;
  readonly tolerance?: number;
  readonly json?: boolean;
}

const HELP = `
The model runs in the ONNX Runtime that is installed in the folder where the
command runs (onnxruntime-node, or onnxruntime-web). Every scatter and gather is
computed again from the inputs that it had there, exactly, and compared bit for
bit. Of a loop one iteration is compared, the first or --iteration; of a function
its first call that runs; then the model is run as a whole. A result that differs
only in the bits of a NaN or the sign of a zero is nan-or-zero. Where a result
differs, the likely reason is named (docs/diagnose.md lists them), and what
really happens to the first cell that differs.

With --random, inputs that have no --feed are made up: numbers between -1 and 1,
and 0 for integers, so that indices meet the first place only. With --runs the model runs several times, with each count of
--threads, and a node that makes another result of the same inputs is not
reproducible. The status is 0 only if all nodes that run agree.

Examples:
  ndscatter verify model.onnx --feed x=x.npy
  ndscatter verify model.onnx --random --dim N=4 --dim '?=2'
  ndscatter verify model.onnx --feed x=x.npy --threads 1,8 --runs 5`;

export function addVerifyCommand(program: Command, io: Io, fail: (status: Status) => void): void {
  const command = program
    .command("verify")
    .summary("compare your runtime with the exact results, node by node")
    .description(
      "Compare what your ONNX Runtime makes of a model with the exact results, node by node.",
    )
    .argument("<model>", "an ONNX model")
    .option("--node <name>", "only this node, by the names that explain takes");
  addRuntimeOptions(command)
    .option("--random", "make up inputs that have no --feed")
    .option("--dim <name=size>", "the size of a dimension by its name, ? for one without", collect)
    .option("--runs <count>", "how often the model runs", (text: string) =>
      parseCount(text, "--runs"),
    )
    .option(
      "--tolerance <part>",
      "the largest relative difference of floats, such as 1e-6",
      parsePart,
    )
    .option("--json", JSON_HELP)
    .addHelpText("after", HELP)
    .action(async (file: string, options: VerifyCommand) => {
      const { node, iteration = 0, runs = 1, tolerance = 0, json = false } = options;
      if (runs < 1 || runs > 10_000) throw wrongUsage("--runs must be 1 to 10000");
      if (!(tolerance >= 0)) throw wrongUsage("--tolerance must be a number that is 0 or more");
      const bytes = readBytes(io, file);
      const { graph } = withPath(file, () => readModel(bytes));
      const feeds = feedsOf(io, file, graph, options);
      const report = await withProgress(io, file, async (starting, onProgress) => {
        const { own, others } = await makeSessions(io, file, options, starting);
        const chosen = node === undefined ? {} : { node };
        const how = { iteration, runs, tolerance, onProgress };
        const all = { ...own, others, ...how, ...chosen };
        return inModel(file, () => verifyModel(bytes, feeds, all));
      });
      const text = json ? printJson(reportJson(file, report)) : reportText(file, report);
      await io.stdout.write(`${text}\n`);
      if (!report.agrees) fail(WRONG_DATA);
    });
}

/** A number; blank text is none. */
const parsePart = (text: string): number => (text.trim() === "" ? NaN : Number(text));

/** Shows on a terminal how far a verification is. */
async function withProgress<T>(
  io: Io,
  file: string,
  action: (starting: () => void, onProgress: (progress: VerifyProgress) => void) => Promise<T>,
): Promise<T> {
  const line = new ProgressLine(io.stderr);
  let run = "run 1";
  const starting = (): void => line.showNow(`${printFile(file)}: ${run}, in ONNX Runtime`);
  const onProgress = ({ run: nth, runs, nodes }: VerifyProgress): void => {
    run = `run ${nth} of ${runs}`;
    line.show(() => `${printFile(file)}: ${run}, ${printCount(nodes, "node")} compared`);
  };
  try {
    return await action(starting, onProgress);
  } finally {
    line.clear();
  }
}

/** The report as data: the inputs of a node give place to what really happens to its first cell that differs. */
function reportJson(file: string, { nodes, ...report }: VerifyReport): object {
  const facts = nodes.map((node) => ({ ...node, call: undefined, history: historyOf(node) }));
  return { file, nodes: facts, ...report };
}

/** What really happens to the first cell that differs. */
function historyOf({ call, difference }: VerifiedNode): string[] {
  return call === null || difference === null
    ? []
    : historyLines(explain(call.node, call.inputs), difference.at);
}

function reportText(file: string, { nodes, problem }: VerifyReport): string {
  const shown = nodes.filter(
    // A model of a voice detector has twice as many nodes in branches that are not taken.
    ({ verdict, isReproducible }) =>
      (verdict !== "equal" && (verdict !== "not-run" || nodes.length === 1)) || !isReproducible,
  );
  const counts = new Map<string, number>();
  for (const { verdict } of nodes) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  const summary = [...counts].map(([verdict, count]) => `${count} ${verdict}`).join(", ");
  return [
    `${printFile(file)}: ${printCount(nodes.length, "node")} of the family`,
    ...shown.flatMap(linesOf),
    ...(problem === null ? [] : [`  the model does not run as a whole: ${problem}`]),
    summary === "" ? "nothing to compare" : summary,
  ]
    .map(escapeControls)
    .join("\n");
}

/** What is said of a node: the verdict, the reason, and the history of the first cell that differs. */
function linesOf(node: VerifiedNode): string[] {
  const { path, op, version, verdict, sentence, call, diagnoses, otherRuns } = node;
  const title = version === null ? op : `${op}-${version}`;
  const again =
    otherRuns.length === 0
      ? ""
      : `; not reproducible: another result of the same inputs in ${otherRuns.join(", ")}`;
  const isTold = call !== null && (verdict === "differs" || diagnoses.length > 0);
  return [
    `  ${verdict}: ${title} ${path}: ${sentence || "equal"}${again}`,
    ...[...(isTold ? reasonLines(diagnoses) : []), ...historyOf(node)].map((line) => `    ${line}`),
  ];
}

/** Tensors from files, and with --random made-up ones for the other inputs. */
function feedsOf(
  io: Io,
  file: string,
  graph: Graph,
  options: VerifyCommand,
): Record<string, Tensor> {
  const constants = new Set(graph.constants.map(({ name }) => name));
  const inputs = graph.inputs.filter(({ name }) => !constants.has(name));
  const feeds = readFeeds(
    io,
    file,
    graph.inputs.map(({ name }) => name),
    options,
  );
  if (options.random !== true) {
    if (options.dim === undefined) return feeds;
    throw wrongUsage("--dim goes with --random, which makes inputs up");
  }
  const sizes = new Map(
    (options.dim ?? []).map((text) => {
      const at = text.lastIndexOf("=");
      if (at < 1) throw wrongUsage(`--dim takes NAME=SIZE, got ${JSON.stringify(text)}`);
      return [text.slice(0, at), parseCount(text.slice(at + 1), "--dim")] as const;
    }),
  );
  const dims = new Set(inputs.flatMap(({ type }) => (type?.shape ?? []).map((dim) => dim ?? "?")));
  const odd = [...sizes.keys()].find((name) => !dims.has(name));
  if (odd !== undefined) {
    const known = [...dims].filter((dim) => typeof dim === "string");
    const there = known.length === 0 ? "it has none" : `there is ${known.join(", ")}`;
    throw wrongUsage(escapeControls(`the model has no dimension ${JSON.stringify(odd)}: ${there}`));
  }
  for (const { name, type } of inputs) {
    if (Object.hasOwn(feeds, name)) continue;
    const shape = type?.shape?.map((dim) => {
      if (typeof dim === "number") return dim;
      const size = sizes.get(dim ?? "?");
      if (size !== undefined) return size;
      throw wrongUsage(
        `the input ${JSON.stringify(name)} has the dimension ${dim ?? "?"}; give its size, such as --dim '${dim ?? "?"}=2'`,
      );
    });
    if (type === null || shape === undefined) {
      throw wrongUsage(`the input ${JSON.stringify(name)} has no shape to make up; use --feed`);
    }
    feeds[name] = madeUp(type.dtype, shape);
  }
  return feeds;
}

/** A step that meets every number of three digits between -1 and 1 before it repeats. */
const STEP = 617;

function madeUp(dtype: Tensor["dtype"], shape: readonly number[]): Tensor {
  const size = shape.reduce((a, b) => a * b, 1);
  const isFloat = dtype.includes("float");
  if (!isFloat) return zeros(dtype, shape);
  const values = Array.from({ length: size }, (_, at) => (((at + 1) * STEP) % 2001) / 1000 - 1);
  return tensor(dtype, shape, values as never);
}
