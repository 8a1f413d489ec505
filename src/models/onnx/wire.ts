/**
 * Decodes the messages of `schema.ts`, which `encode.ts` encodes. In a hostile file, a field may have any wire type,
 * and two bytes may become a message of hundreds of bytes in memory. Every record is therefore checked before it is
 * decoded.
 */

import { isError, malformed, messageOf, TensorError } from "../../core/errors.ts";
import { factOf, printValue, wrongValue } from "../../core/foreign.ts";
import { Numbers, Records } from "./records.ts";
import { WIRE, type AnySchema, type Kind, type MessageOf, type NamedField } from "./schema.ts";

/**
 * The maximum number of numbers and texts in a model's lists, outside of tensors. A number takes at least one byte in
 * the file and 40 bytes in memory as a bigint, so 2^24 numbers take 670 MB. A tree ensemble with 10^5 nodes has about
 * 10^6 numbers and texts.
 */
const MAX_VALUES = 2 ** 24;

/** Counts the parts of a model. */
export class Parts {
  readonly #most: number;
  #found = 0;
  #values = 0;

  /**
   * An empty message takes 2 bytes in the file but hundreds of bytes in memory, so a small hostile file could exhaust
   * memory. In real models, the smallest part is an attribute with 12 bytes. The largest models in use have about 10^5
   * nodes, and 2^21 parts are enough for 20 times as many nodes.
   */
  constructor(file: Uint8Array) {
    this.#most = Math.min(2 ** 21, 2 ** 16 + Math.floor(file.length / 8));
  }

  /** Counts a message, a byte string or an unknown record. Throws `too-large` for more than a model may have. */
  add(): void {
    const limit = this.#most;
    if (++this.#found > limit)
      throw new TensorError("too-large", `the model has more than ${limit} parts`, { limit });
  }

  /** Counts entries of a list. Throws `too-large` for more than a model may have. */
  addValues(count: number): void {
    this.#values += count;
    if (this.#values <= MAX_VALUES) return;
    const sentence = `the model has more than ${MAX_VALUES} numbers and texts in lists`;
    throw new TensorError("too-large", sentence, { limit: MAX_VALUES });
  }
}

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
 * Decodes a message. If a field that is not a list occurs several times, the last value counts, and messages are
 * merged.
 * @param what the name of the file's part in errors
 * @param parts the running count of a model's parts
 * @throws TensorError `malformed-file` for bytes that are not a message of the schema, `too-large` for more parts than
 *   a model of this size may have
 */
export function decode<S extends AnySchema>(
  schema: S,
  bytes: Uint8Array,
  what: string,
  parts = new Parts(bytes),
): MessageOf<S> {
  const message = create(schema);
  const records = new Records(bytes, what);
  decodeInto(message as Values, schema, bytes.length, { records, what, parts });
  return message;
}

/** The records of a message in memory, the file's part that errors name, and the running count of a model's parts. */
interface Decoding {
  readonly records: Records;
  readonly what: string;
  readonly parts: Parts;
}

function decodeInto(message: Values, schema: AnySchema, limit: number, decoding: Decoding): void {
  const { records, what, parts } = decoding;
  while (records.next(limit)) {
    const field = schema.byNumber.get(records.number);
    if (field === undefined || field.kind === "bytes" || typeof field.kind !== "string")
      parts.add();
    if (field === undefined) {
      listOf(message, "unknown").push(records.between(records.begin, records.end));
      continue;
    }
    const payload = records.between(records.start, records.end);
    const values = countValues(field, records.wireType, payload);
    if (values === null)
      throw malformed(`the ${schema.name} has its ${field.name} in the wrong encoding`);
    const { key, kind, isList } = field;
    if (schema.isChoice) for (const other of schema.byNumber.values()) delete message[other.key];
    if (!isList) message[key] = valueOf(kind, payload, decoding, message[key]);
    else if (typeof kind !== "string" || kind === "bytes" || kind === "string") {
      if (kind === "string") parts.addValues(1);
      listOf(message, key).push(valueOf(kind, payload, decoding));
    } else {
      parts.addValues(values);
      readNumbers(kind, payload, what, listOf(message, key));
    }
  }
}

/** Returns a message's own list for more entries. */
function listOf(message: Values, key: string): unknown[] {
  if (!Object.hasOwn(message, key)) message[key] = [];
  return message[key] as unknown[];
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
  const { records } = decoding;
  records.enter();
  decodeInto(message, kind, records.end, decoding);
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
  const numbers = new Numbers(payload, what);
  while (numbers.at < payload.length) to.push(numbers[kind]());
}

/**
 * Returns the number of values in a record; null if the record's encoding is invalid for `field`. A packed record may
 * contain any number of values. Protobuf allows packing for every repeated field, regardless of the schema.
 */
export function countValues(
  { wire, isList }: NamedField,
  wireType: number,
  payload: Uint8Array,
): number | null {
  if (wireType === wire) return 1;
  if (!isList || wireType !== WIRE.length) return null;
  const { length } = payload;
  const width = wire === WIRE.bit32 ? 4 : wire === WIRE.bit64 ? 8 : 0;
  if (width > 0) return length % width === 0 ? length / width : null;
  // A varint's last byte is below 128, and all other bytes are not.
  if (payload[length - 1] >= 0x80) return null;
  let found = 0;
  for (const byte of payload) if (byte < 0x80) found++;
  return found;
}

/** Decodes UTF-8, and keeps a byte order mark as part of the text. */
export function decodeUtf8(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    // Browsers end messages with a full stop, which this package's errors do not have.
    const reason = messageOf(cause).replace(/\.$/, "");
    throw malformed(`${what} cannot be decoded: ${reason}`, {}, { cause });
  }
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

/** Runs code that encodes a file. If memory is exhausted, the error is `too-large`. */
export function encodedAs<T>(what: string, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    if (!isError(cause, "RangeError")) throw cause;
    throw new TensorError("too-large", `${what} does not fit in memory as a file`, {}, { cause });
  }
}
