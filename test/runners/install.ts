/** Installs a runtime from npm. */

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import type { PackagedRuntime } from "./runtimes.ts";

/**
 * Installs a runtime in a folder, which is made for it.
 * @returns its program, or null where npm cannot install it
 */
export function install(
  { package: name, version, program }: PackagedRuntime,
  folder: string,
): string | null {
  fs.mkdirSync(folder);
  fs.writeFileSync(path.join(folder, "package.json"), "{}");
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", `${name}@${version}`];
  const { status } = spawnSync("npm", args, { cwd: folder, stdio: "ignore" });
  const file = path.join(folder, "node_modules", name, program);
  return status === 0 && fs.existsSync(file) ? file : null;
}
