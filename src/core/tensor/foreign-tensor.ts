/** Reads the parts of another library's tensor: data type, shape and elements. */

import {
  factOf,
  named,
  printValue,
  readForeign,
  TensorError,
  type ErrorContext,
} from "../errors.ts";
import { isFloat16Array, isList } from "./values.ts";

/**
 * The object that holds the elements: the given object, which may be a tensor, or `{ data }` around a bare
 * Float16Array.
 */
interface Holder {
  readonly data?: unknown;
  /** Location of an onnxruntime tensor's elements. */
  readonly location?: unknown;
}

interface Parts {
  readonly dtype: unknown;
  readonly shape: unknown;
  readonly data: unknown;
}

/**
 * Reads the parts of an object that may be a tensor, each once.
 * @throws TensorError `dtype` if a part is missing, `disposed` if the data cannot be read
 */
export function partsOf(value: unknown, fields: ErrorContext): Parts {
  const who = fields.input ?? "the value";
  const got = printValue(value);
  const advice = got.endsWith(")")
    ? ""
    : `; use tensor(…)${got === "an object" ? `, and pass options after ${who}` : ""}`;
  const none =
    value === undefined ? `${who} must be given` : `${who} must be a tensor, got ${got}${advice}`;
  const type = readForeign(() => typeOf(value), "dtype", none, "tensor", fields);
  const data = type && listIn(type.holder, fields);
  if (type === null || data === null) {
    throw new TensorError("dtype", none, { ...named(fields, "tensor"), got: factOf(value) });
  }
  return { ...type, data };
}

/**
 * Reads the data type and shape of a tensor-like object, and finds the object that holds its data. Returns null if the
 * value is not an object.
 */
function typeOf(value: unknown): (Omit<Parts, "data"> & { holder: Holder }) | null {
  if (isFloat16Array(value)) {
    return { dtype: "float16", shape: [value.length], holder: { data: value } };
  }
  if (typeof value !== "object" || value === null) return null;
  return {
    dtype: "dtype" in value ? value.dtype : "type" in value ? value.type : undefined,
    shape: "shape" in value ? value.shape : "dims" in value ? value.dims : undefined,
    holder: value,
  };
}

/**
 * Reads the elements of a tensor-like object. onnxruntime throws its own errors if a tensor was disposed of or is in
 * device memory.
 */
function listIn(holder: Holder, fields: ErrorContext): unknown {
  const who = fields.input ?? "the tensor";
  const read = (): unknown => {
    try {
      return listOf(holder.data);
    } catch (error) {
      if (holder.location !== "gpu-buffer") throw error;
      const sentence = `${who} must be in CPU memory, got a GPU tensor; await its getData(), or use ndscatter/webgpu`;
      throw new TensorError("dtype", sentence, named(fields, "tensor"));
    }
  };
  return readForeign(read, "disposed", `the memory of ${who} is gone`, "tensor", fields);
}

const listOf = (data: unknown): unknown => (isList(data) || isFloat16Array(data) ? data : null);
