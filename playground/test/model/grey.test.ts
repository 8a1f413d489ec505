/** What the page says of grey cells. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHash } from "../../src/document/hash.ts";
import { viewOf } from "../../src/cells/view.ts";
import { greyIn } from "../../src/story/grey.ts";

const ELEMENTS = Array.from({ length: 8 }, (_, i) => i).join(",");

const ROWS: readonly (readonly [hash: string, sentence: string | null])[] = [
  ["ai.onnx/ScatterND/18;float32:4:0*4;int64:3,1:1,2,1;float32:3:1,2,3", null],
  ["ai.onnx/Gather/13;axis=1;float32:2,3:0*6;int64:2:0,2", "A grey index has several targets."],
  ["openvino/Gather/8;float32:3:1,2,3;int32:2:1,7;int32::0", "A grey index has no target."],
  [
    `ai.onnx/ScatterND/18;float32:9:0*9;int64:8,1:${ELEMENTS};float32:8:1*8`,
    "Grey cells are targets; there are more targets than colours.",
  ],
  [
    `ai.onnx/ScatterND/18;float32:9:0*9;int64:9,1:${ELEMENTS},0;float32:9:1*9`,
    "Coloured targets receive several updates; grey targets receive one.",
  ],
  [
    `ai.onnx/Gather/13;float32:9:0*9;int64:9:${ELEMENTS},0`,
    "Coloured cells are read more than once; grey cells are read once.",
  ],
];

for (const [hash, sentence] of ROWS) {
  test(`of ${hash.slice(0, 60)} the page says: ${sentence}`, () => {
    const found = fromHash(hash);
    assert.ok("state" in found);
    const { picture, faults } = viewOf(found.state);
    assert.ok(picture !== null, JSON.stringify(faults));
    assert.equal(greyIn(picture), sentence);
  });
}
