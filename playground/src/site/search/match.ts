/** Finds the places that match a query, best first. */

import { leastWords, looseWords, wordsOf } from "../../widgets/query.ts";
import type { Row } from "./index.ts";

export interface Hit {
  readonly row: Row;
  readonly score: number;
}

/** The ranks of the kinds of places: places that define a name come before places that only mention it. */
const KINDS: Readonly<Record<string, number>> = {
  operator: 40,
  entry: 30,
  document: 24,
  function: 20,
  class: 20,
  constant: 16,
  attribute: 16,
  version: 12,
  dialect: 12,
  erratum: 10,
  section: 10,
  type: 8,
  example: 4,
};

const MOST = 40;

/**
 * Returns the places whose title, operator, document or text contains all words of the query. Places with other forms
 * of the words, or with synonyms, come after them. If no place contains all words, half of a question's topic words
 * suffice.
 */
export function matches(rows: readonly Row[], query: string): Hit[] {
  const words = wordsOf(query).map((word) => [word]);
  const exact = hitsOf(rows, words, words.length);
  const asked = looseWords(query);
  const least = exact.length > 0 ? asked.length : leastWords(asked.length);
  const known = new Set(exact.map(({ row }) => row));
  const others = hitsOf(rows, asked, least).filter(({ row }) => !known.has(row));
  return [...exact, ...others].slice(0, MOST);
}

/** @param least the minimum number of words that a place must contain */
function hitsOf(rows: readonly Row[], words: readonly (readonly string[])[], least: number): Hit[] {
  if (words.length === 0) return [];
  const hits: Hit[] = [];
  for (const row of rows) {
    const score = scoreOf(row, words, least);
    if (score > 0) hits.push({ row, score });
  }
  return hits.toSorted((a, b) => b.score - a.score).slice(0, MOST);
}

/** The score of a missing word, which outweighs the score of any found word. */
const MISSING = -125;

function scoreOf(
  [kind, title, of, , text]: Row,
  words: readonly (readonly string[])[],
  least: number,
): number {
  const place: Place = [title.toLowerCase(), of.toLowerCase(), text.toLowerCase()];
  let score = (KINDS[kind] ?? 0) + (words.length - least) * -MISSING;
  let count = 0;
  for (const forms of words) {
    // A synonym gets half the score of the word that the user typed.
    const found = Math.max(
      ...forms.map((word, at) => wordScore(place, word) * (at === 0 ? 1 : 0.5)),
    );
    if (found > 0) count++;
    score += found > 0 ? found : MISSING;
  }
  return count < least ? 0 : score;
}

/** Title, operator or document, and text of a place, in lower case. */
type Place = readonly [string, string, string];

/** Returns the score of a word in a place; 0 if the place lacks the word. */
function wordScore([name, home, body]: Place, word: string): number {
  if (name === word) return 120;
  if (name.startsWith(word)) return 70;
  if (startsAWord(name, word)) return 50;
  if (name.includes(word)) return 30;
  if (startsAWord(home, word)) return 20;
  if (startsAWord(body, word)) return 8;
  return body.includes(word) ? 2 : 0;
}

/** Checks whether a word of the text has this beginning. */
function startsAWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1])) return true;
  }
  return false;
}

/** Returns the part of a text around the first matching word. */
export function snippetOf(text: string, query: string): string {
  const low = text.toLowerCase();
  const words = [...looseWords(query).flat(), ...wordsOf(query)];
  const at = words.map((word) => low.indexOf(word)).find((one) => one !== -1) ?? 0;
  const from = at < 60 ? 0 : text.indexOf(" ", at - 50) + 1;
  const part = text.slice(from, from + 150);
  return `${from > 0 ? "… " : ""}${part}${from + 150 < text.length ? " …" : ""}`;
}
