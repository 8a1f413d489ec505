/** Translates a graph between ONNX and OpenVINO. Every operator must exist in both formats. */

import { TensorError } from "../../core/errors.ts";
import { listFirst } from "../../core/foreign.ts";
import type { DType } from "../../core/tensor/dtype.ts";
import { elementTypeOf } from "../model/element-type.ts";
import { checkUnique, findOpset, MAX_NAMES, opsetOf, quote } from "../model/graph.ts";
import { constantOf, destinationOf, inlineOperator, narrowRulesOf } from "../model/inline.ts";
import {
  nodeTitle,
  type Constant,
  type Graph,
  type ModelNode,
  type ValueInfo,
} from "../model/model.ts";
import { usesOf } from "../model/uses.ts";
import { Scope } from "../model/values.ts";
import { inGraph, saturatesByAttribute, type GraphContext, type ModelContext } from "./context.ts";
import { convertNode } from "./convert-node.ts";
import { familyVersion, refusal } from "./meaning.ts";
import { typesOf } from "./versions/facts.ts";
import { historyOf } from "./versions/table.ts";

/** Throws `unsupported-model` for operators without a translation, with up to 20 names. */
export function translateGraph(graph: Graph, context: ModelContext): Graph {
  checkUnique(graph);
  checkOperators(graph, context);
  const around = inGraph(context, new Scope(graph));
  const translation = new Translation(graph, around);
  for (const node of graph.nodes) {
    const opset = opsetOf(context.model, node);
    context.log.attempt(
      node,
      () => translation.add(node, opset),
      () => {},
    );
    around.scope.learn(node, opset);
  }
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
  throw new TensorError(
    "unsupported-model",
    `only models with this package's operators can be converted to ${target.domain}, ` +
      `but the model has ${listFirst(counts, MAX_NAMES, "other operator")}`,
    { key: "op", got: [...others.keys()] },
  );
}

class Translation {
  readonly #graph: Graph;
  readonly #context: GraphContext;
  readonly #nodes: ModelNode[] = [];
  readonly #constants: Constant[];
  /** Other names of values, which `Identity` nodes gave to them. */
  readonly #aliases = new Map<string, string>();

  constructor(graph: Graph, context: GraphContext) {
    this.#graph = graph;
    this.#context = context;
    this.#constants = [...graph.constants];
  }

