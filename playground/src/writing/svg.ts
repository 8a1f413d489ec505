/** Draws a scene as an SVG file. Equal scenes give identical files, which load no other files. */

import { bandOf, heightOf, topOf, type Corner, type Lane } from "../stage/layout.ts";
import { CHARACTER, HEAD, SPACING, type Metrics } from "../stage/metrics.ts";
import type { Scene, SceneLane } from "./scene.ts";
import {
  cut,
  element,
  LETTER,
  round,
  svgFile,
  text,
  THEMES,
  wrapped,
  type Colours,
  type SvgTheme,
} from "./svg-text.ts";
import { rowLabel } from "../stage/row-label.ts";
import type { Rows, Wire } from "../stage/wires.ts";

// Sizes are in pixels.
const MARGIN = 24;
const LINE = 20;
/** The space for the name and the type above a table. */
const ABOVE = 44;
const TIER_GAP = 12;
/** The size of a value below another value. */
const UNDER = 10;
/** The width within which sentences are wrapped above small tables. */
const SHORTEST = 480;

/** A table with its top left corner, relative to the space below the sentences. */
interface Placed {
  readonly lane: Lane;
  readonly own: SceneLane;
  readonly x: number;
  readonly y: number;
}

/** A scene, with values that all its parts need. */
interface Drawing {
  readonly scene: Scene;
  readonly metrics: Metrics;
  readonly colours: Colours;
  readonly lanes: readonly Placed[];
}

export function toSVG(scene: Scene, theme: SvgTheme): string {
  const { title, layout } = scene;
  const colours = THEMES[theme];
  const { lanes, width, height } = placed(scene);
  const above = [title, ...scene.sentences]
    .filter((one) => one !== "")
    .flatMap((one) => wrapped(one, Math.max(width, SHORTEST) / LETTER));
  const top = MARGIN + LINE * above.length + (above.length === 0 ? 0 : 16);
  const drawing = { scene, metrics: layout.metrics, colours, lanes };
  const widest = Math.max(0, ...above.map((line) => Array.from(line).length * LETTER));
  const size = [MARGIN + Math.max(width, widest + MARGIN), top + height + MARGIN] as const;
  return svgFile(size, [title, scene.sentences.join(" ")], colours, [
    stripes(colours),
    ...above.map((line, i) => {
      const ink =
        i === 0 && title !== ""
          ? `fill="${colours.ink}" font-weight="bold" font-size="16"`
          : `fill="${colours.soft}"`;
      return text(MARGIN, MARGIN + 14 + i * LINE, line, ink);
    }),
    `<g transform="translate(0 ${top})">`,
    ...lanes.map((one) => drawLane(one, drawing)),
    ...layout.tiers.flatMap((tier) => tier.slice(1).map((right) => drawGutter(right - 1, drawing))),
    "</g>",
  ]);
}

/** Places the tables of each tier side by side, and the tiers below each other. */
function placed(scene: Scene): {
  readonly lanes: readonly Placed[];
  readonly width: number;
  readonly height: number;
} {
  const { lanes: tables, tiers, metrics } = scene.layout;
  const lanes: Placed[] = [];
  let [width, height] = [0, 0];
  for (const tier of tiers) {
    let x = MARGIN;
    const y = height + (height === 0 ? 0 : TIER_GAP) + ABOVE;
    for (const position of tier) {
      const lane = tables[position];
      const own = scene.lanes[position];
      lanes.push({ lane, own, x, y });
      const type = own.type.length * LETTER + 8;
      const after = position === tier.at(-1) ? 0 : gutterWidth(scene, position);
      x += Math.max(lane.tableWidth, type) + after;
      height = Math.max(height, y + heightOf({ ...lane.sheet, rows: lane.rows }, metrics));
    }
    width = Math.max(width, x);
  }
  return { lanes, width, height };
}

/** Returns the verb above the lines to the right of a tensor. */
const verbAfter = ({ layout, verb }: Scene, position: number): string =>
  layout.lanes[position].role === "updates" && layout.gutters[position] === "wires" ? verb : "";

/**
 * Returns the width of the gutter to the right of a tensor. The verb is at the same height as the data types next to
 * it.
 */
