/** Computes the layout of fragment files, which `fragments.ts` describes. */

import { CHUNKED } from "../../../core/limits.ts";
import { MAX_SIZE } from "../../../core/tensor/shape.ts";

export const MAGIC = 0x3253444e;
export const HEADER = 16;

/** The properties that all files of a stage have in common. */
export interface FragmentLayout {
  readonly fragments: number;
  /** The number of columns, each with one number per entry. */
  readonly columns: number;
  /** The size of a slice in each piece, in bytes. */
  readonly pieceBytes: readonly number[];
  /** The maximum number of entries per fragment, which is the number of positions in a block. */
  readonly most: number;
}

/** Returns the number of sections with checksums: all columns, and all pieces if the file contains slices. */
export const sectionsOf = ({ columns, pieceBytes }: Sections): number =>
  columns + (pieceBytes.some((bytes) => bytes > 0) ? pieceBytes.length : 0);

/** Returns the size of an entry in a section, in bytes. */
export const widthOf = ({ columns, pieceBytes }: Sections, section: number): number =>
  section < columns ? 4 : pieceBytes[section - columns];

type Sections = Pick<FragmentLayout, "columns" | "pieceBytes">;

/** Returns the size of the file's head, which precedes the columns. */
export const headSize = (fragments: number, sections: number): number =>
  HEADER + 4 * (fragments * (1 + sections) + 1);

/** Returns true if the head is read with a single call. */
export const isSmall = (fragments: number, sections: number): boolean =>
  fragments * (1 + sections) <= CHUNKED.fragments;

/**
 * Returns the total size of `count` files with `fragments` fragments each, and `entries` entries and `slices` slice
 * bytes in total.
 */
export const fragmentBytes = (
  count: number,
  fragments: number,
  entries: number,
  layout: Sections,
  slices: number,
): number =>
  count * headSize(fragments, sectionsOf(layout)) + 4 * layout.columns * entries + slices;

/** Returns the offset of the checksum of a fragment in a section. */
export const sumStart = (
  { fragments }: FragmentLayout,
  section: number,
  fragment: number,
): number => HEADER + 4 * (fragments + 1 + section * fragments + fragment);

/** Returns the offset of a section, or the end of the file for the number after the last section. */
export function sectionStart(layout: FragmentLayout, total: number, section: number): number {
  const { columns, fragments, pieceBytes } = layout;
  const before = pieceBytes
    .slice(0, Math.max(0, section - columns))
    .reduce((sum, bytes) => sum + bytes, 0);
  const numbers = 4 * Math.min(section, columns);
  return headSize(fragments, sectionsOf(layout)) + total * (numbers + before);
}

/**
 * A range of consecutive fragments in a file. One object represents many fragments, because a task of 64 chunks has 64
 * fragments in each of hundreds of blocks.
 */
export interface Fragments {
  readonly file: string;
  /** The number of the first fragment. */
  readonly first: number;
  /** The first entry of each fragment, and the end of the last fragment. */
  readonly starts: Uint32Array;
  /** The number of entries in the whole file. */
  readonly total: number;
  /** Ranges of the file that were read ahead. */
  readonly ahead: readonly Range[];
}

/** The location of a fragment in its file. */
export interface Fragment extends Pick<Fragments, "file" | "total" | "ahead"> {
  readonly number: number;
  /** The first entry and the number of entries in the fragment. */
  readonly start: number;
  readonly count: number;
  /** The checksums of the entries read so far, by section. */
  readonly read: Map<number, number>;
}

export function fragmentAt({ file, first, starts, total, ahead }: Fragments, i: number): Fragment {
  const { [i]: start, [i + 1]: end } = starts;
  return { file, number: first + i, start, count: end - start, total, ahead, read: new Map() };
}

/** The bytes of a file from position `at`. */
export interface Range {
  readonly at: number;
  readonly bytes: Uint8Array;
}

export interface MergeShape {
  /** The number of consecutive leads in a group. */
  readonly leads: number;
  readonly groups: number;
  /** The number of consecutive blocks whose fragments a task merges, and the number of tasks per group. */
  readonly blocks: number;
  readonly batches: number;
  readonly tasks: number;
}

/**
 * Computes the two levels in which a scatter with very many fragments is partitioned. With one level, each of B blocks
 * has a fragment for each of L leads, which makes B·L fragments of a few bytes for an array of terabytes. With two
 * levels, a block has a fragment for each group of about √L leads, and the stage `merge` divides a batch of about √L of
 * these fragments by lead. Both levels together have about 2·B·√L fragments, of about the same size.
 *
 * `positions` is the number of positions in a block. The chunks of an `apply` task lie in one group.
 */
export function mergeShape(
  leads: number,
  blocks: number,
  positions: number,
  chunksPerTask: number,
): MergeShape {
  const own = Math.max(1, Math.ceil(Math.sqrt(leads) / chunksPerTask)) * chunksPerTask;
  const groups = Math.max(1, Math.ceil(leads / own));
  // The entries of a file are counted in 32 bits, even if all blocks address the same lead.
  const together = Math.max(1, Math.min(groups, Math.floor(MAX_SIZE / Math.max(1, positions))));
  const batches = Math.ceil(blocks / together);
  return { leads: own, groups, blocks: together, batches, tasks: groups * batches };
}

/** The entries of a fragment that belong to a batch. */
export interface Part {
  readonly fragment: Fragment;
  readonly from: number;
  readonly count: number;
}

/** Divides the entries of all fragments into ordered batches of at most `most` entries, usually a single batch. */
export function* partsOf(fragments: Iterable<Fragment>, most: number): Generator<Part[]> {
  let batch: Part[] = [];
  let filled = 0;
  for (const fragment of fragments) {
    for (let from = 0; from < fragment.count;) {
      const count = Math.min(fragment.count - from, most - filled);
      batch.push({ fragment, from, count });
      from += count;
      filled += count;
      if (filled < most) continue;
      yield batch;
      batch = [];
      filled = 0;
    }
  }
  if (batch.length > 0) yield batch;
}
