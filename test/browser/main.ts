/**
 * The test suite in browsers: `npm run test:browser`, or some of them by name. The suite runs once in each of the places
 * that browsers have for code (`passes.ts`), and whether a place is what it should be gets checked first.
 */

import type { Engine } from "../../src/create-engine.ts";
import { closeUnavailable, close, secondsSince, sumOf } from "../runtimes/outcome.ts";
import { inParallel } from "../runtimes/parallel.ts";
import { exitOnSignals } from "../runtimes/process-group.ts";
import { BROWSERS } from "./browsers.ts";
import { bundle, type Bundle } from "./bundle.ts";
import { findBrowser, open, type Installed } from "./launch.ts";
import { PASSES, type Pass } from "./passes.ts";
import { serve } from "./server.ts";
import { Tally } from "./tally.ts";

/** After so many milliseconds without a report a test hangs. */
const PATIENCE = 120_000;

/** The suite for each kind of place. All browsers run the same scripts. */
const BUNDLES: Readonly<Record<Engine["kind"], Bundle>> = {
  wasm: await bundle(true),
  js: await bundle(false),
};

/** Opens the page of a pass, and listens until the suite ends. */
async function runPass(installed: Installed, pass: Pass): Promise<Tally> {
  const { name, place, headers } = pass;
  const tally = new Tally(`${installed.browser.name}, ${name}`, place);
  let end = (_failure: string | null): void => {};
  const ended = new Promise<string | null>((resolve) => {
    end = resolve;
  });
  const hangs = (): void => end(`nothing was heard for ${PATIENCE / 1000} s`);
  const alarm = setTimeout(hangs, PATIENCE);
  const { script, leftOut } = BUNDLES[place.kind];
  tally.leaveOut(leftOut);
  const server = await serve(script, headers, (report) => {
    alarm.refresh();
    tally.add(report);
    if (report.type === "end") end(null);
  });
  const address = place.isPage ? server.page : server.pageOfWorker;
  const page = open(installed, address, place.isIsolated);
  void page.group.ended.then(() => end(`the browser ended:\n${page.group.output}`));
  const failure = await ended;
  if (failure !== null) tally.fail(failure);
  clearTimeout(alarm);
  await page.close();
  server.close();
  tally.close();
  return tally;
}

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
  const tallies = await inParallel(PASSES, (pass) => runPass(installed, pass));
  await installed.close();
  close(`${browser.name} ${installed.version}`, sumOf(tallies), secondsSince(start));
}
