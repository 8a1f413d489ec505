/** `ndscatter job worker`, and what `run` does with `--redis` and `--slurm`, in this process. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import type { Io } from "../../src/cli/io.ts";
import { runWithRedis, addJobWorker } from "../../src/cli/commands/job-run.ts";
import { PACKAGES, WITHOUT_QUEUE } from "./distributed/packages.ts";
import { openJob, slurmScript } from "../../src/entries/chunked.ts";
import { makeRealJob, STAGES } from "./distributed/real-job.ts";
import { startRedis, type RedisServer } from "./distributed/redis-server.ts";
import { exitOnSignals } from "../../scripts/process-group.js";
import { TERMINAL } from "../support/cli.ts";

const skip = WITHOUT_QUEUE;
// A test that takes too long takes its processes with it.
exitOnSignals();

let redis: RedisServer;
let home: string;

before(async () => {
  home = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-job-"));
  if (skip === false) redis = await startRedis();
});
after(async () => {
  await redis?.end();
  fs.rmSync(home, { recursive: true });
});

interface Run {
  readonly io: Io;
  readonly written: { stdout: string; stderr: string };
  /** What Ctrl-C does. */
  interrupt(): void;
}

/** The folder in which a command runs is the one where BullMQ is. */
function surroundings({ isTTY = false, env = {} }: { isTTY?: boolean; env?: Io["env"] } = {}): Run {
  const written = { stdout: "", stderr: "" };
  const output = (name: keyof typeof written): Io["stdout"] => ({
    isTTY,
    columns: 80,
    write(text) {
      written[name] += text;
    },
  });
  const stops: (() => void)[] = [];
  const onInterrupt = (stop: () => void): (() => void) => {
    stops.push(stop);
    return () => {};
  };
  const [stdout, stderr] = [output("stdout"), output("stderr")];
  const onSignal = (): (() => void) => () => {};
  const io = { cwd: PACKAGES, env, stdin: TERMINAL, stdout, stderr, onSignal, onInterrupt };
  return { io, written, interrupt: () => stops.at(-1)?.() };
}

const startCommand = ({ io }: Run, ...args: readonly string[]): Promise<unknown> => {
  const job = new Command("job").exitOverride();
  addJobWorker(job, io);
  return job.parseAsync(["worker", ...args], { from: "user" });
};

async function until(condition: () => boolean): Promise<void> {
  for (let attempt = 0; !condition(); attempt++) {
    assert.ok(attempt < 1500, "waited 30 s");
    await sleep(20);
  }
}

test(
  "a worker runs what run submits, a line for each range, until it is interrupted",
  { skip },
  async () => {
    const { folder, isRight } = await makeRealJob(home, 10);
    const worker = surroundings();
    const ended = startCommand(worker, "--redis", redis.url, "--threads", "2", "--memory", "512M");
    const run = surroundings();
    await runWithRedis(run.io, folder, { redis: redis.url });
    assert.ok(isRight());
    assert.match(run.written.stderr, /^partition: \d+ of 32 tasks/);
    worker.interrupt();
    await ended;
    const lines = worker.written.stdout.trimEnd().split("\n");
    const count = STAGES.partition + STAGES.apply + STAGES.finish;
    assert.equal(lines.length, count);
    for (const line of lines)
      assert.match(line, /^(partition|apply|finish) \d+ of \/.* in [\d.]+ s$/);
    assert.match(
      worker.written.stderr,
      /^ndscatter: waiting for tasks of queue ndscatter, 2 threads\n/,
    );
    assert.match(worker.written.stderr, new RegExp(`ended after ${count} tasks\n$`));
  },
);

test("on a terminal there is one line that changes", { skip }, async () => {
  const { folder } = await makeRealJob(home, 11);
  const worker = surroundings({ isTTY: true, env: { NDSCATTER_REDIS: redis.url } });
  const ended = startCommand(worker, "--threads", "1", "--queue", "other");
  await runWithRedis(surroundings({ isTTY: true }).io, folder, {
    redis: redis.url,
    queue: "other",
  });
  worker.interrupt();
  await ended;
  assert.equal(worker.written.stdout, "");
  assert.match(worker.written.stderr, /\r\d+ done, last apply \d+ of /);
});

test("Ctrl-C takes a job back, and says how to go on", { skip }, async () => {
  const { folder, isRight } = await makeRealJob(home, 12);
  const run = surroundings();
  const result = runWithRedis(run.io, folder, { redis: redis.url });
  await until(() => run.written.stderr.includes("partition"));
  run.interrupt();
  await assert.rejects(result, {
    name: "Failure",
    status: 1,
    message:
      /^stopped, and the job was removed from the queue; run the same command again to finish the job in \S+$/,
  });
  // A worker that comes now finds nothing.
  const worker = surroundings();
  const ended = startCommand(worker, "--redis", redis.url, "--threads", "1");
  await until(() => worker.written.stderr.includes("waiting"));
  await sleep(500);
  worker.interrupt();
  await ended;
  assert.equal(worker.written.stdout, "");
  assert.ok(!isRight());
});

for (const [args, message] of [
  [[], "--redis is missing, and NDSCATTER_REDIS is not set; give the URL of Redis in one of them"],
  [["--redis", "x", "--threads", "0"], '--threads must be a positive integer, got "0"'],
  [
    ["--redis", "x", "--memory", "much"],
    '--memory must be an amount of memory, such as 512M or 1G, got "much"',
  ],
] as const) {
  test(`wrong use of worker: ${args.join(" ")}`, async () => {
    await assert.rejects(startCommand(surroundings(), ...args), { status: 2, message });
  });
}

test("--slurm prints a script of what is left", async () => {
  const { folder } = await makeRealJob(home, 13);
  const script = await slurmScript(await openJob(folder));
  assert.match(script, /^#!\/bin\/sh\n/);
  const arrays = [...script.matchAll(/sbatch .*--array=(\S+)/g)].map(([, array]) => array);
  assert.deepEqual(arrays, ["0-63"]);
});
