/** Tabs within cells: each names the place that the library finds, whatever the indices are. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { tabsOf } from "../../src/cells/tabs.ts";
import { viewOf } from "../../src/cells/view.ts";
import { crossingsOf } from "../../src/stage/layout.ts";
import { wiringOf } from "../../src/stage/wiring.ts";
import type { State } from "../../src/values/state.ts";
import { layOut } from "../../src/stage/arrange.ts";
import { axisOf, placedOf } from "../../src/stage/placed.ts";

const texts = (values: readonly number[]) => values.map(String);

/** A call with any indices between -length and length - 1, many of them equal. */
const calls = fc
  .record({
    op: fc.constantFrom("ScatterElements", "GatherElements", "ScatterND", "Gather"),
    length: fc.integer({ min: 1, max: 4 }),
    width: fc.integer({ min: 1, max: 3 }),
    rows: fc.integer({ min: 0, max: 4 }),
    seed: fc.array(fc.integer({ min: -4, max: 3 }), { minLength: 12, maxLength: 12 }),
  })
  .map(({ op, length, width, rows, seed }): State => {
    const isElements = op.endsWith("Elements");
    const indices = isElements ? [rows, width] : op === "Gather" ? [rows] : [rows, 1];
    const size = indices.reduce((product, dim) => product * dim, 1);
    // -0 is not an index as it is written.
    const values = seed
      .slice(0, size)
      .map((one) => (one < 0 ? -1 - (-one % length) : one % length));
    const float = (shape: number[]) => ({
      dtype: "float32" as const,
      shape,
      values: texts(Array.from({ length: shape[0] * shape[1] }, (_, i) => i)),
    });
    const inputs = [
      float([length, width]),
      { dtype: "int64" as const, shape: indices, values: texts(values) },
      ...(op.startsWith("Gather") ? [] : [float([rows, width])]),
    ];
    return {
      domain: "ai.onnx",
      op,
      opset: op.startsWith("Gather") ? 13 : 18,
      attributes: {},
      inputs,
    };
  });

test("each tab is the index, counted from the start, and each chip the row of its target", () => {
  fc.assert(
    fc.property(calls, (state) => {
      const { picture } = viewOf(state);
      assert.ok(picture !== null, JSON.stringify(state));
      const [data, indices] = state.inputs;
      assert.ok(data !== null && indices !== null);
      const [length] = data.shape;
      const rows = indices.values.map((text) => (Number(text) + length) % length);
      const ofIndices = tabsOf(picture.links, state.op, "indices", indices.shape);
      indices.values.forEach((text, at) => {
        assert.equal(ofIndices.get(at), Number(text) < 0 ? `→${rows[at]}` : undefined);
      });
      const isGather = state.op.startsWith("Gather");
      const carrier = tabsOf(picture.links, state.op, isGather ? "output" : "updates", []);
      const sign = isGather ? "←" : "→";
      const wanted = state.op.endsWith("Elements") ? rows.map((row) => sign + row) : [];
      assert.deepEqual([...carrier.values()], wanted);
      const version = picture.explanation.version;
      const tensors = placedOf(state, version, picture.output.shape, [3, 3, 3, 3]);
      for (const width of [1200, 374, 304]) {
        const room = {
          width,
          height: 500,
          isNarrow: width < 900,
          least: 20,
          isFrame: false,
          bar: 0,
        };
        const layout = layOut({ op: state.op, axis: axisOf(state, version), tensors }, room);
        const { chips, marks } = wiringOf(picture, layout, []);
        assert.deepEqual(
          state.op === "ScatterND" ? chips.map(({ text }) => Number(text)) : [],
          state.op === "ScatterND" ? rows : [],
        );
        if (state.op === "ScatterND") {
          const counts = new Set(rows.map((row) => rows.filter((one) => one === row).length));
          assert.deepEqual(
            new Set(marks.map(({ text }) => text)),
            new Set([...counts].map((count) => (count === 1 ? "⇒" : `${count}× last`))),
          );
        }
        // Where a line leads to another tier, it has its space.
        const { kind, lanes, tiers, bus } = layout;
        assert.equal(bus > 0, crossingsOf(kind, lanes, tiers).length > 0);
      }
    }),
  );
});
