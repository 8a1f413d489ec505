/** Jobs on a Slurm of three nodes, one of which is lost in the middle of a task. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openJob, slurmScript, workersOf, type SlurmOptions } from "../../src/entries/chunked.ts";
import { makeRealJob } from "./distributed/real-job.ts";
import {
  NODES,
  startSlurm,
  WITHOUT_SLURM,
  type SlurmCluster,
} from "./distributed/slurm-cluster.ts";
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

/** Runs the script of a job as a user does: `... --slurm | sh`. @returns its status */
async function submit(folder: string, options: SlurmOptions = {}): Promise<number | null> {
  const own = { command: [process.execPath, MAIN], logs: home, memory: 2 ** 28, ...options };
  const script = await slurmScript(await openJob(folder), { tasksPerElement: 20, ...own });
  const run = spawnSync("sh", { input: script, env: cluster.env, encoding: "utf8" });
  assert.equal(run.error, undefined);
  return run.status;
}

/** Waits until a condition holds. */
async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let attempt = 0; !(await condition()); attempt++) {
    assert.ok(attempt < 2000, `waited for ${what}`);
    await sleep(50);
  }
}

const settle = (): Promise<void> => until(() => cluster.queue().length === 0, "Slurm");

test("Slurm listens on loopback addresses only", { skip }, () => {
  assert.ok(cluster.processes().length > NODES.length);
  assert.deepEqual(openAddresses(cluster.processes()), []);
});

test("a bad index ends the job, and the script that waits", { skip }, async () => {
  const { folder, isRight } = await makeRealJob(home, 6, { bad: 12_345 });
  assert.equal(await submit(folder, { wait: true }), 1);
  await settle();
  assert.ok(!isRight());
});

test("the elements of two scripts share a job, which the second waits for", { skip }, async () => {
  const { folder, isRight } = await makeRealJob(home, 7);
  assert.equal(await submit(folder), 0);
  assert.equal(await submit(folder, { wait: true }), 0);
  assert.ok(isRight());
  await settle();
  // The script of a job that is done submits nothing.
  assert.equal(await submit(folder), 0);
  assert.deepEqual(cluster.queue(), []);
});

test("a chunked job gives the bits of one loop, though a node is lost", { skip }, async () => {
  const { folder, isRight } = await makeRealJob(home, 5);
  const command = path.join(home, "the command");
  const words = [process.execPath, MAIN].map((word) => `'${word}'`).join(" ");
  const file = `${folder}.nodes`;
  const note = `echo "$SLURMD_NODENAME" >> '${file.replaceAll("'", String.raw`'\''`)}'`;
  fs.writeFileSync(command, `#!/bin/sh\n${note}\nexec ${words} "$@"\n`, { mode: 0o755 });
  assert.equal(await submit(folder, { command: [command], tasksPerElement: 32 }), 0);
  const job = await openJob(folder);
  const nodes = (): string[] =>
    fs.existsSync(file) ? fs.readFileSync(file, "utf8").trim().split("\n") : [];
  await until(async () => (await workersOf(job)).length === 2, "two elements");
  assert.match((await workersOf(job))[0]?.by ?? "", /^slurm \d+_\d$/);
  const [lost] = nodes();
  cluster.kill(lost as (typeof NODES)[number]);
  await until(() => isRight(), "the other element");
  // The element of the lost node is queued again, and finds the job done.
  await settle();
  assert.equal(nodes().length, 3);
  assert.ok(isRight());
});
