/** Parts that the rows of several operator versions share: parameters, attributes and type constraints. */

import {
  DTYPE_NAMES,
  dtypesWhere,
  integerRange,
  isArithmetic,
  type DType,
} from "../tensor/dtype.ts";
import type { AttributeSchema, ParameterSchema, TypeConstraint } from "./operator.ts";

export const DATA: ParameterSchema = {
  name: "data",
  type: "T",
  description: "Data has rank r >= 1.",
};

export const AXIS_INPUT: ParameterSchema = {
  name: "axis",
  type: "Taxis",
  description: "The axis is a scalar or a tensor with one element, in [-r, r-1].",
};

export const indicesInput = (description: string, type = "Tind"): ParameterSchema => ({
  name: "indices",
  type,
  description,
});

export const outputs = (description: string): readonly ParameterSchema[] => [
  { name: "output", type: "T", description },
];

export const OUTPUT_LIKE_DATA = /* @__PURE__ */ outputs("The output has the shape of data.");

const AXIS_ADDRESSED =
  "Indices address this axis, in [-r, r-1]. A negative value counts from the end.";

export const AXIS: AttributeSchema = {
  name: "axis",
  type: "int",
  default: 0,
  description: AXIS_ADDRESSED,
};

/** Schema of an axis attribute like `AXIS`, but without a default. */
export const AXIS_REQUIRED: AttributeSchema = {
  name: "axis",
  type: "int",
  description: AXIS_ADDRESSED,
};

export const BATCH_DIMS: AttributeSchema = {
  name: "batch_dims",
  type: "int",
  default: 0,
  minimum: 0,
  description:
    "Data and indices share this number of leading batch axes. Index tuples address the later axes.",
};

/** Schema of a batch attribute like `BATCH_DIMS`, but with negative values allowed. */
export const SIGNED_BATCH_DIMS: AttributeSchema = {
  name: "batch_dims",
  type: "int",
  default: 0,
  description:
    "Data and indices share this number of leading batch axes, which is at most axis. " +
    "A negative value counts from the end of the shape of indices.",
};

export const USE_INIT_VAL: AttributeSchema = {
  name: "use_init_val",
  type: "boolean",
  default: true,
  setting: "includeSelf",
  description:
    "A reduction starts with the value in data if true, or with the first update if false. " +
    "The attribute has no effect without a reduction.",
};

const reduction = (words: string): AttributeSchema => ({
  name: "reduction",
  type: "string",
  default: "none",
  values: words.split(", "),
  description: `The reduction combines each update with its target, by one of ${words}.`,
});

export const REDUCTION_16 = /* @__PURE__ */ reduction("none, add, mul");
export const REDUCTION_18 = /* @__PURE__ */ reduction("none, add, mul, max, min");
export const REDUCTION_OPENVINO_12 = /* @__PURE__ */ reduction("none, sum, prod, min, max, mean");
export const REDUCTION_OPENVINO_15 = /* @__PURE__ */ reduction("none, sum, sub, prod, min, max");

const typeT = (types: readonly DType[]): TypeConstraint => ({
  name: "T",
  types,
  description: "Data, updates and output have the same type.",
});

/**
 * Returns the data types that ONNX had when the highest type number was `last`. ONNX numbers data types in order of
 * introduction, so older versions never include newer data types.
 */
const onnxTypes = (last: number): TypeConstraint =>
  typeT(dtypesWhere(({ onnx }) => onnx.number <= last));

const ARITHMETIC = /* @__PURE__ */ DTYPE_NAMES.filter(isArithmetic);
const INTEGERS = /* @__PURE__ */ ARITHMETIC.filter((name) => integerRange(name) !== null);

export const T15 = /* @__PURE__ */ onnxTypes(15);
/** Type constraint with bfloat16: all types of ONNX's IR version 4. */
export const T16 = /* @__PURE__ */ onnxTypes(16);
/** Type constraint with all types of ONNX's IR version 12 (opset 24), which does not have uint2 and int2. */
export const T24 = /* @__PURE__ */ onnxTypes(24);
/** Type constraint of the plain functions, which accept every data type. */
export const T_ANY = /* @__PURE__ */ typeT(DTYPE_NAMES);
/**
 * Type constraint of operators that only move elements, whose specifications say "any supported type". Strings are a
 * type of OpenVINO, but of these operators only Gather runs on them, in release 2026.4.1.
 */
export const T_OPENVINO_GATHER = /* @__PURE__ */ typeT(
  /* @__PURE__ */ dtypesWhere(({ openvino }) => openvino !== undefined),
);
export const T_OPENVINO_ANY = /* @__PURE__ */ typeT(
  /* @__PURE__ */ dtypesWhere(({ openvino }, name) => openvino !== undefined && name !== "string"),
);
export const T_OPENVINO = /* @__PURE__ */ typeT(
  /* @__PURE__ */ ARITHMETIC.filter((name) => T_OPENVINO_ANY.types.includes(name)),
);

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
