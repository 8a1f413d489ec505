/**
 * The commands of docs/arrays/distributed.md as they stand, in order: as shell blocks, commands in units of systemd, of a
 * container and of a pod, and JavaScript. This program runs them in namespaces of its own (`unshare`), where the page's
 * address 10.0.0.5 is on loopback, and /srv, /opt and changes in /etc are in memory. It prints how each command ended.
 *
 * Redis, Slurm, GNU parallel and BullMQ are real. npm is a stand-in that copies the packages of this machine, because a
 * version under test is in no registry; containers, pods and units start as processes.
 */

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openArray } from "../../../src/entries/zarr.ts";
import { ProcessGroup } from "../../../scripts/process-group.js";
import { IDS, storeInputs } from "../../support/document-inputs.ts";
import { blocksOf, read, ROOT } from "../../support/documents.ts";
import { PACKAGES } from "./packages.ts";
import { makeRealJob, type RealJob } from "./real-job.ts";
import { startSlurm } from "./slurm-cluster.ts";

const PAGE = read("docs/arrays/distributed.md");
const SHARED = "/srv/shared";
const JOB = `${SHARED}/job`;
const PASSWORD = "SECRET";
const REDIS = { host: "10.0.0.5", port: 6379 };

function only(blocks: readonly string[], part: string): string {
  const [found, more] = blocks.filter((one) => one.includes(part));
  assert.ok(found !== undefined && more === undefined, `one block must have ${part}`);
  return found;
}

const shell = (part: string): string => only(blocksOf(PAGE, "sh"), part);
const unit = (part: string): string => only(blocksOf(PAGE, "ini"), part);

const BLOCKS = {
  resume: shell("job status"),
  install: shell("npm install"),
  worker: shell("export NDSCATTER_REDIS"),
  submit: shell("job --redis"),
  slurm: shell("job --slurm"),
  parallel: shell("parallel"),
  redisUnit: unit("redis-server"),
  workerUnit: unit("job worker"),
  submitJob: only(blocksOf(PAGE, "js"), "submitJob"),
  redisFile: only(blocksOf(PAGE, "text"), "requirepass"),
  container: only(blocksOf(PAGE, "yaml"), "redis-server"),
  pod: only(blocksOf(PAGE, "yaml"), "parallelism"),
};

/** Blocks of the page that no step below runs. */
export const blocksWithoutStep = (): string[] => {
  const known = new Set(Object.values(BLOCKS));
  const all = ["sh", "ini", "js", "text", "yaml"].flatMap((name) => blocksOf(PAGE, name));
  return all.filter((one) => !known.has(one));
};

/** The words behind `key:` or `key=` at the begin of a line. */
function setting(text: string, key: string): string {
  const value = new RegExp(`^ *${key}[=:] *(.*)$`, "m").exec(text)?.[1];
  assert.ok(value !== undefined, `the block must have ${key}`);
  return value;
}

function mount(): void {
  const run = (line: string): Buffer => execFileSync("sh", ["-ec", line]);
  run(`ip link set lo up; ip addr add ${REDIS.host}/32 dev lo`);
  for (const folder of ["/srv", "/opt"]) run(`mount -t tmpfs tmpfs ${folder}`);
  run("mkdir -p /srv/shared /srv/upper /srv/work");
  run("mount -t overlay overlay -o lowerdir=/etc,upperdir=/srv/upper,workdir=/srv/work /etc");
  run("mkdir -p /srv/bin /etc/redis /etc/ndscatter");
  const npm = `#!/bin/sh
set -e
[ "$*" = "install ndscatter bullmq ioredis" ]
mkdir -p node_modules/ndscatter node_modules/.bin
cp -r '${PACKAGES}/node_modules/.' node_modules/
cp -r '${ROOT}/dist' '${ROOT}/package.json' node_modules/ndscatter/
ln -s ../ndscatter/dist/cli/main.js node_modules/.bin/ndscatter
chmod +x node_modules/ndscatter/dist/cli/main.js
`;
  fs.writeFileSync("/srv/bin/npm", npm, { mode: 0o755 });
}

const ENV: NodeJS.ProcessEnv = {
  ...process.env,
  PATH: `/srv/bin:${process.env["PATH"]}:/opt/ndscatter/node_modules/.bin`,
};
const QUEUE = { ...ENV, NDSCATTER_REDIS: `redis://:${PASSWORD}@${REDIS.host}:${REDIS.port}` };

/** Runs a script of sh, for two minutes at most. @returns what it printed */
function sh(script: string, env = ENV, cwd = "/"): string {
  const { status, stdout, stderr } = spawnSync("sh", ["-ec", script], {
    cwd,
    env,
    encoding: "utf8",
    timeout: 120_000,
    killSignal: "SIGKILL",
  });
  assert.equal(status, 0, `${script}\n${stdout}${stderr}`);
  return stdout;
}

async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let attempt = 0; !(await condition()); attempt++) {
    assert.ok(attempt < 200, `waited 20 s for ${what}`);
    await sleep(100);
  }
}

/** What Redis answers to a client that knows the password. */
const ping = (): Promise<string> =>
  new Promise((resolve) => {
    const socket = net.connect(REDIS.port, REDIS.host, () => {
      socket.write(`AUTH ${PASSWORD}\r\nPING\r\n`);
    });
    let answer = "";
    socket.on("data", (bytes) => {
      answer += bytes.toString();
      if (answer.includes("PONG") || answer.includes("ERR")) socket.end();
    });
    socket.on("error", () => resolve(""));
    socket.on("close", () => resolve(answer));
  });

