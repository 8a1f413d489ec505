/**
 * A model looked at without running it: every node of the family, wherever it stands, with what is known of its inputs
 * and outputs and what is wrong or risky about it. Of constants only indices and axes are read.
 */

import { isTensorError } from "../errors.ts";
import { inlineOperator, inlineType } from "../model/inline.ts";
import {
  constant,
  type Attribute,
  type Graph,
  type Model,
  type ModelNode,
} from "../model/model.ts";
import type { TensorType } from "../operators/operator.ts";
import { operators } from "../operators/registry.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { finding, type Finding, type Severity } from "./findings.ts";
import { inspectNode } from "./inspect-node.ts";
import { constantValue, Scope, UNKNOWN, type Value } from "./scope.ts";

/** An input or output of a node. */
export interface InspectedValue {
  /** Its name in the graph; `""` where it is left out. */
  readonly name: string;
  /** What the operator calls it, such as `indices`; null for one that it does not have. */
  readonly parameter: string | null;
  /** As far as it is known. */
  readonly type: TensorType | null;
  readonly isConstant: boolean;
}

export interface InspectedNode {
  /** Where it stands: the nodes and attributes, or the function, that its graph is in; empty in the model's own graph. */
  readonly path: readonly string[];
  readonly name: string;
  readonly op: string;
  readonly domain: string;
  /** The version of the domain that the model imports, or null. */
  readonly opset: number | null;
  /** The version of the operator that it has there, or null. */
  readonly version: number | null;
  readonly attributes: Readonly<Record<string, Attribute>>;
  readonly inputs: readonly InspectedValue[];
  readonly outputs: readonly InspectedValue[];
  readonly findings: readonly Finding[];
}

export interface Report {
  /** The version of each domain's operator set that the model imports. */
  readonly opsets: Readonly<Record<string, number>>;
  /** How many nodes there are, in subgraphs and functions too. */
  readonly nodeCount: number;
  /** Those of the family, in the order of the graph. */
  readonly nodes: readonly InspectedNode[];
  /** What is found of the model as a whole. */
  readonly findings: readonly Finding[];
  /** How many findings there are of each severity. */
  readonly counts: Readonly<Record<Severity, number>>;
}

/** Graphs in graphs are looked at down to here, as deep as they are read. */
const MAX_DEPTH = 16;

/** Since this version of the format a constant that is also an input is only its default. */
const OVERRIDABLE = 4;

/**
 * What is known of a model's scatters and gathers, and what is wrong or risky about them. Nothing is run, and nothing
 * thrown for what the model says: that is what findings are for.
 *
 * @param model of any format, such as `readModel` or `readOutline` gives
 * @throws what reading a constant throws beside TensorError
 */
export function inspectModel(model: Model): Report {
  const inspection = new Inspection(model.irVersion >= OVERRIDABLE);
  inspection.walk(model.graph, model.opsets, null, []);
  for (const { name, domain, opsets, graph } of model.functions ?? []) {
    inspection.walk(graph, opsets, null, [`function ${domain}.${name}`]);
  }
  const { nodeCount, nodes, findings } = inspection;
  const counts = { wrong: 0, risky: 0, note: 0 };
  for (const { severity } of [...nodes.flatMap((node) => node.findings), ...findings]) {
    counts[severity]++;
  }
  return { opsets: model.opsets, nodeCount, nodes, findings, counts };
}

/** What is collected on the way through the graphs of one model. */
class Inspection {
  nodeCount = 0;
  readonly nodes: InspectedNode[] = [];
  readonly findings: Finding[] = [];
  readonly #overridable: boolean;
  readonly #family = new Set(operators().map(({ domain, name }) => `${domain} ${name}`));

  constructor(overridable: boolean) {
    this.#overridable = overridable;
  }

