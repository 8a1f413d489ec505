/** What a chunked run says of itself while it runs. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { printAmount } from "../../src/core/foreign.ts";
import { printProgress, printSeconds } from "../../src/cli/commands/job-run.ts";

test("amounts have two or three digits, in powers of 1000", () => {
  const rows = [
    [0, "0 B"],
    [512, "512 B"],
    [999, "999 B"],
    [1000, "1.0 kB"],
    [9_950, "9.9 kB"],
    [999_499, "999 kB"],
    [999_500, "1.0 MB"],
    [610_400_000, "610 MB"],
    [8e9, "8.0 GB"],
    [2e15, "2000 TB"],
  ] as const;
  for (const [bytes, text] of rows) assert.equal(printAmount(bytes), text);
});

test("times have the units that a reader wants", () => {
  const rows = [
    [0.04, "0.0 s"],
    [9.94, "9.9 s"],
    [12.4, "12 s"],
    [59.6, "1 min 0 s"],
    [200, "3 min 20 s"],
    [7500, "2 h 5 min"],
  ] as const;
  for (const [seconds, text] of rows) assert.equal(printSeconds(seconds), text);
});

test("progress is a bar on a terminal and a line elsewhere, with what is left by the rate of this run", () => {
  const progress = {
    stage: "apply",
    done: 30,
    tasks: 60,
    seconds: 5,
    before: 20,
  } as const;
  assert.equal(printProgress(progress, true), "apply [##########          ] 30 of 60, 15 s left");
  assert.equal(printProgress(progress, false), "apply: 30 of 60, 15 s left");
  // Nothing is known of the rate before the first task is done.
  assert.equal(printProgress({ ...progress, done: 20 }, false), "apply: 20 of 60");
});
