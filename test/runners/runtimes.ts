/** The programs that run the tests as files: how each of them is installed, runs a file, and prints counts. */

import * as os from "node:os";
import { fileURLToPath } from "node:url";
import type { Counts } from "./outcome.ts";

export interface Runtime {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  /** Test files that cannot run here, and why. */
  readonly leftOut: Readonly<Record<string, string>>;
  /** Most test files of a process. Node takes 0.7 s of processor time to start and to load what most files import. */
  readonly together: number;
  /** The arguments that run test files. */
  test(files: readonly string[]): readonly string[];
  /** The arguments that run a program. */
  run(file: string): readonly string[];
  /** Finds each count in the output. A count that is not printed is 0. */
  readonly counts: Readonly<Record<keyof Counts, RegExp>>;
  /** The part of its output that describes failures. */
  readonly failures: RegExp;
  /** Output of passed tests whose process then crashes in a driver while it ends, so that the status does not count. */
  readonly passedAnyway?: RegExp;
  /** The lines of tests that were skipped: the name, and the reason where it is printed. */
  readonly skipped: RegExp;
}

/** A runtime that an npm package holds. */
export interface PackagedRuntime extends Runtime {
  /** The package and its version. */
  readonly package: string;
  readonly version: string;
  /** Path of the program in the package. */
  readonly program: string;
  /** True if only `--all` includes the runtime. */
  readonly isOld?: boolean;
}

const SEVERAL = fileURLToPath(new URL("several.js", import.meta.url));

const { platform, arch } = process;
const isLinux = platform === "linux";

export const NODE: Runtime = {
  name: "Node",
  env: {},
  leftOut: {},
  together: 50,
  test: (files) => ["--test-reporter=spec", SEVERAL, ...files],
  run: (file) => [file],
  counts: { passed: /^ℹ pass (\d+)$/m, failed: /^ℹ fail (\d+)$/m, skipped: /^ℹ skipped (\d+)$/m },
  failures: /^✖ failing tests:[^]*/m,
  skipped: /^\s*﹣ (.*) \(\S+ms\) # ?(.*)$/gm,
};

/** Files that start processes of Node with what only Node has. */
const OF_NODE = {
  "platform/cli-process": "it starts Node with programs that replace a part of Node",
  "platform/fallback": "it starts Node with options of Node",
};

const nodeOf = (version: string): PackagedRuntime => ({
  ...NODE,
  name: `Node ${version}`,
  package: `node-${platform}-${arch}`,
  version,
  program: "bin/node",
});

/** The baseline runs on processors without AVX2 as well. */
const BUN = isLinux && arch === "x64" ? "x64-baseline" : arch.replace("arm64", "aarch64");

export const PACKAGED: readonly PackagedRuntime[] = [
  { ...nodeOf("22"), isOld: true },
  nodeOf("24"),
  {
    name: "Bun",
    package: `@oven/bun-${platform}-${BUN}`,
    version: "1.4.5",
    program: "bin/bun",
    // JavaScriptCore takes the address space of each WebAssembly memory for memory in use, and lets as much garbage
    // again pile up: 17 GB in the tests that compare six engines, and 0.3 GB with this bound.
    env: { BUN_JSC_gcMaxHeapSize: "200000000" },
    leftOut: {
      ...OF_NODE,
      "platform/cli-write": "it lists a folder in which a link leads to itself, which Bun cannot",
    },
    together: 1,
    test: (files) => ["test", "--timeout=600000", ...files],
    run: (file) => [file],
    counts: { passed: /^ *(\d+) pass$/m, failed: /^ *(\d+) fail$/m, skipped: /^ *(\d+) skip$/m },
    failures: /^(?!\(pass\)).*\n/gm,
    skipped: /^\(skip\) (.*)$/gm,
  },
  {
    name: "Deno",
    package: `@deno/${platform}-${arch}${isLinux ? "-glibc" : ""}`,
    version: "2.9.6",
    program: "deno",
    env: {
      DENO_NO_UPDATE_CHECK: "1",
      // Mesa's drivers, which the tests of WebGPU install, complain in every process without it.
      XDG_RUNTIME_DIR: process.env["XDG_RUNTIME_DIR"] ?? os.tmpdir(),
    },
    leftOut: OF_NODE,
    together: 1,
    test: (files) => ["test", "--allow-all", "--no-check", "--no-lock", ...files],
    run: (file) => ["run", "--allow-all", "--no-lock", file],
    counts: {
      passed: /^(?:ok|FAILED) \| (\d+) passed/m,
      failed: /^(?:ok|FAILED) \|.* (\d+) failed/m,
      skipped: /^(?:ok|FAILED) \|.* (\d+) ignored/m,
    },
    failures: /^ ERRORS [^]*/m,
    skipped: /^(.*) \.\.\. ignored/gm,
  },
];
