/** Runs the page's tests in all browsers without a driver, or only in the browsers named as arguments. */

import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { library } from "./entries.js";

const HOME = fileURLToPath(new URL("..", import.meta.url));
const TARGET = path.join(HOME, "build");
const SOURCE = path.join(HOME, "test", "browsers");

const common = { bundle: true, sourcemap: "inline", logLevel: "warning" };
await build({
  ...common,
  entryPoints: [path.join(SOURCE, "suite.ts"), path.join(SOURCE, "watch.ts")],
  outdir: path.join(TARGET, "browsers"),
  format: "iife",
  target: "es2022",
});
const main = path.join(TARGET, "browsers.js");
await build({
  ...common,
  entryPoints: [path.join(SOURCE, "main.ts")],
  outfile: main,
  packages: "external",
  plugins: [library],
  platform: "node",
  format: "esm",
  target: "node20",
});
await import(pathToFileURL(main).href);
