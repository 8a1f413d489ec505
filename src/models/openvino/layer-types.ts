/**
 * The meaning of a layer's type and version. A layer is either an operator in the registry, or one of a few other layer
 * types. Layer types are case-insensitive, as in OpenVINO.
 */

import type { OperatorVersion } from "../../core/operators/operator.ts";
import { operators } from "../../core/operators/registry.ts";

export const DOMAIN = "openvino";

const VALUE_TYPES: ReadonlyMap<string, "Parameter" | "Const" | "Result"> = new Map([
  ["parameter", "Parameter"],
  ["const", "Const"],
  ["constant", "Const"],
  ["result", "Result"],
]);

export const valueKind = (type: string): "Parameter" | "Const" | "Result" | null =>
  VALUE_TYPES.get(type.toLowerCase()) ?? null;

/** Operators that run without a Plan (see `model/inline.ts`). */
const INLINE: readonly string[] = ["Convert"];

const ROWS = operators().filter(({ domain }) => domain === DOMAIN);

const NAMES: ReadonlyMap<string, string> = new Map(
  [...ROWS.map(({ name }) => name), ...INLINE].map((name) => [name.toLowerCase(), name]),
);

/**
 * Returns an operator's name in the registry's spelling. An operator outside the registry keeps the file's spelling.
 */
export const operatorName = (type: string): string => NAMES.get(type.toLowerCase()) ?? type;

/**
 * Returns the registry's row for an operator in an opset, if any. The row has the attribute types, which an IR omits.
 */
export const operatorRow = (op: string, opset: number | undefined): OperatorVersion | undefined =>
  ROWS.findLast(
    ({ name, sinceVersion }) => name === op && opset !== undefined && sinceVersion <= opset,
  );

/** Returns the domain and the opset in a layer's version, such as `opset15` or `extension`. */
export function readVersion(version: string): { domain: string; opset: number } {
  const [, number] = /^opset([1-9]\d{0,4})$/i.exec(version) ?? [];
  if (number !== undefined) return { domain: DOMAIN, opset: Number(number) };
  return { domain: `${DOMAIN}.${version}`, opset: 0 };
}

/** Returns the layer version for a domain and an opset; null for a domain that an IR cannot express. */
export function printVersion(op: string, domain: string, opset: number): string | null {
  if (domain.startsWith(`${DOMAIN}.`)) return domain.slice(DOMAIN.length + 1);
  if (domain !== DOMAIN) return null;
  // `opset` may be the operator's own version number, which can be lower than the opset that introduced this version:
  // ScatterNDUpdate-3 came with opset 4.
  return `opset${Math.max(opset, operatorRow(op, opset)?.opset ?? opset)}`;
}
