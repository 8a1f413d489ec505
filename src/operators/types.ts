/** The type constraints of all versions: named sets of data types. */

import { DTYPE_NAMES, dtypesWhere, integerRange, isArithmetic } from "../tensor/dtype.ts";
import type { TypeConstraint } from "./operator.ts";

/** All types of ONNX since its IR version 4 (opset 13). */
const ARITHMETIC = DTYPE_NAMES.filter(isArithmetic);
const NO_BFLOAT16 = ARITHMETIC.filter((name) => name !== "bfloat16");
const OPENVINO_TYPES = dtypesWhere(({ openvino }) => openvino !== undefined);
const INTEGERS = ARITHMETIC.filter((name) => integerRange(name) !== null);

const T = "The type of data and output, and of updates where there are any.";

export const T15: TypeConstraint = { name: "T", types: NO_BFLOAT16, description: T };
export const T16: TypeConstraint = { name: "T", types: ARITHMETIC, description: T };
/** Every data type, which ONNX has had since its IR version 12 (opset 24). */
export const T24: TypeConstraint = { name: "T", types: DTYPE_NAMES, description: T };
export const T_OPENVINO: TypeConstraint = {
  name: "T",
  types: OPENVINO_TYPES.filter(isArithmetic),
  description: T,
};
/** For operators that only move elements, whose documents say "any supported type". */
export const T_OPENVINO_ANY: TypeConstraint = { name: "T", types: OPENVINO_TYPES, description: T };

export const TIND: TypeConstraint = {
  name: "Tind",
  types: ["int32", "int64"],
  description: "Indices are integers.",
};

export const TIND_ANY: TypeConstraint = { ...TIND, types: INTEGERS };

export const TAXIS: TypeConstraint = {
  name: "Taxis",
  types: INTEGERS,
  description: "The axis is an integer.",
};
