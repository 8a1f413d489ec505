/** What is told of a file that takes long to read: by a clock and a terminal of the test's own. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { tellReading } from "../src/cli/progress.ts";

/** Reads ten parts that take a while each, and gives back what was written. */
function told(isTTY: boolean, milliseconds: number): string {
  let written = "";
  let time = 0;
  const write = (text: string) => (written += text);
  const read = (_: number, length: number): Uint8Array => {
    time += milliseconds;
    return new Uint8Array(length);
  };
  const readAll = (source: { size: number; read: typeof read }): number =>
    Array.from({ length: 10 }, (_, part) => source.read(part * 10, 10).length).length;
  const parts = tellReading("m", { size: 100, read }, readAll, { isTTY, write, now: () => time });
  assert.equal(parts, 10);
  return written;
}

test("a second goes by before anything is told, and at last the line is cleared", () => {
  assert.equal(told(true, 99), "");
  assert.equal(told(true, 400), "\rm: 30 % read\rm: 60 % read\rm: 90 % read\r\u001b[K");
});

test("nothing is told where there is no terminal", () => {
  assert.equal(told(false, 400), "");
});
