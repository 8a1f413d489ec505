/**
 * The header of a `TensorProto`: the tensor's name, data type, shape and data location. The values remain encoded until
 * `tensor.ts` decodes them. A model with gigabytes of weights, or with unknown data types, is therefore cheap to read.
 *
 * The schema defines field names and numbers, and `DTYPES` defines the numbers of data types.
 */

import { DTYPE_NAMES, type DType } from "../../core/tensor/dtype.ts";
import { malformed, TensorError, unsupported } from "../../core/errors.ts";
import { printValue } from "../../core/foreign.ts";
import { dtypeOfNumber } from "../model/element-type.ts";
import { MAX_RANK, printShape } from "../../core/tensor/shape.ts";
import { ENTRY, TENSOR, type NamedField } from "./schema.ts";
import { countValues, decode, decodeUtf8, Reader, visitRecords } from "./wire.ts";

export type TypedField =
  | "floatData"
  | "doubleData"
  | "int32Data"
  | "int64Data"
  | "uint64Data"
  | "stringData";

/** Fields of the data types whose values are not in `int32_data`. */
const FIELDS: Readonly<Partial<Record<DType, TypedField>>> = {
  string: "stringData",
  float32: "floatData",
  complex64: "floatData",
  float64: "doubleData",
  complex128: "doubleData",
  int64: "int64Data",
  uint32: "uint64Data",
  uint64: "uint64Data",
};

/** Returns the typed field that may contain a data type's values. */
export const fieldOf = (dtype: DType): TypedField => FIELDS[dtype] ?? "int32Data";

export interface TensorHeader {
  readonly bytes: Uint8Array;
  readonly name: string;
  readonly shape: readonly number[];
  /** ONNX's number for the data type. */
  readonly dataType: number;
  readonly dtype: DType | null;
  readonly raw: Uint8Array;
  /** The number of values per typed field. Empty fields are left out. */
  readonly counts: ReadonlyMap<TypedField, number>;
  /** The `external_data` entries; null if `data_location` says that the data is in the message. */
  readonly external: ReadonlyMap<string, string> | null;
  readonly segmented: boolean;
}

const NO_BYTES: Uint8Array = new Uint8Array();
const NO_COUNTS: ReadonlyMap<TypedField, number> = new Map();
const NO_ENTRIES: ReadonlyMap<string, string> = new Map();

const TYPED_FIELDS: ReadonlySet<string> = new Set(DTYPE_NAMES.map(fieldOf));

export const isTypedField = (name: string): name is TypedField => TYPED_FIELDS.has(name);

export const tensorTitle = (name: string): string =>
  name === "" ? "the tensor" : `the tensor ${printValue(name)}`;

/**
 * Reads a tensor's message in one pass, except for the values. Throws `malformed-file` for bytes that are not a
 * TensorProto, a negative dimension or an unknown `data_location`; `unsupported-file` for more than 64 dimensions;
 * `too-large` for a dimension of 2^53 or more.
 */
export function readTensorHeader(bytes: Uint8Array): TensorHeader {
  const reader = new HeaderReader(bytes);
  visitRecords(bytes, "the tensor", (number, wireType, start, end) => {
    const field = TENSOR.byNumber.get(number);
    if (field !== undefined) reader.take(field, wireType, start, end);
  });
  return reader.finish();
}

/** Collects one tensor's records. If a field occurs several times, the last record counts, as protobuf defines. */
class HeaderReader {
  readonly #bytes: Uint8Array;
  #name = "";
  #dataType = 0;
  #location = 0;
  #raw = NO_BYTES;
  #segmented = false;
  readonly #dims: bigint[] = [];
  // Maps are created on demand, because a hostile file may contain millions of empty tensors.
  #counts: Map<TypedField, number> | undefined;
  #entries: Map<string, string> | undefined;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  take(field: NamedField, wireType: number, start: number, end: number): void {
    const count = countValues(field, wireType, this.#bytes, start, end);
    if (count === null) {
      throw malformed(`${tensorTitle(this.#name)} has its ${field.name} in the wrong encoding`, {
        input: this.#name,
        key: field.name,
      });
    }
    const { key } = field;
    if (isTypedField(key)) {
      this.#counts ??= new Map();
      if (count > 0) this.#counts.set(key, (this.#counts.get(key) ?? 0) + count);
      return;
    }
    const payload = this.#bytes.subarray(start, end);
    switch (key) {
      case "dims":
        this.#takeDims(payload, count);
        break;
      case "dataType":
        this.#dataType = new Reader(payload).int32();
        break;
      case "dataLocation":
        this.#location = new Reader(payload).int32();
        break;
      case "name":
        this.#name = decodeUtf8(payload, "the name of a tensor");
        break;
      case "rawData":
        this.#raw = payload;
        break;
      case "segment":
        this.#segmented = true;
        break;
      case "externalData":
        this.#takeEntry(payload);
        break;
    }
  }

  #takeDims(payload: Uint8Array, count: number): void {
    if (this.#dims.length + count > MAX_RANK) {
      throw unsupported(`${tensorTitle(this.#name)} has more than ${MAX_RANK} dimensions`, {
        input: this.#name,
        limit: MAX_RANK,
      });
    }
    const reader = new Reader(payload);
    while (reader.at < payload.length) this.#dims.push(reader.int64());
  }

  #takeEntry(payload: Uint8Array): void {
    const { key, value } = decode(ENTRY, payload, "an external_data entry");
    this.#entries ??= new Map();
    if (this.#entries.has(key)) {
      throw malformed(`${tensorTitle(this.#name)} has two external ${printValue(key)}`, {
        input: this.#name,
        key,
      });
    }
    this.#entries.set(key, value);
  }

  finish(): TensorHeader {
    const name = this.#name;
    const dims = this.#dims;
    const location = this.#location;
    if (location !== 0 && location !== 1) {
      throw malformed(
        `${tensorTitle(name)} has its data at location ${location}, which must be 0 or 1`,
        { input: name, key: "data_location", got: location, allowed: [0, 1] },
      );
    }
    return {
      bytes: this.#bytes,
      name,
      shape: dims.map((dim) => checkDimension(dim, dims, name)),
      dataType: this.#dataType,
      dtype: dtypeOfNumber(this.#dataType),
      raw: this.#raw,
      counts: this.#counts ?? NO_COUNTS,
      external: location === 1 ? (this.#entries ?? NO_ENTRIES) : null,
      segmented: this.#segmented,
    };
  }
}

function checkDimension(dim: bigint, dims: readonly bigint[], name: string): number {
  const shape = `[${dims.join(", ")}]`;
  if (dim < 0n) {
    throw malformed(`${tensorTitle(name)} has the negative dimension ${dim} in ${shape}`, {
      input: name,
      key: "dims",
      got: dim,
    });
  }
  const number = Number(dim);
  if (Number.isSafeInteger(number)) return number;
  throw new TensorError(
    "too-large",
    `${tensorTitle(name)} has the shape ${shape}, more than 2^32 - 1 elements`,
    { input: name, got: dim },
  );
}

/** Returns a text such as `float32[2, 3]`, or `type 17[2, 3]` for an unknown data type. */
export const printTensorType = ({ dtype, dataType, shape }: TensorHeader): string =>
  `${dtype ?? `type ${dataType}`}${printShape(shape)}`;

/** Returns true if a constant comes from a tensor in an ONNX file. */
export const isHeader = (source: unknown): source is TensorHeader =>
  typeof source === "object" && source !== null && "bytes" in source && "counts" in source;
