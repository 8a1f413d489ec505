/** The tests that run on every engine, on engines of more threads than most machines have cores to spare. */

import { WITHOUT_THREADS } from "./support/platform.ts";

const FILES = [
  "arithmetic",
  "duplicates",
  "examples",
  "kept-plan",
  "offsets",
  "policies",
  "properties",
  "ways",
];

process.env["MANY_THREADS"] = "1";
if (WITHOUT_THREADS === false) for (const name of FILES) await import(`./${name}.test.js`);
