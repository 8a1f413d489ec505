/** Prints the measurements as tables, compares them with the targets, and makes the rows of results.json. */

import { callTargets, FIRST_CALL, printCurve, printFirstCalls } from "./report-curve.js";
import { judgedMode } from "./judged.js";
import { printNative } from "./native/report.js";
import { TOLERANCE } from "./scaling.js";
import { geometricMean } from "./statistics.js";
import { table } from "./table.js";

const MODES = ["new", "undisposed", "new 2", "into", "inplace", "resident"];
const MB = 2 ** 20;

/**
 * @typedef {object} Row of results.json
 * @property {string} name
 * @property {string} op
 * @property {boolean} [inPlace]
 * @property {boolean} [fixed]
 * @property {number} moved bytes
 * @property {Record<string, number>} [modes] milliseconds, as in `threads` and `peers`
 * @property {Record<string, number>} [threads]
 * @property {Record<string, number>} [kept]
 * @property {Record<string, number>} [peers]
 * @property {Record<string, number>} [peersUndisposed]
 * @property {import("./rows.js").Times["ratios"]} [ratios]
 * @property {import("./baseline.js").BaselineTimes} [cpp]
 * @property {{ peak: number, limit: number }} [memory]
 */

/** A whole record, as text. */
export function print(record) {
  const { machine, about, missing, scale, workloads, scaling, first, curve, findings } = record;
  const { native = null } = record;
  const text = [
    `${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, ${machine.date}; ndscatter: ${about}\n`,
    ...(missing.length === 0 ? [] : [`Not measured: ${missing.join("; ")}\n`]),
    ...(scale === 1 ? [] : [`At scale ${scale}: the times say nothing about the targets\n`]),
    printTimes(workloads, machine.copyGBs),
    printPeers("Peers", workloads, ({ peers }) => peers),
    printPeers("Peers, undisposed", workloads, ({ peersUndisposed }) => peersUndisposed),
    printCurve(curve),
    printFirstCalls(first),
    printFindings(findings),
    printBaseline(workloads),
    printNative(native),
    printScaling(scaling),
    printMemory(workloads),
    printTargets(record),
  ];
  return `${text.filter((part) => part !== "").join("\n")}\n`;
}

function printFindings(findings) {
  if (findings.length === 0) return "All results have the same bits.\n";
  const lines = findings.map(({ row, name, message }) => `  ${row}: ${name}: ${message}\n`);
  return `Results that differ from the library's JavaScript\n${lines.join("")}`;
}

/** @param {readonly Row[]} rows */
function printTimes(rows, copyGBs) {
  const timed = rows.filter(({ modes }) => modes !== undefined);
  if (timed.length === 0) return "";
  const lines = timed.map((row) => {
    const { name, modes, threads, kept = {}, peers, ratios, moved } = row;
    const judged = judgedMode(row);
    const rate = judged === undefined ? undefined : moved / (modes[judged] * 1e6);
    return [
      name,
      ...MODES.map((mode) => ms(modes[mode])),
      ms(threads[2]),
      ms(kept[1]),
      ms(kept[2]),
      ratios.peer?.name ?? "",
      ms(peers[ratios.peer?.name]),
      times(ratios.peer),
      times(ratios.peerUndisposed),
      times(ratios.peerHeapThreads),
      times(ratios.peerThreads),
      times(ratios.peerKept),
      times(ratios.peerKeptThreads),
      rate === undefined ? "" : rate.toFixed(1),
      rate === undefined ? "" : `${((rate / copyGBs) * 100).toFixed(0)} %`,
    ];
  });
  const own = [...MODES, "threads 2", "kept", "kept 2"];
  const beside = ["best peer", "ms", "ratio", "undisposed", "new 2", "2 thr.", "kept", "kept 2"];
  const head = ["", ...own, ...beside, "GB/s", "of copy"];
  return `Medians in milliseconds; a copy moves ${copyGBs} GB/s\n${table(head, lines)}`;
}

/** @param {readonly Row[]} rows @param {(row: Row) => Record<string, number> | undefined} timesOf */
function printPeers(title, rows, timesOf) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(timesOf(row) ?? {})))];
  if (names.length === 0) return "";
  const lines = rows.map((row) => [row.name, ...names.map((name) => ms(timesOf(row)?.[name]))]);
  return `${title}, medians in milliseconds\n${table(["", ...names], lines)}`;
}

/** @param {readonly Row[]} rows */
function printBaseline(rows) {
  const compared = rows.filter(({ cpp }) => cpp !== undefined);
  if (compared.length === 0) return "";
  const lines = compared.map(({ name, cpp: { cpp, fused, ours, mode, ratio, agrees } }) => {
    const same = agrees ? "" : "results differ";
    return [name, ms(cpp), ms(fused), ms(ours), mode, times(ratio), same];
  });
  const head = ["", "C++", "fused", "ours", "mode", "ours / C++", ""];
  return `Beside C++, medians over processes, milliseconds\n${table(head, lines)}`;
}

/** @param {readonly Row[]} rows */
function printMemory(rows) {
  const measured = rows.filter(({ memory }) => memory !== undefined);
  if (measured.length === 0) return "";
  const lines = measured.map(({ name, memory: { peak, limit } }) => [
    name,
    (peak / MB).toFixed(0),
    (limit / MB).toFixed(0),
    peak <= limit ? "ok" : "above",
  ]);
  return `Peak memory of a process with one call, MB\n${table(["", "peak", "limit", ""], lines)}`;
}

