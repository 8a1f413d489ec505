/** Types of outputs from types of inputs. */

import { printValue, TensorError, type ErrorFields } from "../errors.ts";
import { byRole, type TensorType } from "../operators/operator.ts";
import { partialShapeOf } from "../tensor/shape.ts";
import { checkDType, Tensor } from "../tensor/tensor.ts";
import { callOf, type NodeSpec } from "./call.ts";
import { checkInputCount } from "./inputs.ts";
import { settle } from "./prepare.ts";

/**
 * The types of a node's outputs from what is known of its inputs' types. What is certainly wrong is an error, what is
 * unknown stays unknown.
 *
 * @param inputTypes in the order of the version's inputs; `undefined` for an optional one that is left out. A tensor
 * stands for its type, and where the input is an axis also for its value.
 * @throws TensorError as `run`, as far as types and shapes tell
 */
export function infer(
  node: NodeSpec,
  inputTypes: readonly (TensorType | undefined)[],
): TensorType[] {
  const call = callOf(node);
  const given = checkInputCount(call, inputTypes);
  const types = call.version.inputs.map(({ name: input }, position) =>
    given[position] === undefined
      ? undefined
      : checkType(given[position], { ...call.fields, input }),
  );
  return [settle(call, types, byRole(call.version, types)).type];
}

function checkType(type: unknown, fields: ErrorFields): TensorType {
  if (typeof type !== "object" || type === null || !("dtype" in type && "shape" in type)) {
    const must = "must be a type with a dtype and a shape";
    throw new TensorError("dtype", `${fields.input} ${must}, got ${printValue(type)}`, fields);
  }
  const { dtype, shape } = type;
  checkDType(dtype, fields);
  // A tensor stands for its type, and where it is an axis also for its value.
  if (Tensor.isTensor(type)) return type;
  return { dtype, shape: partialShapeOf(shape, String(fields.input), fields) };
}
