/** Counts what a pass reports, and prints failures, the tests that were skipped, and each file that took long. */

import { isDeepStrictEqual } from "node:util";
import { secondsSince, skippedLines } from "../outcome.ts";
import type { Place, Report } from "./reports.ts";

/** Files that took fewer milliseconds are not printed. */
const LONG = 1000;

/** The file that runs now. */
interface OpenFile {
  readonly name: string;
  /** Number of tests that ran before it. */
  readonly tests: number;
  readonly start: number;
  readonly skipped: { name: string; reason: string }[];
}

export class Tally {
  passed = 0;
  failed = 0;
  skipped = 0;
  readonly #name: string;
  readonly #place: Place;
  readonly #start = performance.now();
  #file: OpenFile = { name: "", tests: 0, start: performance.now(), skipped: [] };

  /** @param place what the place should be */
  constructor(name: string, place: Place) {
    this.#name = name;
    this.#place = place;
  }

  get tests(): number {
    return this.passed + this.failed + this.skipped;
  }

  /** Prints the files that cannot run in the place. */
  leaveOut(files: ReadonlyMap<string, string>): void {
    if (files.size === 0) return;
    const reasons = [...files].map(([file, reason]) => `${file} (${reason})`);
    console.log(`${this.#name}: left out: ${reasons.join(", ")}`);
  }

  add(report: Report): void {
    switch (report.type) {
      case "place":
        // The check of the place counts as a test.
        if (isDeepStrictEqual(report.place, this.#place)) this.passed++;
        else this.fail(`the place is ${JSON.stringify(report.place)}`);
        break;
      case "file":
        this.#closeFile();
        this.#file = {
          name: report.file,
          tests: this.tests,
          start: performance.now(),
          skipped: [],
        };
        break;
      case "test":
        if (report.skip !== false) {
          this.skipped++;
          this.#file.skipped.push({ name: report.name, reason: report.skip });
        } else if (report.failure === null) this.passed++;
        else this.fail(`${report.name}\n${report.failure}`);
        break;
      case "end":
        this.#closeFile();
        if (report.failure !== null) this.fail(report.failure);
        break;
    }
  }

  fail(message: string): void {
    this.failed++;
    this.#print(`FAILED: ${message}`);
  }

  #print(text: string): void {
    const { name } = this.#file;
    console.log(`${this.#name}: ${name === "" ? "" : `${name}: `}${text}`);
  }

  #closeFile(): void {
    const { tests, start, skipped } = this.#file;
    for (const line of skippedLines(skipped)) this.#print(line);
    if (performance.now() - start < LONG || this.tests === tests) return;
    this.#print(`${this.tests - tests} tests, ${secondsSince(start)}`);
  }

  close(): void {
    console.log(
      `${this.#name}: ${this.tests} tests, ${this.failed} failed, ${secondsSince(this.#start)}`,
    );
  }
}
