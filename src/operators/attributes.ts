/** The attributes that versions share. */

import type { AttributeSchema } from "./operator.ts";

export const AXIS: AttributeSchema = {
  name: "axis",
  type: "int",
  default: 0,
  description: "The axis that indices point along, in [-r, r-1]; negative counts from the back.",
};

export const BATCH_DIMS: AttributeSchema = {
  name: "batch_dims",
  type: "int",
  default: 0,
  minimum: 0,
  description:
    "How many leading axes of data and indices are batches: index tuples start after them.",
};

/** As {@link BATCH_DIMS}, but negative counts from the back of indices. */
export const BATCH_DIMS_BOTH: AttributeSchema = {
  name: "batch_dims",
  type: "int",
  default: 0,
  description:
    "How many leading axes of data and indices are batches, at most those before axis; negative counts from the back of indices.",
};

/** {@link AXIS}, which has to be given. */
export const AXIS_REQUIRED: AttributeSchema = {
  name: "axis",
  type: "int",
  description: AXIS.description,
};

export const USE_INIT_VAL: AttributeSchema = {
  name: "use_init_val",
  type: "boolean",
  default: true,
  setting: "includeSelf",
  description:
    "Whether a reduction begins with the value of data, or with the first update; without effect for none.",
};

const reduction = (values: readonly string[]): AttributeSchema => ({
  name: "reduction",
  type: "string",
  default: "none",
  values,
  description: `What an update does to the value it meets: one of ${values.join(", ")}.`,
});

export const REDUCTION_16 = reduction(["none", "add", "mul"]);
export const REDUCTION_18 = reduction(["none", "add", "mul", "max", "min"]);
export const REDUCTION_OPENVINO_12 = reduction(["none", "sum", "prod", "min", "max", "mean"]);
export const REDUCTION_OPENVINO = reduction(["none", "sum", "sub", "prod", "min", "max"]);
