/** Finds the places that match a query, best first. */

import { searchIn, type Found } from "../../widgets/query.ts";
import type { Row } from "./index.ts";

/** Weights of the kinds of places: places that define a name come before places that only mention it. */
const KINDS: Readonly<Record<string, number>> = {
  operator: 1.6,
  entry: 1.3,
  attribute: 1.6,
  document: 1.4,
  section: 1.4,
  version: 0.8,
  type: 0.7,
  erratum: 0.8,
  example: 0.5,
};

/** Documents for contributors, and the entry that repeats functions of the main entry. */
const LAST = /^(?:docs\/(?:adding|architecture|changelog|contributing|dependencies)|api\/js)\.html/;

const weightOf = ([kind, , , address]: Row): number =>
  (KINDS[kind] ?? 1) * (LAST.test(address) ? 0.3 : 1);

const MOST = 20;

/**
 * Indexes the places, and returns the function that finds the places of a query. Places with the query as their title
 * come first.
 */
export function placesIn(rows: readonly Row[]): (query: string) => Found<Row>[] {
  const search = searchIn(
    rows,
    ([, title, home, , text]) => ({ title, home, text }),
    { title: 3, home: 1.5, text: 1 },
    weightOf,
  );
  return (query) => {
    const asked = query.trim().toLowerCase();
    const isNamed = ({ item: [kind, title] }: Found<Row>): number =>
      Number(kind !== "dialect" && kind !== "row" && title.toLowerCase() === asked);
    return search(query, "OR")
      .toSorted((a, b) => isNamed(b) - isNamed(a))
      .slice(0, MOST);
  };
}

/** Returns the part of a text around the first of the terms. */
export function snippetOf(text: string, terms: readonly string[]): string {
  const low = text.toLowerCase();
  const at =
    terms.map((term) => low.indexOf(term.replace(/^=/, ""))).find((one) => one !== -1) ?? 0;
  const from = at < 60 ? 0 : text.indexOf(" ", at - 50) + 1;
  const part = text.slice(from, from + 150);
  return `${from > 0 ? "… " : ""}${part}${from + 150 < text.length ? " …" : ""}`;
}
