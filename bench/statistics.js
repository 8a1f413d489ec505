/** Medians, and ratios of two contestants with an interval. */

/** @param {readonly number[]} list */
export function median(list) {
  const sorted = [...list].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * @typedef {object} Ratio
 * @property {number} ratio the median
 * @property {number} low
 * @property {number} high
 */

/**
 * a / b for lists with a value per round: the median of the ratios of each round, and an interval that contains the
 * true median in at least 95 of 100 cases (for 6 rounds or more; otherwise all rounds).
 *
 * A temporary slowdown of the machine affects both, so this ratio is steadier than a ratio of medians.
 * @param {readonly number[]} a
 * @param {readonly number[]} b
 * @returns {Ratio}
 */
export function ratioOfRounds(a, b) {
  const ratios = a.map((value, round) => value / b[round]).sort((x, y) => x - y);
  const skip = outside(ratios.length);
  const interval = { low: round(ratios[skip]), high: round(ratios[ratios.length - 1 - skip]) };
  return { ratio: round(median(ratios)), ...interval };
}

/**
 * Returns the number of sorted values, of `count`, outside the interval at each end. The true median is below the value
 * at `skip` with the probability that `count` throws of a fair coin give at most `skip` heads.
 */
function outside(count) {
  let tail = 0;
  let ways = 1;
  for (let heads = 0; ; heads++) {
    tail += ways / 2 ** count;
    if (tail > 0.025) return Math.max(0, heads - 1);
    ways = (ways * (count - heads)) / (heads + 1);
  }
}

/** @param {readonly number[]} list */
export const geometricMean = (list) =>
  Math.exp(list.reduce((sum, value) => sum + Math.log(value), 0) / list.length);

/** Four digits, more than any measurement justifies. */
export const round = (/** @type {number} */ value) => Number(value.toPrecision(4));
