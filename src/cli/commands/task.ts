/**
 * Defines the target of `ndscatter run` and `ndscatter explain`: an operator, a model or a model node, with named
 * inputs and outputs.
 */

import * as fs from "node:fs";
import * as path from "node:path";
import type { Command } from "commander";
import type { Tensor } from "../../entries/index.ts";
import type { Model, NodeCall, PlacedNode } from "../../entries/onnx.ts";
import { asUsage, printFile, withPath, wrongData, wrongUsage } from "../failure.ts";
import type { Io } from "../io.ts";
import { printName } from "../text/layout.ts";
import { addCallOptions, isOperator, parseCall, type CallOptions } from "../input/operator-call.ts";
import { bindInputFiles, givenOption } from "../input/arguments.ts";
import { checkOneInput, readModelFile, readTensorFiles } from "../input/read-files.ts";
import { listFirst } from "../../core/foreign.ts";
import { run } from "../../core/functions.ts";
import { modelNotes } from "../../models/model/model-notes.ts";
import { listNodes, NodeIndex } from "../../models/model/node-index.ts";
import { nodeCall, runModel, runNode, unsupportedOperators } from "../../models/model/run-model.ts";

export type Results = ReadonlyMap<string, Tensor>;

export interface Task {
  readonly title: string;
  readonly inputs: readonly string[];
  /** Names of inputs that may be omitted, because they are optional or have default values in the model. */
  readonly optional: ReadonlySet<string>;
  readonly outputs: readonly string[];
  readonly notes: readonly string[];
  readonly file?: string;
  /** True if the task's only output is the output of the node that `call` returns. */
  readonly isOneNode: boolean;
  execute(inputs: ReadonlyMap<string, Tensor>): Results | Promise<Results>;
  /** Returns the task's only node with its inputs. */
  call(inputs: ReadonlyMap<string, Tensor>): NodeCall;
}

export interface TaskOptions extends CallOptions {
  readonly node?: string;
}

export function addTaskArguments(command: Command): Command {
  command
    .argument(
      "<target>",
      "an operator, such as ScatterND, or a model (.onnx, .xml, or - for standard input)",
    )
    .argument("[inputs...]", "the inputs, each as FILE or NAME=FILE");
  return addCallOptions(command).option(
    "--node <name>",
    "use only this node, also in a body or function: its name, the path that inspect prints, an output of the node, " +
      "an operator that no other node has, or its name in ONNX Runtime",
  );
}

/**
 * Finds what a command works on, before any input is read. Throws a `Failure` if the target is neither an operator nor
 * a model, or does not support the options. A task for `run` must have only operators that this package runs; a task
 * for the other commands must have a single node for `call`.
 */
export function findTask(
  io: Io,
  target: string,
  { node, ...call }: TaskOptions,
  isForRun = false,
): Task {
  if (isOperator(target)) {
    if (node === undefined) return operatorTask(target, call);
    throw wrongUsage(
      `--node needs a model, but ${target} is an operator; for a file with this name, write ./${target}`,
    );
  }
  // If the file does not exist, the registry's error suggests the most similar operator name.
  const isFile = fs.existsSync(path.resolve(io.cwd, target));
  if (/^\w+$/.test(target) && !isFile) parseCall(target, call);
  const odd = givenOption(call, ["domain", "opset", "attr", "axis"]);
  if (odd !== undefined) {
    throw wrongUsage(
      `${odd} goes with an operator, but ${printFile(target)} is a model, which has its own`,
    );
  }
  const model = readModelFile(io, target);
  const index = new NodeIndex(model);
  if (node !== undefined) return nodeTask(target, model, index, node, isForRun);
  if (!isForRun) return modelTask(target, model, index, onlyNode(target, index));
  checkSupported(target, model);
  return modelTask(target, model, index);
}

function operatorTask(op: string, options: CallOptions): Task {
  const { node, version, title, given } = parseCall(op, options);
  const tensorsOf = (tensors: ReadonlyMap<string, Tensor>): (Tensor | undefined)[] =>
    version.inputs.map(({ name }) => given.get(name) ?? tensors.get(name));
  const outputs = version.outputs.map(({ name }) => name);
  return {
    title,
    inputs: version.inputs.map(({ name }) => name).filter((name) => !given.has(name)),
    optional: new Set(
      version.inputs.flatMap(({ name, optional }) => (optional === true ? [name] : [])),
    ),
    outputs,
    isOneNode: true,
    notes:
      version.deprecated === undefined
        ? []
        : [`${title} is deprecated: ${version.deprecated} replaces it`],
    execute(tensors) {
      const results = run(node, tensorsOf(tensors));
      return new Map(outputs.map((name, position) => [name, results[position]]));
    },
    call: (tensors) => ({ node, inputs: tensorsOf(tensors) }),
  };
}

