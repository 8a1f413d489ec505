/** Infers output types from input types. */

import { factOf, printValue, readForeign } from "../foreign.ts";
import { named, TensorError, type ErrorContext } from "../errors.ts";
import type { TensorType } from "../operators/operator.ts";
import { rolesOf } from "../operators/signature.ts";
import { isKnown, partialShapeOf, sizeOf } from "../tensor/shape.ts";
import { checkDType } from "../tensor/dtype.ts";
import { Tensor } from "../tensor/tensor.ts";
import { callOfKnown, type NodeSpec } from "./call.ts";
import { checkInputCount, readInputs } from "./inputs.ts";
import { settle } from "./prepare.ts";

/**
 * Infers the types of a node's outputs from its input types, which may be partly unknown. Unknown dimensions stay
 * unknown; a contradiction is an error only if no value of an unknown dimension could resolve it.
 *
 * @param node the node: operator, opset, domain and attributes
 * @param inputTypes types in the order of the version's inputs; `undefined` for an omitted optional input. A tensor is
 *   accepted as its own type; a tensor for an `axis` input also supplies the axis.
 * @throws TensorError the same type and shape errors as `run`
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
  const call = callOfKnown(node);
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

function checkType(type: unknown, fields: ErrorContext): TensorType {
  // A tensor is accepted as its own type; as an axis input it also supplies the axis.
  if (Tensor.isTensor(type)) return type;
  const must = `${fields.input} must be a type with a dtype and a shape`;
  const read = (): { dtype: unknown; shape: unknown } | null =>
    typeof type === "object" && type !== null && "dtype" in type && "shape" in type
      ? { dtype: type.dtype, shape: type.shape }
      : null;
  const parts = readForeign(read, "dtype", `${must} that can be read`, "type", fields);
  if (parts === null) {
    throw new TensorError("dtype", `${must}, got ${printValue(type)}`, {
      ...named(fields, "type"),
      got: factOf(type),
    });
  }
  const { dtype, shape } = parts;
  checkDType(dtype, fields);
  return { dtype, shape: partialShapeOf(shape, String(fields.input), fields) };
}
