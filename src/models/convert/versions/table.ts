/**
 * The table of ONNX operators, with the versions in which they changed. Operators with the same changes share a row.
 *
 * ONNX: Operator Changelog, and the version converter's adapters (`onnx/version_converter`). Scatters and gathers are
 * in the operator registry instead.
 *
 * Operator versions before 7 used other broadcasting rules and training attributes, which current runtimes reject. The
 * table covers only the simple changes of those versions.
 */

import { maskOfOneColumn } from "./attention.ts";
import { fromBack, listInput, signalAxis } from "./axes.ts";
import {
  at,
  axesFromBack,
  lostWords,
  meaningless,
  negativesDiffer,
  newer,
  newInput,
  newMeaning,
  newWords,
  ofRank,
  ONES,
  onlyFirstOutput,
  option,
  optionalInput,
  otherMeaning,
  otherWords,
  standardWas,
  takes,
  useless,
  type Change,
} from "./change.ts";
import { shortValues, sparseValue } from "./constant.ts";
import { ELEMENT_OPERATORS } from "./element-operators.ts";
import { resizeInputs } from "./elements.ts";
import {
  WIDE,
  BYTES,
  INTEGERS,
  OTHERS,
  ALL,
  BFLOAT16,
  FLOAT8,
  INT4,
  FLOAT4,
  FLOAT8E8M0,
  INT2,
  LATER,
  SEQUENCES,
  bfloat16,
  consumed,
  type History,
  rows,
  small,
  smallSince19,
} from "./history.ts";
import {
  padAxes,
  padInputs,
  padWord,
  sliceAxesFromBack,
  sliceInputs,
  splitCount,
  topKInput,
} from "./parts.ts";
import { reshapeInput, reshapeZero, shapeBounds } from "./shapes.ts";
import { ignoredWindows, oddPadding } from "./windows.ts";

const axesFrom13 = (added?: (axes: number) => number): History => [
  1,
  at(11, fromBack("axes", added)),
  at(13, takes(BFLOAT16), listInput("axes", 1)),
  ...small(),
];
const RECURRENT = [at(7, useless("output_sequence")), at(14, option("layout", 0)), bfloat16(22)];
/** Returns the type changes of values that leave a body. */
const bodyTypes = (where: string): readonly Change[] => [
  bfloat16(16, where),
  ...smallSince19(where),
];

