/**
 * Runs the sample (`test/platform`) in browsers, or in those that are named: `npm run test:browser`. With `--all` it runs
 * the whole suite in each of the places that browsers have for code (`passes.ts`). Each place is checked first.
 */

import { wordsOf } from "../files.ts";
import { closeUnavailable, close, secondsSince, sumOf } from "../outcome.ts";
import { inParallel } from "../parallel.ts";
import { exitOnSignals } from "../../../scripts/process-group.js";
import { announceSeed } from "../seed.ts";
import { BROWSERS } from "./browsers.ts";
import { bundle, SUITE, type Bundle } from "./bundle.ts";
import { findBrowser } from "./launch.ts";
import { PASSES, type Pass } from "./passes.ts";
import { runPass } from "./run-pass.ts";

exitOnSignals();
announceSeed("npm run test:browser");
const { all, named } = wordsOf(process.argv);
const lower = named.map((name) => name.toLowerCase());
const chosen = BROWSERS.filter(
  ({ name }) => lower.length === 0 || lower.includes(name.toLowerCase()),
);
if (chosen.length < named.length) throw new Error(`no browser of this name: ${named.join(", ")}`);

/** The scripts by pass. All browsers run the same. */
const bundles = new Map<string, Promise<Bundle>>();

function bundleOf({ name, place, sample }: Pass): Promise<Bundle> {
  const key = all ? place.kind : name;
  const made =
    bundles.get(key) ?? bundle(SUITE, place.kind === "wasm", all ? undefined : sample?.has);
  bundles.set(key, made);
  return made;
}

for (const browser of chosen) {
  const start = performance.now();
  const installed = await findBrowser(browser);
  if (typeof installed === "string") {
    closeUnavailable(browser.name, installed);
    continue;
  }
  const passes = PASSES.filter(({ sample }) => all || sample?.browsers.includes(browser.name));
  const tallies = await inParallel(passes, async (pass) =>
    runPass(installed, pass, await bundleOf(pass)),
  );
  await installed.close();
  close(`${browser.name} ${installed.version}`, sumOf(tallies), secondsSince(start));
}
