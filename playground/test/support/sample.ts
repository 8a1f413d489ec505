/** Parts of long lists: each commit tests other entries in a browser, and the nightly run tests all (`CASES=all`). */

const SEED = Number(process.env["SEED"] ?? 0);

/** An entry in `parts`, and the first, beginning at a place that the seed of the commit determines. */
export const sampleOf = <T>(all: readonly T[], parts: number): readonly T[] =>
  process.env["CASES"] === "all"
    ? all
    : all.filter((_, at) => at === 0 || (at + SEED) % parts === 0);
