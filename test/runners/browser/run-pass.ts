/** Runs a bundle of tests in one place of a browser, counts what it reports, and prints failures and skipped tests. */

import { isDeepStrictEqual } from "node:util";
import { secondsSince, skippedLines, type Counts } from "../outcome.ts";
import type { Bundle } from "./bundle.ts";
import { open, type Installed } from "./launch.ts";
import type { Pass } from "./passes.ts";
import type { Place, Report } from "./reports.ts";
import { serve } from "./server.ts";

/** After so many milliseconds without a report a test hangs. */
const PATIENCE = 120_000;

/** Opens the page of a pass, and listens until the suite ends. */
export async function runPass(
  installed: Installed,
  { name, place, headers }: Pass,
  { script, leftOut }: Bundle,
): Promise<Counts> {
  const start = performance.now();
  const title = `${installed.browser.name}, ${name}`;
  const reasons = [...leftOut].map(([file, reason]) => `${file} (${reason})`);
  if (reasons.length > 0) console.log(`${title}: left out: ${reasons.join(", ")}`);
  const tally = new Tally(title, place);
  let end = (_failure: string | null): void => {};
  const ended = new Promise<string | null>((resolve) => {
    end = resolve;
  });
  const alarm = setTimeout(() => end(`nothing was heard for ${PATIENCE / 1000} s`), PATIENCE);
  const server = await serve(script, headers, (report) => {
    alarm.refresh();
    tally.add(report);
    if (report.type === "end") end(report.failure);
  });
  const page = open(installed, place.isPage ? server.page : server.pageOfWorker, place.isIsolated);
  void page.group.ended.then(() => end(`the browser ended:\n${page.group.output}`));
  const failure = await ended;
  if (failure !== null) tally.fail(failure);
  clearTimeout(alarm);
  await page.close();
  server.close();
  for (const line of skippedLines(tally.skips)) console.log(`${title}: ${line}`);
  const { passed, failed, skips } = tally;
  const tests = passed + failed + skips.length;
  console.log(`${title}: ${tests} tests, ${failed} failed, ${secondsSince(start)}`);
  return { passed, failed, skipped: skips.length };
}

class Tally {
  passed = 0;
  failed = 0;
  readonly skips: { readonly name: string; readonly reason: string }[] = [];
  readonly #title: string;
  readonly #place: Place;
  /** The file that runs now. */
  #file = "";

  /** @param place what the place should be */
  constructor(title: string, place: Place) {
    this.#title = title;
    this.#place = place;
  }

  add(report: Report): void {
    if (report.type === "file") this.#file = `${report.file}: `;
    // The check of the place counts as a test.
    else if (report.type === "place") {
      const isRight = isDeepStrictEqual(report.place, this.#place);
      this.#count(isRight ? null : `the place is ${JSON.stringify(report.place)}`);
    } else if (report.type === "test") {
      const { name, skip, failure } = report;
      if (skip !== false) this.skips.push({ name, reason: skip });
      else this.#count(failure === null ? null : `${name}\n${failure}`);
    }
  }

  #count(failure: string | null): void {
    if (failure === null) this.passed++;
    else this.fail(failure);
  }

  fail(message: string): void {
    this.failed++;
    console.log(`${this.#title}: ${this.#file}FAILED: ${message}`);
  }
}
