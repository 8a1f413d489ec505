/**
 * Outputs that a person expects, and the change of one node that gives them. The expected outputs are those of the model
 * that was meant; its nodes behind the scatter or gather are a gather and an identity.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  buildModel,
  fixModel,
  readModel,
  runModel,
  verifyModel,
  writeModel,
  type ModelSpec,
} from "../../src/entries/onnx.ts";
import { scatterElements } from "../../src/core/functions.ts";
import { asTensor, tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { setLimits } from "../support/limits.ts";
import { localRuntime } from "../support/local-runtime.ts";
import { f32, i64 } from "../support/node-models.ts";
import { evaluate } from "../support/reference-operators.ts";
import { assertRejected } from "../support/refusal.ts";
import { reportSentence } from "../support/sentences.ts";

type Feeds = Readonly<Record<string, Tensor>>;
type Attributes = NonNullable<ModelSpec["nodes"][number]["attributes"]>;

const square = f32([3, 3], 1, 2, 3, 4, 5, 6, 7, 8, 9);
const updates = f32([3, 3], 10, 20, 30, 40, 50, 60, 70, 80, 90);
const places = i64([3, 3], 0, 2, 1, 2, 0, 0, 1, 1, 2);
const repeats = i64([3, 1], 2, 1, 2);

/** A model of one scatter or gather, with nodes behind it. */
const modelOf = (op: string, feeds: Feeds, attributes: Attributes = {}): Uint8Array =>
  writeModel(
    buildModel({
      opsets: { "ai.onnx": 18 },
      inputs: Object.fromEntries(
        Object.entries(feeds).map(([name, { dtype, shape }]) => [name, { dtype, shape }]),
      ),
      constants: { all: i64([2], -1, 0) },
      nodes: [
        { op, name: "node", inputs: Object.keys(feeds), outputs: ["s"], attributes },
        { op: "Identity", inputs: ["s"], outputs: ["t"] },
        { op: "Gather", name: "behind", inputs: ["t", "all"], outputs: ["y"] },
      ],
      outputs: { y: null },
    }),
  );

const outputOf = (bytes: Uint8Array, feeds: Feeds): Tensor =>
  runModel(readModel(bytes), feeds)["y"];

/** A runtime of the operators with which models are rewritten. */
const runtime = {
  createSession: async (bytes: Uint8Array) => {
    const { graph, opsets } = readModel(bytes);
    const run = async (feeds: Readonly<Record<string, unknown>>) => {
      const given = Object.entries(feeds).map(
        ([name, one]) => [name, asTensor(one as Tensor, {}, name)] as const,
      );
      return Object.fromEntries(evaluate(graph, new Map(given), opsets["ai.onnx"]));
    };
    return { run };
  },
};

/** The matrix with its axes swapped. */
const transposed = ({ dtype, shape: [n], data }: Tensor): Tensor =>
  tensor(
    dtype,
    [n, n],
    Array.from({ length: n * n }, (_, at) => data[(at % n) * n + Math.floor(at / n)]) as never,
  );

interface Planted {
  readonly title: string;
  readonly op: string;
  readonly feeds: Feeds;
  readonly attributes?: Attributes;
  readonly meant: Tensor;
  readonly id: string;
  /** True if no node expresses the change, so that it is only named. */
  readonly isNamed?: boolean;
}

const S = { d: square, i: places, u: updates };
const G = { d: square, i: places };
const elements = (attributes: Attributes, feeds: Feeds = S): Tensor =>
  outputOf(modelOf("ScatterElements", feeds, attributes), feeds);

const rows = f32([3, 2], 1, 2, 3, 4, 5, 6);
const cube = f32([2, 2, 2], 1, 2, 3, 4, 5, 6, 7, 8);
const ND = { d: square, i: repeats, u: updates };
const M = { ...S, i: i64([3, 3], 2, 2, 2, 2, 2, 2, 1, 1, 0) };
const two = i64([2, 3], 2, 0, 1, 0, 1, 1);
const mean = (includeSelf: boolean): Tensor => {
  const s = scatterElements(square, M.i, updates, { axis: 0, reduction: "mean", includeSelf });
  return outputOf(modelOf("Gather", { d: s, i: i64([3], 0, 1, 2) }), {
    d: s,
    i: i64([3], 0, 1, 2),
  });
};

