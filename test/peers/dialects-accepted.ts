/** Accepted differences of systems from the table of dialects, in the versions of `environments.json`. */

import type { Accepted } from "./tally.ts";

export const DIALECTS_ACCEPTED: readonly Accepted[] = [
  {
    ...{ peer: "torch-scatter-reduce", version: "2.15.0" },
    facts: { word: ["other values"], reduction: ["add", "sum", "mean"], self: ["false"] },
    reason: "sums without the value of data begin with 0, so that -0 becomes 0",
  },
  {
    ...{ peer: "torch-scatter-reduce", version: "2.15.0" },
    facts: { word: ["other values"], reduction: ["mean"], dtype: ["float16", "bfloat16"] },
    reason: "the sum is rounded to the data type before it is divided",
  },
  {
    ...{ peer: "openvino", version: "2026.4.1" },
    facts: { word: ["other values"], reduction: ["add", "sum", "mean"], self: ["false"] },
    reason: "sums without the value of data begin with 0, so that -0 becomes 0",
  },
  {
    ...{ peer: "openvino", version: "2026.4.1" },
    facts: { word: ["other values"], reduction: ["max", "min"], self: ["false"] },
    reason:
      "max and min without the value of data begin with the least or greatest value, so a first NaN is lost",
  },
  {
    ...{ peer: "openvino", version: "2026.4.1" },
    facts: { word: ["ended", "other values"], form: ["slices"], oneBatch: ["true"] },
    reason: "Gather with batch_dims reads other memory, or ends the process, for one batch",
    isRare: true,
  },
  {
    ...{ peer: "openvino", version: "2026.4.1" },
    facts: {
      ...{ word: ["no error"], vector: ["true"], said: ["error"], reduction: ["none"] },
      dtype: ["int16", "uint16", "int32", "uint32", "int64", "uint64"],
    },
    reason: "ScatterUpdate of a vector of integers does not check indices",
    isRare: true,
  },
  {
    ...{ peer: "tensorflow-cpu", version: "2.21.0" },
    facts: { word: ["other values"], reduction: ["max", "min"] },
    reason: "max and min flush subnormal numbers to 0",
  },
  {
    ...{ peer: "jax", version: "0.10.2" },
    facts: {
      ...{ word: ["other values"], dtype: ["complex64", "complex128"] },
      reduction: ["mul", "prod", "max", "min"],
    },
    reason: "products of complex numbers are rounded, and NaN is compared, in another way",
  },
  {
    ...{ peer: "jax", version: "0.10.2" },
    facts: {
      ...{
        word: ["other values"],
        dtype: ["bfloat16", "float32", "float64", "complex64", "complex128"],
      },
      reduction: ["add", "sum", "sub", "mul", "prod", "max", "min"],
    },
    reason: "all reductions take subnormal numbers for 0",
  },
  {
    ...{ peer: "jax", version: "0.10.2" },
    facts: {
      ...{ word: ["other values"], form: ["slices"], dtype: ["bfloat16"] },
      ...{ reduction: ["none"], flushed: ["true"] },
    },
    reason: "some gathers of slices take subnormal numbers of bfloat16 for 0",
    isRare: true,
  },
  {
    ...{ peer: "tfjs-wasm", version: "4.22.0" },
    facts: { form: ["slices"], batched: ["true"] },
    reason: "a gather with batch axes reads other memory",
  },
];
