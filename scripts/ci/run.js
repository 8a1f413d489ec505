/** Runs one command of CI: with a time limit, its output in a file, and the wall and processor time it took. */

import { spawn } from "node:child_process";
import fs from "node:fs";
import { watchDescendants } from "./descendants.js";

/** Prints the processor time of the command and its descendants. */
const TIMED = 'exec 2>&1; "$@"; status=$?; times; exit $status';
const TIMES = /\n?(?:\d+m[\d.]+s \d+m[\d.]+s\n)?(\d+)m([\d.]+)s (\d+)m([\d.]+)s\n$/;

/** Milliseconds that a command has to end its own children when it is stopped. */
const PATIENCE = 8000;

/** The process groups that run now. They end with this process. */
const groups = new Set();

function signal(pid, name) {
  try {
    process.kill(-pid, name);
  } catch {
    // The group has ended.
  }
}

/** Ends everything that runs, and this process. */
export async function stopAll() {
  for (const pid of groups) signal(pid, "SIGTERM");
  await new Promise((resolve) => void setTimeout(resolve, PATIENCE));
  for (const pid of groups) signal(pid, "SIGKILL");
  process.exit(1);
}

/**
 * Runs a command, and writes its output to `log`.
 * @param onText called with the output as it comes
 * @returns the output, the exit status, or null if the time limit was reached, and seconds of wall and processor time
 */
export async function run({ command, limit, env = {} }, log, onText = () => {}) {
  const start = performance.now();
  const file = fs.openSync(log, "w");
  const child = spawn("sh", ["-c", TIMED, "sh", ...command], {
    env: { ...process.env, ...env },
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  groups.add(child.pid);
  const sampled = watchDescendants(child.pid);
  let output = "";
  const add = (text) => {
    fs.writeSync(file, text);
    output += text;
    onText(text.replace(TIMES, ""));
  };
  child.stdout.setEncoding("utf8").on("data", add);
  let isLate = false;
  const alarms = [
    setTimeout(() => {
      isLate = true;
      add(`\nstopped: it did not end in ${limit} s\n`);
      signal(child.pid, "SIGTERM");
    }, limit * 1000),
    setTimeout(
      () => {
        signal(child.pid, "SIGKILL");
        // A process that left the group may keep it open.
        child.stdout.destroy();
      },
      limit * 1000 + PATIENCE,
    ),
  ];
  const status = await new Promise((resolve) => {
    child.on("close", resolve);
    child.on("error", (error) => {
      add(`${error}\n`);
      resolve(-1);
    });
  });
  for (const alarm of alarms) clearTimeout(alarm);
  // Descendants may outlive the command.
  signal(child.pid, "SIGKILL");
  groups.delete(child.pid);
  fs.closeSync(file);
  const [, ...times] = TIMES.exec(output) ?? [];
  const [userMinutes = 0, user = 0, systemMinutes = 0, system = 0] = times.map(Number);
  return {
    output: output.replace(TIMES, "\n"),
    status: isLate ? null : status,
    wall: (performance.now() - start) / 1000,
    processor: Math.max(60 * (userMinutes + systemMinutes) + user + system, sampled()),
  };
}
