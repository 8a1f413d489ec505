/** Types of outputs from types of inputs. */

import { printValue, readForeign, TensorError, type ErrorFields } from "../errors.ts";
import type { TensorType } from "../operators/operator.ts";
import { rolesOf } from "../operators/signature.ts";
import { isKnown, partialShapeOf, sizeOf } from "../tensor/shape.ts";
import { checkDType, Tensor } from "../tensor/tensor.ts";
import { callOf, nodeFrom, type NodeSpec } from "./call.ts";
import { checkInputCount, readInputs } from "./inputs.ts";
import { settle } from "./prepare.ts";

/**
 * Infers the types of a node's outputs from the known part of its inputs' types. Certain contradictions are errors;
 * unknown dimensions stay unknown.
 *
 * @param node the node: operator, opset, domain and attributes
 * @param inputTypes in the order of the version's inputs; `undefined` for an optional one that is left out. A tensor
 * stands for its type, and for an `axis` input also for its value.
 * @throws TensorError as `run`, for errors of types and shapes
 *
 * @example
 * ```ts
 * const inputs = [{ dtype: "float32", shape: [100, 64] }, { dtype: "int64", shape: ["N"] }] as const;
 * infer({ op: "Gather", opset: 13 }, inputs); // [{ dtype: "float32", shape: ["N", 64] }]
 * ```
 */
export function infer(
  node: NodeSpec,
  inputTypes: readonly (TensorType | undefined)[],
): TensorType[] {
  const call = callOf(nodeFrom(node));
  const given = checkInputCount(call, readInputs(call.version, inputTypes, call.fields));
  const types = call.version.inputs.map(({ name: input }, position) =>
    given[position] === undefined
      ? undefined
      : checkType(given[position], { ...call.fields, input }),
  );
  const roles = rolesOf(call.signature, types);
  const { data, indices, updates } = roles;
  const shapes = {
    data: data?.shape ?? null,
    indices: indices?.shape ?? null,
    updates: updates?.shape ?? null,
  };
  const { shape } = settle(call, types, roles, shapes);
  if (isKnown(shape)) sizeOf(shape, call.fields);
  return [{ dtype: (data as TensorType).dtype, shape }];
}

function checkType(type: unknown, fields: ErrorFields): TensorType {
  // A tensor stands for its type, and as an axis also for its value.
  if (Tensor.isTensor(type)) return type;
  const must = `${fields.input} must be a type with a dtype and a shape`;
  const read = (): { dtype: unknown; shape: unknown } | null =>
    typeof type === "object" && type !== null && "dtype" in type && "shape" in type
      ? { dtype: type.dtype, shape: type.shape }
      : null;
  const parts = readForeign(read, "dtype", `${must} that can be read`, fields);
  if (parts === null) throw new TensorError("dtype", `${must}, got ${printValue(type)}`, fields);
  const { dtype, shape } = parts;
  checkDType(dtype, fields);
  return { dtype, shape: partialShapeOf(shape, String(fields.input), fields) };
}
