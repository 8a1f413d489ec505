/**
 * Small inputs that failed for people outside the project, in ../shared/faults beside a checkout: what the command says of
 * each now. They run in ONNX Runtime itself.
 */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { makeFolder } from "../support/cli.ts";
import { MODULES, WITHOUT_RUNTIME } from "../support/onnxruntime.ts";
import { ROOT } from "../support/root.ts";

const FAULTS = path.join(ROOT, "..", "shared", "faults");
const skip = fs.existsSync(FAULTS) ? WITHOUT_RUNTIME : "../shared/faults is not here";

const folder = makeFolder();
if (skip === false) {
  for (const file of fs.readdirSync(FAULTS)) {
    fs.copyFileSync(path.join(FAULTS, file), folder.at(file));
  }
  fs.symlinkSync(MODULES, folder.at("node_modules"));
}

const feeds = (file: string, names: string): string =>
  [...names].map((name) => `--feed ${name}=${file}.${name}.npy`).join(" ");

/** A command line, its status, and some fields of its output with `--json`; null if it prints only an error. */
const ROWS: readonly (readonly [line: string, status: number, facts: object | null])[] = [
  ["verify custom-operator.onnx --random", 1, { loads: "never", agrees: false }],
  ["verify wrong-output-type.onnx --random", 1, { loads: "never", agrees: false }],
  ["verify value-twice.onnx --random", 1, { loads: "never", agrees: false }],
  // ONNX Runtime takes the last of two imports of one domain, and runs this model.
  ["verify domain-twice.onnx --random", 0, { loads: "as-is", agrees: true }],
  ["inspect domain-twice.onnx", 0, { counts: { wrong: 0, risky: 1, note: 0 } }],
  ["convert domain-twice.onnx --opset 18 -o d.onnx", 0, { opsets: { "ai.onnx": 18 } }],
  ["verify d.onnx --random", 0, { loads: "as-is", agrees: true }],
  ["inspect initializer-twice.onnx", 1, { counts: { wrong: 2, risky: 0, note: 0 } }],
  [`verify sparse-initializer.onnx ${feeds("sparse-initializer", "i")}`, 0, { agrees: true }],
  [`verify bfloat16-embedding.onnx ${feeds("bfloat16-embedding", "i")}`, 0, { agrees: true }],
  ["run bfloat16-embedding.onnx --with onnxruntime-node i=bfloat16-embedding.i99.npy", 1, null],
  ["convert constant-out-of-range.onnx -o oob.xml", 1, null],
  [
    "run gather-7.xml x=gather-7.x.npy",
    0,
    { outputs: [{ name: "Gather_169525", dtype: "float32", shape: [3, 2], values: [[2, 3], [4, 5], [0, 1]] }] }, // prettier-ignore
  ],
  ["convert gather-7.xml --opset 13 -o g.onnx", 0, { opsets: { "ai.onnx": 13 } }],
  ["convert opset-40.onnx --opset 18 -o f.onnx", 1, null],
  [`fix scatter-9-negative.onnx ${feeds("scatter-9-negative", "diu")} -o s.onnx`, 0, {}],
  [`verify s.onnx ${feeds("scatter-9-negative", "diu")}`, 0, { agrees: true }],
  [`fix flat-indices.onnx ${feeds("flat-indices", "diu")} -o i.onnx`, 0, {}],
  [`verify i.onnx ${feeds("flat-indices", "diu")}`, 0, { agrees: true }],
  [
    `fix axis-by-one.onnx ${feeds("axis-by-one", "di")} --expected y=axis-by-one.expected.npy`,
    0,
    {},
  ],
  [
    `verify axis-by-one.onnx ${feeds("axis-by-one", "di")} --expected y=axis-by-one.expected.npy`,
    1,
    {},
  ],
  ["verify sequence-input.onnx --random", 2, null],
  ["inspect empty-constant.xml", 0, { counts: { wrong: 0, risky: 0, note: 0 } }],
  ["verify many-sessions.onnx --random", 1, { loads: "unoptimized", agrees: false }],
  ["fix half-sum-opset-18.onnx --random -o h.onnx", 0, {}],
  ["verify h.onnx --random", 0, { agrees: true }],
  ["convert averagepool-11.onnx --opset 19 -o a.onnx", 0, { changes: [] }],
];

for (const [line, status, facts] of ROWS) {
  test(line, { skip }, async () => {
    const result = await folder.ndscatter(`${line} --json`);
    assert.equal(result.status, status, result.stderr);
    assert.doesNotMatch(result.stderr, /internal error/);
    const printed = JSON.parse(result.stdout) as Record<string, unknown>;
    if (facts === null) return assert.deepEqual(Object.keys(printed), ["error"]);
    for (const [name, value] of Object.entries(facts)) assert.deepEqual(printed[name], value, name);
  });
}