// prettier-ignore
const PLANTED: readonly Planted[] = [
  { title: "the axis of a scatter", op: "ScatterElements", feeds: S, attributes: { axis: 0 },
    meant: elements({ axis: 1 }), id: "other-axis" },
  { title: "the axis of a gather", op: "GatherElements", feeds: G, attributes: { axis: 1 },
    meant: outputOf(modelOf("GatherElements", G, { axis: 0 }), G), id: "other-axis" },
  { title: "the axis of a gather, with another shape", op: "Gather", feeds: { d: rows, i: i64([2], 1, 0) }, attributes: { axis: 1 },
    meant: outputOf(modelOf("Gather", { d: rows, i: i64([2], 1, 0) }), { d: rows, i: i64([2], 1, 0) }), id: "other-axis" },
  { title: "an axis for which an index is outside", op: "ScatterElements",
    feeds: { d: f32([4, 1], 1, 2, 3, 4), i: i64([2, 1], 3, 1), u: f32([2, 1], 8, 9) }, attributes: { axis: 1 },
    meant: f32([2, 1], 8, 1), id: "other-axis" },
  { title: "batch_dims", op: "GatherND", feeds: { d: cube, i: i64([2, 1], 1, 0) },
    meant: f32([2, 2], 5, 6, 3, 4), attributes: {}, id: "other-batch-dims" },
  { title: "the operator", op: "Gather", feeds: G, attributes: { axis: 0 },
    meant: outputOf(modelOf("GatherElements", G, { axis: 0 }), G), id: "other-operator" },
  { title: "a reduction left out", op: "ScatterElements", feeds: S,
    meant: elements({ reduction: "add" }), id: "other-reduction" },
  { title: "another reduction", op: "ScatterElements", feeds: S, attributes: { reduction: "min" },
    meant: elements({ reduction: "max" }), id: "other-reduction" },
  { title: "a mean exported as none", op: "ScatterElements", feeds: M,
    meant: mean(true), id: "other-reduction", isNamed: true },
  { title: "a mean without data exported as none", op: "ScatterElements", feeds: M,
    meant: mean(false), id: "other-reduction+without-self", isNamed: true },
  { title: "square updates that are transposed", op: "ScatterElements", feeds: S,
    meant: elements({}, { ...S, u: transposed(updates) }), id: "transposed-input" },
  { title: "square indices that are transposed", op: "GatherElements", feeds: G,
    meant: outputOf(modelOf("GatherElements", G), { ...G, i: transposed(places) }), id: "transposed-input" },
  { title: "the order of tuples with one target", op: "ScatterND", feeds: ND,
    meant: outputOf(modelOf("ScatterND", ND), { ...ND, u: f32([3, 3], 70, 80, 90, 40, 50, 60, 10, 20, 30) }), id: "first-wins" },
  { title: "the order of elements with one target", op: "ScatterElements", feeds: { ...S, i: i64([3, 3], 2, 2, 2, 2, 2, 2, 1, 1, 1) },
    meant: f32([2, 3], 10, 20, 30, 1, 2, 3), id: "first-wins" },
  { title: "the axis and the reduction", op: "ScatterElements", feeds: S,
    meant: elements({ axis: 1, reduction: "add" }), id: "other-axis+other-reduction" },
  { title: "data and updates exchanged", op: "ScatterElements", feeds: { ...S, d: updates, u: square },
    meant: elements({}), id: "exchanged-inputs" },
  { title: "data and updates exchanged, of other sizes", op: "ScatterND",
    feeds: { d: f32([2], 8, 9), i: i64([2, 1], 3, 1), u: f32([4], 1, 2, 3, 4) },
    meant: f32([2], 8, 1), id: "exchanged-inputs" },
  { title: "data and indices exchanged", op: "Gather", feeds: { d: i64([3], 0, 0, 1), i: i64([3], 2, 1, 2) },
    meant: i64([2], 1, 2), id: "exchanged-inputs" },
  { title: "the reduction, and data and updates exchanged", op: "ScatterElements", feeds: { ...M, d: updates, u: square },
    meant: elements({ reduction: "mul" }, M), id: "other-reduction+exchanged-inputs" },
  { title: "more updates than indices", op: "ScatterElements", feeds: { ...S, i: two },
    meant: elements({}, { ...S, i: two, u: f32([2, 3], 10, 20, 30, 40, 50, 60) }), id: "larger-updates" },
  { title: "the operator, and more updates than it takes", op: "ScatterElements", feeds: { ...S, i: i64([2, 1], 2, 0) },
    meant: f32([2, 3], 10, 20, 30, 40, 50, 60), id: "other-operator+larger-updates" },
  { title: "the operator, and updates of more axes than it takes", op: "ScatterElements",
    feeds: { d: square, i: i64([3, 2], 2, 1, 0, 2, 2, 0), u: f32([3, 2], 10, 20, 30, 40, 50, 60) },
    meant: f32([2, 3], 50, 10, 9, 1, 2, 30), id: "other-operator+larger-updates" },
  { title: "an index out of range that is clipped", op: "Gather", feeds: { d: rows, i: i64([2], 1, 7) },
    meant: f32([2, 2], 5, 6, 3, 4), id: "out-of-range-clipped", isNamed: true },
  { title: "indices counted from 1, one of them out of range", op: "Gather", feeds: { d: rows, i: i64([2], 1, 3) },
    meant: f32([2, 2], 5, 6, 1, 2), id: "indices-from-one", isNamed: true },
];

