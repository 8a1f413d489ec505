/**
 * ONNX models without their weights: a file of any size is walked record by record, and everything but the values of
 * large tensors is copied into an outline, which is a model again and read as one. The values stay where they are until
 * they are asked for.
 */

import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";

import { DTYPES } from "../tensor/dtype.ts";
import { malformed, TensorError } from "../errors.ts";
import { readRange, type ByteSource } from "../model/byte-source.ts";
import type { Model } from "../model/model.ts";
import { sizeOf } from "../tensor/shape.ts";
import { Cursor } from "./cursor.ts";
import type { ReadOptions } from "./external.ts";
import { decodeModel, MAX_DEPTH } from "./read-model.ts";
import {
  AttributeProtoSchema,
  FunctionProtoSchema,
  GraphProtoSchema,
  ModelProtoSchema,
  TensorProtoSchema,
} from "./schema_pb.ts";
import { isTypedField, printHeader, readHeader, tensorTitle } from "./tensor-proto.ts";

/** Values of one tensor up to this many bytes are copied: most index tensors are smaller, most weights larger. */
const KEPT_VALUES = 2 ** 10;

/** No name is longer, and no attribute of an operator of the family. */
const MAX_TEXT = 2 ** 16;

/** A graph of 10^5 nodes takes 20 MB. */
const MAX_OUTLINE = 2 ** 26;

/** Walking a record takes 30 to 50 ns; a real model has some 10 of them for each node and tensor. */
const MAX_RECORDS = 2 ** 24;

/** What the schema says is `bytes` because it is read later: see `schema.proto`. */
const LATER: ReadonlyMap<DescField, DescMessage> = new Map<DescField, DescMessage>([
  [ModelProtoSchema.field.functions, FunctionProtoSchema],
  [GraphProtoSchema.field.initializer, TensorProtoSchema],
  [AttributeProtoSchema.field.t, TensorProtoSchema],
  [AttributeProtoSchema.field.tensors, TensorProtoSchema],
  [AttributeProtoSchema.field.g, GraphProtoSchema],
  [AttributeProtoSchema.field.graphs, GraphProtoSchema],
]);

/** What nobody looks at in an outline. */
const LEFT_OUT: ReadonlySet<DescField> = new Set([
  ModelProtoSchema.field.docString,
  GraphProtoSchema.field.docString,
  GraphProtoSchema.field.sparseInitializer,
]);

/** Where a tensor lies in the file. */
interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * The model in a file of any size, of which only the graph is read. Constants are read from the file when they are asked
 * for, so the file must not change while the model is in use.
 *
 * It is there to be looked at and run: what `Model` does not show is not in it, so `writeModel` refuses such a model
 * where it has functions or subgraphs, and writes no metadata.
 *
 * @throws TensorError as `readModel`; `too-large` also for 64 MiB and more beside tensors, for a name or text of more
 * than 64 KiB outside of attributes, and for more than 2^24 records.
 */
export function readOutline(source: ByteSource, options: ReadOptions = {}): Model {
  const { size } = source;
  if (!Number.isSafeInteger(size) || size < 0) throw malformed(`a file has no ${size} bytes`);
  const walk = new Walk(source);
  walk.copy(ModelProtoSchema, size, 0);
  const { bytes, ranges } = walk.finish();
  return decodeModel(bytes, options, {
    wholeOf(part) {
      // Tensors are views of the outline, so their places in it tell which they are.
      const range = ranges.get(part.byteOffset - bytes.byteOffset);
      return range === undefined ? null : () => wholeTensor(source, part, range);
    },
  });
}

/** A value takes at most 16 bytes, or a tag and 10 as a varint. */
const MAX_VALUE = 20;

/** The message that lies in `range`. How much that may be is told by the shape, so that a small one is read fast. */
function wholeTensor(source: ByteSource, part: Uint8Array, { start, end }: Range): Uint8Array {
  const header = readHeader(part);
  const { name, dtype, shape } = header;
  const size = sizeOf(shape, { input: name === "" ? undefined : name });
  const isText = dtype !== null && DTYPES[dtype].bytes === 0;
  if (!isText && end - start > MAX_VALUE * size + MAX_TEXT) {
    throw malformed(
      `${tensorTitle(name)}, ${printHeader(header)}, takes ${end - start} bytes of the file`,
    );
  }
  return readRange(source, start, end);
}

/** Copies a model into its outline. */
class Walk {
  readonly #cursor: Cursor;
  readonly #ranges = new Map<number, Range>();
  #outline: Uint8Array = new Uint8Array(2 ** 16);
  #length = 0;
  #records = 0;

