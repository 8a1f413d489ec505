/**
 * Reads and writes files of fragments, which one stage writes for the tasks of the next: a block's updates by chunk, or
 * a chunk's gathered slices by block. A file is written under a temporary name and synced before it is renamed, so a
 * file with its final name is complete.
 *
 *     magic, number of fragments G, number of entries n      16 bytes, little-endian
 *     starts        uint32[G + 1]    the entries of fragment g are those from starts[g] to starts[g + 1]
 *     columns       uint32[n] each   numbers that belong to the entries
 *     slices        the entries' elements: for each piece of a slice those of all entries
 */

import { malformed } from "../../../core/errors.ts";
import { CHUNKED } from "../../../core/limits.ts";
import { files, type OpenFile } from "../../boxes/files.ts";
import { readFully, withFile, writeFully } from "../../boxes/file.ts";

const MAGIC = 0x4653444e;
const HEADER = 16;

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

/** Location of a fragment in its file. */
export interface Fragment {
  readonly file: string;
  /** The fragment's first entry and its number of entries. */
  readonly start: number;
  readonly count: number;
  /** The number of entries in the whole file. */
  readonly total: number;
  /** Ranges of the file that were read ahead, together with neighboring fragments. */
  readonly ahead: readonly Range[];
}

/**
 * Returns the total size of `count` files with `fragments` fragments each, and `entries` entries and `slices` bytes of
 * slices in total.
 */
export const fragmentBytes = (
  count: number,
  fragments: number,
  entries: number,
  columns: number,
  slices: number,
): number => count * (HEADER + 4 * (fragments + 1)) + 4 * columns * entries + slices;

/** Returns the number of bytes that {@link findFragments} reads from a file. */
export const headBytes = (fragments: number, count: number): number =>
  HEADER + 4 * (fragments <= CHUNKED.fragments ? fragments + 1 : count + 1);

