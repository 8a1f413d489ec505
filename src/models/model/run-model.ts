/**
 * Runs models that contain only scatters, gathers, ONNX's `Constant`, `Identity` and `Cast`, and OpenVINO's `Convert`.
 * A model with any other operator is refused before the run. Unlike a runtime, this interpreter does not fuse
 * operators, plan memory or release values early.
 */

import { printCount, readForeign } from "../../core/foreign.ts";
import { isTensorError, malformed, sentenceOf, TensorError } from "../../core/errors.ts";
import type { OperatorVersion } from "../../core/operators/operator.ts";
import { findVersion, lookUp, resolve } from "../../core/operators/registry.ts";
import { runNode as run } from "../../core/functions.ts";
import type { NodeSpec } from "../../core/call/call.ts";
import { asTensor, type Tensor } from "../../core/tensor/tensor.ts";
import { attributesOf, meantVersion } from "./attributes.ts";
import { checkNode, modelFrom, recordFrom } from "./foreign-model.ts";
import { checkGraph, listNames, opsetOf, quote, shortList } from "./graph.ts";
import { inlineOperator } from "./inline.ts";
import { bindInputs, missingInput, unknownInput } from "./inputs.ts";
import { nodeTitle, readConstant, type Model, type ModelNode } from "./model.ts";
import { constantSource, NodeIndex } from "./node-index.ts";
import type { Place } from "./places.ts";

type Opsets = Place["opsets"];

/** Tensors by the names of their values. */
export type Tensors = Readonly<Record<string, Tensor>>;

/**
 * Runs a model. An output that equals an input, also through `Identity`, is the input tensor itself and not a copy. An
 * unknown newer opset runs as the newest known opset, and `modelNotes` returns a note about it.
 *
 * @param given a model of any format
 * @param inputs one tensor per graph input; an input with a default may be left out
 * @returns the graph outputs by name
 * @throws TensorError `malformed-file` for an inconsistent graph, such as a value that is computed twice, or a domain
 * without an opset import; `unsupported-model` for nodes that cannot run here, with up to 20 names; `shape-mismatch`
 * for missing or unknown inputs, and for sizes that differ from the declared sizes; `dtype` and `rank` for inputs of
 * another data type or rank; and the errors of nodes, with the node's name at the end of the sentence
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 *
 * const model = readModel(readFileSync("model.onnx"));
 * const table = tensor("float32", [4, 2], [0, 0, 0, 0, 0, 0, 0, 0]);
 * const ids = tensor("int64", [2, 1], [1, 1]);
 * const rows = tensor("float32", [2, 2], [1, 2, 3, 4]);
 * runModel(model, { table, ids, rows })["row"]?.toArray(); // [[4, 6]]
 * ```
 */
export function runModel(given: Model, inputs: Tensors): Record<string, Tensor> {
  const model = modelFrom(given);
  const { graph, opsets } = model;
  checkGraph(graph);
  checkSupported(opsets, graph.nodes);
  const names = listNames(graph.inputs.map(({ name }) => name));
  const advice = `; pass a tensor for each input by its name: ${names}`;
  const bound = bindInputs(graph, recordFrom("the inputs", inputs, advice));
  const constants = new Map(graph.constants.map((one) => [one.name, one]));
  const values = new Map<string, Tensor>(bound);
  const valueOf = (name: string): Tensor => {
    const known = values.get(name);
    if (known !== undefined) return known;
    const constant = constants.get(name);
    if (constant === undefined) throw malformed(`no node computes ${quote(name)}`, { input: name });
    const value = readConstant(constant);
    values.set(name, value);
    return value;
  };
  for (const node of graph.nodes) {
    for (const [name, value] of runOne(opsets, node, valueOf)) values.set(name, value);
  }
  return Object.fromEntries(graph.outputs.map(({ name }) => [name, valueOf(name)]));
}

/**
 * Runs a single node of a model.
 *
 * @param model the model, or its {@link NodeIndex}, which saves time when many nodes inside bodies are run
 * @param node a node of the model, of a body or of a function; or its name or path, as for `NodeIndex.find`
 * @param inputs tensors by input name; missing inputs are taken from constants of the node's graph and enclosing graphs
 * @returns the node's outputs by name
 * @throws TensorError `unsupported-model` for a node that cannot run here, `shape-mismatch` for missing or unknown
 * inputs, `attribute` for an attribute whose value comes from a function's caller; and the errors of {@link runModel}
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 *
 * const model = readModel(readFileSync("model.onnx"));
 * const table = tensor("float32", [4, 2], [0, 0, 0, 0, 0, 0, 0, 0]);
 * const ids = tensor("int64", [2, 1], [1, 1]);
 * const rows = tensor("float32", [2, 2], [1, 2, 3, 4]);
 * runNode(model, "sums", { table, ids, rows })["sums"]?.toArray(); // [[0, 0], [4, 6], [0, 0], [0, 0]]
 * ```
 */
