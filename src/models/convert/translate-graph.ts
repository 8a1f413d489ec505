/** Translates a graph between ONNX and OpenVINO. Every operator must exist in both formats. */

import type { DType } from "../../core/tensor/dtype.ts";
import { TensorError } from "../../core/errors.ts";
import { elementTypeOf } from "../model/element-type.ts";
import { checkUnique, findOpset, MAX_NAMES, opsetOf, quote } from "../model/graph.ts";
import { constantOf, destinationOf, inlineOperator } from "../model/inline.ts";
import {
  nodeTitle,
  type Constant,
  type Graph,
  type ModelNode,
  type ValueInfo,
} from "../model/model.ts";
import { Scope } from "../model/values.ts";
import { Additions, castDifference } from "./additions.ts";
import type { GraphContext, ModelContext } from "./context.ts";
import { convertNode } from "./convert-node.ts";
import { familyVersion, refusal } from "./meaning.ts";
import { usesOf } from "../model/uses.ts";
import { opsetOfDType } from "./target.ts";

/** Throws `unsupported-model` for operators without a translation, with up to 20 names. */
export function translateGraph(graph: Graph, context: ModelContext): Graph {
  checkUnique(graph);
  checkOperators(graph, context);
  const translation = new Translation(graph, context);
  for (const node of graph.nodes) translation.add(node);
  return translation.finish();
}

function checkOperators({ nodes }: Graph, { model, target }: ModelContext): void {
  const others = new Map<string, number>();
  for (const node of nodes) {
    const opset = findOpset(model.opsets, node);
    const isKnown =
      inlineOperator(node) !== null || (opset !== null && familyVersion(node, opset) !== null);
    if (!isKnown) others.set(node.op, (others.get(node.op) ?? 0) + 1);
  }
  if (others.size === 0) return;
  const counts = [...others].sort(([, a], [, b]) => b - a).map(([op, count]) => `${op} ${count}`);
  const more = counts.length > MAX_NAMES ? ` and ${counts.length - MAX_NAMES} other operators` : "";
  throw new TensorError(
    "unsupported-model",
    `only models with this package's operators can be converted to ${target.domain}, ` +
      `but the model has ${counts.slice(0, MAX_NAMES).join(", ")}${more}`,
    { key: "op", got: [...others.keys()] },
  );
}

class Translation {
  readonly #graph: Graph;
  readonly #context: ModelContext;
  readonly #around: GraphContext;
  readonly #nodes: ModelNode[] = [];
  readonly #constants: Constant[];
  readonly #outputs: ReadonlySet<string>;
  readonly #aliases = new Map<string, string>();

