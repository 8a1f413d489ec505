/** Bundles the test files, except the slow ones, into one script for browsers. */

import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

// This runs in build/test/browser, and the sources are bundled.
const TESTS = fileURLToPath(new URL("../../../test", import.meta.url));

const SUFFIX = ".test.ts";
const SLOW = ".slow";

/** The test files but some, which must exist. */
function filesWithout(leftOut: readonly string[]): string[] {
  const files = fs
    .readdirSync(TESTS)
    .filter((name) => name.endsWith(SUFFIX))
    .map((name) => name.slice(0, -SUFFIX.length));
  for (const file of leftOut) {
    if (!files.includes(file)) throw new Error(`test/${file}${SUFFIX} is left out, but not there`);
  }
  return files.filter((file) => !leftOut.includes(file) && !file.endsWith(SLOW));
}

/** Bundles the files so that they are loaded one after the other, and the file of each test is known. */
export async function bundle(leftOut: readonly string[]): Promise<string> {
  const loads = filesWithout(leftOut).map(
    (file) => `"${file}": () => import("./${file}${SUFFIX}")`,
  );
  const { outputFiles } = await build({
    stdin: {
      contents: `import { runSuite } from "./browser/suite.ts";\nrunSuite({ ${loads.join(", ")} });`,
      resolveDir: TESTS,
    },
    alias: {
      "node:assert/strict": path.join(TESTS, "browser/node-assert.ts"),
      "node:test": path.join(TESTS, "browser/node-test.ts"),
    },
    // Only tests that are skipped without Node import these.
    external: ["node:util", "node:vm"],
    define: { "process.env": JSON.stringify({ SEED: process.env["SEED"] }) },
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    charset: "utf8",
    logLevel: "warning",
  });
  return outputFiles[0].text;
}
