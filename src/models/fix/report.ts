/** The report of `fixModel`. */

import type { Verdict } from "../verify/verdicts.ts";
import type { VerifyReport } from "../verify/verify.ts";
import type { ModelRuns } from "./measure.ts";
import type { SessionSettings } from "../verify/session.ts";

/** A node that is wrong or not reproducible. */
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
  /** The reason why the node cannot be rewritten; null if the cured model rewrites it. */
  readonly uncured: string | null;
}

/** A row of docs/known-faults.md. */
export interface KnownFaultId {
  readonly id: string;
  readonly fault: string;
  readonly cure: string;
}

/** A possible cure, as measured in the user's runtime. */
export interface Cure {
  /** A session setting; another model; or a session made by `createExactSession`. */
  readonly kind: "setting" | "model" | "exact-session";
  /** A title such as `one thread`. */
  readonly title: string;
  /** The session options; null for other kinds, and for a session of `others`. */
  readonly settings: SessionSettings | null;
  /** The ONNX file of the cured model; null for other kinds. */
  readonly model: Uint8Array | null;
  /** The option `nodes` of `createExactSession`; null for other kinds. */
  readonly nodes: "all" | readonly string[] | null;
  /** Other changes and assumptions of the cure, a sentence each. */
  readonly notes: readonly string[];
  /**
   * The number of runs of single faulty nodes on their real inputs, and the number of these runs that gave the exact
   * bits.
   */
  readonly nodeRuns: number;
  readonly rightRuns: number;
  /** The runs of the whole model. */
  readonly whole: ModelRuns;
  /** The time of a run divided by that of the plain session; null if either does not run. */
  readonly ratio: number | null;
  /** The runtime's message if the runtime failed; otherwise null. */
  readonly problem: string | null;
  /** True if the outputs are those of the option `expected`; null without the option, or if the cure fails. */
  readonly isExpected: boolean | null;
  /** True if every node run was exact, and all runs of the model gave the same result, which is the expected one. */
  readonly isRight: boolean;
}

/** The result of {@link fixModel}: the fault, and each cure that was tried, with its measurements. */
export interface FixReport {
  /** True if no fault was found, so that no cure was tried. */
  readonly agrees: boolean;
  /** The fault of the model as a whole, such as an opset that the runtime does not load; else null. */
  readonly fault: KnownFaultId | null;
  /** The report of `verifyModel` on the model, or on a conversion to an opset that the runtime loads. */
  readonly verified: VerifyReport;
  /** Nodes that are wrong or not reproducible. */
  readonly faulty: readonly FaultyNodeReport[];
  /** The runs of the original model. */
  readonly plain: ModelRuns;
  /** The cures that were tried, in order of increasing cost. */
  readonly cures: readonly Cure[];
  /** The chosen cure; null if no cure is correct. */
  readonly chosen: Cure | null;
  /** Settings that could not be tried, because `createSession` did not read them from its second parameter. */
  readonly ignored: readonly string[];
}

/** The progress of {@link fixModel}. */
export interface FixProgress {
  /** The current step, such as */
  readonly what: string;
}
