/** Processes that make the calls of cases, and may be killed. */

import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Order, Reply } from "./process.ts";

const PROCESS = fileURLToPath(new URL("./process.js", import.meta.url));

/** Milliseconds after which an attempt is stuck. */
export const DEADLINE = 120_000;

export type Ended = Reply | "killed" | "stuck" | { readonly crash: string };

/** Processes that make calls; killed processes are replaced. */
export class Processes {
  readonly #idle: ChildProcess[] = [];

  /** Gives an order to a process, and waits until the process has obeyed or ended. */
  async give(order: Order): Promise<Ended> {
    const child = this.#idle.pop() ?? fork(PROCESS, { stdio: ["ignore", "ignore", "pipe", "ipc"] });
    let complaint = "";
    const listen = (text: Buffer): void => void (complaint += String(text));
    child.stderr?.on("data", listen);
    const ended = await new Promise<Ended>((resolve) => {
      const timer = setTimeout(() => {
        child.kill("SIGKILL");
        resolve("stuck");
      }, DEADLINE);
      const end = (how: Ended): void => {
        clearTimeout(timer);
        resolve(how);
      };
      child.once("message", (reply: Reply) => end(reply));
      child.once("close", (code, signal) =>
        end(signal === "SIGKILL" ? "killed" : { crash: `status ${code} ${signal}\n${complaint}` }),
      );
      child.send(order, (error) => error && end({ crash: String(error) }));
    });
    child.removeAllListeners("message");
    child.removeAllListeners("close");
    child.stderr?.off("data", listen);
    if (typeof ended === "object" && "failure" in ended) this.#idle.push(child);
    return ended;
  }

  /** Ends all processes that wait, so that what they have left behind belongs to nobody. */
  async end(): Promise<void> {
    const ends = this.#idle.splice(0).map((child) => {
      const end = new Promise((resolve) => void child.once("exit", resolve));
      child.kill("SIGKILL");
      return end;
    });
    await Promise.all(ends);
  }
}
