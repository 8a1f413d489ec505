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
  /** False if another run gave another result for the same inputs. */
  readonly isReproducible: boolean;
  /** A sentence that says what is wrong. */
  readonly sentence: string;
  /** The rows of docs/known-faults.md that describe it; empty for a fault that is not known. */
  readonly faults: readonly KnownFaultId[];
  /** Why no other words for the node are known; null if the cured model rewrites it. */
  readonly uncured: string | null;
}

/** A row of docs/known-faults.md. */
export interface KnownFaultId {
  readonly id: string;
  readonly fault: string;
  readonly cure: string;
}

/** Something that may cure the faults, as it was measured in the user's runtime. */
export interface Cure {
  /** A setting of the session; another model; or a session made by `createExactSession`. */
  readonly kind: "setting" | "model" | "exact-session";
  /** Such as `one thread`. */
  readonly title: string;
  /** The options of the session; null for another kind, and for a session of `others`. */
  readonly settings: SessionSettings | null;
  /** The ONNX file of the cured model; null for another kind. */
  readonly model: Uint8Array | null;
  /** The option `nodes` of `createExactSession`; null for another kind. */
  readonly nodes: "all" | readonly string[] | null;
  /** Other changes and assumptions of the cure, a sentence each. */
  readonly notes: readonly string[];
  /** The number of runs of faulty nodes alone on their real inputs, and of those that gave the exact bits. */
  readonly nodeRuns: number;
  readonly rightRuns: number;
  /** Runs of the whole model. */
  readonly whole: ModelRuns;
  /** The time of a run beside that of the plain session; null where one of them does not run. */
  readonly ratio: number | null;
  /** The runtime's message if it failed; null if it did not. */
  readonly problem: string | null;
  /** True where every run of the nodes was exact and all runs of the model gave one result. */
  readonly isRight: boolean;
}

export interface FixReport {
  /** True if nothing is wrong: no cure was looked for. */
  readonly agrees: boolean;
  /** The fault of the model as a whole, such as an opset that the runtime does not load; null if it has none. */
  readonly fault: KnownFaultId | null;
  /** The report of `verifyModel` on the model, or on the model at an opset that the runtime loads. */
  readonly verified: VerifyReport;
  /** Nodes that are wrong or not reproducible. */
  readonly faulty: readonly FaultyNodeReport[];
  /** The model as it is. */
  readonly plain: ModelRuns;
  /** The cures that were tried, from cheap to dear. */
  readonly cures: readonly Cure[];
  /** The cheapest cure that is right; null if none is. */
  readonly chosen: Cure | null;
  /** Settings that could not be tried, because `createSession` did not read them from its second parameter. */
  readonly ignored: readonly string[];
}

export interface FixProgress {
  /** The present step, such as `one thread: node "sum" alone`. */
  readonly what: string;
}
