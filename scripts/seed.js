/** The seed of a run: `SEED`, or else a number derived from the commit, so that every commit draws cases never drawn before. */

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";

const ROOT = new URL("../", import.meta.url);

/** Returns the first 32 bits of a text's hash. */
export const hash32 = (text) => createHash("sha256").update(text).digest().readUInt32BE();

function git(...args) {
  const { status, stdout } = spawnSync("git", args, { cwd: ROOT, encoding: "utf8" });
  return status === 0 ? stdout.trim() : null;
}

/** Returns the commit, or null without git. */
export const commit = () => git("rev-parse", "HEAD");

/** Returns true if the tree is that of the commit. */
export const isCommitted = () => git("status", "--porcelain") === "";

/** Returns the version and the time of its file, which identify a package that is not a checkout. */
function packaged() {
  const file = new URL("package.json", ROOT);
  return `${JSON.parse(fs.readFileSync(file, "utf8")).version} ${fs.statSync(file).mtimeMs}`;
}

/**
 * Sets `SEED` for this process and its children, and prints it with a command that repeats it.
 * @param command the command that repeats the run
 * @param also text that distinguishes runs of one commit, such as the time
 */
export function announceSeed(command, also = "") {
  process.env["SEED"] ??= String(hash32((commit() ?? packaged()) + also));
  const { SEED: seed, LIMITS: limits } = process.env;
  const given = limits === undefined ? "" : ` LIMITS=${limits}`;
  console.log(`seed ${seed}: SEED=${seed}${given} ${command} repeats it`);
}
