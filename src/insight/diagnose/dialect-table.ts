/**
 * The table of dialects: a record per dialect, with its operators, data types and behavior, and the evidence.
 * `docs/other-systems.md` is the same table for people, with the URL of the evidence for each fact.
 */

import type { IndexForm } from "../../core/operators/operator.ts";
import { REDUCTIONS, type DType, type Reduction } from "../../core/tensor/dtype.ts";
import { UNKNOWN, type AspectFacts } from "./dialect-words.ts";

const COMPLEX = ["complex64", "complex128"] as const;

/** Unsigned types for which PyTorch has few kernels. */
const WIDE_UNSIGNED = ["uint16", "uint32", "uint64"] as const;

interface Lack {
  readonly dtypes: readonly DType[];
  readonly reductions: readonly Reduction[];
  readonly forms?: readonly IndexForm[];
  /** False if the dialect lacks the reduction only without the value of data. */
  readonly includeSelf?: false;
}

export interface DialectRecord {
  /** The dialect's version that was tested, or whose source or documentation was read. */
  readonly version: string;
  /** The URL of the dialect's documentation or source. */
  readonly source: string;
  readonly facts: AspectFacts;
  /** The forms of indices for which the dialect has a scatter or a gather. */
  readonly scatterForms: readonly IndexForm[];
  readonly gatherForms: readonly IndexForm[];
  readonly reductions: readonly Reduction[];
  /** Reductions that the dialect lacks for some data types, in scatters of all forms unless `forms` names some. */
  readonly lacks?: readonly Lack[];
  /** The dialect's data types; absent if the list would be too long. */
  readonly dtypes?: readonly DType[];
  /** Data types that a dialect with many types lacks. */
  readonly without?: readonly DType[];
  /** True if a gather with one index per element requires data and indices to differ only along the axis. */
  readonly needsEqualAxes?: true;
  /** True if the dialect has text tensors. */
  readonly hasText: boolean;
  /** Forms of indices for which a gather takes text; absent for all. */
  readonly textGathers?: readonly IndexForm[];
  /**
   * The maximum number of updates that the dialect always applies in order, even if its words allow any order; absent
   * for 0. In ONNX Runtime, 500,000 updates raced on two threads, and 10,000 updates never did.
   */
  readonly racesAbove?: number;
  /**
   * True if `flat-offset` reads and writes other memory at an offset outside the tensor; if absent, such an offset is
   * an error.
   */
  readonly leavesTensor?: true;
  /** True if `out-of-range-filled` may read other memory where data has rank 1. */
  readonly leavesVector?: true;
}

/** The data types of ONNX's operators before TensorScatter, except complex numbers. */
// prettier-ignore
const REAL_OR_TEXT: readonly DType[] = [
  "bool", "string", "float16", "bfloat16", "float32", "float64",
  "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
];

/**
 * Returns the record of TensorFlow on one kind of device. The behavior for booleans and text was observed on a CPU, and
 * is an assumption for a GPU.
 */
const tensorflow = (facts: AspectFacts): DialectRecord => ({
  version: "2.21.0",
  source: "https://www.tensorflow.org/api_docs/python/tf/tensor_scatter_nd_update",
  facts,
  scatterForms: ["tuples"],
  gatherForms: ["tuples", "slices"],
  reductions: ["none", "add", "sub", "max", "min"],
  // NotFoundError in version 2.21.0: "Could not find device for node". Without a reduction, booleans and text are accepted.
  lacks: [
    { dtypes: ["bool", "string"], reductions: ["add", "sub", "max", "min"] },
    { dtypes: COMPLEX, reductions: ["max", "min"] },
  ],
  hasText: true,
});

