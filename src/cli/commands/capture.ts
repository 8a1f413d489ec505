/** Implements `ndscatter capture`, which saves one model node and its actual inputs to files. */

import * as fs from "node:fs";
import * as path from "node:path";
import type { Command } from "commander";
import { isTensorError, type Tensor } from "../../entries/index.ts";
import { resolve, roleOf } from "../../entries/operators.ts";
import {
  captureCalls,
  constant,
  extractNode,
  modelNotes,
  writeModel,
  type CapturedCall,
  type Model,
} from "../../entries/onnx.ts";
import { writeNpy } from "../../entries/npy.ts";
import { errorAt, withPath, wrongData, wrongUsage } from "../failure.ts";
import { printResult, printNote, type Io } from "../io.ts";
import { printLines, quote } from "../text/layout.ts";
import { addFeedOptions, allFiles, RANDOM_HELP } from "../input/feeds.ts";
import {
  addRuntimeOptions,
  inRuntime,
  readWithInputs,
  type RuntimeOptions,
} from "../input/runtime.ts";
import { printType } from "../text/cells.ts";
import { checkNotRead, writeFiles } from "../input/write-files.ts";

interface CaptureCommand extends RuntimeOptions {
  readonly node: string;
  readonly output: string;
}

const HELP = `
The model runs in the ONNX Runtime that is installed in the folder where the
command runs (onnxruntime-node or onnxruntime-web). The model is cut before the
node, so the inputs are known even if the node fails. If the node is in a loop,
its inputs in the first iteration are saved, or in the iteration of --iteration.
If the node is in a function, its inputs in the first call are saved, or in the
call of --call.

The folder receives node.onnx, a model with only this node and its constant
indices, and a .npy file for each other input, such as indices.npy. The outputs of
the runtime are saved as runtime.0.npy, runtime.1.npy and so on. At the end, the
command prints the ndscatter explain command for these files.
${RANDOM_HELP}

Examples:
  ndscatter capture examples/graph-sum.onnx --node new_sums --random --dim nodes=5 --dim edges=7 -o case
  ndscatter capture model.onnx --node scatter_7 --feed x=x.npy -o case
  ndscatter explain case/node.onnx case/data.npy case/indices.npy case/updates.npy`;

export function addCaptureCommand(program: Command, io: Io): void {
  const command = program
    .command("capture")
    .summary("run a model in your runtime, and save one node with the inputs that it had")
    .description(
      "Run an ONNX model in your ONNX Runtime, and save one node as a model, with the inputs that it had as .npy files.",
    )
    .argument("<model>", "an ONNX model")
    .requiredOption("--node <name>", "the node to save, by any name that explain accepts")
    .requiredOption("-o, --output <folder>", "write the files to this folder");
  addFeedOptions(addRuntimeOptions(command))
    .optionsGroup("Output:")
    .addHelpText("after", HELP)
    .action(async (file: string, options: CaptureCommand) => {
      if ((options.threads?.length ?? 0) > 1)
        throw wrongUsage(
          "capture accepts only one thread count; give a single count with --threads",
        );
      const { bytes, model, feeds } = await readWithInputs(io, file, options);
      const { node, iteration = 0, call = 0 } = options;
      const run = { doing: "running in ONNX Runtime", isBrief: true };
      const captured = await inRuntime(io, file, options, run, async ({ own }, show) => {
        const onSearch = (sessions: number): void =>
          show(`the runtime fails; session ${sessions} in search of the node`);
        const calls = captureCalls(bytes, feeds, { ...own, node, iteration, call, onSearch });
        const { value } = await calls.next();
        await calls.return();
        return value;
      });
      await printNote(io, ...modelNotes(model));
      const read = allFiles(file, model, options);
      if (captured) await writeCase(io, file, options.output, model, captured, read);
    });
}

