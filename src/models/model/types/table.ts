/**
 * Type rules for operators other than scatters and gathers. The table has one row per ONNX operator, and most rows
 * share a few rules. Operators without a row have unknown outputs: operators on maps produce no tensors, and other
 * missing operators are rare. `values.ts` handles `If`, whose branches are graphs.
 *
 * The rules follow all versions of each operator in ONNX's Operators document.
 */

import * as attention from "./attention.ts";
import * as elementwise from "./elementwise.ts";
import * as inline from "./inline-rules.ts";
import * as matrices from "./matrices.ts";
import { output, type TypeRule } from "./node-view.ts";
import * as parts from "./parts.ts";
import * as reductions from "./reductions.ts";
import * as sequences from "./sequences.ts";
import * as shaping from "./shaping.ts";
import * as windows from "./windows.ts";

type Table = Readonly<Record<string, TypeRule>>;

const rows = (rule: TypeRule, names: string): Table =>
  Object.fromEntries(names.split(/\s+/).map((name) => [name, rule]));

/** The versions in which a reduction's axes became an input. */
const AXES_OF_SUM = 13;
const AXES_OF_OTHERS = 18;

// Each table is a function. Bundlers remove an unused pure function call, but not the calls in an unused literal.

const onnxElements = (): Table => ({
  Constant: inline.constantNode,
  Identity: inline.identity,
  Cast: inline.cast,
  CastLike: inline.castLike,

  ...rows(
    elementwise.sameAsInput,
    `Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Celu Clip Cos Cosh CumProd CumSum Elu Erf Exp Floor Gelu
    Hardmax HardSigmoid HardSwish InstanceNormalization GroupNormalization LRN LeakyRelu Log LogSoftmax
    LpNormalization MeanVarianceNormalization Mish Neg Not PRelu Reciprocal Relu ReverseSequence RMSNormalization
    RotaryEmbedding Round Selu Shrink Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt Swish Tan Tanh
    ThresholdedRelu Trilu Affine ImageScaler ParametricSoftplus Scale ScaledTanh SimplifiedLayerNormalization`,
  ),
  ...rows(elementwise.sameShape("bool"), "IsInf IsNaN RegexFullMatch"),
  ...rows(elementwise.likeInput, "Bernoulli EyeLike RandomNormalLike RandomUniformLike"),
  ...rows(elementwise.firstLikeInput, "BatchNormalization"),
  ...rows(
    elementwise.broadcast,
    "Add BitShift BitwiseAnd BitwiseOr BitwiseXor Div Mod Mul Sub StringConcat",
  ),
  ...rows(elementwise.comparison, "And Equal Greater GreaterOrEqual Less LessOrEqual Or Xor"),
  ...rows(elementwise.variadic, "Max Mean Min Sum"),
  SwiGLU: elementwise.alike,
  BitCast: elementwise.bitCast,
  Pow: elementwise.broadcastToFirst,
  Where: elementwise.where,
  Dropout: elementwise.dropout,

  Shape: shaping.shape,
  Size: shaping.size,
  Reshape: shaping.reshape,
  Flatten: shaping.flatten,
  Unsqueeze: shaping.unsqueeze,
  Squeeze: shaping.squeeze,
  Transpose: shaping.transpose,
  Expand: shaping.expand,
  ConstantOfShape: shaping.constantOfShape,
  Range: shaping.range,
  ...rows(shaping.shapeAttribute, "RandomNormal RandomUniform"),

  Concat: parts.concat,
  Slice: parts.slice,
  Split: parts.split,
  Tile: parts.tile,
  Pad: parts.pad,
  CenterCropPad: parts.centered,
  Compress: parts.compress,
  StringSplit: parts.stringSplit,
  TfIdfVectorizer: parts.wordWeights,
});

