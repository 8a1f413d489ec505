/**
 * Reads ONNX models without their weights. The reader goes through a file of any size, record by record, and copies
 * everything except the values of large tensors into an outline. The outline is a serialized model, so `read-model.ts`
 * reads outlines and complete models. Values stay in the file until a constant is read. The position of a tensor's
 * message in the outline determines its position in the file.
 */

import { DTYPES } from "../../core/tensor/dtype.ts";
import { malformed, TensorError } from "../../core/errors.ts";
import { readRange, sourceFrom, type ByteSource } from "../model/byte-source.ts";
import { MAX_BODY_DEPTH, type Model } from "../model/model.ts";
import { sizeOf } from "../../core/tensor/shape.ts";
import { readOptionsFrom, type ReadOptions } from "./external.ts";
import { HEAD } from "../../core/tensor/bytes.ts";
import { namingFormat } from "./other-format.ts";
import { decodeModel } from "./read-model.ts";
import { Records, type Range } from "./records.ts";
import {
  ATTRIBUTE,
  GRAPH,
  MODEL,
  TENSOR,
  WIRE,
  type AnySchema,
  type NamedField,
} from "./schema.ts";
import { isTypedField, printTensorType, readTensorHeader, tensorTitle } from "./tensor-proto.ts";

/**
 * The maximum number of value bytes that are copied per tensor. Most index tensors are smaller, and most weights are
 * larger.
 */
const KEPT_VALUES = 2 ** 10;

/** The maximum size of a copied field, in bytes. Names, and the attributes of scatters and gathers, are shorter. */
const MAX_FIELD = 2 ** 16;

/** The maximum size of an outline, in bytes. The outline of a graph with 10^5 nodes takes 20 MB. */
const MAX_OUTLINE = 2 ** 26;

/**
 * The maximum number of records. Reading a record takes 30 to 50 ns, and a real model has about 10 records per node and
 * per tensor.
 */
const MAX_RECORDS = 2 ** 24;

/**
 * Reads a model's graph from a file of any size, without the values of large tensors. A constant's values are read from
 * the file on demand, so the file must not change while the model is in use. The model can be inspected and run.
 *
 * An outline lacks file data that `Model` does not represent. `writeModel` therefore writes such a model without
 * metadata, and refuses a model with functions.
 *
 * @param file the size of the file, and a function that reads a range of it
 * @param options `external` reads external data
 * @throws TensorError the errors of `readModel`; also `too-large` for more than 64 MiB besides tensors, for a name or
 * text of more than 64 KiB outside of attributes, and for more than 2^24 records
 *
 * @example
 * ```ts
 * import { closeSync, fstatSync, openSync, readSync } from "node:fs";
 *
 * const file = openSync("model.onnx", "r");
 * const read = (offset: number, length: number): Uint8Array => {
 *   const bytes = new Uint8Array(length);
 *   readSync(file, bytes, 0, length, offset);
 *   return bytes;
 * };
 * const model = readOutline({ size: fstatSync(file).size, read });
 * console.log(inspectModel(model).nodeCount); // 2
 * closeSync(file);
 * ```
 */
export function readOutline(file: ByteSource, options: ReadOptions = {}): Model {
  const checked = readOptionsFrom(options);
  const source = sourceFrom(file, "a file must be { size, read }");
  return namingFormat(
    // An empty file has no head, so nothing is read.
    () =>
      source.size === 0 ? new Uint8Array() : readRange(source, 0, Math.min(source.size, HEAD)),
    () => outlineOf(source, checked),
  );
}

function outlineOf(source: ByteSource, options: ReadOptions): Model {
  const outline = new OutlineWriter(source);
  outline.copy(MODEL, { start: 0, end: source.size }, 0);
  return decodeModel(outline.bytes, options, (part) => {
    // Tensors are views of the outline, so a byte offset identifies each tensor.
    const range = outline.ranges.get(part.byteOffset);
    return range === undefined ? null : () => wholeTensor(source, part, range);
  });
}

/** The maximum encoded size of a value, in bytes. A value takes 16 bytes, or a tag and a varint of 10 bytes. */
const MAX_VALUE = 20;

/**
 * Returns a tensor's complete message, of which `part` is in the outline. The tensor's shape limits the message length,
 * so that a small tensor is cheap to read even if its message claims to be long. Text has no such limit.
 */
