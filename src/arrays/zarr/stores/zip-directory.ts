/**
 * Reads the central directory of a ZIP archive (APPNOTE.TXT 6.3.10 of PKWARE). The directory is checked as a whole,
 * because sizes, counts and positions in an archive are not trusted.
 */

import { malformed, type TensorError, unsupported } from "../../../core/errors.ts";
import { printCount, printValue } from "../../../core/foreign.ts";
import { within } from "../../boxes/urls.ts";
import { newBytes } from "../chunks/buffers.ts";
import type { ArrayStore } from "./store.ts";

/** A member, as the central directory describes it. */
export interface Member {
  readonly name: string;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  /** The size in the archive and the size after decompression, in bytes. */
  readonly stored: number;
  readonly size: number;
  /** The position of the member's local header, and the size of the header without its extra fields. */
  readonly start: number;
  readonly head: number;
}

/** The signatures and the sizes of the fixed parts of records. */
const END = { signature: 0x06054b50, size: 22 };
const LOCATOR = { signature: 0x07064b50, size: 20 };
const END64 = { signature: 0x06064b50, size: 56 };
const ENTRY = { signature: 0x02014b50, size: 46 };
export const LOCAL = { signature: 0x04034b50, size: 30 };

const MOST_COMMENT = 0xffff;

/** The maximum size of the central directory, in bytes, which takes about 100 bytes per member. */
const MOST_DIRECTORY = 2 ** 27;

/** The value of fields whose number is in the ZIP64 field. */
const IN_ZIP64 = 0xffffffff;

export const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

/** An archive, and the positions at which its members end at the latest. */
export interface Archive {
  readonly file: string;
  readonly members: ReadonlyMap<string, Member>;
  readonly ends: ReadonlyMap<number, number>;
  readonly concurrency: number;
  read(offset: number, length: number): Promise<Uint8Array>;
  stateOf(): Promise<string>;
}

/**
 * Opens the archive under a key of another store; returns null if the object does not exist or is empty. Throws
 * `malformed-file` or `unsupported-file` if the object is not an archive that can be read.
 */
export async function openArchive(parent: ArrayStore, key: string): Promise<Archive | null> {
  const source = await parent.open(key);
  const size = source?.size ?? 0;
  if (source === null || size === 0) {
    await source?.close();
    return null;
  }
  const file = within(parent.path, key);
  const { state } = source;
  const read = async (offset: number, length: number): Promise<Uint8Array> => {
    // A file is opened for each read, because an array does not have to be closed.
    const now = state === undefined ? source : await parent.open(key);
    try {
      if (now === null || now.state !== state)
        throw malformed(`${file} changed while it was read`, { file });
      const bytes = newBytes(length);
      await now.read(offset, bytes);
      return bytes;
    } finally {
      if (now !== source) await now?.close();
    }
  };
  if (state !== undefined) await source.close();
  const { concurrency } = parent;
  const stateOf = (): Promise<string> => parent.stateOf(key);
  return { file, concurrency, stateOf, read, ...(await readDirectory(file, size, read)) };
}

type Read = Archive["read"];

async function readDirectory(
  file: string,
  size: number,
  read: Read,
): Promise<Pick<Archive, "members" | "ends">> {
  const { start, length, count } = await findDirectory(file, size, read);
  if (length > MOST_DIRECTORY) {
    const sentence = `the directory of ${file} has ${length} bytes, more than the limit of ${MOST_DIRECTORY}`;
    throw unsupported(sentence, { file, got: length, limit: MOST_DIRECTORY });
  }
  const list = parseMembers(file, await read(start, length), count);
  const members = new Map<string, Member>();
  const ends = new Map<number, number>();
  let end = start;
  // No member may extend into the next one, so a small archive cannot contain the same bytes many times.
  for (const one of list.toSorted((a, b) => b.start - a.start)) {
    if (one.start + one.head + one.stored > end) {
      throw broken(file, `its member ${printValue(one.name)} extends into the next one`);
    }
    ends.set(one.start, end);
    end = one.start;
  }
  // As in Python, the last of several members with the same name counts: zarr-python changes metadata by appending.
  for (const one of list) if (!one.name.endsWith("/")) members.set(one.name, one);
  return { members, ends };
}

