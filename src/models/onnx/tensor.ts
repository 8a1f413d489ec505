/**
 * ONNX tensors (`TensorProto`), from `.pb` files, initializers and attributes. Field numbers and rules come from ONNX's
 * `onnx.proto` and its checker. If neither has a rule, this file follows ONNX's own loader.
 */

import { printCount, printValue } from "../../core/foreign.ts";
import { malformed, TensorError, unsupported } from "../../core/errors.ts";

import {
  allocate,
  DTYPES,
  integerRange,
  isNumericStorage,
  rowOf,
  storedRange,
  type DType,
  type NumericStorage,
  type Storage,
} from "../../core/tensor/dtype.ts";
import { EXTERNAL } from "../../core/limits.ts";
import { writer } from "../../core/tensor/scalar.ts";
import { bytesOf, findNonBool, pack, packedBytes, unpack } from "../../core/tensor/storage.ts";
import { printShape, sizeOf } from "../../core/tensor/shape.ts";
import { plainBytes, type Bytes } from "../../core/tensor/bytes.ts";
import { asTensor, Tensor } from "../../core/tensor/tensor.ts";
import { externalRange, readOptionsFrom, type ReadOptions } from "./external.ts";
import { encode } from "./encode.ts";
import { Numbers, Records } from "./records.ts";
import { TENSOR } from "./schema.ts";
import {
  faultyTensor,
  fieldOf,
  readTensorHeader,
  tensorTitle,
  type TensorHeader,
  type TypedField,
} from "./tensor-proto.ts";
import { checkUtf8, create, decodeUtf8, encodedAs, encodeUtf8 } from "./wire.ts";

/**
 * Reads a tensor from `bytes`, a serialized `TensorProto`. The values may be in `raw_data`, in external data, or in the
 * typed field for the data type. A typed field may be packed or not. float16 and bfloat16 are stored as bits in
 * `int32_data`, where 16-bit values may be sign-extended or not. The result has its own memory.
 *
 * The number of bytes or values must match the shape. ONNX's checker accepts extra bytes or values, but its loader
 * rejects them.
 *
 * @param bytes the whole message
 * @param options `external` reads external data
 * @throws TensorError `malformed-file` for bytes that are not such a tensor, `unsupported-file` for an unknown data
 * type, a segment and more than 64 dimensions, `too-large` above 2^32 - 1 elements. Memory is allocated only after the
 * file is known to contain all announced data.
 *
 * @example
 * ```ts
 * const bytes = writeTensor(tensor("int64", [2], [3, 4]), "ids");
 * readTensor(bytes).toArray(); // [3n, 4n]
 * ```
 */
export function readTensor(bytes: Bytes, options: ReadOptions = {}): Tensor {
  const checked = readOptionsFrom(options);
  return decodeTensor(readTensorHeader(plainBytes(bytes, "readTensor takes", true)), checked);
}

/**
 * Serializes a tensor as a `TensorProto`. The message contains the data type, the dimensions, the values in `raw_data`
 * (in `string_data` for text), and the optional name.
 *
 * @param tensor a tensor of any ONNX data type
 * @param name the tensor's name in the message
 * @throws TensorError `dtype` for text that UTF-8 cannot encode (half a surrogate pair), `disposed`, `too-large`
 *
 * @example
 * ```ts
 * import { writeFileSync } from "node:fs";
 *
 * const bytes = writeTensor(tensor("float32", [2], [1, 2]), "data");
 * writeFileSync("input_0.pb", bytes);
 * console.log(readTensor(bytes).toArray()); // [1, 2]
 * ```
 */
export function writeTensor(tensor: Tensor, name?: string): Uint8Array {
  const { dtype, shape, data } = asTensor(tensor, {}, "tensor");
  const message = create(TENSOR, {
    dims: shape.map(BigInt),
    dataType: DTYPES[dtype].onnx.number,
  });
  if (isNumericStorage(data)) message.rawData = pack(dtype, data);
  else message.stringData = data.map(encodeUtf8);
  if (name !== undefined) message.name = checkUtf8(name);
  return encodedAs("the tensor", () => encode(TENSOR, message));
}

