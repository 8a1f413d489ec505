/** The curve as a table, and its targets. */

import { BESIDE, intoOf } from "./curve.js";
import { table } from "./table.js";

/** The targets: multiples of the checked hand-written loop, for single float32. */
const CALL_TARGETS = [
  { from: 4, to: 4, new: 6, into: 6, plan: 3.5 },
  { from: 64, to: 64, new: 2.5, into: 2, plan: 1.3 },
  { from: 256, to: 256, new: 1.5, into: 1.5, plan: 1.2 },
  { from: 4096, to: Infinity, new: 1.1, into: 1.1, plan: 1.1 },
];
/** The calls that each target judges: a fresh result without a reduction, and sums. */
const JUDGED = { new: "none", into: "add", plan: "add" };

/** Milliseconds. */
export const FIRST_CALL = 1;

const title = ({ kind, slice }) =>
  `${kind === "gather" ? "gatherND" : `scatterND ${kind}`}${slice === 1 ? "" : `, slices of ${slice}`}`;

const multiple = (ratio) =>
  ratio === undefined ? "" : `${short(ratio.ratio)} [${short(ratio.low)}-${short(ratio.high)}]`;
const short = (value) => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);

const nanoseconds = (value) =>
  value === undefined
    ? ""
    : value < 1e5
      ? value.toFixed(0)
      : value.toExponential(2).replace("+", "");

/** @param {readonly import("./curve.js").Point[]} points */
export function printCurve(points) {
  if (points.length === 0) return "";
  const names = [...new Set(points.flatMap(({ times }) => Object.keys(times)))];
  const ours = Object.keys(BESIDE).filter((name) => names.includes(name));
  const others = names.filter((name) => !ours.includes(name));
  const lines = points.map((point) => [
    title(point),
    `${point.updates} into ${point.into}`,
    ...ours.flatMap((name) => [nanoseconds(point.times[name]), multiple(point.ratios[name])]),
    ...others.map((name) => nanoseconds(point.times[name])),
  ]);
  const head = ["", "updates", ...ours.flatMap((name) => [name, "x hand"]), ...others];
  return `Nanoseconds a call, and multiples of the checked hand-written loop [interval]\n${table(head, lines)}`;
}

/** @param {readonly import("./first-call.js").FirstCall[]} calls */
export function printFirstCalls(calls) {
  if (calls.length === 0) return "";
  const lines = calls.map(({ op, import: load, call }) => [op, load.toFixed(2), call.toFixed(2)]);
  return `A fresh process, milliseconds: the import, and the first call (4 single float32)\n${table(["", "import", "first call"], lines)}`;
}

/**
 * Returns the targets of calls, each with its name, its limit, and the value of each point.
 * @param {readonly import("./curve.js").Point[]} points
 */
export function callTargets(points) {
  return CALL_TARGETS.flatMap(({ from, to, ...limits }) =>
    Object.entries(limits).map(([mode, limit]) => {
      const kind = JUDGED[mode];
      const judged = points.filter(
        (point) =>
          point.kind === kind && point.slice === 1 && point.updates >= from && point.updates <= to,
      );
      const size = to === from ? `${from} into ${intoOf(from)}` : `${from} and more`;
      return {
        name: `${mode}${kind === "none" ? "" : `, ${kind}`}, ${size}, against hand-written`,
        limit,
        reached: judged.map(({ updates, ratios }) => [String(updates), ratios[mode].ratio]),
      };
    }),
  );
}