export function runNode(
  model: Model | NodeIndex,
  node: ModelNode | string,
  inputs: Tensors,
): Record<string, Tensor> {
  const { own, opsets, valueOf } = nodeValues(model, node, inputs);
  return Object.fromEntries(runOne(opsets, own, valueOf));
}

/** A node with its inputs, in the form that `run`, `infer` and `explain` accept. */
export interface NodeCall {
  readonly node: NodeSpec;
  /** The input tensors in the operator's order; undefined for an omitted input. */
  readonly inputs: readonly (Tensor | undefined)[];
}

/**
 * Converts a node of a model to a call.
 *
 * @param model the model, or its {@link NodeIndex}
 * @param node the node, or its name or path, as for `runNode`
 * @param inputs tensors by input name, as for `runNode`
 * @throws TensorError `unsupported-model` for an operator other than a scatter or gather; for the inputs, the errors of
 * `runNode`. The operator's own checks run later, with the call.
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 *
 * const model = readModel(readFileSync("model.onnx"));
 * const table = tensor("float32", [4, 2], [0, 0, 0, 0, 0, 0, 0, 0]);
 * const ids = tensor("int64", [2, 1], [1, 1]);
 * const rows = tensor("float32", [2, 2], [1, 2, 3, 4]);
 * const { node, inputs } = nodeCall(model, "sums", { table, ids, rows });
 * const [sums] = run(node, inputs);
 * console.log(sums.toArray()); // [[0, 0], [4, 6], [0, 0], [0, 0]]
 * ```
 */
export function nodeCall(
  model: Model | NodeIndex,
  node: ModelNode | string,
  inputs: Tensors,
): NodeCall {
  const { own, opsets, valueOf } = nodeValues(model, node, inputs);
  if (inlineOperator(own) !== null) {
    const sentence = `${nodeTitle(own)} of the model must be a scatter or a gather`;
    throw new TensorError("unsupported-model", sentence, { node: nodeTitle(own) });
  }
  return namingNode(own, () => specOf(opsets, own, valueOf));
}

/** Returns a node's call with known inputs. The node need not belong to a model. */
export const callOfNode = (opsets: Opsets, node: ModelNode, inputs: Tensors): NodeCall =>
  namingNode(node, () => specOf(opsets, node, (name) => inputs[name]));

const indexFrom = (given: Model | NodeIndex): NodeIndex =>
  readForeign(
    () => (given instanceof NodeIndex ? given : new NodeIndex(given)),
    "malformed-file",
    "a model cannot be read",
    "model",
  );

interface NodeValues {
  readonly own: ModelNode;
  readonly opsets: Opsets;
  readonly valueOf: (name: string) => Tensor;
}

function nodeValues(
  model: Model | NodeIndex,
  given: ModelNode | string,
  tensors: Tensors,
): NodeValues {
  const index = indexFrom(model);
  const own = typeof given === "string" ? index.find(given).node : given;
  checkNode(own);
  const inputs = recordFrom("the inputs", tensors);
  const place = index.placeOf(own);
  const { opsets } = place;
  checkSupported(opsets, [own]);
  const needed = own.inputs.filter((input) => input !== "");
  const unknown = Object.keys(inputs).find((input) => !needed.includes(input));
  if (unknown !== undefined) {
    throw unknownInput(unknown, needed, nodeTitle(own), { node: nodeTitle(own) });
  }
  const valueOf = (input: string): Tensor => {
    if (Object.hasOwn(inputs, input)) return asTensor(inputs[input], {}, input);
    const source = constantSource(place, input);
    if (source === null) throw missingInput(input, needed, nodeTitle(own));
    if ("read" in source) return readConstant(source);
    const made = runOne(source.place.opsets, source.node, valueOf);
    return made.find(([name]) => name === input)?.[1] as Tensor;
  };
  return { own, opsets, valueOf };
}

const valuesOf = (
  node: ModelNode,
  valueOf: (name: string) => Tensor | undefined,
): readonly (Tensor | undefined)[] =>
  node.inputs.map((name) => (name === "" ? undefined : valueOf(name)));

