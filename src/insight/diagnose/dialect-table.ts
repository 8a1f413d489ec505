/**
 * Contains one record per dialect, with supported operators and data types, behavior, and evidence. The file
 * `docs/other-systems.md` contains the same table for readers, with an evidence URL for each fact, and explains each
 * word.
 */

import type { IndexForm } from "../../core/operators/operator.ts";
import { REDUCTIONS, type DType, type Reduction } from "../../core/tensor/dtype.ts";

/** Words for out-of-range indices. */
type OutsideWord = "error" | "undefined" | "out-of-range-clipped" | "flat-offset";

/** The words that describe each aspect of a dialect's behavior. Most words are ids of diagnoses. */
export interface AspectWords {
  /** Negative indices. */
  readonly negative: "wraps" | "error" | "negative-dropped" | "flat-offset";
  /** Updates with out-of-range indices. */
  readonly scatters: OutsideWord | "out-of-range-dropped";
  /** The value that a gather returns for an out-of-range index. */
  readonly gathers: OutsideWord | "out-of-range-filled";
  /** The update that wins if several updates have the same target and no reduction combines them. */
  readonly repeats: "last" | "any-order";
  /** The order in which a reduction combines updates. */
  readonly sums: "in-order" | "updates-first" | "rounding" | "lost-updates";
  /**
   * NaN, and 0 and -0, in max and min: the operand that the comparison returns, either only for 0 and -0, or also if
   * one operand is NaN.
   */
  readonly compares: "exact" | `${"nan-one-operand+" | ""}signed-zero:${"data" | "update"}`;
  /** The rounding of float16 and bfloat16 sums. The word `none` means that the dialect has no such sums. */
  readonly halves: "each-step" | "wide-accumulation" | "wrong-rounding" | "none";
  /** The data type used in computations. */
  readonly types: "own" | "other-type";
  /** The rounding of integer means. */
  readonly means: "floor" | "mean-truncated";
  /** A scatter with empty index tuples, each of which addresses the whole data tensor. */
  readonly wholes: "applied" | "one-applied" | "whole-ignored" | "error";
  /** The elements that a string gather copies. */
  readonly strings: "all" | "first-of-slice";
}

/** The main word, and words for index forms and data types with different behavior. */
export interface Behavior<W> extends Partial<Record<Exclude<IndexForm, "tuples">, W>> {
  readonly does: W;
  readonly dtypes?: Readonly<Partial<Record<DType, W>>>;
}

/** Behavior by aspect. Aspects of unsupported features, such as a reduction, are omitted. */
type Behaviors = {
  readonly [Aspect in keyof AspectWords]?: AspectWords[Aspect] | Behavior<AspectWords[Aspect]>;
};

/**
 * A dialect's behavior by kind of evidence: `run` was observed by this project in the listed version, `source` was read
 * in source code, and `document` in documentation.
 */
export interface Facts extends Readonly<Partial<Record<Evidence, Behaviors>>> {
  readonly unknown?: readonly (keyof AspectWords)[];
}

export type Evidence = "run" | "source" | "document";

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

