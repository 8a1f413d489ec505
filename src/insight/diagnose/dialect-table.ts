/**
 * Contains one record per dialect, with supported operators and data types, behavior, and evidence. The file
 * `docs/other-systems.md` contains the same table for readers, with an evidence URL for each fact.
 */

import type { IndexForm } from "../../core/operators/operator.ts";
import { REDUCTIONS, type DType, type Reduction } from "../../core/tensor/dtype.ts";
import { UNKNOWN, type AspectFacts } from "./dialect-words.ts";

const COMPLEX = ["complex64", "complex128"] as const;

/** Unsigned types with few PyTorch kernels. */
const WIDE_UNSIGNED = ["uint16", "uint32", "uint64"] as const;

interface Lack {
  readonly dtypes: readonly DType[];
  readonly reductions: readonly Reduction[];
  readonly forms?: readonly IndexForm[];
  /** False if the dialect lacks the reduction only for calls that exclude data. */
  readonly includeSelf?: false;
}

export interface DialectRecord {
  /** The dialect version that was tested, or whose source or documentation was read. */
  readonly version: string;
  /** URL of the dialect's documentation or source. */
  readonly source: string;
  readonly facts: AspectFacts;
  /** Index forms that the dialect supports for scatters or gathers. */
  readonly scatterForms: readonly IndexForm[];
  readonly gatherForms: readonly IndexForm[];
  readonly reductions: readonly Reduction[];
  /**
   * Reductions that the dialect lacks for some data types. The entry applies to all index forms unless `forms` lists
   * some.
   */
  readonly lacks?: readonly Lack[];
  /** Supported data types; absent if the list would be too long. */
  readonly dtypes?: readonly DType[];
  /** Unsupported data types, for a dialect that supports many types. */
  readonly without?: readonly DType[];
  /** True if a gather with one index per element requires data and indices to have equal sizes on all other axes. */
  readonly needsEqualAxes?: true;
  /** True if the dialect supports string tensors. */
  readonly hasText: boolean;
  /** Index forms for which a gather supports strings; absent if all forms do. */
  readonly textGathers?: readonly IndexForm[];
  /**
   * Maximum number of updates that are always applied in order, even if the dialect does not guarantee an order. The
   * default is 0. In ONNX Runtime, a race occurred with 500,000 updates on two threads, but never with 10,000 updates.
   */
  readonly racesAbove?: number;
  /** True if an offset outside the tensor accesses other memory; if absent, such an offset is an error. */
  readonly leavesTensor?: true;
  /** True if an out-of-range gather may read other memory for data of rank 1. */
  readonly leavesVector?: true;
}

/** Data types of ONNX operators before TensorScatter, except complex numbers. */
// prettier-ignore
const REAL_OR_TEXT: readonly DType[] = [
  "bool", "string", "float16", "bfloat16", "float32", "float64",
  "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
];

/**
 * Returns TensorFlow's record for one device type. Behavior for booleans and strings was observed on a CPU, and is
 * assumed for GPUs.
 */
const tensorflow = (facts: AspectFacts): DialectRecord => ({
  version: "2.21.0",
  source: "https://www.tensorflow.org/api_docs/python/tf/tensor_scatter_nd_update",
  facts,
  scatterForms: ["tuples"],
  gatherForms: ["tuples", "slices"],
  reductions: ["none", "add", "sub", "max", "min"],
  // TensorFlow 2.21.0 throws a NotFoundError with the message "Could not find device for node". Booleans and strings
  // are accepted without a reduction.
  lacks: [
    { dtypes: ["bool", "string"], reductions: ["add", "sub", "max", "min"] },
    { dtypes: COMPLEX, reductions: ["max", "min"] },
  ],
  hasText: true,
});

/** Returns a TensorFlow.js backend's record. Backends handle offsets outside the tensor differently. */
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
  // A sum of booleans returns an int32 tensor.
  lacks: [{ dtypes: ["bool"], reductions: ["add"] }],
  dtypes: ["float32", "int32", "bool"],
  hasText: false,
  ...own,
});

/**
 * The id of a runtime or library, such as `onnxruntime-cpu` or `numpy`. The union is explicit, because type
 * declarations would otherwise contain the whole table. The compiler verifies that the ids match the table rows.
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
    // NumPy 2.4.6 throws a TypeError for boolean subtraction.
    lacks: [{ dtypes: ["bool"], reductions: ["sub"] }],
    // Strings were tested in arrays of objects, because a fixed-length string array truncates longer updates.
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
    // PyTorch 2.15.0 throws a NotImplementedError, because "index_put" is not implemented for 'UInt16'. Gathers support
    // these data types.
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
    // JAX 0.10.2 throws a TypeError with the message "add does not accept dtype bool".
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
