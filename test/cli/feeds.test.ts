/** The tensors that commands make up for inputs: --random, --dim, --shape, --value, --range and --seed. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { feedsOf, type FeedOptions } from "../../src/cli/input/feeds.ts";
import type { Io } from "../../src/cli/io.ts";
import type { Tensor } from "../../src/core/tensor/tensor.ts";
import { readModel, writeModel } from "../../src/entries/onnx.ts";
import { makeFolder } from "../support/cli.ts";
import { BOOL, F32, F16, I32, I64, TEXT, f32, i64, onnxModel } from "../support/node-models.ts";

const folder = makeFolder();
folder.save("table.npy", f32([3, 2], 1, 2, 3, 4, 5, 6));

/** Rows of `table` by `ids`, which go through other operators first, and its cells by tuples. */
const MODEL = readModel(
  writeModel(
    onnxModel(13, {
      inputs: { table: F32("rows", 2), ids: I32("batch", "length"), cells: I64("count", 2) },
      constants: { axes: i64([1], 0) },
      nodes: [
        { op: "Cast", inputs: ["ids"], outputs: ["cast"], attributes: { to: 7 } },
        { op: "Unsqueeze", inputs: ["cast", "axes"], outputs: ["wide"] },
        { op: "Gather", name: "rows", inputs: ["table", "wide"], outputs: ["taken"] },
        { op: "GatherND", name: "cells", inputs: ["table", "cells"], outputs: ["y"] },
      ],
    }),
  ),
);

/** Inputs that no node takes as indices. */
const PLAIN = onnxModel(13, {
  inputs: {
    ...{
      sound: F32(null, null),
      state: F32(2, null, 128),
      rate: I64(),
      half: F16(4),
      flags: BOOL(3),
    },
    names: TEXT(2),
  },
  nodes: [{ op: "Identity", inputs: ["sound"], outputs: ["y"] }],
});

const feed = (options: FeedOptions, model = MODEL): Readonly<Record<string, Tensor>> =>
  feedsOf({ cwd: folder.home } as Io, "m.onnx", model, options);

const SIZES: FeedOptions = { random: true, shape: ["table=7,2", "ids=8,64", "cells=500,2"] };
const SILERO = ["sound=1,512", "state=2,1,128"];

const flat = (one: Tensor): number[] => Array.from(one.data as Iterable<number | bigint>, Number);
const ends = (values: readonly number[]): number[] => [Math.min(...values), Math.max(...values)];

test("indices lie within the axis that they index, and reach both ends; tuples have a size for each component", () => {
  const { ids, cells } = feed(SIZES);
  assert.deepEqual([ids.dtype, ids.shape], ["int32", [8, 64]]);
  assert.deepEqual(ends(flat(ids)), [0, 6]);
  assert.deepEqual([cells.dtype, cells.shape], ["int64", [500, 2]]);
  const part = (which: number): number[] => flat(cells).filter((_, at) => at % 2 === which);
  assert.deepEqual(
    [ends(part(0)), ends(part(1))],
    [
      [0, 6],
      [0, 1],
    ],
  );
});

test("sizes of dimensions and the shapes of files say how large an axis is", () => {
  const dims = ["batch=2", "length=100", "count=5"];
  const byName = feed({ random: true, dim: [...dims, "rows=9"] });
  assert.deepEqual(
    [byName.table.shape, ends(flat(byName.ids))],
    [
      [9, 2],
      [0, 8],
    ],
  );
  const byFile = feed({ random: true, dim: dims, feed: ["table=table.npy"] });
  assert.deepEqual(flat(byFile.table), [1, 2, 3, 4, 5, 6]);
  assert.deepEqual(ends(flat(byFile.ids)), [0, 2]);
});

test("a shape gives the dimensions of its input their sizes in the other inputs too", () => {
  const model = onnxModel(13, {
    inputs: { a: F32("n", 2), b: F32("n") },
    nodes: [{ op: "Identity", inputs: ["a"], outputs: ["y"] }],
  });
  assert.deepEqual(feed({ random: true, shape: ["a=6,2"] }, model).b.shape, [6]);
});

test("a range includes both ends, of integers and of floats", () => {
  const options = { ...SIZES, range: ["ids=-3..4", "table=5..6"] };
  const { ids, table } = feed({ ...options, shape: ["table=5000,2", "ids=8,64", "cells=5,2"] });
  assert.deepEqual(ends(flat(ids)), [-3, 4]);
  assert.deepEqual(new Set(flat(ids)).size, 8);
  assert.deepEqual(ends(flat(table)), [5, 6]);
});

