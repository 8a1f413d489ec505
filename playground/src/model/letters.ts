/** What tells index tuples apart, on the page and in pictures that are saved: a letter and a colour. */

/** How many colours there are; the letters tell further tuples apart. */
const COLOURS = 8;

/** Which of them the tuple of that number has. */
export const colourOf = (tuple: number): number => tuple % COLOURS;

/** A to Z, then AA, AB and so on. */
export function letterOf(tuple: number): string {
  const letter = String.fromCodePoint(65 + (tuple % 26));
  return tuple < 26 ? letter : letterOf(Math.floor(tuple / 26) - 1) + letter;
}
