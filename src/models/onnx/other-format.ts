/** Recognizes files of other formats, because users name a wrong file more often than a damaged file. */

import { isTensorError, malformed, unsupported } from "../../core/errors.ts";

/** The number of bytes that identify a format. */
export const HEAD = 64;

const EXPORT = "export it as ONNX";

const LFS = "version https://git-lfs";

/** The first bytes of files by format, with advice for such files. */
const MAGIC: readonly (readonly [what: string, at: number, start: string])[] = [
  ["a PNG image; name a model", 0, "\u0089PNG"],
  ["a JPEG image; name a model", 0, "\u00ff\u00d8\u00ff"],
  ["a NumPy array (.npy); name a model", 0, "\u0093NUMPY"],
  [`a ZIP archive, such as PyTorch's .pt; ${EXPORT} (torch.onnx.export)`, 0, "PK\u0003\u0004"],
  ["a gzip file; decompress it (gunzip)", 0, "\u001f\u008b"],
  [`an HDF5 file, as Keras writes; ${EXPORT} (tf2onnx)`, 0, "\u0089HDF"],
  [`a TensorFlow Lite model; ${EXPORT} (tf2onnx)`, 4, "TFL3"],
  ["a model in ONNX Runtime's own format (.ort); use the original ONNX model", 4, "ORTM"],
  [`a GGUF model; ${EXPORT}`, 0, "GGUF"],
  ["a program; name a model", 0, "\u007fELF"],
  ["a Git LFS pointer; get the model (git lfs pull)", 0, LFS],
  ["an XML file; the name of an OpenVINO IR must end in .xml", 0, "<"],
];

/**
 * Returns the result of `read`. If `read` fails and the file has another format, the error names it.
 * @param head the first {@link HEAD} bytes of the file, or all of it
 * @throws TensorError `unsupported-file` for a file of another format; otherwise the error of `read`
 */
export function namingFormat<T>(head: () => Uint8Array, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!isTensorError(cause, "malformed-file")) throw cause;
    const what = formatOf(head());
    if (what === null) throw cause;
    const refuse = what === EMPTY ? malformed : unsupported;
    throw refuse(`the file must be an ONNX model, got ${what}`, {}, { cause });
  }
}

const EMPTY = "an empty file; get it again";

/** Returns the format of a file, or null if it may be a broken model. */
function formatOf(head: Uint8Array): string | null {
  if (head.length === 0) return EMPTY;
  const text = String.fromCharCode(...head);
  const found = MAGIC.find(([, at, start]) => text.startsWith(start, at));
  if (found !== undefined) return found[0];
  // Two bytes that are letters may also begin a truncated model.
  return head.length > 2 && isText(head) ? "text; name a model, or get the file again" : null;
}

function isText(head: Uint8Array): boolean {
  try {
    // The last letter may be incomplete.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    return /^[\t\n\r\u0020-\u007e\u0080-\uffff]+$/.test(text);
  } catch {
    return false;
  }
}
