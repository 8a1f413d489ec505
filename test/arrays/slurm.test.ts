/** The script for Slurm as text, and what sh makes of it with an sbatch that only writes down how it was called. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import type { Job } from "../../src/arrays/chunked/job/job.ts";
import { printSlurmScript, type SlurmOptions } from "../../src/arrays/distributed/slurm.ts";
import { makeHome } from "../support/job-files.ts";

const jobAt = (folder: string): Job => ({ folder, id: "a", stages: [] });

/** Stands in for sbatch: keeps its words, runs its script as an element, and prints a number. */
const SBATCH = `#!/bin/sh
for word in "$@"; do printf '%s\\n' "$word"; done > "$RECORD.words"
sh >> "$RECORD"
echo "100;cluster"
exit "$STATUS"
`;

/** Stands in for the command: prints its words. */
const COMMAND = `#!/bin/sh
for word in "$@"; do printf '%s\\n' "$word"; done
`;

/** Runs a script with a stand-in for sbatch, which ends with `status`. */
function submit(job: Job, tasks: number, options: SlurmOptions = {}, status = 0) {
  const home = makeHome();
  const command = path.join(home, "it's a $command");
  fs.writeFileSync(command, COMMAND, { mode: 0o755 });
  fs.writeFileSync(path.join(home, "sbatch"), SBATCH, { mode: 0o755 });
  const record = path.join(home, "record");
  const PATH = `${home}:${process.env["PATH"]}`;
  const env = { ...process.env, PATH, RECORD: record, STATUS: `${status}` };
  const script = printSlurmScript(job, tasks, { command: [command], ...options });
  const run = spawnSync("sh", { input: script, env, encoding: "utf8" });
  assert.equal(run.status, 0, run.stderr);
  const lines = (file: string): string[] =>
    fs.existsSync(file) ? fs.readFileSync(file, "utf8").trimEnd().split("\n") : [];
  return { words: lines(`${record}.words`), element: lines(record), stdout: run.stdout };
}

test("elements of one array resume the job", () => {
  const more = { memory: 2 ** 30, threads: 2, atOnce: 3, partition: "p", time: "1:00" };
  const { words, element, stdout } = submit(jobAt("/jobs/a"), 9, { ...more, sbatch: ["--x y"] });
  assert.deepEqual(words, [
    "--parsable",
    "--job-name=ndscatter",
    "--array=0-4%3",
    "--requeue",
    "--cpus-per-task=2",
    "--mem=1280M",
    "--partition=p",
    "--time=1:00",
    "--output=ndscatter-%A-%a.out",
    "--x y",
  ]);
  const share = ["--threads", "2", "--memory", "1073741824"];
  assert.deepEqual(element, ["job", "resume", "/jobs/a", ...share]);
  // In a federation the cluster's name follows the number.
  assert.equal(stdout, "submitted 100\n");
});

test("the array has an element for the tasks of an element, and fits the cluster", () => {
  for (const [tasks, options, last] of [
    [1, {}, 0],
    [30, { tasksPerElement: 7 }, 4],
    // Slurm's own limit, MaxArraySize, is 1001: the largest number is 1000.
    [10_000, {}, 999],
  ] as const) {
    const { words } = submit(jobAt("/jobs/a"), tasks, options);
    assert.equal(words[2], `--array=0-${last}`);
  }
  const nothing = submit(jobAt("/jobs/a"), 0);
  assert.deepEqual(nothing, { words: [], element: [], stdout: "/jobs/a is done\n" });
});

test("a script that waits succeeds if the job is done, whatever becomes of the elements", () => {
  const { words, stdout } = submit(jobAt("/jobs/a"), 1, { wait: true }, 1);
  assert.ok(words.includes("--wait"));
  const task = ["job", "task", "/jobs/a", "finish", "0", "--wait", "70"];
  assert.deepEqual(stdout.trimEnd().split("\n").slice(-task.length), task);
});

test("any path survives two shells", () => {
  for (const folder of [
    "/a b/c",
    "/it's",
    '/"quoted"',
    "/$HOME/`id`/$(id)/\\",
    "/* ?[a]",
    "/-rf ; rm",
    "/END_OF_NDSCATTER_TASKS",
    "/ü/日本",
    "/%A-%a",
  ]) {
    const { words, element } = submit(jobAt(folder), 1, { logs: folder });
    assert.deepEqual(element.slice(0, 3), ["job", "resume", folder]);
    // In the name of a file % has a meaning for Slurm.
    const name = `${folder.replaceAll("%", "%%")}/ndscatter-%A-%a.out`;
    assert.ok(words.includes(`--output=${name}`), words.join("\n"));
  }
});

test("what a script cannot say is refused", () => {
  const job = jobAt("/a\nEND_OF_NDSCATTER_TASKS\nrm");
  assert.throws(() => printSlurmScript(job, 1, {}), { code: "attribute" });
  for (const options of [{ threads: 0 }, { memory: 0.5 }, { atOnce: -1 }, { command: [] }]) {
    assert.throws(() => printSlurmScript(jobAt("/a"), 1, options), { code: "attribute" });
  }
});
