/** Prints counts in sentences. */

/** Returns a text such as `1 node` or `2 nodes`. */
export const printCount = (
  count: number | bigint | string,
  what: string,
  many = `${what}s`,
): string => `${count} ${Number(count) === 1 ? what : many}`;
