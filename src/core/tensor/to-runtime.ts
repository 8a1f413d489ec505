/** Tensors of this package as onnxruntime takes them. The other direction is `asTensor`. */

import { TensorError } from "../errors.ts";
import { DTYPES, dtypesWhere, isNumericStorage, rowOf, type DType, type Storage } from "./dtype.ts";
import { pack } from "./packing.ts";
import { asTensor, type Tensor } from "./tensor.ts";

/** The data types that tensors of onnxruntime-common have; it calls them as this package does. */
export type RuntimeDType = {
  [D in DType]: (typeof DTYPES)[D] extends { readonly runtime: true } ? D : never;
}[DType];

/** A tensor as onnxruntime-node takes it in feeds, and with the three parts that `new Tensor(type, data, dims)` takes. */
export interface ToRuntime<D extends RuntimeDType = RuntimeDType> {
  readonly type: D;
  readonly dims: readonly number[];
  /** Bits for float16, and 0 or 1 for bool; two elements in a byte for int4 and uint4, the first in its low bits. */
  readonly data: D extends "int4" | "uint4" ? Uint8Array : Storage<D>;
  readonly location: "cpu";
}

/**
 * A tensor for onnxruntime, of the same data type. The data is not copied, except for int4 and uint4, so it must be used
 * before the tensor is disposed of.
 *
 * @param tensor of a data type that onnxruntime has
 *
 * @example
 * ```ts
 * const { type, data, dims } = toRuntime(tensor("float32", [2], [1, 2]));
 * console.log(type, data, dims); // float32 Float32Array(2) [1, 2] [2]
 * // A feed of a session: new ort.Tensor(type, data, dims)
 * ```
 * @throws TensorError `dtype` for a data type that tensors of onnxruntime lack, such as bfloat16 and complex64, `disposed`
 */
export function toRuntime<D extends DType>(
  tensor: Tensor<D> & ([D & RuntimeDType] extends [never] ? `onnxruntime has no ${D}` : unknown),
): ToRuntime<D & RuntimeDType>;
export function toRuntime(given: unknown): ToRuntime {
  const { dtype, shape, data } = asTensor(given, {});
  if (!isRuntimeDType(dtype)) {
    const types = dtypesWhere(isRuntime).join(", ");
    throw new TensorError("dtype", `onnxruntime has no tensors of ${dtype}, only of ${types}`);
  }
  const isPacked = rowOf(dtype).bits !== undefined && isNumericStorage(data);
  const dims = [...shape];
  return { type: dtype, dims, data: isPacked ? pack(dtype, data) : data, location: "cpu" };
}

const isRuntime = ({ runtime }: { readonly runtime?: true }): boolean => runtime === true;

const isRuntimeDType = (dtype: DType): dtype is RuntimeDType => isRuntime(rowOf(dtype));
