/**
 * CI in two tiers: `.ci/run` for every commit, `.ci/nightly` for everything, everywhere. The rows of `ci/parts.js` are the
 * parts. Installations run beside the first parts, and a part waits for those that it needs. What cannot be installed
 * is skipped by name. A part that fails or hangs does not keep the others from running.
 *
 *     node scripts/ci.js commit|nightly [--list] [--again] [PART …]
 *
 * A nightly run that was stopped goes on where it was: parts that passed on the same commit are not run again, unless
 * they are named, files have changed since, or `--again` is given.
 */

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { INSTALLS, PARTS } from "./ci/parts.js";
import { countsOf, failuresOf, runtimesOf, table } from "./ci/report.js";
import { run, stopAll } from "./ci/run.js";
import { announceSeed, commit, isCommitted } from "./seed.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
process.chdir(ROOT);

function options() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { list: { type: "boolean" }, again: { type: "boolean" } },
  });
  const [tier, ...named] = positionals;
  const all = PARTS.filter(({ limits }) => tier in limits).map((part) => ({
    ...part,
    command: tier === "nightly" ? [...part.command, ...(part.all ?? [])] : part.command,
    env: tier === "nightly" ? { ...part.env, ...part.nightlyEnv } : part.env,
    limit: part.limits[tier],
  }));
  if (all.length === 0) throw new Error(`the tier must be commit or nightly, got ${tier}`);
  const unknown = named.filter((word) => !all.some(({ name }) => name === word));
  if (unknown.length > 0) {
    const names = all.map(({ name }) => name).join(", ");
    throw new Error(`no part is named ${unknown.join(", ")}; the parts are ${names}`);
  }
  const parts = all.filter(
    ({ name, isVital }) => named.length === 0 || isVital || named.includes(name),
  );
  return { tier, all, parts, named, ...values };
}

const { tier, all, parts, named, list, again } = options();
if (list) {
  for (const { name, what } of all) console.log(`${name.padEnd(14)} ${what}`);
  process.exit();
}

const start = performance.now();
const isNightly = tier === "nightly";
const head = commit() ?? "no-commit";
const folder = isNightly ? path.join("build/nightly", head) : "build/ci";
fs.mkdirSync(folder, { recursive: true });
const logOf = (name) => path.join(folder, `${name}.log`);
announceSeed(isNightly ? ".ci/nightly" : ".ci/run", isNightly ? new Date().toISOString() : "");
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(name, () => void stopAll());

/** Starts the installations that the parts need, one after the other, because each uses the disk and the network. */
function startInstalls() {
  const needed = new Set(parts.flatMap(({ needs = [] }) => needs));
  const installs = new Map();
  let before = Promise.resolve();
  for (const row of INSTALLS.filter(({ name }) => needed.has(name))) {
    const one = before.then(async () => {
      const { status, wall, processor } = await run(row, logOf(`install-${row.name}`));
      const how = status === 0 ? "" : `: failed, see ${logOf(`install-${row.name}`)}`;
      console.log(
        `installed: ${row.name}, ${wall.toFixed(1)} s, of processor time ${processor.toFixed(1)} s${how}`,
      );
      return { name: `install ${row.name}`, wall, processor };
    });
    installs.set(row.name, one);
    before = one;
  }
  return installs;
}

/** Returns the result of a part that passed on this commit, or null. */
function kept(part) {
  const file = path.join(folder, `${part.name}.json`);
  const isSkipped = isNightly && !again && !part.isVital && named.length === 0 && isCommitted();
  return isSkipped && fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")) : null;
}

/** Runs a part. The main lane prints while it runs, a side lane when it ends, so that their lines do not mix. */
async function runPart(part, installs) {
  const before = kept(part);
  if (before !== null) return { ...before, isKept: true };
  await Promise.all((part.needs ?? []).map((name) => installs.get(name)));
  const isSide = !isNightly && part.lane === "side";
  const title = `== ${part.name}: ${part.what}`;
  console.log(isSide ? `${title}, beside the others` : title);
  const print = (text) => process.stdout.write(text);
  const result = await run(part, logOf(part.name), isSide ? undefined : print);
  const { output, status, wall, processor } = result;
  if (isSide) console.log(`\n${title}\n${output}`);
  const counts = countsOf(output, status);
  console.log(
    `took: ${part.name}, ${wall.toFixed(1)} s, of processor time ${processor.toFixed(1)} s`,
  );
  const isGood = status === 0 && counts.failed === 0;
  const done = {
    ...{ name: part.name, wall, processor, counts, isGood },
    ...{ runtimes: runtimesOf(output), failures: isGood ? [] : failuresOf(output, status) },
  };
  if (isGood) fs.writeFileSync(path.join(folder, `${part.name}.json`), JSON.stringify(done));
  return done;
}

/** Runs the parts of a lane one after the other. A vital part that fails ends the run. */
async function runLane(lane, installs) {
  const results = [];
  for (const part of lane) {
    const result = await runPart(part, installs);
    results.push(result);
    if (part.isVital && !result.isGood) break;
  }
  return results;
}

async function main() {
  const installs = startInstalls();
  const vital = await runLane(
    parts.filter(({ isVital }) => isVital),
    installs,
  );
  const isLost = vital.some(({ isGood }) => !isGood);
  const others = isLost ? [] : parts.filter(({ isVital }) => !isVital);
  const lanes = [undefined, "side"].map((lane) =>
    others.filter((part) => (isNightly ? undefined : part.lane) === lane),
  );
  const rest = (await Promise.all(lanes.map((lane) => runLane(lane, installs)))).flat();
  const nothing = { passed: 0, failed: 0, skipped: 0 };
  const installed = await Promise.all(installs.values());
  const results = [...installed.map((one) => ({ ...one, counts: nothing })), ...vital, ...rest];
  const { rows, last, failed, processor } = table(results);
  const seconds = (performance.now() - start) / 1000;
  const title = `Parts: ${(seconds / 60).toFixed(1)} min of wall, ${(processor / 60).toFixed(1)} min of processor time`;
  console.log(`\n== ${title}\n${rows.join("\n")}`);
  const runtimes = results.flatMap((result) => result.runtimes ?? []);
  console.log(`\n== Runtimes\n${runtimes.join("\n")}`);
  const failures = results.flatMap((result) => result.failures ?? []);
  if (failures.length > 0) console.log(`\n== Failed\n${failures.join("\n")}`);
  console.log(last);
  process.exitCode = failed > 0 ? 1 : 0;
}

await main();
