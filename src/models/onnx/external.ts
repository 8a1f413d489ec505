/**
 * External data, which is tensor data in other files of the model's folder. This module decides which paths are
 * allowed. Code that opens the files must refuse links that leave the model's folder, because a path does not show
 * where its links lead.
 *
 * ONNX: "External Data" (docs/ExternalData.md).
 */

import { malformed, TensorError } from "../../core/errors.ts";
import { optionsOf, printValue, wrongOption } from "../../core/foreign.ts";
import { EXTERNAL } from "../../core/limits.ts";
import { plainBytes } from "../../core/tensor/bytes.ts";
import { allocate, isNumericStorage, rowOf } from "../../core/tensor/dtype.ts";
import { sizeOf } from "../../core/tensor/shape.ts";
import { bytesOf, packedBytes } from "../../core/tensor/storage.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import { parseDecimal } from "../model/decimal.ts";
import { modelFrom } from "../model/foreign-model.ts";
import { SOURCE, type Constant, type Model } from "../model/model.ts";
import { walkNodes } from "../model/places.ts";
import { faultyTensor, isHeader, tensorTitle } from "./tensor-proto.ts";

/**
 * Reads `length` bytes, starting at `offset`, of the file at `location`. The location is a relative path with `/` that
 * never leaves the model's folder, but the folder may contain links. A large tensor is read by several calls, and its
 * last part is read first.
 */
export type ReadExternal = (location: string, offset: number, length: number) => Uint8Array;

/** Options of {@link readModel} and the other readers. */
export interface ReadOptions {
  /** Reads external data. Without this option, a tensor with external data cannot be read. */
  readonly external?: ReadExternal | undefined;
}

/**
 * Checks a caller's options. Throws `attribute` for a value that is not an object, an unknown option, or an `external`
 * that is not a function.
 */
export function readOptionsFrom(options: unknown): ReadOptions {
  const { external } = optionsOf(options, ["external"], {});
  if (external === undefined || typeof external === "function") {
    return { external: external as ReadExternal | undefined };
  }
  throw wrongOption("external", "a function", external);
}

/**
 * The file location, offset and length of a tensor's data, in bytes. If the file omits the length, `length` is null.
 */
export interface ExternalRange {
  readonly location: string;
  readonly offset: number;
  readonly length: number | null;
}

/**
 * Reads the range in a tensor's `external_data` entries. Keys other than location, offset and length are ignored: ONNX
 * defines `checksum`, which no reader checks, and writes `basepath`. The tensor's title `what` is for errors. Throws
 * `malformed-file` for a path that is empty, absolute or leaves the folder, and for an offset or length that is not a
 * decimal number; `unsupported-model` for a memory address instead of a file.
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

/** The prefix of locations with which ONNX Runtime refers to data in its own memory. */
const MEMORY = "*/_ORT_MEM_ADDR_/*";

/**
 * Explains why a path is not allowed; null for an allowed path. Backslashes and drive letters are refused on every
 * system, so that a model is valid either everywhere or nowhere.
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

/**
 * Returns the paths of a model's external data files, relative to the model's folder. Each path is listed once.
 * `writeModel` keeps references to these files.
 *
 * @param model a model from {@link readModel}
 * @throws TensorError `malformed-file` for a path that leaves the model's folder
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 *
 * const model = readModel(readFileSync("model.onnx"));
 * externalFiles(model); // []
 * ```
 */
export function externalFiles(model: Model): string[] {
  const found = new Set<string>();
  const addConstant = (one: Constant): void => {
    const { [SOURCE]: header } = one;
    if (!isHeader(header) || header.external === null) return;
    found.add(externalRange(header.external, tensorTitle(one.name)).location);
  };
  walkNodes(modelFrom(model), {
    place: ({ graph }) => graph.constants.forEach(addConstant),
    node: ({ node }) => {
      for (const attribute of Object.values(node.attributes)) {
        if (attribute.type === "tensor") addConstant(attribute.value);
        if (attribute.type === "tensors") attribute.value.forEach(addConstant);
      }
    },
  });
  return [...found];
}

/** Selected slices of a tensor: the start of each slice and their common length, in elements. */
interface Slices {
  readonly starts: Iterable<number>;
  readonly length: number;
}

/**
 * A tensor of zeros in which some slices are filled. The operating system allocates memory only for pages that are
 * written.
 */
export interface Sliced {
  readonly tensor: Tensor;
  /**
   * Reads slices from the file. The result is false if reading the whole tensor would be faster. Throws
   * `malformed-file` if the number of bytes differs from the requested number.
   */
  read(slices: Slices): boolean;
}

/**
 * Returns a constant that can be read in slices. The result is null for a constant in the model file itself, and for
 * values that must be checked or unpacked.
 */
export function slicedConstant(one: Constant, external: ReadExternal): Sliced | null {
  const { name, dtype, shape, [SOURCE]: header } = one;
  if (!isHeader(header) || header.external === null || dtype === null || dtype === "bool")
    return null;
  const what = tensorTitle(name);
  const { location, offset, length } = externalRange(header.external, what);
  const size = sizeOf(shape, { input: name });
  const isWhole = length === null || length === packedBytes(dtype, size);
  if (!isWhole || rowOf(dtype).bits !== undefined || dtype === "string") return null;
  const data = allocate(dtype, size);
  if (!isNumericStorage(data)) return null;
  const target = bytesOf(data);
  const read = (slices: Slices): boolean => {
    const starts = new Set(slices.starts);
    const part = packedBytes(dtype, slices.length);
    if (starts.size * (part + EXTERNAL.slice) >= target.length) return false;
    for (const start of starts) {
      const at = packedBytes(dtype, start);
      const bytes = plainBytes(external(location, offset + at, part), `${what} needs`);
      const { length: got } = bytes;
      if (got !== part)
        throw faultyTensor(name, `needs ${part} bytes, got ${got}`, { got, expected: part });
      target.set(bytes, at);
    }
    return true;
  };
  return { tensor: new Tensor(dtype, shape, size, data), read };
}
