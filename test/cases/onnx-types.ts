/**
 * The data types that the operators of ONNX take, as the schemas of ONNX 1.23.1 have them (`onnx.defs`), without the
 * family and without the data types that this package does not have. Of each operator: versions, each with a number for every
 * input and, behind `>`, for every output. A number is a line of `SETS`, of which the empty one stands for sequences,
 * optionals and types that are not here.
 */

// prettier-ignore
export const SETS: readonly string[] = [
  "float16 bfloat16 float32",
  "uint32 int32 uint64 int64 float16 bfloat16 float32 float64",
  "int32 int64",
  "int64",
  "string",
  "float16 bfloat16 float32 float64",
  "uint8 int8 uint16 int16 uint32 int32 uint64 int64",
  "float16 float32 float64",
  "uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 bfloat16 float32 float64",
  "",
  "bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 float32 float64 complex64 complex128 " +
    "string",
  "bfloat16 float32",
  "bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 bfloat16 float32 float64 complex64 " +
    "complex128 string",
  "bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 bfloat16 float32 float64 string",
  "bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float8e4m3fn float8e4m3fnuz float8e5m2 " +
    "float8e5m2fnuz float16 bfloat16 float32 float64 string",
  "bool uint4 int4 uint8 int8 uint16 int16 uint32 int32 uint64 int64 float8e4m3fn float8e4m3fnuz " +
    "float8e5m2 float8e5m2fnuz float16 bfloat16 float32 float64 string",
  "bool uint4 int4 uint8 int8 uint16 int16 uint32 int32 uint64 int64 float4e2m1 float8e4m3fn " +
    "float8e4m3fnuz float8e5m2 float8e5m2fnuz float16 bfloat16 float32 float64 string",
  "bool uint4 int4 uint8 int8 uint16 int16 uint32 int32 uint64 int64 float4e2m1 float8e4m3fn " +
    "float8e4m3fnuz float8e5m2 float8e5m2fnuz float8e8m0 float16 bfloat16 float32 float64 string",
  "bool",
  "bool uint4 int4 uint8 int8 uint16 int16 uint32 int32 uint64 int64 float4e2m1 float8e4m3fn " +
    "float8e4m3fnuz float8e5m2 float8e5m2fnuz float8e8m0 float16 bfloat16 float32 float64 complex64 " +
    "complex128 string",
  "bool uint4 int4 uint8 int8 uint16 int16 uint32 int32 uint64 int64 float4e2m1 float8e4m3fn " +
    "float8e4m3fnuz float8e5m2 float8e5m2fnuz float8e8m0 float16 bfloat16 float32 float64 complex64 " +
    "complex128",
  "uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 float32 float64",
  "float32",
  "uint32 int32 uint64 int64 float32 float64",
  "uint8 int8 int32",
  "uint8 int8 int32 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz",
  "uint4 int4 uint8 int8 uint16 int16 int32 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz",
  "uint4 int4 uint8 int8 uint16 int16 int32 float4e2m1 float8e4m3fn float8e4m3fnuz float8e5m2 " +
    "float8e5m2fnuz",
  "float8e8m0 float16 bfloat16 float32",
  "int32 float32",
  "uint8 int8",
  "int32 float16 bfloat16 float32",
  "uint8 int8 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz",
  "uint4 int4 uint8 int8 uint16 int16 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz",
  "uint4 int4 uint8 int8 uint16 int16 float4e2m1 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz",
  "int32 float8e8m0 float16 bfloat16 float32",
  "int32",
  "bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 bfloat16 float32 float64",
  "float32 float64",
  "float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz float16 bfloat16 float32 float64",
  "bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float8e4m3fn float8e4m3fnuz float8e5m2 " +
    "float8e5m2fnuz float16 bfloat16 float32 float64 complex64 complex128 string",
  "bool uint4 int4 uint8 int8 uint16 int16 uint32 int32 uint64 int64 float8e4m3fn float8e4m3fnuz " +
    "float8e5m2 float8e5m2fnuz float16 bfloat16 float32 float64 complex64 complex128 string",
  "bool uint4 int4 uint8 int8 uint16 int16 uint32 int32 uint64 int64 float4e2m1 float8e4m3fn " +
    "float8e4m3fnuz float8e5m2 float8e5m2fnuz float16 bfloat16 float32 float64 complex64 complex128 " +
    "string",
  "uint32 int32 uint64 int64 float16 float32 float64",
  "uint8 int8 uint32 int32 uint64 int64 float16 float32 float64",
  "uint8 int8 uint32 int32 uint64 int64 float16 bfloat16 float32 float64",
  "bool uint8 int8 uint32 int32 uint64 int64 float16 bfloat16 float32 float64",
  "uint8 int8 float16 float32 float64",
  "uint8 int8 float16 bfloat16 float32 float64",
  "int16 int32 int64 float32 float64",
  "int16 int32 int64 float16 bfloat16 float32 float64",
  "bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 float32 float64",
  "bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 float32 float64 string",
  "int8 int16 int32 int64 float16 float32 float64",
  "int8 int16 int32 int64 float16 bfloat16 float32 float64",
  "int32 int64 string",
  "uint8",
  "bool int32 int64",
  "uint8 uint16 uint32 uint64",
  "bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float8e4m3fn float8e4m3fnuz float8e5m2 " +
    "float8e5m2fnuz float16 bfloat16 float32 float64",
  "bool uint4 int4 uint8 int8 uint16 int16 uint32 int32 uint64 int64 float8e4m3fn float8e4m3fnuz " +
    "float8e5m2 float8e5m2fnuz float16 bfloat16 float32 float64",
  "bool uint4 int4 uint8 int8 uint16 int16 uint32 int32 uint64 int64 float4e2m1 float8e4m3fn " +
    "float8e4m3fnuz float8e5m2 float8e5m2fnuz float16 bfloat16 float32 float64",
  "bool uint4 int4 uint8 int8 uint16 int16 uint32 int32 uint64 int64 float4e2m1 float8e4m3fn " +
    "float8e4m3fnuz float8e5m2 float8e5m2fnuz float8e8m0 float16 bfloat16 float32 float64",
  "bool int32 int64 float16 float32 float64",
  "int32 int64 float16 float32 float64",
  "int32 int64 float16 bfloat16 float32 float64",
  "bool uint2 int2 uint4 int4 uint8 int8 uint16 int16 uint32 int32 uint64 int64 float4e2m1 float8e4m3fn " +
    "float8e4m3fnuz float8e5m2 float8e5m2fnuz float8e8m0 float16 bfloat16 float32 float64 string",
  "bool uint2 int2 uint4 int4 uint8 int8 uint16 int16 uint32 int32 uint64 int64 float4e2m1 float8e4m3fn " +
    "float8e4m3fnuz float8e5m2 float8e5m2fnuz float8e8m0 float16 bfloat16 float32 float64 complex64 " +
    "complex128 string",
  "bool uint2 int2 uint4 int4 uint8 int8 uint16 int16 uint32 int32 uint64 int64 float4e2m1 float8e4m3fn " +
    "float8e4m3fnuz float8e5m2 float8e5m2fnuz float8e8m0 float16 bfloat16 float32 float64 complex64 " +
    "complex128",
  "uint2 int2 uint4 int4 uint8 int8 uint16 int16 int32 float4e2m1 float8e4m3fn float8e4m3fnuz float8e5m2 " +
    "float8e5m2fnuz",
  "uint2 int2 uint4 int4 uint8 int8 uint16 int16 float4e2m1 float8e4m3fn float8e4m3fnuz float8e5m2 " +
    "float8e5m2fnuz",
  "bool uint2 int2 uint4 int4 uint8 int8 uint16 int16 uint32 int32 uint64 int64 float4e2m1 float8e4m3fn " +
    "float8e4m3fnuz float8e5m2 float8e5m2fnuz float8e8m0 float16 bfloat16 float32 float64",
];

