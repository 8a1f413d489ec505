/** Assigns letters to index tuples. The page and saved pictures use the same letters. */

import { MOST_LETTERS, type Links } from "./links.ts";

/**
 * Returns the letter of each cell in a tensor. For a tuple that addresses whole rows, the letter stands beside the row
 * instead of in the cells.
 */
export function lettersOf(links: Links, role: string, size: number): ReadonlyMap<number, string> {
  const letters = new Map<number, string>();
  const { tuples, indexed, carried, tupleOf, reached, slice, kind } = links;
  if (tuples.length > MOST_LETTERS) return letters;
  if (role === "indices") {
    // A row with several indices is one tuple. In a scatter, the tuple's letter is drawn next to its target.
    if (tuples.length !== size && kind === "scatter") return letters;
    for (let element = 0; element < size; element++) {
      const tuple = indexed[element];
      const isLast = indexed[element + 1] !== tuple;
      if (isLast) letters.set(element, tuples[tuple]?.letter ?? "");
    }
    return letters;
  }
  if (slice !== 1) return letters;
  if (role === (kind === "gather" ? "output" : "updates")) {
    for (let element = 0; element < size; element++) {
      const tuple = tuples[tupleOf[carried[element]]];
      if (tuple !== undefined) letters.set(element, tuple.letter);
    }
  } else if (role === (kind === "gather" ? "data" : "output")) {
    for (const [element, orders] of reached) {
      const own = [...new Set(orders.map((order) => tupleOf[order]))];
      const shown = own.slice(0, 2).map((tuple) => tuples[tuple].letter);
      letters.set(element, shown.join("") + (own.length > 2 ? `+${own.length - 2}` : ""));
    }
  }
  return letters;
}
