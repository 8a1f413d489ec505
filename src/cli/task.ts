/** The target of `run` and `explain`: an operator, a model, or one node of a model, with named inputs and outputs. */

import * as fs from "node:fs";
import * as path from "node:path";
import type { Command } from "commander";
import { run, type Tensor } from "../index.ts";
import {
  nodeCall,
  runModel,
  runNode,
  type Model,
  type ModelNode,
  type NodeCall,
} from "../onnx/index.ts";
import { printFile, withPath, wrongUsage } from "./failure.ts";
import type { Io } from "./io.ts";
import { printName } from "./layout.ts";
import { addCallOptions, isOperator, parseCall, type CallOptions } from "./operator-call.ts";
import { readModelFile } from "./read-files.ts";

export interface Task {
  /** Its name in messages. */
  readonly title: string;
  readonly inputs: readonly string[];
  /** Inputs that may be left out: the operator does without them, or the model has values for them. */
  readonly optional: ReadonlySet<string>;
  readonly outputs: readonly string[];
  /** A remark for the user. */
  readonly note?: string;
  /** The file of its model. */
  readonly file?: string;
  execute(inputs: ReadonlyMap<string, Tensor>): ReadonlyMap<string, Tensor>;
  /**
   * Its one node with that node's inputs.
   * @throws Failure for a model of several nodes
   */
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
    .argument("[inputs...]", "the inputs: files, or NAME=FILE");
  return addCallOptions(command).option(
    "--node <name>",
    "take one node of the model: its name, a value it makes, or an operator no other node has",
  );
}

/** @throws Failure for a target that is neither an operator nor a model, and for options that it does not take. */
export function findTask(io: Io, target: string, options: TaskOptions): Task {
  const { node, ...call } = options;
  if (isOperator(target)) {
    if (node === undefined) return operatorTask(target, call);
    throw wrongUsage(
      `--node goes with a model, but ${target} is an operator; a file of that name is ./${target}`,
    );
  }
  // Where there is no such file, the registry's error names the operator that was probably meant.
  const isFile = fs.existsSync(path.resolve(io.cwd, target));
  if (/^\w+$/.test(target) && !isFile) parseCall(target, call);
  const odd = (["domain", "opset", "attr"] as const).find((name) => call[name] !== undefined);
  if (odd !== undefined) {
    throw wrongUsage(
      `--${odd} goes with an operator, but ${printFile(target)} is a model, which has its own`,
    );
  }
  const model = readModelFile(io, target);
  return node === undefined
    ? modelTask(target, model)
    : nodeTask(target, model, findNode(target, model, node));
}

function operatorTask(op: string, options: CallOptions): Task {
  const { node, version, title, given } = parseCall(op, options);
  const inputs = version.inputs.map(({ name }) => name).filter((name) => !given.has(name));
  const tensorsOf = (tensors: ReadonlyMap<string, Tensor>): (Tensor | undefined)[] =>
    version.inputs.map(({ name }) => given.get(name) ?? tensors.get(name));
  const outputs = version.outputs.map(({ name }) => name);
  return {
    title,
    inputs,
    optional: new Set(
      version.inputs.flatMap(({ name, optional }) => (optional === true ? [name] : [])),
    ),
    outputs,
    ...(version.deprecated !== undefined && {
      note: `${title} is deprecated: ${version.deprecated} replaces it`,
    }),
    execute(tensors) {
      const results = run(node, tensorsOf(tensors));
      return new Map(outputs.map((name, position) => [name, results[position]]));
    },
    call: (tensors) => ({ node, inputs: tensorsOf(tensors) }),
  };
}

function modelTask(file: string, model: Model): Task {
  const { inputs, outputs, constants } = model.graph;
  return {
    title: printFile(file),
    file,
    inputs: inputs.map(({ name }) => name),
    optional: new Set(constants.map(({ name }) => name)),
    outputs: outputs.map(({ name }) => name),
    execute: (tensors) =>
      withPath(file, () => new Map(Object.entries(runModel(model, Object.fromEntries(tensors))))),
    call: (tensors) => callNode(file, model, onlyNode(file, model), tensors),
  };
}

function nodeTask(file: string, model: Model, node: ModelNode): Task {
  const { nodes, constants } = model.graph;
  const makers = nodes.filter(({ op }) => op === "Constant");
  return {
    title: `${node.op} ${printName(node.name || node.outputs[0])} of ${printFile(file)}`,
    file,
    inputs: [...new Set(node.inputs)].filter((name) => name !== ""),
    optional: new Set([
      ...constants.map(({ name }) => name),
      ...makers.flatMap(({ outputs }) => outputs),
    ]),
    outputs: node.outputs.filter((name) => name !== ""),
    execute: (tensors) =>
      withPath(file, () => {
        const results = runNode(model, node, Object.fromEntries(tensors));
        return new Map(Object.entries(results));
      }),
    call: (tensors) => callNode(file, model, node, tensors),
  };
}

/** The call of a node of a model; tensors for other nodes are left out. */
const callNode = (
  file: string,
  model: Model,
  node: ModelNode,
  tensors: ReadonlyMap<string, Tensor>,
): NodeCall =>
  withPath(file, () => {
    const own = [...tensors].filter(([name]) => node.inputs.includes(name));
    return nodeCall(model, node, Object.fromEntries(own));
  });

/** The only node of a model that has an operator of this package. No other node may compute its inputs. */
function onlyNode(file: string, { graph }: Model): ModelNode {
  const { nodes } = graph;
  const found = nodes.filter(({ op }) => isOperator(op));
  if (found.length === 1) {
    const [node] = found;
    const makers = nodes.filter(({ op }) => op !== "Constant");
    const computed = node.inputs.find((name) =>
      makers.some(({ outputs }) => outputs.includes(name)),
    );
    if (computed === undefined) return node;
    const name = printName(node.name || node.outputs[0]);
    const advice = `choose that with --node ${name} and give its inputs`;
    throw wrongUsage(
      `${printFile(file)} computes ${printName(computed)}, an input of ${node.op}; ${advice}`,
    );
  }
  const which = found.length === 0 ? "" : `; choose one with --node: ${listNodes(found, true)}`;
  throw wrongUsage(
    `${printFile(file)} has ${found.length === 0 ? "no node" : `${found.length} nodes`} to explain${which}`,
  );
}

/** The node with that name, or the one that makes a value of that name, or the only one of that operator. */
function findNode(file: string, { graph: { nodes } }: Model, name: string): ModelNode {
  const groups = [
    nodes.filter((node) => node.name === name),
    nodes.filter((node) => node.outputs.includes(name)),
    nodes.filter((node) => node.op === name),
  ];
  const found = groups.find((group) => name !== "" && group.length > 0) ?? [];
  if (found.length === 1) return found[0];
  if (found.length === 0) {
    throw wrongUsage(
      `${printFile(file)} has no node ${printName(name)}; its nodes are ${listNodes(nodes)}`,
    );
  }
  throw wrongUsage(
    `${printFile(file)} has ${found.length} nodes ${printName(name)}; name a value that one makes: ${listNodes(found, true)}`,
  );
}

const MAX_LISTED = 20;

/** The names of nodes, or with `byOutput` of the values that they make, which are never equal. */
function listNodes(nodes: readonly ModelNode[], byOutput = false): string {
  const names = nodes.map(({ name, outputs, op }) =>
    printName((!byOutput && name) || outputs[0] || op),
  );
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : "";
  return names.slice(0, MAX_LISTED).join(", ") + more || "none";
}
