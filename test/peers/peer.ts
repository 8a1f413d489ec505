/** A peer: a Python program that answers each line with a line. If it crashes, the next request starts it again. */

import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import * as path from "node:path";
import { createInterface } from "node:readline";
import { PROGRAMS } from "./environments.ts";

/** An answer to a request: the result of the program's function, or an error. */
export type Answer<T> = T | { readonly error: string };

export const isError = <T>(answer: Answer<T>): answer is { readonly error: string } =>
  typeof answer === "object" && answer !== null && "error" in answer;

/** Seconds that an answer may take; the first one includes the imports. */
const LIMIT = 300;

export class Peer<T> {
  readonly #python: string;
  readonly #program: string;
  #process: ChildProcessWithoutNullStreams | null = null;
  #lines: AsyncIterator<string> | null = null;
  /** Versions of the peer's packages; empty before the first request. */
  versions: Readonly<Record<string, string>> = {};

  /** @param program the file's name in this folder, without its ending */
  constructor(python: string, program: string) {
    this.#python = python;
    this.#program = path.join(PROGRAMS, `${program}.py`);
  }

  /** Sends a request, one at a time. A process that ends is an answer with an error. */
  async ask(request: unknown): Promise<Answer<T>> {
    const problem = await this.start();
    if (problem !== null) return { error: problem };
    this.#process?.stdin.write(`${JSON.stringify(request)}\n`);
    const line = await this.#line();
    if (line !== null) return JSON.parse(line);
    const child = this.#process;
    if (child?.exitCode === null && child.signalCode === null) await once(child, "exit");
    await this.close();
    return { error: `the process ended: ${child?.signalCode ?? child?.exitCode}` };
  }

  /** Starts the program unless it runs. Returns the reason if it cannot start, such as a package that is missing. */
  async start(): Promise<string | null> {
    if (this.#process !== null) return null;
    // OpenVINO's converter sends usage data, except if CI is set.
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: "1", CI: "true" };
    // In its own process group, because packages start processes that would outlive it.
    const child = spawn(this.#python, [this.#program], { env, detached: true });
    let last = "";
    child.stdin.on("error", () => {});
    child.on("error", (error) => (last = String(error)));
    child.stderr.on("data", (text) => (last = String(text)));
    this.#process = child;
    this.#lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const line = await this.#line();
    if (line === null) {
      await this.close();
      return `the program does not start: ${last.trim().split("\n").at(-1)}`;
    }
    this.versions = JSON.parse(line).versions;
    return null;
  }

  /** Returns the next line of JSON, because packages also print other lines; null at the end and after the time limit. */
  async #line(): Promise<string | null> {
    const timer = setTimeout(() => this.#process && killGroup(this.#process), LIMIT * 1000);
    try {
      for (;;) {
        // oxlint-disable-next-line no-await-in-loop
        const next = await this.#lines?.next();
        if (next === undefined || next.done === true) return null;
        if (next.value.startsWith("{")) return next.value;
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the program. */
  async close(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null) return;
    if (child.exitCode !== null || child.signalCode !== null) {
      killGroup(child);
      return;
    }
    const end = once(child, "exit");
    killGroup(child);
    await end;
  }
}

function killGroup({ pid }: ChildProcessWithoutNullStreams): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group has ended.
  }
}
