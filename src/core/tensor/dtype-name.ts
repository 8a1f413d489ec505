/** Checks names of data types, and recognizes the names that other libraries and languages use. */

import { factOf, named, printValue, TensorError, type ErrorContext } from "../errors.ts";
import { nearestName } from "./nearest.ts";
import { DTYPE_NAMES, isDType, rowOf, type DType } from "./dtype.ts";

/** Names in PyTorch, NumPy, C, Java and JavaScript that the table of data types does not have. */
const OTHER_NAMES: Readonly<Record<string, DType>> = {
  f4: "float32",
  f8: "float64",
  half: "float16",
  single: "float32",
  number: "float32",
  byte: "uint8",
  short: "int16",
  int: "int32",
  uint: "uint32",
  long: "int64",
  bigint: "int64",
  float8: "float8e4m3fn",
  str: "string",
};

/**
 * Returns the data type that another name means, such as `f32`, `double`, `torch.half`, `bool_`, `tensor(int64)` or
 * `Float32Array`, or the most similar name; undefined if no name is similar.
 */
function nearestDType(given: string): DType | undefined {
  const name = given
    .toLowerCase()
    .replace(/^.*[.(]|^big(?=\D+\d)|_t?$|_|array$|\)/g, "")
    .replace(/^fp/, "f");
  if (Object.hasOwn(OTHER_NAMES, name)) return OTHER_NAMES[name];
  const same = DTYPE_NAMES.find((one) => {
    const { openvino, onnx } = rowOf(one);
    return one === name || openvino === name || onnx.name === name;
  });
  return same ?? (nearestName(name, DTYPE_NAMES) as DType | null) ?? undefined;
}

/** @throws TensorError `dtype` if the value is not a data type name */
export function checkDType(dtype: unknown, fields: ErrorContext): asserts dtype is DType {
  if (isDType(dtype)) return;
  const got = printValue(dtype);
  const nearest = typeof dtype === "string" ? nearestDType(dtype) : undefined;
  const sentence =
    typeof dtype !== "string"
      ? `the data type must be a name such as "float32", got ${got}`
      : nearest === undefined
        ? `unknown data type ${got}; the data types are ${DTYPE_NAMES.join(", ")}`
        : `unknown data type ${got}; did you mean "${nearest}"?`;
  throw new TensorError("dtype", sentence, {
    ...named(fields, "dtype"),
    got: factOf(dtype),
    allowed: DTYPE_NAMES,
    nearest,
  });
}
