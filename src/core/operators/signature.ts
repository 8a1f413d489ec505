/**
 * The facts that every call needs about a version's inputs, computed once from the version's row. V8 reads rows ten
 * times as slowly, because rows are frozen lists of records of many forms.
 */

import { roleOf, type Inputs, type OperatorVersion, type Role } from "./operator.ts";

export interface Signature {
  readonly version: OperatorVersion;
  readonly inputs: readonly InputRule[];
  /** The position of the input of each role; -1 without such an input. */
  readonly positions: Readonly<Record<Role, number>>;
}

export interface InputRule {
  readonly name: string;
  readonly role: Role;
  readonly isOptional: boolean;
  /** The accepted data types. */
  readonly types: ReadonlySet<string>;
  /** The data type of the last call that was accepted: comparing takes a tenth of the time of a lookup. */
  accepted: string | undefined;
  /** The position of the first input with the same type constraint. */
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

/** The data types of a parameter's `type`: those of the type constraint, or the single type that it names. */
export const typesIn = (version: OperatorVersion, type: string): readonly string[] =>
  version.typeConstraints.find(({ name }) => name === type)?.types ?? [type];

/** Values by role; undefined for a role without an input, and for an input that is left out. */
export type ByRole<T> = Readonly<Record<Role, T | undefined>>;

/** {@link Inputs} by role. */
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
