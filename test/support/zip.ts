/** Writes ZIP archives for tests, and remembers the positions of the records, so that a test can damage them. */

import { crc32, deflateRawSync } from "node:zlib";

export interface ZipMember {
  readonly name: string;
  readonly data: Uint8Array;
  readonly isDeflated?: boolean;
}

/** An archive, and the positions of its records in `bytes`. */
export interface Zip {
  bytes: Uint8Array;
  readonly view: DataView;
  readonly locals: readonly number[];
  readonly entries: readonly number[];
  readonly end: number;
}

const bytesOf = (...fields: readonly (readonly [bytes: number, value: number])[]): Uint8Array => {
  const bytes = new Uint8Array(fields.reduce((sum, [width]) => sum + width, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [width, value] of fields) {
    if (width === 2) view.setUint16(at, value, true);
    else if (width === 4) view.setUint32(at, value, true);
    else view.setBigUint64(at, BigInt(value), true);
    at += width;
  }
  return bytes;
};

/** Writes an archive. With `isZip64`, all sizes and positions are in ZIP64 fields. */
export function makeZip(members: readonly ZipMember[], isZip64 = false, comment = ""): Zip {
  const pieces: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  const [locals, lengths]: number[][] = [[], []];
  let at = 0;
  const push = (...parts: Uint8Array[]): void => {
    for (const part of parts) at += part.length;
    pieces.push(...parts);
  };
  for (const { name, data, isDeflated = false } of members) {
    const text = new TextEncoder().encode(name);
    const stored = isDeflated ? new Uint8Array(deflateRawSync(data)) : data;
    const sizes = [stored.length, data.length];
    const shown = isZip64 ? [0xffffffff, 0xffffffff] : sizes;
    const common = [
      [2, 20],
      [2, 0x800],
      [2, isDeflated ? 8 : 0],
      [4, 0],
      [4, crc32(data)],
      [4, shown[0]],
      [4, shown[1]],
      [2, text.length],
    ] as const;
    const extra = isZip64
      ? bytesOf([2, 1], [2, 24], [8, sizes[1]], [8, sizes[0]], [8, at])
      : bytesOf();
    const place = isZip64 ? 0xffffffff : at;
    const entry = bytesOf(
      [4, 0x02014b50],
      [2, 20],
      ...common,
      [2, extra.length],
      [2, 0],
      [2, 0],
      [2, 0],
      [4, 0],
      [4, place],
    );
    directory.push(entry, text, extra);
    lengths.push(entry.length + text.length + extra.length);
    locals.push(at);
    push(bytesOf([4, 0x04034b50], ...common, [2, 0]), text, stored);
  }
  const start = at;
  push(...directory);
  const [count, length] = [members.length, at - start];
  if (isZip64) {
    const record = at;
    push(
      bytesOf(
        [4, 0x06064b50],
        [8, 44],
        [2, 45],
        [2, 45],
        [4, 0],
        [4, 0],
        [8, count],
        [8, count],
        [8, length],
        [8, start],
      ),
    );
    push(bytesOf([4, 0x07064b50], [4, 0], [8, record], [4, 1]));
  }
  const end = at;
  const numbers = isZip64 ? [0xffff, 0xffffffff, 0xffffffff] : [count, length, start];
  push(
    bytesOf(
      [4, 0x06054b50],
      [2, 0],
      [2, 0],
      [2, numbers[0]],
      [2, numbers[0]],
      [4, numbers[1]],
      [4, numbers[2]],
      [2, comment.length],
    ),
  );
  push(new TextEncoder().encode(comment));
  const bytes = new Uint8Array(at);
  let done = 0;
  for (const piece of pieces) {
    bytes.set(piece, done);
    done += piece.length;
  }
  let place = start;
  const entries = lengths.map((one) => (place += one) - one);
  return { bytes, view: new DataView(bytes.buffer), locals, entries, end };
}
