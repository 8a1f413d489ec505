/** Prints what was measured as tables, compares it with the targets, and makes the rows of results.json. */

import { TOLERANCE } from "./scaling.js";

const MODES = ["new", "undisposed", "into", "inplace", "resident"];
const MB = 2 ** 20;

/**
 * @typedef {object} Result of one row
 * @property {import("./workloads.js").Workload} row
 * @property {Record<string, number>} modes milliseconds, as in `threads` and `peers`
 * @property {Record<string, number>} threads
 * @property {Record<string, number>} peers
 * @property {number} moved bytes
 * @property {import("./baseline.js").BaselineTimes} [baseline]
 * @property {{ peak: number, limit: number }} [memory]
 */

/** One row of results.json. */
export const recordOf = ({ row, modes, threads, peers }) => ({
  name: row.name,
  modes: round(modes),
  threads: round(threads),
  peers: round(peers),
});

const round = (times) =>
  Object.fromEntries(
    Object.entries(times).map(([name, time]) => [name, Number(time.toPrecision(4))]),
  );

/** @param {readonly Result[]} results */
export function printTimes(results, copyRate) {
  const lines = results.map((result) => {
    const { row, modes, threads, moved } = result;
    const [peer, best] = bestPeer(result) ?? ["", undefined];
    const judged = judgedMode(result);
    const rate = judged === undefined ? undefined : moved / (modes[judged] / 1000);
    return [
      row.name,
      ...MODES.map((mode) => ms(modes[mode])),
      ms(threads[2]),
      peer,
      ms(best),
      times(ratioOf(result)),
      times(best === undefined ? undefined : best / threads[2]),
      rate === undefined ? "" : (rate / 1e9).toFixed(1),
      rate === undefined ? "" : `${((rate / copyRate) * 100).toFixed(0)} %`,
    ];
  });
  const head = ["", ...MODES, "threads 2", "best peer", "ms", "ratio", "2 thr.", "GB/s", "of copy"];
  return `Medians in milliseconds; a copy moves ${(copyRate / 1e9).toFixed(1)} GB/s\n${table(head, lines)}`;
}

/** @param {readonly Result[]} results */
export function printPeers(results) {
  const names = [...new Set(results.flatMap(({ peers }) => Object.keys(peers)))];
  if (names.length === 0) return "";
  const lines = results.map(({ row, peers }) => [
    row.name,
    ...names.map((name) => ms(peers[name])),
  ]);
  return `Peers, medians in milliseconds\n${table(["", ...names], lines)}`;
}

/** @param {readonly Result[]} results */
export function printBaseline(results) {
  const rows = results.filter(({ baseline }) => baseline !== undefined);
  if (rows.length === 0) return "";
  const lines = rows.map(({ row, baseline: { cpp, fused, ours, mode, agrees } }) => {
    const same = agrees ? "" : "results differ";
    return [row.name, ms(cpp), ms(fused), ms(ours), mode, (ours / cpp).toFixed(2), same];
  });
  const head = ["", "C++", "fused", "ours", "mode", "ours / C++", ""];
  return `Beside C++, medians over processes, milliseconds\n${table(head, lines)}`;
}

/** @param {readonly Result[]} results */
export function printMemory(results) {
  const rows = results.filter(({ memory }) => memory !== undefined);
  if (rows.length === 0) return "";
  const lines = rows.map(({ row, memory: { peak, limit } }) => [
    row.name,
    (peak / MB).toFixed(0),
    (limit / MB).toFixed(0),
    peak <= limit ? "ok" : "above",
  ]);
  return `Peak memory of a process with one call, MB\n${table(["", "peak", "limit", ""], lines)}`;
}

export function printScaling(scaling) {
  if (scaling.length === 0) return "";
  const counts = scaling[0].costs.map(({ count }) => count.toExponential(0).replace("+", ""));
  const lines = scaling.map(({ name, costs, spread }) => [
    name,
    ...costs.map(({ nanoseconds }) => nanoseconds.toFixed(2)),
    `${(spread * 100).toFixed(0)} %`,
  ]);
  return `Nanoseconds an update, in place, data of 256 kB\n${table(["", ...counts, "spread"], lines)}`;
}

/**
 * The targets, and what was reached of each. The geometric means leave out tiny and the rows that are written in place:
 * these rows have targets of their own, and ratios in the hundreds that would raise any mean.
 * @param {readonly Result[]} results
 */
