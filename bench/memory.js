/**
 * Peak memory of a call without `out`. Each row is measured in a separate process: `measureMemory` starts `node
 * memory.js ROW SCALE`, which is this same file.
 */

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { fileURLToPath } from "node:url";
import { inputsOf, optionsOf, scaled, weights, WORKLOADS } from "./workloads.js";

const MB = 2 ** 20;
const SELF = fileURLToPath(import.meta.url);

/**
 * @param {import("./workloads.js").Workload} row
 * @param {number} scale
 * @returns {{ peak: number, limit: number }} in bytes. `peak` excludes the memory of the process before it made any
 *   tensor. `limit` is inputs + output + one randomly accessed tensor + 4 bytes per update + 32 MB.
 */
export function measureMemory(row, scale) {
  const text = execFileSync(process.execPath, [SELF, row.name, String(scale)], {
    encoding: "utf8",
  });
  const { inputs, output, data, count } = weights(scaled(row, scale));
  const random = row.op === "gatherND" ? data : output;
  return { peak: Number(text), limit: inputs + output + random + 4 * count + 32 * MB };
}

async function main([name, scale]) {
  const lib = await import("../dist/entries/index.js");
  const { heapTensors } = await import("./ours.js");
  const row = scaled(
    WORKLOADS.find((row) => row.name === name),
    Number(scale),
  );
  const before = process.memoryUsage().rss;
  const tensors = heapTensors(lib, row, inputsOf(row));
  lib[row.op](...tensors, optionsOf(row));
  console.log(peakBytes() - before);
}

/**
 * Returns the peak memory of this process. `maxRSS` is unsuitable on Linux, where it starts from the parent process's.
 */
function peakBytes() {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS * 1024;
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(fs.readFileSync("/proc/self/status", "utf8"));
  return Number(kilobytes) * 1024;
}

if (process.argv[1] === SELF) await main(process.argv.slice(2));
