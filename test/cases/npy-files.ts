/**
 * Files that NumPy 1.24.2 wrote (`numpy.lib.format.write_array`), taken apart: what NumPy said in the header, at
 * which byte the elements begin, and the bytes of the elements.
 */

import type { DType } from "../../src/core/tensor/dtype.ts";
import { hexBytes, npyDictionary, npyFile } from "../support/npy-file.ts";

export interface NumpyFile {
  /** The array, in NumPy's words. */
  readonly numpy: string;
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly values: unknown;
  readonly descr: string;
  readonly fortranOrder?: boolean;
  readonly version?: number;
  /** Where the elements begin: NumPy pads the header with blanks up to there. */
  readonly start?: number;
  /** Whether `writeNpy` writes the very bytes of the file: little-endian, C order, version 1.0. */
  readonly canonical?: boolean;
  /** The elements in hexadecimal, one word each (or each part of a complex number, each character of text). */
  readonly bytes: string;
}

/** The file as NumPy wrote it. */
export function fileOf(one: NumpyFile): Uint8Array {
  const { shape, descr, fortranOrder = false, version = 1, start = 128, bytes } = one;
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`;
  const dictionary = npyDictionary(descr, tuple, fortranOrder ? "True" : "False").trimEnd();
  const header = `${dictionary.padEnd(start - (version === 1 ? 11 : 13))}\n`;
  return npyFile(header, hexBytes(bytes), version);
}

// prettier-ignore
const FLOATS = [[1.5, -0, Infinity], [NaN, -2, 0.099975586]];
/** {@link FLOATS} in float16 and float32. */
// prettier-ignore
const ROUNDED = [[1.5, -0, Infinity], [NaN, -2, 0.0999755859375]];
// prettier-ignore
const COMPLEX = [[1, 2], [NaN, -Infinity]];
// prettier-ignore
const TWO_BY_THREE_BY_FOUR = [
  [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]],
  [[12, 13, 14, 15], [16, 17, 18, 19], [20, 21, 22, 23]],
];
const INT64 = [-(2n ** 63n), 2n ** 63n - 1n, 1n];
const UINT64 = [283686952306183n, 2n ** 64n - 1n, 1n];
const ones = (count: number): number[] => Array.from({ length: count }, () => 1);
const TEXTS = ["a", "", "h\u00e9llo", "\ud83d\ude00!"];

// prettier-ignore
export const NUMPY_FILES: readonly NumpyFile[] = [
  { numpy: "np.array([[1.5, -0.0, np.inf], [np.nan, -2, 0.099975586]], '<f2')", dtype: "float16", shape: [2, 3],
    values: ROUNDED, descr: "<f2", canonical: true, bytes: "003e 0080 007c 007e 00c0 662e" },
  { numpy: "np.array([[1.5, -0.0, np.inf], [np.nan, -2, 0.099975586]], '>f2')", dtype: "float16", shape: [2, 3],
    values: ROUNDED, descr: ">f2", bytes: "3e00 8000 7c00 7e00 c000 2e66" },
  { numpy: "np.array([[1.5, -0.0, np.inf], [np.nan, -2, 0.099975586]], '<f4')", dtype: "float32", shape: [2, 3],
    values: ROUNDED, descr: "<f4", canonical: true, bytes: "0000c03f 00000080 0000807f 0000c07f 000000c0 00c0cc3d" },
  { numpy: "np.array([[1.5, -0.0, np.inf], [np.nan, -2, 0.099975586]], '>f4')", dtype: "float32", shape: [2, 3],
    values: ROUNDED, descr: ">f4", bytes: "3fc00000 80000000 7f800000 7fc00000 c0000000 3dccc000" },
  { numpy: "np.array([[1.5, -0.0, np.inf], [np.nan, -2, 0.099975586]], '<f8')", dtype: "float64", shape: [2, 3],
    values: FLOATS, descr: "<f8", canonical: true,
    bytes:
      "000000000000f83f 0000000000000080 000000000000f07f 000000000000f87f 00000000000000c0 " +
      "30b844000098b93f" },
  { numpy: "np.array([[1.5, -0.0, np.inf], [np.nan, -2, 0.099975586]], '>f8')", dtype: "float64", shape: [2, 3],
    values: FLOATS, descr: ">f8",
    bytes:
      "3ff8000000000000 8000000000000000 7ff0000000000000 7ff8000000000000 c000000000000000 " +
      "3fb998000044b830" },
  { numpy: "np.array([1 + 2j, complex(np.nan, -np.inf)], '<c8')", dtype: "complex64", shape: [2], values: COMPLEX,
    descr: "<c8", canonical: true, bytes: "0000803f 00000040 0000c07f 000080ff" },
  { numpy: "np.array([1 + 2j, complex(np.nan, -np.inf)], '>c8')", dtype: "complex64", shape: [2], values: COMPLEX,
    descr: ">c8", bytes: "3f800000 40000000 7fc00000 ff800000" },
  { numpy: "np.array([1 + 2j, complex(np.nan, -np.inf)], '<c16')", dtype: "complex128", shape: [2], values: COMPLEX,
    descr: "<c16", canonical: true, bytes: "000000000000f03f 0000000000000040 000000000000f87f 000000000000f0ff" },
  { numpy: "np.array([1 + 2j, complex(np.nan, -np.inf)], '>c16')", dtype: "complex128", shape: [2], values: COMPLEX,
    descr: ">c16", bytes: "3ff0000000000000 4000000000000000 7ff8000000000000 fff0000000000000" },
  { numpy: "np.array([[1, -128], [127, 0]], 'i1')", dtype: "int8", shape: [2, 2], values: [[1, -128], [127, 0]],
    descr: "|i1", canonical: true, bytes: "01 80 7f 00" },
  { numpy: "np.array([255, 0, 7], 'u1')", dtype: "uint8", shape: [3], values: [255, 0, 7], descr: "|u1",
    canonical: true, bytes: "ff 00 07" },
  { numpy: "np.array([-32768, 32767, 1], '<i2')", dtype: "int16", shape: [3], values: [-32768, 32767, 1],
    descr: "<i2", canonical: true, bytes: "0080 ff7f 0100" },
  { numpy: "np.array([-32768, 32767, 1], '>i2')", dtype: "int16", shape: [3], values: [-32768, 32767, 1],
    descr: ">i2", bytes: "8000 7fff 0001" },
  { numpy: "np.array([-2147483648, 2147483647, 1], '<i4')", dtype: "int32", shape: [3],
    values: [-2147483648, 2147483647, 1], descr: "<i4", canonical: true, bytes: "00000080 ffffff7f 01000000" },
  { numpy: "np.array([-2147483648, 2147483647, 1], '>i4')", dtype: "int32", shape: [3],
    values: [-2147483648, 2147483647, 1], descr: ">i4", bytes: "80000000 7fffffff 00000001" },
  { numpy: "np.array([-9223372036854775808, 9223372036854775807, 1], '<i8')", dtype: "int64", shape: [3],
    values: INT64, descr: "<i8", canonical: true, bytes: "0000000000000080 ffffffffffffff7f 0100000000000000" },
  { numpy: "np.array([-9223372036854775808, 9223372036854775807, 1], '>i8')", dtype: "int64", shape: [3],
    values: INT64, descr: ">i8", bytes: "8000000000000000 7fffffffffffffff 0000000000000001" },
  { numpy: "np.array([258, 65535, 1], '<u2')", dtype: "uint16", shape: [3], values: [258, 65535, 1], descr: "<u2",
    canonical: true, bytes: "0201 ffff 0100" },
  { numpy: "np.array([258, 65535, 1], '>u2')", dtype: "uint16", shape: [3], values: [258, 65535, 1], descr: ">u2",
    bytes: "0102 ffff 0001" },
  { numpy: "np.array([66051, 4294967295, 1], '<u4')", dtype: "uint32", shape: [3], values: [66051, 4294967295, 1],
    descr: "<u4", canonical: true, bytes: "03020100 ffffffff 01000000" },
  { numpy: "np.array([66051, 4294967295, 1], '>u4')", dtype: "uint32", shape: [3], values: [66051, 4294967295, 1],
    descr: ">u4", bytes: "00010203 ffffffff 00000001" },
  { numpy: "np.array([283686952306183, 18446744073709551615, 1], '<u8')", dtype: "uint64", shape: [3], values: UINT64,
    descr: "<u8", canonical: true, bytes: "0706050403020100 ffffffffffffffff 0100000000000000" },
  { numpy: "np.array([283686952306183, 18446744073709551615, 1], '>u8')", dtype: "uint64", shape: [3], values: UINT64,
    descr: ">u8", bytes: "0001020304050607 ffffffffffffffff 0000000000000001" },
  { numpy: "np.array([[True, False], [False, True]])", dtype: "bool", shape: [2, 2],
    values: [[true, false], [false, true]], descr: "|b1", canonical: true, bytes: "01 00 00 01" },
  { numpy: "np.array([0x3F80, 0xC000, 0x7F80], 'u2').view('V2')", dtype: "bfloat16", shape: [3],
    values: [1, -2, Infinity], descr: "|V2", bytes: "803f 00c0 807f" },
  { numpy: "np.array(['a', '', 'h\u00e9llo', '\ud83d\ude00!'], '<U5')", dtype: "string", shape: [4], values: TEXTS,
    descr: "<U5", canonical: true,
    bytes:
      "61000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 " +
      "00000000 68000000 e9000000 6c000000 6c000000 6f000000 00f60100 21000000 00000000 " +
      "00000000 00000000" },
  { numpy: "np.array(['a', '', 'h\u00e9llo', '\ud83d\ude00!'], '>U5')", dtype: "string", shape: [4], values: TEXTS,
    descr: ">U5",
    bytes:
      "00000061 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 " +
      "00000000 00000068 000000e9 0000006c 0000006c 0000006f 0001f600 00000021 00000000 " +
      "00000000 00000000" },
  { numpy: "np.array(['', ''])", dtype: "string", shape: [2], values: ["", ""], descr: "<U1", canonical: true,
    bytes: "00000000 00000000" },
  { numpy: "np.array(['a\\0b'])", dtype: "string", shape: [1], values: ["a\u0000b"], descr: "<U3", canonical: true,
    bytes: "61000000 00000000 62000000" },
  { numpy: "np.asfortranarray(np.arange(6, dtype='i1').reshape(2, 3))", dtype: "int8", shape: [2, 3],
    values: [[0, 1, 2], [3, 4, 5]], descr: "|i1", fortranOrder: true, bytes: "00 03 01 04 02 05" },
  { numpy: "np.asfortranarray(np.arange(24, dtype='>i2').reshape(2, 3, 4))", dtype: "int16", shape: [2, 3, 4],
    values: TWO_BY_THREE_BY_FOUR, descr: ">i2", fortranOrder: true,
    bytes:
      "0000 000c 0004 0010 0008 0014 0001 000d 0005 0011 0009 0015 0002 000e 0006 0012 000a " +
      "0016 0003 000f 0007 0013 000b 0017" },
  { numpy: "np.asfortranarray(np.arange(4, dtype='f4').reshape(2, 1, 2))", dtype: "float32", shape: [2, 1, 2],
    values: [[[0, 1]], [[2, 3]]], descr: "<f4", fortranOrder: true, bytes: "00000000 00000040 0000803f 00004040" },
  { numpy: "np.asfortranarray(np.arange(6, dtype='i8').reshape(3, 2))", dtype: "int64", shape: [3, 2],
    values: [[0n, 1n], [2n, 3n], [4n, 5n]], descr: "<i8", fortranOrder: true,
    bytes:
      "0000000000000000 0200000000000000 0400000000000000 0100000000000000 0300000000000000 " +
      "0500000000000000" },
  { numpy: "np.asfortranarray((np.arange(4) - 1j).reshape(2, 2))", dtype: "complex128", shape: [2, 2],
    values: [[[0, -1], [1, -1]], [[2, -1], [3, -1]]], descr: "<c16", fortranOrder: true,
    bytes:
      "0000000000000000 000000000000f0bf 0000000000000040 000000000000f0bf 000000000000f03f " +
      "000000000000f0bf 0000000000000840 000000000000f0bf" },
  { numpy: "np.asfortranarray(np.array([['a', 'bcd'], ['', 'ef']]))", dtype: "string", shape: [2, 2],
    values: [["a", "bcd"], ["", "ef"]], descr: "<U3", fortranOrder: true,
    bytes:
      "61000000 00000000 00000000 00000000 00000000 00000000 62000000 63000000 64000000 " +
      "65000000 66000000 00000000" },
  { numpy: "version 2.0: np.array([1, 2, 3], 'i4')", dtype: "int32", shape: [3], values: [1, 2, 3], descr: "<i4",
    version: 2, bytes: "01000000 02000000 03000000" },
  { numpy: "version 3.0: np.array([1, 2, 3], 'i4')", dtype: "int32", shape: [3], values: [1, 2, 3], descr: "<i4",
    version: 3, bytes: "01000000 02000000 03000000" },
  { numpy: "np.array(2.5)", dtype: "float64", shape: [], values: 2.5, descr: "<f8", canonical: true,
    bytes: "0000000000000440" },
  { numpy: "np.array(7, '>u8')", dtype: "uint64", shape: [], values: 7n, descr: ">u8", bytes: "0000000000000007" },
  { numpy: "np.array('text')", dtype: "string", shape: [], values: "text", descr: "<U4", canonical: true,
    bytes: "74000000 65000000 78000000 74000000" },
  { numpy: "np.array(True)", dtype: "bool", shape: [], values: true, descr: "|b1", canonical: true, bytes: "01" },
  { numpy: "np.zeros((0,), 'f4')", dtype: "float32", shape: [0], values: [], descr: "<f4", canonical: true, bytes: "" },
  { numpy: "np.zeros((2, 0, 3), 'i8')", dtype: "int64", shape: [2, 0, 3], values: [[], []], descr: "<i8",
    canonical: true, bytes: "" },
  { numpy: "np.asfortranarray(np.zeros((3, 0), '>c16'))", dtype: "complex128", shape: [3, 0], values: [[], [], []],
    descr: ">c16", bytes: "" },
  { numpy: "np.zeros((0, 2), 'U7')", dtype: "string", shape: [0, 2], values: [], descr: "<U7", bytes: "" },
  { numpy: "np.zeros((0,) + (1,) * 31, 'u1')", dtype: "uint8", shape: [0, ...ones(31)], values: [], descr: "|u1",
    start: 192, canonical: true, bytes: "" },
  { numpy: "np.zeros((0,) + (1,) * 11 + (10, 10), 'f4')", dtype: "float32",
    shape: [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 10, 10], values: [], descr: "<f4", start: 192, canonical: true,
    bytes: "" },
  { numpy: "np.zeros((0, 2 ** 40), 'f4')", dtype: "float32", shape: [0, 1099511627776], values: [], descr: "<f4",
    canonical: true, bytes: "" },
];
