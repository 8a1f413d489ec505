/** Bundles the test files that can run in a place into one script for browsers. */

import * as fs from "node:fs";
import * as path from "node:path";
import { build, type BuildOptions, type Metafile } from "esbuild";
import { ROOT } from "../../support/root.ts";

const TESTS = path.join(ROOT, "test");

/** Test files of one kind: a folder of `test/`, or `test/` itself, and the ending of their names. */
export interface Files {
  readonly folder: string;
  readonly suffix: string;
  /** The beginning of the names that are left out. */
  readonly without?: string;
}

/** The suite of the package. */
export const SUITE: Files = { folder: ".", suffix: ".test.ts", without: "nightly/" };

/** Modules that browsers lack. */
const NOT_BUNDLED = /^(node:|(?:esbuild|oxc-parser)$)/;

/** Modules that need WebAssembly. */
const OF_WEBASSEMBLY = ["test/support/engines.ts", "src/arrays/zarr/codecs/zstd.ts"];

const OPTIONS = {
  absWorkingDir: ROOT,
  alias: {
    "node:assert/strict": path.join(TESTS, "runners/browser/node-assert.ts"),
    "node:test": path.join(TESTS, "runners/browser/node-test.ts"),
  },
  define: {
    "process.env": JSON.stringify({ SEED: process.env["SEED"], LIMITS: process.env["LIMITS"] }),
  },
  external: ["node:*", "esbuild", "oxc-parser"],
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

/**
 * Bundles files so that they are loaded one after the other, and the file of each test is known.
 * @param has chooses files by their names, without the ending; by default all
 */
export async function bundle(
  { folder, suffix, without }: Files,
  hasWebAssembly: boolean,
  has: (name: string) => boolean = () => true,
): Promise<Bundle> {
  const top = path.posix.join("test", folder);
  const nameOf = (file: string): string => path.posix.relative(top, file).slice(0, -suffix.length);
  const files = fs
    .readdirSync(path.join(TESTS, folder), { recursive: true, encoding: "utf8" })
    .map((name) => path.posix.join(top, name.replaceAll(path.sep, "/")))
    .filter((file) => file.endsWith(suffix))
    .filter((file) => without === undefined || !nameOf(file).startsWith(without))
    .filter((file) => has(nameOf(file)));
  const { metafile } = await build({ ...OPTIONS, entryPoints: files, outdir: ".", metafile: true });
  const leftOut = new Map<string, string>();
  for (const file of files) {
    const reason =
      nameOf(file) === "platform/assert"
        ? "it compares the stand-in for node:assert with Node's"
        : whyNot(file, metafile, hasWebAssembly);
    if (reason !== null) leftOut.set(nameOf(file), reason);
  }
  const loads = files
    .filter((file) => !leftOut.has(nameOf(file)))
    .map((file) => `"${nameOf(file)}": () => import("./${path.posix.relative("test", file)}")`);
  const contents = `import { runSuite } from "./runners/browser/suite.ts";\nrunSuite({ ${loads.join(", ")} });`;
  const { outputFiles } = await build({ ...OPTIONS, stdin: { contents, resolveDir: TESTS } });
  return { script: outputFiles[0].text, leftOut };
}

/** Returns the reason why a test file cannot run in a browser, or null if it can. */
function whyNot(file: string, { inputs }: Metafile, hasWebAssembly: boolean): string | null {
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
