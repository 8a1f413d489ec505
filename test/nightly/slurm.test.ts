/** Jobs on a Slurm of three nodes, one of which is lost in the middle of a task: those of the stub, and a real one. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openJob } from "../../src/entries/chunked.ts";
import { slurmScript, type SlurmOptions } from "../../src/arrays/distributed/slurm.ts";
import { makeRealJob } from "./distributed/real-job.ts";
import {
  NODES,
  startSlurm,
  WITHOUT_SLURM,
  type SlurmCluster,
} from "./distributed/slurm-cluster.ts";
import { STUB_CORE, stubRuns, writeStubJob, type StubJob } from "./distributed/stub-core.ts";
import { MAIN } from "../support/cli.ts";
import { openAddresses } from "../support/listeners.ts";
import { exitOnSignals } from "../../scripts/process-group.js";

const skip = WITHOUT_SLURM;
// A test that takes too long takes its processes with it.
exitOnSignals();

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

const program = (name: string): string =>
  fileURLToPath(new URL(`distributed/${name}.js`, import.meta.url));

/** What the script calls on a node. */
const COMMAND = [process.execPath, program("stub-task")];

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

/** Runs a script as a user does: `... --slurm | sh`. */
function sh(script: string): void {
  const { status, stderr } = spawnSync("sh", { input: script, env: cluster.env, encoding: "utf8" });
  assert.equal(status, 0, stderr);
}

/** Submits what remains of a job of the stub. */
async function submit(folder: string, options: SlurmOptions = {}): Promise<void> {
  const own = { command: COMMAND, logs: home, memory: 2 ** 28 };
  const job = await STUB_CORE.openJob(folder);
  sh(await slurmScript(job, { ...own, ...options }, STUB_CORE));
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

test("Slurm listens on loopback addresses only", { skip }, () => {
  assert.ok(cluster.processes().length > NODES.length);
  assert.deepEqual(openAddresses(cluster.processes()), []);
});

test("a bad index ends the job before the stage behind it begins", { skip }, async () => {
  const { folder } = await makeRealJob(home, 6, { bad: 12_345 });
  const command = path.join(home, "noting");
  const words = [process.execPath, MAIN].map((word) => `'${word}'`).join(" ");
  const notes = `${folder}.stages`;
  const note = `echo "$4" >> '${notes.replaceAll("'", String.raw`'\''`)}'`;
  fs.writeFileSync(command, `#!/bin/sh\n${note}\nexec ${words} "$@"\n`, { mode: 0o755 });
  const own = { command: [command], logs: home, memory: 2 ** 28 };
  sh(await slurmScript(await openJob(folder), { ...own, tasksPerElement: 16 }));
  await settle();
  const stages = new Set(fs.readFileSync(notes, "utf8").trim().split("\n"));
  assert.deepEqual([...stages], ["partition"]);
});

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

test("a chunked job gives the bits of one loop, though a node is lost", { skip }, async () => {
  const { folder, isRight } = await makeRealJob(home, 5);
  const command = path.join(home, "the command");
  const words = [process.execPath, MAIN].map((word) => `'${word}'`).join(" ");
  const note = `echo "$SLURMD_NODENAME $4 $5" >> '${folder.replaceAll("'", String.raw`'\''`)}.nodes'`;
  fs.writeFileSync(command, `#!/bin/sh\n${note}\nexec ${words} "$@"\n`, { mode: 0o755 });
  const own = { command: [command], logs: home, memory: 2 ** 28 };
  sh(await slurmScript(await openJob(folder), { ...own, tasksPerElement: 8 }));
  // Which node began which range.
  const nodes = (): string =>
    fs.existsSync(`${folder}.nodes`) ? fs.readFileSync(`${folder}.nodes`, "utf8") : "";
  let range: string | undefined;
  for (let attempt = 0; range === undefined && attempt < 3000; attempt++) {
    await sleep(10);
    range = /^n2 (apply .*)$/m.exec(nodes())?.[1];
  }
  assert.ok(range !== undefined);
  cluster.kill("n2");
  await settle();
  assert.ok(isRight());
  const begun = nodes().match(new RegExp(`^.*(?= ${range}$)`, "gm")) ?? [];
  assert.equal(begun.length, 2);
  assert.ok(begun[1] === "n1" || begun[1] === "n3", begun[1]);
});
