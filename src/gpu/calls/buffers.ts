/** Creates tensors over buffers of users and of onnxruntime. */

import { paddedBytes, TENSOR_USAGE } from "../kernels/gpu.ts";
import type { GpuBufferLike } from "../kernels/webgpu.ts";
import { factOf, printValue, readForeign } from "../../core/foreign.ts";
import { named, TensorError, type ErrorContext } from "../../core/errors.ts";
import { DTYPES, type DType, checkDType } from "../../core/tensor/dtype.ts";
import { shapeOf } from "../../core/tensor/shape.ts";
import type { GpuCore } from "./core.ts";
import { DeviceTensor } from "./tensor.ts";

/**
 * Creates a tensor over an existing buffer. If the tensor is disposed of, the buffer is not destroyed. Throws `dtype`
 * for text, `attribute` for a value that is not a usable `GPUBuffer`, `shape-mismatch` for a buffer that is too short,
 * or `too-large`.
 */
export function tensorOver<D extends DType>(
  core: GpuCore,
  buffer: unknown,
  dtype: D,
  shape: unknown,
  fields: ErrorContext = {},
): DeviceTensor<D> {
  const { shape: dims, size } = typeOf(dtype, shape, fields);
  const who = fields.input === undefined ? "the buffer" : `the buffer of ${fields.input}`;
  const { bytes: length, usage } = bufferParts(buffer, who, fields);
  const needed = paddedBytes(size * DTYPES[dtype].bytes);
  if (length < needed) {
    const sentence = `${who} must have at least ${needed} bytes, a multiple of 4, got ${length}`;
    throw new TensorError("shape-mismatch", sentence, {
      ...named(fields, "buffer"),
      got: length,
      expected: needed,
    });
  }
  if ((usage & TENSOR_USAGE) !== TENSOR_USAGE) {
    const sentence = `the usage of ${who} must include STORAGE, COPY_SRC and COPY_DST, got ${usage}`;
    throw new TensorError("attribute", sentence, { ...fields, key: "buffer", got: usage });
  }
  core.gpu.checkBytes(needed, fields.input ?? "the tensor");
  return new DeviceTensor(core, dtype, dims, size, buffer as GpuBufferLike, false);
}

/** Throws `dtype` for text and for an unknown data type, or the errors of `zeros` about shapes. */
export function typeOf(
  dtype: DType,
  shape: unknown,
  fields: ErrorContext = {},
): ReturnType<typeof shapeOf> {
  checkDType(dtype, fields);
  checkHolds(dtype, fields);
  return shapeOf(shape, fields);
}

/** Throws a `dtype` error for text. */
export function checkHolds(dtype: DType, fields: ErrorContext): void {
  if (dtype !== "string") return;
  const sentence = `${fields.input ?? "the tensor"} must not be string, because a GPU cannot hold text`;
  throw new TensorError("dtype", sentence, { ...named(fields, "tensor"), got: dtype });
}

/** Throws an `attribute` error for a value that is not a `GPUBuffer`. */
function bufferParts(
  buffer: unknown,
  who: string,
  fields: ErrorContext,
): { readonly bytes: number; readonly usage: number } {
  const must = `${who} must be a GPUBuffer, got ${printValue(buffer)}`;
  const one = buffer as Partial<GpuBufferLike> | null | undefined;
  const read = (): unknown[] => [one?.size, one?.usage];
  const [bytes, usage] = readForeign(read, "attribute", must, "buffer", fields);
  if (typeof bytes === "number" && typeof usage === "number") return { bytes, usage };
  throw new TensorError("attribute", must, { ...fields, key: "buffer", got: factOf(buffer) });
}

/** The fields of an onnxruntime-web tensor that locate its elements. */
interface RuntimeParts {
  readonly location: unknown;
  readonly gpuBuffer: unknown;
  readonly type: unknown;
  readonly dims: unknown;
}

/**
 * Converts an onnxruntime tensor on the GPU to a tensor over the same buffer, or returns null for any other value.
 * Throws the errors of `tensorOver`, or `disposed` if the buffer cannot be read.
 */
export function runtimeTensor(
  core: GpuCore,
  given: unknown,
  fields: ErrorContext,
): DeviceTensor | null {
  if (typeof given !== "object" || given === null) return null;
  const one = given as Partial<RuntimeParts>;
  const who = fields.input ?? "the tensor";
  const read = (): unknown => one.location;
  if (readForeign(read, "dtype", `${who} cannot be read`, "tensor", fields) !== "gpu-buffer")
    return null;
  const lost = `the memory of ${who} is gone`;
  const parts = readForeign(
    () => [one.gpuBuffer, one.type, one.dims],
    "disposed",
    lost,
    "tensor",
    fields,
  );
  const [buffer, dtype, dims] = parts;
  return tensorOver(core, buffer, dtype as DType, dims, fields);
}
