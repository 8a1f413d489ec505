/**
 * External data: tensors whose bytes are in another file in the model's folder. This module decides which paths a model
 * may name. Code that opens the files must refuse links that lead out of the model's folder, because a path does not
 * reveal them.
 *
 * ONNX: "External Data" (docs/ExternalData.md).
 */

import { malformed, printValue, TensorError, wrongOption } from "../../core/errors.ts";
import { parseDecimal } from "../model/decimal.ts";
import { optionsOf } from "../../core/tensor/options.ts";

/**
 * Reads `length` bytes from `offset` of the file at `location`, a relative path with `/` whose text never leaves the
 * model's folder. The path may still contain links. A long tensor is read by several calls, its last part first.
 */
export type ReadExternal = (location: string, offset: number, length: number) => Uint8Array;

/** Options of {@link readModel} and the other readers. */
export interface ReadOptions {
  /** Reads external data. Without this option, reading a tensor with external data is an error. */
  readonly external?: ReadExternal | undefined;
}

/**
 * Checks options of a caller.
 * @throws TensorError `attribute` for a value that is not an object, an unknown option, or an `external` that is not a
 *   function
 */
export function readOptionsFrom(options: unknown): ReadOptions {
  const { external } = optionsOf(options, ["external"], {});
  if (external === undefined || typeof external === "function") {
    return { external: external as ReadExternal | undefined };
  }
  throw wrongOption("external", "a function", external);
}

/** The location of a tensor's bytes, with offset and length in bytes. `length` is null if the file omits it. */
export interface ExternalRange {
  readonly location: string;
  readonly offset: number;
  readonly length: number | null;
}

/**
 * Returns the range given by a tensor's `external_data` entries. Keys other than location, offset and length are
 * ignored (ONNX defines `checksum`, which no reader checks, and writes `basepath`).
 * @param what the title of the tensor in errors
 * @throws TensorError `malformed-file` for a path that is empty, absolute or leaves the folder, and for an offset or
 *   length that is not a decimal number; `unsupported-model` for a memory address instead of a file
 */
export function externalRange(entries: ReadonlyMap<string, string>, what: string): ExternalRange {
  const location = entries.get("location") ?? "";
  if (location.startsWith(MEMORY)) {
    const where = `at a memory address of the program that saved the model (${printValue(location)})`;
    const sentence = `${what} has its data ${where}, not in a file; save the model with its data`;
    throw new TensorError("unsupported-model", sentence, { key: "location", got: location });
  }
  const fault = pathFault(location);
  if (fault !== null) {
    throw malformed(`${what} has its data in ${printValue(location)}, which ${fault}`, {
      file: location,
    });
  }
  return {
    location,
    offset: decimalEntry(entries, "offset", what) ?? 0,
    length: decimalEntry(entries, "length", what),
  };
}

/** The beginning of the locations that ONNX Runtime gives to data in the memory of a process. */
const MEMORY = "*/_ORT_MEM_ADDR_/*";

/**
 * Returns the fault of a path, or null. Backslashes and drive letters are special on Windows alone but refused
 * everywhere, so that a model is either valid or invalid on all machines.
 */
function pathFault(location: string): string | null {
  if (location === "") return "is empty";
  if (location.includes("\0")) return "holds a NUL";
  if (location.includes("\\")) return "holds a backslash";
  if (location.startsWith("/")) return "is an absolute path";
  if (/^[A-Za-z]:/.test(location)) return "starts with a drive letter";
  if (location.split("/").includes("..")) return "leads out of the model's folder";
  if (/(^|\/)\.?$/.test(location)) return "names no file";
  return null;
}

function decimalEntry(
  entries: ReadonlyMap<string, string>,
  key: string,
  what: string,
): number | null {
  const text = entries.get(key);
  if (text === undefined) return null;
  const value = parseDecimal(text);
  if (value !== null) return value;
  throw malformed(
    `${what} has external data whose ${key} must be a decimal number below 2^53, got ${printValue(text)}`,
    { key, got: text },
  );
}
