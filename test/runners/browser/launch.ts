/** Finds and starts browsers. */

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { ProcessGroup } from "../../../scripts/process-group.js";
import type { Browser } from "./browsers.ts";

const XVFB = "/usr/bin/Xvfb";

/** A browser that is here, and the display that it needs. */
export interface Installed {
  readonly browser: Browser;
  readonly program: string;
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  close(): Promise<void>;
}

/** @returns the browser, or why it is not here */
export async function findBrowser(browser: Browser): Promise<Installed | string> {
  const named = process.env[browser.variable];
  const programs = named === undefined ? browser.programs : [named];
  const program = programs.find((one) => fs.existsSync(one));
  if (program === undefined) return `there is no ${programs.join(" and no ")}`;
  if (browser.needsDisplay && !fs.existsSync(XVFB)) return `there is no ${XVFB}`;
  const display = browser.needsDisplay ? await startDisplay() : null;
  const env = { ...process.env, ...browser.env, ...(display && { DISPLAY: display.name }) };
  const { stdout } = spawnSync(program, ["--version"], { encoding: "utf8", env });
  const version = /\d+(\.\d+)+/.exec(stdout)?.[0] ?? "of unknown version";
  return { browser, program, version, env, close: async () => display?.close() };
}

/** Starts Xvfb, a display without a screen. It takes the first number that is free, and prints that. */
async function startDisplay(): Promise<{ readonly name: string; close(): Promise<void> }> {
  const group = new ProcessGroup([XVFB, "-displayfd", "1", "-nolisten", "tcp"]);
  const name = await new Promise<string>((resolve, reject) => {
    group.child.stdout?.once("data", (number: string) => resolve(`:${number.trim()}`));
    void group.ended.then(() => reject(new Error(`${XVFB} ended: ${group.output}`)));
  });
  return { name, close: () => group.end() };
}

/** Opens an address in a browser of its own, with a new profile. */
export function open({ browser, program, env }: Installed, address: string, isIsolated: boolean) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-browser-"));
  for (const [name, text] of Object.entries(browser.profile)) {
    fs.writeFileSync(path.join(home, name), text);
  }
  const group = new ProcessGroup([program, ...browser.args(address, home)], {
    cwd: home,
    // Caches lie in the profile as well.
    env: {
      ...env,
      ...(isIsolated && browser.envOfIsolated),
      HOME: home,
      XDG_CACHE_HOME: home,
      XDG_CONFIG_HOME: home,
      XDG_DATA_HOME: home,
    },
  });
  return {
    group,
    async close(): Promise<void> {
      await group.end();
      fs.rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}
