/**
 * One node of the family checked against its version, in the order in which running it would check: operator,
 * attributes, data types, shapes, indices. The checks are those that run; here a fault is set aside, so that the next
 * check is asked as well.
 */

import { isTensorError, type ErrorCode, type ErrorFields } from "../../core/errors.ts";
import { knownSettings } from "../model/attributes.ts";
import {
  hasItsInputs,
  inputsOf,
  knownCall,
  mayBeIntegers,
  missingParameter,
  type KnownCall,
} from "../model/family.ts";
import { NOTHING_KNOWN, unifyTypes, type Known } from "../model/known.ts";
import { quote } from "../model/graph.ts";
import type { ModelNode } from "../model/model.ts";
import { isCertain, type Scope, type Value } from "../model/values.ts";
import type { Operator, OperatorVersion, TensorType } from "../../core/operators/operator.ts";
import { findVersion, hasOlderVersions, lookUp } from "../../core/operators/registry.ts";
import { byRole } from "../../core/operators/signature.ts";
import { printShape } from "../../core/tensor/shape.ts";
import { inspectAttributes } from "./attributes.ts";
import { readIndexConstant, unreadable } from "./constants.ts";
import { asRisky, mergeViews } from "./declared.ts";
import { inspectDTypes } from "./dtypes.ts";
import { finding, findingOf, isFinding, type Finding, type FindingId } from "./findings.ts";
import { inspectIndices } from "./indices.ts";

/** What was found out about a node. */
export interface NodeFacts {
  /** Null where the operator has none at the opset. */
  readonly version: OperatorVersion | null;
  readonly findings: readonly Finding[];
}

/**
 * @param opset null where the model imports none for the node's domain
 * @param scope which has learned the node
 */
export function inspectNode(node: ModelNode, opset: number | null, scope: Scope): NodeFacts {
  const { domain, op } = node;
  if (opset === null) {
    const sentence = `the model imports no version of the domain ${domain}`;
    return { version: null, findings: [finding("no-opset", sentence)] };
  }
  let found: { operator: Operator; version: OperatorVersion };
  try {
    found = lookUp({ domain, op, opset });
  } catch (error) {
    if (!isTensorError(error, "unknown-operator")) throw error;
    const isOlder = hasOlderVersions({ domain, op, opset });
    const id = isOlder ? "version-not-known" : "operator-newer-than-opset";
    return { version: null, findings: [findingOf(id, error)] };
  }
  const { operator, version } = found;
  const findings = [
    ...deprecation(version, opset),
    ...inspectAttributes(node, version, operator.versions),
    ...countFindings(node, version),
    ...inputFindings(node, operator, version, scope),
    ...contradictionOf(node, scope),
  ];
  // A node that is wrong does not run as it is, so it does not race.
  const isWrong = findings.some(({ severity }) => severity === "wrong");
  return { version, findings: isWrong ? findings : [...findings, ...raceOf(node, scope)] };
}

/** ONNX Runtime splits the updates of a ScatterND among threads, and those of no other operator. */
function raceOf({ domain, op, inputs, attributes }: ModelNode, scope: Scope): Finding[] {
  const { reduction } = attributes;
  const isReduced = reduction?.type === "string" && reduction.value !== "none";
  const [, indices = ""] = inputs;
  if (domain !== "ai.onnx" || op !== "ScatterND" || !isReduced) return [];
  if (scope.constantOf(indices) !== null) return [];
  const sentence =
    "may race on more than one thread, if indices repeat: ndscatter verify finds that out";
  return [finding("may-race", sentence, { input: "indices" })];
}

/** What is found of the inputs, as far as there are as many as the version takes. */
function inputFindings(
  node: ModelNode,
  operator: Operator,
  version: OperatorVersion,
  scope: Scope,
): readonly Finding[] {
  if (!hasItsInputs(node, version)) return [];
  const values = node.inputs.map((name) => scope.get(name));
  const inspect = (view: keyof Value): readonly Finding[] => {
    const known = values.map((value) => value[view]);
    return inspectInputs(operator, version, node, inputsOf(version, known));
  };
  const certain = inspect("certain");
  const uncertain = node.inputs.filter((_, position) => !isCertain(values[position]));
  return uncertain.length === 0 ? certain : mergeViews(certain, inspect("believed"), uncertain);
}

/**
 * A declared type that is not what the node makes. What the model promises its callers is wrong then; of a value
 * inside the model the declaration is out of date, which runtimes take differently.
 */
