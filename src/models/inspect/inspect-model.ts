/**
 * Inspects a model without running it. The report lists every scatter and gather, at any depth, with the known facts
 * about its inputs and outputs, its faults and its risks. Only indices, axes and small constants are read.
 */

import { modelFrom } from "../model/foreign-model.ts";
import { findOpset, quote, repeatedValues } from "../model/graph.ts";
import { opsetNotes } from "../model/model-notes.ts";
import {
  readConstant,
  type Attribute,
  type Constant,
  type Graph,
  type Model,
  type ModelNode,
} from "../model/model.ts";
import { definedOperator, type Place, type PlacedNode } from "../model/places.ts";
import { walkTyped } from "../model/typed-walk.ts";
import type { Scope } from "../model/values.ts";
import type { ParameterSchema, TensorType } from "../../core/operators/operator.ts";
import { isOperator } from "../../core/operators/registry.ts";
import { DTYPES, isDType } from "../../core/tensor/dtype.ts";
import { product } from "../../core/tensor/shape.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { finding, type Finding, type Severity } from "./findings.ts";
import { inspectNode } from "./inspect-node.ts";
import { Patterns } from "./patterns.ts";

/** An input or output of a node. */
export interface InspectedValue {
  /** The value's name in the graph; `""` for an omitted input. */
  readonly name: string;
  /** The operator's name for the value, such as `indices`; null if the operator has no such input or output. */
  readonly parameter: string | null;
  /** The known type, including declared facts; null if the type is unknown. */
  readonly type: TensorType | null;
  readonly isConstant: boolean;
  /** The value of a constant with 1 to 8 elements. Text and unreadable constants are left out. */
  readonly value?: Tensor;
}

/** A scatter or gather, with its inputs and findings. */
export interface InspectedNode {
  /**
   * The location of the node's graph, as a list of enclosing nodes and attributes, or a function. The list is empty for
   * the model's own graph.
   */
  readonly path: readonly string[];
  readonly name: string;
  readonly op: string;
  readonly domain: string;
  /** The imported version of the node's domain; null if the model does not import the domain. */
  readonly opset: number | null;
  /** The operator's version in the imported opset; null if the opset lacks the operator. */
  readonly version: number | null;
  readonly attributes: Readonly<Record<string, Attribute>>;
  readonly inputs: readonly InspectedValue[];
  readonly outputs: readonly InspectedValue[];
  readonly findings: readonly Finding[];
  /** The standard operator whose definition contains the node; absent for a node of the model itself. */
  readonly defines?: string;
}

/** The result of {@link inspectModel}. */
export interface Report {
  /** The imported opset version of each domain. */
  readonly opsets: Readonly<Record<string, number>>;
  /** The number of nodes, including nodes in bodies and functions. */
  readonly nodeCount: number;
  /** The scatters and gathers in order. Nodes in a body follow the node that contains the body. */
  readonly nodes: readonly InspectedNode[];
  /** Findings about the whole model. */
  readonly findings: readonly Finding[];
  readonly counts: Readonly<Record<Severity, number>>;
}

/**
 * Reports a model's scatters and gathers, with their faults and risks. The model does not run, and a fault in the model
 * is a finding instead of an error.
 *
 * @param model a model of any format, as from `readModel` or `readOutline`
 * @throws TensorError `malformed-file` for a value that is not a model, `dtype` or `shape-mismatch` for an invalid
 * type. Errors of reading a constant are passed on.
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 *
 * const model = readModel(readFileSync("model.onnx"));
 * const { nodes } = inspectModel(model);
 * nodes.map(({ name, findings }) => [name, findings.length]); // [["sums", 1], ["row", 0]]
 * nodes[0]?.findings[0]?.id; // "may-race"
 * ```
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

/** Collects findings while it visits a model's graphs. */
class Inspection {
  nodeCount = 0;
  readonly nodes: InspectedNode[] = [];
  readonly findings: Finding[] = [];
  readonly #patterns = new Patterns();

  constructor(model: Model) {
    this.#checkOpsets(model);
    walkTyped(model, {
      place: ({ graph, path }) => this.#checkNames(graph, path),
      node: (placed, scope) => {
        this.nodeCount++;
        this.#inspect(placed, scope);
      },
      defining: (placed, scope) => this.#inspect(placed, scope),
      tooDeep: (path) => {
        const sentence = `the graph of ${path.join(" / ")} is nested too deeply to be checked`;
        this.findings.push(finding("graph-too-deep", sentence));
      },
    });
  }

  #checkOpsets(model: Model): void {
    for (const { id, sentence, versions } of opsetNotes(model)) {
      const found = finding(id, sentence, { got: versions.length === 1 ? versions[0] : versions });
      // If all imports of a domain have the same version, all runtimes agree.
      this.findings.push(new Set(versions).size > 1 ? found : { ...found, severity: "note" });
    }
  }

  #checkNames(graph: Graph, path: readonly string[]): void {
    const where = path.length === 0 ? "" : `in ${path.join(" / ")}, `;
    for (const { name, maker, sentence } of repeatedValues(graph)) {
      const id = maker === null ? "initializer-repeated" : "value-repeated";
      this.findings.push(finding(id, where + sentence, { input: name }));
    }
    const seen = new Set<string>();
    for (const { name } of graph.nodes) {
      if (name !== "" && seen.has(name)) {
        const sentence = `${where}two nodes are named ${quote(name)}, which ONNX Runtime refuses; rename one of them`;
        this.findings.push(finding("node-name-repeated", sentence, { got: name }));
      }
      seen.add(name);
    }
  }

  #inspect(placed: PlacedNode, scope: Scope): void {
    const { node, place } = placed;
    if (!isOperator(node)) return;
    const report = nodeReport(node, findOpset(place.opsets, node), scope, place);
    const repeats = report.findings.some(({ id }) => id === "repeated-target");
    const patterns = this.#patterns.of(placed, scope, repeats);
    this.nodes.push({ ...report, findings: [...report.findings, ...patterns] });
  }
}

function nodeReport(
  node: ModelNode,
  opset: number | null,
  scope: Scope,
  place: Place,
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
  const defines = definedOperator(place);
  return {
    path: place.path,
    name,
    op,
    domain,
    opset,
    version: version?.sinceVersion ?? null,
    attributes,
    inputs: valueReports(inputs, version?.inputs),
    outputs: valueReports(outputs, version?.outputs),
    findings,
    ...(defines === null ? {} : { defines }),
  };
}

/**
 * The maximum number of elements in a constant that is shown. Axes, index tuples and shapes are usually this short, and
 * weights are longer.
 */
const MAX_SHOWN = 8;

/**
 * Returns a constant that is small enough to show; undefined for other values, and for a constant that cannot be read.
 */
function readSmallConstant(constant: Constant): Tensor | undefined {
  try {
    const { dtype, shape } = constant;
    // Text is not read, because a text may have any length.
    if (!isDType(dtype) || DTYPES[dtype].family === "string") return;
    const size = product(shape);
    if (size === 0 || size > MAX_SHOWN) return;
    return readConstant(constant);
  } catch {
    // An unreadable value is simply not shown.
    return;
  }
}
