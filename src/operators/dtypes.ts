/** Checks the data types of a call's inputs against the type constraints of its version. */

import { TensorError, type ErrorFields } from "../errors.ts";
import { hasReduction, reductionsOf, type DType, type Reduction } from "../tensor/dtype.ts";
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
  if (!hasReduction(common, reduction)) throw noReduction(common, reduction, fields);
  const constraints = constraintsOf(version);
  for (let position = 0; position < constraints.length; position++) {
    const dtype = inputs[position]?.dtype;
    if (dtype === undefined) continue;
    const { types, first } = constraints[position];
    if (!types.has(dtype)) throw wrongType(version, siblings, position, dtype, fields);
    const expected = inputs[first]?.dtype;
    if (expected !== dtype) throw otherType(version, position, first, dtype, expected, fields);
  }
}

/** What the row of a version says of the data type of an input. */
interface Constraint {
  readonly types: ReadonlySet<string>;
  /** The first input with the same type constraint. */
  readonly first: number;
}

/** Made of each row when it is first called: a set is asked ten times as fast as the frozen lists of rows. */
const CONSTRAINTS = new WeakMap<OperatorVersion, readonly Constraint[]>();

function constraintsOf(version: OperatorVersion): readonly Constraint[] {
  const known = CONSTRAINTS.get(version);
  if (known !== undefined) return known;
  const { inputs } = version;
  const constraints = inputs.map(({ type }) => ({
    types: new Set(typesIn(version, type)),
    first: inputs.findIndex((other) => other.type === type),
  }));
  CONSTRAINTS.set(version, constraints);
  return constraints;
}

// The errors are made in functions of their own: a function with a closure in it takes memory in each call.

function noReduction(dtype: DType, reduction: Reduction, fields: ErrorFields): TensorError {
  const known = reductionsOf(dtype).join(", ");
  const sentence = `${dtype} has no reduction ${JSON.stringify(reduction)}, only ${known}`;
  return new TensorError("reduction", sentence, fields);
}

function wrongType(
  version: OperatorVersion,
  siblings: readonly OperatorVersion[],
  position: number,
  dtype: DType,
  fields: ErrorFields,
): TensorError {
  const { name: input, type } = version.inputs[position];
  const since = siblings.find((other) => typesIn(other, type).includes(dtype));
  const came = since === undefined ? "" : `; version ${since.sinceVersion} takes it`;
  const sentence = `${input} must be ${oneOf(typesIn(version, type))}, got ${dtype}${came}`;
  return new TensorError("dtype", sentence, { ...fields, input });
}

function otherType(
  { inputs }: OperatorVersion,
  position: number,
  first: number,
  dtype: DType,
  expected: DType | undefined,
  fields: ErrorFields,
): TensorError {
  const { name: input } = inputs[position];
  const must = `must have the data type of ${inputs[first].name}, ${expected}`;
  return new TensorError("dtype", `${input} ${must}, got ${dtype}`, { ...fields, input });
}

/** The data types that a parameter's `type` stands for: those of the type constraint, or the one that it names. */
export const typesIn = (version: OperatorVersion, type: string): readonly string[] =>
  version.typeConstraints.find(({ name }) => name === type)?.types ?? [type];

const oneOf = (types: readonly string[]): string =>
  types.length === 1 ? types[0] : `one of ${types.join(", ")}`;
