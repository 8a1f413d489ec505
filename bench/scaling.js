/**
 * Does the cost of an update depend on the number of updates? Measures scatters and gathers of 10^4 to 10^7 scalars in
 * 256 kB of data. The data stays in cache, so that nothing but the number changes.
 */

import { measure } from "./measure.js";
import { heapTensors } from "./ours.js";
import { inputsOf, optionsOf } from "./workloads.js";

const COUNTS = [1e4, 1e5, 1e6, 1e7];
/** How far the cost at one count may be from the geometric mean, as a fraction. */
export const TOLERANCE = 0.25;

/** @type {readonly Pick<import("./workloads.js").Workload, "name" | "op" | "reduction">[]} */
const ROWS = [
  { name: "scatterND scalars none", op: "scatterND", reduction: "none" },
  { name: "scatterND scalars add", op: "scatterND", reduction: "add" },
  { name: "gatherND scalars", op: "gatherND" },
];

/**
 * @param {any} lib
 * @param {any} engine has the operators as functions
 * @param {{ samples: number, most: number, tell: (message: string) => void }} settings `most`: of updates
 * @returns {Promise<{ name: string, costs: { count: number, nanoseconds: number }[], spread: number }[]>} `spread` is
 * the greatest distance from the geometric mean, as a fraction
 */
export async function measureScaling(lib, engine, { samples, most, tell }) {
  const results = [];
  for (const base of ROWS) {
    tell(`cost per update: ${base.name}`);
    const costs = [];
    for (const count of COUNTS.filter((count) => count <= most)) {
      const row = {
        ...base,
        dtype: "float32",
        data: [65_536],
        indices: [count, 1],
        fill: "random",
      };
      const tensors = heapTensors(lib, row, inputsOf(row));
      const out = row.op === "gatherND" ? lib.zeros("float32", [count]) : tensors[0];
      const options = { ...optionsOf(row), out };
      const call = () => engine[row.op](...tensors, options);
      const times = await measure([{ name: row.name, call, output: call }], samples);
      costs.push({ count, nanoseconds: (times.get(row.name) / count) * 1e6 });
    }
    const logs = costs.map(({ nanoseconds }) => Math.log(nanoseconds));
    const middle = Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length);
    const spread = Math.max(...costs.map(({ nanoseconds }) => Math.abs(nanoseconds / middle - 1)));
    results.push({ name: base.name, costs, spread });
  }
  return results;
}
