/** The sizes of tables and gutters, in pixels. */

/** The kinds of gutters between two tables: tuple targets, arrows, changes from data to output, or an empty gap. */
export type Gutter = "chips" | "wires" | "becomes" | "gap";

export interface Metrics {
  /** The distance between the tops of adjacent rows. */
  readonly pitch: number;
  /** The font size of cell values. */
  readonly font: number;
  /** The font size in gutters. */
  readonly small: number;
  /** The font size of row and column numbers. */
  readonly label: number;
  /** The minimum width of a cell. */
  readonly least: number;
  /** The horizontal padding in a cell. */
  readonly padding: number;
  readonly gap: number;
  readonly gutters: Readonly<Record<Gutter, number>>;
}

/**
 * Table headers `large` and `full` have editable name, data type and shape on three lines; `large` has larger letters,
 * for lecture halls. The header `short` has two lines, which open a dialog; `low` has the same lines in the smallest
 * legible size. The header `line` has the name and shape on one line.
 */
export type Head = "large" | "full" | "short" | "low" | "line";

/** The form of a header whose parts share lines. */
export type ShortHead = Exclude<Head, "large" | "full">;

export const isShort = (head: Head): head is ShortHead => head !== "large" && head !== "full";

/** The enlargement factor of the `large` header, the same as in `page/layout.css`. */
export const ENLARGED = 1.2;

export const HEADS: Readonly<Record<Head, number>> = {
  large: Math.ceil(76 * ENLARGED),
  full: 76,
  short: 48,
  low: 30,
  line: 16,
};

/**
 * The space between cells, the height of column numbers above the first row, and the width of a monospace character.
 */
export const SPACING = 2;
export const HEAD = 18;
export const CHARACTER = 0.605;

/** The maximum row height, which is readable in a lecture hall. */
export const LARGEST = 140;
/** The minimum row height for drawing a whole table: with a mouse, with touch input, and in an embedded page. */
export const SMALLEST = { mouse: 20, finger: 26, frame: 16 };

const between = (least: number, value: number, most: number): number =>
  Math.round(Math.max(least, Math.min(most, value)));

/** The length of the longest usual mark between data and the output, such as `2× last`. */
const MARK = 7;

/** Returns the sizes for a row height. `chip` is the length of a tuple's longest target, such as `(1, 0)`. */
export function metricsAt(pitch: number, isNarrow: boolean, chip: number): Metrics {
  const font = Math.max(11, Math.round(pitch * 0.4 + 2));
  const small = between(11, font * 0.5, 17);
  const wide = (characters: number): number => Math.ceil(characters * small * 0.61);
  return {
    pitch,
    font,
    small,
    label: between(11, font * 0.4, 16),
    least: Math.round(pitch * 1.1),
    padding: isNarrow ? between(4, pitch * 0.2, 12) : between(5, pitch * 0.43 - 3.6, 44),
    gap: between(6, pitch * 0.32, 30),
    gutters: {
      // The width holds an arrow and the target.
      chips: wide(chip + 2) + (isNarrow ? 26 : 34),
      wires: isNarrow ? 52 : between(64, pitch * 1.7, 180),
      becomes: wide(MARK) + (isNarrow ? 15 : between(20, pitch * 0.4, 40)),
      gap: isNarrow ? 8 : between(12, pitch * 0.5, 48),
    },
  };
}
