/** The tests in the Node that runs this: `npm test`, or the slow ones: `npm test -- --slow`. Names of files may follow. */

import { isNamed, runFiles, seconds, testFiles } from "./files.ts";
import { close, sumOf } from "./outcome.ts";
import { exitOnSignals } from "./process-group.ts";
import { NODE } from "./runtimes.ts";
import { announceSeed } from "./seed.ts";

exitOnSignals();
announceSeed("npm test");
const named = process.argv.slice(2).filter((argument) => argument !== "--slow");
const areSlow = process.argv.includes("--slow");
const all = testFiles(areSlow);
const start = performance.now();
const results = await runFiles(
  NODE,
  process.execPath,
  named.length === 0 ? all : all.filter((name) => named.some((word) => isNamed(name, word))),
  // What slow tests measure is a process's own.
  areSlow ? { together: 1 } : NODE,
);
const wall = (performance.now() - start) / 1000;
const processor = results.reduce((sum, result) => sum + result.processor, 0);
close(
  `Node ${process.versions.node}${areSlow ? ", slow tests" : ""}`,
  sumOf(results.map(({ counts }) => counts)),
  `${seconds(wall)}, of processor time ${seconds(processor)}`,
);
