/** Sizes in pixels of what a table is made of, and of what stands between tables. */

/** What is drawn between two tables: the target of each tuple, arrows, or that data becomes the output. */
export type Gutter = "chips" | "wires" | "becomes" | "gap";

/** Sizes in pixels. */
export interface Metrics {
  /** From the top of a row to that of the next. */
  readonly pitch: number;
  /** Of values. */
  readonly font: number;
  /** Of what stands between tables. */
  readonly small: number;
  /** Of the numbers of rows and columns. */
  readonly label: number;
  /** The least width of a cell. */
  readonly least: number;
  /** The room beside the characters of a cell. */
  readonly padding: number;
  /** Between groups of rows. */
  readonly gap: number;
  /** The widths of what stands between tables. */
  readonly gutters: Readonly<Record<Gutter, number>>;
}

/**
 * What stands above a table: its name, its data type and its shape in three lines that can be changed; the same in two
 * lines, which open a dialog; or these two lines as small as they can be read.
 */
export type Head = "full" | "short" | "low";

export const HEADS: Readonly<Record<Head, number>> = { full: 76, short: 48, low: 30 };

/** Between cells, above the first row for the numbers of columns, and a character of a monospace font. */
export const SPACING = 2;
export const HEAD = 18;
export const CHARACTER = 0.605;

/** The largest rows, which a lecture hall can read. */
export const LARGEST = 120;
/** The smallest rows with which a table is drawn as a whole: for a mouse, for a finger, and in a frame of another page. */
export const SMALLEST = { mouse: 20, finger: 26, frame: 18 };

const between = (least: number, value: number, most: number): number =>
  Math.round(Math.max(least, Math.min(most, value)));

/** A mark between data and the output holds at most three letters: `A B+2`. */
const MARK = 5;

/**
 * The sizes that belong to rows of a height.
 * @param chip the characters of the longest target of a tuple, such as `(1, 0)`
 */
export function metricsAt(pitch: number, isNarrow: boolean, chip: number): Metrics {
  const font = Math.max(11, Math.round(pitch * 0.4 + 2));
  const small = between(11, font * 0.5, 17);
  const wide = (characters: number): number => Math.ceil(characters * small * 0.61);
  return {
    pitch,
    font,
    small,
    label: between(11, font * 0.4, 14),
    least: Math.round(pitch * 1.1),
    padding: isNarrow ? between(4, pitch * 0.2, 12) : between(5, pitch * 0.43 - 3.6, 44),
    gap: between(6, pitch * 0.32, 30),
    gutters: {
      // A letter, an arrow, and the target.
      chips: wide(chip + 3) + (isNarrow ? 27 : 34),
      wires: isNarrow ? 46 : between(56, pitch * 1.7, 180),
      becomes: wide(MARK) + (isNarrow ? 13 : between(20, pitch * 0.4, 40)),
      gap: isNarrow ? 8 : between(12, pitch * 0.5, 48),
    },
  };
}
