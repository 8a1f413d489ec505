/** Numbers of tasks as texts: what is printed is read back, and what names too much or nothing is refused. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { inParts, parseNumbers, printNumbers } from "../../src/arrays/distributed/ranges.ts";

test("numbers are printed as runs, and read back", () => {
  for (const [numbers, text] of [
    [[5], "5"],
    [[0, 1, 2, 3, 7], "0-3,7"],
    [[2, 4, 6], "2,4,6"],
    [[0, 1, 3, 4], "0-1,3-4"],
  ] as const) {
    assert.equal(printNumbers(numbers), text);
    assert.deepEqual(parseNumbers(text, 100), numbers);
  }
});

test("a text is refused that is none, runs backwards, or names more than may be", () => {
  for (const text of ["", "x", "1-", "-1", "1,,2", "3-2", "1 2", "0-3,"]) {
    assert.equal(parseNumbers(text, 100), null, text);
  }
  assert.deepEqual(parseNumbers("0-2,5", 4), [0, 1, 2, 5]);
  assert.equal(parseNumbers("0-2,5", 3), null);
  assert.equal(parseNumbers("0-999999999999999", 1000), null);
});

test("a list in parts has each number once, and the last part is what is left", () => {
  assert.deepEqual(inParts([1, 2, 3, 4, 5, 6, 7], 3), [[1, 2, 3], [4, 5, 6], [7]]);
  assert.deepEqual(inParts([1, 2, 3, 4], 2), [
    [1, 2],
    [3, 4],
  ]);
  assert.deepEqual(inParts([], 2), []);
});
