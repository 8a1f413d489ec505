/** Checks the data types of a call's inputs against the type constraints of its version. */

import { TensorError, type ErrorFields } from "../errors.ts";
import { reductionsOf, type DType, type Reduction } from "../tensor/dtype.ts";
import type { OperatorVersion } from "./operator.ts";

/**
 * Checks that the data type of data has the reduction, that the version accepts the data type of each input, and that
 * inputs with one type constraint have one data type.
 * @param siblings all versions of the operator, so that an error can name the version that accepts a data type
 * @throws TensorError `dtype` or `reduction`
 */
export function checkDTypes(
  version: OperatorVersion,
  siblings: readonly OperatorVersion[],
  inputs: readonly ({ readonly dtype: DType } | undefined)[],
  reduction: Reduction,
  fields: ErrorFields,
): void {
  // The first input is data, which is never optional.
  const common = (inputs[0] as { readonly dtype: DType }).dtype;
  const reductions = reductionsOf(common);
  if (!reductions.includes(reduction)) {
    const sentence = `${common} has no reduction ${JSON.stringify(reduction)}, only ${reductions.join(", ")}`;
    throw new TensorError("reduction", sentence, fields);
  }
  for (let position = 0; position < version.inputs.length; position++) {
    const { name: input, type } = version.inputs[position];
    const dtype = inputs[position]?.dtype;
    if (dtype === undefined) continue;
    const types = typesIn(version, type);
    if (!types.includes(dtype)) {
      const since = siblings.find((other) => typesIn(other, type).includes(dtype));
      const came = since === undefined ? "" : `; version ${since.sinceVersion} takes it`;
      throw new TensorError("dtype", `${input} must be ${oneOf(types)}, got ${dtype}${came}`, {
        ...fields,
        input,
      });
    }
    const first = version.inputs.findIndex((other) => other.type === type);
    if (inputs[first]?.dtype !== dtype) {
      const expected = `${version.inputs[first].name}, ${inputs[first]?.dtype}`;
      const sentence = `${input} must have the data type of ${expected}, got ${dtype}`;
      throw new TensorError("dtype", sentence, { ...fields, input });
    }
  }
}

/** The data types that a parameter's `type` stands for: those of the type constraint, or the one that it names. */
export const typesIn = (version: OperatorVersion, type: string): readonly string[] =>
  version.typeConstraints.find(({ name }) => name === type)?.types ?? [type];

const oneOf = (types: readonly string[]): string =>
  types.length === 1 ? types[0] : `one of ${types.join(", ")}`;
