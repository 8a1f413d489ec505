/** Lessons: rows of calls with the sentences that a person would write, and the cells that they are about. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { viewOf } from "../../src/cells/view.ts";
import { fromHash } from "../../src/document/hash.ts";
import { EXAMPLES } from "../../src/examples/menu.ts";
import type { LessonStep } from "../../src/cells/session.ts";
import { lessonOf } from "../../src/story/lesson.ts";
import { LESSONS } from "../../src/story/lessons.ts";

function lessonAt(hash: string): readonly LessonStep[] {
  const found = fromHash(hash);
  assert.ok("state" in found, hash);
  const { picture } = viewOf(found.state);
  assert.ok(picture !== null, hash);
  return lessonOf(picture);
}

type Row = readonly [name: string, hash: string, sentences: readonly string[]];

// prettier-ignore
const ROWS: readonly Row[] = [
  ["a sum with a repeated row", "ai.onnx/ScatterND/18;reduction=add;float32:3,2:1,1,2,2,3,3;int64:2,1:1,-2;float32:2,2:10,20,30,40", [
    "The tuple A = [1] in `indices` is an address: it names row 1 of `data`.",
    "`updates[0, :]` goes to row 1, where it is added: 2 + 10 = 12 in the first cell.",
    "No tuple names row 0 or row 2, so the output copies them from `data`.",
    "A and B both name row 1: `add` keeps both, so its first cell ends as 42.",
  ]],
  ["no reduction in ONNX", "ai.onnx/ScatterND/18;int32:2:7,8;int64:3,1:1,1,-1;int32:3:1,2,3", [
    "The tuple A = [1] in `indices` is an address: it names element [1] of `data`.",
    "`updates[0]` goes to element [1] and replaces what was there: 8 → 1.",
    "No tuple names element [0], so the output copies it from `data`.",
    "A, B and C all name element [1]: `none` keeps the last, so it ends as 3. ONNX leaves the order to the runtime.",
  ]],
  ["OpenVINO's name of a sum, of all elements", "openvino/ScatterNDUpdate/15;reduction=sum;float32:2:1,2;int32:2,1:-2,1;float32:2:10,20", [
    "The tuple A = [-2] in `indices` is an address: -2 counts from the end, so it names element [0] of `data`.",
    "`updates[0]` goes to element [0], where it is added: 1 + 10 = 11.",
    "Every element has an update here; an element without one would be copied from `data`.",
    "Here no two tuples name the same element; if two did, `sum` would keep both.",
  ]],
  ["elements along axis 1", "ai.onnx/ScatterElements/18;axis=1;float32:2,3:1,2,3,4,5,6;int64:1,2:2,2;float32:1,2:9,8", [
    "The index A = 2 in `indices` is part of an address: it says column 2, and its own position gives the row: element [0, 2].",
    "`updates[0, 0]` goes to element [0, 2] and replaces what was there: 3 → 9.",
    "No index names the other 5 elements, so the output copies them from `data`.",
    "A and B both name element [0, 2]: `none` keeps the last, so it ends as 8. ONNX leaves the order to the runtime.",
  ]],
  ["a gather of rows", "ai.onnx/Gather/13;float32:3,2:1,2,3,4,5,6;int64:2:-1,2", [
    "The index A = -1 in `indices` is an address: -1 counts from the end, so it names row 2 of `data`.",
    "`output[0, :]` is therefore a copy of row 2.",
    "No index names row 0 or row 1, so they are not in the output.",
    "A and B both name row 2: each index gets its own copy, so reads never conflict.",
  ]],
  ["batches with equal indices", "ai.onnx/GatherND/13;batch_dims=1;int32:2,2:1,2,3,4;int64:2,1:1,1", [
    "The tuple A = [1] in `indices`, in batch 0, is an address within this batch only: it names element [0, 1].",
    "`output[0]` is therefore a copy of element [0, 1].",
    "No tuple names element [0, 0] or element [1, 0], so they are not in the output.",
    "A and B are both [1], but in two batches, so they have different targets.",
  ]],
  ["the first index out of range", "openvino/Gather/8;float32:2:1,2;int32:2:9,1;int32::0", [
    "The index B = 1 in `indices` is an address: it names element [1] of `data`.",
    "`output[1]` is therefore a copy of element [1].",
    "No index names element [0], so it is not in the output.",
    "Here no two indices name the same element; if two did, each index would get its own copy.",
  ]],
  ["a sequence", "ai.onnx/TensorScatter/24;axis=1;float32:1,3:1,2,3;float32:1,2:8,9;int64:1:1", [
    "1 in `write_indices` is an address: sample 0 is written starting at position 1 of axis 1.",
    "`update[0, 0]` goes to element [0, 1] and replaces what was there: 2 → 8.",
    "No index names element [0, 0], so the output copies it from `past_cache`.",
    "Here no two indices name the same element; if two did, `none` would keep the last.",
  ]],
];

for (const [name, hash, sentences] of ROWS) {
  test(`the lesson about ${name}`, () => {
    assert.deepEqual(
      lessonAt(hash).map(({ sentence }) => sentence),
      sentences,
    );
  });
}

/** The elements of a tensor around which a step has frames. */
const framed = ({ frames }: LessonStep, tensor: number | "output"): string =>
  frames
    .filter((frame) => frame.tensor === tensor)
    .map(({ begin, end }) => `${begin}-${end - 1}`)
    .join(" ");

