/**
 * A `TensorProto` before its values are looked at: what it is called, what it promises and where its data are. The
 * values stay in the bytes of the file, so that a model with gigabytes of weights, or with data types that are not
 * known here, costs nothing to read; `tensor.ts` decodes them.
 *
 * Field names and numbers come from the schema, the data types' from `DTYPES`.
 */

import { fromBinary } from "@bufbuild/protobuf";
import { BinaryReader, type WireType } from "@bufbuild/protobuf/wire";

import { DTYPE_NAMES, DTYPES, type DType } from "../tensor/dtype.ts";
import { malformed, TensorError } from "../errors.ts";
import { MAX_RANK, printShape } from "../tensor/shape.ts";
import { StringStringEntryProtoSchema, TensorProtoSchema } from "./schema_pb.ts";
import { checkMessage, countValues, decodeText, visitRecords } from "./wire.ts";

/** The fields that hold values one by one. */
export type TypedField = (typeof DTYPES)[DType]["onnx"]["field"];

export interface TensorHeader {
  /** The message itself. */
  readonly bytes: Uint8Array;
  readonly name: string;
  readonly shape: readonly number[];
  /** ONNX's number of the data type, and our name of it where there is one. */
  readonly dataType: number;
  readonly dtype: DType | null;
  readonly raw: Uint8Array;
  /** How many values each typed field holds; those without any are left out. */
  readonly counts: ReadonlyMap<TypedField, number>;
  /** The `external_data` entries, where `data_location` says that they count. */
  readonly external: ReadonlyMap<string, string> | null;
  readonly segmented: boolean;
}

const NOTHING: Uint8Array = new Uint8Array();
const NO_COUNTS: ReadonlyMap<TypedField, number> = new Map();
const NO_ENTRIES: ReadonlyMap<string, string> = new Map();

const TYPED_FIELDS: ReadonlySet<string> = new Set(
  DTYPE_NAMES.map((name) => DTYPES[name].onnx.field),
);

export const isTypedField = (name: string): name is TypedField => TYPED_FIELDS.has(name);

/** The data type that ONNX gives a number, if it is one of ours. */
export const dtypeOfNumber = (number: number): DType | null =>
  DTYPE_NAMES.find((name) => DTYPES[name].onnx.number === number) ?? null;

/** How a message calls a tensor. */
export const tensorTitle = (name: string): string =>
  name === "" ? "the tensor" : `the tensor ${JSON.stringify(name)}`;

/**
 * Reads everything of a tensor but its values, in one pass.
 * @throws TensorError `malformed-file` where the bytes are no TensorProto, have a negative dimension, more than 64 of
 * them or an unknown `data_location`; `too-large` for a dimension of 2^53 or more.
 */
export function readHeader(bytes: Uint8Array): TensorHeader {
  let name = "";
  let dataType = 0;
  let location = 0;
  let raw = NOTHING;
  let segmented = false;
  const dims: bigint[] = [];
  // Made when there is something to hold: a hostile file has millions of tensors with neither.
  let counts: Map<TypedField, number> | undefined;
  let entries: Map<string, string> | undefined;

  const record = (number: number, wireType: WireType, start: number, end: number): void => {
    const field = TensorProtoSchema.fields.find((one) => one.number === number);
    if (field === undefined) return;
    const count = countValues(field, wireType, bytes, start, end);
    if (count === null) {
      throw malformed(`${tensorTitle(name)} has its ${field.name} in the wrong encoding`);
    }
    const { localName } = field;
    if (isTypedField(localName)) {
      counts ??= new Map();
      if (count > 0) counts.set(localName, (counts.get(localName) ?? 0) + count);
      return;
    }
    const payload = bytes.subarray(start, end);
    switch (localName) {
      case "dims": {
        if (dims.length + count > MAX_RANK) {
          throw malformed(`${tensorTitle(name)} has more than ${MAX_RANK} dimensions`);
        }
        const reader = new BinaryReader(payload);
        while (reader.pos < reader.len) dims.push(BigInt(reader.int64()));
        break;
      }
      case "dataType":
        dataType = new BinaryReader(payload).int32();
        break;
      case "dataLocation":
        location = new BinaryReader(payload).int32();
        break;
      case "name":
        name = decodeText(payload, "the name of a tensor");
        break;
      case "rawData":
        raw = payload;
        break;
      case "segment":
        segmented = true;
        break;
      case "externalData": {
        checkMessage(StringStringEntryProtoSchema, payload);
        const { key, value } = fromBinary(StringStringEntryProtoSchema, payload);
        entries ??= new Map();
        if (entries.has(key))
          throw malformed(`${tensorTitle(name)} has two external ${JSON.stringify(key)}`);
        entries.set(key, value);
        break;
      }
    }
  };
  visitRecords(bytes, "the tensor", record);

  if (location !== 0 && location !== 1) {
    throw malformed(`${tensorTitle(name)} has its data at location ${location}; there are 0 and 1`);
  }
  return {
    bytes,
    name,
    shape: dims.map((dim) => dimension(dim, dims, name)),
    dataType,
    dtype: dtypeOfNumber(dataType),
    raw,
    counts: counts ?? NO_COUNTS,
    external: location === 1 ? (entries ?? NO_ENTRIES) : null,
    segmented,
  };
}

function dimension(dim: bigint, dims: readonly bigint[], name: string): number {
  const shape = `[${dims.join(", ")}]`;
  if (dim < 0n)
    throw malformed(`${tensorTitle(name)} has the negative dimension ${dim} in ${shape}`);
  const number = Number(dim);
  if (Number.isSafeInteger(number)) return number;
  throw new TensorError(
    "too-large",
    `${tensorTitle(name)} has the shape ${shape}, more than 2^32 - 1 elements`,
  );
}

/** `float32[2, 3]`, or `type 17[2, 3]` for a type that is not one of ours. */
export const printHeader = ({ dtype, dataType, shape }: TensorHeader): string =>
  `${dtype ?? `type ${dataType}`}${printShape(shape)}`;

/** Whether a constant's source is a tensor of an ONNX file. */
export const isHeader = (source: unknown): source is TensorHeader =>
  typeof source === "object" && source !== null && "bytes" in source && "counts" in source;
