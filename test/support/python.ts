/** Runs Debian's Python, where it has what a test compares with. */

import { spawnSync } from "node:child_process";

const PYTHON = "/usr/bin/python3";

/** What a program prints. @throws Error with its standard error */
export function runPython(program: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(PYTHON, ["-c", program, ...args], {
    encoding: "utf8",
    timeout: 100_000,
  });
  if (status === 0) return stdout;
  throw error ?? new Error(stderr);
}

/** Whether Python is there and can import a module. */
export const hasPython = (module: string): boolean =>
  spawnSync(PYTHON, ["-c", `import ${module}`], { timeout: 60_000 }).status === 0;
