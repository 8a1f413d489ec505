/** Processes with a time limit. Each leads its own process group, so that its children end with it. */

import { spawn } from "node:child_process";
import readline from "node:readline";

/** The running processes, so that `endAll` can end them. */
const running = new Set();

/**
 * Runs `command`.
 * @param options.limit in milliseconds
 * @param options.onLine gets each line of the output and may return true, which ends the process
 * @returns `status` (null if the process was ended), whether the limit was reached, the time in milliseconds, the
 *   output
 */
export function run(command, args, { cwd, env, limit, onLine = () => false }) {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const child = spawn(command, args, {
      cwd,
      env,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    running.add(child);
    const lines = [];
    let isOverdue = false;
    const timer = setTimeout(() => {
      isOverdue = true;
      end(child);
    }, limit);
    for (const stream of [child.stdout, child.stderr]) {
      readline.createInterface({ input: stream }).on("line", (line) => {
        if (lines.length < 1000) lines.push(line);
        if (onLine(line)) end(child);
      });
    }
    child.on("error", reject);
    // A process that outlives its parent holds the streams open, and "close" would not come.
    child.on("exit", () => end(child));
    child.on("close", (status) => {
      clearTimeout(timer);
      running.delete(child);
      const output = lines.join("\n");
      resolve({ status, isOverdue, time: performance.now() - began, output });
    });
  });
}

function end({ pid }) {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    // The group has ended already.
    if (error.code !== "ESRCH") throw error;
  }
}

/** Ends all processes that `run` started. */
export function endAll() {
  for (const child of running) end(child);
}
