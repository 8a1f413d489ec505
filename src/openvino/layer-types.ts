/**
 * What a layer means: the operators that the registry has for openvino, and the few types of layers that are none of
 * them. Types match without regard to case, as OpenVINO takes them.
 */

import type { OperatorVersion } from "../operators/operator.ts";
import { operators } from "../operators/registry.ts";

export const DOMAIN = "openvino";

/** Layers that stand for values of the graph, by their types in small letters. */
const VALUES: ReadonlyMap<string, "Parameter" | "Const" | "Result"> = new Map([
  ["parameter", "Parameter"],
  ["const", "Const"],
  ["constant", "Const"],
  ["result", "Result"],
]);

/** Which kind of value a layer stands for, or null where it is an operator. */
export const valueKind = (type: string): "Parameter" | "Const" | "Result" | null =>
  VALUES.get(type.toLowerCase()) ?? null;

/** Operators that run without a Plan: see `model/inline.ts`. */
const INLINE: readonly string[] = ["Convert"];

const rows = (): readonly OperatorVersion[] =>
  operators().filter(({ domain }) => domain === DOMAIN);

/** An operator's name as the registry spells it; of one that it has not, as the file does. */
export function operatorName(type: string): string {
  const plain = type.toLowerCase();
  const known = [...rows().map(({ name }) => name), ...INLINE];
  return known.find((name) => name.toLowerCase() === plain) ?? type;
}

/** The row that says what an operator of an opset takes, if there is one. */
export const rowOf = (op: string, opset: number | undefined): OperatorVersion | undefined =>
  rows().findLast(
    ({ name, sinceVersion }) => name === op && opset !== undefined && sinceVersion <= opset,
  );

/** The version of a layer as a domain and an operator set: `opset15`, or a word such as `extension`. */
export function readVersion(version: string): { domain: string; opset: number } {
  const [, number] = /^opset([1-9]\d{0,4})$/i.exec(version) ?? [];
  if (number !== undefined) return { domain: DOMAIN, opset: Number(number) };
  return { domain: `${DOMAIN}.${version}`, opset: 0 };
}

/** The reverse; null for a domain that an IR cannot say. */
export function printVersion(op: string, domain: string, opset: number): string | null {
  if (domain.startsWith(`${DOMAIN}.`)) return domain.slice(DOMAIN.length + 1);
  if (domain !== DOMAIN) return null;
  // A node may have the operator's own version number, which can be less than the opset that brought it.
  return `opset${Math.max(opset, rowOf(op, opset)?.opset ?? opset)}`;
}
