/**
 * Inspects a model without running it: reports every node of the family, wherever it stands, with what is known of its
 * inputs and outputs and with what is wrong or risky about it. Of constants only indices, axes and what is small are read.
 */

import { modelFrom } from "../model/foreign-model.ts";
import { findOpset } from "../model/graph.ts";
import type { Attribute, Model, ModelNode } from "../model/model.ts";
import { PlaceScopes } from "../model/place-scopes.ts";
import { walkNodes, type PlacedNode } from "../model/places.ts";
import type { Scope } from "../model/values.ts";
import type { ParameterSchema, TensorType } from "../../core/operators/operator.ts";
import { isOperator } from "../../core/operators/registry.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { readSmallConstant } from "./constants.ts";
import { finding, type Finding, type Severity } from "./findings.ts";
import { inspectNode } from "./inspect-node.ts";

/** An input or output of a node. */
export interface InspectedValue {
  /** Its name in the graph; `""` where it is left out. */
  readonly name: string;
  /** What the operator calls it, such as `indices`; null for one that it does not have. */
  readonly parameter: string | null;
  /** As far as it is known, declarations included. */
  readonly type: TensorType | null;
  readonly isConstant: boolean;
  /** The constant, where it has 1 to 8 elements, is no text and could be read. */
  readonly value?: Tensor;
}

export interface InspectedNode {
  /** Where its graph stands: the nodes and attributes around it, or a function; empty for the model's own graph. */
  readonly path: readonly string[];
  readonly name: string;
  readonly op: string;
  readonly domain: string;
  /** The version of the domain that the model imports, or null. */
  readonly opset: number | null;
  /** The version of the operator at that opset, or null. */
  readonly version: number | null;
  readonly attributes: Readonly<Record<string, Attribute>>;
  readonly inputs: readonly InspectedValue[];
  readonly outputs: readonly InspectedValue[];
  readonly findings: readonly Finding[];
}

export interface Report {
  /** The version of each domain's operator set that the model imports. */
  readonly opsets: Readonly<Record<string, number>>;
  /** How many nodes there are, those of bodies and functions included. */
  readonly nodeCount: number;
  /** The nodes of the family, in the order in which they stand; those of a body follow the node that has it. */
  readonly nodes: readonly InspectedNode[];
  /** What is found of the model as a whole. */
  readonly findings: readonly Finding[];
  /** How many findings there are of each severity. */
  readonly counts: Readonly<Record<Severity, number>>;
}

/**
 * Reports what is known of a model's scatters and gathers, and what is wrong or risky about them. Nothing is run, and
 * whatever is wrong with the model is a finding and not an error.
 *
 * @param model of any format, such as `readModel` or `readOutline` returns
 * @throws TensorError `malformed-file` for what is no model at all, `dtype` or `shape-mismatch` for a type that is none;
 * and whatever else than a TensorError reading a constant throws
 */
export function inspectModel(model: Model): Report {
  const inspection = new Inspection(modelFrom(model));
  const { nodeCount, nodes, findings } = inspection;
  const counts = { wrong: 0, risky: 0, note: 0 };
  for (const { severity } of [...nodes.flatMap((node) => node.findings), ...findings]) {
    counts[severity]++;
  }
  return { opsets: model.opsets, nodeCount, nodes, findings, counts };
}

/** Collects what is found on the way through the graphs of one model. */
class Inspection {
  nodeCount = 0;
  readonly nodes: InspectedNode[] = [];
  readonly findings: Finding[] = [];
  readonly #scopes: PlaceScopes;

  constructor(model: Model) {
    this.#scopes = new PlaceScopes(model.irVersion);
    walkNodes(model, {
      node: (placed) => this.#inspect(placed),
      tooDeep: (path) => {
        const sentence = `the graph of ${path.join(" / ")} lies too deep in others to be looked at`;
        this.findings.push(finding("graph-too-deep", sentence));
      },
    });
  }

  #inspect(placed: PlacedNode): void {
    this.nodeCount++;
    const scope = this.#scopes.learn(placed);
    const { node, place } = placed;
    if (!isOperator(node)) return;
    this.nodes.push(nodeReport(node, findOpset(place.opsets, node), scope, place.path));
  }
}

function nodeReport(
  node: ModelNode,
  opset: number | null,
  scope: Scope,
  path: readonly string[],
): InspectedNode {
  const { version, findings } = inspectNode(node, opset, scope);
  const { name, op, domain, attributes, inputs, outputs } = node;
  const valueReports = (
    names: readonly string[],
    parameters: readonly ParameterSchema[] = [],
  ): InspectedValue[] =>
    names.map((value, position) => {
      const parameter = parameters[position]?.name ?? null;
      const constant = scope.constantOf(value);
      const isConstant = constant !== null;
      const small = isConstant ? readSmallConstant(constant) : undefined;
      const known = { name: value, parameter, type: scope.typeOf(value), isConstant };
      return small === undefined ? known : { ...known, value: small };
    });
  return {
    path,
    name,
    op,
    domain,
    opset,
    version: version?.sinceVersion ?? null,
    attributes,
    inputs: valueReports(inputs, version?.inputs),
    outputs: valueReports(outputs, version?.outputs),
    findings,
  };
}
