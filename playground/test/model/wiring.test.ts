/** Marks beside rows of data, and where a saved picture draws them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { NOTHING_SAID } from "../../src/cells/cells.ts";
import { fromHash } from "../../src/document/hash.ts";
import { layOut } from "../../src/stage/arrange.ts";
import type { Layout, Room } from "../../src/stage/layout.ts";
import { toSVG } from "../../src/writing/svg.ts";
import { viewOf, type Picture } from "../../src/cells/view.ts";
import { wiringOf } from "../../src/stage/wiring.ts";

/** The picture of a link, whose inputs are data, indices and updates. */
function drawn(hash: string, room: Room): { readonly picture: Picture; readonly layout: Layout } {
  const found = fromHash(hash);
  assert.ok("state" in found);
  const { picture } = viewOf(found.state);
  assert.ok(picture !== null);
  const roles = ["data", "indices", "updates"];
  const inputs = found.state.inputs.map((text, id) => ({
    ...{ id, role: roles[id], shape: text?.shape ?? [], digits: 3, name: roles[id] },
  }));
  const output = { id: "output", role: "output", shape: picture.output.shape } as const;
  const tensors = [...inputs, { ...output, digits: 3, name: "output" }];
  return { picture, layout: layOut({ op: found.state.op, axis: 0, tensors }, room) };
}

const WIDE: Room = {
  width: 1000,
  height: 700,
  isNarrow: false,
  least: 20,
  isFrame: false,
  bar: 15,
};

test("a row's mark counts the updates of one target, not of all its targets", () => {
  const elements = (rows: string) =>
    drawn(`ai.onnx/ScatterElements/18;axis=1;float32:1,3:0,0,0;${rows}`, WIDE);
  const marks = (rows: string) => {
    const { picture, layout } = elements(rows);
    return wiringOf(picture, layout, []).marks.map(({ count }) => count);
  };
  assert.deepEqual(marks("int64:1,3:0,1,2;float32:1,3:1,2,3"), [1]);
  assert.deepEqual(marks("int64:1,3:0,0,2;float32:1,3:1,2,3"), [2]);
  assert.deepEqual(marks("int64:1,4:2,0,2,2;float32:1,4:1,2,3,4"), [3]);
});

test("a row of many plain targets, each hit once, is no collision", () => {
  const nine = Array.from({ length: 9 }, (_, i) => i).join(",");
  const hash = `ai.onnx/ScatterElements/18;axis=1;float32:1,9:0*9;int64:1,9:${nine};float32:1,9:${nine}`;
  const { picture, layout } = drawn(hash, WIDE);
  assert.deepEqual(
    wiringOf(picture, layout, []).marks.map(({ count }) => count),
    [1],
  );
});

test("a saved picture has no chips and marks of rows that are out of view", () => {
  const all = Array.from({ length: 40 }, (_, i) => i);
  const hash = `ai.onnx/ScatterND/18;float32:40,2:0*80;int64:40,1:${all.join(",")};float32:40,2:1*80`;
  const { picture, layout } = drawn(hash, {
    width: 1000,
    height: 300,
    isNarrow: false,
    least: 20,
    isFrame: false,
    bar: 15,
  });
  assert.ok(layout.lanes.every(({ isWindow, rows }) => isWindow && rows < 20));
  const lane = { type: "", cells: { ...NOTHING_SAID, values: [] }, corner: { row: 0, column: 0 } };
  const svg = toSVG(
    {
      ...{ title: "", sentences: [], verb: "", frames: [], layout },
      lanes: layout.lanes.map(() => lane),
      wiring: wiringOf(picture, layout, []),
    },
    "light",
  );
  const shown = [...svg.matchAll(/>→ (\d+)</g)].map(([, target]) => Number(target));
  assert.deepEqual(shown, all.slice(0, layout.lanes[0].rows));
});

test("in a saved picture the verb stands clear of the data types beside it, and lines begin at their table", () => {
  const hash = "ai.onnx/ScatterND/18;float32:4,4,4:0*64;int64:2,1:0,2;float32:2,4,4:1*32";
  const { picture, layout } = drawn(hash, { ...WIDE, width: 800, height: 400 });
  const cells = { ...NOTHING_SAID, values: [] };
  const types = ["int64 [2, 1]", "float32 [2, 4, 4]", "bfloat16 [4, 4, 4]", "float32 [4, 4, 4]"];
  const svg = toSVG(
    {
      ...{ title: "", sentences: [], verb: "multiply", frames: [], layout },
      lanes: types.map((type) => ({ type, cells, corner: { row: 0, column: 0 } })),
      wiring: wiringOf(picture, layout, []),
    },
    "light",
  );
  const startOf = (text: string): number => {
    const found = new RegExp(`<text x="([\\d.]+)"[^>]*>${text.replaceAll(/[[\]]/g, "\\$&")}<`).exec(
      svg,
    );
    return Number(found?.[1]);
  };
  // The verb is anchored at its middle. A monospace letter of 13 pixels is 7.8 pixels wide, one of 12 pixels 7.2.
  const half = ("multiply".length * 7.8) / 2;
  const verb = startOf("multiply");
  assert.ok(verb - half >= startOf(types[1]) + types[1].length * 7.2 + 6);
  assert.ok(verb + half + 6 <= startOf(types[2]), `${verb + half} to ${startOf(types[2])}`);
  const begins = [...svg.matchAll(/<path d="M([\d.]+) [\d.]+C/g)].map(([, x]) => Number(x));
  const boxes = [...svg.matchAll(/<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"/g)];
  const ends = boxes.map(([, x, width]) => Number(x) + Number(width));
  assert.equal(begins.length, 2);
  for (const begin of begins) {
    assert.ok(
      ends.some((end) => begin > end && begin - end <= 8),
      `a line begins at ${begin}`,
    );
  }
});
