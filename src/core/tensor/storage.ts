/** Treats arrays of elements as memory: finds the true class of an array, and copies between arrays. */

import {
  DTYPES,
  isNumericStorage,
  viewOf,
  type DType,
  type NumericStorage,
  type Storage,
} from "./dtype.ts";
import { factOf, malformed, named, printValue, TensorError, type ErrorContext } from "../errors.ts";

/**
 * Prototype with the getters of all typed arrays. Only the platform's own getters are trusted, because getters of an
 * instance or subclass may return anything.
 */
const TYPED_ARRAY: unknown = Object.getPrototypeOf(Uint8Array.prototype);

function getterOf<T>(name: string | symbol, of: unknown = TYPED_ARRAY): (array: unknown) => T {
  const get = Object.getOwnPropertyDescriptor(of, name)?.get as () => T;
  return (array) => Reflect.apply(get, array, []);
}

/**
 * Returns a class name such as `Float32Array`, for arrays of any realm (a frame, a test's sandbox); undefined if the
 * value is not a typed array.
 */
export const classOf = getterOf<string | undefined>(Symbol.toStringTag);

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

/** Bytes of a file: a buffer, or a view of one. Views of wider elements, such as a Float32Array, are views of bytes too. */
export type Bytes = ArrayBufferLike | ArrayBufferView;

/** Returns true for an ArrayBuffer or SharedArrayBuffer of any realm, whatever class a value claims to have. */
function isBuffer(value: unknown): value is ArrayBufferLike {
  const classes = [
    ArrayBuffer,
    typeof SharedArrayBuffer === "undefined" ? null : SharedArrayBuffer,
  ];
  return classes.some((one) => {
    try {
      return one !== null && getterOf<number>("byteLength", one.prototype)(value) >= 0;
    } catch {
      return false;
    }
  });
}

/** Returns true if a value holds bytes: a buffer or a view of one, of any realm or subclass. */
export const isBytes = (value: unknown): value is Bytes =>
  ArrayBuffer.isView(value) || isBuffer(value);

/** Returns true if a value is a Uint8Array, of any realm or subclass, regardless of its own properties. */
export const isUint8Array = (value: unknown): value is Uint8Array =>
  classOf(value) === "Uint8Array";

/** Returns true for a `Buffer` of Node, Bun or Deno, or of a polyfill, in any realm. */
function isNodeBuffer(value: object): boolean {
  try {
    return "readInt32LE" in value;
  } catch {
    // A class that throws is refused where its values are read.
    return false;
  }
}

/**
 * Checks that values are not the bytes of larger numbers: an ArrayBuffer, a Buffer, or a Uint8Array of the size that
 * the tensor has in bytes. Each byte would otherwise become a number.
 * @param size the number of elements in the tensor
 * @throws TensorError `dtype`
 */
export function checkNotBytes(
  values: unknown,
  dtype: DType,
  size: number,
  fields: ErrorContext,
): void {
  const { bytes } = DTYPES[dtype];
  const isRaw = isUint8Array(values)
    ? bytes > 1 && (isNodeBuffer(values) || (size > 0 && values.length === size * bytes))
    : bytes > 0 && /(?:ArrayBuffer|DataView)$/.test(printValue(values));
  if (isRaw) throw wrongBytes(values, dtype, fields);
}

/** Creates the error for bytes that were passed as numbers of several bytes. */
export function wrongBytes(given: unknown, dtype: DType, fields: ErrorContext): TensorError {
  const who = fields.input ?? "values";
  const { storage, bytes, lanes } = DTYPES[/indices/i.test(who) ? "int32" : dtype];
  const expected = storage.name;
  const got = isUint8Array(given) && isNodeBuffer(given) ? "a Buffer" : printValue(given);
  // A Uint8Array of a DataView would be empty.
  const buffer =
    got === "a DataView"
      ? `${who}.buffer, ${who}.byteOffset, ${who}.byteLength / ${bytes / lanes}`
      : `new Uint8Array(${who}).buffer`;
  const sentence = `${who} must be numbers, got bytes in ${got}; use new ${expected}(${buffer})`;
  return new TensorError("dtype", sentence, { ...named(fields, "values"), got, expected });
}

/**
 * Returns the bytes of a file, or of part of a file, as a plain Uint8Array over the same memory. Every function that
 * accepts bytes reads them through `plainBytes`, because subclasses such as Node's `Buffer` have different methods, and
 * own properties may return anything. Memory that can be resized or is shared with other threads is copied, because it
 * may change while it is read, and because `TextDecoder` refuses it in browsers.
 * @param what the beginning of the error's sentence: `readNpy takes`
 * @param isFile true if the value may be a path or a response by mistake, for which the error has advice
 * @throws TensorError `malformed-file` if the value does not hold bytes, so that the error names a path that was passed
 *   by mistake; `disposed` for bytes whose memory is gone
 */
export function plainBytes(value: unknown, what: string, isFile = false): Uint8Array {
  if (!isBytes(value)) {
    const advice = isFile ? fileAdvice(value) : "";
    const sentence = `${what} a Uint8Array or an ArrayBuffer, got ${printValue(value)}${advice}`;
    throw malformed(sentence, { key: "bytes", got: factOf(value) });
  }
  let bytes: Uint8Array;
  try {
    bytes = viewOfBytes(value);
  } catch (cause) {
    const sentence = `${what} bytes, but their memory is gone (transferred)`;
    throw new TensorError("disposed", sentence, { key: "bytes" }, { cause });
  }
  return isFixed(bytes.buffer) ? bytes : bytes.slice();
}

function isStream(value: unknown): boolean {
  try {
    return typeof value === "object" && value !== null && ("pipe" in value || "pipeTo" in value);
  } catch {
    // A Proxy that throws is not a stream.
    return false;
  }
}

function fileAdvice(value: unknown): string {
  if (typeof value === "string") return "; pass the contents of the file: await readFile(path)";
  if (isStream(value)) {
    return "; pass the contents of the stream: await buffer(stream) of node:stream/consumers";
  }
  const hasBuffer = /^a (Blob|File|Request|Response)$/.test(printValue(value));
  return hasBuffer ? "; pass the contents: await value.arrayBuffer()" : "";
}

/** Returns the bytes of a buffer or of any view. Only the platform's own getters are trusted, as for typed arrays. */
function viewOfBytes(value: Bytes): Uint8Array {
  if (!ArrayBuffer.isView(value)) return new Uint8Array(value);
  const views = classOf(value) === undefined ? DataView.prototype : TYPED_ARRAY;
  const [offset, length] = ["byteOffset", "byteLength"].map((name) =>
    getterOf<number>(name, views)(value),
  );
  return new Uint8Array(getterOf<ArrayBufferLike>("buffer", views)(value), offset, length);
}

/** Returns true for an ArrayBuffer of any realm, and false for memory that threads share. */
export const isUnshared = (buffer: ArrayBufferLike): buffer is ArrayBuffer =>
  buffer[Symbol.toStringTag] === "ArrayBuffer";

/** Returns true for an ArrayBuffer that cannot be resized; any other memory must be copied. */
const isFixed = (buffer: ArrayBufferLike): boolean =>
  isUnshared(buffer) && !("resizable" in buffer && buffer.resizable === true);

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
