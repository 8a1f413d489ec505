/** Attribute schemas that several operator versions share. */

import type { AttributeSchema } from "./operator.ts";

const AXIS_ADDRESSED =
  "Axis that indices address, in [-r, r-1]; a negative value counts from the end.";

export const AXIS: AttributeSchema = {
  name: "axis",
  type: "int",
  default: 0,
  description: AXIS_ADDRESSED,
};

/** Schema of an axis attribute like {@link AXIS}, but without a default. */
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
    "Number of leading axes of data and indices that are batch axes; index tuples address later axes.",
};

/** Schema of a batch attribute like {@link BATCH_DIMS}, but with negative values allowed. */
export const SIGNED_BATCH_DIMS: AttributeSchema = {
  name: "batch_dims",
  type: "int",
  default: 0,
  description:
    "Number of leading axes of data and indices that are batch axes, at most axis; a negative value counts from the " +
    "end of the shape of indices.",
};

export const USE_INIT_VAL: AttributeSchema = {
  name: "use_init_val",
  type: "boolean",
  default: true,
  setting: "includeSelf",
  description:
    "True if a reduction starts with the value in data, false if with the first update; ignored for none.",
};

/** Extends the summary of an operator without a reduction to a version with a reduction. */
export const reduced = (summary: string, and = ""): string =>
  `${summary} With a reduction, updates are combined with their targets${and}.`;

const reduction = (values: readonly string[]): AttributeSchema => ({
  name: "reduction",
  type: "string",
  default: "none",
  values,
  description: `Operation that combines an update with its target: one of ${values.join(", ")}.`,
});

export const REDUCTION_16 = /* @__PURE__ */ reduction(["none", "add", "mul"]);
export const REDUCTION_18 = /* @__PURE__ */ reduction(["none", "add", "mul", "max", "min"]);
export const REDUCTION_OPENVINO_12 = /* @__PURE__ */ reduction([
  "none",
  "sum",
  "prod",
  "min",
  "max",
  "mean",
]);
export const REDUCTION_OPENVINO_15 = /* @__PURE__ */ reduction([
  "none",
  "sum",
  "sub",
  "prod",
  "min",
  "max",
]);
