/**
 * The meaning of a layer's type and version: an openvino operator of the registry, or one of the few layer types that
 * are not operators. Types match case-insensitively, as in OpenVINO.
 */

import type { OperatorVersion } from "../../core/operators/operator.ts";
import { operators } from "../../core/operators/registry.ts";

export const DOMAIN = "openvino";

/** Layers that represent values of the graph, by lower-case type. */
const VALUE_TYPES: ReadonlyMap<string, "Parameter" | "Const" | "Result"> = new Map([
  ["parameter", "Parameter"],
  ["const", "Const"],
  ["constant", "Const"],
  ["result", "Result"],
]);

/** Returns the kind of value that a layer represents, or null for an operator. */
export const valueKind = (type: string): "Parameter" | "Const" | "Result" | null =>
  VALUE_TYPES.get(type.toLowerCase()) ?? null;

/** The operators that run without a Plan: see `model/inline.ts`. */
const INLINE: readonly string[] = ["Convert"];

const ROWS = operators().filter(({ domain }) => domain === DOMAIN);

/** Operator names by their lower-case form. */
const NAMES: ReadonlyMap<string, string> = new Map(
  [...ROWS.map(({ name }) => name), ...INLINE].map((name) => [name.toLowerCase(), name]),
);

/** Returns an operator's name in the registry's spelling, or in the file's if the registry lacks the operator. */
export const operatorName = (type: string): string => NAMES.get(type.toLowerCase()) ?? type;

/**
 * Returns the version of an operator that applies in an opset, if the registry has one. Its row has the types of
 * attributes, which an IR omits.
 */
export const operatorRow = (op: string, opset: number | undefined): OperatorVersion | undefined =>
  ROWS.findLast(
    ({ name, sinceVersion }) => name === op && opset !== undefined && sinceVersion <= opset,
  );

/** Returns the domain and operator set of a layer's version: `opset15`, or a word such as `extension`. */
export function readVersion(version: string): { domain: string; opset: number } {
  const [, number] = /^opset([1-9]\d{0,4})$/i.exec(version) ?? [];
  if (number !== undefined) return { domain: DOMAIN, opset: Number(number) };
  return { domain: `${DOMAIN}.${version}`, opset: 0 };
}

/** Returns the reverse of {@link readVersion}, or null for a domain that an IR cannot express. */
export function printVersion(op: string, domain: string, opset: number): string | null {
  if (domain.startsWith(`${DOMAIN}.`)) return domain.slice(DOMAIN.length + 1);
  if (domain !== DOMAIN) return null;
  // `opset` may be the operator's own version number, which can be lower than the opset that introduced this version:
  // ScatterNDUpdate-3 came with opset 4.
  return `opset${Math.max(opset, operatorRow(op, opset)?.opset ?? opset)}`;
}
