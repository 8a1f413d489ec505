/** Determines a version's behaviour at the edges of an axis by calling it: an example with a changed first index. */

import type { IndexStory, OperatorVersion } from "ndscatter";
import { toHash } from "../../document/hash.ts";
import { explainState } from "../../document/read-state.ts";
import { rolePosition } from "../../values/schema.ts";
import type { State } from "../../values/state.ts";
import { inVersion, type Example } from "./calls.ts";

export interface Probe {
  /** The index, in terms of the size of its axis, such as `-s`. */
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
  ["-s - 1", (size) => -size - 1],
  ["-s", (size) => -size],
  ["-1", () => -1],
  ["0", () => 0],
  ["s - 1", (size) => size - 1],
  ["s", (size) => size],
];

/** Returns probes for the first example that the version runs, and for the first example in every other mode. */
export function probesOf(version: OperatorVersion, examples: readonly Example[]): Probes[] {
  const found = new Map<string, Probes>();
  for (const example of examples) {
    const mode = example.preset.state.attributes["mode"] ?? "";
    const probes = found.has(mode) ? null : probesFrom(version, example);
    if (probes !== null) found.set(mode, probes);
  }
  return [...found.values()];
}

/** Returns the probes of an example; null if the version does not run the example, or if indices are left out. */
function probesFrom(version: OperatorVersion, example: Example): Probes | null {
  const position = rolePosition(version, "indices");
  const state = inVersion(example.preset.state, version);
  const { faults, explanation, inputs } = explainState(state);
  const first = faults.length > 0 ? null : firstIndex(explanation?.story ?? null);
  const data = inputs[rolePosition(version, "data")];
  if (first === null || data === undefined || state.inputs[position] === null) return null;
  const [axis] = first.axes;
  const size = data.shape[axis];
  const probes = EDGES.map(([index, valueOf]) => probe(state, position, index, valueOf(size)));
  return { example, axis, size, probes };
}

/** Rules of a version for its indices, according to the registry. */
export interface Bounds {
  readonly negative: string;
  readonly outOfRange: string;
}

/**
 * Returns the bounds of a version; null if a call contradicts the registry, because the indices follow their own rules,
 * such as TensorScatter's sequence positions.
 */
export function boundsOf(
  { negativeIndices, outOfRange }: OperatorVersion,
  [first]: readonly Probes[],
): Bounds | null {
  const least = first?.probes.find(({ index }) => index === "-1");
  if (least !== undefined && least.isError === negativeIndices) return null;
  return {
    negative: negativeIndices ? "count from the end" : "out of range",
    outOfRange: outOfRange === "fill" ? "give 0" : "an error",
  };
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
      ? "no position: the output is 0 there"
      : `position ${places?.[0] ?? "unknown"}`;
  return { index, value, sentence, isError, hash: toHash(changed) };
}
