/**
 * Sparse initializers (`SparseTensorProto`), which store the nonzero values of a tensor and their positions. Reading
 * converts a sparse initializer to a dense constant. An unchanged initializer is written back in sparse form.
 *
 * ONNX: `onnx.proto`, SparseTensorProto.
 */

import { malformed, TensorError } from "../../core/errors.ts";
import { printShape, sameShape, sizeOf } from "../../core/tensor/shape.ts";
import { Tensor, zeros } from "../../core/tensor/tensor.ts";
import { quote } from "../model/graph.ts";
import { readConstant, SOURCE, type Constant } from "../model/model.ts";
import { SPARSE_TENSOR } from "./schema.ts";
import { decode as decodeMessage, type Parts } from "./wire.ts";

/**
 * The maximum number of elements of a dense tensor. Without this limit, a few bytes could demand any amount of memory.
 */
const MAX_DENSE = 2 ** 28;

/** The original bytes of a sparse initializer, for the writer. */
export class SparseSource {
  readonly bytes: Uint8Array;
  readonly name: string;

  constructor(bytes: Uint8Array, name: string) {
    this.bytes = bytes;
    this.name = name;
  }
}

/**
 * Converts a sparse initializer to a constant, which becomes dense when it is read. The callback `decode` reads the
 * values and the indices.
 */
export function decodeSparse(
  bytes: Uint8Array,
  parts: Parts,
  decode: (tensor: Uint8Array) => Constant,
): Constant {
  const source = decodeMessage(SPARSE_TENSOR, bytes, "a sparse tensor", parts);
  const [values, indices] = [decode(source.values), decode(source.indices)];
  const { name, dtype } = values;
  const shape = source.dims.map((dim) => {
    if (dim >= 0n && Number.isSafeInteger(Number(dim))) return Number(dim);
    throw wrong(name, `has the dimension ${dim}`, { key: "dims", got: dim });
  });
  return { name, dtype, shape, read: () => denseOf(values, indices, shape) };
}

/** Returns the bytes of an unchanged sparse initializer; null for other constants. */
export function sparseBytes({ name, [SOURCE]: source }: Constant): Uint8Array | null {
  return source instanceof SparseSource && source.name === name ? source.bytes : null;
}

/** Throws `malformed-file` for invalid indices; `too-large` for a shape beyond the limit. */
function denseOf(values: Constant, indices: Constant, shape: readonly number[]): Tensor {
  const { name } = values;
  const size = sizeOf(shape, { input: name });
  if (size > MAX_DENSE)
    throw new TensorError(
      "too-large",
      `the sparse initializer ${quote(name)} has ${size} elements, and the limit is ${MAX_DENSE}`,
      { input: name, got: size, limit: MAX_DENSE },
    );
  const [given, at] = [readConstant(values), readConstant(indices)];
  const count = given.size;
  const isFlat = sameShape(at.shape, [count]);
  if (
    at.dtype !== "int64" ||
    given.shape.length !== 1 ||
    !(isFlat || sameShape(at.shape, [count, shape.length]))
  ) {
    const must = `must have int64 indices of the shape [${count}] or [${count}, ${shape.length}]`;
    throw wrong(name, `${must}, got ${at.dtype}${printShape(at.shape)}`, { key: "indices" });
  }
  const dense = zeros(given.dtype, shape);
  const [from, to] = [given.data, dense.data as unknown[] | typeof given.data];
  const read = at.data as BigInt64Array;
  for (let nth = 0; nth < count; nth++) {
    const position = positionOf(read, nth, isFlat ? [size] : shape);
    if (position === null)
      throw wrong(name, `has the index ${nth} out of range`, { key: "indices", at: [nth] });
    (to as { [position: number]: unknown })[position] = from[nth];
  }
  return dense;
}

/** Returns the flat position of a coordinate tuple; null if the tuple lies outside the shape. */
function positionOf(
  coordinates: BigInt64Array,
  nth: number,
  shape: readonly number[],
): number | null {
  let position = 0;
  for (const [axis, dim] of shape.entries()) {
    const { [nth * shape.length + axis]: coordinate } = coordinates;
    if (coordinate < 0n || coordinate >= BigInt(dim)) return null;
    position = position * dim + Number(coordinate);
  }
  return position;
}

const wrong = (name: string, what: string, fields: Parameters<typeof malformed>[1]): TensorError =>
  malformed(`the sparse initializer ${quote(name)} ${what}`, { ...fields, input: name });
