/**
 * Handles rounding in printed tensors. PyTorch prints 4 decimals and NumPy at most 8, so a value that matches to its
 * last printed digit counts as equal.
 */

/** The number of decimals, and whether they belong to a mantissa, as in `1.2346e-01`. */
export interface Rounding {
  readonly decimals: number;
  readonly isScientific: boolean;
}

/** The number of decimals that PyTorch prints (padded with zeros) and the maximum that NumPy prints (unpadded). */
const PADDED = 4;
const MOST = 8;

/** Returns the rounding of the values in a text; null if the text may contain all digits, as JSON does. */
export function roundingOf(text: string): Rounding | null {
  const fractions = [...text.matchAll(/(?<![\w.])[+-]?\d+\.(\d*)(e[+-]?\d+)?/gi)];
  const lengths = fractions.map(([, decimals]) => decimals.length);
  const longest = lengths.reduce((most, length) => Math.max(most, length), 0);
  const isPadded = longest === PADDED && lengths.every((length) => length === PADDED);
  if (!isPadded && longest !== MOST) return null;
  return { decimals: longest, isScientific: fractions.some(([, , power]) => power !== undefined) };
}

/** Checks whether `exact`, rounded in this way, prints as `value`. */
export function isPrintedAs(exact: number, value: number, rounding: Rounding): boolean {
  const { decimals, isScientific } = rounding;
  if (!Number.isFinite(exact) || !Number.isFinite(value)) return false;
  const power = isScientific && value !== 0 ? Math.floor(Math.log10(Math.abs(value))) : 0;
  // The tolerance is slightly more than half of the last digit, because a tie may be rounded either way.
  return Math.abs(exact - value) <= 0.5001 * 10 ** (power - decimals);
}