function contradictionOf({ outputs: [name = ""] }: ModelNode, scope: Scope): Finding[] {
  const declared = scope.declared(name);
  if (declared === null) return [];
  const { certain, believed } = scope.get(name);
  // A declaration that contradicts what is known is no part of what is believed.
  const [made] = [certain, believed].flatMap(({ type }) =>
    type === null || unifyTypes(type, declared) !== null ? [] : [type],
  );
  if (made === undefined) return [];
  const sentence = `${quote(name)} is declared to be ${printTensorType(declared)}, but the inputs make ${printTensorType(made)}`;
  const found = finding("declared-type-differs", sentence);
  return [made === certain.type && scope.isModelOutput(name) ? found : asRisky(found)];
}

const printTensorType = ({ dtype, shape }: TensorType): string =>
  dtype + (shape === null ? "[...]" : printShape(shape));

/** Data types, then shapes, then indices: the later ones are only asked where the earlier ones fit. */
function inspectInputs(
  operator: Operator,
  version: OperatorVersion,
  node: ModelNode,
  inputs: readonly Known[],
): readonly Finding[] {
  const fields: ErrorFields = { op: version.name, opset: version.sinceVersion };
  const { settings, unknown } = knownSettings(node, version, operator.versions);
  const isReductionKnown = unknown.every(({ name }) => name !== "reduction");
  const reduction = isReductionKnown ? settings.reduction : "none";
  const dtypes = inputs.map(({ type }) => type?.dtype ?? null);
  const findings = inspectDTypes(version, operator.versions, dtypes, reduction, fields);

  // Shapes depend on numbers: axis and batch_dims.
  if (unknown.some(({ type }) => type === "int")) return findings;
  let call: KnownCall;
  try {
    call = knownCall(operator, version, settings, inputs, fields);
    operator.inferShape(call.shapes, call);
  } catch (error) {
    return [...findings, shapeFinding(error)];
  }
  // Which places indices stand for may depend on words, but not on that of the reduction.
  const isPlanKnown = unknown.every(({ type, name }) => type !== "string" || name === "reduction");
  const { constant = null, type = null } = byRole(version, inputs).indices ?? NOTHING_KNOWN;
  if (constant === null || !mayBeIntegers(type) || !isPlanKnown) return findings;
  const indices = readIndexConstant(constant);
  const more = isFinding(indices)
    ? [indices]
    : inspectIndices({ ...call, isReductionKnown }, indices);
  return [...findings, ...more];
}

/** How many inputs and outputs there are, and whether one is left out that may not be. */
function countFindings(node: ModelNode, version: OperatorVersion): Finding[] {
  const { name, inputs, outputs } = version;
  const findings: Finding[] = [];
  const names = inputs.map((input) => (input.optional === true ? `${input.name}?` : input.name));
  const missing = missingParameter(node, version);
  const code = "shape-mismatch";
  if (node.inputs.length > inputs.length) {
    const sentence = `the node has ${node.inputs.length} inputs, but ${name} has ${inputs.length}: ${names.join(", ")}`;
    findings.push(finding("input-count", sentence, { code, got: node.inputs.length }));
  } else if (missing !== null) {
    const sentence = `the input ${missing} is left out, but may not be`;
    findings.push(finding("input-count", sentence, { code, input: missing }));
  }
  if (node.outputs.length > outputs.length) {
    const sentence = `the node has ${node.outputs.length} outputs, but ${name} has ${outputs.length}`;
    findings.push(finding("output-count", sentence, { code, got: node.outputs.length }));
  }
  return findings;
}

/** Whether another operator has replaced this one at its opset. */
function deprecation({ domain, deprecated }: OperatorVersion, opset: number): Finding[] {
  const successor = deprecated && findVersion({ domain, op: deprecated, opset });
  return successor ? [finding("operator-deprecated", `${successor.name} has replaced it`)] : [];
}

const SHAPE_FINDINGS: Readonly<Partial<Record<ErrorCode, FindingId>>> = {
  rank: "rank-does-not-fit",
  axis: "axis-out-of-range",
  "shape-mismatch": "shape-does-not-fit",
};

/** Why a call has no shape: its shapes do not fit, or its axis cannot be read. */
function shapeFinding(error: unknown): Finding {
  const id = isTensorError(error) ? SHAPE_FINDINGS[error.code] : undefined;
  return id === undefined ? unreadable(error) : findingOf(id, error);
}
