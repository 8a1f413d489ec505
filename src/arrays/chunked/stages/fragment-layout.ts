/** Computes the layout of files of fragments, which `fragments.ts` describes. */

import { CHUNKED } from "../../../core/limits.ts";

export const MAGIC = 0x3253444e;
export const HEADER = 16;

/** Properties that all files of a stage share. */
export interface FragmentLayout {
  /** The number of fragments. */
  readonly fragments: number;
  /** The number of columns of numbers. */
  readonly columns: number;
  /** Size of an entry in each piece, in bytes. */
  readonly pieceBytes: readonly number[];
  /** Maximum number of entries per fragment: the number of positions in a block. */
  readonly most: number;
}

/** Returns the number of sections with checksums: columns, and pieces unless the file has no slices. */
export const sectionsOf = ({ columns, pieceBytes }: Sections): number =>
  columns + (pieceBytes.some((bytes) => bytes > 0) ? pieceBytes.length : 0);

type Sections = Pick<FragmentLayout, "columns" | "pieceBytes">;

/** Returns the size of everything before the columns. */
export const headSize = (fragments: number, sections: number): number =>
  HEADER + 4 * (fragments * (1 + sections) + 1);

/** Returns true if the head is read at once. */
export const isSmall = (fragments: number, sections: number): boolean =>
  fragments * (1 + sections) <= CHUNKED.fragments;

/**
 * Returns the total size of `count` files with `fragments` fragments each, and `entries` entries and `slices` bytes of
 * slices in total.
 */
export const fragmentBytes = (
  count: number,
  fragments: number,
  entries: number,
  layout: Sections,
  slices: number,
): number =>
  count * headSize(fragments, sectionsOf(layout)) + 4 * layout.columns * entries + slices;

/**
 * Returns the maximum number of bytes that tasks read of a file's head for `count` fragments. `sums` is the number of
 * checksums that are read of each fragment.
 */
export function headBytes(
  fragments: number,
  count: number,
  layout: Sections,
  sums = sectionsOf(layout),
): number {
  const sections = sectionsOf(layout);
  if (isSmall(fragments, sections)) return headSize(fragments, sections);
  return HEADER + 4 * (count + 1) + 4 * sums * count;
}

/** Returns the offset of a fragment's checksum for a section. */
export const sumStart = (
  { fragments }: FragmentLayout,
  section: number,
  fragment: number,
): number => HEADER + 4 * (fragments + 1 + section * fragments + fragment);

/** Returns the offset of a section; the number after the last section gives the end of the file. */
export function sectionStart(layout: FragmentLayout, total: number, section: number): number {
  const { columns, fragments, pieceBytes } = layout;
  const before = pieceBytes
    .slice(0, Math.max(0, section - columns))
    .reduce((sum, bytes) => sum + bytes, 0);
  const numbers = 4 * Math.min(section, columns);
  return headSize(fragments, sectionsOf(layout)) + total * (numbers + before);
}

/**
 * Consecutive fragments of a file. A task of 64 chunks has 64 fragments in each of hundreds of blocks, so an object for
 * each would take more memory than the updates.
 */
export interface Fragments {
  readonly file: string;
  /** The number of the first fragment. */
  readonly first: number;
  /** The first entry of each fragment, and the end of the last. */
  readonly starts: Uint32Array;
  /** The number of entries in the whole file. */
  readonly total: number;
  /** Ranges of the file that were read ahead. */
  readonly ahead: readonly Range[];
}

/** Location of a fragment in its file. */
export interface Fragment extends Pick<Fragments, "file" | "total" | "ahead"> {
  readonly number: number;
  /** The fragment's first entry and its number of entries. */
  readonly start: number;
  readonly count: number;
  /** The checksums of the entries read so far, by section. */
  readonly read: Map<number, number>;
}

/** Returns a fragment, given its place among consecutive fragments. */
export function fragmentAt({ file, first, starts, total, ahead }: Fragments, i: number): Fragment {
  const { [i]: start, [i + 1]: end } = starts;
  return { file, number: first + i, start, count: end - start, total, ahead, read: new Map() };
}

/** Bytes of a file from position `at`. */
export interface Range {
  readonly at: number;
  readonly bytes: Uint8Array;
}
