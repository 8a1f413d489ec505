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
import { Numbers, Records } from "./records.ts";
import { ENTRY, TENSOR } from "./schema.ts";
import { countValues, decode, decodeUtf8 } from "./wire.ts";

export type TypedField = Exclude<
  Extract<keyof typeof TENSOR.fields, `${string}Data`>,
  "rawData" | "externalData"
>;

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

/** Creates the error of a faulty tensor: a sentence that begins with the tensor's title. */
export const faultyTensor = (
  name: string,
  what: string,
  fields: Parameters<typeof malformed>[1] = {},
): TensorError => malformed(`${tensorTitle(name)} ${what}`, { input: name, ...fields });

/**
 * Reads a tensor's message in one pass, except for the values. Throws `malformed-file` for bytes that are not a
 * TensorProto, a negative dimension or an unknown `data_location`; `unsupported-file` for more than 64 dimensions;
 * `too-large` for a dimension of 2^53 or more.
 */
export function readTensorHeader(bytes: Uint8Array): TensorHeader {
  const dims: bigint[] = [];
  let [name, dataType, location, raw, segmented] = ["", 0, 0, NO_BYTES, false];
  // Maps are created on demand, because a hostile file may contain millions of empty tensors.
  let counts: Map<TypedField, number> | undefined;
  let entries: Map<string, string> | undefined;
  const records = new Records(bytes, "the tensor");
  while (records.next()) {
    const field = TENSOR.byNumber.get(records.number);
    if (field === undefined) continue;
    const { key } = field;
    const payload = records.between(records.start, records.end);
    const count = countValues(field, records.wireType, payload);
    if (count === null) {
      const what = `has its ${field.name} in the wrong encoding`;
      throw faultyTensor(name, what, { key: field.name });
    }
    // If a field occurs several times, the last record counts, as protobuf defines.
    if (key === "name") name = decodeUtf8(payload, "the name of a tensor");
    else if (key === "dims") readDims(payload, count, dims, name);
    else if (key === "dataType") dataType = new Numbers(payload, "the tensor").int32();
    else if (key === "dataLocation") location = new Numbers(payload, "the tensor").int32();
    else if (key === "rawData") raw = payload;
    else if (key === "segment") segmented = true;
    else if (key === "externalData") readEntry(payload, (entries ??= new Map()), name);
    else if (isTypedField(key) && count > 0)
      (counts ??= new Map()).set(key, (counts.get(key) ?? 0) + count);
  }
  if (location !== 0 && location !== 1) {
    const what = `has its data at location ${location}, which must be 0 or 1`;
    throw faultyTensor(name, what, { key: "data_location", got: location, allowed: [0, 1] });
  }
  return {
    bytes,
    name,
    shape: dims.map((dim) => checkDimension(dim, dims, name)),
    dataType,
    dtype: dtypeOfNumber(dataType),
    raw,
    counts: counts ?? NO_COUNTS,
    external: location === 1 ? (entries ?? NO_ENTRIES) : null,
    segmented,
  };
}

function readDims(payload: Uint8Array, count: number, dims: bigint[], input: string): void {
  if (dims.length + count > MAX_RANK) {
    const sentence = `${tensorTitle(input)} has more than ${MAX_RANK} dimensions`;
    throw unsupported(sentence, { input, limit: MAX_RANK });
  }
  const numbers = new Numbers(payload, "the tensor");
  while (numbers.at < payload.length) dims.push(numbers.int64());
}

function readEntry(payload: Uint8Array, entries: Map<string, string>, name: string): void {
  const { key, value } = decode(ENTRY, payload, "an external_data entry");
  if (entries.has(key)) throw faultyTensor(name, `has two external ${printValue(key)}`, { key });
  entries.set(key, value);
}

function checkDimension(dim: bigint, dims: readonly bigint[], name: string): number {
  const shape = `[${dims.join(", ")}]`;
  if (dim < 0n) {
    const what = `has the negative dimension ${dim} in ${shape}`;
    throw faultyTensor(name, what, { key: "dims", got: dim });
  }
  const number = Number(dim);
  if (Number.isSafeInteger(number)) return number;
  const sentence = `${tensorTitle(name)} has the shape ${shape}, more than 2^32 - 1 elements`;
  throw new TensorError("too-large", sentence, { input: name, got: dim });
}

/** Returns a text such as `float32[2, 3]`, or `type 17[2, 3]` for an unknown data type. */
export const printTensorType = ({ dtype, dataType, shape }: TensorHeader): string =>
  `${dtype ?? `type ${dataType}`}${printShape(shape)}`;

/** Returns true if a constant comes from a tensor in an ONNX file. */
export const isHeader = (source: unknown): source is TensorHeader =>
  typeof source === "object" && source !== null && "bytes" in source && "counts" in source;
