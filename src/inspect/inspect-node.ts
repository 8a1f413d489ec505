/**
 * One node of the family, held against its version in the order in which running it would: operator, attributes, data
 * types, shapes, indices. It is the same checks that run; here what one refuses is set aside, so that the next can be
 * asked as well.
 */

import { isTensorError, type ErrorFields } from "../errors.ts";
import type { ModelNode } from "../model/model.ts";
import { axisFrom } from "../operators/settings.ts";
import {
  byRole,
  type AttributeSchema,
  type InputShapes,
  type Operator,
  type OperatorCall,
  type OperatorVersion,
  type TensorType,
} from "../operators/operator.ts";
import { hasOlderVersions, lookUp } from "../operators/registry.ts";
import { TIND_ANY } from "../operators/types.ts";
import { printShape, type PartialShape } from "../tensor/shape.ts";
import { inspectAttributes } from "./attributes.ts";
import { readConstant } from "./constants.ts";
import { inspectDTypes } from "./dtypes.ts";
import { finding, findingOf, type Finding, type FindingId } from "./findings.ts";
import { inspectIndices } from "./indices.ts";
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
    const isOlder = hasOlderVersions({ domain, op, opset });
    return unresolved(
      findingOf(isOlder ? "version-not-known" : "operator-newer-than-opset", error),
    );
  }
  const { operator, version } = found;
  const { output, findings } = inspectCall(node, operator, version, inputs);
  const outputs = declared.map((type, position) => (position === 0 ? (output ?? type) : type));
  const contradiction = contradictionOf(node, outputs[0] ?? null, declared[0] ?? null);
  return {
    version,
    inputs,
    outputs: outputs.map((type, position) => typed(bothOf(type, declared[position]))),
    findings: [...deprecation(version, opset), ...findings, ...contradiction],
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
  const { unknown, ...attributes } = inspectAttributes(node, version, operator.versions, fields);
  const findings: Finding[] = [...attributes.findings, ...countFindings(node, version)];
  if (findings.some(({ id }) => id === "input-count")) return { output: null, findings };

  const isReductionKnown = !unknown.has("reduction");
  const reduction = isReductionKnown ? attributes.settings.reduction : "none";
  const values = version.inputs.map((_, position) => inputs[position] ?? UNKNOWN);
  const dtypes = values.map(({ type }) => type?.dtype ?? null);
  findings.push(...inspectDTypes(version, operator.versions, dtypes, reduction, fields));

  // An attribute that another version has may have been meant; one that none has changes nothing.
  const isUnknown = (is: (schema: AttributeSchema) => boolean): boolean =>
    operator.versions.some((one) =>
      one.attributes.some((schema) => unknown.has(schema.name) && is(schema)),
    );
  // Shapes depend on numbers: axis and batch_dims.
  if (isUnknown(({ type }) => type === "int")) return { output: null, findings };
  const given = byRole(version, values);
  const axis = axisValue(given.axis, fields);
  if (isFinding(axis)) return { output: null, findings: [...findings, axis] };
  const settings =
    given.axis === undefined ? attributes.settings : { ...attributes.settings, axis };
  const shapes = {
    data: given.data?.type?.shape ?? null,
    indices: given.indices?.type?.shape ?? null,
    updates: given.updates?.type?.shape ?? null,
  };
  const shape = shapeOf(operator, shapes, { version, settings, fields });
  if (isFinding(shape)) return { output: null, findings: [...findings, shape] };

  const constant = given.indices?.constant ?? null;
  // Which places indices stand for may depend on words, but not on that of the reduction.
  const isPlanKnown = !isUnknown(({ type, name }) => type === "string" && name !== "reduction");
  if (constant !== null && holdsIntegers(given.indices) && isPlanKnown) {
    const call = { operator, version, settings, fields, shapes, isReductionKnown };
    const indices = readConstant(constant, "indices");
    findings.push(...(isFinding(indices) ? [indices] : inspectIndices(call, indices)));
  }
  // Any input of the output's type tells it.
  const [{ type: constraint }] = version.outputs;
  const dtype = dtypes.find((one, p) => one !== null && version.inputs[p].type === constraint);
  return { output: dtype ? { dtype, shape } : null, findings };
}

/** How many inputs and outputs there are, and whether one is left out that may not be. */
function countFindings(node: ModelNode, version: OperatorVersion): Finding[] {
  const { name, inputs, outputs } = version;
  const findings: Finding[] = [];
  const names = inputs.map((input) => (input.optional === true ? `${input.name}?` : input.name));
  const missing = inputs.find(
    ({ optional }, position) => optional !== true && !node.inputs[position],
  );
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

/** Whether another operator has replaced this one at its opset. */
function deprecation({ domain, deprecated }: OperatorVersion, opset: number): Finding[] {
  if (deprecated === undefined) return [];
  try {
    const { name } = lookUp({ domain, op: deprecated, opset }).version;
    return [finding("operator-deprecated", `${name} has replaced it`)];
  } catch (error) {
    if (!isTensorError(error, "unknown-operator")) throw error;
    return [];
  }
}

/** Whether values are integers, if not of a type that the version takes. What is not known at all is told when it is read. */
const holdsIntegers = (value: Value | undefined): boolean =>
  value?.type == null || TIND_ANY.types.includes(value.type.dtype);

/** The axis where it is an input; null where it is none or not known. */
function axisValue(axis: Value | undefined, fields: ErrorFields): number | null | Finding {
  if (axis?.type == null) return null;
  try {
    // Its shape is looked at first, so that nothing large is read.
    const unread = axisFrom(axis.type, fields);
    if (axis.constant === null || !holdsIntegers(axis)) return unread;
    const value = readConstant(axis.constant, "axis");
    return isFinding(value) ? value : axisFrom(value, fields);
  } catch (error) {
    if (!isTensorError(error, "shape-mismatch")) throw error;
    return findingOf("shape-does-not-fit", error);
  }
}

const SHAPE_FINDINGS: Readonly<Record<string, FindingId>> = {
  rank: "rank-does-not-fit",
  axis: "axis-out-of-range",
  "shape-mismatch": "shape-does-not-fit",
};

/** The shape of the output, or why there is none. */
function shapeOf(
  operator: Operator,
  shapes: InputShapes,
  call: OperatorCall,
): PartialShape | Finding {
  try {
    return operator.inferShape(shapes, call);
  } catch (error) {
    if (!isTensorError(error, "rank", "axis", "shape-mismatch")) throw error;
    return findingOf(SHAPE_FINDINGS[error.code], error);
  }
}

const isFinding = (value: unknown): value is Finding =>
  typeof value === "object" && value !== null && "severity" in value;
