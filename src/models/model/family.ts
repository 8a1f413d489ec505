/** A node of one of this package's operators as a call, as far as it is known before the model runs. */

import type { ErrorFields } from "../../core/errors.ts";
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
import { TIND_ANY } from "../../core/operators/types.ts";
import { knownSettings } from "./attributes.ts";
import { NOTHING_KNOWN, type Known } from "./known.ts";
import { readConstant, type ModelNode } from "./model.ts";

/** A call of which the data types, the shapes and an axis that is an input are known in part. */
export interface KnownCall extends OperatorCall {
  readonly operator: Operator;
  readonly shapes: InputShapes;
}

/** What is known of the inputs of a version, in its order; `NOTHING_KNOWN` for one that the node does not have. */
export const inputsOf = (version: OperatorVersion, given: readonly Known[]): readonly Known[] =>
  version.inputs.map((_, position) => given[position] ?? NOTHING_KNOWN);

/**
 * @param inputs of the version, in its order
 * @throws TensorError `shape-mismatch` for an axis that is not one number, and what reading its constant throws
 */
export function knownCall(
  operator: Operator,
  version: OperatorVersion,
  settings: Settings,
  inputs: readonly Known[],
  fields: ErrorFields,
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

/** The value of an axis that is a constant; null where it is not known. */
function axisValue({ type, constant }: Known, fields: ErrorFields): number | null {
  if (type === null) return null;
  // The shape comes first, so that nothing large is read.
  const unread = axisFrom(type, fields);
  return constant === null || !mayBeIntegers(type)
    ? unread
    : axisFrom(readConstant(constant), fields);
}

/** Whether a value may hold integers, of whichever type: the version may take fewer. */
export const mayBeIntegers = (type: TensorType | null): boolean =>
  type === null || TIND_ANY.types.includes(type.dtype);

/** The first input that a node leaves out although it must not, null where there is none. */
export const missingParameter = (node: ModelNode, { inputs }: OperatorVersion): string | null =>
  inputs.find(({ optional }, position) => optional !== true && !node.inputs[position])?.name ??
  null;

/** Whether a node has as many inputs as its version takes, and all that must not be left out. */
export const hasItsInputs = (node: ModelNode, version: OperatorVersion): boolean =>
  node.inputs.length <= version.inputs.length && missingParameter(node, version) === null;

/** The output of a node, of which there is one. */
export function familyOutputs(
  node: ModelNode,
  opset: number | null,
  given: readonly Known[],
): readonly Known[] {
  if (opset === null) return [];
  const { domain, op } = node;
  const { operator, version } = lookUp({ domain, op, opset });
  if (!hasItsInputs(node, version)) return [];
  const inputs = inputsOf(version, given);
  const dtype = outputDType(version, inputs);
  if (dtype === null) return [];
  const { settings, unknown } = knownSettings(node, version, operator.versions);
  // Shapes depend on numbers: axis and batch_dims.
  const isShapeKnown = unknown.every(({ type }) => type !== "int");
  const call = knownCall(operator, version, settings, inputs, {});
  const shape = isShapeKnown ? operator.inferShape(call.shapes, call) : null;
  return [{ type: { dtype, shape }, constant: null, elements: null }];
}

/** The data type of the output: that of any known input of the same type constraint. */
function outputDType(version: OperatorVersion, inputs: readonly Known[]): DType | null {
  const [{ type: constraint }] = version.outputs;
  const types = inputs.filter((_, position) => version.inputs[position].type === constraint);
  return types.find(({ type }) => type !== null)?.type?.dtype ?? null;
}
