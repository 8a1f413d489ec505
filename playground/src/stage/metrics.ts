/** The sizes of the parts of tables, and of the gutters between tables, in pixels. */

/** The kinds of gutters between two tables: targets of tuples, arrows, data becoming the output, or an empty gap. */
export type Gutter = "chips" | "wires" | "becomes" | "gap";

/** The sizes in pixels. */
export interface Metrics {
  /** The distance from the top of a row to the top of the next row. */
  readonly pitch: number;
  /** The font size of values. */
  readonly font: number;
  /** The font size in gutters. */
  readonly small: number;
  /** The font size of row and column numbers. */
  readonly label: number;
  /** The minimum width of a cell. */
  readonly least: number;
  /** The space next to the characters of a cell. */
  readonly padding: number;
  /** The space between groups of rows. */
  readonly gap: number;
  /** The widths of gutters. */
  readonly gutters: Readonly<Record<Gutter, number>>;
}

/**
 * Header of a table. `large` and `full` have the name, data type and shape on three editable lines, with larger letters
 * for a lecture hall in `large`. `short` has two lines, which open a dialog; `low` has these two lines in the smallest
 * legible size. `line` has the name and the shape on one line.
 */
export type Head = "large" | "full" | "short" | "low" | "line";

/** The form of a header whose parts share lines. */
export type ShortHead = Exclude<Head, "large" | "full">;

export const isShort = (head: Head): head is ShortHead => head !== "large" && head !== "full";

/** Enlargement factor of `large`, the same as in `page/wide.css`. */
export const ENLARGED = 1.2;

export const HEADS: Readonly<Record<Head, number>> = {
  large: Math.ceil(76 * ENLARGED),
  full: 76,
  short: 48,
  low: 30,
  line: 16,
};

/** The space between cells, height of column numbers above the first row, and width of a monospace character. */
export const SPACING = 2;
export const HEAD = 18;
export const CHARACTER = 0.605;

/** The maximum row height, readable in a lecture hall. */
export const LARGEST = 140;
/** The minimum row height for drawing a whole table: with a mouse, with a finger, and in a frame of another page. */
export const SMALLEST = { mouse: 20, finger: 26, frame: 16 };

const between = (least: number, value: number, most: number): number =>
  Math.round(Math.max(least, Math.min(most, value)));

/** The length of the longest mark between data and the output, with at most three letters: `A B+2`. */
const MARK = 5;

/**
 * Returns the sizes for a row height.
 * @param chip length of a tuple's longest target, such as `(1, 0)`
 */
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
      // The width holds a letter, an arrow and the target.
      chips: wide(chip + 3) + (isNarrow ? 31 : 34),
      wires: isNarrow ? 52 : between(64, pitch * 1.7, 180),
      becomes: wide(MARK) + (isNarrow ? 15 : between(20, pitch * 0.4, 40)),
      gap: isNarrow ? 8 : between(12, pitch * 0.5, 48),
    },
  };
}