test("the same seed gives the same numbers, another seed others, and floats lie between -1 and 1", () => {
  const [first, again, other] = [0, undefined, 1].map((seed) =>
    feed({
      ...SIZES,
      shape: ["table=50,2", "ids=8,64", "cells=5,2"],
      ...(seed !== undefined && { seed }),
    }),
  );
  for (const name of ["table", "ids"]) {
    assert.deepEqual(flat(first[name]), flat(again[name]));
    assert.notDeepEqual(flat(first[name]), flat(other[name]));
  }
  const [low, high] = ends(flat(first.table));
  assert.ok(low >= -1 && low < -0.5 && high > 0.5 && high <= 1);
});

test("one value fills an input, and a list gives its elements; other inputs are zeros of their type", () => {
  const value = ["rate=16000", "half=1.5", "flags=true,false,1", "names=a,b"];
  const feeds = feed({ random: true, shape: SILERO, value }, PLAIN);
  const [rate, half, flags, names] = ["rate", "half", "flags", "names"].map((name) => feeds[name]);
  assert.deepEqual([rate.shape, flat(rate)], [[], [16000]]);
  assert.deepEqual(half.toArray(), [1.5, 1.5, 1.5, 1.5]);
  assert.deepEqual(flags.toArray(), [true, false, true]);
  assert.deepEqual(names.toArray(), ["a", "b"]);
  assert.deepEqual(
    [feeds.sound.shape, feeds.state.shape],
    [
      [1, 512],
      [2, 1, 128],
    ],
  );
  assert.deepEqual(flat(feed({ random: true, shape: SILERO }, PLAIN).rate), [0]);
});

/** A speech model takes one branch for the rate 16000 and another for others, and knows 8000 in the second. */
const SPEECH = onnxModel(18, {
  inputs: { rate: I64(), mode: I64(1), list: I64(3), ids: I64(), table: F32(9, 2) },
  constants: { fast: i64([], 16_000), slow: i64([1], 8000) },
  nodes: [
    { op: "Equal", inputs: ["fast", "rate"], outputs: ["isFast"] },
    { op: "Equal", inputs: ["rate", "slow"], outputs: ["isSlow"] },
    { op: "Identity", inputs: ["mode"], outputs: ["same"] },
    { op: "Equal", inputs: ["same", "slow"], outputs: ["isMode"] },
    { op: "Equal", inputs: ["list", "fast"], outputs: ["isList"] },
    { op: "Equal", inputs: ["ids", "fast"], outputs: ["isPadding"] },
    { op: "Gather", inputs: ["table", "ids"], outputs: ["row"] },
  ],
  outputs: { row: null },
});

test("an input of one integer has the value that the model compares it with first", () => {
  const { rate, mode, list, ids } = feed({ random: true }, SPEECH);
  assert.deepEqual([rate, mode, list].map(flat), [[16_000], [8000], [0, 0, 0]]);
  // An index stays within its axis.
  assert.ok(flat(ids)[0] < 9);
  assert.deepEqual(flat(feed({ random: true, value: ["rate=8000"] }, SPEECH).rate), [8000]);
  assert.deepEqual(flat(feed({ random: true, range: ["rate=5..5"] }, SPEECH).rate), [5]);
});

test("values and ranges need no --random", () => {
  const { rate } = onnxInputs(["rate"]);
  assert.deepEqual(flat(feed({ value: ["rate=8000"] }, rate).rate), [8000]);
});

/** A model for each of these inputs of PLAIN alone. */
const onnxInputs = (names: readonly string[]): Record<string, typeof PLAIN> =>
  Object.fromEntries(names.map((name) => [name, withInputs(PLAIN, [name])]));

/** A model of which the other inputs are left out. */
function withInputs(model: typeof PLAIN, names: readonly string[]): typeof PLAIN {
  const inputs = model.graph.inputs.filter(({ name }) => names.includes(name));
  return { ...model, graph: { ...model.graph, inputs } };
}

