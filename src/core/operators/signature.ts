/**
 * Facts about a version's inputs that every call needs, computed once from the version's row. Reading rows takes V8 ten
 * times as long, because rows are frozen lists of records with many different forms.
 */

import { roleOf, type Inputs, type OperatorVersion, type Role } from "./operator.ts";

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
