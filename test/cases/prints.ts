/**
 * What NumPy 2.2.6 makes of the expression beside it: `np.array2string` with `prefix="tensor("`, `suffix=")"`,
 * `separator=", "`, and the rest of its `repr` with our data types. NumPy has no bfloat16: there the digits are the
 * shortest that ml_dtypes reads back, laid out by NumPy's formatter.
 */

import type { DType } from "../../src/core/tensor/dtype.ts";

export interface Print {
  /** The array, in NumPy's words. */
  readonly numpy: string;
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly values: unknown;
  readonly text: readonly string[];
}

const count = (length: number): number[] => Array.from({ length }, (_, i) => i);
const X29 = "x".repeat(29);
const Y30 = "y".repeat(30);

// prettier-ignore
export const PRINTS: readonly Print[] = [
  { numpy: "np.array([[1, 2.5], [3, 4]], 'f4')", dtype: "float32", shape: [2, 2], values: [[1, 2.5], [3, 4]],
    text: [
      "tensor([[1. , 2.5],",
      "        [3. , 4. ]], dtype=float32)",
    ] },
  { numpy: "np.array(5, 'f4')", dtype: "float32", shape: [], values: 5,
    text: [
      "tensor(5., dtype=float32)",
    ] },
  { numpy: "np.array(-0.0)", dtype: "float64", shape: [], values: -0,
    text: [
      "tensor(-0., dtype=float64)",
    ] },
  { numpy: "np.array(True)", dtype: "bool", shape: [], values: true,
    text: [
      "tensor(True, dtype=bool)",
    ] },
  { numpy: "np.array(1 + 2j)", dtype: "complex128", shape: [], values: [[1, 2]],
    text: [
      "tensor(1.+2.j, dtype=complex128)",
    ] },
  { numpy: "np.array('it', object)", dtype: "string", shape: [], values: "it",
    text: [
      "tensor('it', dtype=string)",
    ] },
  { numpy: "np.zeros(0, 'f4')", dtype: "float32", shape: [0], values: [],
    text: [
      "tensor([], dtype=float32)",
    ] },
  { numpy: "np.zeros((0, 3), 'f4')", dtype: "float32", shape: [0, 3], values: [],
    text: [
      "tensor([], shape=(0, 3), dtype=float32)",
    ] },
  { numpy: "np.zeros((2, 0, 3), 'i8')", dtype: "int64", shape: [2, 0, 3], values: [],
    text: [
      "tensor([], shape=(2, 0, 3), dtype=int64)",
    ] },
  { numpy: "np.array([[True, False], [False, True]])", dtype: "bool", shape: [2, 2],
    values: [[true, false], [false, true]],
    text: [
      "tensor([[ True, False],",
      "        [False,  True]], dtype=bool)",
    ] },
  { numpy: "np.array([[-100, 7], [0, 42]], 'i1')", dtype: "int8", shape: [2, 2], values: [[-100, 7], [0, 42]],
    text: [
      "tensor([[-100,    7],",
      "        [   0,   42]], dtype=int8)",
    ] },
  { numpy: "np.array([-2**63, 2**63 - 1, 0])", dtype: "int64", shape: [3], values: [-(2n ** 63n), 2n ** 63n - 1n, 0n],
    text: [
      "tensor([-9223372036854775808,  9223372036854775807,                    0],",
      "       dtype=int64)",
    ] },
  { numpy: "np.array([2**64 - 1], 'u8')", dtype: "uint64", shape: [1], values: [2n ** 64n - 1n],
    text: [
      "tensor([18446744073709551615], dtype=uint64)",
    ] },
  { numpy: "np.arange(8).reshape(2, 2, 2).astype('i4')", dtype: "int32", shape: [2, 2, 2], values: count(8),
    text: [
      "tensor([[[0, 1],",
      "         [2, 3]],",
      "",
      "        [[4, 5],",
      "         [6, 7]]], dtype=int32)",
    ] },
  { numpy: "np.arange(12).reshape(2, 1, 2, 3).astype('u1')", dtype: "uint8", shape: [2, 1, 2, 3], values: count(12),
    text: [
      "tensor([[[[ 0,  1,  2],",
      "          [ 3,  4,  5]]],",
      "",
      "",
      "        [[[ 6,  7,  8],",
      "          [ 9, 10, 11]]]], dtype=uint8)",
    ] },
  { numpy: "np.array([0.1, 1 / 3, 2**24], 'f4')", dtype: "float32", shape: [3], values: [0.1, 1 / 3, 2 ** 24],
    text: [
      "tensor([1.0000000e-01, 3.3333334e-01, 1.6777216e+07], dtype=float32)",
    ] },
  { numpy: "np.array([0.1, 1 / 3, 2])", dtype: "float64", shape: [3], values: [0.1, 1 / 3, 2],
    text: [
      "tensor([0.1       , 0.33333333, 2.        ], dtype=float64)",
    ] },
  { numpy: "np.array([0.1, 1 / 3, 47872], 'f2')", dtype: "float16", shape: [3], values: [0.1, 1 / 3, 47872],
    text: [
      "tensor([9.998e-02, 3.333e-01, 4.787e+04], dtype=float16)",
    ] },
  { numpy: "np.array([1.1015625, 0.1, 232], ml_dtypes.bfloat16)", dtype: "bfloat16", shape: [3],
    values: [1.1015625, 0.1, 232],
    text: [
      "tensor([1.10e+00, 1.00e-01, 2.32e+02], dtype=bfloat16)",
    ] },
  { numpy: "np.array([1e-30, 2.328e8, 1], ml_dtypes.bfloat16)", dtype: "bfloat16", shape: [3],
    values: [1e-30, 2.328e8, 1],
    text: [
      "tensor([9.98e-31, 2.33e+08, 1.00e+00], dtype=bfloat16)",
    ] },
  { numpy: "np.array([2.0**-9, 3 * 2.0**-9])", dtype: "float64", shape: [2], values: [2 ** -9, 3 * 2 ** -9],
    text: [
      "tensor([0.00195312, 0.00585938], dtype=float64)",
    ] },
  { numpy: "np.array([0.99999999999, 1.5])", dtype: "float64", shape: [2], values: [0.99999999999, 1.5],
    text: [
      "tensor([1. , 1.5], dtype=float64)",
    ] },
  { numpy: "np.array([np.nan, np.inf, -np.inf, -0.0, 1.5])", dtype: "float64", shape: [5],
    values: [NaN, Infinity, -Infinity, -0, 1.5],
    text: [
      "tensor([ nan,  inf, -inf, -0. ,  1.5], dtype=float64)",
    ] },
  { numpy: "np.array([np.nan, np.inf], 'f2')", dtype: "float16", shape: [2], values: [NaN, Infinity],
    text: [
      "tensor([nan, inf], dtype=float16)",
    ] },
  { numpy: "np.array([99999999.0])", dtype: "float64", shape: [1], values: [99999999],
    text: [
      "tensor([99999999.], dtype=float64)",
    ] },
  { numpy: "np.array([1e8])", dtype: "float64", shape: [1], values: [1e8],
    text: [
      "tensor([1.e+08], dtype=float64)",
    ] },
  { numpy: "np.array([1e-4], 'f4')", dtype: "float32", shape: [1], values: [1e-4],
    text: [
      "tensor([0.0001], dtype=float32)",
    ] },
  { numpy: "np.array([9e-5, 0])", dtype: "float64", shape: [2], values: [9e-5, 0],
    text: [
      "tensor([9.e-05, 0.e+00], dtype=float64)",
    ] },
  { numpy: "np.array([1.0, 1000])", dtype: "float64", shape: [2], values: [1, 1000],
    text: [
      "tensor([   1., 1000.], dtype=float64)",
    ] },
  // Divided in float16, 1001 is 1000 times the other.
  { numpy: "np.array([1 + 2.0**-10, 1001], 'f2')", dtype: "float16", shape: [2], values: [1 + 2 ** -10, 1001],
    text: ["tensor([   1.001, 1001.   ], dtype=float16)"] },
  { numpy: "np.array([47872, 100], 'f2')", dtype: "float16", shape: [2], values: [47872, 100],
    text: ["tensor([47872.,   100.], dtype=float16)"] },
  { numpy: "np.array([np.nan, 0, -0.0], 'f4')", dtype: "float32", shape: [3], values: [NaN, 0, -0],
    text: ["tensor([nan,  0., -0.], dtype=float32)"] },
  { numpy: "np.array([1e-100, 1e-5])", dtype: "float64", shape: [2], values: [1e-100, 1e-5],
    text: ["tensor([1.e-100, 1.e-005], dtype=float64)"] },
  // The doubles nearest to both powers of ten are below them.
  { numpy: "np.array([1e23, 1.5e23])", dtype: "float64", shape: [2], values: [1e23, 1.5e23],
    text: ["tensor([1.0e+23, 1.5e+23], dtype=float64)"] },
  { numpy: "np.array([1e-7, 1.5e-7])", dtype: "float64", shape: [2], values: [1e-7, 1.5e-7],
    text: ["tensor([1.0e-07, 1.5e-07], dtype=float64)"] },
  { numpy: "np.array([1.0, 1001, np.nan])", dtype: "float64", shape: [3], values: [1, 1001, NaN],
    text: [
      "tensor([1.000e+00, 1.001e+03,       nan], dtype=float64)",
    ] },
  { numpy: "np.array([1e100, -1, 5e-324])", dtype: "float64", shape: [3], values: [1e100, -1, 5e-324],
    text: [
      "tensor([ 1.e+100, -1.e+000,  5.e-324], dtype=float64)",
    ] },
  { numpy: "np.array([2.0**-30, 1], 'f4')", dtype: "float32", shape: [2], values: [2 ** -30, 1],
    text: [
      "tensor([9.313226e-10, 1.000000e+00], dtype=float32)",
    ] },
  { numpy: "np.array([1000000005.0, 1000000015])", dtype: "float64", shape: [2], values: [1000000005, 1000000015],
    text: [
      "tensor([1.00000000e+09, 1.00000002e+09], dtype=float64)",
    ] },
  { numpy: "np.array([1000000004.0, 1000000035, 1000000045])", dtype: "float64", shape: [3],
    values: [1000000004, 1000000035, 1000000045],
    text: ["tensor([1.00000000e+09, 1.00000004e+09, 1.00000004e+09], dtype=float64)"] },
  { numpy: "np.array([1 + 2j, -0.5 - 1.25j], 'c8')", dtype: "complex64", shape: [2], values: [[1, 2], [-0.5, -1.25]],
    text: [
      "tensor([ 1. +2.j  , -0.5-1.25j], dtype=complex64)",
    ] },
  { numpy: "np.array([complex(np.nan, -np.inf), complex(1e10, 0)])", dtype: "complex128", shape: [2],
    values: [[NaN, -Infinity], [1e10, 0]],
    text: [
      "tensor([   nan-infj, 1.e+10 +0.j], dtype=complex128)",
    ] },
  {
    numpy: "np.array(['a', 'it\\'s', '\"', '\"\\'', '\\\\', '\\n\\t\\x00\\x7f', '\\u00e9\\u200b', '\\U0001f600'], object)",
    dtype: "string", shape: [8],
    values: ["a", "it's", '"', "\"'", "\\", "\n\t\x00\x7f", "é\u200b", "😀"],
    text: [
      "tensor(['a', \"it's\", '\"', '\"\\'', '\\\\', '\\n\\t\\x00\\x7f', 'é\\u200b', '😀'],",
      "       dtype=string)",
    ] },
  { numpy: "np.array(['a b\\xa0\\xad\\r', '\\uffff', '\\U0001fffe', '\\ud800'], object)", dtype: "string", shape: [4],
    values: ["a b\xa0\xad\r", "\uffff", "\u{1fffe}", "\ud800"],
    text: ["tensor(['a b\\xa0\\xad\\r', '\\uffff', '\\U0001fffe', '\\ud800'], dtype=string)"] },
  // Lines of 73 characters and of 72, and one character more: a bracket and a comma may follow, or two brackets.
  { numpy: "np.array(['x' * 29, 'y' * 30], object)", dtype: "string", shape: [2], values: [X29, Y30],
    text: [`tensor(['${X29}', '${Y30}'],`, "       dtype=string)"] },
  { numpy: "np.array(['x' * 29 + 'x', 'y' * 30], object)", dtype: "string", shape: [2], values: [`${X29}x`, Y30],
    text: [`tensor(['${X29}x',`, `        '${Y30}'], dtype=string)`] },
  { numpy: "np.array([['x' * 29, 'y' * 28]], object)", dtype: "string", shape: [1, 2], values: [X29, Y30.slice(2)],
    text: [`tensor([['${X29}', '${Y30.slice(2)}']],`, "       dtype=string)"] },
  { numpy: "np.array([['x' * 29, 'y' * 29]], object)", dtype: "string", shape: [1, 2], values: [X29, Y30.slice(1)],
    text: [`tensor([['${X29}',`, `         '${Y30.slice(1)}']], dtype=string)`] },
  { numpy: "np.array('y' * 51, object)", dtype: "string", shape: [], values: Y30.slice(9) + Y30,
    text: [`tensor('${Y30.slice(9)}${Y30}', dtype=string)`] },
  { numpy: "np.array('y' * 52, object)", dtype: "string", shape: [], values: Y30.slice(8) + Y30,
    text: [`tensor('${Y30.slice(8)}${Y30}',`, "       dtype=string)"] },
  { numpy: "np.array(['😀' * 20] * 4, object)", dtype: "string", shape: [4], values: count(4).map(() => "😀".repeat(20)),
    text: [
      "tensor(['😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀', '😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀',",
      "        '😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀', '😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀'], dtype=string)",
    ] },
  { numpy: "np.arange(30) / 4", dtype: "float64", shape: [30], values: count(30).map((i) => i / 4),
    text: [
      "tensor([0.  , 0.25, 0.5 , 0.75, 1.  , 1.25, 1.5 , 1.75, 2.  , 2.25, 2.5 ,",
      "        2.75, 3.  , 3.25, 3.5 , 3.75, 4.  , 4.25, 4.5 , 4.75, 5.  , 5.25,",
      "        5.5 , 5.75, 6.  , 6.25, 6.5 , 6.75, 7.  , 7.25], dtype=float64)",
    ] },
  { numpy: "np.arange(40).reshape(2, 20).astype('i2')", dtype: "int16", shape: [2, 20], values: count(40),
    text: [
      "tensor([[ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15,",
      "         16, 17, 18, 19],",
      "        [20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35,",
      "         36, 37, 38, 39]], dtype=int16)",
    ] },
  { numpy: "np.arange(14).astype('u2')", dtype: "uint16", shape: [14], values: count(14),
    text: [
      "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13],",
      "       dtype=uint16)",
    ] },
  { numpy: "np.arange(15).astype('u2') + 10", dtype: "uint16", shape: [15], values: count(15).map((i) => i + 10),
    text: [
      "tensor([10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24],",
      "       dtype=uint16)",
    ] },
  { numpy: "np.arange(16).astype('u2') + 10", dtype: "uint16", shape: [16], values: count(16).map((i) => i + 10),
    text: [
      "tensor([10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25],",
      "       dtype=uint16)",
    ] },
  { numpy: "np.arange(1001)", dtype: "int64", shape: [1001], values: count(1001),
    text: [
      "tensor([   0,    1,    2, ...,  998,  999, 1000],",
      "       shape=(1001,), dtype=int64)",
    ] },
  { numpy: "(np.arange(2000) / 8).reshape(40, 50).astype('f4')", dtype: "float32", shape: [40, 50],
    values: count(2000).map((i) => i / 8),
    text: [
      "tensor([[0.00000e+00, 1.25000e-01, 2.50000e-01, ..., 5.87500e+00,",
      "         6.00000e+00, 6.12500e+00],",
      "        [6.25000e+00, 6.37500e+00, 6.50000e+00, ..., 1.21250e+01,",
      "         1.22500e+01, 1.23750e+01],",
      "        [1.25000e+01, 1.26250e+01, 1.27500e+01, ..., 1.83750e+01,",
      "         1.85000e+01, 1.86250e+01],",
      "        ...,",
      "        [2.31250e+02, 2.31375e+02, 2.31500e+02, ..., 2.37125e+02,",
      "         2.37250e+02, 2.37375e+02],",
      "        [2.37500e+02, 2.37625e+02, 2.37750e+02, ..., 2.43375e+02,",
      "         2.43500e+02, 2.43625e+02],",
      "        [2.43750e+02, 2.43875e+02, 2.44000e+02, ..., 2.49625e+02,",
      "         2.49750e+02, 2.49875e+02]], shape=(40, 50), dtype=float32)",
    ] },
  { numpy: "np.arange(1200).reshape(6, 200).astype('i2')", dtype: "int16", shape: [6, 200], values: count(1200),
    text: [
      "tensor([[   0,    1,    2, ...,  197,  198,  199],",
      "        [ 200,  201,  202, ...,  397,  398,  399],",
      "        [ 400,  401,  402, ...,  597,  598,  599],",
      "        [ 600,  601,  602, ...,  797,  798,  799],",
      "        [ 800,  801,  802, ...,  997,  998,  999],",
      "        [1000, 1001, 1002, ..., 1197, 1198, 1199]],",
      "       shape=(6, 200), dtype=int16)",
    ] },
  { numpy: "np.arange(1008).reshape(7, 2, 72).astype('u4')", dtype: "uint32", shape: [7, 2, 72], values: count(1008),
    text: [
      "tensor([[[   0,    1,    2, ...,   69,   70,   71],",
      "         [  72,   73,   74, ...,  141,  142,  143]],",
      "",
      "        [[ 144,  145,  146, ...,  213,  214,  215],",
      "         [ 216,  217,  218, ...,  285,  286,  287]],",
      "",
      "        [[ 288,  289,  290, ...,  357,  358,  359],",
      "         [ 360,  361,  362, ...,  429,  430,  431]],",
      "",
      "        ...,",
      "",
      "        [[ 576,  577,  578, ...,  645,  646,  647],",
      "         [ 648,  649,  650, ...,  717,  718,  719]],",
      "",
      "        [[ 720,  721,  722, ...,  789,  790,  791],",
      "         [ 792,  793,  794, ...,  861,  862,  863]],",
      "",
      "        [[ 864,  865,  866, ...,  933,  934,  935],",
      "         [ 936,  937,  938, ..., 1005, 1006, 1007]]],",
      "       shape=(7, 2, 72), dtype=uint32)",
    ] },
  { numpy: "np.arange(1200).reshape(1200, 1).astype('f2')", dtype: "float16", shape: [1200, 1], values: count(1200),
    text: [
      "tensor([[0.000e+00],",
      "        [1.000e+00],",
      "        [2.000e+00],",
      "        ...,",
      "        [1.197e+03],",
      "        [1.198e+03],",
      "        [1.199e+03]], shape=(1200, 1), dtype=float16)",
    ] },
];