export function printTargets(results, scaling) {
  const plain = results.filter(({ row }) => !row.inPlace && !row.fixed);
  const known = (list) => list.filter(([, value]) => value !== undefined && !Number.isNaN(value));
  const each = (list, valueOf) => known(list.map((result) => [result.row.name, valueOf(result)]));
  const threaded = ({ peers, threads, row }) => ratio(bestPeer({ peers, row })?.[1], threads[2]);
  const scaled = ({ threads }) => ratio(threads[1], threads[2]);
  const gathers = results.filter(({ row }) => row.op === "gatherND");
  const tiny = results.filter(({ row }) => row.name === "tiny");
  const cpp = results.filter(({ baseline }) => baseline?.mode === "resident");
  const lines = [
    atLeast("one thread against the best peer, every row", 1.5, each(results, ratioOf)),
    mean("one thread against the best peer, geometric mean", 2.5, each(plain, ratioOf)),
    mean("  the same with all rows", 2.5, each(results, ratioOf)),
    mean(
      "resident, two threads, against the best peer, geometric mean",
      3.5,
      each(plain, threaded),
    ),
    mean("  the same with all rows", 3.5, each(results, threaded)),
    atLeast("tiny against the best peer", 15, each(tiny, ratioOf)),
    atLeast("two threads against one, every row", 0.95, each(results, scaled)),
    atLeast("two threads against one, gathers", 1.5, each(gathers, scaled)),
    atMost(
      "resident against C++, every row",
      1.3,
      each(cpp, ({ baseline }) => baseline.ours / baseline.cpp),
      2,
    ),
    atMost(
      "spread of the cost per update",
      TOLERANCE,
      scaling.map(({ name, spread }) => [name, spread]),
      2,
    ),
    atMost(
      "peak memory against its limit, every row",
      1,
      each(results, ({ memory }) => ratio(memory?.peak, memory?.limit)),
      2,
    ),
  ];
  return `Targets\n${table(["", "target", "reached", ""], lines)}`;
}

function atLeast(name, target, values) {
  const failing = values.filter(([, value]) => value < target);
  const least = Math.min(...values.map(([, value]) => value));
  return verdict(name, `>= ${target}`, values.length, least.toFixed(2), failing, 2);
}

function atMost(name, target, values, digits) {
  const failing = values.filter(([, value]) => value > target);
  const most = Math.max(...values.map(([, value]) => value));
  return verdict(name, `<= ${target}`, values.length, most.toFixed(digits), failing, digits);
}

function mean(name, target, values) {
  const logs = values.map(([, value]) => Math.log(value));
  const reached = Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length);
  const failing = reached < target ? [[`${values.length} rows`, reached]] : [];
  return verdict(name, `>= ${target}`, values.length, reached.toFixed(2), failing, 2);
}

function verdict(name, target, count, reached, failing, digits) {
  if (count === 0) return [name, target, "", "not measured"];
  if (failing.length === 0) return [name, target, reached, "ok"];
  const list = failing.map(([row, value]) => `${row} ${value.toFixed(digits)}`).join(", ");
  return [name, target, reached, `not reached: ${list}`];
}

/** Name and time of the fastest peer. */
function bestPeer({ peers }) {
  return Object.entries(peers).sort(([, a], [, b]) => a - b)[0];
}

/** The mode that is compared with the peers. `undisposed` replaces `new` where the library has no `dispose`. */
function judgedMode({ row, modes }) {
  const wanted = row.inPlace ? ["inplace"] : ["new", "undisposed"];
  return wanted.find((mode) => modes[mode] !== undefined);
}

const ratio = (a, b) => (a === undefined || b === undefined ? undefined : a / b);

/** @param {Result} result */
function ratioOf(result) {
  return ratio(bestPeer(result)?.[1], result.modes[judgedMode(result) ?? ""]);
}

const ms = (time) => (time === undefined ? "" : time < 0.1 ? time.toFixed(4) : time.toFixed(2));
const times = (value) =>
  value === undefined || Number.isNaN(value) ? "" : `${value.toFixed(value < 100 ? 2 : 0)}x`;

/** A table in columns as wide as their cells. Columns of words are aligned left, columns of numbers right. */
function table(head, lines) {
  const rows = [head, ...lines];
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const isWords = head.map((_, column) => lines.every((row) => !/^[<\d]/.test(row[column])));
  const line = (row) =>
    row
      .map((cell, column) =>
        isWords[column] ? cell.padEnd(widths[column]) : cell.padStart(widths[column]),
      )
      .join("  ")
      .trimEnd();
  return rows.map((row) => `  ${line(row)}\n`).join("");
}
