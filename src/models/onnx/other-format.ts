/** Recognizes files of other formats: users name a wrong file more often than a broken one. */

import { isTensorError, malformed } from "../../core/errors.ts";

/** The number of bytes that identify a format. */
export const HEAD = 64;

/** The first bytes of files by format. */
const MAGIC: readonly (readonly [what: string, at: number, start: string])[] = [
  ["a PNG image", 0, "\u0089PNG"],
  ["a JPEG image", 0, "\u00ff\u00d8\u00ff"],
  ["a NumPy array (.npy)", 0, "\u0093NUMPY"],
  ["a ZIP archive, as PyTorch's .pt and NumPy's .npz are", 0, "PK\u0003\u0004"],
  ["compressed by gzip", 0, "\u001f\u008b"],
  ["an HDF5 file, as Keras writes", 0, "\u0089HDF"],
  ["a TensorFlow Lite model", 4, "TFL3"],
  ["a model in ONNX Runtime's own format (.ort)", 4, "ORTM"],
  ["a GGUF model", 0, "GGUF"],
  ["a program", 0, "\u007fELF"],
  ["an XML file, as an OpenVINO IR is, whose name must end in .xml", 0, "<"],
];

/**
 * Returns the result of `read`. If `read` fails and the file has another format, the error names it.
 * @param head the first {@link HEAD} bytes of the file, or all of it
 * @throws TensorError the error of `read`
 */
export function namingFormat<T>(head: () => Uint8Array, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!isTensorError(cause, "malformed-file")) throw cause;
    const what = formatOf(head());
    throw what === null
      ? cause
      : malformed(`the file must be an ONNX model, but it is ${what}`, {}, { cause });
  }
}

/** The format of a file, null if it may be a broken model. */
function formatOf(head: Uint8Array): string | null {
  if (head.length === 0) return "empty";
  const text = String.fromCharCode(...head);
  const found = MAGIC.find(([, at, start]) => text.startsWith(start, at));
  if (found !== undefined) return found[0];
  // Two bytes that are letters may be the rest of a model.
  return head.length > 2 && isText(head) ? "text" : null;
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
