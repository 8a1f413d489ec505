/** `run --expect`, `explain --expect` and their reasons: files of results that other rules made. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { test } from "node:test";
import { buildModel, writeModel } from "../../src/entries/onnx.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { fails, inOrder, makeFolder, prints, testRows } from "../support/cli.ts";
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
const FIRST =
  "the first update of each repeated target was kept, not the last (first-wins, explains the cell)";

testRows(folder, [
  prints(`run ${CALL} --expect exact.npy`, "output: float32[4]\n  equals exact.npy\n"),
  fails(
    `run ${CALL} --expect first.npy`,
    "output[1] is 7, but first.npy has 5",
    `output: float32[4]\n  differs from first.npy\n  why: ${FIRST}\n`,
  ),
  fails(
    `run ${CALL} --expect noise.npy`,
    "output[0] is 0, but noise.npy has 0.123",
    /\n {2}why: nothing known explains it\n$/,
  ),
  fails(
    `run ${CALL} --expect short.npy`,
    "output is float32[4], but short.npy has float32[3]",
    "output: float32[4]\n  differs from short.npy\n",
  ),
  // Another NaN is not a wrong value, so nothing is said of its reason.
  fails(
    "run ScatterND nan.npy none.npy nothing.npy --expect nan2.npy",
    /NaN \(bits 0x7fc00001\)/,
    "output: float32[1]\n  differs from nan2.npy\n",
  ),
  // The runtime did as with none.
  fails(
    "explain sum.onnx d.npy i.npy u.npy --expect exact.npy",
    /^sum\.onnx: .*reduction must be .*, got "sum"/,
    /\ny and exact\.npy\n {2}why: the reduction "sum" was ignored: the reduction was none \(other-reduction, explains /,
  ),
  fails(
    "explain ScatterND d.npy i.npy d.npy --expect exact.npy",
    /updates/,
    /\noutput and exact\.npy\n {2}why: the call has no exact result to compare with\n$/,
  ),
  prints(`explain ${CALL} --expect exact.npy`, /\noutput equals exact\.npy\n$/),
  fails(
    `explain ${CALL} --expect first.npy`,
    "output[1] is 7, but first.npy has 5",
    inOrder(
      /\noutput\[1\] is 7, but first\.npy has 5\n {2}why: the first update .*\n {2}exactly:\n/,
      / {4}output\[1\]\n {6}0 -> 5 {2}updates\[0\], indices\[0\] = 1\n/,
      / {6}5 -> 7 {2}updates\[2\], indices\[2\] = 1\n$/,
    ),
  ),
  fails(
    "explain ScatterND d.npy far.npy u.npy --expect i.npy",
    "i.npy is int64[3, 1], but must have the type and the shape of the output",
  ),
  fails(
    "explain ScatterND d.npy far.npy u.npy --expect clipped.npy",
    /indices\[1, 0\] is 4/,
    /\noutput and clipped\.npy\n {2}why: indices .*\(out-of-range-clipped, explains /,
  ),
]);

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
