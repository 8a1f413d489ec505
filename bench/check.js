/** Compares the results of all contestants before anything is timed. */

/** @typedef {{ name: string, ours: boolean, message: string }} Finding the difference of one contestant's result */

/**
 * Compares every contestant's result with that of the library's JavaScript engine, bit for bit.
 * @param {import("./workloads.js").Values} expected
 * @param {readonly import("./ours.js").Contestant[]} ours
 * @param {readonly import("./ours.js").Contestant[]} peers
 * @returns {Promise<Finding[]>} one for each contestant that differs
 */
export async function check(expected, ours, peers) {
  const findings = [];
  for (const contestant of [...ours, ...peers]) {
    // The result is copied, because the next call may reuse the memory.
    const first = (await contestant.output()).slice();
    const message = difference(expected, first);
    if (message === null) continue;
    const again = difference(first, await contestant.output());
    const racing = again === null ? "" : "; two runs of it differ, so it races";
    findings.push({
      name: contestant.name,
      ours: ours.includes(contestant),
      message: message + racing,
    });
  }
  return findings;
}

/** @returns {string | null} the number of words that differ and the size of the difference; null for equal results */
function difference(expected, got) {
  if (got.length !== expected.length) return `${got.length} elements instead of ${expected.length}`;
  const [a, b] = [bitsOf(expected), bitsOf(got)];
  const numbers = expected instanceof Float32Array;
  let count = 0;
  let most = 0;
  for (let p = 0; p < a.length; p++) {
    if (a[p] === b[p]) continue;
    count++;
    if (numbers) most = Math.max(most, Math.abs(expected[p] - got[p]));
  }
  if (count === 0) return null;
  const size = numbers ? `, by up to ${most.toExponential(1)}` : "";
  return `${count} of ${a.length} ${a.BYTES_PER_ELEMENT}-byte words differ${size}`;
}

const bitsOf = ({ buffer, byteOffset, byteLength }) =>
  byteLength % 4 === 0 && byteOffset % 4 === 0
    ? new Uint32Array(buffer, byteOffset, byteLength / 4)
    : new Uint8Array(buffer, byteOffset, byteLength);

/** Returns a hash of a result, as baseline.cpp computes it: h = 31 h + byte, modulo 2^32. */
export function checksum({ buffer, byteOffset, byteLength }) {
  const bytes = new Uint8Array(buffer, byteOffset, byteLength);
  let hash = 0;
  for (let p = 0; p < bytes.length; p++) hash = (Math.imul(hash, 31) + bytes[p]) | 0;
  return hash >>> 0;
}
