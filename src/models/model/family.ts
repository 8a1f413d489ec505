/** A scatter or gather as a call, with the facts that are known before the model runs. */

import type { ErrorContext } from "../../core/errors.ts";
import { axisFrom } from "../../core/operators/settings.ts";
import {
  type InputShapes,
  type Operator,
  type OperatorCall,
  type OperatorVersion,
  type Settings,
  type TensorType,
} from "../../core/operators/operator.ts";
import { lookUp } from "../../core/operators/registry.ts";
import { byRole } from "../../core/operators/signature.ts";
import type { DType } from "../../core/tensor/dtype.ts";
import type { PartialShape } from "../../core/tensor/shape.ts";
import { TIND_ANY } from "../../core/operators/schemas.ts";
import { knownSettings } from "./attributes.ts";
import { NOTHING_KNOWN, typeOnly, type Known } from "./known.ts";
import { readConstant, type ModelNode } from "./model.ts";

/** A call with partly known data types, shapes and axis. */
export interface KnownCall extends OperatorCall {
  readonly operator: Operator;
  readonly shapes: InputShapes;
}

export const inputsOf = (version: OperatorVersion, given: readonly Known[]): readonly Known[] =>
  version.inputs.map((_, position) => given[position] ?? NOTHING_KNOWN);

/**
 * Returns a call with the known inputs in the version's order. Throws `shape-mismatch` for an axis that is not a single
 * number; errors of reading its constant are passed on.
 */
export function knownCall(
  operator: Operator,
  version: OperatorVersion,
  settings: Settings,
  inputs: readonly Known[],
  fields: ErrorContext,
): KnownCall {
  const roles = byRole(version, inputs);
  return {
    operator,
    version,
    settings:
      roles.axis === undefined ? settings : { ...settings, axis: axisValue(roles.axis, fields) },
    fields,
    shapes: {
      data: knownShape(roles.data),
      indices: knownShape(roles.indices),
      updates: knownShape(roles.updates),
    },
  };
}

const knownShape = ({ type }: Known = NOTHING_KNOWN): PartialShape => type?.shape ?? null;

/** Returns the axis if it is a constant; null if unknown. */
function axisValue({ type, constant }: Known, fields: ErrorContext): number | null {
  if (type === null) return null;
  // The shape check comes first, so that a large constant is not read.
  const unread = axisFrom(type, fields);
  return constant === null || !mayBeIntegers(type)
    ? unread
    : axisFrom(readConstant(constant), fields);
}

/** Returns true if a value may contain integers of any type, including types that the version rejects. */
export const mayBeIntegers = (type: TensorType | null): boolean =>
  type === null || TIND_ANY.types.includes(type.dtype);

/** Returns the first required input that a node omits; null if the node omits none. */
export const missingParameter = (node: ModelNode, { inputs }: OperatorVersion): string | null =>
  inputs.find(({ optional }, position) => optional !== true && !node.inputs[position])?.name ??
  null;

/** Returns true if a node has all required inputs, and no more inputs than its version accepts. */
export const hasItsInputs = (node: ModelNode, version: OperatorVersion): boolean =>
  node.inputs.length <= version.inputs.length && missingParameter(node, version) === null;

/**
 * Returns the call of a valid node; null if the number of inputs is wrong. The known inputs follow the node's order.
 * The shape is unknown if an attribute that affects shapes is unknown.
 */
export function familyCall(
  node: ModelNode,
  opset: number,
  given: readonly Known[],
): { call: KnownCall; isShapeKnown: boolean; inputs: readonly Known[] } | null {
  const { operator, version } = lookUp({ domain: node.domain, op: node.op, opset });
  if (!hasItsInputs(node, version)) return null;
  const inputs = inputsOf(version, given);
  const { settings, unknown } = knownSettings(node, version, operator.versions);
  // Only the numeric attributes `axis` and `batch_dims` affect shapes.
  const isShapeKnown = unknown.every(({ type }) => type !== "int");
  return { call: knownCall(operator, version, settings, inputs, {}), isShapeKnown, inputs };
}

export function familyOutputs(
  node: ModelNode,
  opset: number,
  given: readonly Known[],
): readonly Known[] {
  const made = familyCall(node, opset, given);
  if (made === null) return [];
  const { call, isShapeKnown, inputs } = made;
  const dtype = outputDType(call.version, inputs);
  if (dtype === null) return [];
  const shape = isShapeKnown ? call.operator.inferShape(call.shapes, call) : null;
  return [typeOnly({ dtype, shape })];
}

/** Returns the output's data type, which equals the data type of any known input with the same type constraint. */
function outputDType(version: OperatorVersion, inputs: readonly Known[]): DType | null {
  const [{ type: constraint }] = version.outputs;
  const types = inputs.filter((_, position) => version.inputs[position].type === constraint);
  return types.find(({ type }) => type !== null)?.type?.dtype ?? null;
}
