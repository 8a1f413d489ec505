/** The suites of random cases with all of their cases; `npm test` draws a sixteenth (`support/cases.ts`). */

import * as fs from "node:fs";
import { testFiles } from "../runners/files.ts";

process.env["CASES"] = "all";

const SOURCES = new URL("../../../test/", import.meta.url);

for (const name of testFiles(false)) {
  const source = fs.readFileSync(new URL(`${name}.test.ts`, SOURCES), "utf8");
  // The variable is read when a suite is loaded.
  if (/\b(?:case(?:Count|List)\(|HAS_ALL\b)/.test(source)) await import(`../${name}.test.js`);
}