/** Returns the record of a TensorFlow.js backend; backends differ in how they handle an offset outside the tensor. */
const tfjs = (own: Pick<DialectRecord, "source" | "leavesTensor">): DialectRecord => ({
  version: "4.22.0",
  facts: {
    negative: { does: "flat-offset", how: "run" },
    scatters: { does: "flat-offset", how: "run" },
    gathers: { does: "flat-offset", slices: "error", how: "run" },
    repeats: { does: "last", how: "run" },
    sums: { does: "updates-first", how: "run" },
    wholes: { does: "whole-ignored", how: "run" },
  },
  scatterForms: ["tuples"],
  gatherForms: ["tuples", "slices"],
  reductions: ["none", "add"],
  // The sum of booleans is an int32 tensor.
  lacks: [{ dtypes: ["bool"], reductions: ["add"] }],
  dtypes: ["float32", "int32", "bool"],
  hasText: false,
  ...own,
});

/**
 * Id of a runtime or a library, such as `onnxruntime-cpu` or `numpy`. The union is written out because declarations would
 * otherwise contain the whole table. The compiler checks that the ids match the rows.
 */
// prettier-ignore
export type DialectId =
  | "onnx" | "onnxruntime-cpu" | "onnxruntime-webgpu" | "openvino" | "numpy" | "torch-index-put"
  | "torch-scatter" | "torch-scatter-reduce" | "tensorflow-cpu" | "tensorflow-gpu" | "jax"
  | "tfjs-cpu" | "tfjs-wasm" | "webnn" | "mlx";

