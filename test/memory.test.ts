/** How much memory a process comes to need for results of 50 MB, at its peak; 109 MB for 10,000 of them. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

const ENTRY = new URL("../src/index.js", import.meta.url).href;

/** `RESULTS=10000` asks for more of them, which takes 25 seconds. */
const RESULTS = Number(process.env["RESULTS"] ?? 500);
const ELEMENTS = 12_500_000;

/** Makes results that differ in one element, does that with each, and prints the peak in megabytes. */
const program = (results: number, then: string): string => `
  const { createEngine, zeros } = await import(${JSON.stringify(ENTRY)});
  const engine = createEngine();
  const data = zeros("float32", [${ELEMENTS}]);
  for (let i = 1; i <= ${results}; i++) {
    const result = engine.scatterND(data, [[i]], [i]);
    const view = result.data;
    if (view[i] !== i || view[i - 1] !== 0) throw new Error("result " + i + " is wrong");
    ${then}
  }
  console.log(process.resourceUsage().maxRSS / 1000);`;

function peak(results: number, then = ""): number {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module", "--eval", program(results, then)],
    { encoding: "utf8", timeout: 600_000 },
  );
  assert.match(stdout, /^[\d.]+\n$/, stderr);
  return Number(stdout);
}

test(`${RESULTS} results that are disposed of need less than 500 MB`, (context) => {
  const emptied = 'if (view.length !== 0) throw new Error("a view outlives its result");';
  const megabytes = peak(RESULTS, `result.dispose(); ${emptied}`);
  context.diagnostic(`${megabytes} MB`);
  assert.ok(megabytes < 500, `${megabytes} MB`);
});

test("results that are left to the garbage collector stay bounded", (context) => {
  // 5 GB in all.
  const megabytes = peak(100);
  context.diagnostic(`${megabytes} MB`);
  assert.ok(megabytes < 2000, `${megabytes} MB`);
});
