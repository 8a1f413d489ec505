/**
 * Files of a job that anybody may have changed: each mutant ends with an error that has a code, or with the job done, and
 * touches nothing outside of the roots. Values of updates between the stages have no checksum, so they are not changed here.
 */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { before, test } from "node:test";
import { rootsFrom, type Roots } from "../src/arrays/chunked/job/roots.ts";
import { startPool } from "../src/arrays/chunked/run/pool.ts";
import { isTensorError } from "../src/core/errors.ts";
import { openJob, remainingTasks } from "../src/entries/chunked.ts";
import { caseCount } from "./support/cases.ts";
import { add, makeHome, makeJob, MEMORY, storeInputs } from "./support/job-files.ts";
import { randomFrom, type Random } from "./support/random.ts";

const seed = Number(process.env["SEED"] ?? 20261124);
const MUTANTS = Number(process.env["MUTANTS"] ?? caseCount(240));

const around = makeHome();
/** A job that is half done, in a folder that each mutant gets a copy of. */
let template: string;
let home: string;
let roots: Roots;
/** Beside the root: nothing here may change. */
let outside: string;

before(async () => {
  [home, outside, template] = ["home", "outside", "template"].map((name) =>
    path.join(around, name),
  );
  fs.mkdirSync(home);
  fs.mkdirSync(outside);
  await storeInputs(outside);
  await storeInputs(home);
  const folder = await makeJob(home, add, { out: null });
  const pool = startPool({ threads: 0, memory: MEMORY });
  await pool.run(folder, "partition", 0);
  for (const chunk of [1, 3]) await pool.run(folder, "apply", chunk);
  await pool.end();
  copyWithTimes(home, template);
  roots = await rootsFrom([home]);
});

/** Copies a folder. Bun cuts the times that `cpSync` preserves, and a job compares them to the millisecond. */
function copyWithTimes(from: string, to: string): void {
  fs.cpSync(from, to, { recursive: true });
  for (const name of fs.readdirSync(from, { recursive: true, encoding: "utf8" })) {
    const { atimeMs, mtimeMs } = fs.statSync(path.join(from, name));
    fs.utimesSync(path.join(to, name), atimeMs / 1000, mtimeMs / 1000);
  }
}

const contentsOf = (folder: string): string =>
  fs
    .readdirSync(folder, { recursive: true, encoding: "utf8" })
    .toSorted()
    .map((name) => {
      const file = path.join(folder, name);
      return fs.statSync(file).isFile() ? `${name} ${fs.readFileSync(file, "latin1")}` : name;
    })
    .join("\n");

/** Values that stand where others should. */
const VALUES: readonly unknown[] = [
  null,
  true,
  "",
  "x",
  "..",
  "/",
  "\0",
  "../outside/data.zarr",
  -1,
  0,
  1.5,
  2 ** 31,
  2 ** 53,
  1e300,
  [],
  [[]],
  {},
  [-1],
  [2 ** 40],
];

/** Every object and list in a JSON value. */
function containersOf(value: unknown): (Record<string, unknown> | unknown[])[] {
  if (typeof value !== "object" || value === null) return [];
  return [value as Record<string, unknown>, ...Object.values(value).flatMap(containersOf)];
}

function mutateJson(text: string, random: Random): string {
  const json = JSON.parse(text) as unknown;
  for (let changes = 1 + random(2); changes > 0; changes--) {
    const containers = containersOf(json).filter((one) => Object.keys(one).length > 0);
    const container = containers[random(containers.length)];
    const keys = Object.keys(container);
    const key = keys[random(keys.length)];
    const value = VALUES[random(VALUES.length)];
    if (random(5) === 0) Reflect.deleteProperty(container, key);
    else if (typeof value === "string" && value.startsWith(".."))
      Reflect.set(container, key, path.join(home, value));
    else Reflect.set(container, key, value);
  }
  return JSON.stringify(json);
}

function mutateBytes(bytes: Uint8Array, random: Random): Uint8Array {
  const copy = Uint8Array.from(bytes);
  const at = random(copy.length + 1);
  switch (random(4)) {
    case 0:
      return copy.subarray(0, at);
    case 1:
      return Uint8Array.of(...copy, ...copy.subarray(at));
    case 2:
      return copy.fill(random(256), at, at + 1 + random(4));
    default:
      if (at < copy.length) copy[at] ^= 1 << random(8);
      return copy;
  }
}

/** Numbers before the rows and the slices of a file of fragments: 16 bytes, and the starts of 4 fragments. */
const HEAD = 16 + 4 * 5;

/** Changes one file of the job. @returns which */
function mutate(random: Random): string {
  const names = [
    "job/job.json",
    "job/shuffle/0",
    "job/shuffle/0.seen",
    "job/applied/1",
    "data.zarr/.ndscatter/job",
  ];
  const [name, more] = [names[random(names.length)], random(3)];
  const file = path.join(home, name);
  const bytes = new Uint8Array(fs.readFileSync(file));
  if (name.endsWith("shuffle/0")) {
    const head = mutateBytes(bytes.subarray(0, HEAD), random);
    fs.writeFileSync(file, Uint8Array.of(...head, ...bytes.subarray(HEAD)));
  } else if (name.endsWith("json") && more > 0) {
    fs.writeFileSync(file, mutateJson(fs.readFileSync(file, "utf8"), random));
  } else {
    fs.writeFileSync(file, mutateBytes(bytes, random));
  }
  return name;
}

/** Runs every task of the job, those that are done as well. */
async function runAll(): Promise<void> {
  const folder = path.join(home, "job");
  const pool = startPool({ threads: 0, memory: MEMORY, roots });
  try {
    const { stages } = await openJob(folder);
    for (const { name, tasks } of stages)
      for (let task = 0; task < Math.min(tasks, 6); task++) await pool.run(folder, name, task);
    await remainingTasks(await openJob(folder), "apply");
  } finally {
    await pool.end();
  }
}

test(`${MUTANTS} mutants of a job's files end with an error that has a code, or with the job done`, async () => {
  const random = randomFrom(seed);
  const untouched = contentsOf(outside);
  const ends = new Map<string, number>();
  for (let i = 0; i < MUTANTS; i++) {
    fs.rmSync(home, { recursive: true });
    copyWithTimes(template, home);
    const name = mutate(random);
    let end = "done";
    try {
      await runAll();
    } catch (error) {
      assert.ok(
        isTensorError(error),
        `seed ${seed}, mutant ${i} of ${name}: ${String((error as Error).stack)}`,
      );
      end = error.code;
    }
    ends.set(end, (ends.get(end) ?? 0) + 1);
  }
  assert.equal(contentsOf(outside), untouched);
  // Mutants that all end in one way would show little.
  for (const end of ["done", "malformed-file"])
    assert.ok((ends.get(end) ?? 0) > 0, JSON.stringify([...ends]));
});
