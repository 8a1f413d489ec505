/** What other systems do with indices, repeats and floats, as lists for callers. The facts are in `dialect-table.ts`. */

import { DIALECTS, type DialectId } from "./dialect-table.ts";
import { printWord, wordsOf, type Fact, type UNKNOWN, type Word } from "./dialect-words.ts";
import { DIAGNOSES, type DiagnosisId } from "./diagnosis.ts";

export type { DialectId };

/**
 * What a fact is about: negative indices; indices out of range, of scatters and of gathers; repeats without a reduction;
 * the order of a reduction; NaN, and 0 with -0, in max and min; and reductions of float16 and bfloat16.
 */
export type DialectAspect =
  | "negative"
  | "scatters"
  | "gathers"
  | "repeats"
  | "sums"
  | "compares"
  | "halves";

const ASPECTS: readonly DialectAspect[] = [
  "negative",
  "scatters",
  "gathers",
  "repeats",
  "sums",
  "compares",
  "halves",
];

/** How a fact is known. `run`: seen here, in the version that the dialect names. */
export type DialectEvidence = (Fact<unknown> | typeof UNKNOWN)["how"];

/** What indices are: index tuples, one index for each element, or one for each slice along an axis. */
const FORMS = ["tuples", "elements", "slices"] as const;

export interface DialectFact {
  readonly aspect: DialectAspect;
  /** Where the fact is not the same for all operators: those whose indices are these. Null for all others. */
  readonly of: (typeof FORMS)[number] | null;
  /** A word; `docs/dialects.md` has more. */
  readonly does: string;
  /** What {@link diagnose} calls a result that shows it; null for what the specification says, and for errors. */
  readonly id: DiagnosisId | null;
  readonly how: DialectEvidence;
}

export interface Dialect {
  readonly id: DialectId;
  /** The version that was run or read. */
  readonly version: string;
  /** The address of its document, or of its source. `docs/dialects.md` has those of single facts. */
  readonly source: string;
  readonly facts: readonly DialectFact[];
}

export const DIALECT_IDS = /* @__PURE__ */ Object.keys(DIALECTS) as readonly DialectId[];

/** The table: what each dialect is known to do, how that is known, and where it is written. A new list for each call. */
export const dialects = (): readonly Dialect[] =>
  DIALECT_IDS.map((id) => {
    const { version, source } = DIALECTS[id];
    return { id, version, source, facts: factsOf(id) };
  });

/** One fact for each aspect, and one more for each form of indices that differs in it. */
function factsOf(id: DialectId): readonly DialectFact[] {
  const { facts } = DIALECTS[id];
  const main = wordsOf(facts, FORMS[0]);
  return ASPECTS.flatMap((aspect) =>
    FORMS.flatMap((form) => {
      const word = wordsOf(facts, form)[aspect];
      const how = facts[aspect]?.how;
      const isMain = form === FORMS[0];
      if (word === null || how === undefined || (!isMain && word === main[aspect])) return [];
      const [fault = null] = idsOf(word);
      return [{ aspect, of: isMain ? null : form, does: printWord(word), id: fault, how }];
    }),
  );
}

/** The diagnoses of results that show a word, the main one first; none for what is exact, unknown or an error. */
export function idsOf(word: Word | null): readonly DiagnosisId[] {
  if (word === null) return [];
  if (typeof word === "string") return DIAGNOSES.filter((id) => id === word);
  return word.word === "signed-zero" ? [word.word] : [word.word, "signed-zero"];
}

/** The dialects that are known to do all that an id, or two joined by `+`, names. */
export function dialectsWith(id: string): readonly DialectId[] {
  const parts = id.split("+");
  return DIALECT_IDS.filter((dialect) => {
    const known: readonly string[] = knownIds(dialect);
    return parts.every((part) => known.includes(part));
  });
}

const knownIds = (dialect: DialectId): readonly DiagnosisId[] =>
  FORMS.flatMap((form) => Object.values(wordsOf(DIALECTS[dialect].facts, form)).flatMap(idsOf));
