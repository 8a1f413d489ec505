/**
 * Protobuf, which is the encoding of ONNX files. The library @bufbuild/protobuf trusts its input more than a downloaded
 * file deserves. A nested message may extend past its parent, a length of 2^63 reads as 0, and a field may have any
 * wire type. Every model is therefore checked against the schema here, before the library decodes it.
 */

import { factOf, printCount, printValue, wrongValue } from "../../core/foreign.ts";
import { isError, isTensorError, malformed, messageOf, TensorError } from "../../core/errors.ts";
import { ScalarType, type DescField, type DescMessage } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/**
 * The maximum number of messages, byte strings and unknown records in a model file with `bytes` bytes. An empty message
 * takes 2 bytes in the file but hundreds of bytes in memory, so a small hostile file could exhaust memory. In real
 * models, the smallest part is an attribute with 12 bytes. The largest models in use have about 10^5 nodes, and 2^21
 * parts are enough for 20 times as many nodes.
 */
const mostParts = (bytes: number): number => Math.min(2 ** 21, 2 ** 16 + Math.floor(bytes / 8));

/**
 * The maximum number of numbers and texts in a model's lists, outside of tensors. A number takes at least one byte in
 * the file and 40 bytes in memory as a bigint, so 2^24 numbers take 670 MB. A tree ensemble with 10^5 nodes has about
 * 10^6 numbers and texts.
 */
const MAX_VALUES = 2 ** 24;

/** The maximum number of bytes in a varint, the last of which contains bit 63. */
export const MAX_VARINT = 10;

/** Called with a record's field number, its wire type and the range of its payload. */
export type Visit = (field: number, wireType: WireType, start: number, end: number) => void;

/**
 * Visits a message's records in file order. The payload of a length-delimited record begins after its length. Throws
 * `malformed-file` for bytes that are not a message. Groups are refused, because ONNX does not use them.
 */
export function visitRecords(bytes: Uint8Array, what: string, visit: Visit): void {
  const reader = new BinaryReader(bytes);
  malformedAs(what, () => {
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag();
      let start = reader.pos;
      if (wireType === WireType.LengthDelimited) {
        const length = reader.uint32();
        // The reader silently drops bits of a length above 32.
        const taken = reader.pos - start;
        if (taken > 5 || (taken === 5 && bytes[reader.pos - 1] > 0x0f)) {
          throw malformed(`${what} has a field ${field} of more than 2^32 bytes`);
        }
        start = reader.pos;
        const left = bytes.length - start;
        if (length > left) {
          throw malformed(
            `the file is truncated or damaged; get it again: ${what} has a field ${field} of ${printCount(length, "byte")} where ${left} are left`,
          );
        }
        reader.pos = start + length;
      } else if (wireType === WireType.StartGroup || wireType === WireType.EndGroup) {
        throw malformed(
          `${what} has a field ${field} of wire type ${wireType}, which ONNX does not use`,
        );
      } else {
        reader.pos = endOfNumber(bytes, start, wireType);
        if (reader.pos > reader.len) {
          throw malformed(`${what} cannot be decoded: it ends within its field ${field}`);
        }
        if (wireType === WireType.Varint && reader.pos - start > MAX_VARINT) {
          throw malformed(`${what} has a field ${field} of more than ${MAX_VARINT} bytes`);
        }
      }
      visit(field, wireType, start, reader.pos);
    }
  });
}

/** Returns the position after a number. The library's `skip` would also allocate a new array for the number's bytes. */
function endOfNumber(bytes: Uint8Array, start: number, wireType: WireType): number {
  if (wireType === WireType.Bit32) return start + 4;
  if (wireType === WireType.Bit64) return start + 8;
  if (wireType !== WireType.Varint) throw new Error(`wire type ${wireType} is unknown`);
  let end = start;
  while (bytes[end] >= 0x80) end++;
  return end + 1;
}

/** The maximum number of parts in a model, and the number of parts counted so far. */
export interface Parts {
  readonly most: number;
  found: number;
  /** The number of list entries counted so far. */
  values: number;
}

export const partsOf = (bytes: Uint8Array): Parts => ({
  most: mostParts(bytes.length),
  found: 0,
  values: 0,
});

/**
 * Checks that `bytes` are a valid message of `schema`: every nested message ends inside its parent, and every known
 * field has its wire type. For bytes in a model, `parts` is the running count. Throws `malformed-file` for other bytes,
 * and `too-large` for more parts than a model of this size may have.
 */
