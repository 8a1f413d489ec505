/**
 * The words of a query that people type, for both searches of the site. A query is matched as it is written first; only
 * if nothing has all its words, `looseWords` tries what a question means.
 */

/** Words that a question has and that no place is about. */
const QUESTION_WORDS = new Set(
  (
    "a about am an and any are as at be been but by can could did do does for from get gets give gives had " +
    "happen happens has have how i if in into is it its let make makes me much my not of on or our own same " +
    "should so some than that the their them then there these they this those to use used using want was way " +
    "we were what when where which who why will with would you your"
  ).split(" "),
);

/** Beginnings of words that mean the same here. */
const ALIKE: readonly (readonly string[])[] = [
  ["repeat", "duplicat", "twice"],
  ["javascript", "typescript"],
  ["wrong", "differ", "incorrect"],
  ["determin", "same bits", "race"],
  ["crash", "fail", "error"],
];

const ENDINGS = /(?:isms?|istic|ations?|ings?|edly|ed|ies|es|s|e|ly)$/;

/** A word without its ending: "determinism" and "deterministic" begin alike. Short words and names stay whole. */
function stemOf(word: string): string {
  const stem = /^[a-z]{5,}$/.test(word) ? word.replace(ENDINGS, "") : word;
  return stem.length >= 4 ? stem : word;
}

/** The words of a query, as they are written, in lower case. */
export const wordsOf = (query: string): readonly string[] =>
  query.toLowerCase().split(/\s+/).filter(Boolean);

/** For each word that a question is about, the beginnings of words that answer it, the asked one first. */
export function looseWords(query: string): readonly (readonly string[])[] {
  const words = wordsOf(query)
    .map((word) => word.replaceAll(/^[^\p{L}\p{N}-]+|[^\p{L}\p{N}]+$/gu, ""))
    .filter((word) => word !== "" && !QUESTION_WORDS.has(word));
  return [...new Set(words.map(stemOf))].map((stem) => {
    const alike = ALIKE.find((group) => group.some((one) => stem.startsWith(one)));
    return [stem, ...(alike ?? []).filter((one) => !stem.startsWith(one))];
  });
}

/** How many words of a question a text must have. */
export const leastWords = (count: number): number => Math.max(1, Math.ceil(count / 2));