for (const { title, op, feeds, attributes = {}, meant, id, isNamed = false } of PLANTED) {
  test(`${title}: the change is found${isNamed ? "" : ", and cures the model"}`, async () => {
    const restore = setLimits({
      VERIFY: { reruns: 1, rerunTime: 0, oneThreadRuns: 1, searches: 60, searchTime: Infinity },
      FIX: { runs: 2, nodeTime: 0, modelTime: 0, saving: Infinity },
    });
    try {
      const options = { ...runtime, expected: { y: meant } };
      const report = await fixModel(modelOf(op, feeds, attributes), feeds, options);
      const { verified, chosen } = report;
      assert.equal(verified.agrees, false);
      const [first] = verified.expected?.changes ?? [];
      assert.deepEqual([first?.path, first?.id], ["node", id]);
      reportSentence("change", first.sentence);
      if (isNamed) return assert.equal(chosen, null);
      const { y } = await runtime
        .createSession(chosen?.model ?? new Uint8Array())
        .then(({ run }) => run(feeds));
      assert.ok(equals(y, meant));
      assert.equal(chosen?.isExpected, true);
    } finally {
      restore();
    }
  });
}

/** Outputs that differ by less than the default tolerance. */
const near = Array.from(elements({}).data as Float32Array, (one) => one * (1 + 1e-6));

test("outputs as expected, within the tolerance", async () => {
  const bytes = modelOf("ScatterElements", S);
  for (const [expected, isExpected, tolerance] of [
    [elements({}), true],
    [elements({}), true, 0],
    [f32([2, 3], ...near), true],
    [f32([2, 3], ...near), true, 1e-6],
    [f32([2, 3], ...near), false, 1e-9],
    [f32([2, 3], ...near), false, 0],
    [f32([3, 2], ...near), false],
    [f32([2, 3], ...near.map((one: number) => one + 1)), false],
  ] as const) {
    const chosen = tolerance === undefined ? {} : { tolerance };
    const options = { ...localRuntime(), expected: { y: expected }, ...chosen };
    // oxlint-disable-next-line no-await-in-loop
    const report = await verifyModel(bytes, S, options);
    assert.deepEqual(
      [report.agrees, report.expected?.outputs[0].isExpected],
      [isExpected, isExpected],
    );
    assert.deepEqual(report.expected?.changes, []);
  }
  assert.equal((await verifyModel(bytes, S, localRuntime())).expected, null);
});

test("the sentence is about the first element beyond the tolerance", async () => {
  const expected = f32([2, 3], ...near);
  expected.data[4] = 1000;
  const options = { ...localRuntime(), expected: { y: expected } };
  const report = await verifyModel(modelOf("ScatterElements", S), S, options);
  assert.match(report.expected?.outputs[0].sentence ?? "", /^y\[1, 1\] is .*, expected 1000$/);
});

test("an output that the model lacks cannot be expected", async () => {
  const options = { ...localRuntime(), expected: { z: square } };
  await assertRejected("shape-mismatch", { input: "z", key: "expected", allowed: ["y"] }, () =>
    verifyModel(modelOf("ScatterElements", S), S, options),
  );
});
