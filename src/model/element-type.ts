/** OpenVINO's names of data types, as `DTYPES` has them. */

import { DTYPE_NAMES, DTYPES, type DType } from "../tensor/dtype.ts";

/** `f32`; null for a data type that OpenVINO has not. */
export function elementTypeOf(dtype: DType): string | null {
  const row = DTYPES[dtype];
  return "openvino" in row ? row.openvino : null;
}

/** The data type that OpenVINO calls `name`, as `f32` or as `FP32`, or null where it is none of ours. */
export function dtypeOfElementType(name: string): DType | null {
  const plain = name.toLowerCase().replace(/^fp(?=\d)/, "f");
  const elementType = plain === "bool" ? "boolean" : plain;
  return DTYPE_NAMES.find((dtype) => elementTypeOf(dtype) === elementType) ?? null;
}
