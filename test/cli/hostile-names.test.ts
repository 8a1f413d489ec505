/** Escape sequences in names of other people's files do not reach the terminal, in results, errors and notes. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { test } from "node:test";
import { buildModel, writeModel } from "../../src/entries/onnx.ts";
import { MAIN, makeFolder } from "../support/cli.ts";
import { F32, f32, I64, i64 } from "../support/node-models.ts";
import { spawnSync } from "node:child_process";

const folder = makeFolder();
const { at, ndscatter, save } = folder;

/** Begins a line, clears the screen, hides text, sets the title, uses C1's CSI, reverses text, and returns to the margin. */
const EVIL = "\n\u001b[2J\u001b[8m\u001b]0;t\u0007\u009b31m\u202egnp\r";

// Line breaks are allowed, and colours are the command's own.
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

const spec = (op: string) => ({
  opsets: { "ai.onnx": 18, [`d${EVIL}`]: 1 },
  inputs: { [`x${EVIL}`]: F32(2, `N${EVIL}`), i: I64(1, 1), u: F32(1, 2) },
  nodes: [
    { op, name: `n${EVIL}`, inputs: [`x${EVIL}`, "i", "u"], outputs: [`y${EVIL}`] },
    { op: "GatherND", name: `n${EVIL}`, inputs: ["i", "i"], outputs: [`z${EVIL}`] },
  ],
  outputs: { [`y${EVIL}`]: null },
});
fs.writeFileSync(at("evil.onnx"), writeModel(buildModel(spec("ScatterND"))));
fs.writeFileSync(at("other.onnx"), writeModel(buildModel(spec(`Foo${EVIL}`))));
fs.writeFileSync(at(`f${EVIL}.onnx`), "no model");
save("x.npy", f32([2, 2], 1, 2, 3, 4));
save("i.npy", i64([1, 1], 1));
save("far.npy", i64([1, 1], 9));
save("u.npy", f32([1, 2], 5, 6));

const LINES: readonly (readonly string[])[] = [
  ["inspect", "evil.onnx"],
  ["inspect", "--all", "evil.onnx"],
  ["inspect", "other.onnx", `f${EVIL}.onnx`, "."],
  ["inspect", `f${EVIL}.onnx`],
  ["explain", "evil.onnx", "--node", `y${EVIL}`, `x${EVIL}=x.npy`, "i=i.npy", "u=u.npy"],
  ["explain", "evil.onnx", "--node", `y${EVIL}`, `x${EVIL}=x.npy`, "i=far.npy", "u=u.npy"],
  ["explain", "evil.onnx", "x.npy"],
  ["explain", "evil.onnx", "--node", `none${EVIL}`],
  ["run", "evil.onnx", `x${EVIL}=x.npy`, "i=far.npy", "u=u.npy"],
  ["run", "evil.onnx", `x${EVIL}=x.npy`, "i=i.npy", "u=u.npy"],
  ["run", "other.onnx", "x.npy"],
  ["run", `Scatter${EVIL}`, "x.npy"],
  ["run", "--debug", `f${EVIL}.onnx`, "x.npy"],
  ["ops", `Scatter${EVIL}`],
  ["infer", `Scatter${EVIL}`],
  ["convert", "evil.onnx", "--opset", "13", "-o", "out.onnx"],
  ["convert", "evil.onnx", "-o", "out.xml"],
  ["verify", "evil.onnx"],
  ["verify", "evil.onnx", "--random", "--dim", `M${EVIL}=2`],
  ["capture", "evil.onnx", "--node", `n${EVIL}`, "--random", "-o", "case"],
  ["array", `f${EVIL}.zarr`],
  ["array", "x.npy", "-o", `f${EVIL}`],
  ["job", `f${EVIL}`],
  ["compare", `Gather${EVIL}`, "x.npy"],
  [`command${EVIL}`],
  ["run", `--option${EVIL}`],
];

for (const line of LINES) {
  for (const more of [[], ["--json"]]) {
    test(JSON.stringify([...line, ...more]), async () => {
      for (const isTTY of [false, true]) {
        // oxlint-disable-next-line no-await-in-loop
        const result = await ndscatter([...line, ...more], { isTTY });
        const { stdout, stderr } = result;
        // oxlint-disable-next-line no-control-regex
        const plain = isTTY ? stdout.replaceAll(/\u001b\[(?:3[0-9])m/g, "") : stdout;
        assert.doesNotMatch(plain, CONTROL);
        assert.doesNotMatch(stderr, CONTROL);
        assert.ok(!`${stdout}${stderr}`.includes("internal error"), stderr);
        if (stderr !== "" && !line.includes("--debug"))
          assert.ok(stderr.split("\n").every((one) => one === "" || one.startsWith("ndscatter: ")));
      }
    });
  }
}

test("JSON contains the names as they are in the file", async () => {
  const { nodes } = (await folder.json("inspect --all evil.onnx")) as { nodes: { name: string }[] };
  assert.equal(nodes[0].name, `n${EVIL}`);
});

test("the process itself writes no control characters", () => {
  const { stderr } = spawnSync(process.execPath, [MAIN, "run", "other.onnx", "x.npy"], {
    cwd: folder.home,
    encoding: "utf8",
  });
  assert.match(stderr, /^ndscatter: .*Foo\\u000a\\u001b\[2J/);
  assert.doesNotMatch(stderr, CONTROL);
});
