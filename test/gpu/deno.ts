/**
 * Deno, whose WebGPU is wgpu, the implementation that Firefox has, on Mesa's lavapipe, which is Vulkan in software. Dawn, which
 * is Chromium's, is in all other places.
 */

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { install } from "../runners/install.ts";
import { PACKAGED, type Runtime } from "../runners/runtimes.ts";

/** Where systems keep the descriptions of drivers of Vulkan. */
const DRIVERS = "/usr/share/vulkan/icd.d";

const PROBE = "console.log((await navigator.gpu.requestAdapter())?.info.device ?? '');";

export interface FoundDeno {
  readonly program: string;
  readonly runtime: Runtime;
}

/**
 * @param home a folder in which Deno is installed
 * @returns Deno with lavapipe, or what is missing
 */
export async function findDeno(home: string): Promise<FoundDeno | string> {
  const files = fs.existsSync(DRIVERS) ? fs.readdirSync(DRIVERS) : [];
  const driver = files.find((name) => name.startsWith("lvp_icd."));
  if (driver === undefined) return `there is no lavapipe in ${DRIVERS}`;
  const deno = PACKAGED.find(({ name }) => name === "Deno");
  if (deno === undefined) return "there is no Deno among the runtimes";
  const program = await install(deno, path.join(home, "deno"));
  if (program === null) return `npm cannot install ${deno.package}`;
  const env = {
    ...deno.env,
    VK_ICD_FILENAMES: path.join(DRIVERS, driver),
  };
  const probe = path.join(home, "probe.js");
  fs.writeFileSync(probe, PROBE);
  const args = ["run", "--unstable-webgpu", "--no-lock", probe];
  const options = { encoding: "utf8", env: { ...process.env, ...env }, timeout: 60_000 } as const;
  if (spawnSync(program, args, options).stdout.trim() === "") return "there is no adapter in Deno";
  const runtime = {
    ...deno,
    env,
    // Mesa's lavapipe damages its memory now and then when the process of a lost device ends.
    passedAnyway: /^ok \| [1-9]\d* passed \| 0 failed.*\n+(?:.*\n)?(?:Aborted|Segmentation fault)/m,
    test: (list: readonly string[]) => {
      const [test, ...rest] = deno.test(list);
      return [test, "--unstable-webgpu", ...rest];
    },
  };
  return { program, runtime };
}
