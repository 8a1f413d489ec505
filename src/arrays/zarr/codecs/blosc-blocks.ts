/** Decodes and encodes the blocks of chunks in the format of C-Blosc 1: the work of `blosc.ts`. */

import { printCount } from "../../../core/foreign.ts";
import {
  broken,
  checkDeclared,
  OtherKind,
  type ByteCodec,
  type Decoded,
  type Span,
} from "./byte-codec.ts";
import {
  COMPRESSORS,
  HEADER,
  refusalOf,
  SHUFFLES,
  streamCodec,
  type BloscSettings,
} from "./blosc.ts";
import { decodeBloscLz, decodeLz4, decodeSnappy, encodeLz4 } from "./blosc-streams.ts";
import { newBytes } from "../chunks/buffers.ts";
import { moveBack, moveBits, moveBytes } from "./shuffle.ts";
import { ZARR } from "../../../core/limits.ts";

// The codec lz4 imports these from here, so that bundlers put both files into one, which loads in one request.
export { decodeLz4, encodeLz4 };

/** The flag bits in the header. */
const SHUFFLED = 1;
const COPIED = 2;
const BIT_SHUFFLED = 4;
const UNSPLIT = 16;

/**
 * The limits for split blocks, in bytes. A block is split into rows if its elements have at most `MOST_ROWS` bytes and
 * its rows at least `LEAST_ROW` bytes.
 */
const MOST_ROWS = 16;
const LEAST_ROW = 128;

interface Header {
  readonly flags: number;
  readonly typesize: number;
  readonly size: number;
  readonly blocksize: number;
}

function readHeader(bytes: Uint8Array, decoded: Decoded): Header {
  if (bytes.length < HEADER) throw broken("it is truncated");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const [promised, blocksize, length] = [4, 8, 12].map((at) => view.getUint32(at, true));
  const [version, , flags, typesize] = bytes;
  if (version !== 2)
    throw new OtherKind(
      `it has version ${version} of blosc's format, but only version 2 is supported`,
    );
  checkDeclared(promised, decoded);
  if (length !== bytes.length)
    throw broken(`it has ${printCount(bytes.length, "byte")}, but its header declares ${length}`);
  if (promised > 0 && (blocksize === 0 || blocksize > promised || typesize === 0)) {
    throw broken("its blocks or elements have no size");
  }
  return { flags, typesize, size: promised, blocksize };
}

export async function decode(bytes: Uint8Array, decoded: Decoded): Promise<Uint8Array> {
  const header = readHeader(bytes, decoded);
  const { flags, size, blocksize } = header;
  if ((flags & COPIED) !== 0) {
    if (bytes.length !== HEADER + size)
      throw broken(`it has ${printCount(bytes.length, "byte")} for ${size}`);
    return bytes.subarray(HEADER);
  }
  const blocks = size === 0 ? 0 : Math.ceil(size / blocksize);
  const first = HEADER + 4 * blocks;
  // Every block has an offset and a size in the input, so the input length bounds the allocation.
  if (first + 4 * blocks > bytes.length) throw broken("it is truncated");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const into = decoded.allocate(size);
  const scratch = new Uint8Array(blocksize);
  for (const [block, needed] of blocksOf(decoded.needed ?? [[0, size]], blocksize)) {
    const target = into.subarray(block * blocksize, (block + 1) * blocksize);
    const start = view.getUint32(HEADER + 4 * block, true);
    if (start < first || start >= bytes.length)
      throw broken("one of its blocks lies outside the chunk");
    const buffer = scratch.subarray(0, target.length);
    await decodeBlock(bytes.subarray(start), target, buffer, header, needed);
  }
  return into;
}

/** Returns each block with needed bytes, and these bytes as spans of the block. */
function* blocksOf(
  needed: readonly Span[],
  size: number,
): Generator<readonly [block: number, parts: readonly Span[]]> {
  let [block, parts]: [number, Span[]] = [0, []];
  for (const [start, end] of needed) {
    for (let at = start; at < end;) {
      const here = Math.floor(at / size);
      if (here !== block && parts.length > 0) {
        yield [block, parts];
        parts = [];
      }
      block = here;
      const until = Math.min(end, (block + 1) * size);
      parts.push([at - block * size, until - block * size]);
      at = until;
    }
  }
  if (parts.length > 0) yield [block, parts];
}

