/**
 * One node of the family, held against its version in the order in which running it would: operator, attributes, data
 * types, shapes, indices. It is the same checks that run; here what one refuses is set aside, so that the next can be
 * asked as well.
 */

import { isTensorError, type ErrorFields } from "../errors.ts";
import type { ModelNode } from "../model/model.ts";
import type { Operator, OperatorVersion, TensorType } from "../operators/operator.ts";
import { lookUp } from "../operators/registry.ts";
import { printShape, type PartialShape } from "../shape.ts";
import { inspectAttributes } from "./attributes.ts";
import { inspectDTypes } from "./dtypes.ts";
import { finding, findingOf, type Finding, type FindingId } from "./findings.ts";
import { inspectIndices, type IndexedCall } from "./indices.ts";
import { positionOf } from "./roles.ts";
import { UNKNOWN, unifyTypes, type Scope, type Value } from "./scope.ts";

/** What was found out about a node. */
export interface NodeFacts {
  /** Null where the operator has none at the opset. */
  readonly version: OperatorVersion | null;
  /** Of each input and output of the node, in order. */
  readonly inputs: readonly Value[];
  readonly outputs: readonly Value[];
  readonly findings: readonly Finding[];
}

/** @param opset null where the model imports none for the node's domain */
export function inspectNode(node: ModelNode, opset: number | null, scope: Scope): NodeFacts {
  const { domain, op } = node;
  const inputs = node.inputs.map((name) => (name === "" ? UNKNOWN : scope.get(name)));
  const declared = node.outputs.map((name) => scope.declared(name));
  const unresolved = (fault: Finding): NodeFacts => ({
    version: null,
    inputs,
    outputs: declared.map(typed),
    findings: [fault],
  });
  if (opset === null) {
    return unresolved(finding("no-opset", `the model imports no version of the domain ${domain}`));
  }
  let found: { operator: Operator; version: OperatorVersion };
  try {
    found = lookUp({ domain, op, opset });
  } catch (error) {
    if (!isTensorError(error, "unknown-operator")) throw error;
    return unresolved(findingOf("operator-newer-than-opset", error));
  }
  const { operator, version } = found;
  const { output, findings } = inspectCall(node, operator, version, inputs);
  const outputs = declared.map((type, position) => (position === 0 ? (output ?? type) : type));
  const contradiction = contradictionOf(node, outputs[0] ?? null, declared[0] ?? null);
  return {
    version,
    inputs,
    outputs: outputs.map((type, position) => typed(bothOf(type, declared[position]))),
    findings: [...findings, ...contradiction],
  };
}

const typed = (type: TensorType | null): Value => ({ type, constant: null });

/** What is known from inputs and by declaration; where they contradict each other the inputs count. */
const bothOf = (inferred: TensorType | null, declared: TensorType | null): TensorType | null =>
  inferred === null || declared === null
    ? (inferred ?? declared)
    : (unifyTypes(inferred, declared) ?? inferred);

function contradictionOf(
  { outputs: [name] }: ModelNode,
  inferred: TensorType | null,
  declared: TensorType | null,
): Finding[] {
  if (inferred === null || declared === null || unifyTypes(inferred, declared) !== null) return [];
  const sentence = `${JSON.stringify(name)} is declared to be ${printType(declared)}, but the inputs make ${printType(inferred)}`;
  return [finding("declared-type-differs", sentence)];
}

const printType = ({ dtype, shape }: TensorType): string =>
  dtype + (shape === null ? "[...]" : printShape(shape));

/** What is found, and the type of the output where the inputs tell it. */
function inspectCall(
  node: ModelNode,
  operator: Operator,
  version: OperatorVersion,
  inputs: readonly Value[],
): { output: TensorType | null; findings: readonly Finding[] } {
  const fields: ErrorFields = { op: version.name, opset: version.sinceVersion };
  const attributes = inspectAttributes(node, version, operator.versions, fields);
  const findings: Finding[] = [...attributes.findings, ...countFindings(node, version)];
  if (findings.some(({ id }) => id === "input-count")) return { output: null, findings };

  const { settings, unknown } = attributes;
  const values = version.inputs.map((_, position) => inputs[position] ?? UNKNOWN);
  const dtypes = values.map(({ type }) => type?.dtype ?? null);
  const isReductionKnown = !unknown.has("reduction");
  const reduction = isReductionKnown ? settings.reduction : "none";
  const faults = inspectDTypes(version, operator.versions, dtypes, reduction, fields);
  findings.push(...faults);

  const shapes = values.map(({ type }) => type?.shape ?? null);
  // Shapes depend on the numbers among the attributes: axis and batch_dims.
  const decides = (name: string): boolean =>
    operator.versions.some((one) =>
      one.attributes.some((schema) => schema.name === name && schema.type === "int"),
    );
  if ([...unknown].some(decides)) return { output: null, findings };
  const shape = shapeOf(operator, shapes, settings, fields);
  if (isFinding(shape)) return { output: null, findings: [...findings, shape] };

  const position = positionOf(version, "indices");
  const { constant } = values[position];
  if (constant !== null && !faults.some(({ id }) => id === "index-type-not-taken")) {
    const call: IndexedCall = { operator, version, settings, fields, shapes, isReductionKnown };
    findings.push(...inspectIndices(call, constant));
  }
  // Any input of the output's type tells it; data, whose shape the output may have, comes first.
  const [{ type: constraint }] = version.outputs;
  const dtype = dtypes.find((one, p) => one !== null && version.inputs[p].type === constraint);
  return { output: dtype ? { dtype, shape } : null, findings };
}

/** How many inputs and outputs there are, and whether one is left out that may not be. */
function countFindings(node: ModelNode, { name, inputs, outputs }: OperatorVersion): Finding[] {
  const findings: Finding[] = [];
  const names = inputs.map((input) => input.name);
  const missing = inputs.find((_, position) => !node.inputs[position]);
  const code = "shape-mismatch";
  if (node.inputs.length > inputs.length) {
    const sentence = `there are ${node.inputs.length} inputs, but ${name} has ${inputs.length}: ${names.join(", ")}`;
    findings.push(finding("input-count", sentence, { code, got: node.inputs.length }));
  } else if (missing !== undefined) {
    const sentence = `the input ${missing.name} is left out, but may not be`;
    findings.push(finding("input-count", sentence, { code, input: missing.name }));
  }
  if (node.outputs.length > outputs.length) {
    const sentence = `there are ${node.outputs.length} outputs, but ${name} makes ${outputs.length}`;
    findings.push(finding("output-count", sentence, { code, got: node.outputs.length }));
  }
  return findings;
}

const SHAPE_FINDINGS: Readonly<Record<string, FindingId>> = {
  rank: "rank-does-not-fit",
  axis: "axis-out-of-range",
  "shape-mismatch": "shape-does-not-fit",
};

/** The shape of the output, or why there is none. */
function shapeOf(
  operator: Operator,
  shapes: readonly PartialShape[],
  settings: IndexedCall["settings"],
  fields: ErrorFields,
): PartialShape | Finding {
  try {
    return operator.inferShape(shapes, settings, fields);
  } catch (error) {
    if (!isTensorError(error, "rank", "axis", "shape-mismatch")) throw error;
    return findingOf(SHAPE_FINDINGS[error.code], error);
  }
}

const isFinding = (value: PartialShape | Finding): value is Finding =>
  value !== null && "id" in value;
