/** Draws a diagram as an SVG file. The same diagram gives the same text, and the file loads nothing from elsewhere. */

import type { DiagramArrow, DiagramCell, DiagramGrid, Diagram, DiagramSpot } from "./diagram.ts";

export type SvgTheme = "light" | "dark";

interface Colours {
  readonly paper: string;
  readonly cell: string;
  readonly ink: string;
  readonly soft: string;
  readonly line: string;
  /** Colours that colour-blind people can tell apart; the letters say the same. */
  readonly hues: readonly string[];
}

const THEMES: Readonly<Record<SvgTheme, Colours>> = {
  light: {
    paper: "#f6f7f9",
    cell: "#ffffff",
    ink: "#17202a",
    soft: "#55616e",
    line: "#aab4bf",
    hues: ["#e69f00", "#56b4e9", "#009e73", "#cc79a7", "#0072b2", "#d55e00", "#c9b400", "#7d7d7d"],
  },
  dark: {
    paper: "#11161c",
    cell: "#1f2730",
    ink: "#e8edf2",
    soft: "#a3b0bd",
    line: "#566473",
    hues: ["#e69f00", "#56b4e9", "#12b88a", "#dd8fbb", "#4a9fe0", "#f07c2a", "#f0e442", "#b4b4b4"],
  },
};

const FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";

// In pixels. A character of a monospace font of size 13 is 7.8 wide.
const LETTER = 7.8;
const CELL_HEIGHT = 34;
const LEAST_CELL = 34;
const HEADER = 22;
const GAP = 40;
const SLICE_GAP = 16;
const MARGIN = 24;
const LINE = 20;
const WIDEST = 1600;

const LONGEST_TEXT = 14;
const MOST_LETTERS = 3;
const MOST_TUPLES = 32;

/** A grid with its place and the sizes of its parts. */
interface Block {
  readonly grid: DiagramGrid;
  readonly cellWidth: number;
  readonly header: number;
  /** The number of slices in a row of slices. */
  readonly across: number;
  readonly sliceWidth: number;
  readonly sliceHeight: number;
  readonly width: number;
  readonly height: number;
  readonly x: number;
  readonly y: number;
}

export function toSVG(diagram: Diagram, theme: SvgTheme): string {
  const colours = THEMES[theme];
  const { title, sentences, grids, tuples, arrows } = diagram;
  const top = MARGIN + LINE * (sentences.length + 1) + 12;
  const { blocks, width: inner, bottom } = layOut(grids, top);
  const legend = tuples
    .slice(0, MOST_TUPLES)
    .map(({ letter, sentence }) => `${letter}: ${sentence}`);
  if (tuples.length > MOST_TUPLES) legend.push(`and ${tuples.length - MOST_TUPLES} more`);
  const lines = [title, ...sentences, ...legend];
  const textWidth = Math.max(...lines.map((line) => Array.from(line).length * LETTER + 24));
  const width = Math.ceil(2 * MARGIN + Math.max(inner, textWidth));
  const height = Math.ceil(bottom + legend.length * LINE + MARGIN);
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
      `viewBox="0 0 ${width} ${height}" role="img" font-family="${FONT}" font-size="13">`,
    element("title", "", title),
    element("desc", "", [...sentences, ...legend].join("; ")),
    `<rect width="${width}" height="${height}" fill="${colours.paper}"/>`,
    text(MARGIN, MARGIN + 14, title, `fill="${colours.ink}" font-weight="bold" font-size="16"`),
    ...sentences.map((sentence, i) =>
      text(MARGIN, MARGIN + 14 + (i + 1) * LINE, sentence, `fill="${colours.soft}"`),
    ),
    ...blocks.map((block) => drawBlock(block, diagram, colours)),
    ...arrows.map((arrow, order) => drawArrow(arrow, order, blocks, diagram, colours)),
    ...legend.map((line, i) => {
      const y = bottom + i * LINE + 14;
      const swatch =
        tuples[i] === undefined || i === MOST_TUPLES ? "" : hued(tuples[i].colour, colours);
      return (
        (swatch === ""
          ? ""
          : `<rect x="${MARGIN}" y="${round(y - 11)}" width="12" height="12" ${swatch}/>`) +
        text(MARGIN + 20, y, line, `fill="${colours.ink}"`)
      );
    }),
    "</svg>",
  ];
  return `${parts.join("\n")}\n`;
}

