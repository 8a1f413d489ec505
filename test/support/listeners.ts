/**
 * The addresses on which processes listen: tests may only start processes that are reachable from this machine alone.
 */

import * as fs from "node:fs";

/** True if this system lists its listeners. */
export const HAS_LISTENERS = fs.existsSync("/proc/net/tcp");

const LISTEN = "0A";
/** 127.x.y.z and ::1, in the kernel's format for addresses. */
const LOOPBACK = /^(?:[0-9A-F]{6}7F|0{24}01000000|0{16}FFFF0000[0-9A-F]{6}7F)$/;

/** The non-loopback addresses on which processes listen, in the kernel's hexadecimal digits. */
export function openAddresses(pids: readonly number[]): string[] {
  const owned = new Set(pids.flatMap(socketsOf));
  const lines = ["tcp", "tcp6"].flatMap((name) =>
    fs.readFileSync(`/proc/net/${name}`, "utf8").trim().split("\n").slice(1),
  );
  return lines.flatMap((line) => {
    const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
    const [address = ""] = local.split(":");
    return state === LISTEN && owned.has(inode) && !LOOPBACK.test(address) ? [local] : [];
  });
}

/** The inode numbers of a process's sockets. */
function socketsOf(pid: number): string[] {
  try {
    return fs.readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
      const target = fs.readlinkSync(`/proc/${pid}/fd/${name}`);
      return /^socket:\[(\d+)\]$/.exec(target)?.slice(1) ?? [];
    });
  } catch {
    // The process has ended.
    return [];
  }
}
