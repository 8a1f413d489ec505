/**
 * Implements the codec `zstd` (RFC 8878) with the platform's zstd, or otherwise with libzstd in WebAssembly. Frame
 * headers are checked first, because decoders would trust the output size that a header declares.
 */

import { printCount } from "../../../core/foreign.ts";
import { TensorError } from "../../../core/errors.ts";
import type { Transform } from "node:stream";
import { ZARR } from "../../../core/limits.ts";
import {
  broken,
  checkDeclared,
  makeCompressor,
  type ByteCodec,
  type Decoded,
  type Held,
} from "./byte-codec.ts";
import { byCallback, compressed, inflateStream, join } from "./gzip.ts";
import { moduleOfNode } from "../../boxes/node.ts";

/** The maximum compression ratio, because a block of 128 kB that repeats one byte takes four bytes. */
const RATIO = 2 ** 15;

const MAX_BLOCK = 2 ** 17;

/**
 * A window size, in bytes, that is always accepted, because encoders that know the input size need no larger window.
 */
const LEAST_WINDOW = 2 ** 23;

export function makeZstdCodec(level: number, checksum: boolean): ByteCodec {
  return makeCompressor({
    name: "zstd",
    ratio: RATIO,
    unwritable: (size) => (zstdOfNode() === null ? refusalOfWasm(size, checksum) : null),
    held: zstdOfNode() === null ? heldByWasm(level) : heldByNode(level),
    async decode(bytes, decoded) {
      // Each frame is decoded separately, because Node stops at the first empty frame.
      const pieces: Uint8Array[] = [];
      for (const frame of framesOf(bytes, decoded)) {
        pieces.push(await decodeFrame(frame, decoded));
      }
      return join(pieces);
    },
    async encode(bytes, release) {
      const zlib = zstdOfNode();
      if (zlib === null) {
        const refusal = refusalOfWasm(bytes.length, checksum);
        if (refusal !== null) throw broken(refusal);
        const { encodeZstd } = await import("./libzstd.ts");
        return encodeZstd(bytes, level);
      }
      const { ZSTD_c_compressionLevel: quality, ZSTD_c_checksumFlag: check } = zlib.constants;
      const params = { [quality]: level, [check]: checksum ? 1 : 0 };
      const options = { params, pledgedSrcSize: bytes.length };
      return compressed(bytes, release, (chunkSize) =>
        zlib.createZstdCompress({ ...options, chunkSize }),
      );
    },
  });
}

/**
 * The size of a compressor's state, in MB, up to each `level`, which is at least `ZSTD_estimateCCtxSize` for long
 * inputs.
 */
const STATES: readonly (readonly [level: number, megabytes: number])[] = [
  [4, 8],
  [9, 24],
  [12, 64],
  [19, 112],
  [20, 224],
  [21, 416],
  [22, 832],
];

/** The maximum size of a compressor's tables for short inputs, as a multiple of the input length. */
const STATE_RATIO = 34;

function stateOf(level: number, size: number): number {
  const [, megabytes] = STATES.find(([most]) => level <= most) ?? [22, 832];
  return Math.min(megabytes * 2 ** 20, 2 ** 20 + STATE_RATIO * size);
}

const heldByNode = (level: number): Held => ({
  decode: () => 2 ** 20,
  encode: (size) => stateOf(level, size) + ZARR.piece,
});

/**
 * Returns the memory that WebAssembly takes, including copies of input and output. This memory grows by a fifth more
 * than needed, and never shrinks. For 32 MB of numbers, the memory of a decoder grows to 78 MB, and that of an encoder
 * to 116 MB.
 */
const heldByWasm = (level: number): Held => ({
  decode: (size) => 2.8 * size + 2 ** 21,
  encode: (size) => 4 * size + 1.2 * stateOf(level, size) + 2 ** 21,
});

async function decodeFrame(frame: Uint8Array, decoded: Decoded): Promise<Uint8Array> {
  const { size } = decoded;
  const zlib = zstdOfNode();
  if (zlib !== null) {
    // A full output would make Node allocate another of the same size.
    const room = size + 64;
    const options = { chunkSize: room, maxOutputLength: room };
    // Another thread would take as long to start as a block of blosc to decode.
    if (size <= ZARR.block) return zlib.zstdDecompressSync(frame, options);
    return byCallback((done) => zlib.zstdDecompress(frame, options, done));
  }
  const stream = streamOfPlatform();
  if (stream !== null) return inflateStream(stream, frame, size);
  if (size > MOST_OF_WASM) {
    throw new TensorError("too-large", `${tooLarge(size)}; use smaller chunks`, { got: size });
  }
  const { decodeZstd } = await import("./libzstd.ts");
  return decodeZstd(frame, decoded);
}

/** True until the platform refuses a stream of zstd, because each refusal takes 50 µs. */
const platform = { hasStream: true };

