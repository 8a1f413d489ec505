/** Bytes of files: reads them from any buffer or view, and recognizes kinds of files. */

import { malformed, TensorError } from "../errors.ts";
import { factOf, printValue } from "../foreign.ts";
import { classOf, getterOf, isUnshared, TYPED_ARRAY } from "./storage.ts";

/**
 * Bytes of a file: a buffer, or a view of one. Views of wider elements, such as a Float32Array, are views of bytes too.
 */
export type Bytes = ArrayBufferLike | ArrayBufferView;

/** Returns true for an ArrayBuffer or SharedArrayBuffer of any realm, whatever class a value claims to have. */
function isBuffer(value: unknown): value is ArrayBufferLike {
  return [ArrayBuffer, globalThis.SharedArrayBuffer].some((one) => {
    try {
      return getterOf<number>("byteLength", one.prototype)(value) >= 0;
    } catch {
      // The value is not such a buffer, or the platform does not have the class.
      return false;
    }
  });
}

/** Returns true if a value holds bytes: a buffer or a view of one, of any realm or subclass. */
export const isBytes = (value: unknown): value is Bytes =>
  ArrayBuffer.isView(value) || isBuffer(value);

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

/** Returns true for an ArrayBuffer that cannot be resized; any other memory must be copied. */
const isFixed = (buffer: ArrayBufferLike): boolean =>
  isUnshared(buffer) && !("resizable" in buffer && buffer.resizable === true);

// Files of other kinds are recognized by their first bytes, for errors that name what was given and what to do.

/** The number of first bytes that `otherKindOf` needs. */
export const HEAD = 128;

/** A kind of files. */
export interface FileKind {
  /** The name with its article, such as `a ZIP archive`. */
  readonly name: string;
  /** Advice if an array was expected. */
  readonly advice: string;
  /** Advice if an ONNX model was expected. */
  readonly modelAdvice: string;
}

const AS_ARRAY = "save the array as Zarr or NPY, for example with xarray or np.save";
const NAME_ARRAY = "name an array";
const NAME_MODEL = "name a model";

const exported = (tool: string): string => `export it as ONNX (${tool})`;

const kind = (name: string, advice: string, modelAdvice = NAME_MODEL): FileKind => ({
  name,
  advice,
  modelAdvice,
});

const CHECK_URL = "check the URL that it comes from";
const TORCH = `${exported("torch.onnx.export")} if PyTorch wrote it`;

export const PAGE = kind("an HTML page", CHECK_URL, CHECK_URL);
const NPZ = kind("an .npz archive", "name it x.npz and give an array in it, as in x.npz/NAME");
const ZIP = kind("a ZIP archive", "name it x.zip and give an array in it, as in x.zip/NAME", TORCH);

const GUNZIP = "decompress it (gunzip)";
const PULL = "get the file itself (git lfs pull)";

/** Bytes near the beginning of files by kind, and their positions. */
const MAGIC: readonly (readonly [at: number, start: string, kind: FileKind])[] = [
  [0, "\u0093NUMPY", kind("an NPY file", "rename it")],
  [0, "\u001f\u008b", kind("a gzip file", GUNZIP, GUNZIP)],
  [0, "\u0089HDF", kind("an HDF5 file", AS_ARRAY, `${exported("tf2onnx")} if Keras wrote it`)],
  [0, "CDF", kind("a NetCDF file", AS_ARRAY)],
  [0, "PAR1", kind("a Parquet file", AS_ARRAY)],
  [0, "MATLAB", kind("a MATLAB file", AS_ARRAY)],
  [0, "\u0080\u0004\u0095", kind("a Python pickle", AS_ARRAY, TORCH)],
  [0, "\u0080\u0002", kind("a Python pickle", AS_ARRAY, TORCH)],
  [0, "\u0089PNG", kind("a PNG image", AS_ARRAY)],
  [0, "\u00ff\u00d8\u00ff", kind("a JPEG image", AS_ARRAY)],
  [4, "TFL3", kind("a TensorFlow Lite model", NAME_ARRAY, exported("tf2onnx"))],
  [
    4,
    "ORTM",
    kind("a model in ONNX Runtime's own format (.ort)", NAME_ARRAY, "use the original ONNX model"),
  ],
  [0, "GGUF", kind("a GGUF model", NAME_ARRAY, "export the original model as ONNX")],
  [0, "\u007fELF", kind("a program", NAME_ARRAY)],
  [0, "version https://git-lfs", kind("a Git LFS pointer", PULL, PULL)],
  [0, "<", kind("an XML file", NAME_ARRAY, "rename an OpenVINO IR so that its name ends in .xml")],
];

/** The beginning of an HTML page, after a byte order mark, declarations and comments. */
const HTML =
  /^(?:\u00ef\u00bb\u00bf)?(?:\s|<\?[^>]*>|<!--[^]*?-->)*<(?:!doctype html|html|head|body|title|meta|script)\b/i;

export const isPage = (head: string): boolean => HTML.test(head.slice(0, HEAD));

/** Returns the kind of a file; null if its first bytes do not tell. */
export function otherKindOf(file: Uint8Array): FileKind | null {
  const head = String.fromCharCode(...file.subarray(0, HEAD));
  if (isPage(head)) return PAGE;
  if (head.startsWith("PK\u0005\u0006")) return ZIP;
  if (head.startsWith("PK\u0003\u0004")) return /\.npy$/i.test(nameInArchive(head)) ? NPZ : ZIP;
  return MAGIC.find(([at, start]) => head.startsWith(start, at))?.[2] ?? null;
}

/** Returns the name of the first file in a ZIP archive, or its beginning. */
const nameInArchive = (head: string): string =>
  head.slice(30, 30 + head.charCodeAt(26) + 256 * head.charCodeAt(27));
