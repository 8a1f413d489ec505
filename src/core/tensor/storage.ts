/** Arrays of elements as memory: the true class of an array, and copies between arrays. */

import {
  DTYPES,
  isNumericStorage,
  viewOf,
  type DType,
  type NumericStorage,
  type Storage,
} from "./dtype.ts";
import { malformed, printValue, TensorError } from "../errors.ts";

/** The prototype with the getters of all typed arrays. Getters of an instance or a subclass may return anything. */
const TYPED_ARRAY: unknown = Object.getPrototypeOf(Uint8Array.prototype);

function getterOf<T>(name: string | symbol): (array: unknown) => T {
  const get = Object.getOwnPropertyDescriptor(TYPED_ARRAY, name)?.get as () => T;
  return (array) => Reflect.apply(get, array, []);
}

/**
 * `Float32Array` and the like, in any realm (a frame, a test's sandbox); undefined if the value is not a typed array.
 */
export const classOf = getterOf<string | undefined>(Symbol.toStringTag);

/** The entries of a typed array. */
export const typedLength = getterOf<number>("length");

const bufferOf = getterOf<ArrayBufferLike>("buffer");
const byteOffsetOf = getterOf<number>("byteOffset");

/** The properties of an array that this package, or a typed-array method that it calls, reads. */
const READ = ["constructor", "length", "buffer", "byteOffset", "byteLength"] as const;

/**
 * A typed array of a data type's class as a plain one over the same memory: the array itself unless it is of another
 * realm, of a subclass (such as Node's `Buffer`, whose constructor prints a warning) or has properties of its own.
 */
export function plainArray(dtype: DType, array: NumericStorage): Storage {
  const { prototype } = DTYPES[dtype].storage;
  const isPlain =
    Object.getPrototypeOf(array) === prototype && !READ.some((name) => Object.hasOwn(array, name));
  return isPlain ? array : viewOf(dtype, bufferOf(array), byteOffsetOf(array), typedLength(array));
}

/** True if a typed array's buffer is detached. Such an array looks empty; only a new view of the buffer shows it. */
export function isDetached(data: unknown): boolean {
  if (classOf(data) === undefined || typedLength(data) > 0) return false;
  try {
    viewOf("uint8", bufferOf(data));
    return false;
  } catch {
    return true;
  }
}

/** True if a value is a Uint8Array, of any realm and any subclass, whatever its properties say. */
export const isBytes = (value: unknown): value is Uint8Array => classOf(value) === "Uint8Array";

/**
 * The bytes of a file, or of a part of one, as a plain Uint8Array over the same memory. Every function that takes bytes
 * reads them through this one: methods of subclasses differ (those of Node's `Buffer` do), and properties may say
 * anything. Memory that can be resized or is shared with other threads is copied, because it may change while it is
 * read, and because `TextDecoder` refuses it in browsers.
 * @param what the beginning of the error's sentence: `readNpy takes`
 * @throws TensorError `malformed-file` if the value is not a Uint8Array, so that a path passed by mistake is named as
 * such; `disposed` for bytes whose memory is gone
 */
export function plainBytes(value: unknown, what: string): Uint8Array {
  if (!isBytes(value)) throw malformed(`${what} a Uint8Array, got ${printValue(value)}`);
  if (isDetached(value)) {
    throw new TensorError("disposed", `${what} bytes, but their memory is gone (transferred)`);
  }
  const buffer = bufferOf(value);
  const bytes = new Uint8Array(buffer, byteOffsetOf(value), typedLength(value));
  return isFixed(buffer) ? bytes : bytes.slice();
}

/** True if only code of this realm can change a memory; any other memory is copied. */
const isFixed = (buffer: ArrayBufferLike): boolean =>
  buffer instanceof ArrayBuffer && !("resizable" in buffer && buffer.resizable === true);

/** Copies all elements between arrays of one class; `set` keeps the bits. */
export function copy(from: Storage, to: Storage): void {
  if (isNumericStorage(to)) to.set(from as never);
  else for (let p = 0; p < to.length; p++) to[p] = String(from[p]);
}

/** The bytes that a typed array covers, without a copy. */
export const bytesOf = (data: NumericStorage): Uint8Array =>
  new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
