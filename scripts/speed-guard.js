/**
 * Compares the speed of this checkout with another one, both built: `node scripts/speed-guard.js OTHER_CHECKOUT
 * [WORD...]`. Prints for each row how many times as long the other one takes: below 1 this checkout is slower. Both run
 * in turn in the same process, in several processes that load them in either order, because a process's compiled code
 * and memory differ from those of another by more than a change does. Words choose the rows whose names have them.
 */

import { spawnSync } from "node:child_process";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { measure, processorTime, shortCalls } from "../bench/measure.js";
import { median, ratioOfRounds } from "../bench/statistics.js";
import { rowsOf } from "./speed-rows.js";

const FILE = fileURLToPath(import.meta.url);
const OWN = path.join(path.dirname(FILE), "..");

/** Processes whose ratios are compared: the rounds of one process resemble each other. */
const PROCESSES = 10;

/** Rounds of one process, of which the least counts: other work on the machine only adds to it. */
const SAMPLES = 6;
const SHORT_SAMPLES = 16;

/** An interval that ends below is a row that has become slower: below the noise of equal checkouts, which is 2 to 3 %. */
const SLOWER = 0.97;

/** Measures the rows in this process. @returns milliseconds per call of each round, by row and checkout */
async function run(checkouts, words) {
  const libraries = [];
  for (const checkout of checkouts) {
    const file = path.join(checkout, "dist/entries/index.js");
    // In sequence, because the order of loading matters.
    // oxlint-disable-next-line no-await-in-loop
    libraries.push([checkout, rowsOf(await import(pathToFileURL(file).href))]);
  }
  const names = Object.keys(libraries[0][1]).filter((name) =>
    words.every((word) => name.includes(word)),
  );
  const times = {};
  for (const name of names) {
    const contestants = libraries.map(([checkout, rows]) => ({
      name: checkout,
      call: rows[name](),
    }));
    // Threads take less time, not less work.
    const clock = name.includes("threads") ? {} : { now: processorTime };
    const isShort = !name.startsWith("50,000");
    const samples = isShort ? SHORT_SAMPLES : SAMPLES;
    const pace = { samples, sample: 10, warmUp: 60, ...clock };
    // oxlint-disable-next-line no-await-in-loop
    times[name] = Object.fromEntries(await measure(contestants, isShort ? shortCalls(pace) : pace));
  }
  return times;
}

/** Runs the rows in several processes, and prints the ratios. */
function main(other, words) {
  const times = new Map();
  for (let n = 0; n < PROCESSES; n++) {
    const pair = n % 2 === 0 ? [OWN, other] : [other, OWN];
    const { stdout, status } = spawnSync(process.execPath, [FILE, "--pair", ...pair, ...words], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
    if (status !== 0) throw new Error(`measuring ended with status ${status}`);
    for (const [name, found] of Object.entries(JSON.parse(stdout))) {
      const known = times.get(name) ?? { own: [], other: [] };
      known.own.push(Math.min(...found[OWN]));
      known.other.push(Math.min(...found[other]));
      times.set(name, known);
    }
  }
  let slower = 0;
  const table = [...times].map(([name, { own, other }]) => {
    const { ratio, low, high } = ratioOfRounds(other, own);
    const isSlower = high < SLOWER;
    if (isSlower) slower++;
    const micros = (1000 * median(own)).toPrecision(3);
    return {
      row: name,
      "µs here": micros,
      "other / this": ratio.toFixed(3),
      low,
      high,
      verdict: isSlower ? "slower" : "",
    };
  });
  console.table(table);
  console.log(slower === 0 ? "no row is slower" : `${slower} rows are slower here`);
  process.exitCode = slower === 0 ? 0 : 1;
}

const [first, ...rest] = process.argv.slice(2);
if (first === "--pair") {
  const times = await run(rest.slice(0, 2), rest.slice(2));
  // The threads of an engine would keep the process alive.
  process.stdout.write(JSON.stringify(times), () => process.exit());
} else if (first === undefined) {
  console.error(
    "node scripts/speed-guard.js OTHER_CHECKOUT [WORD...]: the other checkout must be built",
  );
  process.exitCode = 2;
} else main(path.resolve(first), rest);
