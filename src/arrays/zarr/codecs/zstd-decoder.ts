/**
 * Decodes zstd with libzstd in WebAssembly, for pages and for Node before 22.15. The glue code of the npm packages either
 * evaluates strings as JavaScript or fetches a `data:` URL, which a Content-Security-Policy may forbid.
 */

import { TensorError } from "../../../core/errors.ts";
import { broken } from "./byte-codec.ts";
import { policyError } from "./policy.ts";
import { LIBZSTD } from "./zstd-bytes.ts";

interface LibZstd {
  readonly memory: { readonly buffer: ArrayBuffer };
  /** Returns 0 if memory is exhausted. */
  malloc(bytes: number): number;
  free(address: number): void;
  /** Returns the decoded length, or the negated number of an error. */
  ZSTD_decompress(into: number, capacity: number, from: number, length: number): number;
  ZSTD_isError(result: number): number;
}

interface WebAssemblyApi {
  instantiate(
    bytes: Uint8Array,
    imports: object,
  ): Promise<{ readonly instance: { readonly exports: LibZstd } }>;
}

/** Maximum WebAssembly memory that is kept for later frames, in bytes, because this memory never shrinks. */
const MOST_KEPT = 2 ** 26;

/** The instance of libzstd, which takes 3 ms to compile; absent before the first frame, and after a large one. */
const kept: { library?: LibZstd } = {};

/**
 * Decodes a frame, whose header was checked.
 * @param size maximum decoded size, in bytes
 * @throws TensorError `engine` if the page's policy forbids WebAssembly, `too-large` if memory is exhausted
 */
export async function decodeZstd(frame: Uint8Array, size: number): Promise<Uint8Array> {
  const library = kept.library ?? (await load());
  // A trap leaves the memory in an unknown state, so the instance is kept only after a success.
  delete kept.library;
  const [from, into] = [library.malloc(frame.length), library.malloc(size)];
  if (from === 0 || into === 0) {
    const sentence = `a zstd chunk of ${size} bytes does not fit in WebAssembly memory; use smaller chunks`;
    throw new TensorError("too-large", sentence, { got: size });
  }
  new Uint8Array(library.memory.buffer).set(frame, from);
  const length = library.ZSTD_decompress(into, size, from, frame.length);
  const isWrong = library.ZSTD_isError(length) !== 0;
  const { buffer } = library.memory;
  const decoded = isWrong ? null : new Uint8Array(buffer.slice(into, into + length));
  library.free(from);
  library.free(into);
  if (buffer.byteLength <= MOST_KEPT) kept.library = library;
  if (decoded === null) throw broken(`libzstd reports error ${-length}`);
  return decoded;
}

async function load(): Promise<LibZstd> {
  const bytes = Uint8Array.from(atob(LIBZSTD), (one) => one.charCodeAt(0));
  const api: WebAssemblyApi | undefined = Reflect.get(globalThis, "WebAssembly");
  try {
    if (api === undefined) throw new Error("WebAssembly is not available");
    const { instance } = await api.instantiate(bytes, {
      env: { emscripten_notify_memory_growth: () => {} },
    });
    return instance.exports;
  } catch (cause) {
    throw policyError(cause, DECODER) ?? cause;
  }
}

const DECODER = {
  what: "zstd is decoded with WebAssembly",
  source: "'wasm-unsafe-eval'",
  instead: "store the array with gzip",
};