function streamOfPlatform(): DecompressionStream | null {
  if (!platform.hasStream) return null;
  try {
    return Reflect.construct(DecompressionStream, ["zstd"]);
  } catch {
    platform.hasStream = false;
    return null;
  }
}

/**
 * The maximum chunk size for WebAssembly, in bytes, because its memory contains both the encoded and the decoded chunk.
 */
const MOST_OF_WASM = 2 ** 29;

const tooLarge = (size: number): string =>
  `a zstd chunk of ${printCount(size, "byte")} needs Node 22.15 or newer`;

function refusalOfWasm(size: number, checksum: boolean): string | null {
  if (checksum) return "zstd with a checksum needs Node 22.15 or newer";
  return size > MOST_OF_WASM ? tooLarge(size) : null;
}

type Callback = (error: Error | null, result: Uint8Array) => void;

/** The zstd functions in Node's zlib, which exist since Node 22.15. */
interface ZstdOfNode {
  createZstdCompress(options: object): Transform;
  zstdDecompress(bytes: Uint8Array, options: object, done: Callback): void;
  zstdDecompressSync(bytes: Uint8Array, options: object): Uint8Array;
  readonly constants: { ZSTD_c_compressionLevel: number; ZSTD_c_checksumFlag: number };
}

const hasZstd = (zlib: object): zlib is ZstdOfNode =>
  typeof Reflect.get(zlib, "zstdCompress") === "function";

function zstdOfNode(): ZstdOfNode | null {
  const zlib: object | null = moduleOfNode("node:zlib");
  return zlib !== null && hasZstd(zlib) ? zlib : null;
}

const MAGIC = 0xfd2fb528;
/** The first of sixteen magic numbers for frames without data. */
const SKIPPABLE = 0x184d2a50;

/** Checks the sizes that frame and block headers declare, and returns the frames with data. */
function framesOf(bytes: Uint8Array, decoded: Decoded): Uint8Array[] {
  const { size } = decoded;
  const frames: Uint8Array[] = [];
  const cursor = new Cursor(bytes);
  let most = 0;
  let promised: number | null = 0;
  while (!cursor.isAtEnd) {
    const start = cursor.at;
    const magic = cursor.number(4);
    if (magic - (magic % 16) === SKIPPABLE) {
      cursor.skip(cursor.number(4));
      continue;
    }
    if (magic !== MAGIC) throw broken("it does not begin with a frame of zstd");
    const frame = readFrame(cursor, Math.max(LEAST_WINDOW, 2 * size));
    frames.push(bytes.subarray(start, cursor.at));
    most += frame.most;
    promised = promised === null || frame.promised === null ? null : promised + frame.promised;
    if (promised !== null && promised > most) {
      throw broken(`it declares ${printCount(promised, "byte")}, but has at most ${most}`);
    }
  }
  if (promised === null) {
    // If the size is not declared, only the number of blocks bounds the output. The margin allows for encoders that
    // write small blocks.
    if (most > 8 * size + 8 * MAX_BLOCK) throw broken(`it may decode to ${most} bytes`);
  } else checkDeclared(promised, decoded);
  return frames;
}

function readFrame(
  cursor: Cursor,
  maxWindow: number,
): { readonly promised: number | null; readonly most: number } {
  const descriptor = cursor.number(1);
  const isSingle = (descriptor & 0x20) !== 0;
  const window = isSingle ? 0 : windowOf(cursor.number(1));
  if (window > maxWindow) throw broken(`its window is ${window} bytes`);
  cursor.skip([0, 1, 2, 4][descriptor & 3]);
  const width = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6];
  const promised = width === 0 ? null : cursor.number(width) + (width === 2 ? 256 : 0);
  const largest = isSingle ? MAX_BLOCK : Math.min(MAX_BLOCK, window);
  let most = 0;
  for (let isLast = false; !isLast;) {
    const header = cursor.number(3);
    const [type, length] = [(header >> 1) & 3, header >> 3];
    isLast = (header & 1) === 1;
    if (type === 3 || length > MAX_BLOCK) throw broken("it has a block of an unknown type");
    cursor.skip(type === 1 ? 1 : length);
    most += type === 2 ? largest : length;
  }
  if ((descriptor & 4) !== 0) cursor.skip(4);
  return { promised, most };
}

const windowOf = (byte: number): number => 2 ** (10 + (byte >> 3)) * (1 + (byte & 7) / 8);

class Cursor {
  at = 0;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.at === this.#bytes.length;
  }

  skip(count: number): void {
    this.at += count;
    if (this.at > this.#bytes.length) throw broken("it is truncated");
  }

  /** Reads a little-endian number of `width` bytes. */
  number(width: number): number {
    this.skip(width);
    let value = 0;
    for (let i = 1; i <= width; i++) value = value * 256 + this.#bytes[this.at - i];
    return value;
  }
}
