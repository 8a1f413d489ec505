/** The arrangement of every example at the sizes of screens and frames: all of it has room, and the output is seen. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { layOut } from "../../src/stage/arrange.ts";
import {
  heightOf,
  MINIMAP,
  type Lane,
  type Layout,
  type Placed,
  type Room,
} from "../../src/stage/layout.ts";
import { HEADS } from "../../src/stage/metrics.ts";
import { viewOf } from "../../src/cells/view.ts";
import { outputShapeOf } from "../../src/cells/output-shape.ts";
import { PRESETS } from "../../src/examples/presets.ts";
import { roleOf } from "ndscatter/operators";
import { sampleOf } from "../support/sample.ts";

const screen = (width: number, height: number): Room => ({
  width,
  height,
  isNarrow: false,
  least: 20,
  isFrame: false,
  bar: 15,
});
/** A small screen, whose scroll bars lie over what scrolls. */
const phone = (width: number, height: number): Room => ({
  ...screen(width, height),
  isNarrow: true,
  least: 26,
  bar: 0,
});
/** A frame in a page on a desktop, whose thin scroll bars take space. */
const frame = (width: number, height: number, isNarrow = true): Room => ({
  width,
  height,
  isNarrow,
  least: 16,
  isFrame: true,
  bar: 11,
});

/** What is left of a screen beside the bar, the title, the player and the story. */
const ROOMS: Readonly<Record<string, Room>> = {
  "1440 × 900": screen(1400, 612),
  "1024 × 768": screen(984, 480),
  "844 × 390": phone(828, 256),
  "390 × 844": phone(374, 602),
  "a frame of 780 × 400": frame(740, 290, false),
  "a frame of 640 × 400": frame(632, 348),
  "a frame of 400 × 300": frame(392, 256),
  "a frame of 360 × 300": frame(352, 256),
  "a frame of 300 × 300": frame(292, 256),
  "a frame of 300 × 250": frame(292, 206),
};

/** The tensors of a preset, with the widths that they have on the page. */
function tensorsOf({ state }: (typeof PRESETS)[number]): { tensors: Placed[]; axis: number } {
  const view = viewOf(state);
  const version = view.explanation?.version ?? null;
  assert.ok(version !== null);
  const tensors = state.inputs.flatMap((text, id): Placed[] => {
    const { name } = version.inputs[id];
    const role = roleOf(version.inputs[id]);
    return text === null ? [] : [{ id, role, name, shape: text.shape, digits: 5 }];
  });
  const shape = outputShapeOf(view);
  const [{ name }] = version.outputs;
  if (shape !== null) tensors.push({ id: "output", role: "output", name, shape, digits: 4 });
  return { tensors, axis: Number(state.attributes["axis"] ?? 0) };
}

/** The height of the tables of a tier as they are drawn. */
const drawnHeight = (lanes: readonly Lane[], { metrics }: Layout): number =>
  Math.max(
    ...lanes.map(
      ({ sheet, rows, columns, isWindow, bar }) =>
        heightOf({ ...sheet, rows }, metrics) + (isWindow && columns < sheet.columns ? bar : 0),
    ),
  );

/** What has no room, as sentences. */
function overflowIn(layout: Layout, { width, height }: Room): string[] {
  const { tiers, lanes, gutters, metrics, head, tierGap, bus, hasMaps } = layout;
  const found: string[] = [];
  let used = (tiers.length - 1) * tierGap;
  for (const tier of tiers) {
    const inTier = tier.map((at) => lanes[at]);
    const wide =
      inTier.reduce((sum, lane) => sum + lane.width, bus) +
      tier.slice(1).reduce((sum, at) => sum + metrics.gutters[gutters[at - 1]], 0);
    if (wide > width) found.push(`${inTier.map(({ name }) => name).join()} are ${wide} px wide`);
    used += HEADS[head] + drawnHeight(inTier, layout) + (hasMaps ? MINIMAP : 0);
  }
  if (used > height) found.push(`the stage is ${used} px high`);
  for (const { name, tableWidth, width: own } of lanes) {
    if (tableWidth > own) found.push(`the table of ${name} is wider than its lane`);
  }
  return found;
}

