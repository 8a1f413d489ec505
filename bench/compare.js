/**
 * Reports changes between two runs as ratios, because absolute times of two machines, or of two hours, are not
 * comparable.
 */

import { bestPeer, judgedMode } from "./judged.js";
import { table } from "./table.js";

/** The factor that counts as a change of a ratio without an interval, as in older files and for single samples. */
const CLEAR = 1.15;

/**
 * @typedef {object} Measured
 * @property {number} ratio
 * @property {number} [low]
 * @property {number} [high]
 * @property {boolean} [isCost] true if less is better
 */

/**
 * @param {any} before a record, possibly of an older version of the benchmark
 * @param {any} after
 * @returns {string}
 */
export function compare(before, after) {
  const [old, now] = [measuredOf(before), measuredOf(after)];
  const both = [...now.keys()].filter((name) => old.has(name));
  const lines = [];
  for (const name of both) {
    const [a, b] = [old.get(name), now.get(name)];
    if (!hasChanged(a, b)) continue;
    const better = b.ratio < a.ratio === (b.isCost ?? false);
    lines.push([
      name,
      show(a),
      show(b),
      (b.ratio / a.ratio).toFixed(2),
      better ? "better" : "worse",
    ]);
  }
  const about = `Compared with ${before.machine.date}, ${before.machine.cpu}`;
  const rest = `${both.length - lines.length} of ${both.length} ratios have not changed, within their intervals`;
  if (lines.length === 0) return `${about}: ${rest}\n`;
  return `${about}: ${rest}; these have\n${table(["", "before", "after", "factor", ""], lines)}`;
}

function hasChanged(a, b) {
  const [low, high] = a.ratio < b.ratio ? [a, b] : [b, a];
  const overlap = (low.high ?? low.ratio) >= (high.low ?? high.ratio);
  const isSure = [low, high].every((one) => one.low !== undefined && one.low < one.high);
  return !overlap && (isSure || high.ratio / low.ratio > CLEAR);
}

const show = ({ ratio, low, high }) =>
  low === undefined ? short(ratio) : `${short(ratio)} [${short(low)}-${short(high)}]`;
const short = (value) => value.toFixed(value < 100 ? 2 : 0);

/** @returns {Map<string, Measured>} */
function measuredOf({ machine, workloads = [], curve = [], first = [], scaling = [] }) {
  const all = new Map();
  const cost = (name, value) => all.set(name, { ...value, isCost: true });
  for (const row of workloads) {
    const ratios = row.ratios ?? ratiosOf(row);
    const { peer, peerUndisposed, peerHeapThreads, threads, peerKept, peerKeptThreads } = ratios;
    if (peer !== undefined) all.set(`${row.name}, best peer / ours`, peer);
    if (peerUndisposed !== undefined) {
      all.set(`${row.name}, best peer / ours, undisposed`, peerUndisposed);
    }
    if (peerHeapThreads !== undefined) all.set(`${row.name}, best peer / new 2`, peerHeapThreads);
    if (threads !== undefined) all.set(`${row.name}, one thread / two`, threads);
    if (peerKept !== undefined) all.set(`${row.name}, best peer / kept plan`, peerKept);
    if (peerKeptThreads !== undefined) {
      all.set(`${row.name}, best peer / kept plan, two threads`, peerKeptThreads);
    }
    const cpp = row.cpp?.ratio ?? olderCpp(machine.cpp?.[row.name]);
    if (cpp !== undefined) cost(`${row.name}, resident / C++`, cpp);
  }
  for (const { kind, slice, updates, into, ratios, peer } of curve) {
    const name = `${kind}, slices of ${slice}, ${updates} into ${into}`;
    for (const [mode, ratio] of Object.entries(ratios)) cost(`${name}, ${mode} / hand`, ratio);
    if (peer !== undefined) all.set(`${name}, best peer / new`, peer);
  }
  for (const { op, call } of first) cost(`first call of ${op}, ms`, { ratio: call });
  for (const { name, costs } of scaling) {
    for (const { count, ratio } of costs) cost(`${name}, ${count} / 10^6 in 256 kB`, ratio);
  }
  return all;
}

/** Returns the ratios of a file that contains only medians. */
function ratiosOf(row) {
  if (row.peers === undefined) return {};
  const judged = judgedMode({ ...row, inPlace: row.inPlace ?? row.name === "kv-cache append" });
  const ratio = (a, b) => (a === undefined || b === undefined ? undefined : { ratio: a / b });
  return {
    peer: ratio(row.peers[bestPeer(row.peers)], row.modes[judged]),
    threads: ratio(row.threads[1], row.threads[2]),
  };
}

const olderCpp = (times) =>
  times?.resident === undefined ? undefined : { ratio: times.resident / times.cpp };