  constructor(graph: Graph, context: ModelContext) {
    const { target, names } = context;
    const scope = new Scope(graph);
    this.#graph = graph;
    this.#context = context;
    this.#around = {
      target,
      scope,
      additions: new Additions(target, names, scope),
      force: false,
    };
    this.#constants = [...graph.constants];
    this.#outputs = new Set(graph.outputs.map(({ name }) => name));
  }

  add(node: ModelNode): void {
    const { model, log } = this.#context;
    const opset = opsetOf(model, node);
    log.attempt(
      node,
      () => this.#translate(node, opset),
      () => {},
    );
    this.#around.scope.learn(node, opset);
  }

  #translate(given: ModelNode, opset: number): void {
    const { target, log } = this.#context;
    const inputs = given.inputs.map((name) => this.#aliases.get(name) ?? name);
    const node = { ...given, inputs };
    if (node.domain === target.domain) {
      // ONNX models declare an opset per domain. In an IR, each node has its own version.
      this.#nodes.push({ ...node, opset });
      return;
    }
    if (inlineOperator(node) !== null) {
      this.#addInline(node, opset);
    } else {
      const converted = convertNode(node, opset, this.#around);
      log.converted(given, converted);
      this.#nodes.push(...this.#around.additions.takeNodes(), converted.node);
    }
  }

  #addInline(node: ModelNode, opset: number): void {
    const { log } = this.#context;
    const [input = ""] = node.inputs;
    const [output = ""] = node.outputs;
    if (output === "") return;
    const isIdentity = node.op === "Identity";
    if (node.op === "Constant") {
      const one = constantOf(node, opset);
      if (one === null) throw refusal("its output has a data type that this package does not know");
      this.#constants.push(one);
      log.changed(node, "Constant to a constant of the graph");
      return;
    }
    if (isIdentity && !this.#outputs.has(output)) {
      this.#aliases.set(output, input);
      log.changed(node, "Identity to nothing");
      return;
    }
    const dtype = isIdentity
      ? (this.#around.scope.typeOf(input)?.dtype ?? null)
      : destinationOf(node);
    const made = this.#convertType(input, output, dtype);
    const difference = node.op === "Cast" && dtype !== null ? castDifference(node, dtype) : null;
    if (difference !== null) log.notes.add(`${nodeTitle(node)}: ${difference}`);
    log.changed(node, `${node.op} to ${made.op}`);
    this.#nodes.push(node.name === "" ? made : { ...made, name: node.name });
  }

  /** Adds a cast. An `Identity` that computes a graph output becomes a cast to the same data type. */
  #convertType(from: string, to: string, dtype: DType | null): ModelNode {
    const { domain, opset } = this.#context.target;
    if (dtype === null)
      throw refusal(`the data type to which it converts ${quote(from)} is unknown`);
    const since = opsetOfDType(dtype);
    if (domain === "ai.onnx" && opset < since) {
      throw refusal(`Cast in opset ${opset} does not accept ${dtype}; opset ${since} supports it`);
    }
    // OpenVINO's Convert does not accept strings.
    if (domain === "openvino" && (elementTypeOf(dtype) === null || dtype === "string")) {
      throw refusal(`Convert does not accept ${dtype}`);
    }
    return this.#around.additions.castNode(from, to, dtype);
  }

  /** Returns the translated graph with the known types of its values. */
  finish(): Graph {
    const { name, inputs, outputs, values = [] } = this.#graph;
    const untyped = inputs.find(({ type }) => type === null);
    if (untyped !== undefined) {
      throw refusal(
        `the input ${quote(untyped.name)} has a data type that this package does not know`,
      );
    }
    const made = new Set(this.#nodes.flatMap((node) => node.outputs));
    const inOrder = [...values.map((value) => value.name), ...made];
    const isDeclared = new Set([...inputs, ...outputs].map((value) => value.name));
    const between = new Set(inOrder.filter((value) => made.has(value) && !isDeclared.has(value)));
    const graph: Graph = {
      name,
      inputs: inputs.map((value) => this.#typed(value.name)),
      outputs: outputs.map((value) => this.#typed(value.name)),
      nodes: this.#nodes,
      constants: [],
      values: [...between].map((value) => this.#typed(value)),
      ...this.#otherNames(),
    };
    const uses = usesOf(graph);
    const isInput = new Set(inputs.map((value) => value.name));
    graph.constants = [...this.#constants, ...this.#around.additions.constants]
      .filter((one) => uses.has(one.name) || isInput.has(one.name))
      .map((one) => ({
        name: one.name,
        dtype: one.dtype,
        shape: one.shape,
        read: () => one.read(),
      }));
    return graph;
  }

  /** Returns the names that `Identity` nodes gave to values. An IR can store several names per value. */
  #otherNames(): Pick<Graph, "aliases"> {
    if (this.#aliases.size === 0 || this.#context.target.domain !== "openvino") return {};
    const aliases = new Map<string, string[]>();
    for (const [alias, name] of this.#aliases)
      aliases.set(name, [...(aliases.get(name) ?? []), alias]);
    return { aliases: Object.fromEntries(aliases) };
  }

  #typed(name: string): ValueInfo {
    return { name, type: this.#around.scope.typeOf(name) };
  }
}
