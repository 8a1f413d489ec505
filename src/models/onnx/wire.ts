/**
 * Protobuf, which is the encoding of ONNX files: decodes the messages of `schema.ts`, which `encode.ts` encodes. A
 * downloaded file may be hostile. A nested message may extend past its parent, a field may have any wire type, and two
 * bytes may become a message of hundreds of bytes in memory. Every record is therefore checked before it is decoded.
 *
 * protobuf.dev: "Encoding".
 */

import { isError, isTensorError, malformed, messageOf, TensorError } from "../../core/errors.ts";
import { factOf, printCount, printValue, wrongValue } from "../../core/foreign.ts";
import { WIRE, type AnySchema, type Kind, type MessageOf, type NamedField } from "./schema.ts";

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

/** Reads varints, whose ends are known to lie inside the bytes. */
export class Reader {
  at = 0;
  readonly bytes: Uint8Array;
  /** The low and high 32 bits of the last varint. */
  #low = 0;
  #high = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** Reads a tag or a length; returns null for 2^32 or more. */
  uint32(): number | null {
    const start = this.at;
    this.#varint();
    if (this.at > this.bytes.length) throw new Error("it ends within a tag or a length");
    return this.#high !== 0 || this.at - start > 5 ? null : this.#low >>> 0;
  }

  int32(): number {
    this.#varint();
    return this.#low;
  }

  int64(): bigint {
    this.#varint();
    return (BigInt(this.#high) << 32n) | BigInt(this.#low >>> 0);
  }

  uint64(): bigint {
    return BigInt.asUintN(64, this.int64());
  }

  #varint(): void {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 7 * MAX_VARINT; shift += 7) {
      const byte = this.bytes[this.at++] ?? 0;
      const bits = byte & 0x7f;
      if (shift < 32) low |= bits << shift;
      if (shift === 28) high = bits >> 4;
      else if (shift > 28) high |= bits << (shift - 32);
      if (byte >= 0x80) continue;
      this.#low = low;
      this.#high = high;
      return;
    }
    throw new Error("invalid varint");
  }
}

/** Called with a record's field number, its wire type, the range of its payload, and the position of its tag. */
export type Visit = (
  field: number,
  wireType: number,
  start: number,
  end: number,
  begin: number,
) => void;

/**
 * Visits a message's records in file order. The payload of a length-delimited record begins after its length. Throws
 * `malformed-file` for bytes that are not a message. Groups are refused, because ONNX does not use them.
 */
export function visitRecords(bytes: Uint8Array, what: string, visit: Visit): void {
  const reader = new Reader(bytes);
  malformedAs(what, () => {
    while (reader.at < bytes.length) {
      const begin = reader.at;
      const tag = reader.uint32();
      if (tag === null) throw new Error("illegal tag: varint overflows uint32");
      const [field, wireType] = [tag >>> 3, tag & 7];
      if (field === 0 || wireType > WIRE.bit32)
        throw new Error(`illegal tag: field no ${field} wire type ${wireType}`);
      const end = endOf(reader, field, wireType, what);
      visit(field, wireType, reader.at, end, begin);
      reader.at = end;
    }
  });
}

