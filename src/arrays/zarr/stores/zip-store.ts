/**
 * Reads Zarr and NPY arrays in a ZIP archive, such as an .npz file. Members are stored or deflated. The central directory
 * is read once. Archives are never written.
 */

import { newBytes } from "../chunks/buffers.ts";
import { malformed, TensorError, unsupported } from "../../../core/errors.ts";
import { printCount, printValue } from "../../../core/foreign.ts";
import { ZARR } from "../../../core/limits.ts";
import { reasonOf } from "../codecs/byte-codec.ts";
import { makeCrc32c } from "../codecs/crc32c.ts";
import { makeDeflateCodec } from "../codecs/gzip.ts";
import { memorySource, ReadOnlyStore, type ArrayStore, type Source } from "./store.ts";
import { broken, LOCAL, viewOf, type Archive, type Member } from "./zip-directory.ts";

/** The maximum size of a member that is decompressed in memory, in bytes. */
const MOST_INFLATED = 2 ** 30;

/** The flags of encrypted members. */
const ENCRYPTED = 0x2041;

const DEFLATE = makeDeflateCodec("raw", 0);

/** The members of an archive whose names begin with a prefix. */
export class ZipStore extends ReadOnlyStore<Member> implements ArrayStore {
  readonly concurrency: number;
  readonly #archive: Archive;
  #crc32: ((bytes: Uint8Array) => number) | null = null;

  constructor(archive: Archive, folder: string) {
    super(archive.file, folder, archive.members);
    this.#archive = archive;
    this.concurrency = archive.concurrency;
  }

  get members(): readonly string[] {
    return [...this.#archive.members.keys()];
  }

  async open(key: string): Promise<Source | null> {
    const member = this.find(key);
    if (member === undefined) return null;
    const { file, read, ends } = this.#archive;
    const { name, method, size, stored, start } = member;
    this.#checkReadable(member);
    const end = ends.get(start) ?? start;
    // A short member is read with its header in one request.
    const isShort = end - start <= ZARR.member;
    const head = await read(start, isShort ? end - start : member.head);
    const from = this.#dataIn(head, member, end - start);
    if (method === 0 && !isShort) {
      const fill = async (offset: number, into: Uint8Array): Promise<void> => {
        into.set(await read(start + from + offset, into.length));
        if (into.length === size) this.#check(into, member);
      };
      return { size, bytes: null, read: fill, async close() {} };
    }
    const bytes = isShort ? head.subarray(from, from + stored) : await read(start + from, stored);
    if (method === 0) return memorySource(this.#check(bytes, member));
    const decoded = { size, isExact: true, allocate: newBytes };
    const whole = await DEFLATE.decode(bytes, decoded).catch((cause: unknown) => {
      const sentence = `the member ${name} of ${file} cannot be decompressed: ${reasonOf(cause)}`;
      throw malformed(sentence, { file }, { cause });
    });
    return memorySource(this.#check(whole, member));
  }

  /** Throws an error before any memory is allocated for a member. */
  #checkReadable({ name, flags, method, size, stored }: Member): void {
    const { file } = this.#archive;
    const where = `the member ${name} of ${file}`;
    if ((flags & ENCRYPTED) !== 0) throw unsupported(`${where} is encrypted; decrypt it`, { file });
    if (method !== 0 && method !== 8) {
      const sentence = `${where} is compressed with method ${method}; only stored and deflated members can be read`;
      const fields = { key: "method", file, got: method, allowed: [0, 8] };
      throw new TensorError("unsupported-codec", sentence, fields);
    }
    if (method === 0 ? size !== stored : size > DEFLATE.ratio * stored) {
      const sentence = `${where} declares ${printCount(size, "byte")}, which its ${stored} stored bytes cannot contain`;
      throw malformed(sentence, { file, got: size });
    }
    if (method === 0 || size <= MOST_INFLATED) return;
    const sentence = `${where} has ${size} bytes, more than can be decompressed in memory (${MOST_INFLATED}); store it without compression`;
    throw unsupported(sentence, { file, got: size, limit: MOST_INFLATED });
  }

  /** Returns the position of a member's data after its local header, which must agree with the central directory. */
  #dataIn(head: Uint8Array, { name, method, stored }: Member, most: number): number {
    const { file } = this.#archive;
    const view = viewOf(head);
    const [length, extra] = [view.getUint16(26, true), view.getUint16(28, true)];
    const own = new TextDecoder().decode(head.subarray(LOCAL.size, LOCAL.size + length));
    const isSame =
      view.getUint32(0, true) === LOCAL.signature &&
      view.getUint16(8, true) === method &&
      own === name;
    const from = LOCAL.size + length + extra;
    if (isSame && from + stored <= most) return from;
    throw broken(file, `the header of its member ${printValue(name)} differs from its directory`);
  }

  /** Throws a `malformed-file` error if the bytes of a member do not have its size and checksum. */
  #check(bytes: Uint8Array, { name, crc, size }: Member): Uint8Array {
    this.#crc32 ??= makeCrc32c("crc32");
    if (bytes.length === size && this.#crc32(bytes) === crc) return bytes;
    const { file } = this.#archive;
    throw malformed(`the member ${name} of ${file} does not have its size and checksum`, { file });
  }

  async stateOf(key: string): Promise<string> {
    return this.find(key) === undefined ? "" : this.#archive.stateOf();
  }

  async sizeOf(key: string): Promise<number | null> {
    return this.find(key)?.size ?? null;
  }
}

const isNpy = (name: string): boolean => /\.npy$/i.test(name);

/** The metadata files of arrays and groups. */
const METADATA = ["zarr.json", ".zarray", ".zgroup"];

/**
 * Finds what a name means in an archive: an NPY file, or a folder for Zarr. `x.npz/ids` is the member `ids.npy`. Without
 * a name, an archive is its only NPY file or a Zarr hierarchy, possibly in a folder.
 */
export function placeInArchive(
  archive: Archive,
  name: string,
): { readonly store: ZipStore; readonly file: string | null } {
  const { members } = archive;
  const fileAt = (file: string) => ({ store: new ZipStore(archive, ""), file });
  const folderAt = (folder: string) => ({ store: new ZipStore(archive, folder), file: null });
  const hasMetadata = (folder: string): boolean =>
    METADATA.some((file) => members.has(folder === "" ? file : `${folder}/${file}`));
  // Some programs add a folder with their own files.
  const tops = new Set([...members.keys()].map((one) => one.split("/", 1)[0]));
  tops.delete("__MACOSX");
  for (const top of tops.size === 1 ? ["", ...tops] : [""]) {
    const place = [top, name].filter(Boolean).join("/");
    if (hasMetadata(place)) return folderAt(place);
    const files = [place, `${place}.npy`].filter((one) => isNpy(one) && members.has(one));
    if (files.length > 0) return fileAt(files[0]);
  }
  const files = [...members.keys()].filter(isNpy);
  return name === "" && files.length === 1 ? fileAt(files[0]) : folderAt(name);
}
