/** Amounts of memory on the command line. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { parseBytes } from "../src/cli/size.ts";

const SIZES: readonly (readonly [text: string, bytes: number])[] = [
  ["1", 1],
  ["123456789", 123_456_789],
  ["1k", 1024],
  ["512M", 536_870_912],
  ["512m", 536_870_912],
  ["1G", 1_073_741_824],
  ["1GB", 1_073_741_824],
  ["1GiB", 1_073_741_824],
  ["1.5g", 1_610_612_736],
  ["2T", 2_199_023_255_552],
];

for (const [text, bytes] of SIZES) {
  test(`${text} is ${bytes} bytes`, () => assert.equal(parseBytes(text, "--memory"), bytes));
}

for (const text of ["", "0", "G", "-1G", "1 G", "1GG", "1e9", "0x10", "1P", "9999999T", ".5G"]) {
  test(`${JSON.stringify(text)} is no amount`, () => {
    assert.throws(() => parseBytes(text, "--memory"), {
      name: "Failure",
      status: 2,
      message: `--memory takes an amount such as 512M or 1G, got ${JSON.stringify(text)}`,
    });
  });
}
