/** Random parts of tests: each commit tests other entries in a browser, and the nightly run tests all (`CASES=all`). */

export const SEED = Number(process.env["SEED"] ?? 0);

/** Returns a function that draws an integer from 0 to `limit` - 1; the seed of the commit determines the series. */
export function drawing(): (limit: number) => number {
  let state = SEED | 0;
  return (limit) => {
    // The generator mulberry32.
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return Math.floor((((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
}

/** An entry in `parts`, and the first, beginning at a place that the seed of the commit determines. */
export const sampleOf = <T>(all: readonly T[], parts: number): readonly T[] =>
  process.env["CASES"] === "all"
    ? all
    : all.filter((_, at) => at === 0 || (at + SEED) % parts === 0);
