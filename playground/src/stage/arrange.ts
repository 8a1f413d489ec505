/**
 * Arranges a call's tables side by side, or in tiers if tiers allow larger cells. Related tables share rows, so that an
 * index tuple is next to its updates, and data is next to the output. The layout depends only on the size of the stage.
 */

import { sizeOf } from "../values/shape.ts";
import { columnsIn, laneOf, withWindow } from "./lane-sizes.ts";
import {
  heightOf,
  crossingsOf,
  MINIMAP,
  type Lane,
  type Layout,
  type Placed,
  type Room,
} from "./layout.ts";
import {
  HEAD,
  HEADS,
  LARGEST,
  metricsAt,
  type Gutter,
  type Head,
  type Metrics,
} from "./metrics.ts";
import { isAligned, plainSheet, sheetsOf, type Sheet } from "./sheets.ts";
import { indexFormOf, type IndexForm } from "../values/schema.ts";

interface Call {
  readonly op: string;
  readonly axis: number;
  readonly tensors: readonly Placed[];
}

const ORDER = ["axis", "indices", "updates", "data", "output"];

/** The gap between tiers, in pixels. */
const TIER_GAP = { page: 12, frame: 6 };
/**
 * Another tier is added only if it enlarges cells by this factor. Fewer tiers are preferred, because a single tier is
 * read from left to right and shows all its lines.
 */
const WORTH = { wide: 1.5, narrow: 1.25 };
/** The minimum stage height for a three-line header (mouse) or a two-line header (touch screen). */
const HIGH = { full: 300, short: 480 };
/** The minimum stage size for headers that are legible in a lecture hall. */
const HALL = { width: 1760, height: 560 };
/** The row height above which a smaller header is not worth its missing details. */
const ROOMY = 24;
/** The maximum row height as a fraction of the cell width, unless touch input needs more. */
const HIGHEST = 1.1;
const FINGER = 44;

type Tiers = Layout["tiers"];

/** The properties of a call that determine its layout. */
interface Plan {
  readonly kind: Layout["kind"];
  readonly gutters: readonly Gutter[];
  readonly head: Head;
  readonly tierGap: number;
  readonly room: Room;
  readonly tables: readonly Placed[];
  /** With `isTight`, data types above tables are abbreviated. */
  lanesAt(metrics: Metrics, isTight: boolean): Lane[];
  metricsAt(pitch: number): Metrics;
}

/** Returns a call's layout: whole tables with the largest cells that fit, or else scrollable windows. */
export function layOut(call: Call, room: Room): Layout {
  const plans = headsIn(room).map((head) => planOf(call, room, head));
  let best: Way | null = null;
  const worth = WORTH[room.isNarrow ? "narrow" : "wide"];
  const all = tiersOf(plans[0].kind, call.tensors.length, room.isFrame);
  for (const plan of plans) {
    if (best !== null && best.pitch >= ROOMY) break;
    for (const isTight of [false, true]) {
      for (const tiers of all) {
        const wayAt = (pitch: number): Way => ({ plan, tiers, pitch, isTight });
        const least: number = best === null ? room.least : Math.floor(best.pitch * worth) + 1;
        best = largestThatFits(wayAt, least) ?? best;
      }
    }
  }
  return best === null ? windowed(plans, room, all) : whole(best);
}

/** Returns the way with the largest cells that fit, or null if cells of size `least` do not fit. */
function largestThatFits(wayAt: (pitch: number) => Way, least: number): Way | null {
  if (least > LARGEST || !hasRoom(wayAt(least))) return null;
  let [fits, tooLarge] = [least, LARGEST + 1];
  while (tooLarge - fits > 1) {
    const middle = (fits + tooLarge) >> 1;
    if (hasRoom(wayAt(middle))) fits = middle;
    else tooLarge = middle;
  }
  return wayAt(fits);
}

interface Way {
  readonly plan: Plan;
  readonly tiers: Tiers;
  readonly pitch: number;
  /** True if data types above tables are abbreviated. */
  readonly isTight: boolean;
}