  constructor(source: ByteSource) {
    this.#cursor = new Cursor(source);
  }

  finish(): { bytes: Uint8Array; ranges: ReadonlyMap<number, Range> } {
    return { bytes: this.#outline.subarray(0, this.#length), ranges: this.#ranges };
  }

  /**
   * Copies the message from the cursor to `end`.
   * @param depth in how many subgraphs it lies
   */
  copy(schema: DescMessage, end: number, depth: number): void {
    const cursor = this.#cursor;
    const start = cursor.position;
    const home = this.#length;
    let values = 0;
    let isWhole = true;
    while (cursor.position < end) {
      if (++this.#records > MAX_RECORDS) throw tooLarge(`more than ${MAX_RECORDS} records`);
      const begin = cursor.position;
      const tag = cursor.varint(end);
      const tagEnd = cursor.position;
      const field = schema.fields.find((one) => one.number === Math.floor(tag / 8));
      const length = lengthOf(cursor, tag % 8, end);
      cursor.check(length, end);
      if (field === undefined || LEFT_OUT.has(field)) {
        cursor.position += length;
        continue;
      }
      const inner = field.message ?? LATER.get(field);
      if (inner !== undefined && tag % 8 === WireType.LengthDelimited) {
        const isBody = inner === GraphProtoSchema && schema === AttributeProtoSchema;
        const next = cursor.position + length;
        if (!isBody || depth < MAX_DEPTH) {
          this.#copyInner(inner, begin, tagEnd, next, isBody ? depth + 1 : depth);
        }
        cursor.position = next;
        continue;
      }
      const most = mostValues(schema, field);
      if (most === null) {
        if (length > MAX_TEXT)
          throw tooLarge(`${field.name} of ${length} bytes in a ${schema.name}`);
      } else {
        values += cursor.position + length - begin;
        if (values > most) {
          isWhole = false;
          cursor.position += length;
          continue;
        }
      }
      cursor.position += length;
      this.#append(cursor.between(begin, cursor.position));
    }
    if (isWhole) return;
    if (schema === TensorProtoSchema) this.#ranges.set(home, { start, end });
    // An attribute without its value must not be taken for one with another value.
    else this.#append(NO_TYPE);
  }

  /** Copies a message with its tag. Its length is told in five bytes, because it is known last. */
  #copyInner(schema: DescMessage, begin: number, tagEnd: number, end: number, depth: number): void {
    this.#append(this.#cursor.between(begin, tagEnd));
    this.#append(LENGTH);
    const home = this.#length;
    this.copy(schema, end, depth);
    let length = this.#length - home;
    for (let at = home - LENGTH.length; at < home; at++, length >>>= 7) {
      this.#outline[at] = (length & 0x7f) | (at < home - 1 ? 0x80 : 0);
    }
  }

  #append(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    if (length > MAX_OUTLINE) throw tooLarge(`more than ${MAX_OUTLINE} bytes beside tensors`);
    if (length > this.#outline.length) {
      const larger = new Uint8Array(Math.min(MAX_OUTLINE, 2 * length));
      larger.set(this.#outline);
      this.#outline = larger;
    }
    this.#outline.set(bytes, this.#length);
    this.#length = length;
  }
}

const LENGTH = new Uint8Array(5);

/** `type: UNDEFINED`; the last one counts. */
const NO_TYPE = new Uint8Array([0xa0, 0x01, 0x00]);

/** How many bytes a record has behind its tag, or behind its length. The cursor is moved behind what tells it. */
function lengthOf(cursor: Cursor, wireType: number, end: number): number {
  switch (wireType) {
    case WireType.Varint: {
      cursor.skipVarint(end);
      return 0;
    }
    case WireType.Bit64:
      return 8;
    case WireType.Bit32:
      return 4;
    case WireType.LengthDelimited:
      return cursor.varint(end);
    default:
      throw malformed(
        `byte ${cursor.position} of the file begins a field of wire type ${wireType}, which ONNX does not use`,
      );
  }
}

/** How many bytes of values a message may have to be copied whole; null for fields that are no values. */
function mostValues(schema: DescMessage, field: DescField): number | null {
  if (schema === TensorProtoSchema) {
    return isTypedField(field.localName) || field === TensorProtoSchema.field.rawData
      ? KEPT_VALUES
      : null;
  }
  const isValue = field.fieldKind === "list" || field === AttributeProtoSchema.field.s;
  return schema === AttributeProtoSchema && isValue ? MAX_TEXT : null;
}

const tooLarge = (what: string): TensorError =>
  new TensorError("too-large", `the model has ${what}`);
