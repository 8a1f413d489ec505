/** Drafts `x[i]` and `x[i] = u`, and names reductions. */

import { numberIn } from "../blocks.ts";
import type { Value } from "../literals.ts";
import { stacked } from "./arrays.ts";
import { gather, gatherND, slices, tuples, type Draft } from "./draft.ts";
import type { Names } from "./names.ts";

/** The names of reductions in libraries. */
const REDUCTIONS: Readonly<Record<string, string>> = {
  none: "set update =",
  add: "add sum +=",
  sub: "sub subtract -=",
  mul: "mul multiply prod *=",
  max: "max maximum amax",
  min: "min minimum amin",
};

/** Returns the reduction with a library's name, or null. */
export const reductionNamed = (word: string): string | null =>
  Object.keys(REDUCTIONS).find((name) => REDUCTIONS[name].split(" ").includes(word)) ?? null;

export interface Subscript {
  readonly of: Value;
  readonly items: readonly Value[];
  readonly start: number;
  /** The values that are written; null for a gather. */
  readonly updates: Value | null;
  readonly reduction: string;
}

const isSlice = (value: Value): boolean =>
  value.kind === "word" && (value.text === ":" || value.text === "...") && !value.isQuoted;

/** Drafts an access by an array, or by a tuple of arrays, one for each axis. Returns null for any other index. */
export function subscript(
  names: Names,
  { of, items, start, updates, reduction }: Subscript,
): Draft | null {
  const only = items.length === 1 ? names.valueOf(items[0]) : null;
  const all = only?.kind === "list" && only.bracket === "(" ? only.items : items;
  const slicesBefore = all.findIndex((one) => !isSlice(one));
  const rest = all.slice(slicesBefore);
  if (slicesBefore === -1 || rest.some(isSlice)) return null;
  if (updates === null && rest.every((one) => numberIn(names.valueOf(one)) !== null)) return null;
  const parts = rest.map(names.array);
  const isTuple = parts.length > 1;
  if (isTuple && slicesBefore > 0) return null;
  if (parts.some(({ dtype }) => dtype === "bool")) {
    const sentence = "a boolean mask is not supported here: use the indices where the mask is true";
    throw names.wrong(sentence, start);
  }
  const data = names.array(of);
  const read = { data, indices: isTuple ? stacked(parts) : parts[0], axis: slicesBefore };
  if (updates === null) return isTuple ? gatherND(read) : gather(read);
  const written = { ...read, updates: names.array(updates), reduction };
  return isTuple ? tuples(written) : slices(written);
}
