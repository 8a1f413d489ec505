/** Runs programs in a control group with limited memory, which includes the page cache of the files that they read. */

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

const ROOT = "/sys/fs/cgroup";

/**
 * Makes a group beside this process, for either version of control groups.
 * @param {number} bytes
 * @returns {{ folder: string, remove: () => void }} null where that is not allowed
 */
export function limitedGroup(bytes) {
  const lines = fs.readFileSync("/proc/self/cgroup", "utf8").trim().split("\n");
  const controllers = lines.map((line) => line.split(":"));
  const own = controllers.find(([, names]) => names.split(",").includes("memory"));
  const name = `ndscatter-bench-${process.pid}`;
  const [base, limit] =
    own === undefined
      ? [ROOT, "memory.max"]
      : [path.join(ROOT, "memory", own[2]), "memory.limit_in_bytes"];
  const folder = path.join(base, name);
  try {
    fs.mkdirSync(folder);
    fs.writeFileSync(path.join(folder, limit), String(bytes));
  } catch (error) {
    process.stderr.write(
      `no control group with little memory can be made here: ${error.message}\n`,
    );
    return null;
  }
  return { folder, remove: () => fs.rmdirSync(folder) };
}

/** Runs a program to its end, in the group if one is given. */
export function runIn(group, command, options) {
  if (group === null) return spawnSync(command[0], command.slice(1), options);
  const join = 'echo $$ > "$0/cgroup.procs" && exec "$@"';
  return spawnSync("sh", ["-c", join, group.folder, ...command], options);
}

/**
 * Drops a file from the page cache, so that its next readers read it from the disk, and their group is charged for it.
 */
export function dropCache(file) {
  fs.fsyncSync(fs.openSync(file, "r+"));
  const dropped = spawnSync("dd", [`if=${file}`, "iflag=nocache", "count=0", "status=none"]);
  if (dropped.status !== 0) throw new Error(String(dropped.stderr));
}
