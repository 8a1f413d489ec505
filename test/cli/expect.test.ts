/** `run --expect`, `explain --expect` and their reasons: files of results that other rules made. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { test } from "node:test";
import { buildModel, writeModel } from "../../src/entries/onnx.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { makeFolder } from "../support/cli.ts";
import { testTranscript } from "../support/transcripts.ts";
import { i64 } from "../support/node-models.ts";

const folder = makeFolder();
const { at, json, save } = folder;

const f32 = (...values: number[]) => tensor("float32", [values.length], values);

/** A ScatterND of three inputs in an opset that need not have it, nor its reduction. */
const scatterModel = (opset: number, reduction: string): Uint8Array =>
  writeModel(
    buildModel({
      opsets: { "ai.onnx": opset },
      inputs: {
        d: { dtype: "float32", shape: [4] },
        i: { dtype: "int64", shape: [3, 1] },
        u: { dtype: "float32", shape: [3] },
      },
      nodes: [
        { op: "ScatterND", inputs: ["d", "i", "u"], outputs: ["y"], attributes: { reduction } },
      ],
      outputs: { y: null },
    }),
  );

save("d.npy", f32(0, 0, 0, 0));
save("i.npy", i64([3, 1], 1, -1, 1));
save("u.npy", f32(5, 6, 7));
save("exact.npy", f32(0, 7, 0, 6));
// Of two updates of element 1 the first stays.
save("first.npy", f32(0, 5, 0, 6));
save("noise.npy", f32(0.123, 7, 0, 6));
save("far.npy", i64([3, 1], 1, 4, 1));
save("clipped.npy", f32(0, 7, 0, 6));
save("short.npy", f32(0, 7, 0));
save("nan.npy", tensor("float32", [1], new Float32Array(new Uint32Array([0x7fc00001]).buffer)));
save("nan2.npy", tensor("float32", [1], new Float32Array(new Uint32Array([0x7fc00002]).buffer)));
save("none.npy", i64([0, 1]));
save("nothing.npy", f32());

fs.writeFileSync(at("sum.onnx"), scatterModel(16, "sum"));

const CALL = "ScatterND d.npy i.npy u.npy";

testTranscript(folder, "expect", "explain --expect");

test("reasons are data too", async () => {
  const run = (await json(`run ${CALL} --expect first.npy`)) as { outputs: object[] };
  const explained = (await json(`explain ${CALL} --expect first.npy`)) as { expected: object };
  const of = (facts: unknown): unknown => {
    const { diagnoses, difference } = facts as { diagnoses: object[]; difference: object };
    const [{ id, cells }] = diagnoses as [{ id: string; cells: object }];
    return [id, cells, difference];
  };
  const expected = [
    "first-wins",
    { explained: 1, differing: 1 },
    { at: [1], got: "7", expected: "5" },
  ];
  assert.deepEqual(of(run.outputs[0]), expected);
  assert.deepEqual(of(explained.expected), expected);
});
