/** Installs a runtime from npm. */

import * as fs from "node:fs";
import * as path from "node:path";
import { ProcessGroup } from "../../scripts/process-group.js";
import type { PackagedRuntime } from "./runtimes.ts";

/**
 * Installs a runtime in a folder, which is made for it.
 * @returns its program, or null where npm cannot install it
 */
export async function install(
  { package: name, version, program }: PackagedRuntime,
  folder: string,
): Promise<string | null> {
  fs.mkdirSync(folder);
  fs.writeFileSync(path.join(folder, "package.json"), "{}");
  const args = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
  const npm = ["npm", "install", ...args, `${name}@${version}`];
  const { status } = await new ProcessGroup(npm, { cwd: folder }).ended;
  const file = path.join(folder, "node_modules", name, program);
  return status === 0 && fs.existsSync(file) ? file : null;
}
