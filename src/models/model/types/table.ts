/**
 * Derives facts about a node's outputs from facts about its inputs. The table has one row per ONNX operator, and most
 * rows share a few kinds of rules. Scatters and gathers share one rule. Operators without a row have unknown outputs:
 * operators on maps produce no tensors, and other missing operators are rare. `values.ts` handles `If`, whose branches
 * are graphs.
 *
 * Outputs are also unknown for an invalid node. `outputsOf` throws no TensorError; the code in `inspect/` explains why
 * a node is invalid.
 *
 * The rules follow all versions of each operator in ONNX's Operators document.
 */

import { recovering } from "../../../core/errors.ts";
import { findVersion } from "../../../core/operators/registry.ts";
import type { DType } from "../../../core/tensor/dtype.ts";
import type { PartialShape } from "../../../core/tensor/shape.ts";
import { inlineOperator } from "../inline.ts";
import type { Known } from "../known.ts";
import type { ModelNode } from "../model.ts";
import { givenDim, sizeDim, unknownDims } from "./dims.ts";
import * as matrices from "./matrices.ts";
import * as parts from "./parts.ts";
import {
  alike,
  broadcast,
  firstShape,
  fromFirst,
  given,
  NodeView,
  output,
  rule,
  shared,
  sharedBy,
  variadic,
  type Table,
  type TypeRule,
} from "./rules.ts";
import * as sequences from "./sequences.ts";
import * as shaping from "./shaping.ts";
import { castOrConvert, family, gather, smallOperators } from "./small-operators.ts";
import * as windows from "./windows.ts";

const rows = (one: TypeRule, names: string): Table =>
  Object.fromEntries(names.split(/\s+/).map((name) => [name, one]));

/**
 * `QuantizeLinear`: the data type comes from the zero point or from an attribute. Without either, the data type is
 * uint8.
 */
const quantized = (view: NodeView): DType | null =>
  view.has(2)
    ? view.dtype(2)
    : isOutputGiven(view, 21)
      ? view.dtypeOf("output_dtype", null)
      : "uint8";

/** `DequantizeLinear`: the output has the scale's data type, unless an attribute gives another data type. */
const dequantized = (view: NodeView): DType | null =>
  isOutputGiven(view, 23) ? view.dtypeOf("output_dtype", null) : view.dtype(1);

/** `MelWeightMatrix`: the matrix has one row per frequency of half a Fourier transform, and one column per band. */
function melWeights(view: NodeView): PartialShape {
  const [bands, length] = [view.integer(0), view.integer(1)];
  const frequencies = typeof length === "number" ? Math.floor(length / 2) + 1 : null;
  return [givenDim(frequencies), givenDim(bands)];
}

const isOutputGiven = (view: NodeView, since: number): boolean =>
  view.opset >= since && view.int("output_dtype", 0) !== 0;

/** The versions in which a reduction's axes became an input. */
const AXES_OF_SUM = 13;
const AXES_OF_OTHERS = 18;

// Each table is a function. Bundlers remove an unused pure function call, but not the calls in an unused literal.

const onnxElements = (): Table => ({
  ...rows(
    rule(firstShape),
    `Acos Acosh Asin Asinh Atan Atanh BatchNormalization BitwiseNot Ceil Celu Clip Cos Cosh CumProd CumSum Elu Erf Exp Floor Gelu
    Hardmax HardSigmoid HardSwish InstanceNormalization GroupNormalization LRN LeakyRelu Log LogSoftmax
    LpNormalization MeanVarianceNormalization Mish PRelu Reciprocal Relu ReverseSequence RMSNormalization
    RotaryEmbedding Round Selu Shrink Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt Swish Tan Tanh
    ThresholdedRelu Trilu Affine ImageScaler ParametricSoftplus Scale ScaledTanh SimplifiedLayerNormalization`,
  ),
  ...rows(rule(firstShape, "bool"), "IsInf IsNaN RegexFullMatch"),
  ...rows(
    rule(firstShape, (view) => view.dtypeOf("dtype", view.dtype(0))),
    "Bernoulli EyeLike RandomNormalLike RandomUniformLike",
  ),
  ...rows(rule(broadcast, shared), "BitShift BitwiseAnd BitwiseOr BitwiseXor StringConcat"),
  ...rows(rule(variadic, shared), "Mean Sum"),
  SwiGLU: rule(alike, shared),
  BitCast: rule(firstShape, given("to", null)),
  Pow: rule(broadcast),
  Dropout: rule(firstShape, 0, (view) => (view.opset >= 10 ? "bool" : view.dtype(0))),
  Flatten: rule(shaping.flattened),
  ...rows(
    rule((view) => view.ints("shape")?.map(sizeDim) ?? null, given("dtype", "float32")),
    "RandomNormal RandomUniform",
  ),
  Pad: rule(parts.padded),
  CenterCropPad: rule(parts.centered),
  Compress: rule(parts.compressed),
  StringSplit: parts.stringSplit,
  TfIdfVectorizer: rule(parts.wordWeights, "float32"),
});

