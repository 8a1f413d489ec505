/**
 * Does the cost of an update depend on the number of updates? Measures scatters and gathers of 10^3 to 10^7 scalars in
 * 256 kB of data. The data stays in cache, so that nothing but the number changes.
 */

import { measure } from "./measure.js";
import { heapTensors } from "./ours.js";
import { median } from "./statistics.js";
import { inputsOf, optionsOf } from "./workloads.js";

const COUNTS = [1e3, 1e4, 1e5, 1e6, 1e7];
/** The cost at this many is what the others are compared with. */
const BASE = 1e6;
/** How far the cost at one count may be from it, as a fraction. */
export const TOLERANCE = 0.3;

/** @type {readonly Pick<import("./workloads.js").Workload, "name" | "op" | "reduction">[]} */
const ROWS = [
  { name: "scatterND scalars none", op: "scatterND", reduction: "none" },
  { name: "scatterND scalars add", op: "scatterND", reduction: "add" },
  { name: "gatherND scalars", op: "gatherND" },
];

/**
 * @param {any} lib
 * @param {any} engine has the operators as functions
 * @param {{ pace: import("./measure.js").Pace, most: number, tell: (message: string) => void }} settings `most`: of updates
 * @returns {Promise<{ name: string, costs: { count: number, nanoseconds: number }[], spread: number }[]>} `spread` is
 * the greatest distance from the cost at 10^6, as a
 * fraction
 */
export async function measureScaling(lib, engine, { pace, most, tell }) {
  const results = [];
  for (const kind of ROWS) {
    tell(`cost per update: ${kind.name}`);
    const costs = [];
    for (const count of COUNTS.filter((count) => count <= most)) {
      const row = {
        ...kind,
        dtype: "float32",
        data: [65_536],
        indices: [count, 1],
        fill: "random",
      };
      const tensors = heapTensors(lib, row, inputsOf(row));
      const out = row.op === "gatherND" ? lib.zeros("float32", [count]) : tensors[0];
      const options = { ...optionsOf(row), out };
      const call = () => engine[row.op](...tensors, options);
      const rounds = await measure([{ name: row.name, call, output: call }], pace);
      costs.push({ count, nanoseconds: (median(rounds.get(row.name)) / count) * 1e6 });
    }
    // The trial of a smaller scale has no such count.
    const base = costs.find(({ count }) => count === BASE) ?? costs.at(-1);
    const far = costs.map(({ nanoseconds }) => Math.abs(nanoseconds / base.nanoseconds - 1));
    const spread = Math.max(...far);
    results.push({ name: kind.name, costs, spread });
  }
  return results;
}
