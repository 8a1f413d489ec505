/** Lines that fit a terminal: sentences folded at words, cells and tables cut to a width. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { cut, fitTable, fold, widthOf } from "../../src/cli/text/layout.ts";

const FOLDED: readonly (readonly [text: string, width: number, indent: string, lines: string])[] = [
  ["", 8, "", ""],
  ["one two", 8, "", "one two"],
  ["one two", 7, "", "one two"],
  ["one two", 6, "", "one\n  two"],
  ["one two three", Infinity, "  ", "  one two three"],
  ["one two three", 9, "  ", "  one two\n    three"],
  // Two blanks stay within a line, and vanish at its end.
  ["one  two  three", 10, "", "one  two\n  three"],
  // A longer word than a line loses nothing.
  ["abcdefghijklmnopqrst", 8, "", "abcdefgh\n  ijklmn\n  opqrst"],
  ["a bcdefghijklm", 8, "", "a\n  bcdefg\n  hijklm"],
];

for (const [text, width, indent, lines] of FOLDED) {
  test(`${JSON.stringify(indent + text)} in lines of ${width}`, () => {
    assert.equal(fold(text, width, indent), lines);
  });
}

test("a text is cut in its middle, and only where it is too long", () => {
  assert.equal(cut("abcdefgh", 8), "abcdefgh");
  assert.equal(cut("abcdefghi", 8), "abc...hi");
  assert.equal(cut("abcdefghij", 9), "abc...hij");
  // Characters of two units stay whole.
  assert.equal(cut("😀😀😀😀😀😀", 5), "😀...😀");
});

test("a table fits as far as its widest columns can be narrowed", () => {
  const rows = [
    ["data", "a/very/long/name", "float32[2]"],
    ["i", "short", ""],
  ];
  const whole = ["data  a/very/long/name  float32[2]", "i     short"];
  assert.deepEqual(fitTable(rows, Infinity), whole);
  assert.deepEqual(fitTable(rows, 34), whole);
  // Of 30 characters 12 are left for the name.
  assert.deepEqual(fitTable(rows, 30), ["data  a/ver...name  float32[2]", "i     short"]);
  const narrow = ["data  a/v...ame  flo...[2]", "i     short"];
  assert.deepEqual(fitTable(rows, 26), narrow);
  // Narrower columns would say nothing.
  assert.deepEqual(fitTable(rows, 5), narrow);
});

test("a table may have more rows than a call takes arguments", () => {
  const rows = Array.from({ length: 200_000 }, (_, row) => [String(row), "x"]);
  const lines = fitTable(rows, 80);
  assert.deepEqual([lines.length, lines[0], lines.at(-1)], [200_000, "0       x", "199999  x"]);
});

test("a terminal that does not know its width has 80 columns, and a narrow one 20", () => {
  const output = { write: () => {} };
  assert.equal(widthOf({ ...output, isTTY: false, columns: 80 }), Infinity);
  assert.equal(widthOf({ ...output, isTTY: true, columns: 120 }), 120);
  assert.equal(widthOf({ ...output, isTTY: true, columns: 0 }), 80);
  assert.equal(widthOf({ ...output, isTTY: true, columns: 3 }), 20);
});