for (const [name, room] of Object.entries(ROOMS)) {
  test(`${name}: every table of every example has room, in the order of reading`, async (t) => {
    for (const preset of sampleOf(PRESETS, 3)) {
      await t.test(preset.id, () => {
        const { tensors, axis } = tensorsOf(preset);
        const layout = layOut({ op: preset.state.op, axis, tensors }, room);
        assert.deepEqual(overflowIn(layout, room), []);
        const order = layout.tiers.flat();
        assert.deepEqual(
          order,
          [...order].sort((a, b) => a - b),
        );
        assert.equal(order.length, tensors.length);
        const roles = order.map((at) => layout.lanes[at].role);
        assert.equal(roles.at(-1), tensors.at(-1)?.role === "output" ? "output" : "data");
        const widths = new Set(
          layout.lanes.flatMap(({ role, cell }) =>
            role === "data" || role === "output" ? [cell] : [],
          ),
        );
        assert.equal(widths.size, 1);
      });
    }
  });
}

const HERE: Placed[] = [
  { id: 0, role: "data", name: "data", shape: [4, 3], digits: 4 },
  { id: 1, role: "indices", name: "indices", shape: [3, 1], digits: 5 },
  { id: 2, role: "updates", name: "updates", shape: [3, 3], digits: 4 },
  { id: "output", role: "output", name: "output", shape: [4, 3], digits: 4 },
];
const FIRST = { op: "ScatterND", axis: 0, tensors: HERE };

test("cells grow with the room, up to 140 pixels", () => {
  const pitches = [600, 900, 1200, 1800, 2600, 9000].map(
    (width) => layOut(FIRST, screen(width, width / 2)).metrics.pitch,
  );
  for (const [i, pitch] of pitches.entries()) {
    assert.ok(i === 0 || pitch >= pitches[i - 1], pitches.join());
  }
  assert.equal(pitches.at(-1), 140);
  assert.ok(layOut(FIRST, ROOMS["1440 × 900"]).metrics.pitch >= 70);
  // A lecture hall reads what is as high as a line of its slides.
  assert.ok(layOut(FIRST, ROOMS["1440 × 900"]).metrics.font >= 28);
});

test("a wide room has one row, and a room that is higher than wide has data and the output below", () => {
  const tiersIn = (room: Room) => layOut(FIRST, room).tiers;
  assert.deepEqual(tiersIn(ROOMS["1440 × 900"]), [[0, 1, 2, 3]]);
  assert.deepEqual(tiersIn(ROOMS["844 × 390"]), [[0, 1, 2, 3]]);
  assert.deepEqual(tiersIn(ROOMS["390 × 844"]), [
    [0, 1],
    [2, 3],
  ]);
  assert.deepEqual(tiersIn(ROOMS["a frame of 400 × 300"]), [
    [0, 1],
    [2, 3],
  ]);
});

test("on a phone a cell is as high as a finger where there is room", () => {
  assert.ok(layOut(FIRST, ROOMS["390 × 844"]).metrics.pitch >= 44);
});

test("tables of 20,000 updates are windows that have room", () => {
  const tensors = HERE.map((one): Placed => ({
    ...one,
    shape: one.role === "indices" ? [20_000, 1] : [20_000],
  }));
  for (const [name, room] of Object.entries(ROOMS)) {
    const layout = layOut({ op: "ScatterND", axis: 0, tensors }, room);
    assert.deepEqual(overflowIn(layout, room), [], name);
    assert.ok(
      layout.lanes.every(({ isWindow, rows }) => isWindow && rows >= (room.isFrame ? 2 : 3)),
    );
  }
});
