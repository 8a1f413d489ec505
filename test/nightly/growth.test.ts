/** The simulation in `bench/growth.js`: it is never faster than the formulas allow, and the document shows what it prints. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as path from "node:path";
import { test } from "node:test";
import { markedRows, quotedIn, read, ROOT } from "../support/documents.ts";

const simulate = (...args: readonly string[]): string[][] => {
  const script = path.join(ROOT, "bench/growth.js");
  const text = execFileSync(process.execPath, [script, ...args], { encoding: "utf8" });
  const [, table = ""] = text.split("\n\n");
  const lines = table.trim().split("\n").slice(1);
  return lines.map((line) => line.trim().split(/\s+/));
};

test("docs/arrays/distributed.md shows what the simulation prints", () => {
  assert.deepEqual(
    markedRows("docs/arrays/distributed.md", "growth"),
    simulate().map((row) => row.slice(0, 6)),
  );
});

test("docs/arrays/distributed.md names the hours of its other commands", () => {
  const page = read("docs/arrays/distributed.md");
  const commands = quotedIn(page).filter((text) => text.startsWith("node bench/growth.js -"));
  assert.equal(commands.length, 1);
  for (const command of commands) {
    const options = command.split(" ").slice(2);
    const hours = (words: readonly string[]): string | undefined => simulate(...words)[0]?.[3];
    // The block is the last option; without it blocks are of 100 MB.
    const pair = [hours(options.slice(0, -2)), hours(options)];
    const text = `take ${pair[0]} hours with blocks of 100 MB, and ${pair[1]} hours with blocks of 1 GB`;
    assert.ok(page.replaceAll("\n", " ").includes(text), text);
  }
});

const CLUSTERS = [
  [],
  ["--block", "1G"],
  ["--data", "100G", "--updates", "10G", "--chunk", "100M", "--threads", "2"],
  ["--data", "1T", "--updates", "4T", "--chunk", "500M", "--storage", "500G"],
  ["--data", "1T", "--updates", "100G", "--chunk", "200M", "--loss", "2", "--seed", "7"],
] as const;

for (const options of CLUSTERS) {
  test(`no job is faster than its resources allow: ${options.join(" ") || "as documented"}`, () => {
    // Processors, networks and the file system, each for itself.
    const rows = simulate("--machines", "1,4,16", ...options);
    assert.equal(rows.length, 3);
    for (const [machines, , , hours, least] of rows) {
      // Both are rounded to hundredths.
      assert.ok(Number(hours) >= Number(least) - 0.01, `${machines}: ${hours} < ${least}`);
    }
  });
}
