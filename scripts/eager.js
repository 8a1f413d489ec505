/**
 * Makes V8 compile the functions that a first call runs together with their file. V8 compiles a function when it is
 * first called, which takes some 15 µs each; the first `scatterND` of a process runs about a hundred, and took 1.8 ms.
 * V8 compiles a function in parentheses with its file at once: the first call then takes 0.8 ms, and importing takes no
 * longer.
 *
 * The functions are found by calling the bundle under V8's coverage, so this script does not list them.
 */

import fs from "node:fs";
import { Session } from "node:inspector/promises";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/**
 * Rewrites the files of a bundle in place.
 * @param {string} folder of the bundle
 */
export async function compileEarly(folder) {
  for (const { url, functions } of await functionsOfFirstCalls(folder)) {
    const file = fileURLToPath(url);
    const text = fs.readFileSync(file, "utf8");
    const ranges = functions
      .filter(({ count }) => count > 0)
      .filter(({ start }) => text.startsWith("\nfunction ", start - 1));
    if (ranges.length > 0) fs.writeFileSync(file, rewritten(text, ranges));
  }
}

/**
 * Moves declarations to the head of a file, as values in parentheses. A value is undefined until its line has run; at
 * the head no code runs before that line.
 * @param {string} text
 * @param {readonly { start: number, end: number }[]} ranges of declarations
 */
function rewritten(text, ranges) {
  let rest = text;
  const early = [];
  for (const { start, end } of ranges.toSorted((a, b) => b.start - a.start)) {
    const declaration = text.slice(start, end);
    const [head, name] = /^function (\w+)/.exec(declaration);
    // The variable gives the function its name, and a second mention would take 0.1 kB of a page.
    early.unshift(`var ${name} = (function ${declaration.slice(head.length)});\n`);
    rest = rest.slice(0, start) + rest.slice(end + 1);
  }
  return early.join("") + rest;
}

/** Returns the functions of the bundle's files and how often small calls run them, loading the files left aside. */
async function functionsOfFirstCalls(folder) {
  const lib = await import(pathToFileURL(path.join(folder, "entries/index.js")));
  const data = lib.tensor("float32", [8], new Float32Array(8));
  const tuples = lib.tensor("int64", [4, 1], BigInt64Array.of(1n, 7n, 2n, 4n));
  const places = lib.tensor("int64", [4], BigInt64Array.of(1n, 7n, 2n, 4n));
  const updates = lib.tensor("float32", [4], new Float32Array(4));
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  for (const options of [{}, { reduction: "add" }]) {
    lib.scatterND(data, tuples, updates, options);
    lib.scatterElements(data, places, updates, options);
  }
  lib.gatherND(data, tuples);
  lib.gatherElements(data, places);
  lib.gather(data, places);
  const { result } = await session.post("Profiler.takePreciseCoverage");
  session.disconnect();
  const root = pathToFileURL(folder).href;
  return result
    .filter(({ url }) => url.startsWith(root))
    .map(({ url, functions }) => ({
      url,
      functions: functions.map(({ ranges: [{ startOffset: start, endOffset: end, count }] }) => ({
        start,
        end,
        count,
      })),
    }));
}
