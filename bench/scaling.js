/**
 * Measures how the cost of an update depends on the number of updates. The calls are scatters and gathers of 10^3 to
 * 10^7 scalars in 256 kB of data. The data stays in cache, so that only the number changes.
 */

import { measure } from "./measure.js";
import { heapTensors } from "./ours.js";
import { median, ratioOfRounds, round } from "./statistics.js";
import { inputsOf, optionsOf } from "./workloads.js";

const COUNTS = [1e3, 1e4, 1e5, 1e6, 1e7];
/** The count whose cost the others are compared with. */
const BASE = 1e6;
/** The greatest deviation of a cost from the one at {@link BASE}, as a fraction. */
export const TOLERANCE = 0.3;
/** The results are given, so the calls make almost no garbage; small calls only need compiled code. */
const PACE = { collects: false, pause: 0, warmUp: 300 };

/** @type {readonly Pick<import("./workloads.js").Workload, "name" | "op" | "reduction">[]} */
const ROWS = [
  { name: "scatterND scalars none", op: "scatterND", reduction: "none" },
  { name: "scatterND scalars add", op: "scatterND", reduction: "add" },
  { name: "gatherND scalars", op: "gatherND" },
];

/**
 * @typedef {object} Cost
 * @property {number} count of updates
 * @property {number} nanoseconds per update
 * @property {import("./statistics.js").Ratio} ratio to the cost at 10^6, within a round
 */

/**
 * @param {any} lib
 * @param {any} engine with the operators as functions
 * @param {{ pace: import("./measure.js").Pace, most: number, tell: (message: string) => void }} settings `most`: of
 *   updates
 * @returns {Promise<{ name: string, costs: Cost[] }[]>}
 */
export async function measureScaling(lib, engine, { pace, most, tell }) {
  const results = [];
  for (const kind of ROWS) {
    tell(`cost per update: ${kind.name}`);
    const counts = COUNTS.filter((count) => count <= most);
    const contestants = counts.map((count) => contestant(lib, engine, kind, count));
    const rounds = await measure(contestants, { ...pace, ...PACE });
    const costs = counts.map((count) => rounds.get(String(count)).map((time) => time / count));
    // A trial at a smaller scale lacks this count.
    const base = costs[counts.indexOf(BASE)] ?? costs.at(-1);
    results.push({
      name: kind.name,
      costs: counts.map((count, position) => ({
        count,
        nanoseconds: round(median(costs[position]) * 1e6),
        ratio: ratioOfRounds(costs[position], base),
      })),
    });
  }
  return results;
}

function contestant(lib, engine, kind, count) {
  const shape = { data: [65_536], indices: [count, 1] };
  const row = { ...kind, ...shape, dtype: "float32", fill: "random" };
  const tensors = heapTensors(lib, row, inputsOf(row));
  const out = row.op === "gatherND" ? lib.zeros("float32", [count]) : tensors[0];
  const options = { ...optionsOf(row), out };
  const call = () => engine[row.op](...tensors, options);
  return { name: String(count), call, output: call };
}
