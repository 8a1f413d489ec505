/** The script for Slurm as text, and what sh makes of it with an sbatch that only writes down how it was called. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import type { Job, StageName } from "../../src/arrays/chunked/job/job.ts";
import { printSlurmScript, type SlurmOptions } from "../../src/arrays/distributed/slurm.ts";

/** What an element may take. */
const SHARE = ["--threads", "1", "--memory", "1073741824", "--wait", "70"];

const upTo = (count: number): number[] => Array.from({ length: count }, (_, task) => task);

const jobAt = (folder: string, tasks: number): Job => ({
  folder,
  id: "a",
  stages: [
    { name: "partition", tasks },
    { name: "apply", tasks },
    { name: "finish", tasks: 1 },
  ],
});

const allOf = ({ stages }: Job): Map<StageName, number[]> =>
  new Map(stages.map(({ name, tasks }) => [name, upTo(tasks)]));

/** Stands in for sbatch: keeps its words and its script, and prints a number. */
const SBATCH = `#!/bin/sh
count=$(ls "$RECORD" | grep -c script || true)
for word in "$@"; do printf '%s\\n' "$word"; done > "$RECORD/words-$count"
cat > "$RECORD/script-$count"
printf '%s\\n' "$((100 + count));cluster"
`;

/** Stands in for the command: prints its words. */
const COMMAND = `#!/bin/sh
for word in "$@"; do printf '%s\\n' "$word"; done
`;

interface Submission {
  readonly words: readonly string[];
  /** The words that the command gets in an element. */
  run(element: number): string[];
}

/** Runs a script with a stand-in for sbatch. */
function submit(
  job: Job,
  remaining: ReadonlyMap<StageName, readonly number[]>,
  options: SlurmOptions = {},
) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-sbatch-"));
  try {
    const command = path.join(home, "it's a $command");
    fs.writeFileSync(command, COMMAND, { mode: 0o755 });
    fs.writeFileSync(path.join(home, "sbatch"), SBATCH, { mode: 0o755 });
    const record = path.join(home, "record");
    fs.mkdirSync(record);
    const env = { ...process.env, PATH: `${home}:${process.env.PATH}`, RECORD: record };
    const script = printSlurmScript(job, remaining, { command: [command], ...options });
    const { stdout, stderr, status } = spawnSync("sh", { input: script, env, encoding: "utf8" });
    assert.equal(status, 0, stderr);
    const count = fs.readdirSync(record).length / 2;
    const submissions = upTo(count).map((at): Submission => {
      const text = fs.readFileSync(path.join(record, `script-${at}`), "utf8");
      const words = fs
        .readFileSync(path.join(record, `words-${at}`), "utf8")
        .trimEnd()
        .split("\n");
      const file = path.join(os.tmpdir(), path.basename(home));
      return {
        words,
        run(element) {
          fs.mkdirSync(home, { recursive: true });
          fs.writeFileSync(command, COMMAND, { mode: 0o755 });
          const more = { SLURM_ARRAY_TASK_ID: String(element) };
          const ran = spawnSync("sh", { input: text, env: { ...env, ...more }, encoding: "utf8" });
          fs.rmSync(file, { recursive: true });
          return ran.stdout.trimEnd().split("\n");
        },
      };
    });
    return { submissions, stdout };
  } finally {
    fs.rmSync(home, { recursive: true });
  }
}

test("each stage waits for the one before", () => {
  const job = jobAt("/jobs/a", 4);
  const { submissions, stdout } = submit(job, allOf(job), { memory: 2 ** 30, threads: 2 });
  const [partition, apply, finish] = submissions;
  assert.ok(partition && apply && finish);
  assert.equal(submissions.length, 3);
  assert.ok(partition.words.includes("--array=0-1"));
  assert.ok(!partition.words.some((word) => word.startsWith("--dependency")));
  // In a federation the cluster's name follows the number.
  assert.ok(apply.words.includes("--dependency=afterok:100"));
  assert.ok(finish.words.includes("--dependency=afterok:101"));
  for (const word of [
    "--requeue",
    "--kill-on-invalid-dep=yes",
    "--mem=1280M",
    "--cpus-per-task=2",
  ]) {
    for (const { words } of submissions) assert.ok(words.includes(word), word);
  }
  assert.equal(stdout, "submitted 100 101 102\n");
});

test("elements of an array run each task once, and fit the cluster", () => {
  for (const tasks of [1, 7, 1000, 1001, 2500, 10_000]) {
    const job = jobAt("/jobs/a", tasks);
    const [, apply] = submit(job, allOf(job)).submissions;
    assert.ok(apply);
    const array = apply.words.find((word) => word.startsWith("--array="));
    const last = Number(/^--array=(?:0-)?(\d+)$/.exec(array ?? "")?.[1]);
    // Slurm's own limit, MaxArraySize, is 1001: the largest number is 1000.
    assert.ok(last <= 1000, array);
    const ranges = [0, Math.floor(last / 2), last].map((element) => apply.run(element)[4]);
    const length = Number(ranges[0]?.split("-")[1]) + 1;
    assert.equal(ranges[0], `0-${length - 1}`);
    assert.equal(ranges[2], `${last * length}-${tasks - 1}`);
    assert.ok(last * length < tasks);
  }
});

test("what is done is left out", () => {
  const job = jobAt("/jobs/a", 30);
  const remaining = new Map<StageName, number[]>([
    ["partition", []],
    ["apply", [3, 4, 5, 6, 29]],
    ["finish", [0]],
  ]);
  const { submissions } = submit(job, remaining, { tasksPerElement: 5 });
  const [apply, finish] = submissions;
  assert.ok(apply && finish);
  assert.equal(submissions.length, 2);
  assert.ok(apply.words.includes("--array=0-1,5"));
  assert.deepEqual(apply.run(5), ["job", "task", "/jobs/a", "apply", "25-29", ...SHARE]);
  assert.ok(!apply.words.some((word) => word.startsWith("--dependency")));
  const nothing = submit(job, new Map());
  assert.equal(nothing.submissions.length, 0);
  assert.equal(nothing.stdout, "/jobs/a is done\n");
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
    const job = jobAt(folder, 1);
    const [partition] = submit(job, allOf(job), { logs: folder }).submissions;
    assert.ok(partition);
    assert.deepEqual(partition.run(0), ["job", "task", folder, "partition", "0-0", ...SHARE]);
    const output = partition.words.find((word) => word.startsWith("--output="));
    // In the name of a file % has a meaning for Slurm.
    const name = `${folder.replaceAll("%", "%%")}/ndscatter-partition-%A-%a.out`;
    assert.equal(output, `--output=${name}`);
  }
});

test("what a script cannot say is refused", () => {
  const job = jobAt("/a\nEND_OF_NDSCATTER_TASKS\nrm", 1);
  assert.throws(() => printSlurmScript(job, allOf(job), {}), { code: "attribute" });
  const plain = jobAt("/a", 1);
  for (const options of [{ threads: 0 }, { memory: 0.5 }, { atOnce: -1 }, { command: [] }]) {
    assert.throws(() => printSlurmScript(plain, allOf(plain), options), { code: "attribute" });
  }
});