export function checkMessage(
  schema: DescMessage,
  bytes: Uint8Array,
  parts: Parts = partsOf(bytes),
): void {
  const check = (message: DescMessage, part: Uint8Array): void => {
    visitRecords(part, `the ${message.name}`, (number, wireType, start, end) => {
      const field = message.fields.find((one) => one.number === number);
      if (field === undefined || isPart(field)) parts.found++;
      if (parts.found > parts.most) {
        throw new TensorError("too-large", `the model has more than ${parts.most} parts`, {
          limit: parts.most,
        });
      }
      if (field === undefined) return;
      const values = countValues(field, wireType, part, start, end);
      if (values === null) {
        throw malformed(`the ${message.name} has its ${field.name} in the wrong encoding`);
      }
      if (field.fieldKind === "list" && !isPart(field)) parts.values += values;
      if (parts.values > MAX_VALUES) {
        throw new TensorError(
          "too-large",
          `the model has more than ${MAX_VALUES} numbers and texts in lists`,
          { limit: MAX_VALUES },
        );
      }
      // This recursion is shallow, because the schema declares subgraphs and tensors as bytes.
      if (field.message !== undefined) check(field.message, part.subarray(start, end));
    });
  };
  check(schema, bytes);
}

const isPart = (field: DescField): boolean =>
  field.message !== undefined || scalarOf(field) === ScalarType.BYTES;

/**
 * Returns the number of values in a record; null if the record's encoding is invalid for `field`. A packed record may
 * contain any number of values. Protobuf allows packing for every repeated field, regardless of the schema.
 */
export function countValues(
  field: DescField,
  wireType: WireType,
  bytes: Uint8Array,
  start: number,
  end: number,
): number | null {
  const expected = wireTypeOf(field);
  if (wireType === expected) return 1;
  if (field.fieldKind !== "list" || wireType !== WireType.LengthDelimited) return null;
  const width = expected === WireType.Bit32 ? 4 : expected === WireType.Bit64 ? 8 : 0;
  if (width > 0) return (end - start) % width === 0 ? (end - start) / width : null;
  // A varint's last byte is below 128, and all other bytes are not.
  if (end > start && bytes[end - 1] >= 0x80) return null;
  let count = 0;
  for (let position = start; position < end; position++) if (bytes[position] < 0x80) count++;
  return count;
}

function wireTypeOf(field: DescField): WireType {
  switch (scalarOf(field)) {
    case undefined:
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return WireType.LengthDelimited;
    case ScalarType.FLOAT:
      return WireType.Bit32;
    case ScalarType.DOUBLE:
      return WireType.Bit64;
    default:
      return WireType.Varint;
  }
}

const scalarOf = (field: DescField): ScalarType | undefined =>
  field.fieldKind === "scalar" || field.fieldKind === "list" ? field.scalar : undefined;

/** Decodes UTF-8, and keeps a byte order mark as part of the text. */
export function decodeUtf8(bytes: Uint8Array, what: string): string {
  return malformedAs(what, () =>
    new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes),
  );
}

export const encodeUtf8 = (text: string): Uint8Array => new TextEncoder().encode(checkUtf8(text));

/**
 * Returns `text` if UTF-8 can encode it. All written text is checked here, because the protobuf library and
 * `TextEncoder` silently replace text that UTF-8 cannot encode. Throws `dtype` for half a surrogate pair, and for a
 * value that is not text.
 */
export function checkUtf8(text: string): string {
  if (typeof text !== "string") {
    throw wrongValue("dtype", "a name or a text must be a string", text, { key: "text" });
  }
  if (!/\p{Cs}/u.test(text)) return text;
  throw new TensorError(
    "dtype",
    `UTF-8 cannot hold half a surrogate pair, as in ${printValue(text)}`,
    { key: "text", got: factOf(text) },
  );
}

/** Runs code that reads a file. Errors of the protobuf library become `malformed-file`. */
export function malformedAs<T>(what: string, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    if (isTensorError(cause)) throw cause;
    // Browsers end messages with a full stop, which this package's errors do not have.
    const reason = messageOf(cause).replace(/\.$/, "");
    throw malformed(`${what} cannot be decoded: ${reason}`, {}, { cause });
  }
}

/** Runs code that encodes a file. If memory is exhausted, the error is `too-large`. */
export function encodedAs<T>(what: string, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    if (!isError(cause, "RangeError")) throw cause;
    throw new TensorError("too-large", `${what} does not fit in memory as a file`, {}, { cause });
  }
}
