/** The tests that run on every engine, on engines of more threads than most machines have cores to spare. */

import { WITHOUT_THREADS } from "../support/platform.ts";

const FILES = [
  "core/duplicates",
  "core/kept-plan",
  "core/policies",
  "platform/arithmetic",
  "platform/examples",
  "platform/offsets",
  "platform/properties",
  "platform/ways",
];

process.env["MANY_THREADS"] = "1";
if (WITHOUT_THREADS === false) for (const name of FILES) await import(`../${name}.test.js`);
