/** Returns what the layout needs to know about a state's tensors. The page and the site's pictures use the same facts. */

import type { OperatorVersion } from "ndscatter";
import { roleOf } from "ndscatter/operators";
import type { State } from "../values/state.ts";
import type { Placed } from "./layout.ts";

export const roleAt = (version: OperatorVersion | null, position: number): string => {
  const schema = version?.inputs[position];
  return schema === undefined ? `input ${position}` : roleOf(schema);
};

/** `digits` has one entry per input, and a last entry for the output. A call without an output has no such table. */
export function placedOf(
  { inputs, op }: State,
  version: OperatorVersion | null,
  outputShape: readonly number[] | null,
  digits: readonly number[],
): Placed[] {
  const placed = inputs.flatMap((text, id): Placed[] =>
    text === null
      ? []
      : [
          {
            ...{ id, role: roleAt(version, id), shape: text.shape, rowNumbers: text.rows },
            ...{ digits: digits[id], name: version?.inputs[id]?.name ?? `input ${id}` },
          },
        ],
  );
  if (outputShape === null) return placed;
  // The rows of a gather's output are those of its indices.
  const source = placed.find(({ role }) => role === "data" && !op.includes("Gather"));
  const name = version?.outputs[0].name ?? "output";
  const output = { id: "output", role: "output", shape: outputShape, name } as const;
  return [
    ...placed,
    { ...output, digits: digits[digits.length - 1], rowNumbers: source?.rowNumbers },
  ];
}

/** Returns an operator's axis; NaN if the call does not specify an axis. */
export function axisOf(state: State, version: OperatorVersion | null): number {
  const text = state.inputs.find((_, position) => roleAt(version, position) === "axis")?.values[0];
  const axis = Number(text ?? state.attributes["axis"] ?? 0);
  const data = state.inputs.find((_, position) => roleAt(version, position) === "data");
  const batch = Number(state.attributes["batch_dims"] ?? 0);
  const at = axis < 0 ? axis + (data?.shape.length ?? 0) : axis;
  return batch === 0 ? at : NaN;
}
