/** Type constraints of all operator versions, which are named sets of data types. */

import {
  DTYPE_NAMES,
  dtypesWhere,
  integerRange,
  isArithmetic,
  type DType,
} from "../tensor/dtype.ts";
import type { TypeConstraint } from "./operator.ts";

/**
 * Returns the data types that ONNX had when the highest type number was `last`. ONNX numbers data types in order of
 * introduction, so older versions never include newer data types.
 */
const onnxTypes = (last: number): readonly DType[] =>
  dtypesWhere(({ onnx }) => onnx.number <= last);

const ARITHMETIC = /* @__PURE__ */ DTYPE_NAMES.filter(isArithmetic);
const OPENVINO_TYPES = /* @__PURE__ */ dtypesWhere(({ openvino }) => openvino !== undefined);
const INTEGERS = /* @__PURE__ */ ARITHMETIC.filter((name) => integerRange(name) !== null);

const T = "Data, updates and output have the same type.";

export const T15: TypeConstraint = {
  name: "T",
  types: /* @__PURE__ */ onnxTypes(15),
  description: T,
};
/** Type constraint with bfloat16: all types of ONNX's IR version 4. */
export const T16: TypeConstraint = {
  name: "T",
  types: /* @__PURE__ */ onnxTypes(16),
  description: T,
};
/** Type constraint with all types of ONNX's IR version 12 (opset 24), which does not have uint2 and int2. */
export const T24: TypeConstraint = {
  name: "T",
  types: /* @__PURE__ */ onnxTypes(24),
  description: T,
};
/** Type constraint of the plain functions, which accept every data type. */
export const T_ANY: TypeConstraint = { name: "T", types: DTYPE_NAMES, description: T };
/**
 * Type constraint of operators that only move elements, whose specifications say "any supported type". Strings are a
 * type of OpenVINO, but of these operators only Gather runs on them, in release 2026.4.1.
 */
export const T_OPENVINO_GATHER: TypeConstraint = {
  name: "T",
  types: OPENVINO_TYPES,
  description: T,
};
export const T_OPENVINO_ANY: TypeConstraint = {
  name: "T",
  types: /* @__PURE__ */ OPENVINO_TYPES.filter((name) => name !== "string"),
  description: T,
};
export const T_OPENVINO: TypeConstraint = {
  name: "T",
  types: /* @__PURE__ */ T_OPENVINO_ANY.types.filter(isArithmetic),
  description: T,
};

export const TIND: TypeConstraint = {
  name: "Tind",
  types: ["int32", "int64"],
  description: "Indices have an integer type.",
};

export const TIND_ANY: TypeConstraint = { ...TIND, types: INTEGERS };

export const TAXIS: TypeConstraint = {
  name: "Taxis",
  types: INTEGERS,
  description: "The axis has an integer type.",
};
