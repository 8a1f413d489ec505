/**
 * Decompresses zlib data (RFC 1950, RFC 1951) up to a maximum size, and keeps the bytes decoded before an error. The
 * browser's DecompressionStream is asynchronous, but links must be read synchronously before the first drawing.
 */

/** The reason why decompression stopped early. */
export type Wrong = "cut" | "damaged" | "too long";

export interface Inflated {
  /** The bytes decompressed before the first error. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly wrong: Wrong | null;
}

class Fault extends Error {
  readonly wrong: Wrong;
  constructor(wrong: Wrong) {
    super(wrong);
    this.wrong = wrong;
  }
}

/** Bytes after the end of the compressed data are ignored. `most` limits the number of decompressed bytes. */
export function inflate(source: Uint8Array, most: number): Inflated {
  const input = new Bits(source);
  const output = new Output(source.length, most);
  try {
    const head = 256 * input.read(8) + input.read(8);
    // Method 8 is deflate; bit 5 requests a preset dictionary.
    if (head % 31 !== 0 || (head >> 8) % 16 !== 8 || (head & 32) !== 0) throw new Fault("damaged");
    while (readBlock(input, output));
    if (input.readSum() !== output.sum()) throw new Fault("damaged");
    return { bytes: output.written(), wrong: null };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { bytes: output.written(), wrong: error.wrong };
  }
}

/** Reads bits from a byte array, starting with the lowest bit of each byte. */
class Bits {
  readonly source: Uint8Array;
  at = 0;
  /** Bits of earlier bytes that have not been read yet. */
  held = 0;
  count = 0;

  constructor(source: Uint8Array) {
    this.source = source;
  }

  byte(): number {
    const { source } = this;
    if (this.at >= source.length) throw new Fault("cut");
    return source[this.at++];
  }

  /** Reads up to 16 bits. */
  read(count: number): number {
    while (this.count < count) {
      this.held |= this.byte() << this.count;
      this.count += 8;
    }
    const value = this.held & ((1 << count) - 1);
    this.held >>>= count;
    this.count -= count;
    return value;
  }

  /** Skips to the next byte boundary. At most 7 bits are pending, because `read` never consumes an extra byte. */
  align(): void {
    this.held = 0;
    this.count = 0;
  }

  /** Reads the final checksum, whose most significant byte comes first. */
  readSum(): number {
    this.align();
    return this.byte() * 2 ** 24 + this.byte() * 2 ** 16 + this.byte() * 2 ** 8 + this.byte();
  }

  /** Decodes the next Huffman symbol. */
  symbol({ counts, symbols }: Code): number {
    let { held, count: left } = this;
    let [code, first, index] = [0, 0, 0];
    for (let length = 1; length <= LONGEST_CODE; length++) {
      if (left === 0) {
        held = this.byte();
        left = 8;
      }
      code = 2 * code + (held & 1);
      held >>= 1;
      left--;
      const count = counts[length];
      if (code - first < count) {
        this.held = held;
        this.count = left;
        return symbols[index + code - first];
      }
      index += count;
      first = 2 * (first + count);
    }
    throw new Fault("damaged");
  }
}

class Output {
  readonly most: number;
  bytes: Uint8Array<ArrayBuffer>;
  size = 0;

  constructor(expected: number, most: number) {
    this.most = most;
    this.bytes = new Uint8Array(Math.min(most, 4 * expected));
  }

  grow(count: number): void {
    const size = this.size + count;
    if (size > this.most) throw new Fault("too long");
    if (size <= this.bytes.length) return;
    const { bytes } = this;
    this.bytes = new Uint8Array(Math.min(this.most, 2 * size));
    this.bytes.set(bytes);
  }

  push(byte: number): void {
    this.grow(1);
    this.bytes[this.size++] = byte;
  }

  /**
   * Copies earlier output that begins `distance` bytes before the end. The copied range may overlap the bytes being
   * written.
   */
  repeat(distance: number, length: number): void {
    if (distance > this.size) throw new Fault("damaged");
    this.grow(length);
    const { bytes } = this;
    for (let at = this.size; at < this.size + length; at++) bytes[at] = bytes[at - distance];
    this.size += length;
  }

  written = (): Uint8Array<ArrayBuffer> => this.bytes.subarray(0, this.size);