export interface DialectRecord extends Facts {
  /** The dialect version that was tested, or whose source or documentation was read. */
  readonly version: string;
  /** URL of the dialect's documentation or source. */
  readonly url: string;
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
  readonly hasText?: true;
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
const tensorflow = (facts: Facts): DialectRecord => ({
  version: "2.21.0",
  url: "https://www.tensorflow.org/api_docs/python/tf/tensor_scatter_nd_update",
  ...facts,
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

// prettier-ignore
/** Returns a TensorFlow.js backend's record. Backends handle offsets outside the tensor differently. */
const tfjs = (own: Pick<DialectRecord, "url" | "leavesTensor">): DialectRecord => ({
  version: "4.22.0",
  run: { negative: "flat-offset", scatters: "flat-offset",
    gathers: { does: "flat-offset", slices: "error" }, repeats: "last", sums: "updates-first",
    wholes: "whole-ignored" },
  scatterForms: ["tuples"], gatherForms: ["tuples", "slices"],
  reductions: ["none", "add"],
  // A sum of booleans returns an int32 tensor.
  lacks: [{ dtypes: ["bool"], reductions: ["add"] }],
  dtypes: ["float32", "int32", "bool"],
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

// prettier-ignore
export const DIALECTS: Readonly<Record<DialectId, DialectRecord>> = {
  onnx: {
    version: "18",
    url: "https://onnx.ai/onnx/operators/onnx__ScatterND.html",
    document: { negative: "wraps", scatters: "error", gathers: "error", repeats: "any-order",
      sums: "rounding" },
    unknown: ["compares", "halves"],
    scatterForms: ["tuples", "elements", "sequences"], gatherForms: ["tuples", "elements", "slices"],
    reductions: ["none", "add", "mul", "max", "min"],
    hasText: true,
  },
  "onnxruntime-cpu": {
    version: "1.32.0",
    url: "https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/tensor/scatter_nd.cc",
    run: { negative: { does: "wraps", sequences: "error" }, scatters: "error", gathers: "error",
      repeats: { does: "any-order", elements: "last" },
      sums: { does: "lost-updates", elements: "in-order" },
      compares: "nan-one-operand+signed-zero:update", halves: "none", strings: "first-of-slice" },
    scatterForms: ["tuples", "elements", "sequences"], gatherForms: ["tuples", "elements", "slices"],
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
    url: "https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/webgpu/tensor/scatter_nd.cc",
    source: { repeats: "any-order", sums: "rounding", halves: "none" },
    unknown: ["negative", "scatters", "gathers", "compares"],
    scatterForms: ["tuples", "elements"], gatherForms: ["tuples", "elements", "slices"],
    reductions: ["none", "add", "mul", "max", "min"],
    lacks: [{ dtypes: ["float16", "bfloat16"], reductions: ["max", "min"] }],
    hasText: true,
  },
  openvino: {
    version: "2026.4.1",
    url: "https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/movement/scatter-nd-update-15.html",
    run: { negative: "wraps", scatters: "error",
      gathers: { does: "undefined", elements: "error", slices: "out-of-range-filled" },
      repeats: { does: "any-order", elements: "last" }, sums: "in-order",
      compares: "nan-one-operand+signed-zero:data",
      halves: { does: "wide-accumulation", dtypes: { bfloat16: "wrong-rounding" } },
      types: "other-type", means: "mean-truncated", wholes: "whole-ignored" },
    scatterForms: ["tuples", "elements", "slices"], gatherForms: ["tuples", "elements", "slices"],
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
    url: "https://numpy.org/doc/stable/user/basics.indexing.html",
    run: { negative: "wraps", scatters: "error", gathers: "error", repeats: "last",
      sums: "in-order",
      compares: { does: "signed-zero:update", dtypes: { float16: "signed-zero:data" } },
      halves: "each-step", wholes: "one-applied" },
    scatterForms: ["tuples", "elements", "slices"], gatherForms: ["tuples", "elements", "slices"],
    reductions: ["none", "add", "sub", "mul", "max", "min"],
    // NumPy 2.4.6 throws a TypeError for boolean subtraction.
    lacks: [{ dtypes: ["bool"], reductions: ["sub"] }],
    // Strings were tested in arrays of objects, because a fixed-length string array truncates longer updates.
    hasText: true,
  },
  "torch-index-put": {
    version: "2.15.0",
    url: "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.index_put_.html",
    run: { negative: "wraps", scatters: "error", gathers: "error", sums: "in-order",
      halves: "each-step", wholes: "error" },
    document: { repeats: "any-order" },
    scatterForms: ["tuples"], gatherForms: ["tuples", "slices"],
    reductions: ["none", "add"],
    // PyTorch 2.15.0 throws a NotImplementedError, because "index_put" is not implemented for 'UInt16'. Gathers support
    // these data types.
    lacks: [{ dtypes: WIDE_UNSIGNED, reductions: ["none", "add"] }],
  },
  "torch-scatter": {
    version: "2.15.0",
    url: "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.scatter_.html",
    run: { negative: "error", scatters: "error", gathers: "error" },
    document: { repeats: "any-order" },
    scatterForms: ["elements"], gatherForms: ["elements"],
    reductions: ["none"],
  },
  "torch-scatter-reduce": {
    version: "2.15.0",
    url: "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.scatter_reduce_.html",
    run: { negative: "error", scatters: "error", sums: "in-order", compares: "signed-zero:data",
      halves: "wide-accumulation" },
    scatterForms: ["elements"], gatherForms: [],
    reductions: ["add", "mul", "max", "min", "mean"],
    lacks: [
      { dtypes: [...WIDE_UNSIGNED, "bool"], reductions: ["mean"] },
      { dtypes: [...WIDE_UNSIGNED, ...COMPLEX], reductions: ["max", "min"] },
      { dtypes: WIDE_UNSIGNED, reductions: REDUCTIONS, includeSelf: false },
    ],
  },
  "tensorflow-cpu": /* @__PURE__ */ tensorflow({
    run: { negative: "error", scatters: "error", gathers: "error", repeats: "last",
      sums: "in-order", compares: "nan-one-operand+signed-zero:data", halves: "each-step",
      wholes: "error" },
  }),
  "tensorflow-gpu": /* @__PURE__ */ tensorflow({
    source: { negative: "negative-dropped" },
    document: { scatters: "out-of-range-dropped", gathers: "out-of-range-filled",
      repeats: "any-order", sums: "rounding" },
    unknown: ["compares", "halves"],
  }),
  jax: {
    version: "0.10.2",
    url: "https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html",
    run: { negative: "wraps", scatters: "out-of-range-dropped", gathers: "out-of-range-clipped",
      compares: "exact", halves: "each-step", wholes: "error" },
    document: { repeats: "any-order", sums: "rounding" },
    scatterForms: ["tuples", "elements", "slices"], gatherForms: ["tuples", "elements", "slices"],
    reductions: ["none", "add", "sub", "mul", "max", "min"],
    // JAX 0.10.2 throws a TypeError with the message "add does not accept dtype bool".
    lacks: [{ dtypes: ["bool"], reductions: ["add", "sub", "mul"] }],
  },
  "tfjs-cpu": /* @__PURE__ */ tfjs({
    url: "https://github.com/tensorflow/tfjs/blob/master/tfjs-backend-cpu/src/kernels/Scatter_impl.ts",
  }),
  "tfjs-wasm": /* @__PURE__ */ tfjs({
    url: "https://github.com/tensorflow/tfjs/blob/master/tfjs-backend-wasm/src/cc/scatter_impl.cc",
    leavesTensor: true,
  }),
  webnn: {
    version: "2026",
    url: "https://www.w3.org/TR/webnn/#api-mlgraphbuilder-scatternd",
    document: { negative: "wraps", scatters: "out-of-range-clipped",
      gathers: "out-of-range-clipped" },
    unknown: ["repeats"],
    scatterForms: ["tuples", "elements"], gatherForms: ["tuples", "elements", "slices"],
    reductions: ["none"],
    dtypes: ["float32", "float16", "int32", "uint32", "int64", "uint64", "int8", "uint8"],
  },
  mlx: {
    version: "0.32.2",
    url: "https://ml-explore.github.io/mlx/build/html/usage/indexing.html",
    source: { negative: "wraps" },
    document: { scatters: "undefined", gathers: "undefined", repeats: "any-order" },
    unknown: ["sums", "compares", "halves"],
    scatterForms: ["tuples", "elements", "slices"], gatherForms: ["tuples", "elements", "slices"],
    reductions: ["none", "add", "sub", "mul", "max", "min"],
  },
};