/** Places grids from left to right, and on a new line where the line would be too wide. */
function layOut(
  grids: readonly DiagramGrid[],
  top: number,
): { blocks: Block[]; width: number; bottom: number } {
  const blocks: Block[] = [];
  let [x, y, lowest, width] = [MARGIN, top, top, 0];
  for (const grid of grids) {
    const block = measure(grid);
    if (x > MARGIN && x + block.width > WIDEST) [x, y] = [MARGIN, lowest + GAP];
    blocks.push({ ...block, x, y });
    x += block.width + GAP;
    lowest = Math.max(lowest, y + block.height);
    width = Math.max(width, x - GAP - MARGIN);
  }
  return { blocks, width, bottom: lowest + 28 };
}

function measure(grid: DiagramGrid): Omit<Block, "x" | "y"> {
  const { name, type, slices, rows, columns } = grid;
  const longest = slices
    .flatMap(({ cells }) => cells)
    .reduce((most, { text: own }) => Math.max(most, Array.from(shown(own)).length), 1);
  const cellWidth = Math.max(LEAST_CELL, Math.ceil(longest * LETTER + 12));
  const header = Math.ceil(String(Math.max(rows - 1, 0)).length * LETTER + 10);
  const label = slices[0]?.label ?? "";
  const sliceWidth = Math.max(header + columns * cellWidth, Math.ceil(label.length * LETTER));
  const sliceHeight = (label === "" ? 0 : LINE) + HEADER + Math.max(rows, 0) * CELL_HEIGHT;
  // As near to a square as possible.
  const across = Math.max(
    1,
    Math.round(Math.sqrt((slices.length * sliceHeight) / Math.max(sliceWidth, 1))),
  );
  const down = Math.ceil(slices.length / across);
  const title = (name.length + type.length + 2) * LETTER;
  const columnsWidth =
    Math.min(across, Math.max(slices.length, 1)) * (sliceWidth + SLICE_GAP) - SLICE_GAP;
  return {
    grid,
    cellWidth,
    header,
    across,
    sliceWidth,
    sliceHeight,
    width: Math.max(Math.ceil(title), columnsWidth),
    height: LINE + down * (sliceHeight + SLICE_GAP),
  };
}

/** The upper left corner of a cell, by its slice and its place in the slice. */
function cornerOf(block: Block, slice: number, place: number): readonly [x: number, y: number] {
  const { grid, x, y, across, sliceWidth, sliceHeight, header, cellWidth } = block;
  const left = x + (slice % across) * (sliceWidth + SLICE_GAP) + header;
  const labelled = grid.slices[slice].label === "" ? 0 : LINE;
  const above =
    y + LINE + Math.floor(slice / across) * (sliceHeight + SLICE_GAP) + labelled + HEADER;
  const row = grid.columns === 0 ? 0 : Math.floor(place / grid.columns);
  const column = grid.columns === 0 ? 0 : place % grid.columns;
  return [left + column * cellWidth, above + row * CELL_HEIGHT];
}

function drawBlock(block: Block, diagram: Diagram, colours: Colours): string {
  const { grid, x, y, cellWidth } = block;
  const soft = `fill="${colours.soft}" font-size="11"`;
  const parts = [
    text(x, y + 12, grid.name, `fill="${colours.ink}" font-weight="bold"`),
    text(x + (grid.name.length + 1) * LETTER, y + 12, grid.type, `fill="${colours.soft}"`),
  ];
  for (const [slice, { label, cells }] of grid.slices.entries()) {
    const [left, above] = cornerOf(block, slice, 0);
    if (label !== "")
      parts.push(text(left - block.header, above - HEADER - 4, label, `fill="${colours.soft}"`));
    for (let column = 0; column < grid.columns; column++) {
      const middle = left + (column + 0.5) * cellWidth;
      parts.push(text(middle, above - 6, String(column), `${soft} text-anchor="middle"`));
    }
    for (let row = 0; row < grid.rows; row++) {
      const middle = above + (row + 0.5) * CELL_HEIGHT + 4;
      parts.push(text(left - 6, middle, String(row), `${soft} text-anchor="end"`));
    }
    for (const [place, cell] of cells.entries()) {
      const [cx, cy] = cornerOf(block, slice, place);
      parts.push(drawCell(cell, cx, cy, cellWidth, diagram, colours));
    }
  }
  return `<g>${parts.join("")}</g>`;
}