/** Version histories, by operator name. */
export const HISTORIES: Readonly<Record<string, History>> = {
  ...ELEMENT_OPERATORS,

  ...rows("Not", [1]),
  ...rows("Shrink TfIdfVectorizer", [9]),
  ...rows("ConvInteger MatMulInteger QLinearConv StringNormalizer", [10]),
  ...rows(
    `ConcatFromSequence DynamicQuantizeLinear SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert
    SequenceLength`,
    [11],
  ),
  Trilu: [14],
  ...rows(
    "BlackmanWindow HammingWindow HannWindow LayerNormalization MelWeightMatrix STFT SequenceMap",
    [17],
  ),
  ...rows("BitwiseAnd BitwiseNot BitwiseOr BitwiseXor CenterCropPad Col2Im", [18]),
  ...rows("AffineGrid Gelu ImageDecoder RegexFullMatch StringConcat StringSplit", [20]),
  ...rows("RMSNormalization RotaryEmbedding", [23]),
  Swish: [24],
  ...rows("BitCast CumProd", [26]),
  ...rows("CausalConvWithState LinearAttention", [27]),
  SwiGLU: [28],
  GroupedMatMul: [29],
  ...rows(`GlobalAveragePool GlobalMaxPool LpNormalization MaxRoiPool Softplus Softsign`, [
    1,
    bfloat16(22),
  ]),
  ...rows("RandomNormal RandomUniform", [1, bfloat16(22, ">0")]),
  ...rows("RandomNormalLike RandomUniformLike", [1, bfloat16(22, "* >*")]),
  ...rows("Det Round", [11, bfloat16(22)]),
  ...rows("ArgMax ArgMin", [
    1,
    at(11, fromBack("axis")),
    at(12, option("select_last_index", 0)),
    bfloat16(13, "0"),
  ]),
  ...rows("Compress", [9, at(11, fromBack("axis")), bfloat16(28)]),
  ...rows("Einsum", [12, bfloat16(28)]),
  ...rows("ReverseSequence", [10, bfloat16(28)]),
  ...rows("Unique", [11, bfloat16(28)]),
  Attention: [
    23,
    at(24, newInput(6, "nonpad_kv_seqlen"), maskOfOneColumn),
    at(25, option("left_window_size", -1), option("right_window_size", -1)),
  ],
  AveragePool: [
    1,
    at(7, option("count_include_pad", 0)),
    at(10, option("ceil_mode", 0)),
    at(11),
    at(19, option("dilations", ONES)),
    at(22, takes(BFLOAT16), ignoredWindows),
  ],
  Concat: [1, at(4, takes(OTHERS), standardWas("axis", 1)), at(11, fromBack("axis")), bfloat16(13)],
  Constant: [
    1,
    at(9, takes(OTHERS, ">0")),
    at(11, sparseValue),
    at(12, shortValues),
    bfloat16(13, ">0"),
    at(19, takes(FLOAT8, ">0")),
    at(21, takes(INT4, ">0")),
    at(23, takes(FLOAT4, ">0")),
    at(24, takes(FLOAT8E8M0, ">0")),
    at(25, takes(INT2, ">0")),
  ],
  ConstantOfShape: [
    9,
    at(20, takes([...BFLOAT16, ...FLOAT8], ">0")),
    at(21, takes(INT4, ">0")),
    at(23, takes(FLOAT4, ">0")),
    at(24, takes(FLOAT8E8M0, ">0")),
    at(25, takes(INT2, ">0")),
  ],
  Conv: [1, at(11), bfloat16(22)],
  ConvTranspose: [1, at(11, oddPadding), bfloat16(22)],
  DFT: [17, at(20, signalAxis)],
  DeformConv: [19, bfloat16(22)],
  DepthToSpace: [1, at(11, option("mode", "DCR")), bfloat16(13), at(28)],
  Expand: [8, bfloat16(13)],
  EyeLike: [9, bfloat16(22, "* >*")],
  Flatten: [1, at(9, takes(OTHERS)), at(11, fromBack("axis")), bfloat16(13), ...small()],
  GRU: [1, at(3, otherMeaning("linear_before_reset was added in version 3")), ...RECURRENT],
  Gemm: [
    1,
    at(6),
    at(7, useless("broadcast"), newer("the third input is broadcast")),
    at(9, takes(WIDE)),
    at(11, optionalInput(2, "C")),
    bfloat16(13),
  ],
  GlobalLpPool: [
    1,
    at(2, otherMeaning("p must be an integer in version 2 and later")),
    bfloat16(22),
  ],
  GridSample: [
    16,
    at(20, ofRank(4), otherWords("mode", { bilinear: "linear", bicubic: "cubic" })),
    bfloat16(22, "* >*"),
  ],
  GroupNormalization: [
    18,
    at(21, otherMeaning("scale and bias have one element per channel since version 21")),
  ],
  If: [
    1,
    at(11, newer("the branches may have different output shapes")),
    at(13, takes(SEQUENCES, ">*")),
    ...bodyTypes(">*"),
  ],
  ...rows("LSTM RNN", [1, ...RECURRENT]),
  Loop: [
    1,
    at(11, newer("the condition and the iteration count are optional")),
    at(13, takes(SEQUENCES, ">*")),
    ...bodyTypes(">*"),
  ],
  LpPool: [
    1,
    at(2, otherMeaning("p must be an integer in version 2 and later")),
    at(11),
    at(18, option("ceil_mode", 0), option("dilations", ONES)),
    at(22, takes(BFLOAT16), ignoredWindows),
  ],
  MatMul: [1, at(9, takes(WIDE)), bfloat16(13)],
  MaxPool: [
    1,
    at(8, onlyFirstOutput(), meaningless("storage_order")),
    at(10, option("dilations", ONES), option("ceil_mode", 0)),
    at(11),
    at(12, takes(BYTES)),
    at(22, takes(BFLOAT16), ignoredWindows),
  ],
  MaxUnpool: [9, at(11), bfloat16(22)],
  Multinomial: [7, bfloat16(22, "0")],
  NegativeLogLikelihoodLoss: [12, at(13), bfloat16(22)],
  NonMaxSuppression: [10, at(11)],
  NonZero: [9, bfloat16(13, "0")],
  OneHot: [
    9,
    at(11, negativesDiffer("negative indices count from the end of the axis")),
    bfloat16(28, "2 >0"),
  ],
  Optional: [15, at(28, takes(LATER, "0"))],
  OptionalGetElement: [15, at(18, takes(ALL, "0")), at(28, takes(LATER))],
  OptionalHasElement: [
    15,
    at(18, optionalInput(0, "input"), takes(ALL, "0")),
    at(28, takes(LATER, "0")),
  ],
  Pad: [
    1,
    at(2, padWord),
    at(11, takes(INTEGERS), padInputs),
    at(13, takes(["bool", "complex64", "complex128", "string", ...BFLOAT16])),
    at(18, padAxes),
    at(19, newWords("mode", "wrap")),
    ...small(),
  ],
  QLinearMatMul: [
    10,
    at(
      21,
      takes(FLOAT8, "0 2"),
      takes(["float16", ...BFLOAT16], "1 4 6"),
      takes(FLOAT8, "3 5"),
      takes(FLOAT8, "7 >0"),
    ),
  ],
  Range: [11, at(27, takes(["float16", ...BFLOAT16]), meaningless("stash_type"))],
  Reshape: [
    1,
    at(5, takes(OTHERS), consumed, reshapeInput),
    bfloat16(13),
    at(14, reshapeZero),
    ...smallSince19(),
  ],
  Resize: [
    10,
    at(11, otherMeaning("Resize has coordinate and rounding modes since version 11")),
    at(
      13,
      takes(BFLOAT16),
      lostWords("coordinate_transformation_mode", "tf_half_pixel_for_nn"),
      resizeInputs,
    ),
    at(
      18,
      option("antialias", 0),
      option("axes", null),
      option("keep_aspect_ratio_policy", "stretch"),
    ),
    at(19, newWords("coordinate_transformation_mode", "half_pixel_symmetric")),
  ],
  RoiAlign: [
    10,
    at(16, newMeaning("coordinate_transformation_mode", "output_half_pixel")),
    bfloat16(22),
  ],
  Scan: [
    8,
    at(9, otherMeaning("Scan has no batch axis since version 9")),
    at(11, axesFromBack("scan_input_axes"), axesFromBack("scan_output_axes")),
    ...bodyTypes("* >*"),
  ],
  Shape: [1, bfloat16(13, "0"), at(15, shapeBounds), ...smallSince19("0")],
  Size: [1, bfloat16(13, "0"), ...smallSince19("0")],
  Slice: [1, at(10, sliceInputs), at(11, sliceAxesFromBack), bfloat16(13)],
  SoftmaxCrossEntropyLoss: [12, bfloat16(13)],
  SpaceToDepth: [1, bfloat16(13), at(28, option("mode", "DCR"))],
  Split: [
    1,
    at(2, otherMeaning("the sizes are an attribute since version 2")),
    at(11, fromBack("axis")),
    at(13, takes(BFLOAT16), listInput("split", 1)),
    at(18, splitCount),
  ],
  SplitToSequence: [11, bfloat16(24, "0")],
  Squeeze: axesFrom13(),
  Tile: [1, at(6, otherMeaning("Tile repeats along all axes since version 6")), bfloat16(13)],
  TopK: [
    1,
    at(10, topKInput),
    at(11, takes(INTEGERS), option("sorted", 1), option("largest", 1), fromBack("axis")),
    bfloat16(24),
  ],
  Transpose: [1, bfloat16(13), ...small()],
  Unsqueeze: axesFrom13((axes) => axes),
  Upsample: [
    1,
    at(7, otherMeaning("the scales apply to all axes since version 7")),
    at(9, otherMeaning("the scales are an input since version 9")),
    at(10, otherMeaning("Resize replaced Upsample in version 10")),
  ],
};
