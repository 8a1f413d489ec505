/**
 * The digits that a printed tensor has lost. PyTorch prints 4 decimals and NumPy at most 8, so a value that is equal as
 * far as it was printed says nothing of a difference.
 */

/** How many decimals the values were rounded to, and whether these are of a mantissa, as in `1.2346e-01`. */
export interface Rounding {
  readonly decimals: number;
  readonly isScientific: boolean;
}

/** Decimals of PyTorch, which pads with zeros, and of NumPy, which does not. */
const PADDED = 4;
const MOST = 8;

/** How the values of a text were rounded; null where they may have all their digits, as in JSON. */
export function roundingOf(text: string): Rounding | null {
  const fractions = [...text.matchAll(/(?<![\w.])[+-]?\d+\.(\d*)(e[+-]?\d+)?/gi)];
  const lengths = fractions.map(([, decimals]) => decimals.length);
  const longest = lengths.reduce((most, length) => Math.max(most, length), 0);
  const isPadded = longest === PADDED && lengths.every((length) => length === PADDED);
  if (!isPadded && longest !== MOST) return null;
  return { decimals: longest, isScientific: fractions.some(([, , power]) => power !== undefined) };
}

/** Whether `exact` is printed as `value`, which was rounded so. */
export function isPrintedAs(exact: number, value: number, rounding: Rounding): boolean {
  const { decimals, isScientific } = rounding;
  if (!Number.isFinite(exact) || !Number.isFinite(value)) return false;
  const power = isScientific && value !== 0 ? Math.floor(Math.log10(Math.abs(value))) : 0;
  // A little more than half of the last digit: a tie may be rounded to either side.
  return Math.abs(exact - value) <= 0.5001 * 10 ** (power - decimals);
}
