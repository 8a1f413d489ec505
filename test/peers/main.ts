/**
 * Compares the package with other systems: `npm run test:peers -- [PART…] [--cases N] [--all]`. Every part prints
 * versions, counts of cases and differences. `--cases` multiplies the number of random cases (default 1). `--all` prints
 * a group for each combination of facts of a difference.
 */

import { parseArgs } from "node:util";
import { announceSeed } from "../runners/seed.ts";
import { close, secondsSince, sumOf } from "../runners/outcome.ts";
import { arrays } from "./arrays.ts";
import { conversions } from "./conversions.ts";
import { dialects } from "./dialects.ts";
import { frameworks } from "./frameworks.ts";
import { gradients } from "./gradients.ts";
import { models } from "./models.ts";
import { operators } from "./operators.ts";
import { Tally, type Part } from "./tally.ts";

const PARTS: readonly Part[] = [
  operators,
  conversions,
  gradients,
  arrays,
  dialects,
  frameworks,
  models,
];

announceSeed("npm run test:peers");
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { cases: { type: "string", default: "1" }, all: { type: "boolean" } },
});
const factor = Number(values.cases);
const unknown = positionals.filter((word) => !PARTS.some(({ name }) => name === word));
if (unknown.length > 0 || !(factor > 0)) {
  console.error(
    `the parts are ${PARTS.map(({ name }) => name).join(", ")}; --cases takes a number`,
  );
  process.exit(2);
}
const start = performance.now();
const results = [];
for (const part of PARTS) {
  if (positionals.length > 0 && !positionals.includes(part.name)) continue;
  console.log(`== ${part.name}: ${part.what}`);
  const begin = performance.now();
  const tally = new Tally(part, values.all);
  // oxlint-disable-next-line no-await-in-loop
  await part.run(tally, factor);
  const counts = tally.close(factor >= 1);
  console.log(`${part.name}: ${((performance.now() - begin) / 1000).toFixed(1)} s`);
  results.push(counts);
}
close("peers", sumOf(results), secondsSince(start));