const onnxAxes = (): Table => ({
  ReduceSum: rule(shaping.reduced(AXES_OF_SUM)),
  ...rows(
    rule(shaping.reduced(AXES_OF_OTHERS)),
    `ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSumSquare`,
  ),
  ...rows(rule(shaping.argExtreme, "int64"), "ArgMax ArgMin"),
  TopK: rule(shaping.topK, 0, "int64"),
  OneHot: rule(shaping.oneHot, 2),
  NonZero: rule(shaping.nonZero, "int64"),
  Unique: shaping.unique,

  MatMul: rule(matrices.productOf(0, 1), sharedBy(0, 1)),
  MatMulInteger: rule(matrices.productOf(0, 1), "int32"),
  QLinearMatMul: rule(matrices.productOf(0, 3), 7),
  Gemm: rule(matrices.gemm, sharedBy(0, 1, 2)),
  Einsum: rule(matrices.einsum, shared),
  ...rows(matrices.recurrent(1), "GRU RNN"),
  LSTM: matrices.recurrent(2),
  GroupedMatMul: rule(matrices.grouped, sharedBy(0, 1, 3)),
  Attention: matrices.attention,
  LinearAttention: matrices.linearAttention,
  CausalConvWithState: matrices.causalConvolution,
  QuantizeLinear: rule(firstShape, quantized),
  DequantizeLinear: rule(firstShape, dequantized),
  DynamicQuantizeLinear: (view) => [
    output("uint8", view.shape(0)),
    output("float32", []),
    output("uint8", []),
  ],
  ...rows(matrices.loss, "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss"),
  NonMaxSuppression: rule(() => [null, 3], "int64"),
  Multinomial: rule(() => [null, null], given("dtype", "int32")),
  ImageDecoder: rule(() => unknownDims(3), "uint8"),
  Det: rule(fromFirst((dims) => dims.slice(0, -2))),
  MelWeightMatrix: rule(melWeights, given("output_datatype", "float32")),
  ...rows(
    rule((view) => [givenDim(view.integer(0))], given("output_datatype", "float32")),
    "BlackmanWindow HammingWindow HannWindow",
  ),
  Loop: matrices.loop,
  Scan: matrices.scan,
  OptionalHasElement: rule(() => [], "bool"),
  Optional: sequences.optional,
  SequenceConstruct: sequences.construct,
  SequenceEmpty: sequences.empty,
  SequenceInsert: sequences.insert,
  SequenceErase: sequences.erase,
  SplitToSequence: sequences.split,
  ...rows(sequences.element, "SequenceAt OptionalGetElement"),
  SequenceLength: rule(() => [], "int64"),
  ConcatFromSequence: sequences.concatenate,
  ...rows(rule(fromFirst((dims) => unknownDims(dims.length))), "DFT MaxUnpool StringNormalizer"),
  ...rows(
    rule(() => null),
    "Col2Im STFT",
  ),
});

const onnxWindows = (): Table => ({
  Conv: rule(windows.convolution(1), sharedBy(0, 1)),
  ConvInteger: rule(windows.convolution(1), "int32"),
  QLinearConv: rule(windows.convolution(3), 7),
  DeformConv: rule(windows.convolution(1), sharedBy(0, 1)),
  ConvTranspose: rule(windows.convolution(1, true), sharedBy(0, 1)),
  ...rows(rule(windows.pool, 0, "int64"), "AveragePool LpPool MaxPool"),
  ...rows(rule(windows.globalPool), "GlobalAveragePool GlobalLpPool GlobalMaxPool"),
  ...rows(rule(windows.resized), "Resize Upsample"),
  DepthToSpace: rule(windows.depthToSpace()),
  SpaceToDepth: rule(windows.spaceToDepth()),
  RoiAlign: rule(windows.regions("output_height", "output_width")),
  MaxRoiPool: rule(windows.regions("", "")),
  AffineGrid: rule(windows.affineGrid),
  GridSample: rule(windows.gridSample),
  LayerNormalization: windows.layerNormalisation,
});

const microsoft = (): Table => ({
  ...rows(
    rule(firstShape),
    `BiasGelu FastGelu Gelu QuickGelu RotaryEmbedding SimplifiedLayerNormalization SkipLayerNormalization
    SkipSimplifiedLayerNormalization`,
  ),
  EmbedLayerNormalization: parts.embedded,
  GatherBlockQuantized: rule(parts.gatheredBlocks, 2),
  FusedConv: rule(windows.convolution(1), sharedBy(0, 1)),
  FusedGemm: rule(matrices.gemm, sharedBy(0, 1, 2)),
  FusedMatMul: rule(() => null),
});

// The function has a name, because minifiers inline an immediately called function, and bundlers cannot omit its body.
const onnx = (): Table => ({
  ...smallOperators(),
  ...onnxElements(),
  ...onnxAxes(),
  ...onnxWindows(),
});

export const TYPE_RULES: Readonly<Record<string, Table>> = {
  "ai.onnx": /* @__PURE__ */ onnx(),
  "com.microsoft": /* @__PURE__ */ microsoft(),
  openvino: { Convert: castOrConvert, Gather: gather },
};

/**
 * Returns the known facts about a node's outputs, in order; trailing unknown outputs may be missing. The inputs follow
 * the node's order, with `NOTHING_KNOWN` for an omitted input. If the model does not import the node's domain, `opset`
 * is null.
 */
export function outputsOf(
  node: ModelNode,
  opset: number | null,
  inputs: readonly Known[],
): readonly Known[] {
  // Operators without a Plan have the same rule in every version.
  const version = opset ?? (inlineOperator(node) === null ? null : Infinity);
  if (version === null) return [];
  return recovering(
    () => ruleOf(node, version)(new NodeView(node, version, inputs)),
    () => [],
  );
}

function ruleOf({ domain, op }: ModelNode, opset: number): TypeRule {
  if (Object.hasOwn(TYPE_RULES, domain) && Object.hasOwn(TYPE_RULES[domain], op))
    return TYPE_RULES[domain][op];
  return findVersion({ domain, op, opset }) === null ? () => [] : family;
}
