/** Recognizes files of other formats, because a wrong file is more common than a damaged file. */

import { isTensorError, malformed, unsupported } from "../../core/errors.ts";
import { otherKindOf } from "../../core/tensor/bytes.ts";

/**
 * Returns the result of `read`. If `read` fails and the file has another format, the error names the format. The
 * callback `head` returns the first `HEAD` bytes of the file, or the whole file if it is shorter. Throws
 * `unsupported-file` for a file of another format; otherwise the error of `read`.
 */
export function namingFormat<T>(head: () => Uint8Array, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!isTensorError(cause, "malformed-file")) throw cause;
    const bytes = head();
    const must = "the file must be an ONNX model, got";
    if (bytes.length === 0) throw malformed(`${must} an empty file; get it again`, {}, { cause });
    const { name: got, modelAdvice } = otherKindOf(bytes) ?? TEXT;
    // A truncated model may also begin with two letters.
    if (got === TEXT.name && (bytes.length < 3 || !isText(bytes))) throw cause;
    throw unsupported(`${must} ${got}; ${modelAdvice}`, { got }, { cause });
  }
}

const TEXT = { name: "text", modelAdvice: "give a model, or download the file again" };

function isText(head: Uint8Array): boolean {
  try {
    // The head of the file may end inside a character.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    return /^[\t\n\r\u0020-\u007e\u0080-\uffff]+$/.test(text);
  } catch {
    return false;
  }
}
