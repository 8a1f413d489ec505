/** Builds the package and compiles its tests, unless nothing has changed since this script last did. */

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { hash32 } from "./seed.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FOLDERS = ["assembly", "scripts", "src", "test"];
const FILES = [
  "node_modules/.package-lock.json",
  "package.json",
  "tsconfig.build.json",
  "tsconfig.json",
];
const RESULTS = ["dist/entries/index.js", "dist/cli/main.js", "build/test/runners/main.js"];
const STAMP = path.join(ROOT, "build", "built");

const isSource = (file) => /\.(?:ts|js|json)$/.test(file) && !file.includes("node_modules");

/** Returns a number that changes if a source is changed, added or removed. */
function state() {
  const sources = FOLDERS.flatMap((folder) =>
    fs
      .readdirSync(path.join(ROOT, folder), { recursive: true })
      .filter(isSource)
      .map((file) => path.join(folder, file)),
  );
  const lines = [...FILES, ...sources.sort()].map((file) => {
    const found = fs.statSync(path.join(ROOT, file), { throwIfNoEntry: false });
    return `${file} ${found?.mtimeMs} ${found?.size}\n`;
  });
  return String(hash32(lines.join("")));
}

function isBuilt() {
  const isThere = [STAMP, ...RESULTS].every((file) => fs.existsSync(path.resolve(ROOT, file)));
  return isThere && fs.readFileSync(STAMP, "utf8") === state();
}

function run(...command) {
  const { status } = spawnSync("npm", command, { cwd: ROOT, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

if (!isBuilt()) {
  fs.rmSync(STAMP, { force: true });
  run("run", "--silent", "build");
  run("exec", "--", "tsc", "-p", "tsconfig.json");
  fs.writeFileSync(STAMP, state());
}