function gutterWidth(scene: Scene, position: number): number {
  const { gutters, metrics } = scene.layout;
  if (gutters[position] === undefined) return 0;
  const verb = verbAfter(scene, position);
  return Math.max(metrics.gutters[gutters[position]], verb === "" ? 0 : verb.length * LETTER + 24);
}

/** Returns one pattern per colour, for targets that several updates share. */
const stripes = ({ hues }: Colours): string => {
  const patterns = hues.map(
    (hue, number) =>
      `<pattern id="several-${number}" width="9" height="9" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">` +
      `<rect width="9" height="9" fill="${hue}" fill-opacity="0.16"/><rect width="3" height="9" fill="${hue}" fill-opacity="0.35"/></pattern>`,
  );
  return `<defs>${patterns.join("")}</defs>`;
};

function drawLane(one: Placed, drawing: Drawing): string {
  const { lane, own, x, y: top } = one;
  const { metrics, colours } = drawing;
  const soft = `fill="${colours.soft}" font-size="11"`;
  const corner = cornerOf(lane, own.corner);
  const parts = [
    text(x, top - 26, lane.name, `fill="${colours.ink}" font-weight="bold"`),
    text(x, top - 8, own.type, `fill="${colours.soft}" font-size="12"`),
  ];
  for (let i = 0; i < lane.columns && lane.shape.length > 1; i++) {
    const middle = cellX(one, i) + lane.cell / 2;
    parts.push(
      text(middle, top + HEAD - 7, String(corner.column + i), `${soft} text-anchor="middle"`),
    );
  }
  for (let row = corner.row; row < corner.row + lane.rows; row++) {
    const y = top + topOf(lane, metrics, corner, row);
    const height = lane.sheet.span * metrics.pitch - SPACING;
    if (lane.side > 0) {
      parts.push(
        text(
          x + lane.side - 5,
          y + height / 2 + 4,
          rowLabel(lane, row),
          `${soft} text-anchor="end"`,
        ),
      );
    }
    for (let i = 0; i < lane.columns; i++) {
      const box = { x: cellX(one, i), y, width: lane.cell, height };
      parts.push(drawCell(box, row * lane.sheet.columns + corner.column + i, one, drawing));
    }
  }
  return `<g>${parts.join("")}</g>`;
}

const cornerOf = ({ isWindow }: Lane, corner: Corner): Corner =>
  isWindow ? corner : { row: 0, column: 0 };

const cellX = ({ lane, x }: Placed, column: number): number =>
  x + lane.side + SPACING + column * (lane.cell + SPACING);

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The height of a cell that has space for another value below its own. */
const PAIR = 34;

function drawCell(box: Box, at: number, { lane, own }: Placed, drawing: Drawing): string {
  const { colours, metrics } = drawing;
  const { values, tints, hits, tabs, faults, others } = own.cells;
  const place = `x="${round(box.x)}" y="${round(box.y)}" width="${box.width}" height="${box.height}" rx="3"`;
  const tab = tabs.get(at) ?? "";
  const tint = tints[at] ?? -1;
  const hue = colours.hues[tint];
  const isShared = (hits?.[at] ?? 0) > 1;
  const fill = isShared ? `fill="url(#several-${tint})"` : `fill="${hue}" fill-opacity="0.25"`;
  const value = values[at] ?? "";
  const shown = cut(value, lane.digits);
  const other = others.get(at);
  const { good: right, bad: wrong, hues } = colours;
  const mark = { right, wrong, open: hues[0] }[own.markOf?.(at) ?? "wrong"];
  const isMarked = other !== undefined || faults.has(at);
  const hasPair = other !== undefined && box.height >= PAIR;
  const middle = box.x + box.width / 2;
  const content = text(
    middle,
    box.y + box.height * (hasPair ? 0.36 : 0.5) + metrics.font * 0.35,
    shown,
    `fill="${isMarked && mark !== hues[0] ? mark : colours.ink}" font-size="${metrics.font}" text-anchor="middle"`,
  );
  const small = `fill="${colours.soft}" font-size="9" text-anchor="end"`;
  const under = `fill="${colours.soft}" font-size="${UNDER}" text-anchor="middle"`;
  const most = Math.floor(box.width / (UNDER * CHARACTER));
  return [
    `<rect ${place} fill="${colours.cell}" stroke="${colours.line}"/>`,
    tint < 0 ? "" : `<rect ${place} ${fill} stroke="${hue}"/>`,
    isMarked ? `<rect ${place} fill="${mark}" fill-opacity="0.12" stroke="${mark}"/>` : "",
    tint < 0 || tab === "" ? "" : text(box.x + box.width - 3, box.y + 10, tab, small),
    shown === value ? content : `<g>${element("title", "", value)}${content}</g>`,
    hasPair ? text(middle, box.y + box.height - 6, cut(other, most), under) : "",
  ].join("");
}

