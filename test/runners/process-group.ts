/** A program with everything that it starts, so that all of it can be ended. */

import { spawn, type ChildProcess } from "node:child_process";

/** Milliseconds that a program has to end itself after SIGTERM. */
const PATIENCE = 5000;

/** Makes signals end this process through its `exit` event, which ends the groups: signals do not reach other groups. */
export function exitOnSignals(): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));
}

export class ProcessGroup {
  readonly child: ChildProcess;
  /** Everything that the program wrote to its standard output and standard error. */
  output = "";
  /** Resolves when the program has ended and its output is complete. */
  readonly ended: Promise<{ readonly status: number | null; readonly signal: string | null }>;

  constructor(
    command: readonly string[],
    options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
  ) {
    const [program, ...args] = command;
    // A group of its own can be signalled as a whole.
    const child = spawn(program, args, {
      ...options,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.output += text;
      });
    }
    this.ended = new Promise((resolve) => {
      child.on("close", (status, signal) => resolve({ status, signal }));
      child.on("error", (error) => {
        this.output += String(error);
        resolve({ status: null, signal: null });
      });
    });
    const killAll = (): void => this.#signal("SIGKILL");
    process.on("exit", killAll);
    void this.ended.then(() => process.off("exit", killAll));
  }

  /** Asks the group to end, and ends it when it does not. */
  async end(): Promise<void> {
    this.#signal("SIGTERM");
    const alarm = setTimeout(() => {
      this.#signal("SIGKILL");
      // A process that left the group may keep these open.
      this.child.stdout?.destroy();
      this.child.stderr?.destroy();
    }, PATIENCE);
    await this.ended;
    clearTimeout(alarm);
    // Descendants may outlive the program.
    this.#signal("SIGKILL");
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.child;
    try {
      if (pid !== undefined) process.kill(-pid, signal);
    } catch {
      // The group has ended.
    }
  }
}
