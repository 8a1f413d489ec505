/** The tests in the Node that runs this: `npm test`, or the slow ones: `npm test -- --slow`. Names of files may follow. */

import { isNamed, runFiles, seconds, temporaryFolder, testFiles } from "./files.ts";
import { close, sumOf } from "./outcome.ts";
import { exitOnSignals } from "./process-group.ts";
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
  areSlow ? NODE : { ...NODE, env: { ...NODE.env, ...temporaryFolder() } },
  process.execPath,
  named.length === 0 ? all : all.filter((name) => named.some((word) => isNamed(name, word))),
  // What slow tests measure is a process's own.
  areSlow ? { together: 1 } : NODE,
);
const difference = compareSentences(folder, named.length === 0 && !areSlow);
if (difference.length > 0) {
  const title = "sentences differ from test/fixtures/sentences.txt; UPDATE=1 npm test rewrites it";
  console.log(`failure: ${title}\n${difference.join("\n")}\nend of failure`);
}
const sentences = { passed: 0, failed: Number(difference.length > 0), skipped: 0 };
const wall = (performance.now() - start) / 1000;
const processor = results.reduce((sum, result) => sum + result.processor, 0);
close(
  `Node ${process.versions.node}${areSlow ? ", slow tests" : ""}`,
  sumOf([...results.map(({ counts }) => counts), sentences]),
  `${seconds(wall)}, of processor time ${seconds(processor)}`,
);
