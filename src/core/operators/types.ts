/** The type constraints of all versions: named sets of data types. */

import {
  DTYPE_NAMES,
  dtypesWhere,
  integerRange,
  isArithmetic,
  type DType,
} from "../tensor/dtype.ts";
import type { TypeConstraint } from "./operator.ts";

/**
 * The data types that ONNX had when the highest number was `last`. ONNX numbers data types in the order of their
 * introduction, so older versions never include newer data types.
 */
const onnxTypes = (last: number): readonly DType[] =>
  dtypesWhere(({ onnx }) => onnx.number <= last);

const ARITHMETIC = /* @__PURE__ */ DTYPE_NAMES.filter(isArithmetic);
const OPENVINO_TYPES = /* @__PURE__ */ dtypesWhere(({ openvino }) => openvino !== undefined);
const INTEGERS = /* @__PURE__ */ ARITHMETIC.filter((name) => integerRange(name) !== null);

const T = "The type of data and output, and of the updates of a scatter.";

export const T15: TypeConstraint = {
  name: "T",
  types: /* @__PURE__ */ onnxTypes(15),
  description: T,
};
/** With bfloat16: all types of ONNX's IR version 4. */
export const T16: TypeConstraint = {
  name: "T",
  types: /* @__PURE__ */ onnxTypes(16),
  description: T,
};
/** All types of ONNX's IR version 12 (opset 24), which does not have uint2 and int2. */
export const T24: TypeConstraint = {
  name: "T",
  types: /* @__PURE__ */ onnxTypes(24),
  description: T,
};
/** For the plain functions, which take every data type. */
export const T_ANY: TypeConstraint = { name: "T", types: DTYPE_NAMES, description: T };
export const T_OPENVINO: TypeConstraint = {
  name: "T",
  types: /* @__PURE__ */ OPENVINO_TYPES.filter(isArithmetic),
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
