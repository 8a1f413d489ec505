/** The sets of data types that type constraints name. */

import { DTYPE_NAMES, dtypesWhere, integerRange, isArithmetic } from "../tensor/dtype.ts";
import type { TypeConstraint } from "./operator.ts";

/** What ONNX has had since its IR version 4 (opset 13). */
const ARITHMETIC = DTYPE_NAMES.filter(isArithmetic);
const NO_BFLOAT16 = ARITHMETIC.filter((name) => name !== "bfloat16");
const OPENVINO = dtypesWhere(({ openvino }) => openvino !== undefined);

const T = "The type of data and output, and of updates where there are any.";

export const T15: TypeConstraint = { name: "T", types: NO_BFLOAT16, description: T };
export const T16: TypeConstraint = { name: "T", types: ARITHMETIC, description: T };
/** Every data type, which ONNX has had since its IR version 12 (opset 24). */
export const T24: TypeConstraint = { name: "T", types: DTYPE_NAMES, description: T };
export const T_OPENVINO: TypeConstraint = {
  name: "T",
  types: OPENVINO.filter(isArithmetic),
  description: T,
};
/** Of operators that only move, whose documents say "any supported type". */
export const T_OPENVINO_ANY: TypeConstraint = { name: "T", types: OPENVINO, description: T };

export const TIND: TypeConstraint = {
  name: "Tind",
  types: ["int32", "int64"],
  description: "Indices are integers.",
};

const INTEGERS = DTYPE_NAMES.filter((name) => isArithmetic(name) && integerRange(name) !== null);

export const TIND_ANY: TypeConstraint = { ...TIND, types: INTEGERS };

export const TAXIS: TypeConstraint = {
  name: "Taxis",
  types: INTEGERS,
  description: "The axis is an integer.",
};