/** Runs a node and returns its outputs by name; unnamed outputs are dropped. */
function runOne(
  opsets: Opsets,
  node: ModelNode,
  valueOf: (name: string) => Tensor,
): readonly (readonly [string, Tensor])[] {
  const results = namingNode(node, () => {
    const inline = inlineOperator(node);
    if (inline === null) {
      const call = specOf(opsets, node, valueOf);
      return run(call.node, call.inputs);
    }
    const inputs = valuesOf(node, valueOf);
    checkOmitted(inputs, []);
    return inline(node, inputs as Tensor[], opsetOf({ opsets }, node));
  });
  if (node.outputs.length > results.length) {
    throw malformed(
      `${nodeTitle(node)} has ${printCount(node.outputs.length, "output")}, but ${node.op} makes ${results.length}`,
      { node: nodeTitle(node), got: node.outputs.length, expected: results.length },
    );
  }
  return node.outputs.flatMap((name, position) =>
    name === "" ? [] : [[name, results[position]] as const],
  );
}

function specOf(
  opsets: Opsets,
  node: ModelNode,
  valueOf: (name: string) => Tensor | undefined,
): NodeCall {
  const inputs = valuesOf(node, valueOf);
  const spec = nodeSpec(opsets, node);
  checkOmitted(inputs, resolve(spec).inputs);
  return { node: spec, inputs };
}

function nodeSpec(opsets: Opsets, node: ModelNode): NodeSpec {
  const { op, domain } = node;
  return { domain, op, opset: opsetOf({ opsets }, node), attributes: attributesOf(node) };
}

/** Returns a node in the form that `run` accepts, with the opset that gives the node its meaning. */
export function meantSpec(opsets: Opsets, node: ModelNode): NodeSpec {
  const spec = nodeSpec(opsets, node);
  const { operator, version } = lookUp(spec);
  const meant = meantVersion(node, version, operator.versions);
  return meant === version ? spec : { ...spec, opset: meant.sinceVersion };
}

/** Throws `malformed-file` for a missing required input. */
function checkOmitted(
  inputs: readonly (Tensor | undefined)[],
  schemas: OperatorVersion["inputs"],
): void {
  const omitted = inputs.findIndex(
    (input, position) => input === undefined && schemas[position]?.optional !== true,
  );
  if (omitted !== -1)
    throw malformed(`the required input ${omitted} is missing`, { key: "inputs", at: [omitted] });
}

/** Runs `action`, and adds the node's name to errors. */
export function namingNode<T>(node: ModelNode, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    throw isTensorError(cause) ? withTitle(cause, nodeTitle(node)) : cause;
  }
}

/** Returns an error whose sentence ends with the node's title. */
export function withTitle(cause: TensorError, title: string): TensorError {
  const fields = { ...cause, node: title };
  return new TensorError(cause.code, `${sentenceOf(cause)} (${title})`, fields, { cause });
}

/**
 * Returns a model's operators that cannot run here. Each text names the operator, its opset, its first node and the
 * number of nodes.
 *
 * @param model a model of any format
 * @throws TensorError `malformed-file` for a node of a domain without an opset import
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 *
 * const model = readModel(readFileSync("model.onnx"));
 * unsupportedOperators(model); // []
 * ```
 */
export function unsupportedOperators(model: Model): string[] {
  const { opsets, graph } = modelFrom(model);
  return unsupported(opsets, graph.nodes);
}

function unsupported(opsets: Opsets, nodes: readonly ModelNode[]): string[] {
  const missing = new Map<string, ModelNode[]>();
  for (const node of nodes) {
    const opset = opsetOf({ opsets }, node);
    const isRun = findVersion({ domain: node.domain, op: node.op, opset }) !== null;
    if (isRun || inlineOperator(node) !== null) continue;
    const home = node.domain === "ai.onnx" ? "" : `${node.domain}.`;
    const what = `${home}${node.op} at opset ${opset}`;
    const others = missing.get(what) ?? [];
    others.push(node);
    missing.set(what, others);
  }
  return [...missing].map(([what, found]) => {
    const example = found[0].name || found[0].outputs[0] || "";
    const called = example === "" ? "" : ` ${quote(example)}`;
    const count = found.length === 1 ? "node" : `${found.length} nodes, first`;
    return `${what} (${count}${called})`;
  });
}

function checkSupported(opsets: Opsets, nodes: readonly ModelNode[]): void {
  const missing = unsupported(opsets, nodes);
  if (missing.length === 0) return;
  throw new TensorError(
    "unsupported-model",
    `the model has operators that this package does not run: ${shortList(missing)}`,
    { key: "op", got: missing },
  );
}
