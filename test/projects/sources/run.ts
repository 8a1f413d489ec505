/** The program of each runtime: it prints its results as JSON. */

import { mkdtempSync } from "node:fs";
import { nodeResults } from "./node-results.js";

console.log(JSON.stringify(await nodeResults(mkdtempSync("run-"))));
