/** What the rows of the registry say, as the page needs it: roles and data types of inputs, and texts of attributes. */

import {
  isDType,
  operators,
  roleOf,
  typesOf,
  type AttributeSchema,
  type DType,
  type OperatorVersion,
  type ParameterSchema,
  type Role,
} from "ndscatter";

/** The position of the input with that role; -1 where there is none. */
export const rolePosition = ({ inputs }: OperatorVersion, role: Role): number =>
  inputs.findIndex((one) => roleOf(one) === role);

/** The newest version of an operator; null where there is no such operator. */
export const newestOf = (domain: string, op: string): OperatorVersion | null =>
  operators().findLast((one) => one.domain === domain && one.name === op) ?? null;

/** The data types that a version takes for an input. */
export const dtypesOf = (version: OperatorVersion, { type }: ParameterSchema): DType[] =>
  typesOf(version, type).filter(isDType);

/** The value of an attribute when nothing is typed; null for an attribute that must be given. */
export function defaultText({ attributes }: OperatorVersion, name: string): string | null {
  const value = attributes.find((one) => one.name === name)?.default;
  return value === undefined ? null : String(value);
}

/** The text of an attribute that must be given, before anybody has typed one. */
export function firstText({ type, values, minimum = 0 }: AttributeSchema): string {
  if (values !== undefined) return values[0];
  return type === "boolean" ? "false" : type === "int" ? String(Math.max(minimum, 0)) : "";
}