// prettier-ignore
export const TYPES = `
Abs 1:7>7 6:21>21 13:8>8
Acos 7:7>7 22:5>5
Acosh 9:7>7 22:5>5
Add 1:7,7>7 6:43,43>43 7:43,43>43 13:1,1>1 14:8,8>8
AffineGrid 20:5,3>5
And 1:18,18>18 7:18,18>18
ArgMax 1:21>3 11:21>3 12:21>3 13:8>3
ArgMin 1:21>3 11:21>3 12:21>3 13:8>3
Asin 7:7>7 22:5>5
Asinh 9:7>7 22:5>5
Atan 7:7>7 22:5>5
Atanh 9:7>7 22:5>5
Attention 23:5,5,5,37,5,5>5,5,5,5 24:5,5,5,37,5,5,3>5,5,5,5 25:5,5,5,37,5,5,3>5,5,5,5
AveragePool 1:7>7 7:7>7 10:7>7 11:7>7 19:7>7 22:5>5
BatchNormalization 1:7,7,7,7,7>7,7,7,7,7 6:7,7,7,7,7>7,7,7,7,7 7:7,7,7,7,7>7,7,7,7,7 9:7,7,7,7,7>7,7,7,7,7
  14:5,5,5,5,5>5,5,5 15:5,5,5,5,5>5,5,5
Bernoulli 15:7>37 22:5>37
BitCast 26:68>68
BitShift 11:58,58>58 28:6,6>6
BitwiseAnd 18:6,6>6
BitwiseNot 18:6>6
BitwiseOr 18:6,6>6
BitwiseXor 18:6,6>6
BlackmanWindow 17:2>8
Cast 1:51>51 6:51>51 9:52>52 13:13>13 19:14>14 21:15>15 23:16>16 24:17>17 25:66>66 28:66>66
CastLike 15:13,13>13 19:14,14>14 21:15,15>15 23:16,16>16 24:17,17>17 25:66,66>66
CausalConvWithState 27:0,0,0,0>0,0
Ceil 1:7>7 6:7>7 13:5>5
Celu 12:22>22 28:5>5
CenterCropPad 18:12,2>12
Clip 1:7>7 6:7>7 11:7,7,7>7 12:21,21,21>21 13:8,8,8>8
Col2Im 18:12,3,3>12
Compress 9:10,18>10 11:10,18>10 28:12,18>12
Concat 1:7>7 4:10>10 11:10>10 13:12>12
ConcatFromSequence 11:9>10
Constant 1:>7 9:>10 11:>10 12:>10 13:>12 19:>40 21:>41 23:>42 24:>19 25:>67
ConstantOfShape 9:3>51 20:3>59 21:3>60 23:3>61 24:3>62 25:3>71
Conv 1:7,7,7>7 11:7,7,7>7 22:5,5,5>5
ConvInteger 10:30,30,30,30>36
ConvTranspose 1:7,7,7>7 11:7,7,7>7 22:5,5,5>5
Cos 7:7>7 22:5>5
Cosh 9:7>7 22:5>5
CumProd 26:1,2>1
CumSum 11:23,2>23 14:1,2>1
DFT 17:5,2>5 20:5,2,3>5
DeformConv 19:7,7,7,7,7>7 22:5,5,5,5,5>5
DepthToSpace 1:10>10 11:10>10 13:12>12 28:12>12
DequantizeLinear 10:24,22,24>22 13:24,22,24>22 19:25,0,25>0 21:26,0,26>0 23:27,0,27>0 24:27,28,27>0
  25:69,28,69>0 28:69,28,69>0
Det 11:7>7 22:5>5
Div 1:7,7>7 6:43,43>43 7:43,43>43 13:1,1>1 14:8,8>8
Dropout 1:7>7,7 6:7>7,7 7:7>7,7 10:7>7,18 12:7,7,18>7,18 13:5,7,18>5,18 22:39,39,18>39,18
DynamicQuantizeLinear 11:22>56,22,56
Einsum 12:21>21 28:8>8
Elu 1:7>7 6:7>7 22:5>5
Equal 1:57,57>18 7:57,57>18 11:51,51>18 13:37,37>18 19:13,13>18
Erf 9:21>21 13:5>5
Exp 1:7>7 6:7>7 13:5>5
Expand 8:10,3>10 13:12,3>12
EyeLike 9:51>51 22:37>37
Flatten 1:7>7 9:10>10 11:10>10 13:12>12 21:41>41 23:42>42 24:19>19 25:67>67
Floor 1:7>7 6:7>7 13:5>5
GRU 1:7,7,7,7,36,7>7,7 3:7,7,7,7,36,7>7,7 7:7,7,7,7,36,7>7,7 14:7,7,7,7,36,7>7,7 22:5,5,5,5,36,5>5,5
Gelu 20:5>5
Gemm 1:7,7,7>7 6:7,7,7>7 7:7,7,7>7 9:43,43,43>43 11:43,43,43>43 13:1,1,1>1
GlobalAveragePool 1:7>7 22:5>5
GlobalLpPool 1:7>7 2:7>7 22:5>5
GlobalMaxPool 1:7>7 22:5>5
Greater 1:7,7>18 7:7,7>18 9:21,21>18 13:8,8>18
GreaterOrEqual 12:21,21>18 16:8,8>18
GridSample 16:10,7>10 20:10,7>10 22:12,5>12
GroupNormalization 18:5,5,5>5 21:5,5,5>5
HammingWindow 17:2>8
HannWindow 17:2>8
HardSigmoid 1:7>7 6:7>7 22:5>5
HardSwish 14:7>7 22:5>5
Hardmax 1:7>7 11:7>7 13:5>5
Identity 1:10>10 13:12>12 14:12>12 16:12>12 19:40>40 21:41>41 23:42>42 24:19>19 25:67>67
If 1:18>10 11:18>10 13:18>10 16:18>12 19:18>40 21:18>41 23:18>42 24:18>19 25:18>67
ImageDecoder 20:56>56
InstanceNormalization 1:7,7,7>7 6:7,7,7>7 22:5,5,5>5
IsInf 10:38>18 20:39>18
IsNaN 9:7>18 13:5>18 20:39>18
LRN 1:7>7 13:5>5
LSTM 1:7,7,7,7,36,7,7,7>7,7,7 7:7,7,7,7,36,7,7,7>7,7,7 14:7,7,7,7,36,7,7,7>7,7,7 22:5,5,5,5,36,5,5,5>5,5,5
LayerNormalization 17:5,5,5>5,11,11
LeakyRelu 1:7>7 6:7>7 16:5>5
Less 1:7,7>18 7:7,7>18 9:21,21>18 13:8,8>18
LessOrEqual 12:21,21>18 16:8,8>18
LinearAttention 27:0,0,0,0,0,0>0,0
Log 1:7>7 6:7>7 13:5>5
LogSoftmax 1:7>7 11:7>7 13:5>5
Loop 1:3,18,10>10 11:3,18,10>10 13:3,18,10>10 16:3,18,12>12 19:3,18,40>40 21:3,18,41>41 23:3,18,42>42
  24:3,18,19>19 25:3,18,67>67
LpNormalization 1:7>7 22:5>5
LpPool 1:7>7 2:7>7 11:7>7 18:7>7 22:5>5
MatMul 1:7,7>7 9:43,43>43 13:1,1>1
MatMulInteger 10:30,30,30,30>36
Max 1:7>7 6:7>7 8:7>7 12:21>21 13:8>8
MaxPool 1:7>7 8:7>7,3 10:7>7,3 11:7>7,3 12:47>47,3 22:48>48,3
MaxRoiPool 1:7,7>7 22:5,5>5
MaxUnpool 9:7,3,3>7 11:7,3,3>7 22:5,3,3>5
Mean 1:7>7 6:7>7 8:7>7 13:5>5
MeanVarianceNormalization 9:7>7 13:5>5
MelWeightMatrix 17:2,2,2,5,5>8
Min 1:7>7 6:7>7 8:7>7 12:21>21 13:8>8
Mish 18:7>7 22:5>5
Mod 10:21,21>21 13:8,8>8 28:8,8>8
Mul 1:7,7>7 6:43,43>43 7:43,43>43 13:1,1>1 14:8,8>8
Multinomial 7:7>2 22:5>2
Neg 1:7>7 6:53>53 13:54>54
NegativeLogLikelihoodLoss 12:7,2,7>7 13:7,2,7>7 22:5,2,5>5
NonMaxSuppression 10:22,22,3,22,22>3 11:22,22,3,22,22>3
NonZero 9:10>3 13:12>3
Not 1:18>18
OneHot 9:21,21,10>10 11:21,21,10>10 28:21,21,12>12
Optional 15:10>9 28:67>9
OptionalGetElement 15:9>10 18:10>10 28:67>67
OptionalHasElement 15:9>18 18:10>18 28:67>18
Or 1:18,18>18 7:18,18>18
PRelu 1:7,7>7 6:7,7>7 7:7,7>7 9:43,43>43 16:1,1>1
Pad 1:7>7 2:7>7 11:21,3,21>21 13:12,3,12>12 18:12,3,12,2>12 19:12,3,12,2>12 21:41,3,41,2>41 23:42,3,42,2>42
  24:19,3,19,2>19 25:67,3,67,2>67
Pow 1:7,7>7 7:7,7>7 12:64,21>64 13:65,21>65 15:65,8>65
QLinearConv 10:30,22,30,30,22,30,22,30,36>30
QLinearMatMul 10:30,22,30,30,22,30,22,30>30 21:32,0,32,32,0,32,0,32>32
QuantizeLinear 10:29,22,30>30 13:29,22,30>30 19:31,31,32>32 21:31,31,33>33 23:31,31,34>34 24:31,35,34>34
  25:31,35,70>70 28:31,35,70>70
RMSNormalization 23:5,5>5
RNN 1:7,7,7,7,36,7>7,7 7:7,7,7,7,36,7>7,7 14:7,7,7,7,36,7>7,7 22:5,5,5,5,36,5>5,5
RandomNormal 1:>7 22:>5
RandomNormalLike 1:10>7 22:12>5
RandomUniform 1:>7 22:>5
RandomUniformLike 1:10>7 22:12>5
Range 11:49,49,49>49 27:50,50,50>50
Reciprocal 1:7>7 6:7>7 13:5>5
ReduceL1 1:43>43 11:43>43 13:1>1 18:1,3>1
ReduceL2 1:43>43 11:43>43 13:1>1 18:1,3>1
ReduceLogSum 1:43>43 11:43>43 13:1>1 18:1,3>1 28:5,3>5
ReduceLogSumExp 1:43>43 11:43>43 13:1>1 18:1,3>1 28:5,3>5
ReduceMax 1:43>43 11:43>43 12:44>44 13:45>45 18:45,3>45 20:46,3>46
ReduceMean 1:43>43 11:43>43 13:1>1 18:1,3>1
ReduceMin 1:43>43 11:43>43 12:44>44 13:45>45 18:45,3>45 20:46,3>46
ReduceProd 1:43>43 11:43>43 13:1>1 18:1,3>1
ReduceSum 1:43>43 11:43>43 13:1,3>1
ReduceSumSquare 1:43>43 11:43>43 13:1>1 18:1,3>1
RegexFullMatch 20:4>18
Relu 1:7>7 6:7>7 13:5>5 14:54>54
Reshape 1:7>7 5:10,3>10 13:12,3>12 14:12,3>12 19:40,3>40 21:41,3>41 23:42,3>42 24:19,3>19 25:67,3>67
Resize 10:10,22>10 11:10,7,22,3>10 13:12,7,22,3>12 18:12,7,22,3>12 19:12,7,22,3>12
ReverseSequence 10:10,3>10 28:12,3>12
RoiAlign 10:7,7,3>7 16:7,7,3>7 22:5,5,3>5
RotaryEmbedding 23:0,0,0,3>0
Round 11:7>7 22:5>5
STFT 17:5,2,5,2>5
Scan 8:3,10>10 9:10>10 11:10>10 16:12>12 19:40>40 21:41>41 23:42>42 24:19>19 25:67>67
Selu 1:7>7 6:7>7 22:5>5
SequenceAt 11:9,2>10
SequenceConstruct 11:10>9
SequenceEmpty 11:>9
SequenceErase 11:9,2>9
SequenceInsert 11:9,10,2>9
SequenceLength 11:9>3
SequenceMap 17:9,10>9
Shape 1:10>3 13:12>3 15:12>3 19:40>3 21:41>3 23:42>3 24:19>3 25:67>3
Shrink 9:21>21
Sigmoid 1:7>7 6:7>7 13:5>5
Sign 9:21>21 13:8>8
Sin 7:7>7 22:5>5
Sinh 9:7>7 22:5>5
Size 1:10>3 13:12>3 19:40>3 21:41>3 23:42>3 24:19>3 25:67>3
Slice 1:10>10 10:10,2,2,2,2>10 11:10,2,2,2,2>10 13:12,2,2,2,2>12
Softmax 1:7>7 11:7>7 13:5>5
SoftmaxCrossEntropyLoss 12:7,2,7>7,7 13:5,2,5>5,5
Softplus 1:7>7 22:5>5
Softsign 1:7>7 22:5>5
SpaceToDepth 1:10>10 13:12>12 28:12>12
Split 1:7,7>7 2:10>10 11:10>10 13:12,3>12 18:12,3>12
SplitToSequence 11:10,2>9 24:12,2>9
Sqrt 1:7>7 6:7>7 13:5>5
Squeeze 1:10>10 11:10>10 13:12,3>12 21:41,3>41 23:42,3>42 24:19,3>19 25:67,3>67
StringConcat 20:4,4>4
StringNormalizer 10:4>4
StringSplit 20:4>4,3
Sub 1:7,7>7 6:43,43>43 7:43,43>43 13:1,1>1 14:8,8>8
Sum 1:7>7 6:7>7 8:7>7 13:5>5
SwiGLU 28:5,5>5
Swish 24:5>5
Tan 7:7>7 22:5>5
Tanh 1:7>7 6:7>7 13:5>5
TfIdfVectorizer 9:55>22
ThresholdedRelu 10:7>7 22:5>5
Tile 1:7,7,7>7 6:10,3>10 13:12,3>12
TopK 1:7>7,3 10:7,3>7,3 11:21,3>21,3 24:8,3>8,3
Transpose 1:10>10 13:12>12 21:41>41 23:42>42 24:19>19 25:67>67
Trilu 14:12,3>12
Unique 11:10>10,3,3,3 28:12>12,3,3,3
Unsqueeze 1:10>10 11:10>10 13:12,3>12 21:41,3>41 23:42,3>42 24:19,3>19 25:67,3>67
Upsample 1:63>63 7:10>10 9:10,22>10 10:10,22>10
Where 9:18,10,10>10 16:18,12,12>12
Xor 1:18,18>18 7:18,18>18
`;