/** Decodes a tensor's values after its header, with the same errors as `readTensor`. */
export function decodeTensor(header: TensorHeader, options: ReadOptions): Tensor {
  const { name, dtype, dataType, shape, raw, counts, external, segmented } = header;
  const what = tensorTitle(name);
  if (dtype === null) {
    // The type number 0 means that the data type is missing, and type numbers are never negative.
    const error = dataType <= 0 ? malformed : unsupported;
    const sentence = `${what} has data type ${dataType}, which this package does not know`;
    throw error(sentence, { input: name, key: "dataType", got: dataType });
  }
  // A constant may be read long after its file was opened.
  if (header.bytes.length === 0) {
    const sentence = `the memory of the file that holds ${what} is gone`;
    throw new TensorError("disposed", sentence, { key: "file", input: name });
  }
  if (segmented) {
    const sentence = `${what} is one segment of a tensor, which is not supported`;
    throw unsupported(sentence, { input: name });
  }
  const size = sizeOf(shape, { input: name === "" ? undefined : name });
  const sized: Sized = { ...header, dtype, size };
  const sources = [...counts.keys(), ...(raw.length > 0 ? (["rawData"] as const) : [])];
  const [field] = sources;
  if (external !== null) {
    if (field !== undefined) throw faultyTensor(name, `has external data and ${field} as well`);
    return new Tensor(dtype, shape, size, readExternal(sized, external, options));
  }
  if (sources.length > 1)
    throw malformed(`${what} has its data twice, in ${sources.join(" and ")}`);
  const isRaw = field === undefined || field === "rawData";
  const data = isRaw ? decodeRaw(sized, raw) : decodeTyped(sized, field);
  return new Tensor(dtype, shape, size, data);
}

/** A tensor of a known data type, and its number of elements. */
interface Sized extends TensorHeader {
  readonly dtype: DType;
  readonly size: number;
}

/** Reads external data. A large tensor is read in parts, so that memory never contains the data twice. */
function readExternal(
  header: Sized,
  external: ReadonlyMap<string, string>,
  options: ReadOptions,
): Storage {
  const { dtype, size } = header;
  const what = tensorTitle(header.name);
  const { location, offset, length } = externalRange(external, what);
  if (dtype === "string") throw malformed(`${what} is text, which cannot be external data`);
  const needed = packedBytes(dtype, size);
  if (length !== null && length !== needed) throw wrongLength(header, needed, length);
  if (needed === 0) return allocate(dtype, 0);
  const { external: callback } = options;
  if (callback === undefined) {
    throw new TensorError(
      "unsupported-model",
      `${what} has its data in the file ${printValue(location)}; pass { external } to read it`,
      { key: "external", input: header.name, file: location },
    );
  }
  const must = `${what} needs from { external }, for ${printValue(location)},`;
  const partOf = (start: number, end: number): Uint8Array => {
    const bytes = plainBytes(callback(location, offset + start, end - start), must);
    if (bytes.length === end - start) return bytes;
    throw wrongLength(header, needed, start + bytes.length);
  };
  const { part } = EXTERNAL;
  if (needed <= part || rowOf(dtype).bits !== undefined)
    return decodeRaw(header, partOf(0, needed));
  // The last part is read first, so that a file that is too short fails before memory is allocated.
  let start = Math.floor((needed - 1) / part) * part;
  const last = partOf(start, needed);
  const data = allocate(dtype, size);
  if (!isNumericStorage(data)) return data;
  const target = bytesOf(data);
  target.set(last, start);
  for (; start > 0; start -= part) target.set(partOf(start - part, start), start - part);
  if (dtype === "bool") checkBools(target, header);
  return data;
}

function checkBools(bytes: Uint8Array, header: Sized): void {
  const wrong = findNonBool(bytes);
  if (wrong !== -1) throw wrongValue(header, bytes[wrong]);
}

/**
 * Decodes `raw_data`, which is row-major and little-endian. Memory is also little-endian on every platform that runs
 * JavaScript.
 */
function decodeRaw(header: Sized, raw: Uint8Array): Storage {
  const { dtype, size } = header;
  if (dtype === "string") {
    if (raw.length > 0)
      throw malformed(`${tensorTitle(header.name)} is text in rawData, where it has no encoding`);
    checkValueCount(0, size, header);
    return [];
  }
  const needed = packedBytes(dtype, size);
  if (raw.length !== needed) throw wrongLength(header, needed, raw.length);
  if (dtype === "bool") checkBools(raw, header);
  // The bytes are copied, because they may be unaligned and the memory belongs to the caller.
  return unpack(dtype, size, raw);
}