/** Returns the position and length of the central directory, in bytes, and its number of members. */
async function findDirectory(
  file: string,
  size: number,
  read: Read,
): Promise<{ readonly start: number; readonly length: number; readonly count: number }> {
  const from = Math.max(0, size - END.size - MOST_COMMENT - LOCATOR.size);
  const tail = await read(from, size - from);
  const view = viewOf(tail);
  let at = tail.length - END.size;
  // The record is followed by a comment up to the end of the file.
  const isEnd = (): boolean =>
    view.getUint32(at, true) === END.signature &&
    at + END.size + view.getUint16(at + 20, true) === tail.length;
  while (at >= 0 && !isEnd()) at--;
  if (at < 0) throw broken(file, "it has no end record, so it may be cut short");
  let [disk, count] = [view.getUint32(at + 4, true), view.getUint16(at + 10, true)];
  let [length, start] = [view.getUint32(at + 12, true), view.getUint32(at + 16, true)];
  let end = from + at;
  const locator = at - LOCATOR.size;
  if (locator >= 0 && view.getUint32(locator, true) === LOCATOR.signature) {
    end = numberAt(view, locator + 8);
    if (end > size - END64.size) throw broken(file, "its ZIP64 record lies outside the file");
    const record = viewOf(await read(end, END64.size));
    if (record.getUint32(0, true) !== END64.signature) throw broken(file, "it has no ZIP64 record");
    disk = record.getUint32(16, true) || record.getUint32(20, true);
    [count, length, start] = [32, 40, 48].map((field) => numberAt(record, field));
  }
  if (disk !== 0) throw unsupported(`${file} is a part of an archive; join the parts`, { file });
  if (start + length !== end) throw broken(file, "its directory does not end at its end record");
  return { start, length, count };
}

/** Returns a number of 64 bits, or infinity for a number that is not exact. */
function numberAt(view: DataView, at: number): number {
  const number = Number(view.getBigUint64(at, true));
  return Number.isSafeInteger(number) ? number : Infinity;
}

function parseMembers(file: string, bytes: Uint8Array, count: number): Member[] {
  const view = viewOf(bytes);
  const members: Member[] = [];
  let at = 0;
  while (at < bytes.length) {
    const isEntry = at + ENTRY.size <= bytes.length && view.getUint32(at, true) === ENTRY.signature;
    const lengths = isEntry
      ? [28, 30, 32].map((field) => view.getUint16(at + field, true))
      : [0, 0, 0];
    const name = at + ENTRY.size;
    const next = name + lengths[0] + lengths[1] + lengths[2];
    if (!isEntry || next > bytes.length) throw broken(file, "its directory is damaged");
    const extra = bytes.subarray(name + lengths[0], name + lengths[0] + lengths[1]);
    members.push({
      // Names that are not UTF-8 differ from every key of an array.
      name: checkName(file, new TextDecoder().decode(bytes.subarray(name, name + lengths[0]))),
      flags: view.getUint16(at + 8, true),
      method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true),
      head: LOCAL.size + lengths[0],
      ...sizesOf(file, view, at, viewOf(extra)),
    });
    at = next;
  }
  if (members.length === count) return members;
  const found = printCount(members.length, "member");
  throw broken(file, `its directory has ${found}, but its end record says ${count}`);
}

/** Throws a `malformed-file` error for a name that would lead out of a folder. */
function checkName(file: string, name: string): string {
  const isPlain = name.split("/").every((part, at) => (part !== "" || at > 0) && part !== "..");
  if (isPlain && !/[\\\0]|^[a-z]:/i.test(name)) return name;
  throw broken(file, `its member ${printValue(name)} must have a relative path without ".."`);
}

/** Returns the sizes and the position of a member, which are in the ZIP64 field if they have more than 32 bits. */
function sizesOf(
  file: string,
  view: DataView,
  at: number,
  extra: DataView,
): Pick<Member, "stored" | "size" | "start"> {
  let field = 0;
  const kindAt = (place: number): number => extra.getUint16(place, true);
  while (field + 4 <= extra.byteLength && kindAt(field) !== 1) field += 4 + kindAt(field + 2);
  const end = field + 4 <= extra.byteLength ? field + 4 + kindAt(field + 2) : 0;
  field += 4;
  const [size, stored, start] = [24, 20, 42].map((place) => {
    const number = view.getUint32(at + place, true);
    if (number !== IN_ZIP64) return number;
    field += 8;
    if (field > Math.min(end, extra.byteLength)) throw broken(file, "its ZIP64 fields are damaged");
    return numberAt(extra, field - 8);
  });
  return { size, stored, start };
}

export const broken = (file: string, what: string): TensorError =>
  malformed(`${file} is not a valid ZIP archive: ${what}`, { file });