async function writeCase(
  io: Io,
  file: string,
  folder: string,
  model: Model,
  captured: CapturedCall,
  read: readonly string[],
): Promise<void> {
  const { call, path: place, problem, outputs, node, error } = captured;
  if (error !== null) throw errorAt(file, error);
  if (call === null) {
    throw wrongData(
      `${file}: the inputs of ${quote(place)} are unknown: ${problem}; choose another node, or give other model inputs`,
    );
  }
  const { inputs: schema } = resolve(call.node);
  const fixed = constantIndices(model, captured);
  const given = call.inputs.flatMap((tensor, position) =>
    tensor === undefined || fixed.has(position)
      ? []
      : [{ name: schema[position].name, tensor, input: node.inputs[position] }],
  );
  const at = (name: string): string => path.join(folder, name);
  const made = Object.values(outputs ?? {});
  const written = [
    { file: at("node.onnx"), bytes: writeModel(modelOf(captured, made, fixed)) },
    ...given.map(({ name, tensor }) => ({ file: at(`${name}.npy`), bytes: writeNpy(tensor) })),
    ...made.map((tensor, position) => ({
      file: at(`runtime.${position}.npy`),
      bytes: writeNpy(tensor),
    })),
  ];
  for (const one of written) checkNotRead(io, one.file, read);
  withPath(folder, () => fs.mkdirSync(path.resolve(io.cwd, folder), { recursive: true }));
  await writeFiles(io, written);
  const files = [at("node.onnx"), ...given.map(({ name }) => at(`${name}.npy`))];
  const expected = made.length === 0 ? [] : ["--expect", at("runtime.0.npy")];
  const shown = call.inputs.flatMap((tensor, position) => {
    if (tensor === undefined) return [];
    const text = `${schema[position].name} ${printType(tensor)}`;
    return [fixed.has(position) ? `constant ${text}` : text];
  });
  const text = printLines(
    `${place}: ${node.op}, with ${shown.join(", ")}`,
    problem !== null && `the runtime says: ${problem}`,
    `ndscatter explain ${[...files, ...expected].join(" ")}`,
  );
  await printResult(io, text);
}

/** Returns the positions of inputs that remain constants: constant indices and a constant axis. */
function constantIndices(
  model: Model,
  { node, call, path: place }: CapturedCall,
): ReadonlySet<number> {
  const fixed = new Set<number>();
  if (call === null) return fixed;
  let constants: ReadonlySet<string>;
  try {
    constants = new Set(extractNode(model, place).graph.constants.map(({ name }) => name));
  } catch (error) {
    // Other input types may be unknown before the model runs.
    if (isTensorError(error)) return fixed;
    throw error;
  }
  for (const [position, input] of resolve(call.node).inputs.entries()) {
    const role = roleOf(input);
    if ((role === "indices" || role === "axis") && constants.has(node.inputs[position] ?? ""))
      fixed.add(position);
  }
  return fixed;
}

/** Converts the node to a model, with inputs named after the operator's parameters. */
function modelOf(
  { node, call }: CapturedCall,
  outputs: readonly Tensor[],
  fixed: ReadonlySet<number>,
): Model {
  const { op, domain = "ai.onnx", opset } = call?.node ?? { op: node.op, opset: 1 };
  const { inputs: schema } = resolve({ domain, op, opset });
  const given = call?.inputs ?? [];
  const names = given.map((tensor, position) =>
    tensor === undefined ? "" : schema[position].name,
  );
  const typed = given.flatMap((tensor, position) =>
    tensor === undefined || fixed.has(position)
      ? []
      : [{ name: names[position], type: { dtype: tensor.dtype, shape: tensor.shape } }],
  );
  const constants = given.flatMap((tensor, position) =>
    tensor !== undefined && fixed.has(position) ? [constant(names[position], tensor)] : [],
  );
  const dtype = outputs[0]?.dtype ?? given[0]?.dtype;
  return {
    irVersion: 8,
    producer: "ndscatter",
    opsets: { [domain]: opset },
    graph: {
      name: node.name || op,
      inputs: typed,
      outputs: [{ name: "output", type: dtype ? { dtype, shape: null } : null }],
      nodes: [{ ...node, inputs: names, outputs: ["output"] }],
      constants,
    },
  };
}