const isRedisUp = async (): Promise<boolean> => (await ping()) === "+OK\r\n+PONG\r\n";

/** Starts what a unit starts, as systemd does: words, a folder and a file of variables. */
function startUnit(text: string): ProcessGroup {
  const has = (key: string): boolean => text.includes(`${key}=`);
  const env = has("EnvironmentFile")
    ? fs.readFileSync(setting(text, "EnvironmentFile"), "utf8").trim().split("\n")
    : [];
  const variables = env.map((line): [string, string] => {
    const at = line.indexOf("=");
    return [line.slice(0, at), line.slice(at + 1)];
  });
  return new ProcessGroup(setting(text, "ExecStart").split(" "), {
    cwd: has("WorkingDirectory") ? setting(text, "WorkingDirectory") : "/",
    env: { ...ENV, ...Object.fromEntries(variables) },
  });
}

async function startWorker(start: () => ProcessGroup): Promise<ProcessGroup> {
  const worker = start();
  await until(() => worker.output.includes("waiting for tasks"), `a worker: ${worker.output}`);
  return worker;
}

async function endWorker(worker: ProcessGroup): Promise<void> {
  await worker.end();
  assert.match(worker.output, /ended after [1-9]\d* tasks?/);
}

/** A shared folder with the inputs of the page and no job. */
async function emptyFolder(): Promise<void> {
  fs.rmSync(SHARED, { recursive: true });
  fs.mkdirSync(SHARED);
  await storeInputs(SHARED);
}

/** That `new.zarr` is the table with the sums. */
async function assertSums(): Promise<void> {
  const values = (await (await openArray(`${SHARED}/new.zarr`)).read()).toArray() as number[][];
  for (const [row, cells] of values.entries())
    for (const cell of cells) assert.equal(cell, IDS.includes(row) ? 6 : 1);
}

async function realJob(seed: number): Promise<RealJob> {
  await emptyFolder();
  const job = await makeRealJob(SHARED, seed);
  fs.renameSync(job.folder, JOB);
  return job;
}

let redis: ProcessGroup;
let worker: ProcessGroup;

/** Commands by what they are, in the order of the page. Each may use what those before it have started. */
export const STEPS: Readonly<Record<string, () => Promise<void>>> = {
  "ndscatter job resume and status": async () => {
    sh(BLOCKS.install);
    const { isRight } = await realJob(1);
    assert.match(sh(BLOCKS.resume), /finish +1 of 1/);
    assert.ok(isRight());
  },
  "the command of the container of Redis": async () => {
    const command = setting(BLOCKS.container, "command");
    redis = new ProcessGroup(["sh", "-ec", command], {
      cwd: "/srv",
      env: { ...ENV, REDIS_PASSWORD: PASSWORD },
    });
    await until(isRedisUp, "Redis");
    await redis.end();
  },
  "the unit of Redis and its file": async () => {
    fs.writeFileSync("/etc/redis/ndscatter.conf", BLOCKS.redisFile);
    redis = startUnit(BLOCKS.redisUnit);
    await until(isRedisUp, "Redis");
  },
  "npm install": async () => {
    fs.rmSync("/opt/ndscatter", { recursive: true });
    sh(BLOCKS.install);
  },
  "a worker": async () => {
    worker = await startWorker(() => new ProcessGroup(["sh", "-ec", BLOCKS.worker], { env: ENV }));
  },
  "ndscatter run --redis": async () => {
    await emptyFolder();
    sh(BLOCKS.submit, QUEUE);
    await assertSums();
    await endWorker(worker);
  },
  "the unit of a worker": async () => {
    const [, variable] = /^# (NDSCATTER_REDIS=.*)$/m.exec(BLOCKS.workerUnit) ?? [];
    fs.writeFileSync("/etc/ndscatter/worker.env", `${variable}\n`);
    worker = await startWorker(() => startUnit(BLOCKS.workerUnit));
  },
  "submitJob in JavaScript": async () => {
    const { isRight } = await realJob(2);
    const file = "/opt/ndscatter/submit.mjs";
    fs.writeFileSync(file, BLOCKS.submitJob);
    sh(`node ${file}`, QUEUE);
    assert.ok(isRight());
    await endWorker(worker);
    await redis.end();
  },
  "ndscatter run --slurm": async () => {
    await emptyFolder();
    const cluster = await startSlurm();
    try {
      assert.match(sh(BLOCKS.slurm, { ...cluster.env, PATH: ENV["PATH"] }), /^submitted /);
      await until(() => cluster.queue().length === 0, "Slurm");
      await assertSums();
    } finally {
      await cluster.end();
    }
  },
  "GNU parallel": async () => {
    const { isRight } = await realJob(3);
    sh(BLOCKS.parallel);
    assert.ok(isRight());
  },
  "the command of a pod": async () => {
    const { isRight } = await realJob(4);
    const command = (JSON.parse(setting(BLOCKS.pod, "command")) as string[]).join(" ");
    const pods = Number.parseInt(setting(BLOCKS.pod, "completions"), 10);
    sh(`${`${command} &\n`.repeat(pods)}wait`);
    assert.ok(isRight());
  },
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mount();
  for (const [name, step] of Object.entries(STEPS)) {
    let error: string | null = null;
    try {
      await step();
    } catch (thrown) {
      error = thrown instanceof Error ? String(thrown.stack) : String(thrown);
    }
    console.log(JSON.stringify({ name, error }));
  }
  // A step that failed may have left programs, which end with this one.
  process.exit();
}
