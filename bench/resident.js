/**
 * `node resident.js ROW SCALE SAMPLES` measures one row with resident tensors and prints the result as JSON.
 * `baseline.js` starts it as a separate process.
 */

import * as lib from "../dist/entries/index.js";
import { checksum } from "./check.js";
import { measure } from "./measure.js";
import { createOurs } from "./ours.js";
import { median } from "./statistics.js";
import { inputsOf, scaled, WORKLOADS } from "./workloads.js";

const [name, scale, samples] = process.argv.slice(2);
const row = scaled(
  WORKLOADS.find((row) => row.name === name),
  Number(scale),
);
const ours = createOurs(lib, "auto", [1]);
const modes = ["resident", row.inPlace ? "inplace" : "into"];
const mode = ours.missing.some((reason) => reason.startsWith("`resident`")) ? modes[1] : modes[0];
const [contestant] = ours.contestants(row, inputsOf(row), (name) => name === mode);
const sum = checksum(await contestant.output());
const rounds = (await measure([contestant], { samples: Number(samples) })).get(contestant.name);
console.log(JSON.stringify({ median: median(rounds), mode, checksum: sum }));
process.exit();
