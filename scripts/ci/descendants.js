/**
 * Samples the processor time of a process and its descendants in Linux's /proc. The sum of the shell lacks processes for
 * which no parent waits: the processes of a browser are killed all at once.
 */

import fs from "node:fs";

/** Milliseconds between samples. */
const PERIOD = 2000;

/** Clock ticks of a second, in /proc on every architecture. */
const TICKS = 100;

function statOf(pid) {
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name of the program, in parentheses, may contain anything.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { pid, parent: fields[1], ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    // The process has ended.
    return null;
  }
}

/** Starts sampling. @returns a function that stops and returns the seconds, or 0 without /proc */
export function watchDescendants(root) {
  const known = new Set([String(root)]);
  const ticksOf = new Map();
  const sample = () => {
    const pids = fs.existsSync("/proc/self/stat") ? fs.readdirSync("/proc") : [];
    const stats = pids
      .filter((name) => /^\d+$/.test(name))
      .map(statOf)
      .filter(Boolean);
    // A process keeps its place here when its parent ends before it.
    for (let size = -1; size !== known.size;) {
      size = known.size;
      for (const { pid, parent } of stats) if (known.has(parent)) known.add(pid);
    }
    for (const { pid, ticks } of stats) if (known.has(pid)) ticksOf.set(pid, ticks);
  };
  const timer = setInterval(sample, PERIOD);
  return () => {
    clearInterval(timer);
    return [...ticksOf.values()].reduce((sum, ticks) => sum + ticks, 0) / TICKS;
  };
}
