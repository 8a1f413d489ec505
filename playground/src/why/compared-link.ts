/**
 * Writes and reads an output for comparison as the suffix of a URL, such as `!float32:4:1,10,20,4;digits=4;beside=jax`.
 * The link opens the same comparison.
 */

import type { DialectId } from "ndscatter";
import { attempt } from "../values/attempt.ts";
import { parseInput, printInput } from "../values/call-text.ts";
import type { TensorText } from "../values/state.ts";
import { DIALECT_NAMES } from "./dialect-names.ts";
import type { Rounding } from "./printed-digits.ts";

export interface Compared {
  readonly text: TensorText;
  readonly rounding: Rounding | null;
  readonly beside: DialectId | null;
}

export function printCompared({ text, rounding, beside }: Compared): string {
  const { decimals, isScientific } = rounding ?? { decimals: 0, isScientific: false };
  return [
    `!${printInput(text)}`,
    ...(rounding === null ? [] : [`digits=${decimals}${isScientific ? "e" : ""}`]),
    ...(beside === null ? [] : [`beside=${beside}`]),
  ].join(";");
}

/** Parses the output of `printCompared`; returns null for any other suffix. */
export function readCompared(suffix: string): Compared | null {
  const [tensor, ...parts] = suffix.replace(/^!/, "").split(";");
  const found = attempt(() => parseInput(tensor));
  if (found === null || "error" in found) return null;
  const digits = parts.map((part) => /^digits=(\d{1,2})(e?)$/.exec(part)).find(Boolean);
  const name = parts.find((part) => part.startsWith("beside="))?.slice(7) ?? "";
  return {
    text: found,
    rounding: digits ? { decimals: Number(digits[1]), isScientific: digits[2] === "e" } : null,
    beside: Object.hasOwn(DIALECT_NAMES, name) ? (name as DialectId) : null,
  };
}
