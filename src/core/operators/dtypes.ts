/** Checks the data types of a call's inputs against the type constraints of the operator version. */

import { factOf, printValue } from "../foreign.ts";
import { oneOf, TensorError, type ErrorContext } from "../errors.ts";
import { hasReduction, reductionsOf, type DType, type Reduction } from "../tensor/dtype.ts";
import type { OperatorVersion } from "./operator.ts";
import { typesIn, type Signature } from "./signature.ts";
import { TIND } from "./types.ts";

/**
 * Checks that data's type supports the reduction, that the version accepts each input's data type, and that inputs with
 * the same type constraint have the same data type.
 * @param siblings all versions of the operator, so that an error can name a version that accepts the data type
 * @throws TensorError `dtype` or `reduction`
 */
export function checkDTypes(
  { version, inputs: rules }: Signature,
  siblings: readonly OperatorVersion[],
  inputs: readonly ({ readonly dtype: DType } | undefined)[],
  reduction: Reduction,
  fields: ErrorContext,
): void {
  // The first input is always data, which is required.
  const common = (inputs[0] as { readonly dtype: DType }).dtype;
  if (!hasReduction(common, reduction)) throw noReduction(common, reduction, fields);
  for (let position = 0; position < rules.length; position++) {
    const dtype = inputs[position]?.dtype;
    if (dtype === undefined) continue;
    const rule = rules[position];
    const expected = inputs[rule.first]?.dtype;
    if (expected !== dtype || (rule.accepted !== dtype && !rule.types.has(dtype))) {
      throw typeError(version, siblings, position, dtype, expected, fields);
    }
    rule.accepted = dtype;
  }
}

// Separate functions create the errors, because a function that contains a closure allocates memory in each call.

export function noReduction(dtype: DType, word: unknown, fields: ErrorContext): TensorError {
  const allowed = reductionsOf(dtype);
  const must = allowed.length === 1 ? "must be" : "must be one of";
  const sentence = `the reduction of ${dtype} ${must} ${allowed.join(", ")}, got ${printValue(word)}`;
  return new TensorError("reduction", sentence, { ...fields, got: factOf(word), allowed });
}

/**
 * Creates the error for an input with a wrong data type.
 * @param expected the data type of the first input with the same type constraint
 */
function typeError(
  version: OperatorVersion,
  siblings: readonly OperatorVersion[],
  position: number,
  dtype: DType,
  expected: DType | undefined,
  fields: ErrorContext,
): TensorError {
  const { name: input, type } = version.inputs[position];
  const types = typesIn(version, type);
  const isTaken = types.includes(dtype);
  const since = siblings.find((other) => typesIn(other, type).includes(dtype));
  const came = isTaken || since === undefined ? "" : `; version ${since.sinceVersion} accepts it`;
  const first = version.inputs.find((other) => other.type === type)?.name;
  const must = isTaken ? `have the data type of ${first}, ${expected}` : `be ${oneOf(types)}`;
  // A node's error names a version instead, and the command adds its own advice.
  const isList = fields.opset === undefined && types === TIND.types;
  const advice = isList ? '; use tensor(…, "int64")' : came;
  const sentence = `${input} must ${must}, got ${dtype}${advice}`;
  const rule = isTaken ? { expected, other: first } : { allowed: types };
  return new TensorError("dtype", sentence, { ...fields, input, got: dtype, ...rule });
}