/** Bytes of a file from position `at`. */
interface Range {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** Writes slices of a piece; `entry` is the number of the first slice in the file. */
export type WriteSlices = (bytes: Uint8Array, piece: number, entry: number) => Promise<void>;

/**
 * Writes a file of fragments.
 * @param check called before the file gets its name; throws if the job has lost its folder or its output
 * @param writeSlices receives a function that writes slices, and must call it for all slices
 */
export async function writeFragments(
  file: string,
  layout: FragmentLayout,
  starts: Uint32Array,
  columns: readonly Uint32Array[],
  check: () => Promise<void>,
  writeSlices: (write: WriteSlices) => Promise<void>,
): Promise<void> {
  const total = starts[layout.fragments];
  const temporary = `${file}.${process.pid}-${Math.random().toString(36).slice(2)}.tmp`;
  await withFile(temporary, "wx", async (handle) => {
    const head = Uint32Array.of(MAGIC, layout.fragments, total, layout.columns);
    await writeFully(handle, bytesOfWords(head), 0);
    await writeFully(handle, bytesOfWords(starts), HEADER);
    for (const [i, column] of columns.entries()) {
      await writeFully(handle, bytesOfWords(column), columnStart(layout, total, i));
    }
    await writeSlices((bytes, piece, entry) => {
      const at = sliceStart(layout, total, piece) + entry * layout.pieceBytes[piece];
      return writeFully(handle, bytes, at);
    });
    await handle.datasync();
    await check();
  }).catch(async (error: unknown) => {
    await files.rm(temporary, { force: true });
    throw error;
  });
  await files.rename(temporary, file);
}

/** Finds fragment `number` of an existing file. */
export async function findFragment(
  file: string,
  layout: FragmentLayout,
  number: number,
): Promise<Fragment> {
  const [found] = await findFragments(file, layout, number, 1);
  return found;
}

/**
 * Finds `count` fragments, starting with number `first`.
 * @param most maximum bytes of their first column and slices to read ahead, because opening the file again for each
 *   fragment takes longer than reading a small fragment. Longer fragments are not read ahead.
 */
export async function findFragments(
  file: string,
  layout: FragmentLayout,
  first: number,
  count: number,
  most = 0,
): Promise<Fragment[]> {
  const starts = new Uint32Array(count + 1);
  return withFile(file, "r", async (handle) => {
    const total = await readStarts(handle, file, layout, first, starts);
    const entries = starts[count] - starts[0];
    const widths = [4, ...layout.pieceBytes];
    const bytes = entries * widths.reduce((sum, width) => sum + width, 0);
    const places = widths.map((_, i) =>
      i === 0 ? columnStart(layout, total, 0) : sliceStart(layout, total, i - 1),
    );
    const ahead =
      bytes === 0 || bytes > most
        ? []
        : places.map((place, i) => ({
            at: place + starts[0] * widths[i],
            bytes: new Uint8Array(entries * widths[i]),
          }));
    for (const range of ahead) await readFully(handle, range.bytes, range.at);
    return Array.from({ length: count }, (_, i) => {
      const { [i]: start, [i + 1]: end } = starts;
      return { file, start, count: end - start, total, ahead };
    });
  });
}

/** Reads the starts of fragments, beginning with number `first`. Returns the number of entries in the file. */
async function readStarts(
  handle: OpenFile,
  file: string,
  layout: FragmentLayout,
  first: number,
  starts: Uint32Array,
): Promise<number> {
  const { fragments } = layout;
  const count = starts.length - 1;
  const isSmall = fragments <= CHUNKED.fragments;
  const words = new Uint32Array(HEADER / 4 + (isSmall ? fragments + 1 : 0));
  await readFully(handle, bytesOfWords(words), 0);
  if (isSmall) starts.set(words.subarray(HEADER / 4 + first, HEADER / 4 + first + count + 1));
  else await readFully(handle, bytesOfWords(starts), HEADER + 4 * first);
  const { size } = await handle.stat();
  const [magic, all, total, columns] = words;
  const isRight =
    magic === MAGIC &&
    all === fragments &&
    columns === layout.columns &&
    (first > 0 || starts[0] === 0) &&
    (first + count < fragments || starts[count] === total) &&
    starts.every((start, i) => {
      const end = i === count ? total : starts[i + 1];
      return start <= end && (i === count || end - start <= layout.most);
    }) &&
    size === sliceStart(layout, total, layout.pieceBytes.length);
  if (!isRight)
    throw malformed(`${file} must be a file that a task of this job wrote, but is not`, { file });
  return total;
}

/** Fills `into` with entries of a column, starting with entry `from` of the fragment. */
export async function readColumn(
  fragment: Fragment,
  layout: FragmentLayout,
  column: number,
  from: number,
  into: Uint32Array,
): Promise<void> {
  const at = columnStart(layout, fragment.total, column) + 4 * (fragment.start + from);
  await readRange(fragment, at, bytesOfWords(into));
}

/** Fills `into` with slices of a piece, starting with entry `from` of the fragment. */
export async function readSlices(
  fragment: Fragment,
  layout: FragmentLayout,
  piece: number,
  from: number,
  into: Uint8Array,
): Promise<void> {
  const { start, total } = fragment;
  const at = sliceStart(layout, total, piece) + (start + from) * layout.pieceBytes[piece];
  await readRange(fragment, at, into);
}

async function readRange({ file, ahead }: Fragment, at: number, into: Uint8Array): Promise<void> {
  const known = ahead.find(
    (range) => range.at <= at && at + into.length <= range.at + range.bytes.length,
  );
  if (known === undefined) {
    return withFile(file, "r", (handle) => readFully(handle, into, at));
  }
  into.set(known.bytes.subarray(at - known.at, at - known.at + into.length));
}

/** Returns the offset of a column; the number after the last column gives the offset of the slices. */
const columnStart = ({ fragments }: FragmentLayout, total: number, column: number): number =>
  HEADER + 4 * (fragments + 1 + column * total);

/** Returns the offset of a piece's slices; the number after the last piece gives the end of the file. */
function sliceStart(layout: FragmentLayout, total: number, piece: number): number {
  const before = layout.pieceBytes.slice(0, piece).reduce((sum, bytes) => sum + bytes, 0);
  return columnStart(layout, total, layout.columns) + total * before;
}

const bytesOfWords = ({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** Runs `action` for all items and their indices, group after group, and returns the results. */
export async function inGroups<T, R>(
  items: readonly T[],
  action: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const { reads } = CHUNKED;
  const results: R[] = [];
  for (let i = 0; i < items.length; i += reads) {
    const group = await Promise.allSettled(
      items.slice(i, i + reads).map((item, j) => action(item, i + j)),
    );
    // After an error, actions in progress may still write into memory that the next task receives, so the error is
    // thrown only when the whole group has ended.
    for (const one of group) {
      if (one.status === "rejected") throw one.reason;
      results.push(one.value);
    }
  }
  return results;
}
