/** Places that match a query, best first. */

import { leastWords, looseWords, wordsOf } from "../../widgets/query.ts";
import type { Row } from "./index.ts";

export interface Hit {
  readonly row: Row;
  readonly score: number;
}

/** Places with the name come before places that only mention it. */
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
 * Places that have all words of the query, in their title, in their operator or document, or in their text. Places that
 * have the words with other endings, or words that mean the same, come after them. If no place has all words, half of
 * those that a question is about suffice.
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

/** @param least how many of the words a place must have */
function hitsOf(rows: readonly Row[], words: readonly (readonly string[])[], least: number): Hit[] {
  if (words.length === 0) return [];
  const hits: Hit[] = [];
  for (const row of rows) {
    const score = scoreOf(row, words, least);
    if (score > 0) hits.push({ row, score });
  }
  return hits.toSorted((a, b) => b.score - a.score).slice(0, MOST);
}

/** A word that a place lacks costs more than any word gives. */
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
    // A word that means the same counts for half of the word that was asked.
    const found = Math.max(
      ...forms.map((word, at) => wordScore(place, word) * (at === 0 ? 1 : 0.5)),
    );
    if (found > 0) count++;
    score += found > 0 ? found : MISSING;
  }
  return count < least ? 0 : score;
}

/** The title of a place, its operator or document, and its text, in lower case. */
type Place = readonly [string, string, string];

/** 0 if the place lacks the word. */
function wordScore([name, home, body]: Place, word: string): number {
  if (name === word) return 120;
  if (name.startsWith(word)) return 70;
  if (startsAWord(name, word)) return 50;
  if (name.includes(word)) return 30;
  if (startsAWord(home, word)) return 20;
  if (startsAWord(body, word)) return 8;
  return body.includes(word) ? 2 : 0;
}

/** True if a word of the text has this beginning. */
function startsAWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1])) return true;
  }
  return false;
}

/** The part of a text around the first matching word. */
export function snippetOf(text: string, query: string): string {
  const low = text.toLowerCase();
  const words = [...looseWords(query).flat(), ...wordsOf(query)];
  const at = words.map((word) => low.indexOf(word)).find((one) => one !== -1) ?? 0;
  const from = at < 60 ? 0 : text.indexOf(" ", at - 50) + 1;
  const part = text.slice(from, from + 150);
  return `${from > 0 ? "… " : ""}${part}${from + 150 < text.length ? " …" : ""}`;
}
