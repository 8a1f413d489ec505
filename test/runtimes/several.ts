/**
 * Loads the test files that are named into one process, one after the other. No test begins before all are loaded:
 * Node 24 takes the first moment without a test for the end, and then hooks of later files run before their tests.
 */

import { before } from "node:test";
import { pathToFileURL } from "node:url";

const load = async (): Promise<void> => {
  for (const file of process.argv.slice(2)) await import(pathToFileURL(file).href);
};

const loaded = load();
before(() => loaded);
await loaded;