  /** Computes an Adler-32 checksum. */
  sum(): number {
    let [low, high] = [1, 0];
    for (const byte of this.written()) {
      low = (low + byte) % 65_521;
      high = (high + low) % 65_521;
    }
    return high * 65_536 + low;
  }
}

const LONGEST_CODE = 15;

/** A canonical Huffman code: the number of codes of each length, and the symbols in code order. */
interface Code {
  readonly counts: Uint16Array;
  readonly symbols: Uint16Array;
}

/** `lengths` holds the code length of each symbol; 0 for an unused symbol. */
function codeOf(lengths: readonly number[]): Code {
  const counts = new Uint16Array(LONGEST_CODE + 1);
  for (const length of lengths) if (length > 0) counts[length]++;
  const starts = new Uint16Array(LONGEST_CODE + 2);
  let free = 1;
  for (let length = 1; length <= LONGEST_CODE; length++) {
    starts[length + 1] = starts[length] + counts[length];
    free = 2 * free - counts[length];
    if (free < 0) throw new Fault("damaged");
  }
  const symbols = new Uint16Array(lengths.length);
  for (const [symbol, length] of lengths.entries()) {
    if (length > 0) symbols[starts[length]++] = symbol;
  }
  return { counts, symbols };
}

interface Codes {
  /** The Huffman code for literal bytes, the end of a block (256) and match lengths. */
  readonly literals: Code;
  readonly distances: Code;
}

const filled = (count: number, value: number): number[] =>
  Array.from({ length: count }, () => value);

/** Returns the fixed Huffman codes of RFC 1951. */
const fixedCodes = (): Codes => ({
  literals: codeOf([...filled(144, 8), ...filled(112, 9), ...filled(24, 7), ...filled(8, 8)]),
  distances: codeOf(filled(30, 5)),
});

/** Decodes a block, and returns false after the last block. */
function readBlock(input: Bits, output: Output): boolean {
  const isLast = input.read(1) === 1;
  const type = input.read(2);
  if (type === 3) throw new Fault("damaged");
  if (type === 0) readStored(input, output);
  else readCoded(input, output, type === 1 ? fixedCodes() : readCodes(input));
  return !isLast;
}

function readStored(input: Bits, output: Output): void {
  input.align();
  const length = input.read(16);
  if (input.read(16) !== 65_535 - length) throw new Fault("damaged");
  for (let i = 0; i < length; i++) output.push(input.byte());
}

function readCoded(input: Bits, output: Output, { literals, distances }: Codes): void {
  for (;;) {
    const symbol = input.symbol(literals);
    if (symbol === 256) return;
    if (symbol < 256) {
      output.push(symbol);
      continue;
    }
    const length = lengthOf(symbol - 257, input);
    output.repeat(distanceOf(input.symbol(distances), input), length);
  }
}

/**
 * Returns the length of a match. Lengths 3 to 10 have one symbol each. After that, each number of extra bits has four
 * symbols, and the last symbol means 258.
 */
function lengthOf(symbol: number, input: Bits): number {
  if (symbol > 28) throw new Fault("damaged");
  if (symbol === 28) return 258;
  const extra = Math.max(0, (symbol >> 2) - 1);
  return symbol < 8 ? 3 + symbol : 3 + ((4 + (symbol & 3)) << extra) + input.read(extra);
}

/**
 * Returns the distance of a match. Distances 1 to 4 have one symbol each. After that, each number of extra bits has two
 * symbols.
 */
function distanceOf(symbol: number, input: Bits): number {
  if (symbol > 29) throw new Fault("damaged");
  const extra = Math.max(0, (symbol >> 1) - 1);
  return symbol < 4 ? 1 + symbol : 1 + ((2 + (symbol & 1)) << extra) + input.read(extra);
}

/** The order in which a block stores the lengths of its code-length code. */
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** Reads a block's Huffman codes, whose code lengths are Huffman-coded themselves. */
function readCodes(input: Bits): Codes {
  const literals = input.read(5) + 257;
  const distances = input.read(5) + 1;
  const count = input.read(4) + 4;
  const own = filled(ORDER.length, 0);
  for (const symbol of ORDER.slice(0, count)) own[symbol] = input.read(3);
  const code = codeOf(own);
  const lengths: number[] = [];
  while (lengths.length < literals + distances) {
    const symbol = input.symbol(code);
    if (symbol < 16) lengths.push(symbol);
    else if (symbol === 16) {
      const last = lengths.at(-1);
      if (last === undefined) throw new Fault("damaged");
      lengths.push(...filled(3 + input.read(2), last));
    } else {
      const zeros = symbol === 17 ? 3 + input.read(3) : 11 + input.read(7);
      lengths.push(...filled(zeros, 0));
    }
  }
  if (lengths.length > literals + distances) throw new Fault("damaged");
  return {
    literals: codeOf(lengths.slice(0, literals)),
    distances: codeOf(lengths.slice(literals)),
  };
}
