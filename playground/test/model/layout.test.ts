/** Where tables stand, and what colours mean. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { layOut } from "../../src/stage/arrange.ts";
import { topOf, type Placed, type Room } from "../../src/stage/layout.ts";
import { isAligned, plainSheet, sheetsOf } from "../../src/stage/sheets.ts";
import { linksOf } from "../../src/cells/links.ts";
import { PRESETS } from "../../src/examples/presets.ts";
import { explainState } from "../../src/document/read-state.ts";
import { PLAIN, targetsOf, tintsOf } from "../../src/cells/targets.ts";

test("a tensor is folded into rows of its last axis, and a list into a column", () => {
  // prettier-ignore
  const rows: [number[], [rows: number, columns: number, group: number]][] = [
    [[], [1, 1, 0]], [[5], [5, 1, 0]], [[0], [0, 1, 0]], [[4, 3], [4, 3, 0]], [[2, 0], [2, 0, 0]],
    [[2, 3, 4], [6, 4, 3]], [[2, 1, 4], [2, 4, 0]], [[2, 2, 3, 4], [12, 4, 3]],
  ];
  for (const [shape, [count, columns, group]] of rows) {
    assert.deepEqual(plainSheet(shape), { rows: count, columns, group, span: 1 }, `[${shape}]`);
  }
});

test("indices have a row a tuple, as tall as its slice of updates", () => {
  const sheets = (
    family: "tuples" | "slices" | "elements",
    axis: number,
    shapes: Record<string, number[]>,
  ) => sheetsOf(family, axis, new Map(Object.entries(shapes)));
  const slices = sheets("tuples", 0, { indices: [2, 1], updates: [2, 3, 4], data: [5, 3, 4] });
  assert.deepEqual(slices.get("indices"), { rows: 2, columns: 1, group: 1, span: 3 });
  assert.deepEqual(slices.get("updates"), { rows: 6, columns: 4, group: 3, span: 1 });
  const scalars = sheets("tuples", 0, { indices: [2, 3, 2], updates: [2, 3], data: [4, 4] });
  assert.deepEqual(scalars.get("indices"), { rows: 6, columns: 2, group: 3, span: 1 });
  assert.deepEqual(scalars.get("updates"), { rows: 6, columns: 1, group: 3, span: 1 });
  // One tuple, of which an update is a single element.
  const one = sheets("tuples", 0, { indices: [3], updates: [], data: [2, 2, 3] });
  assert.deepEqual(one.get("indices"), { rows: 1, columns: 3, group: 0, span: 1 });
  assert.deepEqual(one.get("updates"), { rows: 1, columns: 1, group: 0, span: 1 });
  // Each index of a Gather along axis 0 is a tuple of its own; along another axis it has no rows of the output.
  const gather = sheets("slices", 0, { indices: [2, 2], data: [3, 4], output: [2, 2, 4] });
  assert.deepEqual(gather.get("indices"), { rows: 4, columns: 1, group: 2, span: 1 });
  assert.ok(isAligned(gather.get("indices"), gather.get("output")));
  const across = sheets("slices", 1, { indices: [1, 2], data: [3, 3], output: [3, 1, 2] });
  assert.deepEqual(across.get("indices"), { rows: 1, columns: 2, group: 0, span: 1 });
});

const placed = (role: string, id: number | "output", shape: number[]): Placed => ({
  id,
  role,
  shape,
  digits: 4,
  name: role,
});

const ROOMS: readonly Room[] = [
  { width: 1060, height: 640, isNarrow: false, least: 20, isFrame: false, bar: 15 },
  { width: 984, height: 360, isNarrow: false, least: 20, isFrame: false, bar: 15 },
  { width: 600, height: 200, isNarrow: false, least: 20, isFrame: false, bar: 15 },
  { width: 374, height: 600, isNarrow: true, least: 26, isFrame: false, bar: 15 },
  { width: 828, height: 250, isNarrow: true, least: 26, isFrame: false, bar: 15 },
];

test("in every room lanes come in one order, and no table is wider than the room", () => {
  const shapes = [[4, 3], [64, 64], [20_000], [100, 200], [3, 4, 5, 6, 7], [1, 5000], [0, 4]];
  for (const shape of shapes) {
    for (const room of ROOMS) {
      const tensors = [
        placed("data", 0, shape),
        placed("indices", 1, [Math.max(shape[0], 1), 1]),
        placed("updates", 2, shape),
        placed("output", "output", shape),
      ];
      const { lanes, metrics, tiers } = layOut({ op: "ScatterND", axis: 0, tensors }, room);
      assert.deepEqual(
        lanes.map(({ role }) => role),
        ["indices", "updates", "data", "output"],
      );
      for (const lane of lanes) {
        assert.ok(lane.tableWidth <= room.width, `${lane.role} of [${shape}] in ${room.width}`);
        assert.ok(lane.rows <= lane.sheet.rows && lane.columns <= lane.sheet.columns);
        assert.ok(
          lane.isWindow || (lane.rows === lane.sheet.rows && lane.columns === lane.sheet.columns),
        );
      }
      const drawn = lanes.reduce((sum, lane) => sum + lane.rows * lane.columns, 0);
      assert.ok(drawn <= 4 * 64 * 64, `${drawn} cells of [${shape}] are drawn`);
      if (!tiers[0].includes(1)) continue;
      const [first, second] = lanes;
      const origin = { row: 0, column: 0 };
      if (first.isWindow || !isAligned(first.sheet, second.sheet)) continue;
      for (let row = 0; row < first.sheet.rows; row++) {
        const beside = row * first.sheet.span;
        assert.equal(topOf(first, metrics, origin, row), topOf(second, metrics, origin, beside));
      }
    }
  }
});

test("a colour is one target, in every example; a target without a colour is never shared by others that have one", () => {
  let coloured = 0;
  for (const { id, state } of PRESETS) {
    const { explanation } = explainState(state);
    const links = explanation === null ? null : linksOf(explanation);
    if (links === null || explanation === null) continue;
    const targets = targetsOf(links);
    const owners = new Map<number, number>();
    for (const slice of links.reached.keys()) {
      const hue = targets.hueOf(slice);
      assert.ok(hue >= 0 && hue <= PLAIN, id);
      if (hue === PLAIN) continue;
      assert.equal(owners.get(hue) ?? slice, slice, `${id}: the colour ${hue} is two targets`);
      owners.set(hue, slice);
      coloured++;
    }
    // An update has the colour of its target.
    const data = explanation.inputs.find(({ role }) => role === "data")?.tensor;
    const carrier =
      links.kind === "gather"
        ? explanation.output
        : explanation.inputs.find(({ role }) => role === "updates")?.tensor;
    if (data === null || data === undefined || carrier === null || carrier === undefined) continue;
    const ofData = tintsOf(links, targets, "data", data.size);
    const ofCarrier = tintsOf(
      links,
      targets,
      links.kind === "gather" ? "output" : "updates",
      carrier.size,
    );
    for (let element = 0; element < carrier.size; element++) {
      const slice: number = targets.sliceOf[links.carried[element]];
      assert.equal(ofCarrier[element], slice < 0 ? PLAIN : ofData[slice * links.slice], id);
    }
  }
  assert.ok(coloured > 200, `${coloured}`);
});

test("with more targets than colours only those that are shared have one", () => {
  const list = (count: number, value: (i: number) => number): string[] =>
    Array.from({ length: count }, (_, i) => String(value(i)));
  const { explanation } = explainState({
    domain: "ai.onnx",
    op: "ScatterND",
    opset: 18,
    attributes: {},
    inputs: [
      { dtype: "float32", shape: [20], values: list(20, () => 0) },
      { dtype: "int64", shape: [14, 1], values: list(14, (i) => (i < 12 ? i : i - 10)) },
      { dtype: "float32", shape: [14], values: list(14, (i) => i) },
    ],
  });
  const links = explanation === null ? null : linksOf(explanation);
  assert.ok(links !== null);
  const { hueOf } = targetsOf(links);
  const hues = Array.from({ length: 20 }, (_, slice) => hueOf(slice));
  assert.deepEqual(hues, [7, 7, 2, 3, 7, 7, 7, 7, 7, 7, 7, 7, -1, -1, -1, -1, -1, -1, -1, -1]);
});
