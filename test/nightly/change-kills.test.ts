/**
 * Processes that are killed while they write a part of an array. A part is not atomic: some chunks have the new values and
 * others the old ones, but no chunk has both, and the next process goes on.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { createArray, openArray } from "../../src/entries/zarr.ts";
import { COLUMNS } from "../support/change-process.ts";
import { makeHome } from "../support/job-files.ts";
import { randomFrom, SEED, seedOf } from "../support/random.ts";

const seed = seedOf("change-kills");
const KILLS = Number(process.env["KILLS"] ?? 8);
const PROCESS = fileURLToPath(new URL("../support/change-process.js", import.meta.url));
const random = randomFrom(seed);

/** The last change that began, and whether it ended. */
function lastOf(lines: string): { change: number; isDone: boolean } {
  const all = fs.readFileSync(lines, "utf8").trim().split("\n");
  const begin = all.findLast((line) => line.startsWith("begin")) ?? assert.fail("nothing began");
  const change = Number(begin.split(" ")[1]);
  return { change, isDone: all.includes(`end ${change}`) };
}

async function killOne(file: string, lines: string, first: number): Promise<void> {
  fs.writeFileSync(lines, "");
  const child = spawn(process.execPath, [PROCESS, file, lines, String(first)]);
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const ended = new Promise((resolve) => {
    child.on("exit", (_, signal) => resolve(signal));
  });
  while (fs.readFileSync(lines, "utf8") === "" && child.exitCode === null) await sleep(5);
  // A change takes some milliseconds.
  await sleep(random(40) + random(1000) / 1000);
  child.kill("SIGKILL");
  assert.equal(await ended, "SIGKILL", errors);
}

const ROWS = 6;

test(`${KILLS} kills`, async () => {
  const home = makeHome();
  const [file, lines] = ["a.zarr", "lines"].map((name) => path.join(home, name));
  const shape = [ROWS, COLUMNS];
  const options = { dtype: "int32", shape, chunkShape: [4, 3], fillValue: -1 } as const;
  const made = await createArray(file, { ...options, codecs: ["gzip", "crc32c"] });
  await made.write(tensor("int32", shape, new Int32Array(ROWS * COLUMNS)));
  let rows: number[][] = Array.from({ length: ROWS }, () => Array(COLUMNS).fill(0));
  let middles = 0;
  for (let kill = 0, first = 1; kill < KILLS; kill++) {
    await killOne(file, lines, first);
    const { change, isDone } = lastOf(lines);
    if (!isDone) middles++;
    first = change + 1;
    const now = (await (await openArray(file)).read()).toArray() as number[][];
    assert.equal(now.length, ROWS);
    const replay = `SEED=${SEED}, kill ${kill}, change ${change}`;
    // Chunks of 4 by 3, each of one change: the last, or the one before.
    for (const [i, row] of now.entries())
      for (const [j, cell] of row.entries()) {
        assert.equal(cell, now[i - (i % 4)][j - (j % 3)], replay);
        if (isDone) assert.equal(cell, change, replay);
        else assert.ok(cell === change || cell === change - 1 || cell === rows[i][j], replay);
      }
    rows = now;
  }
  assert.ok(middles > 0, "no kill was in the middle of a change");
  // What a process was about to rename stays, and is no part of the array.
  const left = fs.readdirSync(file).filter((name) => !name.endsWith(".tmp"));
  assert.deepEqual(left.toSorted(), ["c", "zarr.json"]);
});
