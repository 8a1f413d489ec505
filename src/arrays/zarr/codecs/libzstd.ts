/**
 * Encodes and decodes zstd with libzstd in WebAssembly, for browsers and for Node before 22.15. Existing npm packages
 * evaluate strings as JavaScript or fetch a file, which a Content-Security-Policy may forbid.
 */

import { printCount } from "../../../core/foreign.ts";
import { messageOf, TensorError } from "../../../core/errors.ts";
import { newBytes } from "../chunks/buffers.ts";
import { broken, mostCompressed, type Decoded } from "./byte-codec.ts";
import { inflateStream } from "./gzip.ts";
import { LIBZSTD, NAMES, SIZE } from "./libzstd-bytes.ts";

type Run = (...args: readonly number[]) => number;

interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

interface WebAssemblyApi {
  instantiate(
    bytes: Uint8Array,
    imports: object,
  ): Promise<{ readonly instance: { readonly exports: Readonly<Record<string, object>> } }>;
}

interface Library {
  readonly memory: Memory;
  /** The function returns 0 if memory is exhausted. */
  readonly malloc: Run;
  readonly free: Run;
  /** The parameters are the output, its capacity, the input, its length and the level. */
  readonly compress: Run;
  readonly decompress: Run;
  readonly isError: Run;
}

/** The maximum WebAssembly memory that is kept for later chunks, in bytes, because this memory never shrinks. */
const MOST_KEPT = 2 ** 26;

const PAGE = 65_536;

/**
 * The instance of libzstd, which takes 5 ms to compile; undefined before the first chunk and after a large chunk.
 * Chunks that are decoded at once wait for the same `loading`: 64 chunks took 560 ms when each loaded an instance.
 */
const kept: { library?: Library; loading?: Promise<void> } = {};

/** Decodes a frame with a checked header to at most `size` bytes. */
export const decodeZstd = (
  frame: Uint8Array,
  { size, allocate }: Pick<Decoded, "size" | "allocate">,
): Promise<Uint8Array> => convert("decompress", frame, size, allocate);

export const encodeZstd = (bytes: Uint8Array, level: number): Promise<Uint8Array> =>
  convert("compress", bytes, mostCompressed(bytes.length), newBytes, level);

/** Throws `engine` if a policy forbids WebAssembly, or `too-large` if WebAssembly memory is exhausted. */
async function convert(
  name: "compress" | "decompress",
  input: Uint8Array,
  capacity: number,
  allocate: Decoded["allocate"],
  ...more: readonly number[]
): Promise<Uint8Array> {
  // The loop repeats if an earlier call that waited for the same instance did not keep it.
  // oxlint-disable-next-line no-await-in-loop
  while (kept.library === undefined) await (kept.loading ??= load());
  const { library } = kept;
  // After a trap, the memory is in an unknown state, so the instance is kept only if the call returns.
  delete kept.library;
  const { memory, malloc, free, isError } = library;
  const [from, into] = [malloc(input.length), malloc(capacity)];
  if (from === 0 || into === 0) {
    const bytes = printCount(input.length + capacity, "byte");
    const sentence = `zstd cannot allocate ${bytes} of WebAssembly memory; use smaller chunks`;
    throw new TensorError("too-large", sentence, { got: input.length + capacity });
  }
  new Uint8Array(memory.buffer).set(input, from);
  const length = library[name](into, capacity, from, input.length, ...more);
  const isWrong = isError(length) !== 0;
  const output = isWrong ? null : allocate(length);
  output?.set(new Uint8Array(memory.buffer, into, length));
  free(from);
  free(into);
  if (memory.buffer.byteLength <= MOST_KEPT) kept.library = library;
  if (output === null) throw broken(`libzstd reports error ${-length}`);
  return output;
}

const abort = (): never => {
  throw broken("libzstd was aborted");
};

async function load(): Promise<void> {
  try {
    kept.library = await newLibrary();
  } finally {
    delete kept.loading;
  }
}

async function newLibrary(): Promise<Library> {
  const packed = Uint8Array.from(atob(LIBZSTD), (one) => one.charCodeAt(0));
  const bytes = await inflateStream(new DecompressionStream("deflate"), packed, SIZE);
  const api: WebAssemblyApi | undefined = Reflect.get(globalThis, "WebAssembly");
  let memory: Memory | undefined;
  const grow = (size: number): number => {
    if (memory === undefined) return 0;
    const pages = Math.ceil(((size >>> 0) - memory.buffer.byteLength) / PAGE);
    try {
      return memory.grow(pages) >= 0 ? 1 : 0;
    } catch {
      return 0;
    }
  };
  const imports = Object.fromEntries(
    NAMES.imports.map(([name, short]) => [short, name === "resize_heap" ? grow : abort]),
  );
  try {
    if (api === undefined) throw new Error("WebAssembly is not available");
    const { instance } = await api.instantiate(bytes, { a: imports });
    const { exports } = instance;
    memory = exports[NAMES.memory] as Memory;
    const run = (name: keyof typeof NAMES.functions): Run => exports[NAMES.functions[name]] as Run;
    run("start")();
    return {
      ...{ memory, malloc: run("malloc"), free: run("free"), isError: run("ZSTD_isError") },
      ...{ compress: run("ZSTD_compress"), decompress: run("ZSTD_decompress") },
    };
  } catch (cause) {
    throw policyError(cause) ?? cause;
  }
}

/**
 * Words in error messages about a policy, in browsers and in workerd, which allows only WebAssembly that was deployed
 * with the worker.
 */
const FORBIDDEN = /unsafe-eval|content.security.policy|\bCSP\b|disallowed by embedder/i;

/** Returns the error for a policy that forbids WebAssembly, or null for any other cause. */
export function policyError(cause: unknown): TensorError | null {
  if (!FORBIDDEN.test(messageOf(cause))) return null;
  const expected = "'wasm-unsafe-eval'";
  const sentence = `zstd needs WebAssembly, which the Content-Security-Policy forbids; add ${expected} to script-src, or store arrays with gzip`;
  return new TensorError("engine", sentence, { key: "script-src", expected }, { cause });
}
