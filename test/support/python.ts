/** Runs Debian's Python, if the packages for a comparison are installed. */

import { spawnSync } from "node:child_process";

const PYTHON = "/usr/bin/python3";

/** The output of a program. @throws Error with its standard error */
export function runPython(program: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(PYTHON, ["-c", program, ...args], {
    encoding: "utf8",
    timeout: 100_000,
  });
  if (status === 0) return stdout;
  throw error ?? new Error(stderr);
}

/** True if Python is installed and can import a module. */
export const hasPython = (module: string): boolean =>
  spawnSync(PYTHON, ["-c", `import ${module}`], { timeout: 60_000 }).status === 0;
