/**
 * Reads and writes fragment files, which one stage writes for the tasks of the next stage. A fragment contains a
 * block's updates for one chunk, or a chunk's gathered slices for one block. Each file is synced under a temporary name
 * before it is renamed, so a file with its final name is complete.
 *
 *     magic, number of fragments G, number of entries n    16 bytes, little-endian
 *     starts        uint32[G + 1]    the entries of fragment g are those from starts[g] to starts[g + 1]
 *     checksums     uint32[G] each   crc32c of each fragment's part of a section; the sections follow in this order
 *     columns       uint32[n] each   numbers that belong to the entries
 *     slices        the elements of the entries: for each piece of a slice, those of all entries
 *
 * The checksum of a fragment is compared when its last entry is read. A file with a wrong checksum is renamed, so that
 * its task runs again.
 */

import * as path from "node:path";
import { isTensorError, malformed } from "../../../core/errors.ts";
import { CHUNKED } from "../../../core/limits.ts";
import { files, type OpenFile } from "../../boxes/files.ts";
import { isCode, isThere, readFully, withFile, writeFully } from "../../boxes/file.ts";
import { makeCrc32c } from "../../zarr/codecs/crc32c.ts";
import {
  fragmentAt,
  HEADER,
  headSize,
  isSmall,
  MAGIC,
  sectionsOf,
  sectionStart,
  sumStart,
  widthOf,
  type Fragment,
  type FragmentLayout,
  type Fragments,
  type Range,
} from "./fragment-layout.ts";
import { jobFolderOf } from "./task-files.ts";

const crc32c = /* #__PURE__ */ makeCrc32c();

/** Writes entries of a section: a column, or a piece of slices. The first has the number `entry` in the file. */
export type WriteSection = (bytes: Uint8Array, section: number, entry: number) => Promise<void>;

/**
 * Writes a fragment file. `check` is called before the file is renamed, and throws if the job has lost its folder or
 * its output. `writeSections` receives a function for writing the sections after `columns`. Each section must be
 * written completely, one after the other, and within a fragment in order.
 */
export async function writeFragments(
  file: string,
  layout: FragmentLayout,
  starts: Uint32Array,
  columns: readonly Uint32Array[],
  check: () => Promise<void>,
  writeSections: (write: WriteSection) => Promise<void>,
): Promise<void> {
  const total = starts[layout.fragments];
  const temporary = `${file}.${process.pid}-${Math.random().toString(36).slice(2)}.tmp`;
  await withFile(temporary, "wx", async (handle) => {
    const head = Uint32Array.of(MAGIC, layout.fragments, total, layout.columns);
    await writeFully(handle, bytesOfWords(head), 0);
    await writeFully(handle, bytesOfWords(starts), HEADER);
    const sums = new Checksums(handle, layout, starts);
    const write: WriteSection = async (bytes, section, entry) => {
      if (bytes.length === 0) return;
      const width = widthOf(layout, section);
      await sums.add(section, width, entry, bytes);
      await writeFully(handle, bytes, sectionStart(layout, total, section) + entry * width);
    };
    for (const [section, column] of columns.entries())
      await write(bytesOfWords(column), section, 0);
    await writeSections(write);
    await sums.end();
    await handle.datasync();
    await check();
  }).catch(async (error: unknown) => {
    await files.rm(temporary, { force: true });
    throw error;
  });
  await files.rename(temporary, file);
}

/** Computes the checksums of fragments, one section after the other. */
class Checksums {
  readonly #handle: OpenFile;
  readonly #layout: FragmentLayout;
  readonly #starts: Uint32Array;
  readonly #sums: Uint32Array;
  #section = 0;

  constructor(handle: OpenFile, layout: FragmentLayout, starts: Uint32Array) {
    this.#handle = handle;
    this.#layout = layout;
    this.#starts = starts;
    this.#sums = new Uint32Array(layout.fragments);
  }

