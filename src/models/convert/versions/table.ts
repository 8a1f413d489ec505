/**
 * The table of ONNX operators, with the versions in which they changed. Scatters and gathers are in the operator
 * registry instead.
 *
 * A row has the names of operators with the same changes, their first version, and the later versions with their
 * changes. Most changes require no rewriting: the version accepts more data types, or adds an attribute whose default
 * keeps the old meaning. In a row, `+` precedes data types that the version added, and `-` those that it removed. The
 * other words are changes from `facts.ts`, `inputs.ts` and `meanings.ts`, with their settings in parentheses.
 *
 * `@` precedes the positions of the data types: `0` is the first input, `>0` the first output, `*` every input, and
 * `>*` every output. Listed positions share a data type, and `*` positions may differ. By default, the first input and
 * the first output share a data type, as in most operators.
 *
 * ONNX: Operator Changelog, and the version converter's adapters (`onnx/version_converter`). Operator versions before 7
 * used other broadcasting rules and training attributes, which current runtimes reject. The table covers only the
 * simple changes of those versions.
 */
const TABLE = `
Abs: 1; 6 +integers consumed; 13 +bfloat16
Acos Asin Atan Cos Sin Tan: 7; 22 +bfloat16
Acosh Asinh Atanh Cosh Sinh: 9; 22 +bfloat16
Add Div Mul Sub: 1; 6 +wide consumed; 7 broadcasting; 13 +bfloat16; 14 +narrow
AffineGrid Gelu ImageDecoder RegexFullMatch StringConcat StringSplit: 20
And Or Xor: 1; 7 broadcasting
ArgMax ArgMin: 1; 11 fromBack(axis); 12 option(select_last_index, 0); 13 +bfloat16@0
Attention: 23; 24 newInput(6, nonpad_kv_seqlen) maskOfOneColumn;
  25 option(left_window_size, -1) option(right_window_size, -1)
AveragePool: 1; 7 option(count_include_pad, 0); 10 option(ceil_mode, 0); 11; 19 option(dilations, ones);
  22 +bfloat16 ignoredWindows
BatchNormalization: 1; 6 consumed newer(consumed_inputs is required);
  7 gone(is_test, 1, 0) newer(the operator supports training); 9 gone(spatial, 1);
  14 +bfloat16 onlyFirstOutput oneType(0, 1, 2, 3, 4) option(training_mode, 0); 15 oneType(0, 1, 2)
Bernoulli: 15; 22 +bfloat16@0
BitCast CumProd: 26
BitShift: 11; 28 +signed shiftsWithin
BitwiseAnd BitwiseNot BitwiseOr BitwiseXor CenterCropPad Col2Im: 18
BlackmanWindow HammingWindow HannWindow LayerNormalization MelWeightMatrix STFT SequenceMap: 17
Cast: 1; 6 castWord; 9 +string@*,>*; 13 +bfloat16@*,>*; 19 +float8@*,>* meaningless(saturate); 21 +uint4,int4@*,>*;
  23 +float4e2m1@*,>*; 24 +float8e8m0@*,>* meaningless(round_mode); 25 +uint2,int2@*,>*; 28 +float6@*,>*
CastLike: 15; 19 +float8@*,>* meaningless(saturate); 21 +uint4,int4@*,>*; 23 +float4e2m1@*,>*;
  24 +float8e8m0@*,>* meaningless(round_mode); 25 +uint2,int2@*,>*
CausalConvWithState LinearAttention: 27
Ceil Exp Floor Log Reciprocal Sigmoid Sqrt Tanh: 1; 6 consumed; 13 +bfloat16
Celu: 12; 28 +float16,float64,bfloat16
Clip: 1; 6 consumed; 11 clipInputs; 12 +integers; 13 +bfloat16
Compress: 9; 11 fromBack(axis); 28 +bfloat16
Concat: 1; 4 +others defaultWas(axis, 1); 11 fromBack(axis); 13 +bfloat16
ConcatFromSequence DynamicQuantizeLinear SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert
  SequenceLength: 11
Constant: 1; 9 +others@>0; 11 sparseValue; 12 shortValues; 13 +bfloat16@>0; 19 +float8@>0; 21 +uint4,int4@>0;
  23 +float4e2m1@>0; 24 +float8e8m0@>0; 25 +uint2,int2@>0
ConstantOfShape: 9; 20 +bfloat16,float8@>0; 21 +uint4,int4@>0; 23 +float4e2m1@>0; 24 +float8e8m0@>0; 25 +uint2,int2@>0
Conv: 1; 11; 22 +bfloat16
ConvInteger MatMulInteger QLinearConv StringNormalizer: 10
ConvTranspose: 1; 11 oddPadding; 22 +bfloat16
CumSum: 11; 14 +float16,bfloat16
DFT: 17; 20 signalAxis
DeformConv: 19; 22 +bfloat16
DepthToSpace: 1; 11 option(mode, DCR); 13 +bfloat16; 28
DequantizeLinear: 10; 13 quantizedAxis; 19 +float8@0,2 +float16,bfloat16@1,>0;
  21 +uint16,int16,uint4,int4@0,2 option(block_size, 0); 23 +float4e2m1@0,2 option(output_dtype, 0);
  24 +float8e8m0@1; 25 +uint2,int2@0,2; 28 +float6@0,2
Det Round: 11; 22 +bfloat16
Dropout: 1; 6 consumed; 7 gone(is_test, 1, 0) newer(the operator supports training); 10 dropoutMask;
  12 onlyFirstOutput dropoutInputs; 13 +bfloat16; 22 +float8 +bfloat16,float8@1
Einsum: 12; 28 +bfloat16
Elu HardSigmoid InstanceNormalization: 1; 6 consumed; 22 +bfloat16
Equal: 1; 7 broadcasting; 11 +narrow,uint32,uint64,floats@0,1; 13 +bfloat16@0,1; 19 +string@0,1
Erf: 9; 13 +bfloat16 -integers
Expand: 8; 13 +bfloat16
EyeLike: 9; 22 +bfloat16@*,>*
Flatten: 1; 9 +others; 11 fromBack(axis); 13 +bfloat16; 21 +float8,uint4,int4; 23 +float4e2m1; 24 +float8e8m0;
  25 +uint2,int2
GRU: 1; 3 otherMeaning(linear_before_reset was added in version 3); 7 useless(output_sequence); 14 option(layout, 0);
  22 +bfloat16
Gemm: 1; 6; 7 useless(broadcast) newer(the third input is broadcast); 9 +wide; 11 optionalInput(2, C); 13 +bfloat16
GlobalAveragePool GlobalMaxPool LpNormalization MaxRoiPool Softplus Softsign: 1; 22 +bfloat16
GlobalLpPool: 1; 2 otherMeaning(p must be an integer in version 2 and later); 22 +bfloat16
Greater Less: 1; 7 broadcasting; 9 +integers@0,1; 13 +bfloat16@0,1
GreaterOrEqual LessOrEqual: 12; 16 +bfloat16@0,1
GridSample: 16; 20 ofRank(4) otherWords(mode, bilinear, linear, bicubic, cubic); 22 +bfloat16@*,>*
GroupNormalization: 18; 21 otherMeaning(scale and bias have one element per channel since version 21)
GroupedMatMul: 29
HardSwish: 14; 22 +bfloat16
Hardmax LogSoftmax Softmax: 1; 11 fromBack(axis); 13 +bfloat16 alongOneAxis
Identity: 1; 13 +bfloat16; 14 +sequences; 16 +sequences; 19 +float8; 21 +uint4,int4; 23 +float4e2m1; 24 +float8e8m0;
  25 +uint2,int2
If: 1; 11 newer(the branches may have different output shapes); 13 +sequences@>*; 16 +bfloat16@>*; 19 +float8@>*;
  21 +uint4,int4@>*; 23 +float4e2m1@>*; 24 +float8e8m0@>*; 25 +uint2,int2@>*
IsInf: 10; 20 +float16,bfloat16,float8@0
IsNaN: 9; 13 +bfloat16@0; 20 +float8@0
LRN: 1; 13 +bfloat16
LSTM RNN: 1; 7 useless(output_sequence); 14 option(layout, 0); 22 +bfloat16
LeakyRelu: 1; 6 consumed; 16 +bfloat16
Loop: 1; 11 newer(the condition and the iteration count are optional); 13 +sequences@>*; 16 +bfloat16@>*; 19 +float8@>*;
  21 +uint4,int4@>*; 23 +float4e2m1@>*; 24 +float8e8m0@>*; 25 +uint2,int2@>*
LpPool: 1; 2 otherMeaning(p must be an integer in version 2 and later); 11;
  18 option(ceil_mode, 0) option(dilations, ones); 22 +bfloat16 ignoredWindows
MatMul: 1; 9 +wide; 13 +bfloat16
Max Min: 1; 6 consumed; 8 newer(the inputs are broadcast to each other); 12 +integers; 13 +bfloat16
MaxPool: 1; 8 onlyFirstOutput meaningless(storage_order); 10 option(dilations, ones) option(ceil_mode, 0); 11; 12 +bytes;
  22 +bfloat16 ignoredWindows
MaxUnpool: 9; 11; 22 +bfloat16
Mean Sum: 1; 6 consumed; 8 newer(the inputs are broadcast to each other); 13 +bfloat16
MeanVarianceNormalization Sign: 9; 13 +bfloat16
Mish: 18; 22 +bfloat16
Mod: 10; 13 +bfloat16; 28 flooredFloats
Multinomial: 7; 22 +bfloat16@0
Neg: 1; 6 +signed consumed; 13 +bfloat16
NegativeLogLikelihoodLoss: 12; 13; 22 +bfloat16
NonMaxSuppression: 10; 11
NonZero: 9; 13 +bfloat16@0
Not: 1
OneHot: 9; 11 negativesDiffer(negative indices count from the end of the axis); 28 +bfloat16@2,>0
Optional: 15; 28 +later@0
OptionalGetElement: 15; 18 +all@0; 28 +later
OptionalHasElement: 15; 18 optionalInput(0, input) +all@0; 28 +later@0
PRelu: 1; 6 consumed; 7 otherMeaning(the slope is aligned with the last axis since version 7); 9 +wide; 16 +bfloat16
Pad: 1; 2 padWord; 11 +integers listInput(pads, 1) padValue; 13 +bool,complex64,complex128,string,bfloat16; 18 padAxes;
  19 newWords(mode, wrap); 21 +float8,uint4,int4; 23 +float4e2m1; 24 +float8e8m0; 25 +uint2,int2
Pow: 1; 7 broadcasting; 12 +int32,int64 oneType(0, 1); 13 +bfloat16; 15 +bfloat16@1
QLinearMatMul: 10; 21 +float8@0,2 +float16,bfloat16@1,4,6 +float8@3,5 +float8@7,>0
QuantizeLinear: 10; 13 quantizedAxis;
  19 +float16,bfloat16@0 +int32,float16,bfloat16@1 +float8@2,>0 meaningless(saturate) scaleOfInput;
  21 +uint16,int16,uint4,int4@2,>0 option(output_dtype, 0) option(block_size, 0);
  23 +float4e2m1@2,>0 option(precision, 0) oneType(0, 1); 24 +float8e8m0@1; 25 +uint2,int2@2,>0; 28 +float6@2,>0
RMSNormalization RotaryEmbedding: 23
RandomNormal RandomUniform: 1; 22 +bfloat16@>0
RandomNormalLike RandomUniformLike: 1; 22 +bfloat16@*,>*
Range: 11; 27 +float16,bfloat16 meaningless(stash_type)
ReduceL1 ReduceL2 ReduceMean ReduceProd ReduceSumSquare: 1; 11 fromBack(axes); 13 +bfloat16; 18 reducedAxes
ReduceLogSum ReduceLogSumExp: 1; 11 fromBack(axes); 13 +bfloat16; 18 reducedAxes; 28 -wide
ReduceMax ReduceMin: 1; 11 fromBack(axes); 12 +bytes; 13 +bfloat16; 18 reducedAxes; 20 +bool
ReduceSum: 1; 11 fromBack(axes); 13 +bfloat16 reducedAxes
Relu: 1; 6 consumed; 13 +bfloat16; 14 +signed
Reshape: 1; 5 +others consumed constantInput(shape, 1) listInput(shape, 1); 13 +bfloat16; 14 reshapeZero; 19 +float8;
  21 +uint4,int4; 23 +float4e2m1; 24 +float8e8m0; 25 +uint2,int2
Resize: 10; 11 otherMeaning(Resize has coordinate and rounding modes since version 11);
  13 +bfloat16 lostWords(coordinate_transformation_mode, tf_half_pixel_for_nn) resizeInputs;
  18 option(antialias, 0) option(axes) option(keep_aspect_ratio_policy, stretch);
  19 newWords(coordinate_transformation_mode, half_pixel_symmetric)
ReverseSequence: 10; 28 +bfloat16
RoiAlign: 10; 16 newMeaning(coordinate_transformation_mode, output_half_pixel); 22 +bfloat16
Scan: 8; 9 otherMeaning(Scan has no batch axis since version 9);
  11 axesFromBack(scan_input_axes) axesFromBack(scan_output_axes); 16 +bfloat16@*,>*; 19 +float8@*,>*;
  21 +uint4,int4@*,>*; 23 +float4e2m1@*,>*; 24 +float8e8m0@*,>*; 25 +uint2,int2@*,>*
Selu: 1; 6 otherMeaning(the defaults of alpha and gamma changed in version 6); 22 +bfloat16
Shape: 1; 13 +bfloat16@0; 15 shapeBounds; 19 +float8@0; 21 +uint4,int4@0; 23 +float4e2m1@0; 24 +float8e8m0@0;
  25 +uint2,int2@0
Shrink TfIdfVectorizer: 9
Size: 1; 13 +bfloat16@0; 19 +float8@0; 21 +uint4,int4@0; 23 +float4e2m1@0; 24 +float8e8m0@0; 25 +uint2,int2@0
Slice: 1; 10 onlyValue(4, steps, 1) listInput(starts, 1) listInput(ends, 2) listInput(axes, 3); 11 sliceAxesFromBack;
  13 +bfloat16
SoftmaxCrossEntropyLoss: 12; 13 +bfloat16
SpaceToDepth: 1; 13 +bfloat16; 28 option(mode, DCR)
Split: 1; 2 otherMeaning(the sizes are an attribute since version 2); 11 fromBack(axis); 13 +bfloat16 listInput(split, 1);
  18 splitCount
SplitToSequence: 11; 24 +bfloat16@0
Squeeze: 1; 11 fromBack(axes); 13 +bfloat16 listInput(axes, 1); 21 +float8,uint4,int4; 23 +float4e2m1; 24 +float8e8m0;
  25 +uint2,int2
SwiGLU: 28
Swish: 24
ThresholdedRelu: 10; 22 +bfloat16
Tile: 1; 6 otherMeaning(Tile repeats along all axes since version 6); 13 +bfloat16
TopK: 1; 10 topKInput; 11 +integers option(sorted, 1) option(largest, 1) fromBack(axis); 24 +bfloat16
Transpose: 1; 13 +bfloat16; 21 +float8,uint4,int4; 23 +float4e2m1; 24 +float8e8m0; 25 +uint2,int2
Trilu: 14
Unique: 11; 28 +bfloat16
Unsqueeze: 1; 11 fromBack(axes, added); 13 +bfloat16 listInput(axes, 1); 21 +float8,uint4,int4; 23 +float4e2m1;
  24 +float8e8m0; 25 +uint2,int2
Upsample: 1; 7 otherMeaning(the scales apply to all axes since version 7);
  9 otherMeaning(the scales are an input since version 9); 10 otherMeaning(Resize replaced Upsample in version 10)
Where: 9; 16 +bfloat16@1,2,>0`;

