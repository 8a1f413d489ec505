/** The main process of Electron: it prints its results as JSON. */

import { mkdtempSync } from "node:fs";
import { app } from "electron";
import { nodeResults } from "./node-results.js";

await app.whenReady();
console.log(JSON.stringify(await nodeResults(mkdtempSync("run-"))));
app.quit();