export const DIALECTS: Readonly<Record<DialectId, DialectRecord>> = {
  onnx: {
    version: "18",
    source: "https://onnx.ai/onnx/operators/onnx__ScatterND.html",
    facts: {
      negative: { does: "wraps", how: "document" },
      scatters: { does: "error", how: "document" },
      gathers: { does: "error", how: "document" },
      repeats: { does: "any-order", how: "document" },
      sums: { does: "rounding", how: "document" },
      compares: UNKNOWN,
      halves: UNKNOWN,
    },
    scatterForms: ["tuples", "elements", "sequences"],
    gatherForms: ["tuples", "elements", "slices"],
    reductions: ["none", "add", "mul", "max", "min"],
    hasText: true,
  },
  "onnxruntime-cpu": {
    version: "1.32.0",
    source:
      "https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/tensor/scatter_nd.cc",
    facts: {
      negative: { does: "wraps", sequences: "error", how: "run" },
      scatters: { does: "error", how: "run" },
      gathers: { does: "error", how: "run" },
      repeats: { does: "any-order", elements: "last", how: "run" },
      sums: { does: "lost-updates", elements: "in-order", how: "run" },
      compares: { does: { word: "nan-one-operand", stays: "update" }, how: "run" },
      halves: { does: "none", how: "run" },
      strings: { does: "first-of-slice", how: "run" },
    },
    scatterForms: ["tuples", "elements", "sequences"],
    gatherForms: ["tuples", "elements", "slices"],
    reductions: ["none", "add", "mul", "max", "min"],
    lacks: [
      { dtypes: ["bool"], reductions: ["max", "min"] },
      { dtypes: ["float16"], reductions: ["max", "min"], forms: ["tuples"] },
      { dtypes: ["bfloat16", "string"], reductions: ["max", "min"] },
      { dtypes: ["string"], reductions: ["none"], forms: ["sequences"] },
    ],
    dtypes: REAL_OR_TEXT,
    hasText: true,
    racesAbove: 10_000,
  },
  "onnxruntime-webgpu": {
    version: "2026",
    source:
      "https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/webgpu/tensor/scatter_nd.cc",
    facts: {
      negative: UNKNOWN,
      scatters: UNKNOWN,
      gathers: UNKNOWN,
      repeats: { does: "any-order", how: "source" },
      sums: { does: "rounding", how: "source" },
      compares: UNKNOWN,
      halves: { does: "none", how: "source" },
    },
    scatterForms: ["tuples", "elements"],
    gatherForms: ["tuples", "elements", "slices"],
    reductions: ["none", "add", "mul", "max", "min"],
    lacks: [{ dtypes: ["float16", "bfloat16"], reductions: ["max", "min"] }],
    hasText: true,
  },
  openvino: {
    version: "2026.4.1",
    source:
      "https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/movement/scatter-nd-update-15.html",
    facts: {
      negative: { does: "wraps", how: "run" },
      scatters: { does: "error", how: "run" },
      gathers: {
        does: "undefined",
        elements: "error",
        slices: "out-of-range-filled",
        how: "run",
      },
      repeats: { does: "any-order", elements: "last", how: "run" },
      sums: { does: "in-order", how: "run" },
      compares: { does: { word: "nan-one-operand", stays: "data" }, how: "run" },
      halves: {
        does: "wide-accumulation",
        dtypes: { bfloat16: "wrong-rounding" },
        how: "run",
      },
      types: { does: "other-type", how: "run" },
      means: { does: "mean-truncated", how: "run" },
      wholes: { does: "whole-ignored", how: "run" },
    },
    scatterForms: ["tuples", "elements", "slices"],
    gatherForms: ["tuples", "elements", "slices"],
    reductions: ["none", "add", "sub", "mul", "max", "min", "mean"],
    lacks: [{ dtypes: ["string"], reductions: REDUCTIONS }],
    without: COMPLEX,
    needsEqualAxes: true,
    leavesVector: true,
    hasText: true,
    textGathers: ["slices"],
    racesAbove: 10_000,
  },
  numpy: {
    version: "2.4.6",
    source: "https://numpy.org/doc/stable/user/basics.indexing.html",
    facts: {
      negative: { does: "wraps", how: "run" },
      scatters: { does: "error", how: "run" },
      gathers: { does: "error", how: "run" },
      repeats: { does: "last", how: "run" },
      sums: { does: "in-order", how: "run" },
      compares: {
        does: { word: "signed-zero", stays: "update" },
        dtypes: { float16: { word: "signed-zero", stays: "data" } },
        how: "run",
      },
      halves: { does: "each-step", how: "run" },
      wholes: { does: "one-applied", how: "run" },
    },
    scatterForms: ["tuples", "elements", "slices"],
    gatherForms: ["tuples", "elements", "slices"],
    reductions: ["none", "add", "sub", "mul", "max", "min"],
    // TypeError in version 2.4.6: "numpy boolean subtract, the `-` operator, is not supported".
    lacks: [{ dtypes: ["bool"], reductions: ["sub"] }],
    // Text was run on arrays of objects, because an array of fixed-length text truncates longer updates.
    hasText: true,
  },
  "torch-index-put": {
    version: "2.15.0",
    source: "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.index_put_.html",
    facts: {
      negative: { does: "wraps", how: "run" },
      scatters: { does: "error", how: "run" },
      gathers: { does: "error", how: "run" },
      repeats: { does: "any-order", how: "document" },
      sums: { does: "in-order", how: "run" },
      halves: { does: "each-step", how: "run" },
      wholes: { does: "error", how: "run" },
    },
    scatterForms: ["tuples"],
    gatherForms: ["tuples", "slices"],
    reductions: ["none", "add"],
    // NotImplementedError in version 2.15.0: "index_put" not implemented for 'UInt16'. Gathers accept these data types.
    lacks: [{ dtypes: WIDE_UNSIGNED, reductions: ["none", "add"] }],
    hasText: false,
  },
  "torch-scatter": {
    version: "2.15.0",
    source: "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.scatter_.html",
    facts: {
      negative: { does: "error", how: "run" },
      scatters: { does: "error", how: "run" },
      gathers: { does: "error", how: "run" },
      repeats: { does: "any-order", how: "document" },
    },
    scatterForms: ["elements"],
    gatherForms: ["elements"],
    reductions: ["none"],
    hasText: false,
  },
  "torch-scatter-reduce": {
    version: "2.15.0",
    source: "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.scatter_reduce_.html",
    facts: {
      negative: { does: "error", how: "run" },
      scatters: { does: "error", how: "run" },
      sums: { does: "in-order", how: "run" },
      compares: { does: { word: "signed-zero", stays: "data" }, how: "run" },
      halves: { does: "wide-accumulation", how: "run" },
    },
    scatterForms: ["elements"],
    gatherForms: [],
    reductions: ["add", "mul", "max", "min", "mean"],
    lacks: [
      { dtypes: [...WIDE_UNSIGNED, "bool"], reductions: ["mean"] },
      { dtypes: [...WIDE_UNSIGNED, ...COMPLEX], reductions: ["max", "min"] },
      { dtypes: WIDE_UNSIGNED, reductions: REDUCTIONS, includeSelf: false },
    ],
    hasText: false,
  },
  "tensorflow-cpu": /* @__PURE__ */ tensorflow({
    negative: { does: "error", how: "run" },
    scatters: { does: "error", how: "run" },
    gathers: { does: "error", how: "run" },
    repeats: { does: "last", how: "run" },
    sums: { does: "in-order", how: "run" },
    compares: { does: { word: "nan-one-operand", stays: "data" }, how: "run" },
    halves: { does: "each-step", how: "run" },
    wholes: { does: "error", how: "run" },
  }),
  "tensorflow-gpu": /* @__PURE__ */ tensorflow({
    negative: { does: "negative-dropped", how: "source" },
    scatters: { does: "out-of-range-dropped", how: "document" },
    gathers: { does: "out-of-range-filled", how: "document" },
    repeats: { does: "any-order", how: "document" },
    sums: { does: "rounding", how: "document" },
    compares: UNKNOWN,
    halves: UNKNOWN,
  }),
  jax: {
    version: "0.10.2",
    source: "https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html",
    facts: {
      negative: { does: "wraps", how: "run" },
      scatters: { does: "out-of-range-dropped", how: "run" },
      gathers: { does: "out-of-range-clipped", how: "run" },
      repeats: { does: "any-order", how: "document" },
      sums: { does: "rounding", how: "document" },
      compares: { does: "exact", how: "run" },
      halves: { does: "each-step", how: "run" },
      wholes: { does: "error", how: "run" },
    },
    scatterForms: ["tuples", "elements", "slices"],
    gatherForms: ["tuples", "elements", "slices"],
    reductions: ["none", "add", "sub", "mul", "max", "min"],
    // TypeError in version 0.10.2: "add does not accept dtype bool".
    lacks: [{ dtypes: ["bool"], reductions: ["add", "sub", "mul"] }],
    hasText: false,
  },
  "tfjs-cpu": /* @__PURE__ */ tfjs({
    source:
      "https://github.com/tensorflow/tfjs/blob/master/tfjs-backend-cpu/src/kernels/Scatter_impl.ts",
  }),
  "tfjs-wasm": /* @__PURE__ */ tfjs({
    source:
      "https://github.com/tensorflow/tfjs/blob/master/tfjs-backend-wasm/src/cc/scatter_impl.cc",
    leavesTensor: true,
  }),
  webnn: {
    version: "2026",
    source: "https://www.w3.org/TR/webnn/#api-mlgraphbuilder-scatternd",
    facts: {
      negative: { does: "wraps", how: "document" },
      scatters: { does: "out-of-range-clipped", how: "document" },
      gathers: { does: "out-of-range-clipped", how: "document" },
      repeats: UNKNOWN,
    },
    scatterForms: ["tuples", "elements"],
    gatherForms: ["tuples", "elements", "slices"],
    reductions: ["none"],
    dtypes: ["float32", "float16", "int32", "uint32", "int64", "uint64", "int8", "uint8"],
    hasText: false,
  },
  mlx: {
    version: "0.32.2",
    source: "https://ml-explore.github.io/mlx/build/html/usage/indexing.html",
    facts: {
      negative: { does: "wraps", how: "source" },
      scatters: { does: "undefined", how: "document" },
      gathers: { does: "undefined", how: "document" },
      repeats: { does: "any-order", how: "document" },
      sums: UNKNOWN,
      compares: UNKNOWN,
      halves: UNKNOWN,
    },
    scatterForms: ["tuples", "elements", "slices"],
    gatherForms: ["tuples", "elements", "slices"],
    reductions: ["none", "add", "sub", "mul", "max", "min"],
    hasText: false,
  },
};