function printScaling(scaling) {
  if (scaling.length === 0) return "";
  const counts = scaling[0].costs.map(({ count }) => count.toExponential(0).replace("+", ""));
  const lines = scaling.map(({ name, costs }) => [
    name,
    ...costs.flatMap(({ nanoseconds, ratio }) => [nanoseconds.toFixed(2), times(ratio)]),
  ]);
  const head = ["", ...counts.flatMap((count) => [count, "x 1e6"])];
  return `Nanoseconds an update, in place, data of 256 kB, and multiples of that of 10^6\n${table(head, lines)}`;
}

/**
 * The targets, and the values reached. The geometric means exclude tiny and the rows that are written in place: these
 * rows have targets of their own, and ratios in the hundreds that would raise any mean.
 */
function printTargets({ workloads, scaling, curve, first }) {
  const timed = workloads.filter(({ ratios }) => ratios !== undefined);
  const plain = timed.filter(({ inPlace, fixed }) => !inPlace && !fixed);
  const each = (rows, ratioOf) =>
    rows.map((row) => [row.name, ratioOf(row)?.ratio]).filter(([, value]) => value !== undefined);
  const peer = ({ ratios }) => ratios.peer;
  const undisposed = ({ ratios }) => ratios.peerUndisposed;
  const heapThreaded = ({ ratios }) => ratios.peerHeapThreads;
  const threaded = ({ ratios }) => ratios.peerThreads;
  const threads = ({ ratios }) => ratios.threads;
  const kept = ({ ratios }) => ratios.peerKept;
  const keptThreaded = ({ ratios }) => ratios.peerKeptThreads;
  const gathers = timed.filter(({ op }) => op === "gatherND");
  const tiny = timed.filter(({ name }) => name === "tiny");
  const resident = workloads.filter(({ cpp }) => cpp?.mode === "resident");
  const inMemory = workloads.filter(({ memory }) => memory !== undefined);
  const lines = [
    atLeast("one thread against the best peer, every row", 1.5, each(timed, peer)),
    mean("one thread against the best peer, geometric mean", 2.5, each(plain, peer)),
    mean("  the same with all rows", 2.5, each(timed, peer)),
    atLeast("results left to the garbage collector, both, every row", 0.9, each(plain, undisposed)),
    mean("  geometric mean", 1.4, each(plain, undisposed)),
    atLeast(
      "gathers from the heap, two threads, against the best peer",
      1.2,
      each(plain, heapThreaded),
    ),
    mean(
      "resident, two threads, against the best peer, geometric mean",
      3.5,
      each(plain, threaded),
    ),
    mean("  the same with all rows", 3.5, each(timed, threaded)),
    mean("kept plan, resident, against the best peer, geometric mean", 5, each(plain, kept)),
    mean("  the same with two threads", 5, each(plain, keptThreaded)),
    atLeast("tiny against the best peer", 10, each(tiny, peer)),
    atLeast("two threads against one, every row", 0.95, each(timed, threads)),
    atLeast("two threads against one, gathers", 1.6, each(gathers, threads)),
    atMost(
      "resident against C++, every row",
      1.2,
      each(resident, ({ cpp }) => cpp.ratio),
    ),
    ...callTargets(curve).map(({ name, limit, reached }) => atMost(name, limit, reached)),
    atMost(
      "first call of a process, ms",
      FIRST_CALL,
      first.map(({ op, call }) => [op, call]),
    ),
    ...costTargets(scaling),
    atMost(
      "peak memory against its limit, every row",
      1,
      inMemory.map(({ name, memory }) => [name, memory.peak / memory.limit]),
    ),
  ].filter(([, , reached]) => reached !== "");
  return lines.length === 0 ? "" : `Targets\n${table(["", "target", "reached", ""], lines)}`;
}

/** The greatest and the least cost per update, as multiples of that at 10^6. */
function costTargets(scaling) {
  const costs = scaling.flatMap(({ name, costs: list }) =>
    list.map(({ count, ratio: { ratio } }) => [`${name} ${count}`, ratio]),
  );
  const name = "cost per update, from 10^3 on, beside that of 10^6";
  return [atMost(name, 1 + TOLERANCE, costs), atLeast("  the same", 1 - TOLERANCE, costs)];
}

function atLeast(name, target, values) {
  const failing = values.filter(([, value]) => value < target);
  const least = Math.min(...values.map(([, value]) => value));
  return verdict(name, `>= ${target}`, values.length, least, failing);
}

function atMost(name, target, values) {
  const failing = values.filter(([, value]) => value > target);
  const most = Math.max(...values.map(([, value]) => value));
  return verdict(name, `<= ${target}`, values.length, most, failing);
}

function mean(name, target, values) {
  const reached = geometricMean(values.map(([, value]) => value));
  const failing = reached < target ? [[`${values.length} rows`, reached]] : [];
  return verdict(name, `>= ${target}`, values.length, reached, failing);
}

function verdict(name, target, count, reached, failing) {
  if (count === 0) return [name, target, "", ""];
  if (failing.length === 0) return [name, target, reached.toFixed(2), "ok"];
  const list = failing.map(([row, value]) => `${row} ${value.toFixed(2)}`).join(", ");
  return [name, target, reached.toFixed(2), `not reached: ${list}`];
}

const ms = (time) => (time === undefined ? "" : time < 0.1 ? time.toFixed(4) : time.toFixed(2));
const times = (value) => {
  if (value === undefined) return "";
  const short = (number) => number.toFixed(number < 100 ? 2 : 0);
  return `${short(value.ratio)} [${short(value.low)}-${short(value.high)}]`;
};