  add(given: ModelNode, opset: number): void {
    const { target, additions } = this.#context;
    const node = { ...given, inputs: given.inputs.map((name) => this.#aliases.get(name) ?? name) };
    // ONNX models declare an opset per domain. In an IR, each node has its own version.
    if (node.domain === target.domain) this.#nodes.push({ ...node, opset });
    else if (inlineOperator(node) === null) {
      const converted = convertNode(node, opset, this.#context);
      this.#nodes.push(...additions.takeNodes(), ...converted);
    } else this.#addInline(node, opset);
  }

  #addInline(node: ModelNode, opset: number): void {
    const { log, scope, additions } = this.#context;
    const [input = ""] = node.inputs;
    const [output = ""] = node.outputs;
    if (output === "") return;
    if (node.op === "Constant") {
      const one = constantOf(node, opset);
      if (one === null) throw refusal("its output has a data type that this package does not know");
      this.#constants.push(one);
      log.changed(node, "Constant to a constant of the graph");
      return;
    }
    const isIdentity = node.op === "Identity";
    if (isIdentity && !scope.isModelOutput(output)) {
      this.#aliases.set(output, input);
      log.changed(node, "Identity to nothing");
      return;
    }
    // An `Identity` that computes a graph output becomes a cast to the same data type.
    const dtype = isIdentity ? (scope.typeOf(input)?.dtype ?? null) : destinationOf(node);
    if (dtype === null)
      throw refusal(`the data type to which it converts ${quote(input)} is unknown`);
    this.#checkCast(dtype);
    const made = additions.castNode(input, output, dtype);
    const difference = node.op === "Cast" ? castDifference(node, dtype) : null;
    if (difference !== null) log.notes.add(`${nodeTitle(node)}: ${difference}`);
    log.changed(node, `${node.op} to ${made.op}`);
    this.#nodes.push(node.name === "" ? made : { ...made, name: node.name });
  }

  #checkCast(dtype: DType): void {
    const { domain, opset } = this.#context.target;
    const since = castSince(dtype);
    if (domain === "ai.onnx" && opset < since)
      throw refusal(`Cast in opset ${opset} does not accept ${dtype}; opset ${since} supports it`);
    // OpenVINO's Convert does not accept strings.
    if (domain === "openvino" && (elementTypeOf(dtype) === null || dtype === "string"))
      throw refusal(`Convert does not accept ${dtype}`);
  }

  /** Returns the translated graph with the known types of its values. */
  finish(): Graph {
    const { name, inputs, outputs, values = [] } = this.#graph;
    const { scope, additions } = this.#context;
    const untyped = inputs.find(({ type }) => type === null);
    if (untyped !== undefined) {
      const what = `the input ${quote(untyped.name)}`;
      throw refusal(`${what} has a data type that this package does not know`);
    }
    this.#noteUnknownRanks();
    const typed = (value: string): ValueInfo => ({ name: value, type: scope.typeOf(value) });
    const made = new Set(this.#nodes.flatMap((node) => node.outputs));
    const inOrder = new Set([...values.map((value) => value.name), ...made]);
    const isDeclared = new Set([...inputs, ...outputs].map((value) => value.name));
    const between = [...inOrder].filter((value) => made.has(value) && !isDeclared.has(value));
    const uses = usesOf({ ...this.#graph, nodes: this.#nodes });
    for (const value of inputs) uses.add(value.name);
    const constants = [...this.#constants, ...additions.constants];
    return {
      name,
      inputs: inputs.map((value) => typed(value.name)),
      outputs: outputs.map((value) => typed(value.name)),
      nodes: this.#nodes,
      // Constants lose the encoded data of their file, which only a writer of the same format can use.
      constants: constants
        .filter((one) => uses.has(one.name))
        .map((one) => {
          const { name, dtype, shape } = one;
          return { name, dtype, shape, read: () => one.read() };
        }),
      values: between.map(typed),
      ...this.#otherNames(),
    };
  }

  /** An IR writes a scalar like an unknown shape, so an output's rank can be lost where no rule infers it. */
  #noteUnknownRanks(): void {
    const { log, scope, target } = this.#context;
    if (target.domain !== "ai.onnx") return;
    const unknown = this.#graph.outputs.filter(({ name }) => scope.typeOf(name)?.shape === null);
    for (const { name } of unknown) {
      log.notes.add(
        `the rank of the output ${quote(name)} is unknown, so the output has no shape; ONNX Runtime loads the model, ` +
          "but onnx.checker requires a shape",
      );
    }
  }

  /** Returns the names that `Identity` nodes gave to values. An IR can store several names per value. */
  #otherNames(): Pick<Graph, "aliases"> {
    if (this.#aliases.size === 0 || this.#context.target.domain !== "openvino") return {};
    const aliases = new Map<string, string[]>();
    for (const [alias, name] of this.#aliases)
      aliases.set(name, [...(aliases.get(name) ?? []), alias]);
    return { aliases: Object.fromEntries(aliases) };
  }
}

const castSince = (dtype: DType): number =>
  historyOf("Cast").find(({ facts }) =>
    facts.some(([fact, types]) => fact === "takes" && typesOf(types).includes(dtype)),
  )?.since ?? 1;

/** Describes how a Cast differs from OpenVINO's Convert to the same data type; null if they give equal results. */
function castDifference(cast: ModelNode, dtype: DType): string | null {
  const { saturates, roundMode } = narrowRulesOf(cast, { op: cast.op });
  if (dtype === "float8e8m0") {
    if (saturates && roundMode === "nearest") return null;
    return "Convert to float8e8m0 saturates and rounds to nearest, which this Cast does not";
  }
  if (!saturates || !saturatesByAttribute(dtype)) return null;
  return `Convert does not saturate: numbers beyond the largest ${dtype} become infinity or NaN`;
}
