/** `node build/test/nightly/distributed/simulation/main.js FIRST-SEED STEPS`: simulates until so many steps are done. */

import { simulate } from "./scenario.ts";

const [first = "1", most = "10000"] = process.argv.slice(2);
const counts = new Map<string, number>();
let steps = 0;
let failed = 0;
let seed = Number(first);
for (; steps < Number(most); seed++) {
  const report = await simulate(seed);
  steps += report.steps;
  for (const [what, count] of report.counts) counts.set(what, (counts.get(what) ?? 0) + count);
  if (report.faults.length === 0) continue;
  failed++;
  if (failed <= 10)
    console.log(
      `seed ${seed}, ${report.steps} steps:\n  ${report.faults.slice(0, 5).join("\n  ")}`,
    );
  if (failed === 1 && process.env["STORY"] !== undefined) console.log(report.story.join("\n"));
}
for (const [what, count] of [...counts].sort()) console.log(`${String(count).padStart(8)} ${what}`);
console.log(`${steps} steps, ${seed - Number(first)} scenarios, ${failed} failed`);
