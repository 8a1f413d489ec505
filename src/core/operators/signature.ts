/**
 * Facts about a version's inputs that every call needs, and the check of data types. The facts are computed once from
 * the version's row: reading rows takes V8 ten times as long, because rows are frozen lists of records with many
 * different forms.
 */

import { oneOf, TensorError, type ErrorContext } from "../errors.ts";
import { factOf, printValue } from "../foreign.ts";
import { hasReduction, reductionsOf, type DType, type Reduction } from "../tensor/dtype.ts";
import { roleOf, type Inputs, type OperatorVersion, type Role } from "./operator.ts";
import { TIND } from "./schemas.ts";

export interface Signature {
  readonly version: OperatorVersion;
  readonly inputs: readonly InputRule[];
  /** Position of the input with each role; -1 for a role without an input. */
  readonly positions: Readonly<Record<Role, number>>;
}

export interface InputRule {
  readonly name: string;
  readonly role: Role;
  readonly isOptional: boolean;
  /** Data types that the input accepts. */
  readonly types: ReadonlySet<string>;
  /** Data type that was accepted last, because a comparison takes a tenth of the time of a lookup. */
  accepted: string | undefined;
  /** Position of the first input with the same type constraint. */
  readonly first: number;
}

const SIGNATURES = new WeakMap<OperatorVersion, Signature>();

export function signatureOf(version: OperatorVersion): Signature {
  const known = SIGNATURES.get(version);
  if (known !== undefined) return known;
  const { inputs } = version;
  const at = (role: Role): number => inputs.findIndex((input) => roleOf(input) === role);
  const signature: Signature = {
    version,
    inputs: inputs.map((input) => ({
      name: input.name,
      role: roleOf(input),
      isOptional: input.optional === true,
      types: new Set(typesIn(version, input.type)),
      accepted: undefined,
      first: inputs.findIndex((other) => other.type === input.type),
    })),
    positions: {
      data: at("data"),
      indices: at("indices"),
      updates: at("updates"),
      axis: at("axis"),
    },
  };
  SIGNATURES.set(version, signature);
  return signature;
}

/** Returns the data types of a parameter's `type`: all types of a type constraint, or a single data type. */
export const typesIn = (version: OperatorVersion, type: string): readonly string[] =>
  version.typeConstraints.find(({ name }) => name === type)?.types ?? [type];

/** Input values by role; undefined for a role without an input, and for omitted inputs. */
export type ByRole<T> = Readonly<Record<Role, T | undefined>>;

/** Returns `Inputs` by role. */
export const byRole = <T>(version: OperatorVersion, given: Inputs<T>): ByRole<T> =>
  rolesOf(signatureOf(version), given);

export function rolesOf<T>({ positions }: Signature, given: Inputs<T>): ByRole<T> {
  const { data, indices, updates, axis } = positions;
  return {
    data: given[data],
    indices: given[indices],
    updates: updates < 0 ? undefined : given[updates],
    axis: axis < 0 ? undefined : given[axis],
  };
}

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
