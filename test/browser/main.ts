/**
 * The test suite in headless Chromium: `npm run test:browser`. It runs once in each of the places that browsers have
 * for code (`passes.ts`), and what a place really is gets checked first.
 */

import { chromium, type Browser } from "playwright-core";
import { bundle } from "./bundle.ts";
import { PASSES, type Pass } from "./passes.ts";
import type { Report } from "./reports.ts";
import { serve } from "./server.ts";
import { Tally } from "./tally.ts";

const FLAGS = [
  ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
];

/** So many milliseconds without a report mean that a test hangs. */
const PATIENCE = 60_000;

/** Opens the page of a pass and listens until its end. */
async function run(browser: Browser, { place, headers, leftOut }: Pass, tally: Tally) {
  const server = await serve(await bundle(leftOut), headers);
  const page = await browser.newPage();
  try {
    await new Promise<void>((resolve, reject) => {
      const hangs = (): void => reject(new Error(`nothing was heard for ${PATIENCE / 1000} s`));
      const alarm = setTimeout(hangs, PATIENCE);
      page.on("crash", () => reject(new Error("the page crashed")));
      page.on("pageerror", reject);
      page.on("console", (message) => {
        // What is no log is a word of the browser itself.
        if (message.type() !== "log") return;
        const report: Report = JSON.parse(message.text());
        alarm.refresh();
        tally.add(report);
        if (report.type === "end") resolve();
      });
      page.goto(place.isPage ? server.page : server.pageOfWorker).catch(reject);
    });
  } catch (error) {
    tally.fail(String(error));
  } finally {
    await page.close();
    server.close();
  }
}

const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: FLAGS });
console.log(`Chromium ${browser.version()}`);
const tallies: Tally[] = [];
for (const pass of PASSES) {
  const tally = new Tally(pass);
  tallies.push(tally);
  await run(browser, pass, tally);
  tally.close();
}
await browser.close();

const sum = (count: (tally: Tally) => number): number =>
  tallies.map(count).reduce((total, one) => total + one, 0);
const failed = sum((tally) => tally.failed);
console.log("");
console.log(`# tests ${sum((tally) => tally.tests)}`);
console.log(`# pass ${sum((tally) => tally.passed)}`);
console.log(`# fail ${failed}`);
console.log(`# skipped ${sum((tally) => tally.skipped)}`);
process.exit(failed === 0 ? 0 : 1);
