/** Counts how often each number occurs, with threads. A worker may block, so it uses the functions that do not return promises. */

import { createEngine } from "ndscatter";

const COUNT = 2 ** 22;

const engine = createEngine({ threads: navigator.hardwareConcurrency });
// Memory of the engine, which its threads share.
const numbers = engine.alloc("int32", [COUNT]);
const ones = engine.alloc("int32", [COUNT]);
const counts = engine.alloc("int32", [2 ** 16]);
for (let p = 0; p < COUNT; p++) numbers.data[p] = Math.floor(Math.random() * 2 ** 16);
ones.data.fill(1);

onmessage = () => {
  counts.data.fill(0);
  const start = performance.now();
  engine.scatterElements(counts, numbers, ones, { reduction: "add", out: counts });
  postMessage({
    threads: engine.threads,
    reason: engine.reason,
    milliseconds: performance.now() - start,
    total: counts.data.reduce((sum, count) => sum + count, 0),
  });
};
