/** A letter for each index tuple, the same on the page and in saved pictures. */

import type { Links } from "./links.ts";

/** Nobody reads more letters than the alphabet has, so tuples of a larger call have none. */
export const MOST_LETTERS = 26;

/** A to Z, then AA, AB and so on. */
export function letterOf(tuple: number): string {
  const letter = String.fromCodePoint(65 + (tuple % 26));
  return tuple < 26 ? letter : letterOf(Math.floor(tuple / 26) - 1) + letter;
}

/**
 * The letters in the cells of a tensor. Of a tuple that reaches whole rows the letter stands beside the row, and its
 * cells have none.
 */
export function lettersOf(links: Links, role: string, size: number): ReadonlyMap<number, string> {
  const letters = new Map<number, string>();
  const { tuples, indexed, carried, tupleOf, reached, slice, kind } = links;
  if (tuples.length > MOST_LETTERS) return letters;
  if (role === "indices") {
    // A row of several indices is one tuple, which has its letter beside it.
    if (tuples.length !== size) return letters;
    for (let element = 0; element < size; element++) {
      letters.set(element, tuples[indexed[element]]?.letter ?? "");
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
