/** What a file is that is no ONNX model: users name a wrong file more often than a broken one. */

import { isTensorError, malformed } from "../../core/errors.ts";

/** As many bytes as tell a format. */
export const HEAD = 64;

/** What files of a format begin with. */
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
 * Returns what `read` makes of a file. Where that fails because the file is of another format, the error says of which.
 * @param head the first {@link HEAD} bytes of the file, or all of it
 * @throws TensorError what `read` throws
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

/** What a file is, null where it may be a broken model. */
function formatOf(head: Uint8Array): string | null {
  if (head.length === 0) return "empty";
  const text = String.fromCharCode(...head);
  const found = MAGIC.find(([, at, start]) => text.startsWith(start, at));
  if (found !== undefined) return found[0];
  // Two bytes that are letters may be what is left of a model.
  return head.length > 2 && isText(head) ? "text" : null;
}

function isText(head: Uint8Array): boolean {
  try {
    // The last letter may be cut off.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    return /^[\t\n\r\u0020-\u007e\u0080-\uffff]+$/.test(text);
  } catch {
    return false;
  }
}
