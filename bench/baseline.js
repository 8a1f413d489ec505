/**
 * Compares the library with plain C++ on the same inputs. Processes of baseline.cpp and of resident.js run in turn for
 * each row; the result is the median of each one's medians.
 */

import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { median, ratioOfRounds } from "./statistics.js";

const SOURCE = fileURLToPath(new URL("baseline.cpp", import.meta.url));
const RESIDENT = fileURLToPath(new URL("resident.js", import.meta.url));

/**
 * @typedef {object} BaselineTimes milliseconds
 * @property {number} cpp
 * @property {number} fused
 * @property {number} ours
 * @property {import("./statistics.js").Ratio} ratio ours / cpp
 * @property {string} mode of `ours`: resident, or into (in place: inplace) without resident tensors
 * @property {boolean} agrees true if all results have the same bits
 */

/**
 * Compiles baseline.cpp into a new folder; null without a compiler.
 * @param {(message: string) => void} tell
 */
export function compileBaseline(tell) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-bench-"));
  const program = path.join(folder, "baseline");
  const close = () => fs.rmSync(folder, { recursive: true, force: true });
  // The folder is removed on exit, because some peers end the process when they fail.
  process.once("exit", close);
  const args = ["-O3", "-std=c++20", SOURCE, "-o", program];
  const { error, status, stderr } = spawnSync("g++", args, { encoding: "utf8" });
  if (status === 0) return { folder, program, close };
  tell(`C++ is left out: ${error?.message ?? stderr.split("\n")[0]}`);
  close();
  return null;
}

/**
 * @param {{ folder: string, program: string }} compiled
 * @param {import("./workloads.js").Workload} row scaled
 * @param {import("./workloads.js").Inputs} inputs
 * @param {{ samples: number, processes: number, scale: number }} settings
 * @returns {BaselineTimes}
 */
export function compareWithCpp({ folder, program }, row, inputs, { samples, processes, scale }) {
  const files = ["data", "indices", "updates"].map((name) => path.join(folder, name));
  for (const [p, values] of [inputs.data, inputs.indices, inputs.updates].entries()) {
    if (values !== null) fs.writeFileSync(files[p], bytesOf(values));
  }
  const { op, dtype, reduction = "none", axis = 0, batchDims = 0, inPlace = false } = row;
  const numbers = [axis, batchDims, Number(inPlace)].map(String);
  const shapes = [row.data.join("x"), row.indices.join("x")];
  const cppArgs = [op, dtype, reduction, ...numbers, ...shapes, ...files, String(samples)];
  const run = (file, args) => JSON.parse(execFileSync(file, args, { encoding: "utf8" }));
  const cpp = [];
  const ours = [];
  for (let n = 0; n < processes; n++) {
    cpp.push(run(program, cppArgs));
    ours.push(run(process.execPath, [RESIDENT, row.name, String(scale), String(samples)]));
  }
  for (const file of files) fs.rmSync(file, { force: true });
  const { checksum } = cpp[0];
  return {
    cpp: median(cpp.map((result) => result.median)),
    fused: median(cpp.map(({ fused }) => fused)),
    ours: median(ours.map((result) => result.median)),
    ratio: ratioOfRounds(
      ours.map((result) => result.median),
      cpp.map((result) => result.median),
    ),
    mode: ours[0].mode,
    agrees: [...cpp, ...ours].every((result) => result.checksum === checksum),
  };
}

const bytesOf = ({ buffer, byteOffset, byteLength }) =>
  new Uint8Array(buffer, byteOffset, byteLength);
