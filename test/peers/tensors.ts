/** Tensors in messages to peers, and what is equal. */

import { allocate, isNumericStorage, type DType } from "../../src/core/tensor/dtype.ts";
import { product } from "../../src/core/tensor/shape.ts";
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
