/** The memory of a tensor: its state, its owner, and views of it. */

import { named, TensorError, type ErrorContext } from "../errors.ts";
import { isNumericStorage, type NumericStorage, type Storage } from "./dtype.ts";
import { isDetached } from "./storage.ts";

/** An engine that allocated a tensor's memory, and can reuse it. */
export interface MemoryOwner {
  recycle(data: Storage): void;
}

/**
 * Number of uses after which a tensor gets a view of its bytes: creating the view costs more than many length lookups.
 */
const OFTEN = 64;

/** Memory of one tensor, shared by proxies and clones of the tensor. */
export class Memory {
  /** Elements, whose memory may be gone. */
  readonly data: Storage;
  /** True after the tensor was disposed of. */
  hasEnded = false;
  /** Number of array entries when the tensor was created. */
  readonly #length: number;
  #owner: MemoryOwner | undefined;
  // The buffer and the view are cached after the first use, because reading a buffer takes 30 ns, and so does creating
  // a view.
  #buffer: ArrayBufferLike | null | undefined;
  #pairs: Int32Array | undefined;
  /**
   * Number of uses, until it is replaced by the array's bytes, whose length can be read without testing the array's
   * class.
   */
  #bytes: Uint8Array | number = 0;

  constructor(data: Storage, owner?: MemoryOwner) {
    this.data = data;
    this.#length = data.length;
    this.#owner = owner;
  }

  /** Returns true if this class constructed `value`. A deep clone has the class but not the private fields. */
  static isMemory(value: unknown): value is Memory {
    return typeof value === "object" && value !== null && #owner in value;
  }

  /** Returns true if these elements may no longer be used. */
  hasEndedFor(data: unknown): boolean {
    return this.hasEnded && this.data === data;
  }

  /**
   * True if the elements still exist: their memory was not transferred, resized or otherwise detached. Elements of a
   * disposed tensor still exist.
   */
  get isThere(): boolean {
    const bytes = this.#bytes;
    if (typeof bytes === "object") return bytes.length > 0;
    this.#bytes = bytes === OFTEN ? this.#fixedBytes() : bytes + 1;
    return this.data.length === this.#length && (this.#length > 0 || !isDetached(this.data));
  }

  /** Returns the bytes if their number changes only when their buffer is detached; otherwise returns 0. */
  #fixedBytes(): Uint8Array | number {
    const buffer: (ArrayBufferLike & { resizable?: boolean; growable?: boolean }) | null =
      this.buffer;
    const { byteOffset, byteLength } = this.data as NumericStorage;
    return buffer === null || byteLength === 0 || buffer.resizable || buffer.growable
      ? 0
      : new Uint8Array(buffer, byteOffset, byteLength);
  }

  /** Buffer that holds the elements; null for text. */
  get buffer(): ArrayBufferLike | null {
    if (this.#buffer !== undefined) return this.#buffer;
    return (this.#buffer = isNumericStorage(this.data) ? this.data.buffer : null);
  }

  /** Elements of a 64-bit type as pairs of words, low word first. */
  get pairs(): Int32Array {
    return (this.#pairs ??= pairsOf(this.data as BigInt64Array));
  }

  /** Returns the memory to its owner when called for the first time. */
  end(): void {
    this.hasEnded = true;
    const owner = this.#owner;
    this.#owner = undefined;
    owner?.recycle(this.data);
  }
}

/** Returns a view of 64-bit integers as pairs of words, low word first. */
export const pairsOf = ({ buffer, byteOffset, length }: BigInt64Array): Int32Array =>
  new Int32Array(buffer, byteOffset, 2 * length);

// The operations are functions, because a bundle contains all methods of a class, even in a page that only creates
// tensors.

/** Returns true if writing elements of one memory changes elements of the other. */
export function overlaps(one: Memory, other: Memory): boolean {
  const [a, b] = [one.data, other.data];
  if (!isNumericStorage(a) || !isNumericStorage(b)) return a === b && a.length > 0;
  return (
    one.buffer === other.buffer &&
    a.byteLength > 0 &&
    b.byteLength > 0 &&
    a.byteOffset < b.byteOffset + b.byteLength &&
    b.byteOffset < a.byteOffset + a.byteLength
  );
}

/** Returns true if both memories hold the same elements. */
export function isSame(one: Memory, other: Memory): boolean {
  const [a, b] = [one.data, other.data];
  if (a === b) return true;
  if (!isNumericStorage(a) || !isNumericStorage(b)) return false;
  return (
    one.buffer === other.buffer && a.byteOffset === b.byteOffset && a.byteLength === b.byteLength
  );
}

/** Creates the error for a tensor that was disposed of, or whose buffer was transferred. */
export function gone(what: string, fields: ErrorContext): TensorError {
  const sentence = `the memory of ${what} is gone (disposed, transferred or resized)`;
  return new TensorError("disposed", sentence, named(fields, "tensor"));
}

/** Creates the error for an input whose memory was transferred while its call was queued. */
export function transferred(input: string, fields: ErrorContext): TensorError {
  const sentence = `the memory of ${input} was transferred before the call ended`;
  return new TensorError("disposed", sentence, { ...fields, input });
}
