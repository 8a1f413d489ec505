/**
 * String constants in a `.bin`, in the form that OpenVINO writes. The constant begins with little-endian int32 numbers:
 * the number of strings, the offset of the first string, and the end offset of each string. The strings follow in
 * UTF-8.
 */

import { malformed, TensorError } from "../../core/errors.ts";
import { quote } from "../model/graph.ts";

const WIDTH = 4;

/** Returns the number of bytes before the first of `count` strings. */
const headBytes = (count: number): number => WIDTH * (count + 2);

/** Throws `dtype` for text that UTF-8 cannot encode. */
export function packStrings(strings: readonly string[], input: string): Uint8Array {
  const broken = strings.findIndex((text) => /\p{Surrogate}/u.test(text));
  if (broken !== -1) {
    const sentence = `element ${broken} of ${quote(input)} is half of a surrogate pair, which UTF-8 cannot encode`;
    throw new TensorError("dtype", sentence, { input, at: [broken] });
  }
  const encoder = new TextEncoder();
  const texts = strings.map((text) => encoder.encode(text));
  const head = headBytes(strings.length);
  const packed = new Uint8Array(texts.reduce((sum, { length }) => sum + length, head));
  const view = new DataView(packed.buffer);
  view.setInt32(0, strings.length, true);
  let at = 0;
  for (const [position, text] of texts.entries()) {
    packed.set(text, head + at);
    at += text.length;
    view.setInt32(headBytes(position), at, true);
  }
  return packed;
}

/** Throws `malformed-file` for bytes that are not `count` strings. */
export function unpackStrings(packed: Uint8Array, count: number, who: string): string[] {
  const head = headBytes(count);
  const view = new DataView(packed.buffer, packed.byteOffset, packed.length);
  const wrong = (what: string): TensorError => malformed(`${who} ${what}`, { node: who });
  if (packed.length < head || view.getInt32(0, true) !== count)
    throw wrong(`must begin with its number of strings, ${count}, and the offset of each`);
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const limit = packed.length - head;
  return Array.from({ length: count }, (_, position) => {
    const [begin, end] = [position - 1, position].map((one) => view.getInt32(headBytes(one), true));
    if (begin < 0 || end < begin || end > limit)
      throw wrong(
        `has string ${position} from byte ${begin} to ${end} of its text, whose size is ${limit}`,
      );
    try {
      return decoder.decode(packed.subarray(head + begin, head + end));
    } catch {
      throw wrong(`must have strings in UTF-8, but string ${position} is in another encoding`);
    }
  });
}