function drawCell(
  { text: own, tuples }: DiagramCell,
  x: number,
  y: number,
  width: number,
  diagram: Diagram,
  colours: Colours,
): string {
  const box = `x="${round(x)}" y="${round(y)}" width="${width}" height="${CELL_HEIGHT}"`;
  const last = tuples[tuples.length - 1];
  const parts = [`<rect ${box} fill="${colours.cell}" stroke="${colours.line}"/>`];
  if (last !== undefined) {
    const inset = `x="${round(x + 1)}" y="${round(y + 1)}" width="${width - 2}" height="${CELL_HEIGHT - 2}"`;
    parts.push(`<rect ${inset} ${hued(diagram.tuples[last].colour, colours)}/>`);
    const letters = tuples.slice(0, MOST_LETTERS).map((tuple) => diagram.tuples[tuple].letter);
    const more = tuples.length > MOST_LETTERS ? "…" : "";
    const size = `fill="${colours.soft}" font-size="9"`;
    parts.push(text(x + 4, y + 10, letters.join("") + more, size));
  }
  const middle = `fill="${colours.ink}" text-anchor="middle"`;
  const isCut = shown(own) !== own;
  parts.push(text(x + width / 2, y + CELL_HEIGHT / 2 + 8, shown(own), middle));
  // The title holds all of a text that is cut short.
  return isCut ? `<g>${element("title", "", own)}${parts.join("")}</g>` : parts.join("");
}

const hued = (colour: number, { hues }: Colours): string =>
  `fill="${hues[colour]}" fill-opacity="0.28" stroke="${hues[colour]}" stroke-width="2"`;

function drawArrow(
  { tuple, from, to }: DiagramArrow,
  order: number,
  blocks: readonly Block[],
  diagram: Diagram,
  { hues }: Colours,
): string {
  const [x1, y1] = middleOf(from, blocks);
  const [x2, y2] = middleOf(to, blocks);
  // Each arrow is bowed more than the one before, so that the arrows of one row do not cover each other.
  const [run, bow] = [Math.max(30, Math.abs(x2 - x1) / 3), 12 + 7 * (order % 6)];
  const [cx, cy] = [x2 - run, y2 - bow];
  const hue = hues[diagram.tuples[tuple].colour];
  const point = (x: number, y: number): string => `${round(x)} ${round(y)}`;
  const path = `M${point(x1, y1)}C${point(x1 + run, y1 - bow)} ${point(cx, cy)} ${point(x2, y2)}`;
  const angle = (Math.atan2(y2 - cy, x2 - cx) * 180) / Math.PI;
  const turned = `transform="translate(${round(x2)} ${round(y2)}) rotate(${round(angle)})"`;
  const line = `<path d="${path}" fill="none" stroke="${hue}" stroke-width="1.5" opacity="0.75"/>`;
  return `<g>${line}<path d="M0 0l-9 -4v8z" ${turned} fill="${hue}"/></g>`;
}

/** A point in the lower part of a cell, where an arrow does not cover the text. */
function middleOf(
  { grid, cell }: DiagramSpot,
  blocks: readonly Block[],
): readonly [number, number] {
  const block = blocks[grid];
  const size = Math.max(block.grid.rows * block.grid.columns, 1);
  const [x, y] = cornerOf(block, Math.floor(cell / size), cell % size);
  return [x + block.cellWidth / 2, y + CELL_HEIGHT - 5];
}

/** An element's text, cut to what a cell has room for. */
function shown(own: string): string {
  const characters = Array.from(own);
  return characters.length <= LONGEST_TEXT
    ? own
    : `${characters.slice(0, LONGEST_TEXT - 1).join("")}…`;
}

const text = (x: number, y: number, content: string, attributes: string): string =>
  element("text", `x="${round(x)}" y="${round(y)}" ${attributes}`, content);

const element = (name: string, attributes: string, content: string): string =>
  `<${name}${attributes === "" ? "" : ` ${attributes}`}>${escape(content)}</${name}>`;

const round = (value: number): string => String(Math.round(value * 10) / 10);

/** Text for XML. Characters that XML cannot hold are replaced by pictures of them. */
const escape = (content: string): string =>
  content
    .replaceAll(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, pictured)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");

/** Unicode's picture of a control character, or the replacement character. */
function pictured(character: string): string {
  if (character === "\n") return "\u23ce";
  const code = character.charCodeAt(0);
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : "\ufffd";
}
