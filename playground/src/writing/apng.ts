/**
 * Joins PNG files of the same size into an animated PNG (https://www.w3.org/TR/png-3/, APNG). Every browser plays the
 * animation; other programs show its first picture.
 */

interface Chunk {
  readonly type: string;
  readonly data: Uint8Array;
}

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** The additional duration of the last picture, in milliseconds. */
const AT_END = 2000;

/** A frame of the animation, which may cover only the part that differs from the previous frame. */
export interface ApngFrame {
  /** A PNG file. */
  readonly png: Uint8Array;
  /** The position of the upper left corner. */
  readonly x: number;
  readonly y: number;
}

/**
 * The first frame is a whole picture, and all frames have the same pixel format. `delay` is the duration of each
 * picture, in milliseconds. Throws an error if a file is not PNG, has another pixel format, or does not fit into the
 * first picture.
 */
export function toApng(frames: readonly ApngFrame[], delay: number): Uint8Array<ArrayBuffer> {
  const pictures = frames.map(({ png }) => chunksOf(png));
  const header = headerOf(pictures[0] ?? []);
  const whole = sizeIn(header);
  const parts: Uint8Array[] = [
    Uint8Array.from(SIGNATURE),
    chunk("IHDR", header.data),
    // The value 0 repeats the animation endlessly.
    chunk("acTL", numbers(frames.length, 0)),
  ];
  let sequence = 0;
  for (const [position, picture] of pictures.entries()) {
    const own = headerOf(picture);
    const { width, height } = sizeIn(own);
    const { x, y } = frames[position];
    // The bit depth and colour type follow the size.
    const isAlike = String(own.data.subarray(8)) === String(header.data.subarray(8));
    if (!isAlike || x + width > whole.width || y + height > whole.height)
      throw new Error("the pictures have different sizes or colours");
    const isLast = position === pictures.length - 1;
    const control = new Uint8Array(26);
    control.set(numbers(sequence++, width, height, x, y));
    new DataView(control.buffer).setUint16(20, isLast ? delay + AT_END : delay);
    new DataView(control.buffer).setUint16(22, 1000);
    parts.push(chunk("fcTL", control));
    for (const { type, data } of picture) {
      if (type !== "IDAT") continue;
      parts.push(
        position === 0 ? chunk("IDAT", data) : chunk("fdAT", joined([numbers(sequence++), data])),
      );
    }
  }
  parts.push(chunk("IEND", new Uint8Array()));
  return joined(parts);
}

function headerOf(chunks: readonly Chunk[]): Chunk {
  const header = chunks.find(({ type }) => type === "IHDR");
  if (header === undefined) throw new Error("a picture is missing");
  return header;
}

function sizeIn({ data }: Chunk): { readonly width: number; readonly height: number } {
  const view = new DataView(data.buffer, data.byteOffset);
  return { width: view.getUint32(0), height: view.getUint32(4) };
}

function chunksOf(file: Uint8Array): Chunk[] {
  if (SIGNATURE.some((byte, at) => file[at] !== byte)) throw new Error("a picture is not PNG");
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const found: Chunk[] = [];
  for (let at = SIGNATURE.length; at + 12 <= file.length;) {
    const length = view.getUint32(at);
    const type = String.fromCharCode(...file.subarray(at + 4, at + 8));
    found.push({ type, data: file.subarray(at + 8, at + 8 + length) });
    at += 12 + length;
  }
  return found;
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const named = joined([Uint8Array.from(type, (letter) => letter.charCodeAt(0)), data]);
  return joined([numbers(data.length), named, numbers(checksum(named))]);
}

function numbers(...values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(4 * values.length);
  const view = new DataView(bytes.buffer);
  for (const [at, value] of values.entries()) view.setUint32(4 * at, value);
  return bytes;
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Computes the CRC-32 that the PNG specification defines. */
function checksum(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return (sum ^ 0xffffffff) >>> 0;
}