/** The task of a whole model. By default, `placed`, the node of `call`, is the model's first scatter or gather. */
export function modelTask(
  file: string,
  model: Model,
  index: NodeIndex,
  placed = index.family[0],
): Task {
  const { nodes, ...graph } = model.graph;
  const [inputs, outputs, constants] = [graph.inputs, graph.outputs, graph.constants].map((all) =>
    all.map(({ name }) => name),
  );
  const isAlone = nodes.length === 1 && index.family.length === 1 && isOperator(nodes[0].op);
  return {
    title: printFile(file),
    file,
    inputs,
    notes: modelNotes(model),
    optional: new Set(constants),
    outputs,
    isOneNode: isAlone && outputs.length === 1,
    execute: (tensors) =>
      withPath(file, () => new Map(Object.entries(runModel(model, Object.fromEntries(tensors))))),
    call: (tensors) => callNode(file, index, placed, tensors),
  };
}

function nodeTask(
  file: string,
  model: Model,
  index: NodeIndex,
  name: string,
  isForRun: boolean,
): Task {
  // An unknown node name is a usage error.
  const unknown = [`${printFile(file)}: `, "unsupported-model"] as const;
  const placed = withPath(file, () => asUsage(() => index.find(name), ...unknown));
  const { node, place } = placed;
  checkSupported(file, {
    ...model,
    opsets: place.opsets,
    graph: { ...model.graph, nodes: [node] },
  });
  const isOneNode = isOperator(node.op);
  if (!isForRun && !isOneNode) {
    const sentence = `${node.op} is not a scatter or gather; the model has ${listNodes(index.family)}`;
    throw wrongData(`${printFile(file)}: ${sentence}`);
  }
  const inputs = [...new Set(node.inputs)].filter((one) => one !== "");
  return {
    title: `${node.op} ${printName(node.name || node.outputs[0])} of ${printFile(file)}`,
    file,
    inputs,
    notes: modelNotes(model),
    optional: new Set(inputs.filter((one) => index.isConstant(placed, one))),
    outputs: node.outputs.filter((one) => one !== ""),
    isOneNode,
    execute: (tensors) =>
      withPath(
        file,
        () => new Map(Object.entries(runNode(index, node, Object.fromEntries(tensors)))),
      ),
    call: (tensors) => callNode(file, index, placed, tensors),
  };
}

/**
 * Reads the inputs of a call. Among the model, the inputs and `others`, further files of the command, at most one may
 * be standard input.
 */
export function readCall(
  io: Io,
  task: Task,
  texts: readonly string[],
  ...others: readonly (string | undefined)[]
): NodeCall {
  const files = bindInputFiles(texts, task);
  checkOneInput([task.file, ...files.values(), ...others]);
  return task.call(readTensorFiles(io, files));
}

/** Maximum number of operators that an error lists. */
const MOST_NAMED = 20;

function checkSupported(file: string, model: Model): void {
  const missing = withPath(file, () => unsupportedOperators(model));
  if (missing.length === 0) return;
  const named = listFirst(missing, MOST_NAMED);
  const advice = "choose one node with --node, or run the model with --with onnxruntime-node";
  const sentence = `the model has operators that this package does not run: ${named}; ${advice}`;
  throw wrongData(`${printFile(file)}: ${sentence}`);
}

/** Returns the call for one model node. Tensors for other nodes are ignored. */
const callNode = (
  file: string,
  index: NodeIndex,
  { node }: PlacedNode,
  tensors: ReadonlyMap<string, Tensor>,
): NodeCall =>
  withPath(file, () => {
    const own = [...tensors].filter(([name]) => node.inputs.includes(name));
    return nodeCall(index, node, Object.fromEntries(own));
  });

/** Returns the model's only scatter or gather. Throws an error if another node computes its inputs. */
function onlyNode(file: string, index: NodeIndex): PlacedNode {
  const { family } = index;
  const [placed] = family;
  if (family.length !== 1) {
    const got =
      family.length === 0
        ? "none"
        : `${family.length}; choose one with --node: ${listNodes(family)}`;
    const sentence = `${printFile(file)} must have one scatter or gather, got ${got}`;
    throw wrongUsage(sentence);
  }
  const { node } = placed;
  const given = new Set(index.model.graph.inputs.map(({ name }) => name));
  const computed = node.inputs.find(
    (name) => name !== "" && !given.has(name) && !index.isConstant(placed, name),
  );
  if (computed === undefined) return placed;
  const advice = `choose that with --node ${printName(index.pathOf(placed))} and give its inputs`;
  throw wrongUsage(
    `${printFile(file)} computes ${printName(computed)}, an input of ${node.op}; ${advice}`,
  );
}
