/** ONNX's numbers and OpenVINO's names of data types, as `DTYPES` has them. */

import { DTYPE_NAMES, DTYPES, type DType } from "../../core/tensor/dtype.ts";

const DTYPE_OF_NUMBER: ReadonlyMap<number, DType> = new Map(
  DTYPE_NAMES.map((dtype) => [DTYPES[dtype].onnx.number, dtype]),
);

/** The data type that has this number in ONNX; null where this package does not have it. */
export const dtypeOfNumber = (number: number): DType | null => DTYPE_OF_NUMBER.get(number) ?? null;

/** OpenVINO's name of a data type, such as `f32`; null where OpenVINO does not have the type. */
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

/** The data type of an OpenVINO name, written as `f32` or as `FP32`; null for a type that is not known here. */
export function dtypeOfElementType(name: string): DType | null {
  const plain = name.toLowerCase().replace(/^fp(?=\d)/, "f");
  const elementType = plain === "bool" ? "boolean" : plain;
  return DTYPE_OF.get(elementType) ?? null;
}
