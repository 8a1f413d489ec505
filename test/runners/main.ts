/** Runs the tests in this Node: `npm test`, or the slow tests: `npm test -- --slow`. Names of files or folders may follow. */

import { closeFiles, isNamed, runFiles, temporaryFolder, testFiles } from "./files.ts";
import { exitOnSignals } from "../../scripts/process-group.js";
import { NODE } from "./runtimes.ts";
import { collectSentences, compareSentences } from "./sentences.ts";
import { announceSeed } from "./seed.ts";

exitOnSignals();
announceSeed("npm test");
const named = process.argv.slice(2).filter((argument) => argument !== "--slow");
const areSlow = process.argv.includes("--slow");
const all = testFiles(areSlow);
const start = performance.now();
const folder = collectSentences();
const results = await runFiles(
  // A slow test may measure its process.
  areSlow ? { ...NODE, together: 1 } : { ...NODE, env: temporaryFolder() },
  process.execPath,
  named.length === 0 ? all : all.filter((name) => named.some((word) => isNamed(name, word))),
);
const difference = compareSentences(folder, named.length === 0 && !areSlow);
if (difference.length > 0) {
  const title = "sentences differ from test/fixtures/sentences.txt; UPDATE=1 npm test rewrites it";
  console.log(`failure: ${title}\n${difference.join("\n")}\nend of failure`);
}
const sentences = { passed: 0, failed: Number(difference.length > 0), skipped: 0 };
closeFiles(
  `Node ${process.versions.node}${areSlow ? ", slow tests" : ""}`,
  results,
  sentences,
  start,
);
