/** Numbers on the command line: amounts of memory, and what every option that takes a number refuses. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { NEWEST_OPSETS } from "../../src/entries/operators.ts";
import { parseBytes } from "../../src/cli/input/arguments.ts";
import { runCommand, words } from "../support/cli.ts";

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
      message: `--memory must be an amount of memory, such as 512M or 1G, got ${JSON.stringify(text)}`,
    });
  });
}

const POSITIVE = "must be a positive integer";
const FROM_0 = "must be an integer that is at least 0";

/** A command up to an option, what the option says it takes, and numbers that it refuses beside text. */
// prettier-ignore
const OPTIONS: readonly (readonly [line: string, takes: string, ...refused: readonly string[]])[] = [
  ["run ScatterND --opset", POSITIVE, "0", "-1"],
  ["explain ScatterND --opset", POSITIVE, "0"],
  ["compare ScatterND --opset", POSITIVE, "0"],
  ["infer ScatterND --opset", POSITIVE, "0"],
  ["ops ScatterND --opset", POSITIVE, "0"],
  ["ops ScatterND --diff 13", POSITIVE, "0"],
  ["convert m.onnx -o n.onnx --opset", POSITIVE, "0"],
  ["run ScatterND --threads", POSITIVE, "0", "-1"],
  ["verify m.onnx --threads", POSITIVE, "0", "-1"],
  ["verify m.onnx --runs", "must be an integer from 1 to 10000", "0", "10001"],
  ["verify m.onnx --iteration", FROM_0, "-1"],
  ["verify m.onnx --tolerance", "must be a number that is at least 0, such as 1e-6", "-1", "1e999", "NaN"],
  ["verify m.onnx --call", FROM_0, "-1"],
  ["job resume f --threads", POSITIVE, "0"],
  ["capture m.onnx --node n -o f --threads", POSITIVE, "0"],
  ["capture m.onnx --node n -o f --iteration", FROM_0, "-1"],
  ["job task f apply 0 --threads", POSITIVE, "0"],
  ["job task f apply 0 --wait", FROM_0, "-1"],
  ["job worker --threads", POSITIVE, "0"],
];

for (const [line, takes, ...refused] of OPTIONS) {
  test(`${line}: what is no such number is refused`, async () => {
    const option = words(line).findLast((word) => word.startsWith("--"));
    for (const text of [
      ...refused,
      "x",
      "",
      " ",
      ...(takes.includes("integer") ? ["1.5", "9007199254740993"] : []),
    ]) {
      const { status, stderr } = await runCommand("/nowhere", [...words(line), text]);
      assert.equal(stderr, `ndscatter: ${option} ${takes}, got ${JSON.stringify(text)}\n`);
      assert.equal(status, 2);
    }
  });
}

for (const [line, domain] of [
  ["run ScatterND --opset", "ai.onnx"],
  ["explain ScatterND --opset", "ai.onnx"],
  ["compare GatherND --opset", "ai.onnx"],
  ["infer ScatterND --opset", "ai.onnx"],
  ["ops ScatterND --opset", "ai.onnx"],
  ["ops ScatterND --diff 13", "ai.onnx"],
  ["run ScatterNDUpdate --opset", "openvino"],
] as const) {
  test(`${line}: an opset beyond those that are known is refused, the newest is not`, async () => {
    const newest = NEWEST_OPSETS[domain];
    const beyond = await runCommand("/nowhere", [...words(line), String(newest + 1)]);
    const sentence = `opset ${newest + 1} of ${domain} is unknown; the newest known opset is ${newest}\n`;
    assert.ok(beyond.stderr.endsWith(`: ${sentence}`), beyond.stderr);
    assert.equal(beyond.status, 2);
    const known = await runCommand("/nowhere", [...words(line), String(newest)]);
    assert.doesNotMatch(known.stderr, /not known here/);
  });
}