function planOf({ op, axis, tensors }: Call, room: Room, head: Head): Plan {
  const form = indexFormOf(op);
  const digits = Math.max(...tensors.map(({ role, digits }) => (VALUES.has(role) ? digits : 1)));
  const sorted = tensors
    .toSorted((a, b) => ORDER.indexOf(a.role) - ORDER.indexOf(b.role))
    // Columns of data, updates and output have the same width.
    .map((one) => (VALUES.has(one.role) ? { ...one, digits } : one));
  const shapes = new Map(sorted.map(({ role, shape }) => [role, shape]));
  const sheets = sheetsOf(form, axis, shapes);
  const kind: Layout["kind"] = op.includes("Gather") ? "gather" : "scatter";
  const chip = chipDigits(form, shapes);
  return {
    kind,
    head,
    tierGap: TIER_GAP[room.isFrame && room.isNarrow ? "frame" : "page"],
    room,
    tables: sorted,
    gutters: sorted
      .slice(1)
      .map(({ role }, before) => gutterBetween(kind, form, [sorted[before].role, role], sheets)),
    lanesAt: (metrics, isTight) =>
      sorted.map((one) =>
        laneOf(one, sheets.get(one.role) ?? plainSheet(one.shape), metrics, head, isTight),
      ),
    metricsAt: (pitch) => metricsAt(pitch, room.isNarrow, chip),
  };
}

/** The width of the space for lines from one tier to another. A frame smaller than any phone has no such lines. */
const BUS = { frame: 14, narrow: 22, wide: 34 };
const SMALLEST_FRAME = 304;

/** Returns the width of the space for lines; 0 if all connected tables are side by side. */
function busOf({ kind, tables, room: { isNarrow, isFrame, width } }: Plan, tiers: Tiers): number {
  if (crossingsOf(kind, tables, tiers).length === 0) return 0;
  if (isFrame && width < SMALLEST_FRAME) return 0;
  return BUS[!isNarrow ? "wide" : isFrame ? "frame" : "narrow"];
}

const VALUES: ReadonlySet<string> = new Set(["data", "updates", "output"]);

/**
 * Returns candidate headers for a stage size, tallest first. In a low frame, a smaller header leaves space for one more
 * row.
 */
function headsIn({ width, height, isNarrow, isFrame }: Room): readonly Head[] {
  if (!isNarrow) {
    if (width >= HALL.width && height >= HALL.height) return ["large"];
    return [height >= HIGH.full ? "full" : "low"];
  }
  if (height >= HIGH.short) return ["short"];
  return isFrame ? ["low", "line"] : ["low"];
}

/** Returns the length of the longest possible target, such as `3` or `(1, 0)`. */
function chipDigits(
  form: IndexForm | undefined,
  shapes: ReadonlyMap<string, readonly number[]>,
): number {
  const data = shapes.get("data") ?? [];
  const length = form === "tuples" ? (shapes.get("indices")?.at(-1) ?? 1) : 1;
  // A tuple with more indices than data has axes has no target.
  const count = Math.min(length, data.length);
  const digits = data
    .slice(0, count)
    .reduce((sum, dim) => sum + String(Math.max(dim - 1, 0)).length, 0);
  return Math.max(1, digits + (count > 1 ? 2 * count : 0));
}

function gutterBetween(
  kind: Layout["kind"],
  form: IndexForm | undefined,
  [left, right]: readonly [string, string],
  sheets: ReadonlyMap<string, Sheet>,
): Gutter {
  if (left === "axis") return "gap";
  if (right === "updates") {
    // A row has no single target if its elements are separate indices.
    const isRow = form !== "elements" && isAligned(sheets.get(left), sheets.get(right));
    return isRow ? "chips" : "gap";
  }
  return right === "output" && kind === "scatter" ? "becomes" : "wires";
}

const range = (begin: number, end: number): number[] =>
  Array.from({ length: Math.max(end - begin, 0) }, (_, i) => begin + i);

/**
 * Returns the possible assignments of tables to tiers, fewest tiers first. Data and the output are last. Only a frame,
 * which is low, has data beside indices above an output: lines to the output would seem to leave indices.
 */
function tiersOf(kind: Layout["kind"], count: number, isFrame: boolean): Tiers[] {
  const cut = (...at: number[]): Tiers =>
    [0, ...at].map((begin, i) => range(begin, at[i] ?? count)).filter((tier) => tier.length > 0);
  const ways = [cut(), cut(count - 2)];
  if (kind === "gather" && isFrame) ways.push(cut(count - 1));
  return [...ways, cut(count - 2, count - 1)];
}

