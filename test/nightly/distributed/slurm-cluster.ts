/**
 * A Slurm of three nodes on this machine, for tests: munged, slurmctld and three slurmd on loopback, with ports of their
 * own and everything in a temporary folder. It needs root and Debian's packages slurm-wlm and munge. A node that is
 * killed is down after about 10 seconds, and its tasks are queued again.
 */

import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ProcessGroup } from "../../../scripts/process-group.js";
import { freePort } from "./redis-server.ts";

export const NODES = ["n1", "n2", "n3"] as const;
export type Node = (typeof NODES)[number];

const has = (program: string): boolean => spawnSync(program, ["-V"]).error === undefined;

/** The reason to skip a test, false where there is none. */
export const WITHOUT_SLURM = !["slurmctld", "slurmd", "sbatch", "munged"].every(has)
  ? "there is no Slurm"
  : process.getuid?.() === 0
    ? false
    : "slurmd needs root";

function settings(folder: string, ports: readonly number[]): string {
  const host = os.hostname().split(".")[0];
  const [controller, ...nodes] = ports;
  return `ClusterName=ndscatter
SlurmctldHost=${host}(127.0.0.1)
SlurmctldPort=${controller}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
AuthType=auth/munge
AuthInfo=socket=${folder}/munge.socket,cred_expire=5
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=${folder}/state
SlurmdSpoolDir=${folder}/spool-%n
SlurmctldPidFile=${folder}/slurmctld.pid
SlurmdPidFile=${folder}/slurmd-%n.pid
SlurmctldLogFile=${folder}/slurmctld.log
SlurmdLogFile=${folder}/slurmd-%n.log
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=5
KillWait=2
MessageTimeout=2
TCPTimeout=1
JobRequeue=1
${NODES.map(
  (node, at) =>
    `NodeName=${node} NodeHostname=${host} NodeAddr=127.0.0.1 Port=${nodes[at]} CPUs=1 RealMemory=8000 State=UNKNOWN`,
).join("\n")}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`;
}

/** Every process with the name of the folder among its arguments or its environment, but not this one. */
function processesOf(text: string): number[] {
  const found: number[] = [];
  for (const name of fs.readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    try {
      const all = ["cmdline", "environ"].map((file) =>
        fs.readFileSync(`/proc/${name}/${file}`, "latin1"),
      );
      if (all.some((one) => one.includes(text))) found.push(pid);
    } catch {
      // The process has ended.
    }
  }
  return found;
}

function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // The process has ended.
    }
  }
}

export class SlurmCluster {
  readonly folder: string;
  /** What sbatch and its like need. */
  readonly env: NodeJS.ProcessEnv;
  readonly #daemons: ProcessGroup[] = [];
  readonly #nodes = new Map<Node, ProcessGroup>();

  constructor(folder: string) {
    this.folder = folder;
    this.env = { ...process.env, SLURM_CONF: path.join(folder, "slurm.conf") };
  }

  async start(): Promise<void> {
    const { folder, env } = this;
    fs.writeFileSync(path.join(folder, "munge.key"), randomBytes(1024), { mode: 0o400 });
    const files = ["key-file=munge.key", "socket=munge.socket", "pid-file=munge.pid"];
    const more = ["log-file=munge.log", "seed-file=munge.seed"];
    const munge = [...files, ...more].map((one) => `--${one.replace("=", `=${folder}/`)}`);
    this.#daemons.push(new ProcessGroup(["munged", "--foreground", "--force", ...munge], { env }));
    await this.#until("munged", () => fs.existsSync(path.join(folder, "munge.socket")));
    const ports: number[] = [];
    for (const _ of ["controller", ...NODES]) ports.push(await freePort());
    fs.writeFileSync(path.join(folder, "slurm.conf"), settings(folder, ports));
    fs.mkdirSync(path.join(folder, "state"));
    this.#daemons.push(new ProcessGroup(["slurmctld", "-D"], { env }));
    for (const node of NODES) {
      fs.mkdirSync(path.join(folder, `spool-${node}`));
      const daemon = new ProcessGroup(["slurmd", "-D", "-N", node], { env });
      this.#daemons.push(daemon);
      this.#nodes.set(node, daemon);
    }
    await this.#until("Slurm", () => this.states().every((state) => state === "idle"));
  }

  async #until(what: string, condition: () => boolean): Promise<void> {
    for (let attempt = 0; !condition(); attempt++) {
      if (attempt === 200) {
        const log = this.#daemons.map(({ output }) => output).join("\n");
        await this.end();
        throw new Error(`${what} does not start:\n${log}`);
      }
      await sleep(100);
    }
  }

  /** Runs a program of Slurm. @returns what it printed */
  call(program: string, ...args: readonly string[]): string {
    const { stdout, stderr, status } = spawnSync(program, args, {
      env: this.env,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`${program}: ${stderr}`);
    return stdout.trim();
  }

  /** The states of the nodes, such as `idle`, `alloc`, `down*`. */
  states(): string[] {
    const { stdout } = spawnSync("sinfo", ["-h", "-N", "-o", "%t"], {
      env: this.env,
      encoding: "utf8",
    });
    const states = stdout.trim().split("\n");
    return states.length === NODES.length ? states : ["unknown"];
  }

  /** Lines of jobs that have not ended: number, state, node. */
  queue(): string[] {
    return this.call("squeue", "-h", "-r", "-o", "%i %t %N").split("\n").filter(Boolean);
  }

  /** Ends a node as a power failure would: its slurmd, and its tasks with the processes that watch them. */
  kill(node: Node): void {
    const daemon = this.#nodes.get(node)?.child.pid;
    const tasks = processesOf(`SLURMD_NODENAME=${node}`).filter((pid) => this.#isOurs(pid));
    // What watches a task would report its end, so it goes first.
    const watchers = tasks.map(parentOf).filter((pid) => pid > 1 && !tasks.includes(pid));
    killAll([...(daemon === undefined ? [] : [daemon]), ...watchers, ...tasks]);
  }

  /** The processes of the cluster. */
  processes(): number[] {
    return processesOf(this.folder);
  }

  #isOurs(pid: number): boolean {
    try {
      return fs.readFileSync(`/proc/${pid}/environ`, "latin1").includes(this.folder);
    } catch {
      return false;
    }
  }

  async end(): Promise<void> {
    // The first has the keys of the others.
    for (const daemon of [...this.#daemons].reverse()) await daemon.end();
    killAll(processesOf(this.folder));
    fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

function parentOf(pid: number): number {
  try {
    return Number(
      /^PPid:\s*(\d+)$/m.exec(fs.readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0,
    );
  } catch {
    return 0;
  }
}

export async function startSlurm(): Promise<SlurmCluster> {
  const cluster = new SlurmCluster(fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-slurm-")));
  await cluster.start();
  return cluster;
}
