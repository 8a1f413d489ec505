/** The codecs `packbits`, which stores elements without their unused bits, and `bytes` after a filter. */

import { rowOf, type DType } from "../../../core/tensor/dtype.ts";
import { packBits, unpackBits } from "../../../core/tensor/storage.ts";
import { newBytes } from "../chunks/buffers.ts";
import { swapElements } from "../chunks/file-elements.ts";
import type { JsonObject } from "../json.ts";
import { oneOf, unsupportedCodec } from "../fields.ts";
import { broken, makeFixedCodec, type ByteCodec } from "./byte-codec.ts";

/**
 * Copies elements of whole bytes. `first_bit` and `last_bit` are supported only if they select all bits of an element.
 */
export function makePackbitsCodec(
  { padding_encoding: given = "none", first_bit: first, last_bit: last }: JsonObject,
  dtype: DType,
  where: string,
): ByteCodec {
  const { bytes: width, lanes, bits = dtype === "bool" ? 1 : (8 * width) / lanes } = rowOf(dtype);
  const paddings = ["none", "first_byte", "last_byte"] as const;
  const padding = oneOf(given, "padding_encoding of packbits", paddings, where);
  if ((first ?? 0) !== 0 || (last ?? bits - 1) !== bits - 1) {
    const sentence = `packbits of ${where} selects bits (first_bit, last_bit), which is supported only for all ${bits} bits`;
    throw unsupportedCodec(sentence, where);
  }
  const isCopy = bits >= 8;
  const packed = (size: number): number => (isCopy ? size : Math.ceil((size * bits) / 8));
  const extra = padding === "none" ? 0 : 1;
  const sizeOf = (size: number): number => packed(size) + extra;
  return makeFixedCodec(
    {
      name: "packbits",
      ratio: 8,
      async decode(bytes, { size }) {
        if (bytes.length !== sizeOf(size)) throw broken("its length is wrong");
        const free = 8 * packed(size) - (isCopy ? 8 : bits) * size;
        const at = padding === "first_byte" ? 0 : bytes.length - 1;
        if (extra === 1 && bytes[at] !== free) throw broken("its number of padding bits is wrong");
        const start = padding === "first_byte" ? 1 : 0;
        const content = bytes.subarray(start, start + packed(size));
        if (isCopy) return content;
        const into = newBytes(size);
        unpackBits(content, into, bits, false);
        return into;
      },
      async encode(bytes) {
        const encoded = newBytes(sizeOf(bytes.length));
        encoded.set(isCopy ? bytes : packBits(bytes, bits), padding === "first_byte" ? 1 : 0);
        const free = 8 * packed(bytes.length) - (isCopy ? 8 : bits) * bytes.length;
        if (extra === 1) encoded[padding === "first_byte" ? 0 : encoded.length - 1] = free;
        return encoded;
      },
    },
    sizeOf,
  );
}

/** Swaps the bytes of big-endian elements. */
export function makeSwapCodec(dtype: DType): ByteCodec {
  const swapped = async (bytes: Uint8Array): Promise<Uint8Array> => {
    const copy = bytes.slice();
    if (copy.length % rowOf(dtype).bytes !== 0) throw broken("it ends within an element");
    swapElements(dtype, copy);
    return copy;
  };
  return makeFixedCodec({ name: "bytes", decode: swapped, encode: swapped });
}
