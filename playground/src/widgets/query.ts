/**
 * Parses the words of a search query, for both searches of the site. A query is first matched literally. Only if no
 * text contains all words does `looseWords` try related words.
 */

/** Words that occur in questions but do not describe a topic. */
const QUESTION_WORDS = new Set(
  (
    "a about am an and any are as at be been but by can could did do does for from get gets give gives had " +
    "happen happens has have how i if in into is it its let make makes me much my not of on or our own same " +
    "should so some than that the their them then there these they this those to use used using want was way " +
    "we were what when where which who why will with would you your"
  ).split(" "),
);

/** Groups of word beginnings that have the same meaning here. */
const ALIKE: readonly (readonly string[])[] = [
  ["repeat", "duplicat", "twice"],
  ["javascript", "typescript"],
  ["wrong", "differ", "incorrect"],
  ["determin", "same bits", "race"],
  ["crash", "fail", "error"],
];

const ENDINGS = /(?:isms?|istic|ations?|ings?|edly|ed|ies|es|s|e|ly)$/;

/**
 * Returns a word without its ending: "determinism" and "deterministic" have the same stem. Short words and names stay
 * whole.
 */
function stemOf(word: string): string {
  const stem = /^[a-z]{5,}$/.test(word) ? word.replace(ENDINGS, "") : word;
  return stem.length >= 4 ? stem : word;
}

/** Returns the words of a query as typed, in lower case. */
export const wordsOf = (query: string): readonly string[] =>
  query.toLowerCase().split(/\s+/).filter(Boolean);

/** Returns, for each topic word of a question, the beginnings of words that match it, starting with the word itself. */
export function looseWords(query: string): readonly (readonly string[])[] {
  const words = wordsOf(query)
    .map((word) => word.replaceAll(/^[^\p{L}\p{N}-]+|[^\p{L}\p{N}]+$/gu, ""))
    .filter((word) => word !== "" && !QUESTION_WORDS.has(word));
  return [...new Set(words.map(stemOf))].map((stem) => {
    const alike = ALIKE.find((group) => group.some((one) => stem.startsWith(one)));
    return [stem, ...(alike ?? []).filter((one) => !stem.startsWith(one))];
  });
}

/** Returns the minimum number of a question's words that a text must contain. */
export const leastWords = (count: number): number => Math.max(1, Math.ceil(count / 2));
