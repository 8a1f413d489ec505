/**
 * Runs models of this package's operators, ONNX's `Constant`, `Identity` and `Cast`, and OpenVINO's `Convert`. It is no
 * runtime: nothing is fused, planned ahead or released early, and a model with any other operator is refused as a whole
 * before anything runs.
 */

import { isTensorError, malformed, sentenceOf, TensorError } from "../errors.ts";
import type { OperatorVersion } from "../operators/operator.ts";
import { findVersion, resolve } from "../operators/registry.ts";
import { run } from "../call/run.ts";
import type { NodeSpec } from "../call/call.ts";
import { asTensor, type Tensor } from "../tensor/tensor.ts";
import { attributesOf } from "./attributes.ts";
import { checkNode, modelFrom, recordFrom } from "./foreign.ts";
import { checkGraph, listNames, MAX_NAMES, opsetOf, quote } from "./graph.ts";
import { inlineOperator } from "./inline.ts";
import { bindInputs, missingInput } from "./inputs.ts";
import { nodeTitle, type Model, type ModelNode } from "./model.ts";

/** Tensors by the names of their values. */
export type Tensors = Readonly<Record<string, Tensor>>;

/**
 * Runs a model. An output that is an input, or the `Identity` of one, is the tensor that was passed in and no copy.
 *
 * @param inputs a tensor for each input of the graph; an input that has a default may be left out
 * @returns the outputs of the graph by name
 * @throws TensorError `malformed-file` for a graph that is not sound (a value made twice, by nothing, or after its use;
 * a domain without an opset import), `unsupported-model` for nodes that are not run here, up to 20 of them named,
 * `shape-mismatch` for missing or unknown inputs and for other sizes than the declared ones (a name stands for one
 * size), `dtype` and `rank` likewise, and whatever a node throws, with the node named behind the sentence
 */
export function runModel(given: Model, inputs: Tensors): Record<string, Tensor> {
  const model = modelFrom(given);
  const { graph } = model;
  checkGraph(graph);
  checkSupported(model, graph.nodes);
  const bound = bindInputs(graph, recordFrom("the inputs", inputs));
  const constants = new Map(graph.constants.map((one) => [one.name, one]));
  const values = new Map<string, Tensor>(bound);
  const valueOf = (name: string): Tensor => {
    const known = values.get(name);
    if (known !== undefined) return known;
    const value = constants.get(name)?.read();
    if (value === undefined) throw malformed(`nothing makes ${quote(name)}`);
    values.set(name, value);
    return value;
  };
  for (const node of graph.nodes) {
    for (const [name, value] of runOne(model, node, valueOf)) values.set(name, value);
  }
  return Object.fromEntries(graph.outputs.map(({ name }) => [name, valueOf(name)]));
}

/**
 * Runs one node of a model on its own.
 *
 * @param node one of `model.graph.nodes`
 * @param inputs tensors by the names of the node's inputs; those that are left out are taken from the model's constants
 * and from what its `Constant` nodes make
 * @returns the outputs of the node by name
 * @throws TensorError `unsupported-model` for a node that is not run here, `shape-mismatch` for missing or unknown
 * inputs; else as {@link runModel}
 */
export function runNode(model: Model, node: ModelNode, inputs: Tensors): Record<string, Tensor> {
  const whole = modelFrom(model);
  return Object.fromEntries(runOne(whole, node, nodeValues(whole, node, inputs)));
}

/** A node of a model as `run`, `infer` and `explain` take it. */
export interface NodeCall {
  readonly node: NodeSpec;
  /** In the order of the node's inputs; undefined for one that is left out. */
  readonly inputs: readonly (Tensor | undefined)[];
}

/**
 * One node of a model as a call on its own.
 *
 * @param inputs as {@link runNode} takes them
 * @throws TensorError `unsupported-model` for an operator that is not of the family, and as {@link runNode} for the
 * inputs; what the operator itself refuses is not checked
 */
export function nodeCall(model: Model, node: ModelNode, inputs: Tensors): NodeCall {
  const whole = modelFrom(model);
  const valueOf = nodeValues(whole, node, inputs);
  if (inlineOperator(node) !== null) {
    const sentence = `${nodeTitle(node)} of the model is no node of an operator of the family`;
    throw new TensorError("unsupported-model", sentence);
  }
  return namingNode(node, () => specOf(whole, node, valuesOf(node, valueOf)));
}

