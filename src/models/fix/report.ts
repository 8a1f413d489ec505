/** The report of `fixModel`, and the choice among correct fixes. */

import { FIX } from "../../core/limits.ts";
import type { Verdict } from "../verify/verdicts.ts";
import type { VerifyReport } from "../verify/verify.ts";
import type { ModelRuns } from "./measure.ts";
import type { SessionSettings } from "../verify/session.ts";

/** A node whose result is wrong or not reproducible. */
export interface FaultyNodeReport {
  readonly path: string;
  readonly op: string;
  readonly verdict: Verdict;
  /** False if another run gave a different result for the same inputs. */
  readonly isReproducible: boolean;
  /** A sentence that describes the fault. */
  readonly sentence: string;
  /** The matching rows of docs/known-faults.md; empty for an unknown fault. */
  readonly faults: readonly KnownFaultId[];
  /** Explains why the node cannot be rewritten; null if the fixed model rewrites the node. */
  readonly uncured: string | null;
}

/**
 * A row of docs/known-faults.md: the name of its model in `examples/faults/`, and sentences about the fault and the
 * fix.
 */
export interface KnownFaultId {
  readonly id: string;
  readonly fault: string;
  readonly cure: string;
}

/** A possible fix, with its measurements in the user's runtime. */
export interface Cure {
  /** The kind of fix: a session setting, another model, or a session made by `createExactSession`. */
  readonly kind: "setting" | "model" | "exact-session";
  /** The fix's title, such as `one thread`. */
  readonly title: string;
  /** The session options; null for other kinds of fixes, and for a session from the option `others`. */
  readonly settings: SessionSettings | null;
  /** The bytes of the fixed ONNX file; null for other kinds of fixes. */
  readonly model: Uint8Array | null;
  /** The value for the option `nodes` of `createExactSession`; null for other kinds of fixes. */
  readonly nodes: "all" | readonly string[] | null;
  /** Sentences about other changes to the model and about assumptions. */
  readonly notes: readonly string[];
  /**
   * The number of test runs of single faulty nodes with their captured inputs, and the number of runs with exact
   * results.
   */
  readonly nodeRuns: number;
  readonly rightRuns: number;
  /** The measured runs of the whole model. */
  readonly whole: ModelRuns;
  /** The time per run, divided by the original session's time per run; null if either session failed. */
  readonly ratio: number | null;
  /** The runtime's message if the runtime failed; otherwise null. */
  readonly problem: string | null;
  /** True if the outputs match the option `expected`; null without this option, or if the fix failed. */
  readonly isExpected: boolean | null;
  /**
   * True if all node runs were exact, all model runs gave the same result, and this result matches the expected
   * outputs, if any.
   */
  readonly isRight: boolean;
}

/** The result of {@link fixModel}: the fault, and all tried fixes with their measurements. */
export interface FixReport {
  /** True if no fault was found, in which case no fix was tried. */
  readonly agrees: boolean;
  /** The fault of the whole model, such as an opset that is too new for the runtime; otherwise null. */
  readonly fault: KnownFaultId | null;
  /**
   * The report of `verifyModel` on the model. If the runtime cannot load the model's opset, the report is about a
   * converted model.
   */
  readonly verified: VerifyReport;
  /** The nodes whose results are wrong or not reproducible. */
  readonly faulty: readonly FaultyNodeReport[];
  /** The measured runs of the original model. */
  readonly plain: ModelRuns;
  /** All tried fixes, in order of increasing cost. */
  readonly cures: readonly Cure[];
  /** The chosen fix; null if no fix is correct. */
  readonly chosen: Cure | null;
  /** The settings that were not tried, because `createSession` did not read its second parameter. */
  readonly ignored: readonly string[];
}

/** The progress of {@link fixModel}. */
export interface FixProgress {
  /** The current step, such as `one thread: the whole model`. */
  readonly what: string;
}

/**
 * A later fix is chosen if its time is below this fraction of an earlier fix's time, because medians of short runs
 * vary. A later setting never replaces an earlier setting, because its results may be correct by chance. The first
 * setting is a single thread, which cannot race. An exact session must save more time, because it makes the model
 * depend on this package.
 */
const WORTH_IT: Readonly<Record<Cure["kind"], number>> = {
  setting: 0,
  model: 0.8,
  "exact-session": 0.5,
};

/** Chooses one of the correct fixes. */
export function cheapestOf(cures: readonly Cure[]): Cure | null {
  let best: Cure | null = null;
  for (const cure of cures.filter(({ isRight }) => isRight)) {
    const [time, known] = [cure.whole.time ?? Infinity, best?.whole.time ?? Infinity];
    const isCheaper = time < known * WORTH_IT[cure.kind] && known - time > FIX.saving;
    if (best === null || isCheaper) best = cure;
  }
  return best;
}
