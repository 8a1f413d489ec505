/** A program with everything that it starts, so that all of it can be ended; and a command with a limit and its times. */

import { spawn } from "node:child_process";

/** Milliseconds that a program has to end itself after SIGTERM. */
const PATIENCE = 5000;

/** Runs a command, and prints the processor time of the shell, and of the command with its descendants. */
const TIMED = 'exec 2>&1; "$@"; status=$?; times; exit $status';
const TIMES = /(?:\d+m[\d.]+s \d+m[\d.]+s\n)?(\d+)m([\d.]+)s (\d+)m([\d.]+)s\n$/;

/** Makes signals end this process through its `exit` event, which ends the groups: signals do not reach other groups. */
export function exitOnSignals() {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));
}

export class ProcessGroup {
  /** @type {Set<ProcessGroup>} the groups that run */
  static all = new Set();

  /** Everything that the program wrote to its standard output and standard error. */
  output = "";

  /**
   * @param {readonly string[]} command
   * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, onText?: (text: string) => void }} [options] `onText` gets the
   *   output as it comes
   */
  constructor([program, ...args], { onText = () => {}, ...options } = {}) {
    // A group of its own can be signalled as a whole.
    /** @type {import("node:child_process").ChildProcess} */
    this.child = spawn(program, args, {
      ...options,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.add = (/** @type {string} */ text) => {
      this.output += text;
      onText(text);
    };
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream.setEncoding("utf8").on("data", this.add);
    }
    const killAll = () => this.#signal("SIGKILL");
    process.on("exit", killAll);
    ProcessGroup.all.add(this);
    /**
     * Resolves when the program has ended and its output is complete.
     * @type {Promise<{ readonly status: number | null, readonly signal: string | null }>}
     */
    this.ended = new Promise((resolve) => {
      this.child.on("close", (status, signal) => resolve({ status, signal }));
      this.child.on("error", (error) => {
        this.add(String(error));
        resolve({ status: null, signal: null });
      });
    });
    void this.ended.then(() => {
      process.off("exit", killAll);
      ProcessGroup.all.delete(this);
    });
  }

  /** Asks the group to end, and ends it when it does not. */
  async end() {
    this.#signal("SIGTERM");
    const alarm = setTimeout(() => {
      this.#signal("SIGKILL");
      // A process that left the group may keep these open.
      this.child.stdout.destroy();
      this.child.stderr.destroy();
    }, PATIENCE);
    await this.ended;
    clearTimeout(alarm);
    // Descendants may outlive the program.
    this.#signal("SIGKILL");
  }

  /** @param {NodeJS.Signals} name */
  #signal(name) {
    const { pid } = this.child;
    try {
      if (pid !== undefined) process.kill(-pid, name);
    } catch {
      // The group has ended.
    }
  }
}

/**
 * Runs a command for `limit` seconds at most.
 * @param {readonly string[]} command
 * @param {{
 *   env: NodeJS.ProcessEnv, limit: number, onText?: (text: string) => void, onStart?: (pid: number) => void
 * }} options
 * @returns its output, its exit status, or null if it was stopped, and the seconds of wall and processor time
 */
export async function runTimed(command, { limit, onStart = () => {}, ...options }) {
  const start = performance.now();
  const group = new ProcessGroup(["sh", "-c", TIMED, "sh", ...command], options);
  if (group.child.pid !== undefined) onStart(group.child.pid);
  let isStopped = false;
  const alarm = setTimeout(() => {
    isStopped = true;
    group.add(`\nstopped: it did not end in ${Number(limit.toFixed(1))} s\n`);
    void group.end();
  }, limit * 1000);
  const { status } = await group.ended;
  clearTimeout(alarm);
  await group.end();
  const [, ...times] = TIMES.exec(group.output) ?? [];
  const [userMinutes = 0, user = 0, systemMinutes = 0, system = 0] = times.map(Number);
  return {
    output: withoutTimes(group.output),
    status: isStopped ? null : status,
    isStopped,
    wall: (performance.now() - start) / 1000,
    processor: 60 * (userMinutes + systemMinutes) + user + system,
  };
}

/** @param {string} text output, or the last part of it */
export const withoutTimes = (text) => text.replace(TIMES, "");