/** Where a node that runs on its own takes its inputs from. */
function nodeValues(model: Model, node: ModelNode, given: Tensors): (name: string) => Tensor {
  checkNode(node);
  const inputs = recordFrom("the inputs", given);
  const { nodes, constants } = model.graph;
  checkSupported(model, [node]);
  const needed = node.inputs.filter((input) => input !== "");
  const unknown = Object.keys(inputs).find((input) => !needed.includes(input));
  if (unknown !== undefined) {
    throw new TensorError(
      "shape-mismatch",
      `${nodeTitle(node)} has no input ${quote(unknown)}; it has ${listNames(needed)}`,
      { input: unknown },
    );
  }
  const valueOf = (input: string): Tensor => {
    if (Object.hasOwn(inputs, input)) return asTensor(inputs[input], {}, input);
    const constant = constants.find((one) => one.name === input);
    if (constant !== undefined) return constant.read();
    const maker = nodes.find((one) => isConstantNode(one) && one.outputs.includes(input));
    const value = maker && new Map(runOne(model, maker, valueOf)).get(input);
    if (value === undefined) throw missingInput(input, needed, nodeTitle(node));
    return value;
  };
  return valueOf;
}

const valuesOf = (
  node: ModelNode,
  valueOf: (name: string) => Tensor,
): readonly (Tensor | undefined)[] =>
  node.inputs.map((name) => (name === "" ? undefined : valueOf(name)));

const isConstantNode = (node: ModelNode): boolean =>
  inlineOperator(node) !== null && node.inputs.length === 0;

/** The outputs of a node with their names; an output without a name is dropped. */
function runOne(
  model: Model,
  node: ModelNode,
  valueOf: (name: string) => Tensor,
): readonly (readonly [string, Tensor])[] {
  const results = namingNode(node, () => {
    const inputs = valuesOf(node, valueOf);
    const inline = inlineOperator(node);
    if (inline === null) {
      const call = specOf(model, node, inputs);
      return run(call.node, call.inputs);
    }
    checkOmitted(inputs, []);
    return inline(node, inputs as Tensor[], opsetOf(model, node));
  });
  if (node.outputs.length > results.length) {
    throw malformed(
      `${nodeTitle(node)} has ${node.outputs.length} outputs, but ${node.op} makes ${results.length}`,
    );
  }
  return node.outputs.flatMap((name, position) =>
    name === "" ? [] : [[name, results[position]] as const],
  );
}

function specOf(model: Model, node: ModelNode, inputs: readonly (Tensor | undefined)[]): NodeCall {
  const { op, domain } = node;
  const opset = opsetOf(model, node);
  checkOmitted(inputs, resolve({ domain, op, opset }).inputs);
  return { node: { domain, op, opset, attributes: attributesOf(node) }, inputs };
}

/** @throws TensorError `malformed-file` for an input that is left out although it must not be */
function checkOmitted(
  inputs: readonly (Tensor | undefined)[],
  schemas: OperatorVersion["inputs"],
): void {
  const omitted = inputs.findIndex(
    (input, position) => input === undefined && schemas[position]?.optional !== true,
  );
  if (omitted !== -1) throw malformed(`input ${omitted} is left out, but may not be`);
}

/** Names the node in the errors that `action` throws. */
function namingNode<T>(node: ModelNode, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    if (!isTensorError(cause)) throw cause;
    const { code, op, opset, input, at, axis, got, expected } = cause;
    const sentence = `${sentenceOf(cause)} (${nodeTitle(node)})`;
    const fields = { op, opset, input, at, axis, got, expected };
    throw new TensorError(code, sentence, fields, { cause });
  }
}

/**
 * The operators of a model that are not run here, each with its opset, its first node and the number of its nodes.
 * @throws TensorError `malformed-file` for a node of a domain without an opset import
 */
export function unsupportedOperators(
  model: Model,
  nodes: readonly ModelNode[] = modelFrom(model).graph.nodes,
): string[] {
  const missing = new Map<string, ModelNode[]>();
  for (const node of nodes) {
    const opset = opsetOf(model, node);
    if (
      inlineOperator(node) !== null ||
      findVersion({ domain: node.domain, op: node.op, opset }) !== null
    )
      continue;
    const home = node.domain === "ai.onnx" ? "" : `${node.domain}.`;
    const what = `${home}${node.op} at opset ${opset}`;
    const others = missing.get(what);
    if (others === undefined) missing.set(what, [node]);
    else others.push(node);
  }
  return [...missing].map(([what, found]) => {
    const example = found[0].name || found[0].outputs[0] || "";
    const called = example === "" ? "" : ` ${quote(example)}`;
    return found.length === 1
      ? `${what} (node${called})`
      : `${what} (${found.length} nodes, first${called})`;
  });
}

/** @throws TensorError `unsupported-model`, which names the operators that are not run here, with their nodes */
function checkSupported(model: Model, nodes: readonly ModelNode[]): void {
  const missing = unsupportedOperators(model, nodes);
  if (missing.length === 0) return;
  const more = missing.length > MAX_NAMES ? ` and ${missing.length - MAX_NAMES} more` : "";
  throw new TensorError(
    "unsupported-model",
    `the model has operators that are not run here: ${missing.slice(0, MAX_NAMES).join(", ")}${more}`,
  );
}
