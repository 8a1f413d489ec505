/** Measures the memory of this process. */

import { readFileSync } from "node:fs";

/**
 * Returns the memory of this process in bytes. On Linux, pages of files are excluded, such as the program of Node (47 MB),
 * because the system takes them back when memory is short.
 */
export function processMemory(): number {
  try {
    const status = readFileSync("/proc/self/status", "utf8");
    const [, kilobytes] = /^RssAnon:\s*(\d+) kB$/m.exec(status) ?? [];
    if (kilobytes !== undefined) return 1024 * Number(kilobytes);
  } catch {
    // Other systems lack the file.
  }
  return process.memoryUsage.rss();
}