/** Decodes a block, in which a size in bytes precedes each row or the whole block. */
async function decodeBlock(
  from: Uint8Array,
  into: Uint8Array,
  scratch: Uint8Array,
  { flags, typesize, blocksize }: Header,
  needed: readonly Span[],
): Promise<void> {
  const isShuffled = (flags & SHUFFLED) !== 0 && typesize > 1;
  const areBits = !isShuffled && (flags & BIT_SHUFFLED) !== 0 && into.length >= typesize;
  const target = isShuffled || areBits ? scratch : into;
  const isSplit =
    (flags & UNSPLIT) === 0 &&
    into.length === blocksize &&
    typesize <= MOST_ROWS &&
    Math.floor(blocksize / typesize) >= LEAST_ROW;
  const rows = isSplit ? typesize : 1;
  const row = Math.floor(into.length / rows);
  if (row * rows !== into.length) throw broken("one of its blocks ends within an element");
  const view = new DataView(from.buffer, from.byteOffset, from.length);
  for (let r = 0, at = 0; r < rows; r++) {
    if (at + 4 > from.length) throw broken("one of its blocks is truncated");
    const length = view.getUint32(at, true);
    at += 4;
    if (length > from.length - at) throw broken("one of its blocks is truncated");
    const stream = from.subarray(at, at + length);
    await decodeStream(stream, target.subarray(r * row, (r + 1) * row), flags >> 5);
    at += length;
  }
  if (isShuffled) moveBack(target, into, typesize, needed);
  if (areBits) moveBits(target, into, typesize, true);
}

async function decodeStream(from: Uint8Array, into: Uint8Array, format: number): Promise<void> {
  const { length: size } = into;
  // If compression does not shorten the data, the data is stored unchanged.
  if (from.length === size) return into.set(from);
  if (format === COMPRESSORS.lz4) return decodeLz4(from, into);
  if (format === COMPRESSORS.snappy) return decodeSnappy(from, into);
  if (format === COMPRESSORS.blosclz) return decodeBloscLz(from, into);
  const codec = streamCodec(format, 0) as ByteCodec;
  const allocate = (needed: number): Uint8Array => (needed === size ? into : newBytes(needed));
  const decoded = await codec.decode(from, { size, isExact: true, allocate });
  if (decoded.length !== size) {
    const got = printCount(decoded.length, "byte");
    throw broken(`one of its streams decodes to ${got}, not ${size}`);
  }
  if (decoded !== into) into.set(decoded);
}

export async function encode(bytes: Uint8Array, settings: BloscSettings): Promise<Uint8Array> {
  const { length: size } = bytes;
  const { cname, shuffle } = settings;
  const refusal = refusalOf(cname, size);
  if (refusal !== null) throw broken(refusal);
  // The header has only one byte for the element size, so larger elements are treated as single bytes.
  const typesize = settings.typesize <= 255 ? settings.typesize : 1;
  const wanted = settings.blocksize === 0 ? ZARR.block : settings.blocksize;
  const unit = 8 * typesize;
  const blocksize = Math.min(size, Math.max(unit, wanted - (wanted % unit)));
  const blocks = size === 0 ? 0 : Math.ceil(size / blocksize);
  const format = COMPRESSORS[cname];
  const parts: Uint8Array[] = [];
  const starts = new Uint32Array(blocks);
  let length = HEADER + 4 * blocks;
  for (let block = 0; block < blocks; block++) {
    const content = bytes.subarray(block * blocksize, (block + 1) * blocksize);
    const stream = await encodeBlock(content, settings, typesize);
    starts[block] = length;
    parts.push(Uint8Array.from(bytesOfNumber(stream.length)), stream);
    length += 4 + stream.length;
  }
  const isLonger = settings.clevel === 0 || length >= HEADER + size;
  const flags = UNSPLIT | (format << 5) | [0, SHUFFLED, BIT_SHUFFLED][shuffle];
  const header = [2, 1, isLonger ? flags | COPIED : flags, typesize];
  const total = isLonger ? HEADER + size : length;
  const encoded = new Uint8Array(total);
  encoded.set([...header, ...[size, blocksize, total].flatMap(bytesOfNumber)]);
  let at = HEADER;
  const put = (part: Uint8Array): void => {
    encoded.set(part, at);
    at += part.length;
  };
  if (isLonger) put(bytes);
  else [new Uint8Array(starts.buffer), ...parts].forEach(put);
  return encoded;
}

/** Encodes a number as four little-endian bytes. */
const bytesOfNumber = (value: number): number[] =>
  [0, 8, 16, 24].map((shift) => (value >>> shift) & 0xff);

async function encodeBlock(
  content: Uint8Array,
  { cname, clevel, shuffle }: BloscSettings,
  typesize: number,
): Promise<Uint8Array> {
  const isMoved = content.length >= typesize;
  // Even without a shuffle, the content is copied, because compression is asynchronous.
  const shuffled = new Uint8Array(content.length);
  if (isMoved && shuffle === SHUFFLES.shuffle && typesize > 1) {
    moveBytes(content, shuffled, typesize, false);
  } else if (isMoved && shuffle === SHUFFLES.bitshuffle) {
    moveBits(content, shuffled, typesize, false);
  } else shuffled.set(content);
  const codec = streamCodec(COMPRESSORS[cname], clevel);
  const stream = await (codec?.encode(shuffled) ?? encodeLz4(shuffled, 10 - clevel));
  // A decoder would mistake a stream as long as the block for an uncompressed block.
  return stream.length < content.length ? stream : shuffled;
}
