/** Jobs of the stub on a Slurm of three nodes, one of which is lost in the middle of a task. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { slurmScript, type SlurmOptions } from "../src/distributed/slurm.ts";
import { startSlurm, WITHOUT_SLURM, type SlurmCluster } from "./distributed/slurm-cluster.ts";
import { STUB_CORE, stubRuns, writeStubJob, type StubJob } from "./distributed/stub-core.ts";

const skip = WITHOUT_SLURM;

let cluster: SlurmCluster;
let home: string;

before(async () => {
  if (skip !== false) return;
  home = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter it's $HOME "));
  cluster = await startSlurm();
});
after(async () => {
  if (skip !== false) return;
  await cluster?.end();
  fs.rmSync(home, { recursive: true });
});

const COMMAND = fileURLToPath(new URL("distributed/stub-task.js", import.meta.url));

const STAGES: StubJob["stages"] = [
  { name: "partition", tasks: 5 },
  { name: "apply", tasks: 4 },
  { name: "finish", tasks: 1 },
];
const ALL = STAGES.flatMap(({ name, tasks }) =>
  Array.from({ length: tasks }, (_, task) => `${name} ${task}`),
);

let jobs = 0;
const makeJob = (more: Partial<StubJob> = {}): string =>
  writeStubJob(path.join(home, `job ${jobs}`), {
    id: `job-${jobs++}`,
    stages: STAGES,
    milliseconds: 100,
    ...more,
  });

/** Submits what remains of a job by the script, as a user does: `... --slurm | sh`. */
async function submit(folder: string, options: SlurmOptions = {}): Promise<void> {
  const own = { command: [process.execPath, COMMAND], logs: home, memory: 500 };
  const job = await STUB_CORE.openJob(folder);
  const script = await slurmScript(job, { ...own, ...options }, STUB_CORE);
  const { status, stderr } = spawnSync("sh", { input: script, env: cluster.env, encoding: "utf8" });
  assert.equal(status, 0, stderr);
}

/** Waits until Slurm has nothing left to do. */
async function settle(): Promise<void> {
  for (let attempt = 0; attempt < 700; attempt++) {
    if (cluster.queue().length === 0) return;
    await sleep(100);
  }
  assert.fail(`waited 70 s for ${cluster.queue().join(", ")}`);
}

const remaining = async (folder: string): Promise<string[]> => {
  const job = await STUB_CORE.openJob(folder);
  const lists = STAGES.map(async ({ name }) =>
    (await STUB_CORE.remainingTasks(job, name)).map((task) => `${name} ${task}`),
  );
  return (await Promise.all(lists)).flat();
};

test("a job in ranges, and the script run twice", { skip }, async () => {
  const folder = makeJob();
  await submit(folder, { tasksPerElement: 2 });
  await submit(folder, { tasksPerElement: 3 });
  await settle();
  assert.deepEqual(await remaining(folder), []);
  assert.deepEqual([...new Set(stubRuns(folder))].sort(), ALL.toSorted());
  const nodes = fs.readFileSync(path.join(folder, "nodes"), "utf8").trim().split("\n");
  assert.ok(new Set(nodes.map((line) => line.split(" ")[0])).size > 1, nodes.join("\n"));
});

test("a task that fails takes what depends on it from the queue", { skip }, async () => {
  const folder = makeJob({ damaged: { stage: "partition", task: 2 } });
  await submit(folder);
  await settle();
  assert.deepEqual(await remaining(folder), [
    "partition 2",
    ...ALL.filter((task) => !task.startsWith("partition")),
  ]);
  writeStubJob(folder, { id: "again", stages: STAGES, milliseconds: 10 });
  await submit(folder);
  await settle();
  assert.deepEqual(await remaining(folder), []);
  // Of a stage that was done in part only the rest was submitted.
  assert.equal(stubRuns(folder).length, ALL.length + 1);
});

test("a node that is lost loses no task", { skip }, async () => {
  const folder = makeJob({ milliseconds: 1500 });
  await submit(folder);
  for (let attempt = 0; stubRuns(folder).length < 3 && attempt < 200; attempt++) await sleep(50);
  const nodes = path.join(folder, "nodes");
  const task = /^n2 (.*)$/m.exec(fs.readFileSync(nodes, "utf8"))?.[1];
  assert.ok(task !== undefined);
  cluster.kill("n2");
  assert.ok((await remaining(folder)).includes(task), `${task} was done before its node was lost`);
  await settle();
  assert.deepEqual(await remaining(folder), []);
  assert.equal(stubRuns(folder).filter((run) => run === task).length, 2);
  const [, second] =
    fs.readFileSync(nodes, "utf8").match(new RegExp(`^.*(?= ${task}$)`, "gm")) ?? [];
  assert.ok(second === "n1" || second === "n3", second);
});
