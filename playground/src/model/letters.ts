/** A letter and a colour for each index tuple, the same on the page and in saved pictures. */

/** The number of colours. Further tuples differ by their letters only. */
const COLOURS = 8;

/** The number of a tuple's colour. */
export const colourOf = (tuple: number): number => tuple % COLOURS;

/** A to Z, then AA, AB and so on. */
export function letterOf(tuple: number): string {
  const letter = String.fromCodePoint(65 + (tuple % 26));
  return tuple < 26 ? letter : letterOf(Math.floor(tuple / 26) - 1) + letter;
}