/** Returns the end of a record's payload, after moving the reader to its start. */
function endOf(reader: Reader, field: number, wireType: number, what: string): number {
  const { bytes } = reader;
  if (wireType === WIRE.length) {
    const length = reader.uint32();
    if (length === null) throw malformed(`${what} has a field ${field} of more than 2^32 bytes`);
    const left = bytes.length - reader.at;
    if (length <= left) return reader.at + length;
    const part = `a field ${field} of ${printCount(length, "byte")} where ${left} are left`;
    throw malformed(`the file is truncated or damaged; get it again: ${what} has ${part}`);
  }
  let end = reader.at;
  if (wireType === WIRE.bit32) end += 4;
  else if (wireType === WIRE.bit64) end += 8;
  else if (wireType === WIRE.varint) {
    while (bytes[end] >= 0x80) end++;
    end++;
  } else {
    throw malformed(
      `${what} has a field ${field} of wire type ${wireType}, which ONNX does not use`,
    );
  }
  if (end > bytes.length)
    throw malformed(`${what} cannot be decoded: it ends within its field ${field}`);
  if (wireType === WIRE.varint && end - reader.at > MAX_VARINT)
    throw malformed(`${what} has a field ${field} of more than ${MAX_VARINT} bytes`);
  return end;
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

/** Returns true if a value is a message of the schema. */
export const isMessage = <S extends AnySchema>(value: unknown, schema: S): value is MessageOf<S> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === schema.defaults;

/** Returns a message with the given values, and no others. */
export function create<S extends AnySchema>(
  schema: S,
  values: Partial<MessageOf<S>> = {},
): MessageOf<S> {
  return Object.assign(Object.create(schema.defaults), values) as MessageOf<S>;
}

/** A message, whose values have the types that its schema says. */
export type Values = Record<string, unknown> & { unknown?: Uint8Array[] };

/**
 * Decodes a message. If a field that is not a list occurs several times, the last value counts, and messages are merged.
 * @param what the file's part that errors name
 * @param parts the running count of a model's parts
 * @throws TensorError `malformed-file` for bytes that are not a message of the schema, `too-large` for more parts than a
 *   model of this size may have
 */
export function decode<S extends AnySchema>(
  schema: S,
  bytes: Uint8Array,
  what: string,
  parts: Parts = partsOf(bytes),
): MessageOf<S> {
  const message = create(schema);
  decodeInto(message as Values, schema, bytes, { what, parts });
  return message;
}

/** The file's part that errors name, and the running count of a model's parts. */
interface Decoding {
  readonly what: string;
  readonly parts: Parts;
}

function decodeInto(
  message: Values,
  schema: AnySchema,
  bytes: Uint8Array,
  decoding: Decoding,
): void {
  const { what, parts } = decoding;
  visitRecords(bytes, `the ${schema.name}`, (number, wireType, start, end, begin) => {
    const field = schema.byNumber.get(number);
    if (field === undefined || field.kind === "bytes" || typeof field.kind !== "string") {
      count(parts, 1, 0);
    }
    if (field === undefined) {
      listOf(message, "unknown").push(bytes.subarray(begin, end));
      return;
    }
    const values = countValues(field, wireType, bytes, start, end);
    if (values === null)
      throw malformed(`the ${schema.name} has its ${field.name} in the wrong encoding`);
    const { key, kind, isList } = field;
    const payload = bytes.subarray(start, end);
    if (schema.isChoice) for (const other of schema.byNumber.values()) delete message[other.key];
    if (!isList) message[key] = valueOf(kind, payload, decoding, message[key]);
    else if (typeof kind !== "string" || kind === "bytes" || kind === "string") {
      if (kind === "string") count(parts, 0, 1);
      listOf(message, key).push(valueOf(kind, payload, decoding));
    } else {
      count(parts, 0, values);
      readNumbers(kind, payload, what, listOf(message, key));
    }
  });
}

/** Returns a message's own list for more entries. */
function listOf(message: Values, key: string): unknown[] {
  if (!Object.hasOwn(message, key)) message[key] = [];
  return message[key] as unknown[];
}

/** Adds to the numbers of parts and of list entries. */
function count(parts: Parts, found: number, values: number): void {
  parts.found += found;
  parts.values += values;
  const { most } = parts;
  if (parts.found > most)
    throw new TensorError("too-large", `the model has more than ${most} parts`, { limit: most });
  if (parts.values > MAX_VALUES) {
    const sentence = `the model has more than ${MAX_VALUES} numbers and texts in lists`;
    throw new TensorError("too-large", sentence, { limit: MAX_VALUES });
  }
}

/** Decodes a value; merges a message with the message `before`. */
function valueOf(kind: Kind, payload: Uint8Array, decoding: Decoding, before?: unknown): unknown {
  if (kind === "bytes") return payload;
  if (kind === "string") return decodeUtf8(payload, decoding.what);
  if (typeof kind === "string") {
    const values: unknown[] = [];
    readNumbers(kind, payload, decoding.what, values);
    return values[0];
  }
  // This recursion is shallow, because the schema declares subgraphs and tensors as bytes.
  const message = (before ?? create(kind)) as Values;
  decodeInto(message, kind, payload, decoding);
  return message;
}

type NumberKind = Exclude<Kind, AnySchema | "string" | "bytes">;

function readNumbers(kind: NumberKind, payload: Uint8Array, what: string, to: unknown[]): void {
  if (kind === "float" || kind === "double") {
    const { byteOffset, byteLength } = payload;
    const view = new DataView(payload.buffer, byteOffset, byteLength);
    const width = kind === "float" ? 4 : 8;
    for (let at = 0; at < byteLength; at += width)
      to.push(width === 4 ? view.getFloat32(at, true) : view.getFloat64(at, true));
    return;
  }
  const reader = new Reader(payload);
  malformedAs(what, () => {
    while (reader.at < payload.length) to.push(reader[kind]());
  });
}

/**
 * Returns the number of values in a record; null if the record's encoding is invalid for `field`. A packed record may
 * contain any number of values. Protobuf allows packing for every repeated field, regardless of the schema.
 */
export function countValues(
  { wire, isList }: NamedField,
  wireType: number,
  bytes: Uint8Array,
  start: number,
  end: number,
): number | null {
  if (wireType === wire) return 1;
  if (!isList || wireType !== WIRE.length) return null;
  const width = wire === WIRE.bit32 ? 4 : wire === WIRE.bit64 ? 8 : 0;
  if (width > 0) return (end - start) % width === 0 ? (end - start) / width : null;
  // A varint's last byte is below 128, and all other bytes are not.
  if (end > start && bytes[end - 1] >= 0x80) return null;
  let found = 0;
  for (let position = start; position < end; position++) if (bytes[position] < 0x80) found++;
  return found;
}

/** Decodes UTF-8, and keeps a byte order mark as part of the text. */
export function decodeUtf8(bytes: Uint8Array, what: string): string {
  return malformedAs(what, () =>
    new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes),
  );
}

export const encodeUtf8 = (text: string): Uint8Array => new TextEncoder().encode(checkUtf8(text));

/**
 * Returns `text` if UTF-8 can encode it. All written text is checked here, because `TextEncoder` silently replaces text
 * that UTF-8 cannot encode. Throws `dtype` for half a surrogate pair, and for a value that is not text.
 */
export function checkUtf8(text: string): string {
  if (typeof text !== "string") {
    throw wrongValue("dtype", "a name or a text must be a string", text, { key: "text" });
  }
  if (!/\p{Cs}/u.test(text)) return text;
  const sentence = `UTF-8 cannot hold half a surrogate pair, as in ${printValue(text)}`;
  throw new TensorError("dtype", sentence, { key: "text", got: factOf(text) });
}

/** Runs code that reads a file. Errors of other code, such as the decoder of UTF-8, become `malformed-file`. */
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
