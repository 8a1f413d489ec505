/**
 * Breaks the code in small ways and checks that the tests notice: `npm run mutate -- --help`.
 *
 * All work happens in private copies of the project. For each mutant, the test files that reach its code run, fastest
 * first, until one fails. A mutant that the compiler refuses is replaced by another.
 */

import os from "node:os";
import path from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { areaOf, inOrder, shares } from "./mutate/areas.js";
import { compileMutants, testMutants, watchTests } from "./mutate/hunt.js";
import { mutantsOf } from "./mutate/mutants.js";
import { printSummary, printSurvivors, printVerdict, say } from "./mutate/report.js";
import { gpuTestFiles, testFiles, testFilesBesideGpu } from "./mutate/tests.js";
import { build, copyProject, makeFolder, readSources, Workspace } from "./mutate/workspace.js";

/** The share of an area's mutants that the tests must notice. */
const ENOUGH = 0.95;

const DESCRIPTION =
  "Draws mutants of the sources, which are small changes that make the code wrong, and runs the tests that reach " +
  "them. Prints which mutants survive. The status is 1 when the tests notice less than 95 % of an area.";

function readOptions() {
  const {
    seed,
    area = [],
    at = [],
    test = [],
    ...others
  } = new Command("npm run mutate --")
    .description(DESCRIPTION)
    .option(
      "--seed <number>",
      "draws the mutants: the same seed and sources, the same mutants",
      whole,
    )
    .option(
      "--count <number>",
      "how many: of all areas together, or of each that is named",
      whole,
      100,
    )
    .option("--area <name>", "an area, or `all`; may stand several times", collect)
    .option("--at <file[:line]>", "all mutants of a line or file; may stand several times", collect)
    .option(
      "--test <name>",
      "run only this test file, such as `npy`; may stand several times",
      collect,
    )
    .option(
      "--seconds <number>",
      "for each mutant, leave out the slowest test files beyond",
      whole,
      300,
    )
    .option("--list", "only print the areas and the mutants that are drawn")
    .option("--jobs <number>", "how many run at once", whole, os.availableParallelism())
    .parse()
    .opts();
  return { seed: seed ?? Math.floor(Math.random() * 1e6), area, at, test, ...others };
}

const collect = (value, before = []) => [...before, value];

function whole(text) {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number from 1.");
}

/** Returns the mutants of each area in the order in which they are drawn, and the number wanted of each. */
function draw(sources, { seed, count, area: named, at }) {
  const all = sources.flatMap(({ file, text }) =>
    mutantsOf(file, text).map((mutant) => ({ ...mutant, area: areaOf(file) })),
  );
  if (at.length > 0) {
    const isMeant = ({ file, line }) => at.some((one) => one === file || one === `${file}:${line}`);
    const pools = inOrder(all.filter(isMeant), seed);
    return { pools, wanted: new Map([...pools].map(([area, { length }]) => [area, length])) };
  }
  const pools = inOrder(all, seed);
  const areas = named.includes("all") ? [...pools.keys()] : named;
  const unknown = areas.find((one) => !pools.has(one));
  if (unknown === undefined) return { pools, wanted: shares(pools, count, areas) };
  throw new Error(`there is no area "${unknown}", but ${[...pools.keys()].join(", ")}`);
}

function printDrawn({ pools, wanted }) {
  for (const [area, mutants] of pools) {
    const drawn = mutants.slice(0, wanted.get(area) ?? 0);
    say(`${area}: ${mutants.length} mutants, ${drawn.length} drawn`);
    for (const { file, line, change } of drawn) say(`  ${file}:${line}  ${change}`);
  }
}

/**
 * Returns the test files that can reach the wanted areas. Without WebGPU, the area `gpu` is removed from the wanted
 * ones.
 */
async function testFilesOf(folder, wanted) {
  const hasOthers = [...wanted.keys()].some((area) => area !== "gpu");
  const names = hasOthers ? testFiles(folder) : testFilesBesideGpu(folder);
  if (!wanted.has("gpu")) return names;
  const ofGpu = await gpuTestFiles(folder);
  if (typeof ofGpu !== "string") return [...names, ...ofGpu];
  say(ofGpu);
  wanted.delete("gpu");
  return names;
}

async function main() {
  const options = readOptions();
  const folder = makeFolder();
  const first = path.join(folder, "1");
  copyProject(first);
  const sources = readSources(first);
  const { pools, wanted } = draw(sources, options);
  if (options.list) return printDrawn({ pools, wanted });

  say(`seed ${options.seed}; building`);
  await build(first);
  const names = await testFilesOf(first, wanted);
  const workspaces = [new Workspace(first)];
  for (let job = 2; job <= options.jobs; job++) {
    workspaces.push(workspaces[0].copyTo(path.join(folder, String(job))));
  }
  const mutants = await compileMutants(workspaces, pools, wanted);
  const { test, seconds } = options;
  const isMeant = (name) =>
    test.length === 0 || test.some((word) => `/${name}`.endsWith(`/${word}`));
  const observations = await watchTests(workspaces, names.filter(isMeant), sources, mutants);
  const verdicts = [];
  await testMutants(workspaces, mutants, observations, seconds, (verdict) => {
    verdicts.push(verdict);
    printVerdict(verdict, verdicts.length, mutants.length);
  });
  verdicts.sort((a, b) => a.id - b.id);
  printSurvivors(verdicts, sources);
  if (!printSummary(verdicts, ENOUGH)) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  say(error.message);
  process.exitCode = 2;
}