function wholeTensor(source: ByteSource, part: Uint8Array, { start, end }: Range): Uint8Array {
  const header = readTensorHeader(part);
  const { name, dtype, shape } = header;
  const size = sizeOf(shape, { input: name === "" ? undefined : name });
  const isText = dtype !== null && DTYPES[dtype].bytes === 0;
  if (!isText && end - start > MAX_VALUE * size + MAX_FIELD) {
    throw malformed(
      `${tensorTitle(name)}, ${printTensorType(header)}, takes ${end - start} bytes of the file`,
      { got: end - start },
    );
  }
  return readRange(source, start, end);
}

class OutlineWriter {
  /** The ranges of incomplete tensors in the file, by their offsets in the outline. */
  readonly ranges = new Map<number, Range>();
  readonly #records: Records;
  #outline: Uint8Array = new Uint8Array(2 ** 16);
  #length = 0;
  #count = 0;

  constructor(source: ByteSource) {
    this.#records = new Records(source, "the file");
  }

  get bytes(): Uint8Array {
    return this.#outline.subarray(0, this.#length);
  }

  /** Copies the message from `start` to `end`. The `depth` is the number of enclosing subgraphs. */
  copy(schema: AnySchema, { start, end }: Range, depth: number): void {
    const home = this.#length;
    const records = this.#records;
    let values = 0;
    let isWhole = true;
    while (records.next(end)) {
      if (++this.#count > MAX_RECORDS) throw tooLargeModel(`more than ${MAX_RECORDS} records`);
      const field = schema.byNumber.get(records.number);
      if (field === undefined || field.key === "docString") continue;
      const inner = field.inner?.();
      if (inner !== undefined && records.wireType === WIRE.length) {
        const isBody = inner === GRAPH && schema === ATTRIBUTE;
        if (!isBody || depth < MAX_BODY_DEPTH) this.#copyInner(inner, isBody ? depth + 1 : depth);
        continue;
      }
      const most = mostValues(schema, field);
      const length = records.end - records.start;
      if (most !== null) values += records.end - records.begin;
      else if (length > MAX_FIELD)
        throw tooLargeModel(`${field.name} of ${length} bytes in a ${schema.name}`);
      if (most === null || values <= most)
        this.#append(records.between(records.begin, records.end));
      else isWhole = false;
    }
    if (isWhole) return;
    if (schema === TENSOR) this.ranges.set(home, { start, end });
    // An attribute without a value must not look like an attribute with an empty value.
    else this.#append(NO_TYPE);
  }

  /**
   * Copies the current record, which is a message. Five bytes are reserved for the length, which is known only after
   * the copy.
   */
  #copyInner(schema: AnySchema, depth: number): void {
    const { begin, tagEnd, start, end } = this.#records;
    this.#append(this.#records.between(begin, tagEnd));
    this.#append(LENGTH_SPACE);
    const home = this.#length;
    this.#records.enter();
    this.copy(schema, { start, end }, depth);
    let length = this.#length - home;
    for (let at = home - LENGTH_SPACE.length; at < home; at++, length >>>= 7) {
      this.#outline[at] = (length & 0x7f) | (at < home - 1 ? 0x80 : 0);
    }
  }

  #append(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    if (length > MAX_OUTLINE)
      throw tooLargeModel(`more than ${MAX_OUTLINE} bytes in addition to tensors`);
    if (length > this.#outline.length) {
      const larger = new Uint8Array(Math.min(MAX_OUTLINE, 2 * length));
      larger.set(this.#outline);
      this.#outline = larger;
    }
    this.#outline.set(bytes, this.#length);
    this.#length = length;
  }
}

const LENGTH_SPACE = new Uint8Array(5);

/** The record `type: UNDEFINED`. If a field occurs several times, the last record counts. */
const NO_TYPE = new Uint8Array([0xa0, 0x01, 0x00]);

/** The maximum number of value bytes in a message that is copied whole; null for fields without values. */
function mostValues(schema: AnySchema, field: NamedField): number | null {
  if (schema === TENSOR) {
    return isTypedField(field.key) || field.key === "rawData" ? KEPT_VALUES : null;
  }
  const isValue = field.isList || field.key === "s";
  return schema === ATTRIBUTE && isValue ? MAX_FIELD : null;
}

const tooLargeModel = (what: string): TensorError =>
  new TensorError("too-large", `the model has ${what}`);
