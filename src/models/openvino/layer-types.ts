/**
 * What the type and version of a layer mean: an operator that the registry has for openvino, or one of the few types of
 * layers that are no operators. Types match without regard to case, as in OpenVINO.
 */

import type { OperatorVersion } from "../../core/operators/operator.ts";
import { operators } from "../../core/operators/registry.ts";

export const DOMAIN = "openvino";

/** Layers that stand for values of the graph, by their types in lower case. */
const VALUE_TYPES: ReadonlyMap<string, "Parameter" | "Const" | "Result"> = new Map([
  ["parameter", "Parameter"],
  ["const", "Const"],
  ["constant", "Const"],
  ["result", "Result"],
]);

/** Which kind of value a layer stands for, or null where it is an operator. */
export const valueKind = (type: string): "Parameter" | "Const" | "Result" | null =>
  VALUE_TYPES.get(type.toLowerCase()) ?? null;

/** Operators that run without a Plan: see `model/inline.ts`. */
const INLINE: readonly string[] = ["Convert"];

const ROWS = operators().filter(({ domain }) => domain === DOMAIN);

/** Names of operators by their lower case. */
const NAMES: ReadonlyMap<string, string> = new Map(
  [...ROWS.map(({ name }) => name), ...INLINE].map((name) => [name.toLowerCase(), name]),
);

/** An operator's name as the registry spells it, or as the file does where the registry lacks the operator. */
export const operatorName = (type: string): string => NAMES.get(type.toLowerCase()) ?? type;

/**
 * The version of an operator that counts in an opset, if the registry has one. Its row says the types of attributes, which an
 * IR does not.
 */
export const operatorRow = (op: string, opset: number | undefined): OperatorVersion | undefined =>
  ROWS.findLast(
    ({ name, sinceVersion }) => name === op && opset !== undefined && sinceVersion <= opset,
  );

/** The domain and operator set that a layer's version names: `opset15`, or a word such as `extension`. */
export function readVersion(version: string): { domain: string; opset: number } {
  const [, number] = /^opset([1-9]\d{0,4})$/i.exec(version) ?? [];
  if (number !== undefined) return { domain: DOMAIN, opset: Number(number) };
  return { domain: `${DOMAIN}.${version}`, opset: 0 };
}

/** The reverse of {@link readVersion}; null for a domain that an IR cannot express. */
export function printVersion(op: string, domain: string, opset: number): string | null {
  if (domain.startsWith(`${DOMAIN}.`)) return domain.slice(DOMAIN.length + 1);
  if (domain !== DOMAIN) return null;
  // A node may have the operator's own version number, which can be lower than the opset that introduced it.
  return `opset${Math.max(opset, operatorRow(op, opset)?.opset ?? opset)}`;
}
