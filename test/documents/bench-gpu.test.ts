/** The parts of the GPU benchmark that need no GPU: its work, the bytes that it counts, and what it says. */

import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { ROOT } from "../support/documents.ts";

const load = (file: string) => import(pathToFileURL(path.join(ROOT, "bench/gpu", file)).href);

const { leastBytes } = await load("bytes.js");
const { isFaulty, linesOf, verdictsOf } = await load("report.js");
const { GPU_ROWS, gpuInputsOf, scaledRow } = await load("workloads.js");

const SMALL = GPU_ROWS.map((row: object) => scaledRow(row, 0.001));

test("rows have indices in range, the same in every run, and distinct ones where they say so", () => {
  for (const row of SMALL) {
    const { indices, data, updates } = gpuInputsOf(row);
    assert.deepEqual(gpuInputsOf(row), { indices, data, updates }, row.name);
    const length = row.op.endsWith("ND") ? row.indices.at(-1) : 1;
    const limits = row.op.endsWith("ND") ? row.data.slice(0, length) : [row.data[row.axis]];
    for (const [p, index] of indices.entries()) {
      assert.ok(index >= 0n && index < limits[p % length], `${row.name}: ${index} at ${p}`);
    }
    if (row.fill === "distinct") assert.equal(new Set(indices).size, indices.length);
    if (row.fill === "heads") {
      const heads = Array.from({ length: indices.length / 3 }, (_, p) =>
        indices.slice(3 * p, 3 * p + 2),
      );
      assert.equal(new Set(heads.map(String)).size, heads.length);
    }
  }
});

test("bytes are those of a call that is counted by hand", () => {
  // Four updates of two float32, two of them to row 1 of three rows.
  const row = { op: "scatterND", dtype: "float32", data: [3, 2], indices: [4, 1], fill: "random" };
  const indices = BigInt64Array.of(1n, 0n, 1n, 1n);
  const [read, updates, hit, data] = [32, 32, 16, 24];
  assert.equal(leastBytes({ ...row, reduction: "none" }, indices), read + 2 * data);
  assert.equal(leastBytes({ ...row, reduction: "none", inPlace: true }, indices), read + 2 * hit);
  assert.equal(leastBytes({ ...row, reduction: "add" }, indices), read + updates + 2 * data);
  const gather = { ...row, op: "gatherND" };
  assert.equal(leastBytes(gather, indices), read + hit + updates);
  const elements = { ...row, op: "gatherElements", indices: [2, 2], axis: 0 };
  // Cells 2, 1, 2, 3 of data.
  assert.equal(leastBytes(elements, indices), read + 12 + 16);
});

const right = { wrong: 0, size: 8, variants: 1, ms: 2, wall: 3, rate: 5 };
const work = { passes: 2, commands: 7, dispatches: 5, bytes: 4e6 };
const recordOf = (...results: object[]) => ({
  copy: { buffer: 10, kernel: 8 },
  rows: [{ name: "row", least: 1e7, results }],
  findings: ["something else"],
});
const ours = { name: "ndscatter", ...right, work, ratio: { ratio: 1, low: 1, high: 1 } };
const peer = {
  name: "peer",
  ...right,
  ratio: { ratio: 4, low: 3, high: 5 },
  wrong: 3,
  variants: 5,
};

test("a line says who is right, who repeats, and how far from a plain copy a call is", () => {
  const refused = { name: "other", error: "it has no such operator" };
  assert.deepEqual(linesOf(recordOf(ours, peer, refused)), [
    [
      "row",
      "ndscatter",
      "10.0",
      "4.00",
      "2",
      "7",
      "5",
      "2.00",
      "3.00",
      "5.00",
      "50 %",
      "20 %",
      "1.00",
      "yes",
      "1 result",
    ],
    [
      "",
      "peer",
      "",
      "",
      "",
      "",
      "",
      "2.00",
      "3.00",
      "5.00",
      "50 %",
      "",
      "4.00",
      "3 of 8 differ",
      "5 results",
    ],
    ["", "other", "", "", "", "", "", "", "", "", "", "", "", "it has no such operator", ""],
  ]);
  assert.deepEqual(verdictsOf(recordOf(ours, peer, refused)), [
    "ndscatter: 1 of 1 rows right, 1 with one result in 5 runs",
    "peer: 0 of 1 rows right, 0 with one result in 5 runs; 4.00 times the time of ndscatter, by the geometric mean",
    "other: 0 of 0 rows right, 0 with one result in 5 runs",
    "something else",
  ]);
});

test("the command fails when the library is wrong, changes or refuses, and not when a peer does", () => {
  assert.equal(isFaulty(recordOf(ours, peer)), false);
  for (const fault of [{ wrong: 1 }, { variants: 2 }, { error: "no" }]) {
    assert.equal(isFaulty(recordOf({ ...ours, name: "ndscatter, kept plan", ...fault })), true);
  }
});
