/**
 * Arrays of elements as memory: which class an array really has, when two arrays share memory, and copies between them.
 */

import {
  DTYPES,
  isNumericStorage,
  viewOf,
  type DType,
  type NumericStorage,
  type Storage,
} from "./dtype.ts";
import { malformed, printValue, TensorError } from "../errors.ts";

/** Where the getters of all typed arrays are. Those of an instance or a subclass may say anything. */
const TYPED_ARRAY: unknown = Object.getPrototypeOf(Uint8Array.prototype);

function getterOf<T>(name: string | symbol): (array: unknown) => T {
  const get = Object.getOwnPropertyDescriptor(TYPED_ARRAY, name)?.get as () => T;
  return (array) => Reflect.apply(get, array, []);
}

/** `Float32Array` and the like, in any realm (a frame, a test's sandbox); undefined for what is no typed array. */
export const classOf = getterOf<string | undefined>(Symbol.toStringTag);

/** The entries of a typed array. */
export const typedLength = getterOf<number>("length");

const bufferOf = getterOf<ArrayBufferLike>("buffer");
const byteOffsetOf = getterOf<number>("byteOffset");

/** What this package, and the methods of typed arrays that it calls, read of an array. */
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

/** Whether a typed array's buffer is detached. Such an array looks empty; only a new view of the buffer shows it. */
export function isDetached(data: unknown): boolean {
  if (classOf(data) === undefined || typedLength(data) > 0) return false;
  try {
    viewOf("uint8", bufferOf(data));
    return false;
  } catch {
    return true;
  }
}

/** Whether a value is a Uint8Array, of any realm and any subclass, whatever it says of itself. */
export const isBytes = (value: unknown): value is Uint8Array => classOf(value) === "Uint8Array";

/**
 * The bytes of a file, or of a part of one, as a plain Uint8Array over the same memory. Every function that takes bytes
 * gets them from here: methods of subclasses differ (those of Node's `Buffer` do), and properties may say anything.
 * Memory that can be resized or is shared with other threads is copied, because it may change while it is read, and
 * because `TextDecoder` refuses it in browsers.
 * @param what takes or gives the bytes, as a sentence begins: `readNpy takes`
 * @throws TensorError `malformed-file` for what is no Uint8Array, so that a path given by mistake is named as one;
 * `disposed` for bytes whose memory is gone
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

/** Whether nothing but the code of this realm changes a memory; what is not known to be so is copied. */
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
