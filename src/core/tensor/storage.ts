/**
 * Treats arrays of elements as memory: finds the true class of an array, copies between arrays, and converts elements
 * to and from the layout of files.
 */

import { isArray } from "../foreign.ts";
import {
  allocate,
  DTYPES,
  isNumericStorage,
  rowOf,
  viewOf,
  type DType,
  type NumericStorage,
  type Storage,
} from "./dtype.ts";

/**
 * Prototype with the getters of all typed arrays. Only the platform's own getters are trusted, because getters of an
 * instance or subclass may return anything.
 */
export const TYPED_ARRAY: unknown = Object.getPrototypeOf(Uint8Array.prototype);

export function getterOf<T>(
  name: string | symbol,
  of: unknown = TYPED_ARRAY,
): (array: unknown) => T {
  const get = Object.getOwnPropertyDescriptor(of, name)?.get as () => T;
  return (array) => Reflect.apply(get, array, []);
}

/**
 * Returns a class name such as `Float32Array`, for arrays of any realm (a frame, a test's sandbox); undefined if the
 * value is not a typed array.
 */
export const classOf = getterOf<string | undefined>(Symbol.toStringTag);

/** Returns true if a value is a Uint8Array, of any realm or subclass, regardless of its own properties. */
export const isUint8Array = (value: unknown): value is Uint8Array =>
  classOf(value) === "Uint8Array";

/** Returns the number of entries in a typed array. */
export const typedLength = getterOf<number>("length");

const bufferOf = getterOf<ArrayBufferLike>("buffer");
const byteOffsetOf = getterOf<number>("byteOffset");

/** Array properties that this package reads, directly or through typed-array methods. */
const READ = ["constructor", "length", "buffer", "byteOffset", "byteLength"] as const;

/**
 * Returns a plain typed array of a data type's class over the same memory. The result is the given array itself, unless
 * the array belongs to another realm, belongs to a subclass (such as Node's `Buffer`, whose constructor prints a
 * warning), or has own properties.
 */
export function plainArray(dtype: DType, array: NumericStorage): Storage {
  const { prototype } = DTYPES[dtype].storage;
  const isPlain =
    Object.getPrototypeOf(array) === prototype && !READ.some((name) => Object.hasOwn(array, name));
  return isPlain ? array : viewOf(dtype, bufferOf(array), byteOffsetOf(array), typedLength(array));
}

/**
 * Returns true if a typed array's buffer is detached. Such an array looks empty; only creating a new view reveals the
 * detached buffer.
 */
export function isDetached(data: unknown): boolean {
  if (classOf(data) === undefined || typedLength(data) > 0) return false;
  try {
    viewOf("uint8", bufferOf(data));
    return false;
  } catch {
    return true;
  }
}

/** Returns true for an ArrayBuffer of any realm, and false for memory that threads share. */
export const isUnshared = (buffer: ArrayBufferLike): buffer is ArrayBuffer =>
  buffer[Symbol.toStringTag] === "ArrayBuffer";

/** Sets all elements to 0, or to empty text. */
export function clear(data: Storage): void {
  if (!isNumericStorage(data)) return void data.fill("");
  const block = 32_768;
  const bytes = bytesOf(data).fill(0, 0, block);
  // V8 fills shared memory byte by byte, which takes 36 ms for 20 MB; copying a cleared block repeatedly takes 4 ms.
  for (let at = block; at < bytes.length; at += block) bytes.copyWithin(at, 0, block);
}

/** Copies all elements between arrays of the same class, and preserves their bits. Clears `to` if `from` is null. */
export function copy(from: Storage | null, to: Storage): void {
  if (from === null) clear(to);
  else if (isNumericStorage(to)) to.set(from as never);
  else for (let p = 0; p < to.length; p++) to[p] = String(from[p]);
}

/** Returns a view of the bytes that a typed array covers. */
export const bytesOf = (data: NumericStorage): Uint8Array =>
  new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

