/**
 * Provides a public list of how other systems handle indices, repeated targets and floats. The file `dialect-table.ts`
 * contains the facts.
 */

import {
  DIALECTS,
  type AspectWords,
  type Behavior,
  type DialectId,
  type DialectRecord,
  type Evidence,
} from "./dialect-table.ts";
import type { IndexForm } from "../../core/operators/operator.ts";
import type { DType } from "../../core/tensor/dtype.ts";
import { DIAGNOSES, type DiagnosisId } from "./diagnosis.ts";

export type { DialectId };

/**
 * The aspect that a fact describes: negative indices; out-of-range indices in scatters and in gathers; repeated targets
 * without a reduction; the update order of a reduction; NaN, and 0 with -0, in max and min; float16 and bfloat16
 * reductions; the data type used in computations; integer means; empty index tuples; string gathers.
 */
export type DialectAspect =
  | "negative"
  | "scatters"
  | "gathers"
  | "repeats"
  | "sums"
  | "compares"
  | "halves"
  | "types"
  | "means"
  | "wholes"
  | "strings";

// prettier-ignore
const ASPECTS: readonly DialectAspect[] = [
  "negative", "scatters", "gathers", "repeats", "sums", "compares", "halves", "types", "means", "wholes", "strings",
];

/** The kind of evidence for a fact. With `run`, this project observed the behavior in the listed dialect version. */
export type DialectEvidence = "run" | "source" | "document" | "not verified";

const EVIDENCE: readonly Evidence[] = ["run", "source", "document"];

/** One aspect of a runtime's behavior, such as how it handles negative indices. */
export interface DialectFact {
  readonly aspect: DialectAspect;
  /** The index form or the data type for which the behavior differs; null if the fact applies to all others. */
  readonly of: IndexForm | DType | null;
  /** A word that describes the behavior. The file `docs/other-systems.md` explains these words. */
  readonly does: string;
  /** The id that `diagnose` reports for this behavior; null for the specified behavior and for errors. */
  readonly id: DiagnosisId | null;
  readonly how: DialectEvidence;
}

/** A runtime or library, with its known behavior. */
export interface Dialect {
  readonly id: DialectId;
  /** The dialect version that was tested, or whose source or documentation was read. */
  readonly version: string;
  /**
   * The URL of the dialect's documentation or source. The file `docs/other-systems.md` lists the URLs for individual
   * facts.
   */
  readonly source: string;
  readonly facts: readonly DialectFact[];
}

export const DIALECT_IDS = /* @__PURE__ */ Object.keys(DIALECTS) as readonly DialectId[];

/**
 * Returns all dialects with their known behavior, the evidence and its sources. Each call returns a new list.
 *
 * @example
 * ```ts
 * dialects().some(({ id }) => id === "numpy"); // true
 * ```
 */
export const dialects = (): readonly Dialect[] =>
  DIALECT_IDS.map((id) => {
    const { version, url } = DIALECTS[id];
    return { id, version, source: url, facts: factsOf(DIALECTS[id]) };
  });

/**
 * Returns a dialect's facts, one per aspect, and additional facts for index forms and data types with different
 * behavior.
 */
const factsOf = (record: DialectRecord): readonly DialectFact[] =>
  ASPECTS.flatMap((aspect) => {
    const behavior = behaviorOf(record, aspect);
    if (behavior === null) return [];
    const { does: main, how, dtypes, ...forms } = behavior;
    const others = Object.entries({ ...forms, ...dtypes }).filter(([, word]) => word !== main);
    return [[null, main] as const, ...others].map(([of, does]) => {
      const [id = null] = idsOf(does);
      return { aspect, of: of as DialectFact["of"], does, id, how };
    });
  });

/** Returns the behavior in one aspect, or null for an unsupported feature. */
function behaviorOf(
  record: DialectRecord,
  aspect: DialectAspect,
): (Behavior<string> & Pick<DialectFact, "how">) | null {
  for (const how of EVIDENCE) {
    const behavior: string | Behavior<string> | undefined = record[how]?.[aspect];
    if (behavior === undefined) continue;
    return { ...(typeof behavior === "string" ? { does: behavior } : behavior), how };
  }
  const isUnknown = record.unknown?.includes(aspect) === true;
  return isUnknown ? { does: "unknown", how: "not verified" } : null;
}

/** A dialect's words for operators with one index form; null for unsupported features. */
export type Words = { readonly [A in DialectAspect]: AspectWords[A] | "unknown" | null };

/** Returns the words for an index form and a data type. */
export function wordsOf(record: DialectRecord, form: IndexForm, dtype?: DType): Words {
  const words = ASPECTS.map((aspect) => {
    const behavior = behaviorOf(record, aspect);
    const ofType = dtype && behavior?.dtypes?.[dtype];
    const ofForm = form === "tuples" ? undefined : behavior?.[form];
    return [aspect, ofType ?? ofForm ?? behavior?.does ?? null];
  });
  return Object.fromEntries(words);
}

/**
 * Returns the diagnoses for a word, the main diagnosis first. The list is empty if the behavior is exact, unknown or an
 * error.
 */
export const idsOf = (word: string | null): readonly DiagnosisId[] =>
  (word ?? "").split(/[+:]/).flatMap((part) => DIAGNOSES.filter((id) => id === part));

/** Returns the dialects that are known to have a fault, or both faults if two ids are joined by `+`. */
export function dialectsWith(id: string): readonly DialectId[] {
  const parts = id.split("+");
  return DIALECT_IDS.filter((dialect) => {
    const facts = factsOf(DIALECTS[dialect]);
    const known = new Set<string>(facts.flatMap(({ does }) => idsOf(does)));
    return parts.every((part) => known.has(part));
  });
}
