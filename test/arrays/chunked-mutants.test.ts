/**
 * A few mutants of each kind of file of a job, of arrays, of messages of a queue and of ranges of tasks. Each ends with an
 * error that has a code, or with the right bits, and changes nothing outside. `node build/test/arrays/hostile/main.js` runs many.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { test } from "node:test";
import { kindsIn } from "./hostile/kinds.ts";
import { makeOutside } from "./hostile/places.ts";
import { runKind } from "./hostile/run.ts";
import { caseCount } from "../support/cases.ts";
import { makeHome } from "../support/job-files.ts";
import { WITHOUT_FOLDERS_OF_PACKAGES } from "../support/platform.ts";
import { seedOf } from "../support/random.ts";

const seed = seedOf("chunked-mutants");
const MUTANTS = Number(process.env["MUTANTS"] ?? caseCount(48));

const places = makeOutside(fs.realpathSync(makeHome()));
execFileSync("mkfifo", [places.pipe]);

for (const [name, make] of Object.entries(kindsIn(places))) {
  const skip = name === "messages" && WITHOUT_FOLDERS_OF_PACKAGES;
  test(
    `${MUTANTS} mutants of ${name} end with an error that has a code, or the right bits`,
    { skip },
    async () => {
      const { mutants, wrong } = await runKind(make, places, { count: MUTANTS, first: 0, seed });
      assert.deepEqual({ mutants, wrong }, { mutants: MUTANTS, wrong: 0 });
    },
  );
}