/** A version of an operator, which equals its first opset, with the changes that it brought. */
export interface Change {
  readonly since: number;
  readonly facts: readonly Row[];
}

/** A change by its name, with its settings. */
type Row = readonly [fact: string, ...settings: readonly string[]];

/** The versions of the table's operators, as text. */
export const HISTORIES: ReadonlyMap<string, string> = /* @__PURE__ */ new Map(
  /* @__PURE__ */ TABLE.trim()
    .split(/\n(?! )/u)
    .flatMap((row) => {
      const [names, history] = row.split(": ");
      return names.split(/\s+/u).map((name) => [name, history] as const);
    }),
);

/** The types before `@`, the positions after it, the name of another change, and its settings. */
const FACT = /([+-])([^@\s]+)(?:@(\S+))?|(\w+)(?:\(([^)]*)\))?/gu;

/** Rows that were parsed. Parsing a row takes longer than converting a node. */
const PARSED = new Map<string, readonly Change[]>();

/** Returns an operator's versions, oldest first; none for an operator outside the table. */
export function historyOf(op: string): readonly Change[] {
  const known = PARSED.get(op);
  if (known !== undefined) return known;
  const history = HISTORIES.get(op)?.split(/;\s+/u).map(parseVersion) ?? [];
  if (history.length > 0) PARSED.set(op, history);
  return history;
}

function parseVersion(version: string): Change {
  const [since] = version.split(" ", 1);
  const words = version.slice(since.length).matchAll(FACT);
  const facts = Array.from(words, ([, sign, types, at, name, settings]): Row => {
    if (sign === undefined) return [name, ...(settings?.split(", ") ?? [])];
    return [sign === "+" ? "takes" : "loses", types, ...(at === undefined ? [] : [at])];
  });
  return { since: Number(since), facts };
}

/**
 * Returns the title of an operator's version in an opset, such as `Softmax-11`. An operator outside the table has only
 * its name.
 */
export function titleAt(op: string, opset: number): string {
  const versions = historyOf(op);
  if (versions.length === 0) return op;
  const { since } = versions.findLast((one) => one.since <= opset) ?? versions[0];
  return `${op}-${since}`;
}
