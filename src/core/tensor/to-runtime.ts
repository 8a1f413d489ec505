/** Converts this package's tensors for onnxruntime; `asTensor` converts in the other direction. */

import { TensorError } from "../errors.ts";
import { DTYPES, dtypesWhere, isNumericStorage, rowOf, type DType, type Storage } from "./dtype.ts";
import { pack } from "./packing.ts";
import { asTensor, type Tensor } from "./tensor.ts";

/** Data types of onnxruntime-common tensors, which have the same names in this package. */
export type RuntimeDType = {
  [D in DType]: (typeof DTYPES)[D] extends { readonly runtime: true } ? D : never;
}[DType];

/** A tensor that onnxruntime-node accepts as a feed, with the three parts that `new Tensor(type, data, dims)` needs. */
export interface ToRuntime<D extends RuntimeDType = RuntimeDType> {
  readonly type: D;
  readonly dims: readonly number[];
  /** Elements: bits for float16, 0 or 1 for bool; for int4 and uint4, two per byte, the first in the low bits. */
  readonly data: D extends "int4" | "uint4" ? Uint8Array : Storage<D>;
  readonly location: "cpu";
}

/**
 * Converts a tensor for onnxruntime, with the same data type. The data is not copied, except for int4 and uint4, so use
 * the result before disposing of the tensor.
 *
 * @param tensor a tensor with a data type that onnxruntime has
 *
 * @example
 * ```ts
 * const { type, data, dims } = toRuntime(tensor("float32", [2], [1, 2]));
 * console.log(type, data, dims); // float32 Float32Array(2) [1, 2] [2]
 * // A feed of a session: new ort.Tensor(type, data, dims)
 * ```
 * @throws TensorError `dtype` for a data type that onnxruntime tensors do not have, such as bfloat16 or complex64;
 *   `disposed`
 */
export function toRuntime<D extends DType>(
  tensor: Tensor<D> & ([D & RuntimeDType] extends [never] ? `onnxruntime has no ${D}` : unknown),
): ToRuntime<D & RuntimeDType>;
export function toRuntime(given: unknown): ToRuntime {
  const { dtype, shape, data } = asTensor(given, {});
  if (!isRuntimeDType(dtype)) {
    const allowed = dtypesWhere(isRuntime);
    const sentence = `onnxruntime has no tensors of ${dtype}, only of ${allowed.join(", ")}`;
    throw new TensorError("dtype", sentence, { key: "tensor", got: dtype, allowed });
  }
  const isPacked = rowOf(dtype).bits !== undefined && isNumericStorage(data);
  const dims = [...shape];
  return { type: dtype, dims, data: isPacked ? pack(dtype, data) : data, location: "cpu" };
}

const isRuntime = ({ runtime }: { readonly runtime?: true }): boolean => runtime === true;

const isRuntimeDType = (dtype: DType): dtype is RuntimeDType => isRuntime(rowOf(dtype));