const pillWidth = (label: string): number => label.length * 7.2 + 12;

/** Draws a label centred on rows; nothing is drawn if the rows are out of view. */
function pill(
  [from, to]: readonly [number, number],
  label: string,
  colour: string,
  middle: number,
  { colours }: Drawing,
): string {
  if (from === to) return "";
  const size = pillWidth(label);
  const y = (from + to) / 2;
  const box = `x="${round(middle - size / 2)}" y="${round(y - 10)}" width="${round(size)}" height="20" rx="10"`;
  return (
    `<rect ${box} fill="${colour}" fill-opacity="0.25" stroke="${colour}"/>` +
    text(middle, y + 4, label, `fill="${colours.ink}" font-size="12" text-anchor="middle"`)
  );
}

/** Draws the gutter to the right of a tensor: tuple targets, lines, or what happens where updates meet. */
function drawGutter(position: number, drawing: Drawing): string {
  const { scene, lanes, colours, metrics } = drawing;
  const gutter = scene.layout.gutters[position];
  const [left, right] = lanes.slice(position, position + 2);
  const width = gutterWidth(scene, position);
  const x = right.x - width;
  const place = ({ lane, own, y }: Placed, { begin, end }: Rows): readonly [number, number] => {
    const band = bandOf(lane, metrics, own.corner, begin, end);
    return [y + band.top, y + band.bottom];
  };
  // Lines and targets begin at the table, even if the type above the table is wider.
  const edge = left.x + left.lane.tableWidth;
  const { chips, marks, wires } = scene.wiring;
  if (gutter === "chips") {
    return chips
      .map(({ row, hue, text: target }) => {
        const label = `→ ${target}`;
        const band = place(left, { begin: row, end: row + 1 });
        return pill(band, label, colours.hues[hue], edge + 8 + pillWidth(label) / 2, drawing);
      })
      .join("");
  }
  if (gutter === "becomes") {
    return marks
      .map(({ rows, hue, text: label }) =>
        pill(place(right, rows), label, colours.hues[hue], (edge + right.x) / 2, drawing),
      )
      .join("");
  }
  const lines = wires.get(left.lane.role) ?? [];
  return [
    text(
      x + width / 2,
      left.y - 4,
      verbAfter(scene, position),
      `fill="${colours.soft}" font-weight="bold" text-anchor="middle"`,
    ),
    ...lines.map((wire) =>
      drawWire(
        wire,
        edge,
        right.x - edge,
        [place(left, wire.from), place(right, wire.to)],
        colours,
      ),
    ),
  ].join("");
}

/** Draws a bar at the end of a line that spans several rows. */
const extent = ([top, bottom]: readonly [number, number], at: number): string =>
  bottom - top < 46 ? "" : `M${round(at)} ${round(top + 2)}V${round(bottom - 2)}`;

function drawWire(
  { hue, isLost }: Wire,
  x: number,
  width: number,
  [from, to]: readonly [readonly [number, number], readonly [number, number]],
  { hues }: Colours,
): string {
  const colour = hues[hue];
  const [y1, y2] = [from, to].map(([begin, end]) => round((begin + end) / 2));
  const [begin, end] = [x + 4, x + width - 4];
  const reach = round((begin + end) / 2);
  const line = `M${round(begin)} ${y1}C${reach} ${y1} ${reach} ${y2} ${round(end - 6)} ${y2}${extent(from, begin)}${extent(to, end)}`;
  const dashes = isLost ? ' stroke-dasharray="5 3"' : "";
  return (
    `<path d="${line}" fill="none" stroke="${colour}" stroke-width="1.75"${dashes}/>` +
    `<path d="M${round(end)} ${y2}l-8-4.5v9z" fill="${colour}"/>`
  );
}
