/** Random numbers from a seed, so that every run and every process measures the same work. */

/**
 * Mulberry32: 32 random bits per call.
 * @param {number} seed
 * @returns {() => number} an integer in [0, 2^32)
 */
export function randomBits(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  };
}

/**
 * Returns a seed from a name (FNV-1a).
 * @param {string} text
 */
export function seedOf(text) {
  let hash = 0x811c9dc5;
  for (let p = 0; p < text.length; p++) hash = Math.imul(hash ^ text.charCodeAt(p), 0x01000193);
  return hash >>> 0;
}

/**
 * Returns an integer in [0, limit), for limits far below 2^32.
 * @param {() => number} bits
 * @param {number} limit
 */
export const below = (bits, limit) => Math.floor((bits() / 2 ** 32) * limit);

/**
 * Shuffles a list in place and returns it.
 * @template T
 * @param {T[]} list
 * @param {() => number} bits
 */
export function shuffle(list, bits) {
  for (let p = list.length - 1; p > 0; p--) {
    const other = below(bits, p + 1);
    [list[p], list[other]] = [list[other], list[p]];
  }
  return list;
}
