/** A file that says who owns a folder is opened again only if it has changed, and then always. */

import * as fs from "node:fs";
import * as path from "node:path";
import assert from "node:assert/strict";
import { syncBuiltinESMExports } from "node:module";
import { test } from "node:test";
import { readKept } from "../../src/arrays/chunked/job/spec-file.ts";
import { createJob } from "../../src/arrays/chunked/job/create-job.ts";
import { add, makeHome, requestIn, storeInputs, runHere } from "../support/job-files.ts";
import { WITHOUT_NODE_ITSELF } from "../support/platform.ts";

const TIME = new Date(1e12);

/** The clocks of some file systems advance in steps of 10 ms, and Deno reports the time of a change in seconds. */
const STEP = WITHOUT_NODE_ITSELF ? 1100 : 25;

/** Ways to change a file that keep its size and its time of modification. */
const CHANGES: Readonly<Record<string, (file: string) => void>> = {
  "is written in place": (file) => fs.writeFileSync(file, "later"),
  "is replaced by another file": (file) => {
    fs.writeFileSync(`${file}.tmp`, "later");
    fs.utimesSync(`${file}.tmp`, TIME, TIME);
    fs.renameSync(`${file}.tmp`, file);
  },
  "is removed and made again": (file) => {
    fs.rmSync(file);
    fs.writeFileSync(file, "later");
  },
};

for (const [name, change] of Object.entries(CHANGES)) {
  test(`a kept file that ${name} is read again`, async () => {
    const file = path.join(makeHome(), "job.json");
    fs.writeFileSync(file, "early");
    fs.utimesSync(file, TIME, TIME);
    assert.equal(await readKept(file), "early");
    assert.equal(await readKept(file), "early");
    await new Promise((resolve) => void setTimeout(resolve, STEP));
    change(file);
    fs.utimesSync(file, TIME, TIME);
    assert.equal(await readKept(file), "later");
    fs.rmSync(file);
    assert.equal(await readKept(file), null);
  });
}

test("a job of 6 tasks opens job.json at most 8 times", { skip: WITHOUT_NODE_ITSELF }, async () => {
  const home = makeHome();
  await storeInputs(home);
  let opened = 0;
  const { open } = fs.promises;
  const counting: typeof open = (file, ...rest) => {
    opened += Number(path.basename(String(file)) === "job.json");
    return open(file, ...rest);
  };
  try {
    Object.assign(fs.promises, { open: counting });
    syncBuiltinESMExports();
    const request = await requestIn(home, add);
    await createJob(request);
    await runHere(request.folder);
  } finally {
    Object.assign(fs.promises, { open });
    syncBuiltinESMExports();
  }
  assert.ok(opened > 0 && opened <= 8, String(opened));
});
