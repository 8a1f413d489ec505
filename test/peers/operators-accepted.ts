/** Accepted differences of peers from the specification of the operators, in the versions of `environments.json`. */

import type { Accepted } from "./tally.ts";

const OPENVINO = { peer: "openvino", version: "2026.4.1" } as const;
const REFERENCE = { peer: "openvino-reference", version: "2026.4.1" } as const;
const ONNXRUNTIME = { peer: "onnxruntime", version: "1.32.0" } as const;
const ONNX = { peer: "onnx-reference", version: "1.24.0.dev20261026" } as const;

const NAN_BITS = "a result that is NaN has other bits than the canonical NaN of the package";
const INTEGERS = ["int16", "uint16", "int32", "uint32", "int64", "uint64"];
const GATHERS = ["openvino.Gather-1", "openvino.Gather-7", "openvino.Gather-8"];
const HALVES = ["float16", "bfloat16"];
const REDUCTIONS = ["add", "mul", "max", "min"];

export const OPERATORS_ACCEPTED: readonly Accepted[] = [
  {
    ...OPENVINO,
    facts: { words: ["as the dialect says"] },
    reason: "the table of dialects has it: 32 bits, comparisons, rounding",
  },
  {
    ...OPENVINO,
    facts: { words: ["undefined, as the dialect says"] },
    reason: "the table of dialects has it: an index outside its axis",
  },
  { ...OPENVINO, facts: { words: ["other NaNs"] }, reason: NAN_BITS },
  {
    ...OPENVINO,
    facts: { words: ["other bits"], dtype: ["float64"] },
    reason: "float64 in float32, where infinities become the largest finite number",
    isRare: true,
  },
  ...[OPENVINO, REFERENCE].map((peer) => ({
    ...peer,
    facts: {
      ...{ words: ["other bits"], op: ["openvino.ScatterElementsUpdate-12"] },
      ...{ reduction: ["max", "min"], dtype: [...HALVES, "float32"], self: ["false"] },
    },
    reason:
      "without the value in data, max and min start with a finite number, which stays if no update is beyond it",
    isRare: true as const,
  })),
  {
    ...OPENVINO,
    facts: { words: ["ended", "other bits"], op: GATHERS, oneBatch: ["true"] },
    reason: "Gather with batch_dims reads other memory, or ends the process, for one batch",
    isRare: true,
  },
  {
    ...OPENVINO,
    facts: {
      ...{ words: ["accepted"], op: ["openvino.ScatterUpdate-3"], vector: ["true"] },
      ...{ dtype: INTEGERS, inRange: ["false"] },
    },
    reason: "ScatterUpdate of a vector of integers does not check indices",
    isRare: true,
  },
  ...[OPENVINO, REFERENCE].map((peer) => ({
    ...peer,
    facts: {
      words: ["other bits"],
      op: ["openvino.ScatterElementsUpdate-12"],
      reduction: ["sum", "mean"],
    },
    reason: "without the value in data, sums and means start with 0, so that -0 becomes 0",
    isRare: true as const,
  })),
  {
    ...OPENVINO,
    facts: { words: ["refused"], dtype: ["string"], op: GATHERS },
    says: "Unsupported operation of type: Gather",
    reason: "Gather of text supports only some shapes",
    isRare: true,
  },
  {
    ...REFERENCE,
    facts: { words: ["refused"] },
    says: "Evaluation failed",
    reason: "the reference has no evaluation for some operators and types",
  },
  {
    ...REFERENCE,
    facts: { words: ["other bits"], op: ["openvino.ScatterUpdate-3"] },
    reason: "with indices of rank 2 and axis 0, ScatterUpdate reads its updates at a wrong offset",
  },
  { ...REFERENCE, facts: { words: ["other NaNs"] }, reason: NAN_BITS },
  {
    ...REFERENCE,
    facts: { words: ["other bits"], dtype: HALVES, reduction: ["sum", "sub", "prod", "mean"] },
    reason:
      "the reference rounds bfloat16 and float16 differently, and computes subnormal numbers less exactly",
  },
  {
    ...REFERENCE,
    facts: { words: ["other bits"], dtype: ["int64", "uint64"], reduction: ["mean"] },
    reason: "the mean of 64-bit integers passes through double precision",
    isRare: true,
  },
  {
    ...ONNXRUNTIME,
    facts: { words: ["refused"], op: ["ai.onnx.Scatter-11"] },
    says: "is deprecated",
    reason: "the runtime does not load Scatter where it is deprecated",
  },
  {
    ...ONNXRUNTIME,
    facts: { words: ["missing, as the dialect says"] },
    reason: "the table of dialects has it: operators, reductions and types without a kernel",
  },
  { ...ONNXRUNTIME, facts: { words: ["other NaNs"], reduction: REDUCTIONS }, reason: NAN_BITS },
  {
    ...ONNXRUNTIME,
    facts: { words: ["as the dialect says"] },
    reason: "the table of dialects has it: comparisons with NaN, rounding, strings",
  },
  {
    ...ONNX,
    facts: { words: ["refused"], dtype: ["string"], reduction: ["max", "min"] },
    reason: "ScatterND's max and min of text are a TypeError",
    isRare: true,
  },
  {
    ...ONNX,
    facts: { op: ["ai.onnx.Scatter-9", "ai.onnx.Scatter-11"] },
    says: "No registered implementation",
    reason: "the reference has no Scatter",
  },
  {
    ...ONNX,
    facts: {
      ...{ words: ["other bits"], reduction: ["max", "min"] },
      op: ["ai.onnx.ScatterElements-16", "ai.onnx.ScatterElements-18"],
    },
    reason:
      "the reference compares with Python's max and min, whose result for NaN depends on the order",
  },
  {
    ...ONNX,
    facts: {
      words: ["other bits"],
      dtype: ["complex64", "complex128"],
      reduction: ["mul", "max", "min"],
    },
    reason:
      "NumPy rounds products of complex numbers differently, and orders complex numbers by their real parts first",
    isRare: true,
  },
  { ...ONNX, facts: { words: ["other NaNs"], reduction: REDUCTIONS }, reason: NAN_BITS },
];
