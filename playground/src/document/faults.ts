/** Sorts a call's errors by the part of the page where each error is shown. */

import type { DerivedShape, Explanation } from "ndscatter";
import type { Fault } from "./read-state.ts";

export interface Faults {
  readonly attributes: ReadonlyMap<string, string>;
  readonly whole: readonly string[];
  readonly inputs: ReadonlyMap<number, readonly Fault[]>;
}

export function sortFaults(faults: readonly Fault[]): Faults {
  const attributes = new Map<string, string>();
  const whole: string[] = [];
  const inputs = new Map<number, Fault[]>();
  for (const fault of faults) {
    const { place, sentence } = fault;
    if ("attribute" in place) attributes.set(place.attribute, sentence);
    else if ("whole" in place) whole.push(sentence);
    else inputs.set(place.input, [...(inputs.get(place.input) ?? []), fault]);
  }
  return { attributes, whole, inputs };
}

/** Returns a call's shape rules, except a broken rule that the call's error already reports. */
export function rulesBeside(explanation: Explanation | null): readonly DerivedShape[] {
  const { shapes = [], error = null } = explanation ?? {};
  const isReported = (of: string): boolean =>
    error?.code === "shape-mismatch" && error.input === of;
  return shapes.filter(({ of, fits }) => fits || !isReported(of));
}
