/** Arbitrary texts of any characters but halves of surrogate pairs. */

import fc from "fast-check";

const HALVES = 0xd800;
/** The number of halves of surrogate pairs, which lie between two ranges of characters. */
const COUNT = 0x800;

const characters = fc.integer({ min: 0, max: 0x10ffff - COUNT }).map(
  (number) => String.fromCodePoint(number < HALVES ? number : number + COUNT),
  (text) => {
    const code = typeof text === "string" ? (text.codePointAt(0) ?? 0) : -1;
    return code < HALVES ? code : code - COUNT;
  },
);

/** The texts of `fc.string({ unit: "binary" })`, which spends 2 s on a table of all characters. */
export const anyText = (constraints: { readonly maxLength?: number } = {}): fc.Arbitrary<string> =>
  fc.string({ ...constraints, unit: characters });
