/** Calls every example of an operator in each version of the operator, and by the rules of other systems. */

import { compareDialects, equals, type DialectComparison, type OperatorVersion } from "ndscatter";
import { toHash } from "../../document/hash.ts";
import type { Preset } from "../../examples/preset.ts";
import { PRESETS } from "../../examples/presets.ts";
import { explainState, type ExplainedState } from "../../document/read-state.ts";
import type { State } from "../../values/state.ts";
import type { Family } from "./families.ts";

/** The result of an example in one version. */
export interface Outcome {
  readonly version: OperatorVersion;
  /** The value "same" if the bits, or the refusal, equal those of the example's own version. */
  readonly is: "same" | "other" | "refused";
  /** The reason why the call is refused; empty for a result. */
  readonly sentence: string;
  readonly hash: string;
}

export interface Example {
  readonly preset: Preset;
  readonly explained: ExplainedState;
  readonly hash: string;
  /** Outcomes, in the order of the versions. */
  readonly outcomes: readonly Outcome[];
  /** Results of other systems; empty if the call is invalid for any indices. */
  readonly elsewhere: readonly DialectComparison[];
}

export const examplesOf = ({ domain, name, versions }: Family): Example[] =>
  PRESETS.filter(({ state }) => state.domain === domain && state.op === name).map((preset) => {
    const explained = explainState(preset.state);
    return {
      preset,
      explained,
      hash: toHash(preset.state),
      outcomes: versions.map((version) => outcomeOf(preset.state, version, explained)),
      elsewhere: elsewhereOf(explained),
    };
  });

/** Returns the same call in another version. */
export const inVersion = (state: State, { sinceVersion }: OperatorVersion): State => ({
  ...state,
  opset: sinceVersion,
});

function outcomeOf(state: State, version: OperatorVersion, own: ExplainedState): Outcome {
  const moved = inVersion(state, version);
  const { faults, explanation } = explainState(moved);
  const result = explanation?.output ?? null;
  const wanted = own.explanation?.output ?? null;
  const isRefused = result === null || faults.length > 0;
  const isSame = isRefused ? wanted === null : wanted !== null && equals(result, wanted);
  return {
    version,
    is: isSame ? "same" : isRefused ? "refused" : "other",
    sentence: faults[0]?.sentence ?? "",
    hash: toHash(moved),
  };
}

function elsewhereOf({ node, inputs, explanation }: ExplainedState): readonly DialectComparison[] {
  if (explanation === null) return [];
  const { error, badCount } = explanation;
  return error === null || badCount > 0 ? compareDialects(node, inputs) : [];
}