  walk(
    graph: Graph,
    opsets: Readonly<Record<string, number>>,
    outer: Scope | null,
    path: readonly string[],
    depth = 0,
  ): void {
    // Every input of a body is its own; only the model's can have defaults.
    const scope = new Scope(graph, outer, this.#overridable && outer === null);
    for (const node of graph.nodes) {
      this.nodeCount++;
      const opset = node.opset ?? (Object.hasOwn(opsets, node.domain) ? opsets[node.domain] : null);
      const values = this.#family.has(`${node.domain} ${node.op}`)
        ? this.#inspect(node, opset, scope, path)
        : valuesOf(node, opset, scope);
      for (const [position, name] of node.outputs.entries()) {
        if (name !== "") scope.set(name, values[position] ?? UNKNOWN);
      }
      for (const [name, attribute] of Object.entries(node.attributes)) {
        if (attribute.type !== "other" || attribute.graphs === undefined) continue;
        const inner = [...path, titleOf(node), name];
        if (attribute.graphs === null || depth >= MAX_DEPTH) {
          const sentence = `the graph of ${inner.join(" / ")} lies too deep in others to be looked at`;
          this.findings.push(finding("graph-too-deep", sentence));
          continue;
        }
        for (const [position, body] of attribute.graphs.entries()) {
          const last = attribute.graphs.length === 1 ? name : `${name} ${position}`;
          this.walk(body, opsets, scope, [...inner.slice(0, -1), last], depth + 1);
        }
      }
    }
  }

  #inspect(
    node: ModelNode,
    opset: number | null,
    scope: Scope,
    path: readonly string[],
  ): readonly Value[] {
    const { version, inputs, outputs, findings } = inspectNode(node, opset, scope);
    const { name, op, domain, attributes } = node;
    this.nodes.push({
      path,
      name,
      op,
      domain,
      opset,
      version: version?.sinceVersion ?? null,
      attributes,
      inputs: told(node.inputs, inputs, version?.inputs),
      outputs: told(node.outputs, outputs, version?.outputs),
      findings,
    });
    return outputs;
  }
}

const told = (
  names: readonly string[],
  values: readonly Value[],
  parameters: readonly { readonly name: string }[] = [],
): InspectedValue[] =>
  names.map((name, position) => ({
    name,
    parameter: parameters[position]?.name ?? null,
    type: values[position].type,
    isConstant: values[position].constant !== null,
  }));

/** `If "x"`, or by what it makes. */
function titleOf({ op, name, outputs }: ModelNode): string {
  const called = name || outputs[0] || "";
  return called === "" ? op : `${op} ${JSON.stringify(called)}`;
}

/** The values that a node of another operator makes: what is declared, and what Constant, Identity, Cast and Convert say. */
function valuesOf(node: ModelNode, opset: number | null, scope: Scope): readonly Value[] {
  const declared = node.outputs.map((name) => ({ type: scope.declared(name), constant: null }));
  const operator = inlineOperator(node);
  if (operator === null) return declared;
  const [first, ...others] = declared;
  const run = (inputs: readonly Tensor[]): Tensor => operator(node, inputs, opset ?? Infinity)[0];
  const [input] = node.inputs;
  const value = input === undefined ? constantOf(node, run) : passedOn(node, scope.get(input), run);
  return [{ ...value, type: value.type ?? first?.type ?? null }, ...others];
}

type Run = (inputs: readonly Tensor[]) => Tensor;

/** What a Constant makes. */
function constantOf({ attributes: { value } }: ModelNode, run: Run): Value {
  // A tensor may be large, and is not read before it is needed.
  if (value?.type === "tensor") return constantValue(value.value);
  try {
    return constantValue(constant("", run([])));
  } catch (error) {
    if (isTensorError(error)) return UNKNOWN;
    throw error;
  }
}

/** What a node with one input makes of it. */
function passedOn(node: ModelNode, input: Value, run: Run): Value {
  const type = input.type && inlineType(node, input.type);
  if (type === null || input.constant === null) return { type, constant: null };
  const { constant: source } = input;
  const { name, shape } = source;
  return { type, constant: { name, dtype: type.dtype, shape, read: () => run([source.read()]) } };
}
