/** What a chunked run says of itself while it runs. */

import * as path from "node:path";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallSpec } from "../../src/arrays/chunked/job/request.ts";
import { runJob, type JobProgress } from "../../src/arrays/chunked/run/run-job.ts";
import { printAmount } from "../../src/core/foreign.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { printProgress, printSeconds } from "../../src/cli/commands/job-run.ts";
import { add, makeHome, makeJob, MEMORY, store } from "../support/job-files.ts";

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
    taskBytes: 300e6,
    seconds: 5,
    before: 20,
  } as const;
  assert.equal(
    printProgress(progress, true),
    "apply [##########          ] 30 of 60, 600 MB/s, 15 s left",
  );
  assert.equal(printProgress(progress, false), "apply: 30 of 60, 600 MB/s, 15 s left");
  // Nothing is known of the rate before the first task is done.
  assert.equal(printProgress({ ...progress, done: 20 }, false), "apply: 20 of 60");
});

test("a run counts the bytes of elements that a task reads and writes, for its rate", async () => {
  const gather: CallSpec = { function: "gatherND", options: {} };
  // Data of float32 in chunks of one element, rows of an int64 index and as many updates in blocks of 2.
  for (const [call, size, rows, expected] of [
    // The indices, 4 bytes each, and the updates, both read and written; the chunk twice, and the updates that it gets.
    [add, 4, 4, { partition: [2, 32], apply: [4, 12], finish: [1, 0] }],
    [add, 4, 0, { partition: [0, 0], apply: [4, 8], finish: [1, 0] }],
    // The indices read and written; the chunk, and the slices that are taken of it; the slices, read and written.
    [add, 0, 0, { partition: [0, 0], apply: [0, 0], finish: [1, 0] }],
    [gather, 4, 4, { partition: [2, 16], apply: [4, 8], place: [2, 16], finish: [1, 0] }],
    [gather, 4, 0, { partition: [0, 0], apply: [4, 4], place: [0, 0], finish: [1, 0] }],
  ] as const) {
    const home = makeHome();
    const at = (name: string): string => path.join(home, `${name}.zarr`);
    await store(at("data"), tensor("float32", [size], [1, 2, 3, 4].slice(0, size)), [1]);
    await store(at("indices"), tensor("int64", [rows, 1], [0, 1, 2, 3].slice(0, rows)), [4, 1]);
    await store(at("updates"), tensor("float32", [rows], [5, 5, 5, 5].slice(0, rows)), [4]);
    const more = { blockShape: [2], ...(call === gather && { updates: undefined }) };
    const folder = await makeJob(home, call, more);
    const seen: Record<string, readonly number[]> = {};
    const onProgress = ({ stage, tasks, taskBytes }: JobProgress): void => {
      seen[stage] = [tasks, taskBytes];
    };
    await runJob(folder, { threads: 0, memory: MEMORY, onProgress });
    assert.deepEqual(seen, expected, `${call === add ? "scatter" : "gather"} of ${rows} rows`);
  }
});
