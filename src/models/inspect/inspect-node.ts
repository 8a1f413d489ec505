/**
 * Checks a scatter or gather against its version in the order of a run: operator, attributes, data types, shapes,
 * indices. Unlike a run, the checks continue after a fault.
 */

import {
  isTensorError,
  recovering,
  type ErrorCode,
  type ErrorContext,
  type TensorError,
} from "../../core/errors.ts";
import { knownSettings } from "../model/attributes.ts";
import {
  hasItsInputs,
  inputsOf,
  knownCall,
  mayBeIntegers,
  type KnownCall,
} from "../model/family.ts";
import { NOTHING_KNOWN, unifyTypes, type Known } from "../model/known.ts";
import { listNames, quote } from "../model/graph.ts";
import type { ModelNode } from "../model/model.ts";
import { isCertain, type Scope, type Value } from "../model/values.ts";
import type { Operator, OperatorVersion, TensorType } from "../../core/operators/operator.ts";
import { lookUp } from "../../core/operators/registry.ts";
import { byRole } from "../../core/operators/signature.ts";
import { printShape } from "../../core/tensor/shape.ts";
import { finding, findingOf, isFinding, type Finding, type FindingId } from "./findings.ts";
import { inspectIndices, readIndexConstant, unreadable } from "./indices.ts";
import {
  countFindings,
  deprecation,
  inspectAttributes,
  inspectDTypes,
} from "./version-findings.ts";

export interface NodeFacts {
  /** The operator version; null if the opset lacks the operator. */
  readonly version: OperatorVersion | null;
  readonly findings: readonly Finding[];
}

/**
 * Inspects a node. The scope must already contain the node's outputs. If the model does not import the node's domain,
 * `opset` is null.
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
    return { version: null, findings: [findingOf("operator-newer-than-opset", error)] };
  }
  const { operator, version } = found;
  const findings = [
    ...deprecation(version, opset),
    ...inspectAttributes(node, version, operator.versions),
    ...countFindings(node, version),
    ...inputFindings(node, operator, version, scope),
    ...contradictionOf(node, scope),
  ];
  // An invalid node does not run, so it cannot race.
  const isWrong = findings.some(({ severity }) => severity === "wrong");
  return { version, findings: isWrong ? findings : [...findings, ...raceOf(node, scope)] };
}

/**
 * Returns a finding for ScatterND with a reduction, which is the only scatter that ONNX Runtime runs on several
 * threads.
 */
function raceOf({ domain, op, inputs, attributes }: ModelNode, scope: Scope): Finding[] {
  const { reduction } = attributes;
  const isReduced = reduction?.type === "string" && reduction.value !== "none";
  const [, indices = ""] = inputs;
  if (domain !== "ai.onnx" || op !== "ScatterND" || !isReduced) return [];
  if (scope.constantOf(indices) !== null) return [];
  const sentence =
    "may race on more than one thread if indices repeat; ndscatter verify tests this";
  return [finding("may-race", sentence, { input: "indices" })];
}

/** Returns the findings about inputs, if the version accepts this number of inputs. */
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
 * Returns a finding if a declared type differs from the node's actual output. A wrong declaration of a model output
 * misleads callers. A wrong declaration of an inner value is outdated, and runtimes treat such declarations
 * differently.
 */
function contradictionOf({ outputs: [name = ""] }: ModelNode, scope: Scope): Finding[] {
  const declared = scope.declared(name);
  if (declared === null) return [];
  const { certain, believed } = scope.get(name);
  // Contradictory declarations are not used as facts.
  const [made] = [certain, believed].flatMap(({ type }) =>
    type === null || unifyTypes(type, declared) !== null ? [] : [type],
  );
  if (made === undefined) return [];
  const sentence = `${quote(name)} is declared to be ${printTensorType(declared)}, but the inputs imply ${printTensorType(made)}`;
  const found = finding("declared-type-differs", sentence);
  return [made === certain.type && scope.isModelOutput(name) ? found : asRisky(found)];
}

const printTensorType = ({ dtype, shape }: TensorType): string =>
  dtype + (shape === null ? "[...]" : printShape(shape));

/** Checks data types, then shapes, then indices. Each check requires that the earlier checks found no fault. */
function inspectInputs(
  operator: Operator,
  version: OperatorVersion,
  node: ModelNode,
  inputs: readonly Known[],
): readonly Finding[] {
  const fields: ErrorContext = { op: version.name, opset: version.sinceVersion };
  const { settings, unknown } = knownSettings(node, version, operator.versions);
  const isReductionKnown = unknown.every(({ name }) => name !== "reduction");
  const reduction = isReductionKnown ? settings.reduction : "none";
  const dtypes = inputs.map(({ type }) => type?.dtype ?? null);
  const findings = inspectDTypes(version, operator.versions, dtypes, reduction, fields);

  // Only the numeric attributes `axis` and `batch_dims` affect shapes.
  if (unknown.some(({ type }) => type === "int")) return findings;
  const infer = (): KnownCall => {
    const known = knownCall(operator, version, settings, inputs, fields);
    operator.inferShape(known.shapes, known);
    return known;
  };
  const call = recovering(infer, shapeFinding);
  if (isFinding(call)) return [...findings, call];
  // Text attributes other than the reduction may determine the indexed axes.
  const isPlanKnown = unknown.every(({ type, name }) => type !== "string" || name === "reduction");
  const { constant = null, type = null } = byRole(version, inputs).indices ?? NOTHING_KNOWN;
  if (constant === null || !mayBeIntegers(type) || !isPlanKnown) return findings;
  const indices = readIndexConstant(constant);
  const more = isFinding(indices)
    ? [indices]
    : inspectIndices({ ...call, isReductionKnown }, indices);
  return [...findings, ...more];
}

const SHAPE_FINDINGS: Readonly<Partial<Record<ErrorCode, FindingId>>> = {
  rank: "rank-does-not-fit",
  axis: "axis-out-of-range",
  "shape-mismatch": "shape-does-not-fit",
};

/** Explains why a call has no result shape: its shapes are invalid, or its axis cannot be read. */
function shapeFinding(error: TensorError): Finding {
  const { [error.code]: id } = SHAPE_FINDINGS;
  return id === undefined ? unreadable(error) : findingOf(id, error);
}

/**
 * Lowers the severity of a finding that follows only from declarations, because runtimes do not enforce the declared
 * shape of a value between two nodes. The declaration may be outdated.
 */
const asRisky = (found: Finding): Finding =>
  found.severity === "wrong" ? { ...found, severity: "risky" } : found;

/**
 * Merges two lists of findings about a node for which declarations add facts. The list `certain` uses certain types
 * only, and `believed` also uses declared types. The inputs in `names` have facts that only declarations provide.
 */
function mergeViews(
  certain: readonly Finding[],
  believed: readonly Finding[],
  names: readonly string[],
): readonly Finding[] {
  const added = believed.filter((one) => !certain.some((other) => isSameFinding(one, other)));
  // Declared types may allow a check for which certain types are not enough.
  const stays = certain.filter(
    (one) => one.severity !== "note" || believed.some((other) => isSameFinding(one, other)),
  );
  return [...stays, ...added.map((found) => relying(found, names))];
}

const isSameFinding = (a: Finding, b: Finding): boolean => a.id === b.id && a.input === b.input;

function relying(found: Finding, names: readonly string[]): Finding {
  if (found.severity === "note") return found;
  const unique = [...new Set(names)];
  const what = unique.length === 1 ? "the type" : "the types";
  const sentence = `${found.sentence}; this relies on ${what} declared for ${listNames(unique)}`;
  return asRisky({ ...found, sentence });
}
