/** The sets of data types that type constraints name. */

import { DTYPE_NAMES, dtypesWhere } from "../dtype.ts";
import type { TypeConstraint } from "./operator.ts";

/** Every data type, which ONNX has had since its IR version 4 (opset 13). */
const EVERY = DTYPE_NAMES;
const NO_BFLOAT16 = EVERY.filter((name) => name !== "bfloat16");
const OPENVINO = dtypesWhere((row, name) => "openvino" in row && name !== "string");

const T = "The type of data and output, and of updates where there are any.";

export const T15: TypeConstraint = { name: "T", types: NO_BFLOAT16, description: T };
export const T16: TypeConstraint = { name: "T", types: EVERY, description: T };
export const T_OPENVINO: TypeConstraint = { name: "T", types: OPENVINO, description: T };

export const TIND: TypeConstraint = {
  name: "Tind",
  types: ["int32", "int64"],
  description: "Indices are integers.",
};
