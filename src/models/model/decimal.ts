/** Numbers that files write as text: offsets, sizes and identifiers. */

/** Returns the number from 0 to 2^53 - 1 in ASCII digits, or null. */
export function parseDecimal(text: string): number | null {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(value) ? value : null;
}
