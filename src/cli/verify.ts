/** `ndscatter verify`: compares what the user's runtime makes of a model's scatters and gathers with the exact results. */

import type { Command } from "commander";
import { tensor, zeros, type Tensor } from "../index.ts";
import {
  readModel,
  verifyModel,
  type Graph,
  type VerifiedNode,
  type VerifyReport,
} from "../onnx/index.ts";
import { printFile, withPath, WRONG_DATA, wrongUsage, type Status } from "./failure.ts";
import type { Io } from "./io.ts";
import { escapeControls, JSON_HELP, printCount, printJson } from "./layout.ts";
import { collect } from "./operator-call.ts";
import { readBytes } from "./read-files.ts";
import {
  addRuntimeOptions,
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
bit; those in bodies of If and Loop too, where they run. Other NaN and other
signs of zero are told apart from the rest.

With --random inputs without --feed are made up: numbers between -1 and 1, and 0
for integers. With --runs the model runs several times, and a node whose result
changes is not reproducible. The status is 0 only if all nodes that run agree.

Examples:
  ndscatter verify model.onnx --feed x=x.npy
  ndscatter verify model.onnx --random --dim N=4 --dim '?=2'
  ndscatter verify model.onnx --feed x=x.npy --threads 8 --runs 5`;

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
    .option("--tolerance <part>", "how far floats may be apart, as a part of the larger", Number)
    .option("--json", JSON_HELP)
    .addHelpText("after", HELP)
    .action(async (file: string, options: VerifyCommand) => {
      const { node, iteration = 0, runs = 1, tolerance = 0, json = false } = options;
      if (runs < 1) throw wrongUsage("--runs must be 1 or more");
      if (!(tolerance >= 0)) throw wrongUsage("--tolerance must be a number that is 0 or more");
      const bytes = readBytes(io, file);
      const { graph } = withPath(file, () => readModel(bytes));
      const feeds = feedsOf(io, file, graph, options);
      const sessions = await makeSessions(io, file, options);
      const own = {
        ...sessions,
        iteration,
        runs,
        tolerance,
        ...(node !== undefined && { node }),
      };
      const report = await verifyModel(bytes, feeds, own);
      const text = json ? printJson({ file, ...report }) : reportText(file, report);
      await io.stdout.write(`${text}\n`);
      if (!report.agrees) fail(WRONG_DATA);
    });
}

function reportText(file: string, { nodes }: VerifyReport): string {
  const shown = nodes.filter(
    // A model of a voice detector has twice as many nodes in branches that are not taken.
    ({ verdict, isReproducible }) =>
      (verdict !== "equal" && verdict !== "not-run") || !isReproducible,
  );
  const counts = new Map<string, number>();
  for (const { verdict } of nodes) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  const summary = [...counts].map(([verdict, count]) => `${count} ${verdict}`).join(", ");
  return [
    `${printFile(file)}: ${printCount(nodes.length, "node")} of the family`,
    ...shown.map(lineOf),
    summary === "" ? "nothing to compare" : summary,
  ]
    .map(escapeControls)
    .join("\n");
}

function lineOf({ path, op, version, verdict, sentence, isReproducible }: VerifiedNode): string {
  const title = version === null ? op : `${op}-${version}`;
  const again = isReproducible ? "" : "; not reproducible: another run had another result";
  return `  ${verdict}: ${title} ${path}: ${sentence || "equal"}${again}`;
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
  if (options.random !== true) return feeds;
  const sizes = new Map(
    (options.dim ?? []).map((text) => {
      const at = text.lastIndexOf("=");
      if (at < 1) throw wrongUsage(`--dim takes NAME=SIZE, got ${JSON.stringify(text)}`);
      return [text.slice(0, at), parseCount(text.slice(at + 1), "--dim")] as const;
    }),
  );
  for (const { name, type } of inputs) {
    if (name in feeds) continue;
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
