/**
 * Bundles the sources into the files of the package: one for each entry, and parts that entries share. Node takes
 * 22 ms to load forty small modules and 6 ms to load these.
 *
 * A bundler leaves out files of which nothing is used, but not the half of one. So what a page may do without, such as the
 * conversion of models or the diagnosis of results, is an entry for the sake of a file of its own. `explain` is one as
 * well: it shares a file with the diagnosis, and pages would load that file whole.
 */

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SOURCE = path.join(ROOT, "src");
const TARGET = path.join(ROOT, "dist");

// The name of a part changes with its contents, so parts of an earlier build would stay behind.
for (const name of fs.readdirSync(TARGET).filter((one) => one.startsWith("part-"))) {
  fs.rmSync(path.join(TARGET, name));
}

await build({
  entryPoints: [
    // A file of its own stands first in a user's bundle. In the middle its 45 kB of text push what is before it out of
    // sight of gzip, which looks back 32 kB: that took 850 bytes.
    "engines/wasm/bytes.ts",
    "index.ts",
    "npy/index.ts",
    "onnx/index.ts",
    "openvino/index.ts",
    "zarr/index.ts",
    "webgpu/index.ts",
    "chunked/index.ts",
    "chunked/worker.ts",
    "distributed/bullmq.ts",
    "cli/main.ts",
    "convert/convert-model.ts",
    "inspect/inspect-model.ts",
    "verify/verify.ts",
    "diagnose/diagnose.ts",
    "diagnose/compare-dialects.ts",
    "explain/explain.ts",
  ].map((entry) => path.join(SOURCE, entry)),
  outbase: SOURCE,
  outdir: TARGET,
  bundle: true,
  splitting: true,
  chunkNames: "part-[hash]",
  packages: "external",
  format: "esm",
  platform: "neutral",
  external: ["node:*"],
  target: "es2022",
  charset: "utf8",
  logLevel: "warning",
});

// Nothing here has side effects, so to import a part and use nothing of it only makes bundlers warn; and the order of
// imports is free: the text of the kernels comes first, then small parts before large ones, so that gzip sees what is alike.
const files = fs
  .readdirSync(TARGET, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".js"))
  .map((name) => path.join(TARGET, name));
const IMPORT = /^import \{[^}]*\} from "(\.[^"]*)";\n/gm;
const sources = new Map(
  files.map((file) => [file, fs.readFileSync(file, "utf8").replaceAll(/^import ".*\n/gm, "")]),
);
const kernels = files.find((file) => sources.get(file).startsWith("// src/engines/wasm/bytes.ts"));
const leadsToKernels = new Map();
for (const [file, text] of sources) {
  const statements = [...text.matchAll(IMPORT)];
  const rank = ([, from]) => {
    const imported = path.resolve(path.dirname(file), from);
    return isOnTheWay(imported) ? 0 : (sources.get(imported) ?? "").length;
  };
  const sorted = statements.toSorted((a, b) => rank(a) - rank(b)).map(([statement]) => statement);
  // What stands before the imports, which tells a shell how to run the file, stays there.
  let next = 0;
  fs.writeFileSync(
    file,
    text.replaceAll(IMPORT, () => sorted[next++]),
  );
}

/** Whether a file imports the text of the kernels, or imports one that does. */
function isOnTheWay(file) {
  if (file === kernels) return true;
  if (!leadsToKernels.has(file)) {
    // The parts of a bundle import each other in circles.
    leadsToKernels.set(file, false);
    const imports = [...(sources.get(file) ?? "").matchAll(IMPORT)];
    const leads = imports.some(([, from]) => isOnTheWay(path.resolve(path.dirname(file), from)));
    leadsToKernels.set(file, leads);
  }
  return leadsToKernels.get(file);
}