function decodeTyped(header: Sized, field: TypedField): Storage {
  const { dtype, size } = header;
  const { lanes, bits } = rowOf(dtype);
  if (field !== fieldOf(dtype)) {
    throw malformed(
      `${tensorTitle(header.name)} is ${dtype} but has its data in ${field}, not in ${fieldOf(dtype)}`,
    );
  }
  // Most small data types pack several elements into one byte, but each 6-bit element has its own value.
  const isPacked = bits !== undefined && bits !== 6;
  checkValueCount(
    header.counts.get(field) ?? 0,
    isPacked ? packedBytes(dtype, size) : size * lanes,
    header,
  );
  const data = isPacked ? new Uint8Array(packedBytes(dtype, size)) : allocate(dtype, size);
  const take =
    field === "stringData"
      ? takeText(data)
      : field === "floatData" || field === "doubleData"
        ? takeFloats(data)
        : takeIntegers(header, data, field);
  const { number } = TENSOR.fields[field];
  const records = new Records(header.bytes, "the tensor");
  while (records.next())
    if (records.number === number) take(records.between(records.start, records.end));
  return isPacked ? unpack(dtype, size, bytesOf(data as Uint8Array)) : data;
}

type TakePayload = (payload: Uint8Array) => void;

function takeText(data: Storage): TakePayload {
  const texts = data as string[];
  let position = 0;
  return (payload) => {
    texts[position++] = decodeUtf8(payload, "a string");
  };
}

/**
 * Decodes floats, which are little-endian in both encodings. Floats are copied as bytes to preserve the payloads of
 * NaNs.
 */
function takeFloats(data: Storage): TakePayload {
  const bytes = bytesOf(data as NumericStorage);
  let position = 0;
  return (payload) => {
    bytes.set(payload, position);
    position += payload.length;
  };
}

function takeIntegers(header: Sized, data: Storage, field: TypedField): TakePayload {
  const { dtype } = header;
  const cell = integerOfCell(dtype);
  const { bytes } = DTYPES[cell];
  const write = writer(cell, data);
  // ONNX requires that the upper bits of a 6-bit element are 0, so other values are errors.
  const isSixBits = rowOf(dtype).bits === 6;
  const next: (numbers: Numbers) => unknown =
    field === "int64Data"
      ? (numbers) => numbers.int64()
      : field === "uint64Data"
        ? (numbers) => numbers.uint64()
        : bytes === 2 || (cell !== dtype && !isSixBits)
          ? (numbers) => fold(numbers.int32(), cell)
          : (numbers) => numbers.int32();
  // Of unpacked numbers, each is a payload.
  const what = tensorTitle(header.name);
  let position = 0;
  return (payload) => {
    const numbers = new Numbers(payload, what);
    while (numbers.at < payload.length) {
      const value = next(numbers);
      if (!write(position++, value) || (isSixBits && Number(value) > 63))
        throw wrongValue(header, value);
    }
  };
}

/**
 * Returns the integer type of the values in `int32_data`. Small floats are stored as their bits, and so are bytes that
 * contain several elements.
 */
function integerOfCell(dtype: DType): DType {
  const { family, bytes, bits } = rowOf(dtype);
  if (family !== "half" && family !== "minifloat" && bits === undefined) return dtype;
  return bytes === 2 ? "uint16" : "uint8";
}

/**
 * Wraps a value to the width of its integer type. Some writers sign-extend 8-bit or 16-bit values and others do not, so
 * both encodings are accepted. Wider values are rejected.
 */
function fold(value: number, cell: DType): number {
  const bits = 8 * DTYPES[cell].bytes;
  if (value < -(2 ** (bits - 1)) || value >= 2 ** bits) return value;
  return cell === "int16" ? (value << 16) >> 16 : value & (2 ** bits - 1);
}

function checkValueCount(count: number, needed: number, { name, shape }: TensorHeader): void {
  if (count === needed) return;
  const what = `of shape ${printShape(shape)} needs ${printCount(needed, "value")}, got ${count}`;
  throw faultyTensor(name, what, { got: count, expected: needed });
}

function wrongLength({ name, dtype, shape }: Sized, needed: number, found: number): TensorError {
  const what = `${dtype}${printShape(shape)}, needs ${printCount(needed, "byte")}, got ${found}`;
  const sentence = `${tensorTitle(name)}, ${what}`;
  return malformed(sentence, { input: name, got: found, expected: needed });
}

function wrongValue({ name, dtype }: Sized, value: unknown): TensorError {
  const isByte = dtype === "bool" || rowOf(dtype).bits === 6;
  const range = isByte ? storedRange(dtype) : integerRange(dtype);
  const takes = range === null ? "" : `, which is not in ${range[0]} to ${range[1]}`;
  return malformed(`${tensorTitle(name)} of ${dtype} holds ${String(value)}${takes}`);
}
