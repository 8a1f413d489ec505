/** Numbers that files store as text: offsets, sizes and identifiers. */

/** Parses ASCII digits to a number from 0 to 2^53 - 1; null for other texts. */
export function parseDecimal(text: string): number | null {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(value) ? value : null;
}
