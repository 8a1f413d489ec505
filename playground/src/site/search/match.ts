/** Places that match a query, best first. */

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

/** @param query words; a place must have all of them, in its title, in its operator or document, or in its text */
export function matches(rows: readonly Row[], query: string): Hit[] {
  const words = query.toLowerCase().match(/[^\s]+/g) ?? [];
  if (words.length === 0) return [];
  const hits: Hit[] = [];
  for (const row of rows) {
    const score = scoreOf(row, words);
    if (score > 0) hits.push({ row, score });
  }
  return hits.toSorted((a, b) => b.score - a.score).slice(0, MOST);
}

function scoreOf([kind, title, of, , text]: Row, words: readonly string[]): number {
  const name = title.toLowerCase();
  const [home, body] = [of.toLowerCase(), text.toLowerCase()];
  let score = KINDS[kind] ?? 0;
  for (const word of words) {
    const found =
      name === word
        ? 120
        : name.startsWith(word)
          ? 70
          : startsAWord(name, word)
            ? 50
            : name.includes(word)
              ? 30
              : startsAWord(home, word)
                ? 20
                : startsAWord(body, word)
                  ? 8
                  : body.includes(word)
                    ? 2
                    : 0;
    if (found === 0) return 0;
    score += found;
  }
  return score;
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
  const words = query.toLowerCase().match(/[^\s]+/g) ?? [];
  const at = Math.max(0, ...words.map((word) => low.indexOf(word)));
  const from = at < 60 ? 0 : text.indexOf(" ", at - 50) + 1;
  const part = text.slice(from, from + 150);
  return `${from > 0 ? "… " : ""}${part}${from + 150 < text.length ? " …" : ""}`;
}
