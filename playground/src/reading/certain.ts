/** Assigns tensors to inputs if only one assignment fits. This module is loaded when the first tensors are opened. */

import { resolve } from "ndscatter/operators";
import type { State } from "../values/state.ts";
import { printNames } from "../values/names.ts";
import { matched, operatorRemark, withAssignment, type NamedTensor } from "./named.ts";

/** Returns the state with the new tensors as its inputs, and a remark; null if names and shapes are ambiguous. */
export function certainOf(
  tensors: readonly NamedTensor[],
  state: State,
): { readonly state: State; readonly remarks: readonly string[] } | null {
  const { assignment, isSure } = matched(tensors, state);
  if (!isSure) return null;
  const names = resolve(state).inputs.map(({ name }) => name);
  const pairs = assignment.flatMap((number, position) =>
    number === null ? [] : [[tensors[number].name, names[position]] as const],
  );
  const kept = names.filter(
    (_, position) => assignment[position] === null && state.inputs[position] !== null,
  );
  const made = withAssignment(state, tensors, assignment);
  return {
    state: made.state,
    remarks: [
      pairs.every(([file, name]) => file === name)
        ? `The page read ${printNames(pairs.map(([, name]) => name))}.`
        : `By names and shapes, ${pairs.map(([file, name]) => `${file} is ${name}`).join(", ")}.`,
      ...(kept.length === 0
        ? []
        : [`${printNames(kept)} ${kept.length === 1 ? "stays" : "stay"} as before.`]),
      ...made.remarks,
      operatorRemark(state),
    ],
  };
}
