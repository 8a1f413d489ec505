/** Suggests the name that a user probably meant instead of an unknown name. */

/** Maximum length of a name that is compared, because the work grows with the square of the length. */
const LONGEST = 200;

/**
 * Returns the name that differs least from `name`, ignoring case (the first one in case of a tie). Returns null if no
 * name is similar: at most two letters may be wrong, and at most one letter in three.
 */
export function nearestName(name: string, names: Iterable<string>): string | null {
  const given = name.toLowerCase();
  if (given.length > LONGEST) return null;
  let best: string | null = null;
  let least = Math.min(Math.floor(given.length / 3), 2) + 1;
  for (const one of names) {
    if (Math.abs(one.length - given.length) >= least) continue;
    const distance = distanceOf(given, one.toLowerCase());
    if (distance >= least) continue;
    [best, least] = [one, distance];
  }
  return best;
}

/** Returns the number of letters to insert, delete, replace or swap with the next (optimal string alignment distance). */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  let before = row;
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = row[j] + (a[i] === b[j] ? 0 : 1);
      const isSwap = i > 0 && j > 0 && a[i] === b[j - 1] && a[i - 1] === b[j];
      const swapped = isSwap ? before[j - 1] + 1 : Infinity;
      next.push(Math.min(replaced, swapped, row[j + 1] + 1, next[j] + 1));
    }
    [before, row] = [row, next];
  }
  return row[b.length];
}