const TABLE = "table float32[rows, 2], ids int32[batch, length], cells int64[count, 2]";
const REFUSED: readonly (readonly [FeedOptions, string, typeof PLAIN?])[] = [
  // Everything that is missing is named at once, with a line to copy.
  [
    {},
    `m.onnx: no tensor is given for ${TABLE}; give files: --feed table=table.npy --feed ids=ids.npy --feed cells=cells.npy, ` +
      "or generate them: --random --dim rows=4 --dim batch=1 --dim length=16 --dim count=4",
  ],
  [
    { random: true },
    `m.onnx: the sizes of ${TABLE} are unknown; give them, as in --dim rows=4 --dim batch=1 --dim length=16 --dim count=4`,
  ],
  [
    { random: true, dim: ["rows=3", "count=2"] },
    "m.onnx: the sizes of ids int32[batch, length] are unknown; give them, as in --dim batch=1 --dim length=16",
  ],
  [
    { random: true },
    "m.onnx: the sizes of sound float32[?, ?], state float32[2, ?, 128] are unknown; give them, as in " +
      "--shape sound=1,512 --shape state=2,1,128",
    PLAIN,
  ],
  [
    {},
    "m.onnx: no tensor is given for rate int64[], mode int64[1]; give files: --feed rate=rate.npy --feed mode=mode.npy, " +
      "or generate them: --random --value rate=16000 --value mode=8000",
    withInputs(SPEECH, ["rate", "mode"]),
  ],
  [{ ...SIZES, shape: ["table=7"] }, "--shape table must fit the input, float32[rows, 2], got 7"],
  [
    { ...SIZES, shape: ["table=7,3"] },
    "--shape table must fit the input, float32[rows, 2], got 7,3",
  ],
  [
    { ...SIZES, shape: ["table=x,2"] },
    '--shape table must be an integer that is at least 0, got "x"',
  ],
  [{ ...SIZES, shape: ["7,2"] }, '--shape takes NAME=..., got "7,2"'],
  [
    { ...SIZES, shape: ["tabel=7,2"] },
    'm.onnx has no input "tabel" for --shape; did you mean table?',
  ],
  [
    { ...SIZES, value: ["ids=1", "ids=2"] },
    "--value is given twice for ids; leave one of them out",
  ],
  [
    { ...SIZES, value: ["ids=1,2,3"] },
    "--value ids must have 1 value or 512 values (one per element), got 3",
  ],
  [{ ...SIZES, value: ["ids=one"] }, '--value ids takes int32, got "one"'],
  [
    { ...SIZES, value: ["ids=1"], range: ["ids=0..1"] },
    "the input ids has --value and --range; leave one of them out",
  ],
  [
    { ...SIZES, feed: ["table=table.npy"] },
    "the input table has --feed and --shape; leave one of them out",
  ],
  [
    { ...SIZES, range: ["ids=5"] },
    '--range ids must be a range LOW..HIGH, such as 0..999, got "5"',
  ],
  [
    { ...SIZES, range: ["ids=5..4"] },
    '--range ids must be a range LOW..HIGH, such as 0..999, got "5..4"',
  ],
  [
    { ...SIZES, range: ["ids=0.5..4"] },
    '--range ids must have integer bounds, because the input is int32, got "0.5..4"',
  ],
  [
    { feed: ["rate=rate.npy"], seed: 3 },
    "--seed is only used for generated inputs; give --random too",
    onnxInputs(["rate"]).rate,
  ],
];

for (const [options, message, model = MODEL] of REFUSED) {
  test(`refused: ${JSON.stringify(options)}`, () => {
    assert.throws(() => feed(options, model), { message });
  });
}

test("values that a data type does not hold are refused with the option", () => {
  assert.throws(
    () => feed({ ...SIZES, value: ["ids=3000000000"] }),
    /^Failure: --value ids: .*int32/,
  );
  assert.throws(
    () => feed({ ...SIZES, range: ["ids=0..3000000000"] }),
    /^Failure: --range ids: .*int32/,
  );
});

test("only the inputs that a node needs are asked for", () => {
  const node = onnxModel(13, {
    inputs: { a: F32(4), b: F32(4), i: I64(2) },
    nodes: [
      { op: "Gather", name: "left", inputs: ["a", "i"], outputs: ["y"] },
      { op: "Gather", name: "right", inputs: ["b", "i"], outputs: ["z"] },
    ],
  });
  const needed = { message: /^m\.onnx: no tensor is given for a float32\[4\], i int64\[2\]; / };
  assert.throws(() => feed({ node: "left" }, node), needed);
  assert.deepEqual(Object.keys(feed({ node: "left", random: true }, node)), ["a", "i"]);
});
