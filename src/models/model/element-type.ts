/** Conversions between this package's data types, ONNX's type numbers and OpenVINO's type names. */

import { DTYPE_NAMES, DTYPES, type DType } from "../../core/tensor/dtype.ts";

const DTYPE_OF_NUMBER: ReadonlyMap<number, DType> = new Map(
  DTYPE_NAMES.map((dtype) => [DTYPES[dtype].onnx.number, dtype]),
);

/** Returns the data type with an ONNX type number; null if this package lacks the data type. */
export const dtypeOfNumber = (number: number): DType | null => DTYPE_OF_NUMBER.get(number) ?? null;

/** Returns OpenVINO's name for a data type, such as `f32`; null if OpenVINO lacks the type. */
export function elementTypeOf(dtype: DType): string | null {
  const row = DTYPES[dtype];
  return "openvino" in row ? row.openvino : null;
}

const DTYPE_OF: ReadonlyMap<string | null, DType> = new Map(
  DTYPE_NAMES.filter((dtype) => elementTypeOf(dtype) !== null).map((dtype) => [
    elementTypeOf(dtype),
    dtype,
  ]),
);

/** Returns the data type with an OpenVINO name, in the form `f32` or `FP32`; null for an unknown name. */
export function dtypeOfElementType(name: string): DType | null {
  const plain = name.toLowerCase().replace(/^fp(?=\d)/, "f");
  const elementType = plain === "bool" ? "boolean" : plain;
  return DTYPE_OF.get(elementType) ?? null;
}