const widthOf = (
  { gutters }: Pick<Plan, "gutters">,
  tier: readonly number[],
  lanes: readonly Lane[],
  metrics: Metrics,
): number =>
  tier.reduce((sum, at) => sum + lanes[at].width, 0) +
  tier.slice(1).reduce((sum, at) => sum + metrics.gutters[gutters[at - 1]], 0);

const tallest = (tier: readonly number[], lanes: readonly Lane[], metrics: Metrics): number =>
  Math.max(...tier.map((at) => heightOf(lanes[at].sheet, metrics)));

const above = ({ head, tierGap }: Pick<Layout, "head" | "tierGap">, tiers: Tiers): number =>
  tiers.length * HEADS[head] + (tiers.length - 1) * tierGap;

function hasRoom({ plan, tiers, pitch, isTight }: Way): boolean {
  const metrics = plan.metricsAt(pitch);
  const lanes = plan.lanesAt(metrics, isTight);
  const { height } = plan.room;
  const space = plan.room.width - busOf(plan, tiers);
  if (tiers.some((tier) => widthOf(plan, tier, lanes, metrics) > space)) return false;
  const tables = tiers.reduce((sum, tier) => sum + tallest(tier, lanes, metrics), 0);
  return tables + above(plan, tiers) <= height;
}

/** Returns the layout with whole tables. Rows grow into the remaining height while cells stay wider than high. */
function whole({ plan, tiers, pitch, isTight }: Way): Layout {
  const { kind, gutters, head, tierGap, room } = plan;
  let metrics = plan.metricsAt(pitch);
  const lanes = plan.lanesAt(metrics, isTight);
  const narrowest = Math.min(...lanes.map(({ cell }) => cell));
  const most = Math.min(LARGEST, Math.max(narrowest * HIGHEST, room.isNarrow ? FINGER : 0));
  const isHigh = (next: Metrics): boolean =>
    tiers.reduce((sum, tier) => sum + tallest(tier, lanes, next), 0) + above(plan, tiers) >
    room.height;
  for (let next = pitch + 1; next <= most; next++) {
    const higher = { ...metrics, pitch: next };
    if (isHigh(higher)) break;
    metrics = higher;
  }
  const bus = busOf(plan, tiers);
  return { kind, gutters, head, tierGap, bus, tiers, metrics, lanes, hasMaps: false };
}

/** The maximum number of elements that a reader can survey at once. */
const SMALL = 300;
const HIGH_TIER = 330;
const LEAST_WINDOW = { page: 3, frame: 2 };
/** The row heights of windows, largest first, each with the desired number of rows and columns. */
const WINDOWS = {
  wide: { pitches: [44, 38, 32, 28, 24], rows: 14, columns: 10 },
  narrow: { pitches: range(17, 45).toReversed(), rows: 4, columns: 4 },
};

/**
 * Returns the arrangement of windows that shows the most elements, with the largest cells that allow enough rows and
 * columns.
 */
function windowed(plans: readonly Plan[], room: Room, all: readonly Tiers[]): Layout {
  const { isNarrow, least } = room;
  const { pitches, rows, columns } = WINDOWS[isNarrow ? "narrow" : "wide"];
  const worth = WORTH[isNarrow ? "narrow" : "wide"];
  const isEnough = ({ lanes }: Layout): boolean =>
    lanes.every(
      ({ sheet, ...lane }) =>
        lane.rows * sheet.span >= Math.min(sheet.rows * sheet.span, rows) &&
        lane.columns >= Math.min(sheet.columns, columns),
    );
  const bestOf = (layouts: readonly Layout[]): Layout | undefined => {
    const [first, ...others] = layouts;
    return others.reduce((best, one) => (seenIn(one) > seenIn(best) * worth ? one : best), first);
  };
  let last: Layout[] = [];
  for (const pitch of [...pitches.filter((one) => one > least), least]) {
    last = plans.flatMap((plan) =>
      all.map((tiers) => windowsIn(plan, tiers, plan.metricsAt(pitch))),
    );
    const best = bestOf(last.filter((one) => isEnough(one) && overflowOf(one, room) === 0));
    if (best !== undefined) return best;
  }
  // If no arrangement fits, the stage scrolls vertically, and sideways only if necessary.
  const lowest = Math.min(...last.map((one) => overflowOf(one, room)));
  return bestOf(last.filter((one) => overflowOf(one, room) === lowest)) ?? last[0];
}

