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

const reduction = (values: readonly string[]): AttributeSchema => ({
  name: "reduction",
  type: "string",
  default: "none",
  values,
  description: `What an update does to the value it meets: one of ${values.join(", ")}.`,
});

export const REDUCTION_16 = reduction(["none", "add", "mul"]);
export const REDUCTION_18 = reduction(["none", "add", "mul", "max", "min"]);
export const REDUCTION_OPENVINO = reduction(["none", "sum", "sub", "prod", "min", "max"]);
