/** Bundles the test files that can run in a place into one script for browsers. */

import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { build, type BuildOptions, type Metafile } from "esbuild";

// This runs in build/test/browser, and the sources are bundled.
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const TESTS = path.join(ROOT, "test");

const SUFFIX = ".test.ts";
const SLOW = ".slow.test.ts";

/** What browsers lack. */
const NOT_BUNDLED = /^(node:|esbuild$)/;

/** What is of no use without WebAssembly. */
const OF_WEBASSEMBLY = ["test/support/engines.ts", "src/zarr/zstd.ts"];

const OPTIONS = {
  absWorkingDir: ROOT,
  alias: {
    "node:assert/strict": path.join(TESTS, "browser/node-assert.ts"),
    "node:test": path.join(TESTS, "browser/node-test.ts"),
  },
  define: { "process.env": JSON.stringify({ SEED: process.env["SEED"] }) },
  external: ["node:*", "esbuild"],
  bundle: true,
  write: false,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  logLevel: "warning",
} satisfies BuildOptions;

export interface Bundle {
  readonly script: string;
  /** The files that cannot run there, each with the reason. */
  readonly leftOut: ReadonlyMap<string, string>;
}

/** Bundles files so that they are loaded one after the other, and the file of each test is known. */
export async function bundle(hasWebAssembly: boolean): Promise<Bundle> {
  const files = fs
    .readdirSync(TESTS)
    .filter((name) => name.endsWith(SUFFIX) && !name.endsWith(SLOW))
    .map((name) => `test/${name}`);
  const { metafile } = await build({ ...OPTIONS, entryPoints: files, outdir: ".", metafile: true });
  const leftOut = new Map<string, string>();
  for (const file of files) {
    const reason = whyNot(file, metafile, hasWebAssembly);
    if (reason !== null) leftOut.set(nameOf(file), reason);
  }
  const loads = files
    .filter((file) => !leftOut.has(nameOf(file)))
    .map((file) => `"${nameOf(file)}": () => import("./${path.basename(file)}")`);
  const contents = `import { runSuite } from "./browser/suite.ts";\nrunSuite({ ${loads.join(", ")} });`;
  const { outputFiles } = await build({ ...OPTIONS, stdin: { contents, resolveDir: TESTS } });
  return { script: outputFiles[0].text, leftOut };
}

const nameOf = (file: string): string => path.basename(file, SUFFIX);

/** Why a test file cannot run in a browser; null where it can. */
function whyNot(file: string, { inputs }: Metafile, hasWebAssembly: boolean): string | null {
  if (nameOf(file) === "assert") return "it compares the stand-in for node:assert with Node's";
  const reached = new Set([file]);
  // The set grows while it is walked.
  for (const one of reached) {
    for (const { path: imported, kind } of inputs[one].imports) {
      // A test that imports something while it runs can be skipped by itself.
      if (kind !== "import-statement") continue;
      if (NOT_BUNDLED.test(imported)) return `it imports ${imported}`;
      if (imported in inputs) reached.add(imported);
    }
  }
  const needy = hasWebAssembly ? undefined : OF_WEBASSEMBLY.find((one) => reached.has(one));
  return needy === undefined ? null : `it imports ${needy}`;
}
