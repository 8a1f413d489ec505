/** The progress of a file that takes long to read, on a clock and a terminal of the test's own. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { ProgressLine, showProgress } from "../../src/cli/io.ts";

/** Reads ten parts that take `milliseconds` each, and returns what was written. */
function shown(isTTY: boolean, milliseconds: number): string {
  let written = "";
  let time = 0;
  const write = (text: string): void => {
    written += text;
  };
  const read = (_: number, length: number): Uint8Array => {
    time += milliseconds;
    return new Uint8Array(length);
  };
  const readAll = (source: { size: number; read: typeof read }): number =>
    Array.from({ length: 10 }, (_, part) => source.read(part * 10, 10).length).length;
  const parts = showProgress("m", { size: 100, read }, readAll, { isTTY, write }, () => time);
  assert.equal(parts, 10);
  return written;
}

test("nothing is shown in the first second, and the line is cleared at the end", () => {
  assert.equal(shown(true, 99), "");
  assert.equal(shown(true, 400), "\rm: 30 % read\rm: 60 % read\rm: 90 % read\r\u001b[K");
});

test("nothing is shown where there is no terminal", () => {
  assert.equal(shown(false, 400), "");
});

test("lines are written every 10 seconds where there is no terminal, if a command asks for them", () => {
  let [written, time] = ["", 0];
  const write = (text: string): void => void (written += text);
  const line = new ProgressLine({ isTTY: false, write }, () => time, true);
  for (time = 0; time < 25_000; time += 1000) line.show(() => `after ${time}`);
  line.showNow("only on a terminal");
  line.clear();
  assert.equal(written, "after 10000\nafter 20000\n");
});

test("a line before work that cannot be interrupted is shown at once, on a terminal", () => {
  for (const isTTY of [true, false]) {
    let written = "";
    const line = new ProgressLine({ isTTY, write: (text) => void (written += text) }, () => 0);
    line.show(() => "later");
    line.showNow("now");
    line.clear();
    assert.equal(written, isTTY ? "\rnow\r\u001b[K" : "");
  }
});
