/** Assigns tensors to inputs if only one assignment fits. The module is loaded with the first tensors. */

import { resolve } from "ndscatter";
import { withOperator } from "../document/with-operator.ts";
import type { State } from "../values/state.ts";
import { matched, withAssignment, type NamedTensor } from "./named.ts";

/** The state with the tensors in its inputs, and a remark on the assignment; null if names and shapes are ambiguous. */
export function certainOf(
  tensors: readonly NamedTensor[],
  state: State,
): { readonly state: State; readonly remarks: readonly string[] } | null {
  const { assignment, isSure } = matched(
    tensors,
    state,
    (choice) => withOperator(state, choice).state,
  );
  if (!isSure) return null;
  const names = resolve(state).inputs.map(({ name }) => name);
  const parts = assignment.flatMap((number, position) =>
    number === null ? [] : [`${tensors[number].name} is ${names[position]}`],
  );
  const kept = names.filter(
    (_, position) => assignment[position] === null && state.inputs[position] !== null,
  );
  return {
    state: withAssignment(state, tensors, assignment),
    remarks: [
      `By names and shapes, ${parts.join(", ")}.`,
      ...(kept.length === 0 ? [] : [`${kept.join(" and ")} stays as it was.`]),
    ],
  };
}
