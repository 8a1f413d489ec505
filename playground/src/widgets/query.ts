/**
 * The search engine of the site's dialog and of the examples: MiniSearch, with the words of questions and of code.
 */

import MiniSearch, { type SearchResult } from "minisearch";

/** Words that occur in questions but do not describe a topic. */
const STOP_WORDS = new Set(
  (
    "a about am an and any are as at be been but by can could did do does for from get gets give gives had " +
    "happen happens has have how i if in into is it its let make makes me much must my not of on or our own same " +
    "should so some than that the their them then there these they this those to use used using want was way " +
    "we were what when where which who why will with would you your"
  ).split(" "),
);

const SINGULARS = new Map(Object.entries({ axes: "axis", indices: "index" }));

/** Groups of words that have the same meaning here. */
const SYNONYMS = [
  "repeated duplicate twice",
  "wrong different incorrect",
  "nondeterministic deterministic",
  "crash fail",
  "load open read",
  "save write",
  "cancel abort",
  "groupby group",
  "licence license",
  "torch pytorch",
  "tfjs =tensorflow.js",
];

const ENDINGS = /(?:ation|ing|edly|ed|ie|y|ly|e)$/;

/** Numbers with their sign, and names with their separators: `-1`, `take_along_axis`, `20.16`, `at.add`. */
const WORD = /(?<![\p{L}\p{N}_])-\p{N}+|[\p{L}\p{N}_]+(?:[.-][\p{L}\p{N}_]+)*/gu;

/**
 * Returns the words of a text: the parts of names, and names and their ends as a whole. A name with separators begins
 * with `=`, so that it is not also found as a word that begins with its first part.
 */
function wordsOf(text: string): string[] {
  // The characters for a minus sign are unified, and the index in JAX's `x.at[i].add` is removed.
  const plain = text.replaceAll(/[−–‐‑]/g, "-").replaceAll(/(?<=\w)\[[^\]]*\]\./g, ".");
  return (plain.match(WORD) ?? []).flatMap((word) => {
    if (word.startsWith("-")) return [word];
    const dotted = word.split(".");
    const names = dotted.map((_, from) => dotted.slice(from).join(".").replace(/_+$/, ""));
    const parts = word.split(/[._-]+|(?<=[a-z\d])(?=[A-Z])/);
    const wholes = names.map((name) => (/[._-]/.test(name) ? `=${name}` : name));
    return [...new Set([...wholes, ...parts])];
  });
}

/** Returns a word without its ending, so that "determinism" finds "deterministic"; null for words without a topic. */
function termOf(typed: string): string | null {
  const word = typed.toLowerCase();
  // A single digit or letter is only a number of a heading or the name of a variable.
  if (word.length < 2 || STOP_WORDS.has(word)) return null;
  const singular = SINGULARS.get(word) ?? word.replace(/(?<=^[a-z]{2,}[a-rt-z])s$/, "");
  const stem = /^[a-z]+$/.test(singular)
    ? singular.replace(/(?<=is)(?:m|tic)$/, "t").replace(ENDINGS, "")
    : singular;
  return stem.length >= 4 ? stem : singular;
}

/** Terms of each word that has synonyms. */
const SYNONYMS_OF = new Map(
  SYNONYMS.flatMap((group) => {
    const terms = group.split(" ").flatMap((word) => termOf(word) ?? []);
    return terms.map((term) => [term, terms] as const);
  }),
);

/** A search result: the item, and the terms of its texts that matched. */
export interface Found<T> {
  readonly item: T;
  readonly terms: readonly string[];
}

/**
 * Indexes the texts of items, and returns the function that searches them, best first.
 * @param weights weight of each text of an item
 * @param weightOf weight of an item
 */
export function searchIn<T>(
  items: readonly T[],
  textsOf: (item: T) => Readonly<Record<string, string>>,
  weights: Readonly<Record<string, number>>,
  weightOf: (item: T) => number = () => 1,
): (query: string, combineWith: "AND" | "OR") => Found<T>[] {
  const engine = new MiniSearch({
    fields: Object.keys(weights),
    tokenize: wordsOf,
    processTerm: termOf,
    searchOptions: {
      boost: weights,
      boostDocument: (id) => weightOf(items[Number(id)]),
      processTerm: (word) => {
        const term = termOf(word);
        return term === null ? null : (SYNONYMS_OF.get(term) ?? term);
      },
      prefix: (term) => term.length > 2,
      bm25: { k: 1.2, b: 0.4, d: 0.5 },
      weights: { fuzzy: 0.3, prefix: 0.2 },
      // Only words are matched with typing errors, because people copy names and numbers. The memory of this match
      // grows with the square of the length.
      fuzzy: (term) => (/^[a-z]{5,30}$/.test(term) ? 0.2 : false),
    },
  });
  engine.addAll(items.map((item, id) => ({ ...textsOf(item), id })));
  const foundOf = ({ id, terms }: SearchResult): Found<T> => ({ item: items[Number(id)], terms });
  return (query, combineWith) => engine.search(query, { combineWith }).map(foundOf);
}
