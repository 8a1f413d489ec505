/** The test of each test runner, whose functions are global. */

import { mkdtempSync } from "node:fs";
import { EXPECTED } from "./expected.js";
import { nodeResults } from "./node-results.js";

test("files and threads give the right values", async () => {
  expect(await nodeResults(mkdtempSync("run-"))).toEqual(EXPECTED);
});
