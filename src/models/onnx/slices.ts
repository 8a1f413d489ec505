/** Reads slices of a tensor whose data is in another file. */

import { EXTERNAL } from "../../core/limits.ts";
import { allocate, isNumericStorage, rowOf } from "../../core/tensor/dtype.ts";
import { bytesOf, packedBytes } from "../../core/tensor/storage.ts";
import { sizeOf } from "../../core/tensor/shape.ts";
import { plainBytes } from "../../core/tensor/bytes.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import { SOURCE, type Constant } from "../model/model.ts";
import { externalRange, type ReadExternal } from "./external.ts";
import { isHeader, tensorTitle } from "./tensor-proto.ts";

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
      target.set(bytes, at);
    }
    return true;
  };
  return { tensor: new Tensor(dtype, shape, size, data), read };
}