const onnxAxes = (): Table => ({
  ReduceSum: reductions.reduction(AXES_OF_SUM),
  ...rows(
    reductions.reduction(AXES_OF_OTHERS),
    `ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSumSquare`,
  ),
  ...rows(reductions.argExtreme, "ArgMax ArgMin"),
  TopK: reductions.topK,
  OneHot: reductions.oneHot,
  NonZero: reductions.nonZero,
  Unique: reductions.unique,

  MatMul: matrices.matMul,
  MatMulInteger: matrices.matMulInteger,
  QLinearMatMul: matrices.qLinearMatMul,
  Gemm: matrices.gemm,
  Einsum: matrices.einsum,
  ...rows(matrices.recurrent(1), "GRU RNN"),
  LSTM: matrices.recurrent(2),
  GroupedMatMul: matrices.groupedMatMul,
  Attention: attention.attention,
  LinearAttention: attention.linearAttention,
  CausalConvWithState: attention.causalConvolution,
  QuantizeLinear: matrices.quantize,
  DequantizeLinear: matrices.dequantize,
  DynamicQuantizeLinear: matrices.dynamicQuantize,
  ...rows(matrices.loss, "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss"),
  NonMaxSuppression: () => [output("int64", [null, 3])],
  Multinomial: (view) => [output(view.dtypeOf("dtype", "int32"), [null, null])],
  ImageDecoder: matrices.ranked("uint8", 3),
  Det: matrices.determinant,
  MelWeightMatrix: matrices.melWeights,
  ...rows(matrices.sampleWindow, "BlackmanWindow HammingWindow HannWindow"),
  Loop: matrices.loop,
  Scan: matrices.scan,
  OptionalHasElement: () => [output("bool", [])],
  Optional: sequences.optional,
  SequenceConstruct: sequences.construct,
  SequenceEmpty: sequences.empty,
  SequenceInsert: sequences.insert,
  SequenceErase: sequences.erase,
  SplitToSequence: sequences.split,
  ...rows(sequences.element, "SequenceAt OptionalGetElement"),
  SequenceLength: () => [output("int64", [])],
  ConcatFromSequence: sequences.concatenate,
  ...rows(matrices.rankOfInput, "DFT MaxUnpool StringNormalizer"),
  ...rows(matrices.typeOfInput, "Col2Im STFT"),
});

const onnxWindows = (): Table => ({
  Conv: windows.convolution(1),
  ConvInteger: windows.convolution(1, "int32"),
  QLinearConv: windows.convolution(3, 7),
  DeformConv: windows.convolution(1),
  ConvTranspose: windows.transposedConvolution,
  ...rows(windows.pool, "AveragePool LpPool MaxPool"),
  ...rows(windows.globalPool, "GlobalAveragePool GlobalLpPool GlobalMaxPool"),
  ...rows(windows.resize, "Resize Upsample"),
  DepthToSpace: windows.depthToSpace,
  SpaceToDepth: windows.spaceToDepth,
  RoiAlign: windows.regions("output_height", "output_width"),
  MaxRoiPool: windows.regions("", ""),
  AffineGrid: windows.affineGrid,
  GridSample: windows.gridSample,
  LayerNormalization: windows.layerNormalisation,
});

const microsoft = (): Table => ({
  ...rows(
    elementwise.firstLikeInput,
    `BiasGelu FastGelu Gelu QuickGelu RotaryEmbedding SimplifiedLayerNormalization SkipLayerNormalization
    SkipSimplifiedLayerNormalization`,
  ),
  EmbedLayerNormalization: parts.embedded,
  GatherBlockQuantized: parts.gatheredBlocks,
  FusedConv: windows.convolution(1),
  FusedGemm: matrices.gemm,
  ...rows(matrices.typeOfInput, "FusedMatMul"),
});

// The function has a name, because minifiers inline an immediately called function, and bundlers cannot omit its body.
const onnx = (): Table => ({ ...onnxElements(), ...onnxAxes(), ...onnxWindows() });

export const TYPE_RULES: Readonly<Record<string, Table>> = {
  "ai.onnx": /* @__PURE__ */ onnx(),
  "com.microsoft": /* @__PURE__ */ microsoft(),
  openvino: { Convert: inline.cast },
};
