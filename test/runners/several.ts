/**
 * Loads the test files that are named into one process, one after the other. No test begins before all are loaded:
 * Node 24 takes the first moment without a test for the end, and then hooks of later files run before their tests.
 *
 * A file that cannot be loaded is one failed test, and the other files run. Files that fail by the same error, because
 * they import the same broken module, say so and leave the error to the first. After all tests nothing may be open.
 */

import asyncHooks from "node:async_hooks";
import path from "node:path";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { seedOf } from "../support/random.ts";
import { requireNothingOpen, watchMemory } from "../support/resources.ts";

const files = process.argv.slice(2);

/**
 * Node's runner follows every promise, to know the test of an error that no test catches. This takes a tenth of the
 * processor time of all tests, so the runner only does it if one file runs. Such an error in several files makes
 * their process fail, and then each file runs alone. The runner does not know the tests of a `describe` either, so only
 * nightly files, which run alone, have any.
 */
if (files.length > 1) {
  const inert: asyncHooks.AsyncHook = { enable: () => inert, disable: () => inert };
  Object.assign(asyncHooks, { createHook: () => inert });
}
const { after, before, test } = await import("node:test");

watchMemory();
fc.configureGlobal({ seed: seedOf("fast-check") });
const failures = new Map<string, string>();

async function load(file: string): Promise<void> {
  const name = path.basename(file);
  try {
    await import(pathToFileURL(file).href);
  } catch (error) {
    const first = failures.get(String(error));
    failures.set(String(error), first ?? name);
    test(`${name} loads`, () => {
      throw first === undefined ? error : new Error(`it fails as ${first} does`);
    });
  }
}

const loadAll = async (): Promise<void> => {
  for (const file of files) await load(file);
};

const loaded = loadAll();
before(() => loaded);
await loaded;
after(requireNothingOpen);