/** A Float16Array, which some platforms do not have. */
export interface Float16Like {
  readonly BYTES_PER_ELEMENT: number;
  readonly buffer: ArrayBufferLike;
  readonly byteOffset: number;
  readonly length: number;
  readonly [Symbol.toStringTag]: "Float16Array";
}

/** Returns true if `value` is an array or a typed array. */
export const isList = (value: unknown): value is ArrayLike<unknown> =>
  isArray(value) || classOf(value) !== undefined;

/**
 * Returns true for a Float16Array. The test reads the tag, because some platforms do not have the class, and polyfills
 * have their own.
 */
export const isFloat16Array = (value: unknown): value is Float16Like =>
  Object.prototype.toString.call(value) === "[object Float16Array]";

// Layout of ONNX's `raw_data` and OpenVINO's `.bin`: contiguous and little-endian, as in memory. Only elements of fewer
// than 8 bits differ: they form a stream of bits without gaps, lowest bits first. NPY files have their own layout, and
// Zarr stores such elements in one byte each.

/** Returns the number of bytes that `size` elements take in a file, for any type except string. */
export function packedBytes(dtype: DType, size: number): number {
  const { bytes, bits } = rowOf(dtype);
  return bits === undefined ? size * bytes : Math.ceil((size * bits) / 8);
}

/**
 * Returns the bytes to write to a file: a view of `data` if the layouts in memory and in the file are equal, otherwise
 * a copy. Unused bits of the last byte are 0.
 */
export function pack(dtype: DType, data: NumericStorage): Uint8Array {
  const { bits } = rowOf(dtype);
  return bits === undefined ? bytesOf(data) : packBits(bytesOf(data), bits);
}

/** Packs the low `bits` of each byte as a stream of bits, lowest bits first, which may cross the bounds of bytes. */
export function packBits(bytes: Uint8Array, bits: number): Uint8Array {
  const packed = new Uint8Array(Math.ceil((bytes.length * bits) / 8));
  const { length } = bytes;
  const mask = 2 ** bits - 1;
  let [word, held, next] = [0, 0, 0];
  for (let p = 0; p < length; p++) {
    word |= (bytes[p] & mask) << held;
    held += bits;
    if (held < 8) continue;
    packed[next++] = word;
    word >>= 8;
    held -= 8;
  }
  if (held > 0) packed[next] = word;
  return packed;
}

/**
 * Creates storage with `size` elements from `packed`, which has `packedBytes` bytes and need not be aligned.
 * @throws TensorError `too-large`
 */
export function unpack(dtype: DType, size: number, packed: Uint8Array): Storage {
  const data = allocate(dtype, size);
  if (!isNumericStorage(data)) return data;
  const { bits, storage } = rowOf(dtype);
  const bytes = bytesOf(data);
  if (bits === undefined) bytes.set(packed);
  else unpackBits(packed, bytes, bits, storage === Int8Array);
  return data;
}

/**
 * Reverses `packBits`.
 * @param hasSign true if the highest bit of an element is a sign bit, which must be extended
 */
export function unpackBits(
  packed: Uint8Array,
  into: Uint8Array,
  bits: number,
  hasSign: boolean,
): void {
  const { length } = into;
  let [word, held, next] = [0, 0, 0];
  for (let p = 0; p < length; p++) {
    if (held < bits) {
      word |= packed[next++] << held;
      held += 8;
    }
    into[p] = word;
    word >>= bits;
    held -= bits;
  }
  keepBits(into, bits, hasSign);
}

/** Clears all but the low `bits` of each byte, or extends the sign bit into the other bits if `hasSign`. */
export function keepBits(bytes: Uint8Array, bits: number, hasSign: boolean): void {
  const shift = 32 - bits;
  if (hasSign) for (let i = 0; i < bytes.length; i++) bytes[i] = (bytes[i] << shift) >> shift;
  else for (let i = 0; i < bytes.length; i++) bytes[i] = (bytes[i] << shift) >>> shift;
}

/** Returns the position of the first byte that is not a valid bool (0 or 1); -1 if all bytes are valid. */
export const findNonBool = (bytes: Uint8Array): number => bytes.findIndex((byte) => byte > 1);
