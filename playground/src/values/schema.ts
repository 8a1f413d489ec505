/** Reads facts from the operator registry: roles and data types of inputs, and attribute defaults. */

import {
  isDType,
  operators,
  type AttributeSchema,
  type DType,
  type OperatorVersion,
  type ParameterSchema,
  type Role,
} from "ndscatter";
import { resolve, roleOf, typesOf } from "ndscatter/operators";
import { attempt } from "./attempt.ts";
import type { State } from "./state.ts";

export type IndexForm = OperatorVersion["indexForm"];

/** Returns the version of a state's operator; null for an unknown operator, domain or opset. */
export function versionOf({ domain, op, opset }: State): OperatorVersion | null {
  const version = attempt(() => resolve({ domain, op, opset }));
  return "error" in version ? null : version;
}

/** Returns the form of an operator's indices, which is the same in all versions; undefined for an unknown operator. */
export const indexFormOf = (op: string): IndexForm | undefined =>
  operators().find(({ name }) => name === op)?.indexForm;

/** Returns the position of the input with this role, or -1. */
export const rolePosition = ({ inputs }: OperatorVersion, role: Role): number =>
  inputs.findIndex((one) => roleOf(one) === role);

/** Returns an operator's newest version; null for an unknown operator. */
export const newestOf = (domain: string, op: string): OperatorVersion | null =>
  operators().findLast((one) => one.domain === domain && one.name === op) ?? null;

/** Returns the data types that a version accepts for an input. */
export const dtypesOf = (version: OperatorVersion, { type }: ParameterSchema): DType[] =>
  typesOf(version, type).filter(isDType);

/** Returns an attribute's default value; null for a required attribute. */
export function defaultText({ attributes }: OperatorVersion, name: string): string | null {
  const value = attributes.find((one) => one.name === name)?.default;
  return value === undefined ? null : String(value);
}

/** Returns the initial text of a required attribute. */
export function firstText({ type, values, minimum = 0 }: AttributeSchema): string {
  if (values !== undefined) return values[0];
  return type === "boolean" ? "false" : type === "int" ? String(Math.max(minimum, 0)) : "";
}

/** Identifies an operator, whatever its version. */
export const operatorKey = ({ domain, op }: Pick<State, "domain" | "op">): string =>
  `${domain}/${op}`;

/** Returns the available operators, each with its versions from newest to oldest. */
export function operatorGroups(): {
  domain: State["domain"];
  op: string;
  versions: OperatorVersion[];
}[] {
  const groups = new Map<string, OperatorVersion[]>();
  for (const version of operators()) {
    const key = operatorKey({ domain: version.domain, op: version.name });
    groups.set(key, [version, ...(groups.get(key) ?? [])]);
  }
  return [...groups.values()].map((versions) => {
    const [{ domain, name: op }] = versions;
    return { domain, op, versions };
  });
}
