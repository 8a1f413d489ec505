/**
 * Provides a public list of how other systems handle indices, repeated targets and floats. The file `dialect-table.ts`
 * contains the facts.
 */

import { DIALECTS, type DialectId } from "./dialect-table.ts";
import { printWord, wordsOf, type Fact, type UNKNOWN, type Word } from "./dialect-words.ts";
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

const ASPECTS: readonly DialectAspect[] = [
  "negative",
  "scatters",
  "gathers",
  "repeats",
  "sums",
  "compares",
  "halves",
  "types",
  "means",
  "wholes",
  "strings",
];

/** The kind of evidence for a fact. With `run`, this project observed the behavior in the listed dialect version. */
export type DialectEvidence = (Fact<unknown> | typeof UNKNOWN)["how"];

/** The form of the indices: index tuples, or one index per element, per slice along an axis, or per sequence. */
const FORMS = ["tuples", "elements", "slices", "sequences"] as const;

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
    const { version, source } = DIALECTS[id];
    return { id, version, source, facts: factsOf(id) };
  });

/**
 * Returns a dialect's facts, one per aspect, and additional facts for index forms and data types with different
 * behavior.
 */
function factsOf(id: DialectId): readonly DialectFact[] {
  const { facts } = DIALECTS[id];
  const main = wordsOf(facts, FORMS[0]);
  return ASPECTS.flatMap((aspect) => {
    const { [aspect]: fact } = facts;
    if (fact === undefined) return [];
    const fromForms = FORMS.map((form) => [form, wordsOf(facts, form)[aspect]] as const);
    const fromTypes = dtypesOf(fact).map(
      (dtype) => [dtype, wordsOf(facts, FORMS[0], dtype)[aspect]] as const,
    );
    return [...fromForms, ...fromTypes].flatMap(([of, word]) => {
      const isMain = of === FORMS[0];
      if (word === null || (!isMain && word === main[aspect])) return [];
      const [fault = null] = idsOf(word);
      return [{ aspect, of: isMain ? null : of, does: printWord(word), id: fault, how: fact.how }];
    });
  });
}

const dtypesOf = (fact: Fact<unknown> | typeof UNKNOWN): readonly DType[] =>
  ("dtypes" in fact ? Object.keys(fact.dtypes ?? {}) : []) as readonly DType[];

/**
 * Returns the diagnoses for a word, the main diagnosis first. The list is empty if the behavior is exact, unknown or an
 * error.
 */
export function idsOf(word: Word | null): readonly DiagnosisId[] {
  if (word === null) return [];
  if (typeof word === "string") return DIAGNOSES.filter((id) => id === word);
  return word.word === "signed-zero" ? [word.word] : [word.word, "signed-zero"];
}

/** Returns the dialects that are known to have a fault, or both faults if two ids are joined by `+`. */
export function dialectsWith(id: string): readonly DialectId[] {
  const parts = id.split("+");
  return DIALECT_IDS.filter((dialect) => {
    const known: readonly string[] = knownIds(dialect);
    return parts.every((part) => known.includes(part));
  });
}

const knownIds = (dialect: DialectId): readonly DiagnosisId[] =>
  factsOf(dialect).flatMap(({ does }) => does.split(/[+:]/).flatMap(idsOfText));

const idsOfText = (text: string): readonly DiagnosisId[] => DIAGNOSES.filter((id) => id === text);
