/** Tensors in messages to peers, and their comparison. */

import { allocate, isNumericStorage, type DType } from "../../src/core/tensor/dtype.ts";
import { product, sameShape } from "../../src/core/tensor/shape.ts";
import { Tensor } from "../../src/core/tensor/tensor.ts";

export interface WireTensor {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly data: string | readonly string[];
}

export function toWire({ dtype, shape, data }: Tensor): WireTensor {
  if (!isNumericStorage(data)) return { dtype, shape, data: data as readonly string[] };
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return { dtype, shape, data: bytes.toString("base64") };
}

export function fromWire({ dtype, shape, data }: WireTensor): Tensor {
  const size = product(shape);
  if (typeof data !== "string") return new Tensor(dtype, shape, size, [...data]);
  const storage = allocate(dtype, size);
  if (!isNumericStorage(storage)) throw new Error(`the bytes of ${dtype}`);
  new Uint8Array(storage.buffer).set(Buffer.from(data, "base64"));
  return new Tensor(dtype, shape, size, storage);
}

/** Data types whose elements share bytes in ONNX's and OpenVINO's tensors, unlike in the package. */
export const PACKED = /^u?int[24]$|^float4/;

/**
 * Returns true for equal data types, shapes and values, where all NaNs are equal.
 * @param isNear true if a NaN equals any value, and 0 equals -0, because the formats have other rules for max and min
 */
export function isSame(a: Tensor, b: Tensor, isNear = false): boolean {
  if (a.dtype !== b.dtype || !sameShape(a.shape, b.shape)) return false;
  const values = [a, b].map((one) => ([one.toArray()] as unknown[]).flat(Infinity));
  return values[0].every((value, at) => {
    const other: unknown = values[1][at];
    return (
      Object.is(value, other) ||
      (isNear && (Number.isNaN(value) || Number.isNaN(other) || value === other))
    );
  });
}
