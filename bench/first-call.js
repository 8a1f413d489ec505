/**
 * The first call of a process: 4 single float32 elements into, or from, 8. `measureFirstCalls` starts `node
 * first-call.js OP`, which is this same file. The time excludes the cost before the call: importing the library and
 * making tensors.
 */

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { median } from "./statistics.js";

const SELF = fileURLToPath(import.meta.url);

/** @typedef {{ op: string, import: number, call: number }} FirstCall milliseconds, medians over processes */

/**
 * @param {number} processes of each operator
 * @returns {FirstCall[]}
 */
export function measureFirstCalls(processes) {
  return ["scatterND", "gatherND"].map((op) => {
    const runs = Array.from({ length: processes }, () =>
      JSON.parse(execFileSync(process.execPath, [SELF, op], { encoding: "utf8" })),
    );
    return {
      op,
      import: median(runs.map((run) => run.import)),
      call: median(runs.map((run) => run.call)),
    };
  });
}

async function main([op]) {
  const before = performance.now();
  const lib = await import("../dist/entries/index.js");
  const imported = performance.now();
  const data = lib.tensor("float32", [8], new Float32Array(8).fill(1));
  const indices = lib.tensor("int64", [4, 1], BigInt64Array.of(1n, 7n, 2n, 4n));
  const updates = lib.tensor("float32", [4], new Float32Array(4).fill(5));
  const start = performance.now();
  const result =
    op === "gatherND" ? lib.gatherND(data, indices) : lib.scatterND(data, indices, updates);
  const call = performance.now() - start;
  const wanted = op === "gatherND" ? "1,1,1,1" : "1,5,5,1,5,1,1,5";
  if (String(result.data) !== wanted) throw new Error(`the first call gives ${result.data}`);
  console.log(JSON.stringify({ import: imported - before, call }));
}

if (process.argv[1] === SELF) await main(process.argv.slice(2));
