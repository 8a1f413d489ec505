/**
 * Encodes the messages of `schema.ts` as protobuf: first measures them, because the length of a message precedes the
 * message, then fills one array.
 */

import { WIRE, type AnySchema, type MessageOf, type NamedField } from "./schema.ts";
import { checkUtf8, type Values } from "./wire.ts";

/** Encodes a message: its fields in the order of their numbers, then the records of unknown fields. */
export function encode<S extends AnySchema>(schema: S, message: MessageOf<S>): Uint8Array {
  return encoded((writer) => writer.message(schema, message as Values));
}

/** Encodes the tag and the length of a record, before its payload. */
export const encodeHead = (number: number, length: number): Uint8Array =>
  encoded((writer) => writer.head(number, length));

function encoded(write: (writer: Writer) => void): Uint8Array {
  const lengths: number[] = [];
  const measuring = new Writer(null, lengths);
  write(measuring);
  const bytes = new Uint8Array(measuring.at);
  write(new Writer(bytes, lengths));
  return bytes;
}

const ENCODER = new TextEncoder();

class Writer {
  at = 0;
  /** The bytes to fill; null if the writer only measures. */
  readonly #bytes: Uint8Array | null;
  /** The lengths of messages and texts, in the order in which they begin. */
  readonly #lengths: number[];
  #next = 0;

  constructor(bytes: Uint8Array | null, lengths: number[]) {
    this.#bytes = bytes;
    this.#lengths = lengths;
  }

  message({ byNumber }: AnySchema, message: Values): void {
    for (const field of byNumber.values()) {
      if (!Object.hasOwn(message, field.key)) continue;
      const { [field.key]: value } = message;
      if (field.isList) for (const one of value as unknown[]) this.#field(field, one);
      else if (value !== undefined) this.#field(field, value);
    }
    for (const record of message.unknown ?? []) this.#copy(record);
  }

  /** Writes a record. The numbers of a list are not packed, as in the files of ONNX's own tools. */
  #field({ number, kind, wire }: NamedField, value: unknown): void {
    if (kind === "bytes") {
      this.head(number, (value as Uint8Array).length);
      return this.#copy(value as Uint8Array);
    }
    this.#varint(8 * number + wire);
    if (wire === WIRE.length) {
      this.#measured(() => {
        if (typeof kind === "string") this.#text(value as string);
        else this.message(kind, value as Values);
      });
    } else if (kind === "float") {
      this.#copy(new Uint8Array(new Float32Array([value as number]).buffer));
    } else if (kind === "double") {
      this.#copy(new Uint8Array(new Float64Array([value as number]).buffer));
    } else {
      this.#varint(value as number | bigint);
    }
  }

  /** Writes the tag and the length of a record. */
  head(number: number, length: number): void {
    this.#varint(8 * number + WIRE.length);
    this.#varint(length);
  }

  /** Writes a part after its length, which is not known before the part was measured. */
  #measured(write: () => void): void {
    const lengths = this.#lengths;
    const nth = this.#next++;
    if (this.#bytes !== null) {
      this.#varint(lengths[nth]);
      return write();
    }
    const begin = this.at;
    lengths.push(0);
    write();
    lengths[nth] = this.at - begin;
    this.#varint(lengths[nth]);
  }

  #text(text: string): void {
    const bytes = this.#bytes;
    if (bytes === null) checkUtf8(text);
    const begin = this.at;
    // Most texts are short names in ASCII, for which a loop is faster than an encoder.
    for (let i = 0; i < text.length; i++, this.at++) {
      const code = text.charCodeAt(i);
      if (code >= 0x80) {
        this.at = begin;
        return this.#copy(ENCODER.encode(text));
      }
      if (bytes !== null) bytes[this.at] = code;
    }
  }

  #copy(bytes: Uint8Array): void {
    this.#bytes?.set(bytes, this.at);
    this.at += bytes.length;
  }

  #varint(value: number | bigint): void {
    if (value < 0 || value >= 2 ** 31) return this.#longVarint(BigInt.asUintN(64, BigInt(value)));
    let rest = Number(value);
    for (; rest >= 0x80; rest >>= 7) this.#byte((rest & 0x7f) | 0x80);
    this.#byte(rest);
  }

  #longVarint(value: bigint): void {
    let rest = value;
    for (; rest >= 0x80n; rest >>= 7n) this.#byte(Number(rest & 0x7fn) | 0x80);
    this.#byte(Number(rest));
  }

  #byte(byte: number): void {
    if (this.#bytes !== null) this.#bytes[this.at] = byte;
    this.at++;
  }
}