  /** Adds entries of `width` bytes to the current section. */
  async add(section: number, width: number, entry: number, bytes: Uint8Array): Promise<void> {
    while (section > this.#section) await this.#next();
    const starts = this.#starts;
    const end = entry + bytes.length / width;
    for (let g = fragmentWith(starts, entry), from = entry; from < end; g++) {
      const to = Math.min(end, starts[g + 1]);
      const part = bytes.subarray((from - entry) * width, (to - entry) * width);
      this.#sums[g] = crc32c(part, this.#sums[g]);
      from = to;
    }
  }

  async end(): Promise<void> {
    while (this.#section < sectionsOf(this.#layout)) await this.#next();
  }

  async #next(): Promise<void> {
    await writeFully(
      this.#handle,
      bytesOfWords(this.#sums),
      sumStart(this.#layout, this.#section, 0),
    );
    this.#sums.fill(0);
    this.#section++;
  }
}

/** Returns the last fragment that begins at or before an entry. */
function fragmentWith(starts: Uint32Array, entry: number): number {
  let low = 0;
  for (let high = starts.length - 1; high - low > 1;) {
    const middle = (low + high) >> 1;
    if (starts[middle] <= entry) low = middle;
    else high = middle;
  }
  return low;
}

export async function findFragment(
  file: string,
  layout: FragmentLayout,
  number: number,
): Promise<Fragment> {
  return fragmentAt(await findFragments(file, layout, number, 1), 0);
}

/**
 * Finds `count` fragments, starting with number `first`. `most` is the maximum number of bytes to read ahead. Short
 * fragments are read ahead, because opening the file for each fragment would take longer than reading it.
 */
export async function findFragments(
  file: string,
  layout: FragmentLayout,
  first: number,
  count: number,
  most = 0,
): Promise<Fragments> {
  const starts = new Uint32Array(count + 1);
  return readStageFile(file, async (handle) => {
    const { total, head } = await readStarts(handle, file, layout, first, starts);
    const entries = starts[count] - starts[0];
    const sections = [0, ...layout.pieceBytes.map((_, piece) => layout.columns + piece)];
    const widths = [4, ...layout.pieceBytes];
    const bytes = entries * widths.reduce((sum, width) => sum + width, 0);
    const ahead: Range[] = head === null ? [] : [{ at: 0, bytes: head }];
    ahead.push(await checkEmpty(handle, file, layout, first, starts, ahead));
    const known = ahead.length;
    if (bytes > 0 && bytes <= most) {
      for (const [i, section] of sections.entries()) {
        const at = sectionStart(layout, total, section) + starts[0] * widths[i];
        ahead.push({ at, bytes: new Uint8Array(entries * widths[i]) });
        if (i === 0 || head !== null || section >= sectionsOf(layout)) continue;
        ahead.push({ at: sumStart(layout, section, first), bytes: new Uint8Array(4 * count) });
      }
    }
    for (const range of ahead.slice(known)) await readFully(handle, range.bytes, range.at);
    return { file, first, starts, total, ahead };
  });
}

/**
 * Reads the start positions of fragments, beginning with number `first`. Returns the number of entries, and the whole
 * head if it is small.
 */
async function readStarts(
  handle: OpenFile,
  file: string,
  layout: FragmentLayout,
  first: number,
  starts: Uint32Array,
): Promise<{ total: number; head: Uint8Array | null }> {
  const { fragments } = layout;
  const count = starts.length - 1;
  const sections = sectionsOf(layout);
  const isWhole = isSmall(fragments, sections);
  const words = new Uint32Array((isWhole ? headSize(fragments, sections) : HEADER) / 4);
  await readFully(handle, bytesOfWords(words), 0);
  if (isWhole) starts.set(words.subarray(HEADER / 4 + first, HEADER / 4 + first + count + 1));
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
    size === sectionStart(layout, total, layout.columns + layout.pieceBytes.length);
  if (!isRight)
    throw malformed(`${file} must be a file that a task of this job wrote, but is not`, { file });
  return { total, head: isWhole ? bytesOfWords(words) : null };
}

/** Checks the checksums of empty fragments, which are never read. Returns the checksums of the first section. */
async function checkEmpty(
  handle: OpenFile,
  file: string,
  layout: FragmentLayout,
  first: number,
  starts: Uint32Array,
  ahead: readonly Range[],
): Promise<Range> {
  const sums = new Uint32Array(sectionsOf(layout) === 0 ? 0 : starts.length - 1);
  const range = { at: sumStart(layout, 0, first), bytes: bytesOfWords(sums) };
  if (!copyAhead(ahead, range)) await readFully(handle, range.bytes, range.at);
  if (!sums.some((sum, i) => sum !== 0 && starts[i] === starts[i + 1])) return range;
  throw malformed(`${file} has a fragment without the entries of its checksum`, { file });
}

/**
 * Fills `to` with entries of consecutive fragments, starting at entry `from` of the first fragment. `section` is the
 * number of a column or, after the columns, of a piece. Each checksum is compared at the end of a fragment, so callers
 * must read entries in order.
 */
export async function readEntries(
  fragments: readonly Fragment[],
  layout: FragmentLayout,
  section: number,
  from: number,
  to: Uint8Array | Uint32Array,
): Promise<void> {
  if (to.length === 0) return;
  const into = bytesOfWords(to);
  const width = widthOf(layout, section);
  const [{ file, number, start, total, ahead }] = fragments;
  const isLast = fragments.length > 1 || into.length === (fragments[0].count - from) * width;
  const sums = new Uint32Array(isLast ? fragments.length : 0);
  const ranges: Range[] = [
    { at: sectionStart(layout, total, section) + (start + from) * width, bytes: into },
    { at: sumStart(layout, section, number), bytes: bytesOfWords(sums) },
  ];
  const missing = ranges.filter((one) => one.bytes.length > 0 && !copyAhead(ahead, one));
  if (missing.length > 0) {
    await readStageFile(file, async (handle) => {
      for (const { at, bytes } of missing) await readFully(handle, bytes, at);
    });
  }
  let done = 0;
  for (const [i, { count, read }] of fragments.entries()) {
    const rest = isLast ? (count - from) * width : into.length;
    const part = into.subarray(done, (done += rest));
    const sum = crc32c(part, from === 0 ? 0 : read.get(section));
    read.set(section, sum);
    if (isLast && sum !== sums[i]) throw await setAside(file);
  }
}

/** Fills a range with bytes that were read ahead, or returns false for a range that was not read. */
function copyAhead(ahead: readonly Range[], { at, bytes }: Range): boolean {
  const end = at + bytes.length;
  const known = ahead.find((one) => one.at <= at && end <= one.at + one.bytes.length);
  if (known !== undefined) bytes.set(known.bytes.subarray(at - known.at, end - known.at));
  return known !== undefined;
}

/** Fills `into` with a column of all fragments in a file. */
export async function readWholeColumn(
  file: string,
  layout: FragmentLayout,
  column: number,
  into: Uint32Array,
): Promise<void> {
  const starts = new Uint32Array(layout.fragments + 1);
  const sums = new Uint32Array(layout.fragments);
  await readStageFile(file, async (handle) => {
    const { total } = await readStarts(handle, file, layout, 0, starts);
    await readFully(handle, bytesOfWords(sums), sumStart(layout, column, 0));
    await readFully(handle, bytesOfWords(into), sectionStart(layout, total, column));
  });
  const isRight = sums.every(
    (sum, g) => crc32c(bytesOfWords(into.subarray(starts[g], starts[g + 1]))) === sum,
  );
  if (!isRight) throw await setAside(file);
}

/** Reads from a file of a stage. Throws a `malformed-file` error for a missing, damaged or truncated file. */
export async function readStageFile<T>(
  file: string,
  read: (handle: OpenFile) => Promise<T>,
): Promise<T> {
  try {
    return await withFile(file, "r", read);
  } catch (error) {
    // The job has ended if its folder is missing.
    const isGone = isCode(error, "ENOENT") && (await isThere(path.dirname(file)));
    if (isGone) throw damaged(file, "was removed", error);
    throw isTensorError(error, "malformed-file") ? await setAside(file, error) : error;
  }
}

/** Renames a damaged file, so that its task runs again, and returns the error to throw. */
async function setAside(file: string, cause?: unknown): Promise<Error> {
  await files.rename(file, `${file}.damaged`).catch(() => {});
  return damaged(file, "was changed or cut short", cause);
}

const damaged = (file: string, what: string, cause: unknown): Error =>
  malformed(
    `${file} ${what} after a task wrote it; write it again ` +
      `(ndscatter job resume ${jobFolderOf(file)})`,
    { file },
    cause === undefined ? {} : { cause },
  );

const bytesOfWords = ({ buffer, byteOffset, byteLength }: Uint32Array | Uint8Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** Runs `action` for all items and their indices, one group at a time, and returns the results. */
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
    // An error is thrown after the whole group has ended, because running actions may still write into memory that the
    // next task receives.
    for (const one of group) {
      if (one.status === "rejected") throw one.reason;
      results.push(one.value);
    }
  }
  return results;
}