/** What each step frames of indices, updates, data and the output. */
const allFramed = (hash: string, tensors: readonly (number | "output")[]): string[] =>
  lessonAt(hash).map((step) => tensors.map((tensor) => framed(step, tensor)).join("|"));

test("each step of a scatter frames what its sentence is about", () => {
  const [, hash] = ROWS[0];
  assert.deepEqual(allFramed(hash, [1, 2, 0, "output"]), [
    // The first tuple, and row 1 of data.
    "0-0||2-3|",
    // Its row of updates, and row 1 of the output.
    "|0-1||2-3",
    // Rows 0 and 2 of both.
    "||0-1 4-5|0-1 4-5",
    // Both tuples with their rows, and row 1.
    "0-0 1-1|0-1 2-3||2-3 2-3",
  ]);
  const steps = lessonAt(hash);
  assert.deepEqual(
    steps.map(({ step }) => step),
    [0, 1, 2, 2],
  );
  assert.deepEqual(
    steps.map(({ description }) => description.orders),
    [[0], [0], [], [0, 1]],
  );
});

test("each step of a gather in batches frames what its sentence is about", () => {
  const [, hash] = ROWS[5];
  // Element [0, 1] is the second of data, and element [1, 1] the fourth.
  assert.deepEqual(allFramed(hash, [1, 0, "output"]), [
    "0-0|1-1|",
    "|1-1|0-0",
    "|0-0 2-2|",
    "0-0 1-1|1-1 3-3|0-0 1-1",
  ]);
});

test("a call without updates has no lesson, and neither has one of empty slices", () => {
  assert.deepEqual(lessonAt("ai.onnx/ScatterND/18;float32:2:1,2;int64:0,1:;float32:0:"), []);
  assert.deepEqual(lessonAt("ai.onnx/Gather/13;float32:2,0:;int64:1:0"), []);
  assert.deepEqual(lessonAt("openvino/Gather/8;float32:1:1;int32:1:9;int32::0"), []);
});

test("every example that runs has four sentences that are read at once", () => {
  for (const { id, state } of EXAMPLES) {
    const { picture } = viewOf(state);
    if (picture === null) continue;
    const steps = lessonOf(picture);
    assert.equal(steps.length, 4, id);
    for (const { sentence, step } of steps) {
      assert.ok(sentence.length <= 140, `${id}: ${sentence}`);
      assert.doesNotMatch(sentence, /undefined|null|NaN|\[\]|  /, id);
      assert.match(sentence, /^[A-Z1-9`-].*\.$/, id);
      assert.ok(step >= 0 && step <= picture.links.count, id);
    }
  }
});

test("each lesson of Help has an example, and two of its tuples agree or are alike", () => {
  for (const { preset } of LESSONS) {
    const example = EXAMPLES.find(({ id }) => id === preset);
    const picture = example === undefined ? null : viewOf(example.state).picture;
    assert.ok(picture !== null, preset);
    assert.match(lessonOf(picture)[3].sentence, /^A and [B-D] (both name|are both) /, preset);
  }
});
