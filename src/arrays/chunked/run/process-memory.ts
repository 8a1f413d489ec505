/** Measures the memory of this process. */

import { readFileSync } from "node:fs";

/**
 * Returns the memory of this process, in bytes. On Linux, the result excludes file pages, such as those of the Node
 * executable (47 MB), because the system frees them when memory is short.
 */
export function processMemory(): number {
  try {
    const status = readFileSync("/proc/self/status", "utf8");
    const [, kilobytes] = /^RssAnon:\s*(\d+) kB$/m.exec(status) ?? [];
    if (kilobytes !== undefined) return 1024 * Number(kilobytes);
  } catch {
    // Only Linux has this file.
  }
  return process.memoryUsage.rss();
}
