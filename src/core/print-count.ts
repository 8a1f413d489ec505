/** Prints counts and amounts in sentences. */

/** Returns a text such as `1 node` or `2 nodes`. */
export const printCount = (
  count: number | bigint | string,
  what: string,
  many = `${what}s`,
): string => `${count} ${Number(count) === 1 ? what : many}`;

const UNITS = ["B", "kB", "MB", "GB", "TB"];

/** Returns a text such as `610 MB`, with three digits and powers of 1000, as disks are labelled. */
export function printAmount(bytes: number): string {
  let unit = 0;
  let amount = bytes;
  while (amount >= 999.5 && unit < UNITS.length - 1) {
    amount /= 1000;
    unit++;
  }
  const digits = unit === 0 || amount >= 100 ? String(Math.round(amount)) : amount.toPrecision(2);
  return `${digits} ${UNITS[unit]}`;
}
