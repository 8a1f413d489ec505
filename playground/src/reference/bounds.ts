/** What a version does at the edges of an axis, found by calling it: an example with its first index changed. */

import type { IndexStory, OperatorVersion } from "ndscatter";
import { toHash } from "../model/hash.ts";
import { explainState } from "../model/read-state.ts";
import { rolePosition } from "../model/schema.ts";
import type { State } from "../model/state.ts";
import { inVersion, type Example } from "./calls.ts";

export interface Probe {
  /** The index in terms of the size of its axis, such as `-s`. */
  readonly index: string;
  readonly value: number;
  readonly sentence: string;
  readonly isError: boolean;
  readonly hash: string;
}

export interface Probes {
  /** The example that was changed. */
  readonly example: Example;
  readonly axis: number;
  readonly size: number;
  readonly probes: readonly Probe[];
}

const EDGES: readonly (readonly [string, (size: number) => number])[] = [
  ["s - 1", (size) => size - 1],
  ["s", (size) => size],
  ["-1", () => -1],
  ["-s", (size) => -size],
  ["-s - 1", (size) => -size - 1],
];

/** Null where no example of the operator runs in the version. */
export function probesOf(version: OperatorVersion, examples: readonly Example[]): Probes | null {
  const position = rolePosition(version, "indices");
  for (const example of examples) {
    const state = inVersion(example.preset.state, version);
    const { faults, explanation, inputs } = explainState(state);
    const first = faults.length > 0 ? null : firstIndex(explanation?.story ?? null);
    const data = inputs[rolePosition(version, "data")];
    if (first === null || data === undefined || state.inputs[position] === null) continue;
    const [axis] = first.axes;
    const size = data.shape[axis];
    const probes = EDGES.map(([index, valueOf]) => probe(state, position, index, valueOf(size)));
    return { example, axis, size, probes };
  }
  return null;
}

type Story = NonNullable<NonNullable<ReturnType<typeof explainState>["explanation"]>["story"]>;

const firstIndex = (story: Story | null): IndexStory | null =>
  (story?.kind === "scatter" ? story.updates : story?.reads)?.at(0)?.index ?? null;

function probe(state: State, position: number, index: string, value: number): Probe {
  const inputs = state.inputs.map((input, at) =>
    at === position && input !== null
      ? { ...input, values: input.values.with(0, String(value)) }
      : input,
  );
  const changed = { ...state, inputs };
  const { faults, explanation } = explainState(changed);
  const places = firstIndex(explanation?.story ?? null)?.places;
  const isError = faults.length > 0;
  const sentence = isError
    ? faults[0].sentence
    : places === null
      ? "no place: the output is 0 there"
      : `place ${places?.[0] ?? "unknown"}`;
  return { index, value, sentence, isError, hash: toHash(changed) };
}
