/** Attribute schemas that several operator versions share. */

import type { AttributeSchema } from "./operator.ts";

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

/** Extends the summary of an operator without a reduction to a version with a reduction. */
export const reduced = (summary: string, and = ""): string =>
  `${summary} With a reduction, updates are combined with their targets${and}.`;

const reduction = (values: readonly string[]): AttributeSchema => ({
  name: "reduction",
  type: "string",
  default: "none",
  values,
  description: `The reduction combines each update with its target, by one of ${values.join(", ")}.`,
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
