/**
 * The drivers that Node has WebGPU on, through npm's `webgpu`, which is Dawn. Neither needs a GPU: Chromium's SwiftShader
 * is Vulkan; Mesa's llvmpipe is OpenGL ES, which has WebGPU's compatibility mode alone.
 */

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { BROWSERS } from "../runners/browser/browsers.ts";
import { WEBGPU } from "./package.ts";

type Env = Readonly<Record<string, string>>;

export interface Driver {
  readonly name: string;
  /** The environment in which a process of Node has it, or what is missing. */
  env(): Env | string;
}

/** What Chromium brings beside its program. */
const FILES = ["libvulkan.so.1", "vk_swiftshader_icd.json"] as const;

export const DRIVERS: readonly Driver[] = [
  {
    name: "SwiftShader",
    env() {
      const folders = foldersOfChromium();
      const has = (folder: string): boolean =>
        FILES.every((file) => fs.existsSync(path.join(folder, file)));
      const folder = folders.find(has);
      if (folder === undefined) return `there is no ${FILES.join(" with ")} in ${folders[0]}`;
      return { LD_LIBRARY_PATH: folder, VK_ICD_FILENAMES: path.join(folder, FILES[1]) };
    },
  },
  {
    name: "llvmpipe",
    // Without a display, and without a graphics card where there is one.
    env: () => ({
      EGL_PLATFORM: "surfaceless",
      LIBGL_ALWAYS_SOFTWARE: "1",
      WEBGPU_OPTIONS: "backend=opengles",
    }),
  },
];

/** Where Debian keeps what a script of Chromium's name starts, and where the program is that is named. */
function foldersOfChromium(): readonly string[] {
  const named = process.env["CHROMIUM"] ?? BROWSERS[0].programs[0];
  const own = fs.existsSync(named) ? [path.dirname(fs.realpathSync(named))] : [];
  return ["/usr/lib/chromium", ...own];
}

/** The arguments that give a process of Node its `navigator.gpu`. */
export const NODE_ARGS: readonly string[] = [
  "--import",
  fileURLToPath(new URL("node-gpu.js", import.meta.url)),
];

/** Prints what the adapter calls itself. */
const PROBE = `
const { gpu } = navigator;
const adapter =
  (await gpu.requestAdapter()) ?? (await gpu.requestAdapter({ featureLevel: "compatibility" }));
console.log(adapter === null ? "" : adapter.info.device);
process.exit(0);`;

/** A driver that is here. */
export interface Found {
  readonly env: Env;
  /** What its adapter calls itself. */
  readonly adapter: string;
}

/** @returns the driver, or why it is not here */
export function findDriver(driver: Driver): Found | string {
  if (!fs.existsSync(WEBGPU)) return "there is no webgpu in test/gpu/node_modules";
  const env = driver.env();
  if (typeof env === "string") return env;
  const { stdout } = spawnSync(
    process.execPath,
    [...NODE_ARGS, "--input-type=module", "--eval", PROBE],
    { encoding: "utf8", env: { ...process.env, ...env }, timeout: 60_000 },
  );
  const adapter = stdout.trim();
  return adapter === "" ? "there is no adapter" : { env, adapter };
}