const seenIn = ({ lanes }: Layout): number =>
  lanes.reduce((sum, lane) => sum + lane.rows * lane.columns, 0);

/** Returns 0 if the layout fits, 1 if it is too high, or 2 if it is too wide. */
function overflowOf(layout: Layout, { width, height }: Room): 0 | 1 | 2 {
  const { tiers, lanes, metrics, hasMaps, bus } = layout;
  if (tiers.some((tier) => widthOf(layout, tier, lanes, metrics) + bus > width)) return 2;
  const tables = tiers.map(
    (tier) =>
      tallest(
        tier,
        lanes.map((lane) => ({ ...lane, sheet: { ...lane.sheet, rows: lane.rows } })),
        metrics,
      ) +
      barBelow(tier, lanes) +
      (hasMaps ? MINIMAP : 0),
  );
  return tables.reduce((sum, one) => sum + one, above(layout, tiers)) > height ? 1 : 0;
}

/** Returns the height of a tier's scroll bars; 0 if all columns are visible. */
const barBelow = (tier: readonly number[], lanes: readonly Lane[]): number =>
  Math.max(...tier.map((at) => (lanes[at].columns < lanes[at].sheet.columns ? lanes[at].bar : 0)));

/** Returns the space for each table in a tier, and the number of columns that fit. */
function spacesOf(
  { gutters, room }: Plan,
  tier: readonly number[],
  lanes: readonly Lane[],
  metrics: Metrics,
  bus: number,
): { readonly width: number; readonly columns: number }[] {
  const between = tier.slice(1).reduce((sum, at) => sum + metrics.gutters[gutters[at - 1]], 0);
  const needs = tier.map((at) => lanes[at].width + room.bar);
  const widths = shared(room.width - bus - between, needs);
  return tier.map((at, i) => {
    const fitting = columnsIn(widths[i] - room.bar, lanes[at]);
    const isWhole = widths[i] >= needs[i];
    const columns = isWhole ? lanes[at].columns : Math.min(lanes[at].columns, fitting);
    return { width: widths[i], columns };
  });
}

function windowsIn(plan: Plan, tiers: Tiers, metrics: Metrics): Layout {
  const { kind, gutters, head, tierGap, room } = plan;
  const lanes = plan.lanesAt(metrics, true);
  const bus = busOf(plan, tiers);
  const spaces = tiers.map((tier) => spacesOf(plan, tier, lanes, metrics, bus));
  const bars = tiers.map((tier, number) =>
    tier.some((at, i) => spaces[number][i].columns < lanes[at].columns) ? room.bar : 0,
  );
  const hasMaps =
    lanes.some(({ shape }) => sizeOf(shape) > SMALL) && room.height / tiers.length >= HIGH_TIER;
  const free =
    room.height -
    above(plan, tiers) -
    bars.reduce((sum, bar) => sum + bar, tiers.length * (HEAD + (hasMaps ? MINIMAP : 0)));
  const heights = shared(
    Math.max(0, free),
    tiers.map(
      (tier) =>
        Math.max(...tier.map((at) => lanes[at].sheet.rows * lanes[at].sheet.span)) * metrics.pitch,
    ),
  );
  const drawn = [...lanes];
  for (const [number, tier] of tiers.entries()) {
    const least = LEAST_WINDOW[room.isFrame ? "frame" : "page"];
    const rows = Math.max(least, Math.floor(heights[number] / metrics.pitch));
    for (const [i, at] of tier.entries()) {
      // If one table is a window, all tables of the call are windows, so that their rows share a grid.
      const size = { ...spaces[number][i], rows };
      drawn[at] = withWindow(lanes[at], size, head, room.bar);
    }
  }
  return { kind, gutters, head, tierGap, bus, tiers, metrics, lanes: drawn, hasMaps };
}

/**
 * Divides a total among parts. Each part gets what it needs, except that parts larger than an equal share divide the
 * remainder equally.
 */
function shared(total: number, needs: readonly number[]): number[] {
  const parts = [...needs];
  const open = new Set(needs.keys());
  let left = total;
  for (let isSettled = false; !isSettled;) {
    const share = left / Math.max(open.size, 1);
    const content = [...open].filter((at) => needs[at] <= share);
    for (const at of content) {
      open.delete(at);
      left -= needs[at];
    }
    isSettled = content.length === 0;
  }
  for (const at of open) parts[at] = left / open.size;
  return parts;
}
