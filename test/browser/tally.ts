/** Counts what a pass reports, and prints it: every file, every failure, every test that was skipped. */

import { isDeepStrictEqual } from "node:util";
import type { Pass } from "./passes.ts";
import type { Report } from "./reports.ts";

export class Tally {
  passed = 0;
  failed = 0;
  skipped = 0;
  readonly #pass: Pass;
  readonly #start = performance.now();
  #file = { name: "", tests: 0, start: 0 };
  #spoke = performance.now();

  constructor(pass: Pass) {
    this.#pass = pass;
    console.log(`\n${pass.name}`);
  }

  get tests(): number {
    return this.passed + this.failed + this.skipped;
  }

  add(report: Report): void {
    switch (report.type) {
      case "place":
        // That the place is what it is said to be is a test as well.
        if (isDeepStrictEqual(report.place, this.#pass.place)) this.passed++;
        else this.fail(`it is ${JSON.stringify(report.place)}`);
        break;
      case "file":
        this.#endFile();
        this.#file = { name: report.file, tests: this.tests, start: performance.now() };
        break;
      case "test":
        if (report.skip !== false) {
          this.skipped++;
          console.log(`  skipped: ${report.name}: ${report.skip}`);
        } else if (report.failure === null) this.passed++;
        else this.fail(`${report.name}\n${report.failure}`);
        if (performance.now() - this.#spoke > 1000) this.#sayFile("…");
        break;
      case "end":
        this.#endFile();
        if (report.failure !== null) this.fail(report.failure);
        else if (this.tests === 0) this.fail("there were no tests");
        break;
    }
  }

  fail(message: string): void {
    this.failed++;
    console.log(`  FAILED: ${this.#file.name}: ${message}`);
  }

  #endFile(): void {
    if (this.#file.name !== "") this.#sayFile();
  }

  #sayFile(mark = ""): void {
    const { name, tests, start } = this.#file;
    console.log(`  ${name}: ${this.tests - tests} tests, ${seconds(start)}${mark}`);
    this.#spoke = performance.now();
  }

  close(): void {
    console.log(
      `${this.#pass.name}: ${this.tests} tests, ${this.failed} failed, ${seconds(this.#start)}`,
    );
  }
}

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;
