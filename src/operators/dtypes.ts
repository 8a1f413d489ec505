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
  if (!has(reductions, reduction)) {
    const sentence = `${common} has no reduction ${JSON.stringify(reduction)}, only ${reductions.join(", ")}`;
    throw new TensorError("reduction", sentence, fields);
  }
  for (let position = 0; position < version.inputs.length; position++) {
    const { name: input, type } = version.inputs[position];
    const dtype = inputs[position]?.dtype;
    if (dtype === undefined) continue;
    const types = typesIn(version, type);
    if (!has(types, dtype)) {
      const since = siblings.find((other) => typesIn(other, type).includes(dtype));
      const came = since === undefined ? "" : `; version ${since.sinceVersion} takes it`;
      throw new TensorError("dtype", `${input} must be ${oneOf(types)}, got ${dtype}${came}`, {
        ...fields,
        input,
      });
    }
    let first = 0;
    while (version.inputs[first].type !== type) first++;
    if (inputs[first]?.dtype !== dtype) {
      const expected = `${version.inputs[first].name}, ${inputs[first]?.dtype}`;
      const sentence = `${input} must have the data type of ${expected}, got ${dtype}`;
      throw new TensorError("dtype", sentence, { ...fields, input });
    }
  }
}

/** The data types that a parameter's `type` stands for: those of the type constraint, or the one that it names. */
export function typesIn({ typeConstraints }: OperatorVersion, type: string): readonly string[] {
  // A loop, because every call comes here.
  for (let at = 0; at < typeConstraints.length; at++) {
    if (typeConstraints[at].name === type) return typeConstraints[at].types;
  }
  return [type];
}

/** A loop, because on the frozen lists of rows `includes` takes three times as long. */
function has(words: readonly string[], word: string): boolean {
  for (let at = 0; at < words.length; at++) if (words[at] === word) return true;
  return false;
}

const oneOf = (types: readonly string[]): string =>
  types.length === 1 ? types[0] : `one of ${types.join(", ")}`;
