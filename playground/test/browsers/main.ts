/**
 * The built page, visited in Firefox and WebKit: `npm run test:playground-browsers`, or in browsers that are named; with
 * `--all` in Chromium too, and with all examples. The browsers are those of `test/runners/browser`, and need no driver.
 * What Chromium's driver can do besides is in the other tests.
 */

import assert from "node:assert/strict";
import { equals, explain, run, type Tensor } from "ndscatter";
import { BROWSERS, type Browser } from "../../../test/runners/browser/browsers.ts";
import { findBrowser, open, type Installed } from "../../../test/runners/browser/launch.ts";
import { wordsOf } from "../../../test/runners/files.ts";
import { close, closeUnavailable, secondsSince } from "../../../test/runners/outcome.ts";
import { exitOnSignals } from "../../../scripts/process-group.js";
import { fromHash, toHash } from "../../src/document/hash.ts";
import { PRESETS } from "../../src/examples/presets.ts";
import { readState } from "../../src/document/read-state.ts";
import type { State } from "../../src/values/state.ts";
import { SUM } from "../support/states.ts";
import { shownAs } from "../support/values.ts";
import type { Cases, Shown } from "./reports.ts";
import { serve } from "./server.ts";

/** Number of examples that a visit at every commit shows. */
const SAMPLE = 3;

/** The browser that a driver controls in the other tests. */
const DRIVEN = "Chromium";

/** After so many milliseconds without a report the suite hangs. */
const PATIENCE = 60_000;

/** @param count how many examples are shown */
function casesOf(count: number): Cases {
  const found = fromHash(SUM);
  assert.ok("state" in found);
  const { node, inputs } = readState(found.state);
  const { story } = explain(node, inputs);
  assert.ok(story?.kind === "scatter");
  const steps = Array.from({ length: story.summary.count + 1 }, (_, count) =>
    [story.after(count).toArray()].flat(9).map(String),
  );
  const presets = PRESETS.map(({ id, state }) => ({ id, hash: toHash(state) }));
  const shown = presets.slice(0, count).map(({ id }) => id);
  return { presets, shown, sum: SUM, steps };
}

/** Compares what the page shows of an example with what the library computes. */
function checkShown({ id, inputs, output, story }: Shown): void {
  const { state } = PRESETS.find((one) => one.id === id) ?? assert.fail(`there is no ${id}`);
  for (const [position, input] of state.inputs.entries()) {
    assert.deepEqual(inputs[position] ?? null, input?.values ?? null, `input ${position}`);
  }
  const expected = computed(state);
  if (typeof expected === "string") assert.ok(story.includes(expected), `${expected}: ${story}`);
  else {
    const shown = shownAs(expected, output);
    assert.ok(equals(shown, expected), `${shown} for ${expected}`);
  }
}

/** The output of a call, or why there is none. */
function computed(state: State): Tensor | string {
  const { node, inputs } = readState(state);
  try {
    return run(node, inputs)[0];
  } catch (error) {
    return (error as Error).message;
  }
}

/** Runs the suite in a browser, and prints what fails. */
async function runIn(installed: Installed, cases: Cases): Promise<void> {
  const { name } = installed.browser;
  const start = performance.now();
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const count = (test: string, failure: string | null): void => {
    if (failure === null) counts.passed++;
    else {
      counts.failed++;
      console.log(`the page in ${name}: FAILED: ${test}\n${failure}`);
    }
  };
  let end = (_failure: string | null): void => {};
  const ended = new Promise<string | null>((resolve) => {
    end = resolve;
  });
  const alarm = setTimeout(() => end(`nothing was heard for ${PATIENCE / 1000} s`), PATIENCE);
  const server = await serve(cases, (report) => {
    alarm.refresh();
    if (report.type === "end") end(report.failure);
    else if (report.type === "test") count(report.name, report.failure);
    else count(`${report.id} shows what the library computes`, failureOf(report));
  });
  const page = open(installed, server.address, false);
  void page.group.ended.then(() => end(`the browser ended:\n${page.group.output}`));
  const failure = await ended;
  if (failure !== null) count("the suite", failure);
  clearTimeout(alarm);
  await page.close();
  server.close();
  close(`the page in ${name} ${installed.version}`, counts, secondsSince(start));
}

function failureOf(shown: Shown): string | null {
  try {
    checkShown(shown);
    return null;
  } catch (error) {
    return String(error);
  }
}

exitOnSignals();
const { all, named } = wordsOf(process.argv);
const lower = named.map((name) => name.toLowerCase());
const cases = casesOf(all ? Infinity : SAMPLE);

async function runBrowser(browser: Browser): Promise<void> {
  const installed = await findBrowser(browser);
  if (typeof installed === "string") {
    closeUnavailable(`the page in ${browser.name}`, installed);
    return;
  }
  await runIn(installed, cases);
  await installed.close();
}

// All at once, because each of them waits most of the time for frames to be drawn.
await Promise.all(
  BROWSERS.filter(({ name }) =>
    lower.length === 0 ? all || name !== DRIVEN : lower.includes(name.toLowerCase()),
  ).map(runBrowser),
);
