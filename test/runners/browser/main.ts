/**
 * The test suite in browsers: `npm run test:browser`, or some of them by name. The suite runs once in each of the places
 * that browsers have for code (`passes.ts`), and whether a place is what it should be gets checked first.
 */

import type { Engine } from "../../../src/core/create-engine.ts";
import { closeUnavailable, close, secondsSince, sumOf } from "../outcome.ts";
import { inParallel } from "../parallel.ts";
import { exitOnSignals } from "../process-group.ts";
import { BROWSERS } from "./browsers.ts";
import { bundle, SUITE, type Bundle } from "./bundle.ts";
import { findBrowser } from "./launch.ts";
import { PASSES } from "./passes.ts";
import { runPass } from "./run-pass.ts";

/** The suite for each kind of place. All browsers run the same scripts. */
const BUNDLES: Readonly<Record<Engine["kind"], Bundle>> = {
  wasm: await bundle(SUITE, true),
  js: await bundle(SUITE, false),
};

exitOnSignals();
const named = process.argv.slice(2).map((name) => name.toLowerCase());
const chosen = BROWSERS.filter(
  ({ name }) => named.length === 0 || named.includes(name.toLowerCase()),
);
if (chosen.length < named.length) throw new Error(`no browser of this name: ${named.join(", ")}`);
for (const browser of chosen) {
  const start = performance.now();
  const installed = await findBrowser(browser);
  if (typeof installed === "string") {
    closeUnavailable(browser.name, installed);
    continue;
  }
  const tallies = await inParallel(PASSES, (pass) =>
    runPass(installed, pass, BUNDLES[pass.place.kind]),
  );
  await installed.close();
  close(`${browser.name} ${installed.version}`, sumOf(tallies), secondsSince(start));
}
