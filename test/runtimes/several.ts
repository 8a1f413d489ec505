/** Loads the test files that are named into one process, one after the other. */

import { pathToFileURL } from "node:url";

for (const file of process.argv.slice(2)) await import(pathToFileURL(file).href);
