/**
 * Runs the page's tests, or only the files named as arguments. Each file is bundled, because Node 20 does not support
 * TypeScript. The library is not bundled, so that the tests use the same files as the page.
 */

import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { announceSeed } from "../../scripts/seed.js";
import { library } from "./entries.js";

const HOME = fileURLToPath(new URL("..", import.meta.url));
const TESTS = path.join(HOME, "test");
const TARGET = path.join(HOME, "build");

const named = process.argv.slice(2).map((file) => path.resolve(file));
const files = fs
  .readdirSync(TESTS, { recursive: true })
  .filter((file) => file.endsWith(".test.ts"))
  .map((file) => path.join(TESTS, file))
  .filter((file) => named.length === 0 || named.includes(file));

fs.rmSync(TARGET, { recursive: true, force: true });
await build({
  entryPoints: files,
  outdir: TARGET,
  outbase: TESTS,
  bundle: true,
  packages: "external",
  plugins: [library],
  platform: "node",
  format: "esm",
  target: "node20",
  jsx: "automatic",
  jsxImportSource: "preact",
  sourcemap: "inline",
  logLevel: "warning",
});
const built = files.map((file) =>
  path.join(TARGET, path.relative(TESTS, file)).replace(/ts$/, "js"),
);
announceSeed("npm run test:playground");
const seeded = new URL("seeded.js", import.meta.url).href;
// Test files run in parallel, because each file waits for its browser most of the time. No test asserts a duration.
const concurrency = `--test-concurrency=${os.availableParallelism()}`;
const flags = ["--enable-source-maps", "--import", seeded, "--test", concurrency];
const tests = spawn(process.execPath, [...flags, ...built], {
  stdio: "inherit",
});
tests.on("exit", (code) => {
  process.exitCode = code ?? 1;
});
