/**
 * NPY files. `FILES` was written by NumPy 1.24.2 (`numpy.lib.format.write_array`), so both directions are compared
 * with its very bytes; the rest are files made by hand, and 2,000 files broken at random.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  DTYPES,
  dtypesWhere,
  rowOf,
  type DType,
  type NumericStorage,
} from "../src/tensor/dtype.ts";
import { isTensorError, type ErrorCode } from "../src/errors.ts";
import { readNpy, writeNpy } from "../src/npy/index.ts";
import { bytesOf } from "../src/tensor/storage.ts";
import { equals, tensor, Tensor, zeros } from "../src/tensor/tensor.ts";
import { WITHOUT_NODE } from "./support/platform.ts";

interface NpyFile {
  /** The array, in NumPy's words. */
  readonly numpy: string;
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly values: unknown;
  /** Whether `writeNpy` gives these very bytes: little-endian, C order, version 1.0. */
  readonly canonical?: boolean;
  /** Base64. */
  readonly file: string;
}

// prettier-ignore
const FILES: readonly NpyFile[] = [
  { numpy: "np.array([[1.5, -0.0, np.inf], [np.nan, -2, 0.099975586]], '<f2')", dtype: "float16", shape: [2, 3], values: [[1.5, -0, Infinity], [NaN, -2, 0.0999755859375]], canonical: true,
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPGYyJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsIDMpLCB9ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAPgCAAHwAfgDAZi4=" },
  { numpy: "np.array([[1.5, -0.0, np.inf], [np.nan, -2, 0.099975586]], '>f2')", dtype: "float16", shape: [2, 3], values: [[1.5, -0, Infinity], [NaN, -2, 0.0999755859375]],
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPmYyJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsIDMpLCB9ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAo+AIAAfAB+AMAALmY=" },
  { numpy: "np.array([[1.5, -0.0, np.inf], [np.nan, -2, 0.099975586]], '<f4')", dtype: "float32", shape: [2, 3], values: [[1.5, -0, Infinity], [NaN, -2, 0.0999755859375]], canonical: true,
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPGY0JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsIDMpLCB9ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAMA/AAAAgAAAgH8AAMB/AAAAwADAzD0=" },
  { numpy: "np.array([[1.5, -0.0, np.inf], [np.nan, -2, 0.099975586]], '>f4')", dtype: "float32", shape: [2, 3], values: [[1.5, -0, Infinity], [NaN, -2, 0.0999755859375]],
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPmY0JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsIDMpLCB9ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAo/wAAAgAAAAH+AAAB/wAAAwAAAAD3MwAA=" },
  { numpy: "np.array([[1.5, -0.0, np.inf], [np.nan, -2, 0.099975586]], '<f8')", dtype: "float64", shape: [2, 3], values: [[1.5, -0, Infinity], [NaN, -2, 0.099975586]], canonical: true,
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPGY4JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsIDMpLCB9ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAAAAAAD4PwAAAAAAAACAAAAAAAAA8H8AAAAAAAD4fwAAAAAAAADAMLhEAACYuT8=" },
  { numpy: "np.array([[1.5, -0.0, np.inf], [np.nan, -2, 0.099975586]], '>f8')", dtype: "float64", shape: [2, 3], values: [[1.5, -0, Infinity], [NaN, -2, 0.099975586]],
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPmY4JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsIDMpLCB9ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAo/+AAAAAAAAIAAAAAAAAAAf/AAAAAAAAB/+AAAAAAAAMAAAAAAAAAAP7mYAABEuDA=" },
  { numpy: "np.array([1 + 2j, complex(np.nan, -np.inf)], '<c8')", dtype: "complex64", shape: [2], values: [[1, 2], [NaN, -Infinity]], canonical: true,
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPGM4JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsKSwgfSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAIA/AAAAQAAAwH8AAID/" },
  { numpy: "np.array([1 + 2j, complex(np.nan, -np.inf)], '>c8')", dtype: "complex64", shape: [2], values: [[1, 2], [NaN, -Infinity]],
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPmM4JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsKSwgfSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAo/gAAAQAAAAH/AAAD/gAAA" },
  { numpy: "np.array([1 + 2j, complex(np.nan, -np.inf)], '<c16')", dtype: "complex128", shape: [2], values: [[1, 2], [NaN, -Infinity]], canonical: true,
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPGMxNicsICdmb3J0cmFuX29yZGVyJzogRmFsc2UsICdzaGFwZSc6ICgyLCksIH0gICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAAAAAADwPwAAAAAAAABAAAAAAAAA+H8AAAAAAADw/w==" },
  { numpy: "np.array([1 + 2j, complex(np.nan, -np.inf)], '>c16')", dtype: "complex128", shape: [2], values: [[1, 2], [NaN, -Infinity]],
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPmMxNicsICdmb3J0cmFuX29yZGVyJzogRmFsc2UsICdzaGFwZSc6ICgyLCksIH0gICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAo/8AAAAAAAAEAAAAAAAAAAf/gAAAAAAAD/8AAAAAAAAA==" },
  { numpy: "np.array([[1, -128], [127, 0]], 'i1')", dtype: "int8", shape: [2, 2], values: [[1, -128], [127, 0]], canonical: true,
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnfGkxJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsIDIpLCB9ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoBgH8A" },
  { numpy: "np.array([255, 0, 7], 'u1')", dtype: "uint8", shape: [3], values: [255, 0, 7], canonical: true,
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnfHUxJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDMsKSwgfSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAr/AAc=" },
  { numpy: "np.array([-32768, 32767, 1], '<i2')", dtype: "int16", shape: [3], values: [-32768, 32767, 1], canonical: true,
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPGkyJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDMsKSwgfSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAgP9/AQA=" },
  { numpy: "np.array([-32768, 32767, 1], '>i2')", dtype: "int16", shape: [3], values: [-32768, 32767, 1],
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPmkyJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDMsKSwgfSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAqAAH//AAE=" },
  { numpy: "np.array([-2147483648, 2147483647, 1], '<i4')", dtype: "int32", shape: [3], values: [-2147483648, 2147483647, 1], canonical: true,
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPGk0JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDMsKSwgfSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAACA////fwEAAAA=" },
  { numpy: "np.array([-2147483648, 2147483647, 1], '>i4')", dtype: "int32", shape: [3], values: [-2147483648, 2147483647, 1],
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPmk0JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDMsKSwgfSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAqAAAAAf////wAAAAE=" },
  { numpy: "np.array([-9223372036854775808, 9223372036854775807, 1], '<i8')", dtype: "int64", shape: [3], values: [-9223372036854775808n, 9223372036854775807n, 1n], canonical: true,
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPGk4JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDMsKSwgfSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAAAAAAAAgP////////9/AQAAAAAAAAA=" },
  { numpy: "np.array([-9223372036854775808, 9223372036854775807, 1], '>i8')", dtype: "int64", shape: [3], values: [-9223372036854775808n, 9223372036854775807n, 1n],
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPmk4JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDMsKSwgfSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAqAAAAAAAAAAH//////////AAAAAAAAAAE=" },
  { numpy: "np.array([258, 65535, 1], '<u2')", dtype: "uint16", shape: [3], values: [258, 65535, 1], canonical: true,
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPHUyJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDMsKSwgfSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoCAf//AQA=" },
  { numpy: "np.array([258, 65535, 1], '>u2')", dtype: "uint16", shape: [3], values: [258, 65535, 1],
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPnUyJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDMsKSwgfSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoBAv//AAE=" },
  { numpy: "np.array([66051, 4294967295, 1], '<u4')", dtype: "uint32", shape: [3], values: [66051, 4294967295, 1], canonical: true,
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPHU0JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDMsKSwgfSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoDAgEA/////wEAAAA=" },
  { numpy: "np.array([66051, 4294967295, 1], '>u4')", dtype: "uint32", shape: [3], values: [66051, 4294967295, 1],
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPnU0JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDMsKSwgfSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAQID/////wAAAAE=" },
  { numpy: "np.array([283686952306183, 18446744073709551615, 1], '<u8')", dtype: "uint64", shape: [3], values: [283686952306183n, 18446744073709551615n, 1n], canonical: true,
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPHU4JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDMsKSwgfSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoHBgUEAwIBAP//////////AQAAAAAAAAA=" },
  { numpy: "np.array([283686952306183, 18446744073709551615, 1], '>u8')", dtype: "uint64", shape: [3], values: [283686952306183n, 18446744073709551615n, 1n],
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPnU4JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDMsKSwgfSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAQIDBAUGB///////////AAAAAAAAAAE=" },
  { numpy: "np.array([[True, False], [False, True]])", dtype: "bool", shape: [2, 2], values: [[true, false], [false, true]], canonical: true,
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnfGIxJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsIDIpLCB9ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoBAAAB" },
  { numpy: "np.array([0x3F80, 0xC000, 0x7F80], 'u2').view('V2')", dtype: "bfloat16", shape: [3], values: [1, -2, Infinity],
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnfFYyJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDMsKSwgfSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAqAPwDAgH8=" },
  { numpy: "np.array(['a', '', 'h\u00e9llo', '\ud83d\ude00!'], '<U5')", dtype: "string", shape: [4], values: ["a", "", "h\u00e9llo", "\ud83d\ude00!"], canonical: true,
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPFU1JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDQsKSwgfSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAphAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAaAAAAOkAAABsAAAAbAAAAG8AAAAA9gEAIQAAAAAAAAAAAAAAAAAAAA==" },
  { numpy: "np.array(['a', '', 'h\u00e9llo', '\ud83d\ude00!'], '>U5')", dtype: "string", shape: [4], values: ["a", "", "h\u00e9llo", "\ud83d\ude00!"],
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPlU1JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDQsKSwgfSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAABhAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAaAAAAOkAAABsAAAAbAAAAG8AAfYAAAAAIQAAAAAAAAAAAAAAAA==" },
  { numpy: "np.array(['', ''])", dtype: "string", shape: [2], values: ["", ""], canonical: true,
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPFUxJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsKSwgfSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAAAAAAAAAA==" },
  { numpy: "np.array(['a\\0b'])", dtype: "string", shape: [1], values: ["a\u0000b"], canonical: true,
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPFUzJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDEsKSwgfSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAphAAAAAAAAAGIAAAA=" },
  { numpy: "np.asfortranarray(np.arange(6, dtype='i1').reshape(2, 3))", dtype: "int8", shape: [2, 3], values: [[0, 1, 2], [3, 4, 5]],
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnfGkxJywgJ2ZvcnRyYW5fb3JkZXInOiBUcnVlLCAnc2hhcGUnOiAoMiwgMyksIH0gICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAwEEAgU=" },
  { numpy: "np.asfortranarray(np.arange(24, dtype='>i2').reshape(2, 3, 4))", dtype: "int16", shape: [2, 3, 4], values: [[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]], [[12, 13, 14, 15], [16, 17, 18, 19], [20, 21, 22, 23]]],
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPmkyJywgJ2ZvcnRyYW5fb3JkZXInOiBUcnVlLCAnc2hhcGUnOiAoMiwgMywgNCksIH0gICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAAAMAAQAEAAIABQAAQANAAUAEQAJABUAAgAOAAYAEgAKABYAAwAPAAcAEwALABc=" },
  { numpy: "np.asfortranarray(np.arange(4, dtype='f4').reshape(2, 1, 2))", dtype: "float32", shape: [2, 1, 2], values: [[[0, 1]], [[2, 3]]],
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPGY0JywgJ2ZvcnRyYW5fb3JkZXInOiBUcnVlLCAnc2hhcGUnOiAoMiwgMSwgMiksIH0gICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAAAAAAAAQAAAgD8AAEBA" },
  { numpy: "np.asfortranarray(np.arange(6, dtype='i8').reshape(3, 2))", dtype: "int64", shape: [3, 2], values: [[0n, 1n], [2n, 3n], [4n, 5n]],
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPGk4JywgJ2ZvcnRyYW5fb3JkZXInOiBUcnVlLCAnc2hhcGUnOiAoMywgMiksIH0gICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAAAAAAAAAAIAAAAAAAAABAAAAAAAAAABAAAAAAAAAAMAAAAAAAAABQAAAAAAAAA=" },
  { numpy: "np.asfortranarray((np.arange(4) - 1j).reshape(2, 2))", dtype: "complex128", shape: [2, 2], values: [[[0, -1], [1, -1]], [[2, -1], [3, -1]]],
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPGMxNicsICdmb3J0cmFuX29yZGVyJzogVHJ1ZSwgJ3NoYXBlJzogKDIsIDIpLCB9ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAAAAAAAAAAAAAAAAAPC/AAAAAAAAAEAAAAAAAADwvwAAAAAAAPA/AAAAAAAA8L8AAAAAAAAIQAAAAAAAAPC/" },
  { numpy: "np.asfortranarray(np.array([['a', 'bcd'], ['', 'ef']]))", dtype: "string", shape: [2, 2], values: [["a", "bcd"], ["", "ef"]],
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPFUzJywgJ2ZvcnRyYW5fb3JkZXInOiBUcnVlLCAnc2hhcGUnOiAoMiwgMiksIH0gICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAphAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABiAAAAYwAAAGQAAABlAAAAZgAAAAAAAAA=" },
  { numpy: "version 2.0: np.array([1, 2, 3], 'i4')", dtype: "int32", shape: [3], values: [1, 2, 3],
    file: "k05VTVBZAgB0AAAAeydkZXNjcic6ICc8aTQnLCAnZm9ydHJhbl9vcmRlcic6IEZhbHNlLCAnc2hhcGUnOiAoMywpLCB9ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoBAAAAAgAAAAMAAAA=" },
  { numpy: "version 3.0: np.array([1, 2, 3], 'i4')", dtype: "int32", shape: [3], values: [1, 2, 3],
    file: "k05VTVBZAwB0AAAAeydkZXNjcic6ICc8aTQnLCAnZm9ydHJhbl9vcmRlcic6IEZhbHNlLCAnc2hhcGUnOiAoMywpLCB9ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoBAAAAAgAAAAMAAAA=" },
  { numpy: "np.array(2.5)", dtype: "float64", shape: [], values: 2.5, canonical: true,
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPGY4JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKCksIH0gICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAAAAAAAEQA==" },
  { numpy: "np.array(7, '>u8')", dtype: "uint64", shape: [], values: 7n,
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPnU4JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKCksIH0gICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAAAAAAAABw==" },
  { numpy: "np.array('text')", dtype: "string", shape: [], values: "text", canonical: true,
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPFU0JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKCksIH0gICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAp0AAAAZQAAAHgAAAB0AAAA" },
  { numpy: "np.array(True)", dtype: "bool", shape: [], values: true, canonical: true,
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnfGIxJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKCksIH0gICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoB" },
  { numpy: "np.zeros((0,), 'f4')", dtype: "float32", shape: [0], values: [], canonical: true,
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPGY0JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDAsKSwgfSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAo=" },
  { numpy: "np.zeros((2, 0, 3), 'i8')", dtype: "int64", shape: [2, 0, 3], values: [[], []], canonical: true,
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPGk4JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsIDAsIDMpLCB9ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAo=" },
  { numpy: "np.asfortranarray(np.zeros((3, 0), '>c16'))", dtype: "complex128", shape: [3, 0], values: [[], [], []],
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPmMxNicsICdmb3J0cmFuX29yZGVyJzogRmFsc2UsICdzaGFwZSc6ICgzLCAwKSwgfSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAo=" },
  { numpy: "np.zeros((0, 2), 'U7')", dtype: "string", shape: [0, 2], values: [],
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPFU3JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDAsIDIpLCB9ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAo=" },
  { numpy: "np.zeros((0,) + (1,) * 31, 'u1')", dtype: "uint8", shape: [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], values: [], canonical: true,
    file: "k05VTVBZAQC2AHsnZGVzY3InOiAnfHUxJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDAsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEpLCB9ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAK" },
  { numpy: "np.zeros((0,) + (1,) * 11 + (10, 10), 'f4')", dtype: "float32", shape: [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 10, 10], values: [], canonical: true,
    file: "k05VTVBZAQC2AHsnZGVzY3InOiAnPGY0JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDAsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEsIDEwLCAxMCksIH0gICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAK" },
  { numpy: "np.zeros((0, 2 ** 40), 'f4')", dtype: "float32", shape: [0, 1099511627776], values: [], canonical: true,
    file: "k05VTVBZAQB2AHsnZGVzY3InOiAnPGY0JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDAsIDEwOTk1MTE2Mjc3NzYpLCB9ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAo=" },
];

/** The bytes that are these characters, each below 256. */
const latin1 = (text: string): Uint8Array =>
  Uint8Array.from(text, (character) => character.charCodeAt(0));

const bytesIn = (base64: string): Uint8Array => latin1(atob(base64));

for (const { numpy, dtype, shape, values, canonical, file } of FILES) {
  test(`NumPy's file of ${numpy}`, () => {
    const read = readNpy(bytesIn(file));
    assert.equal(read.dtype, dtype);
    assert.deepEqual(read.shape, shape);
    assert.deepEqual(read.toArray(), values);
    assert.ok(equals(readNpy(writeNpy(read)), read));
    if (canonical) assert.deepEqual(writeNpy(read), bytesIn(file));
  });
}

test("every data type is among NumPy's files", () => {
  assert.deepEqual(
    new Set(FILES.map(({ dtype }) => dtype)),
    new Set(dtypesWhere(({ npy }) => npy !== undefined)),
  );
});

/** A file around a header that is taken as it stands. */
function npy(header: string, payload: ArrayLike<number> = [], version = 1): Uint8Array {
  const text = latin1(header);
  const length =
    version === 1
      ? [text.length & 255, text.length >> 8]
      : [text.length & 255, text.length >> 8, 0, 0];
  return Uint8Array.from([
    0x93,
    ...latin1("NUMPY"),
    version,
    0,
    ...length,
    ...text,
    ...Array.from(payload),
  ]);
}

const dict = (descr: string, shape: string, fortranOrder = "False"): string =>
  `{'descr': '${descr}', 'fortran_order': ${fortranOrder}, 'shape': ${shape}, }\n`;

/** mulberry32: 32 random bits a call, the same in every run. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) % below;
  };
}

for (const dtype of dtypesWhere(({ npy }, name) => npy !== undefined && name !== "string")) {
  test(`bits of ${dtype} survive each byte order and each order of axes`, () => {
    const random = randomFrom(1);
    const shape = [3, 1, 4, 2];
    const data = zeros(dtype, shape);
    const bits = bytesOf(data.data as NumericStorage);
    for (let i = 0; i < bits.length; i++) bits[i] = dtype === "bool" ? random(2) : random(256);
    const { npy: name, bytes, lanes } = rowOf(dtype);
    // Two NaNs with payloads, one of them signalling, in whatever float this is.
    if (bytes > 1) bits.set([1, 0, 0, 0, 0, 0, 0xf0, 0x7f].slice(-bytes));
    if (bytes > 1) bits.set([1, 0, 0x80, 0x7f], bytes);
    assert.ok(equals(readNpy(writeNpy(data)), data));

    const unit = bytes / lanes;
    for (const order of ["<", ">", "=", "|", ""]) {
      for (const fortran of [false, true]) {
        const payload: number[] = [];
        for (let position = 0; position < data.size; position++) {
          // The coordinates of the position-th element, the first axis running fastest when in Fortran order.
          const [a, b, c] = fortran
            ? [position % 3, Math.floor(position / 3) % 4, Math.floor(position / 12)]
            : [Math.floor(position / 8), Math.floor(position / 2) % 4, position % 2];
          const start = (a * 8 + b * 2 + c) * bytes;
          for (let lane = start; lane < start + bytes; lane += unit) {
            const cell = [...bits.subarray(lane, lane + unit)];
            payload.push(...(order === ">" ? cell.reverse() : cell));
          }
        }
        const header = dict(order + name, "(3, 1, 4, 2)", fortran ? "True" : "False");
        assert.ok(equals(readNpy(npy(header, payload)), data), `${header} gives other bits`);
      }
    }
  });
}

const HEADERS: readonly string[] = [
  `{"descr":"<i2","fortran_order":False,"shape":(2,)}`,
  "{'shape': (2L,), 'descr': '<i2', 'fortran_order': False}",
  " \t{ 'shape' : ( 2 , ) , 'fortran_order' : True , 'descr' : 'i2' } \r\n\n",
  "{'descr': '|i2', 'fortran_order': False, 'shape': (2,),}",
  "{'descr': '=i2', 'fortran_order': False, 'shape': (002,)}",
];

for (const header of HEADERS) {
  test(`the header ${JSON.stringify(header)} is read`, () => {
    for (const version of [1, 2, 3]) {
      const read = readNpy(npy(header, [1, 0, 2, 0], version));
      assert.deepEqual(read, tensor("int16", [2], new Int16Array([1, 2])));
    }
  });
}

test("bfloat16 is <V2 and is read from |V2, bool from ?", () => {
  const half = tensor("bfloat16", [2], new Uint16Array([0x7fc1, 0x3f80]));
  assert.match(String.fromCharCode(...writeNpy(half)), /'descr': '<V2'/);
  assert.ok(equals(readNpy(npy(dict("|V2", "(2,)"), [0xc1, 0x7f, 0x80, 0x3f])), half));
  assert.deepEqual(readNpy(npy(dict("?", "(2,)"), [1, 0])).toArray(), [true, false]);
});

test("the elements are a copy, whatever the bytes lie in and whatever follows them", () => {
  const file = [...npy(dict("<i4", "(1,)"), [7, 0, 0, 0]), 1, 2, 3];
  const odd = new Uint8Array(file.length + 1).subarray(1);
  // Neither is everywhere in browsers.
  const shared =
    typeof SharedArrayBuffer === "function"
      ? [new Uint8Array(new SharedArrayBuffer(file.length))]
      : [];
  const nodes = typeof Buffer === "function" ? [Buffer.from(file)] : [];
  for (const bytes of [Uint8Array.from(file), odd, ...shared, ...nodes]) {
    bytes.set(file);
    const read = readNpy(bytes);
    bytes.fill(0xff);
    assert.deepEqual(read, tensor("int32", [1], new Int32Array([7])));
    assert.ok(read.data instanceof Int32Array && read.data.buffer instanceof ArrayBuffer);
  }
});

test("an onnxruntime tensor is written as ours is", () => {
  const data = new Float32Array([1, 2]);
  const foreign = { type: "float32", dims: [2], data };
  assert.deepEqual(writeNpy(foreign), writeNpy(tensor("float32", [2], data)));
});

test("long text, lone surrogates and NULs within survive", () => {
  const texts = ["x\u{1F600}".repeat(5000), "\ud800", "\udc00\ud800", "a\0b", ""];
  const written = tensor("string", [5], texts);
  assert.ok(equals(readNpy(writeNpy(written)), written));
});

interface Refusal {
  readonly name: string;
  readonly file: Uint8Array;
  readonly code?: ErrorCode;
  readonly says: RegExp;
}

const TINY = npy(dict("<f4", "(2,)"), new Uint8Array(8));
const header = (text: string): Uint8Array => npy(text, new Uint8Array(64));
const refused = (descr: string): Uint8Array => header(dict(descr, "(2,)"));
const shaped = (shape: string): Uint8Array => header(dict("<f4", shape));

// prettier-ignore
const REFUSALS: readonly Refusal[] = [
  { name: "nothing", file: new Uint8Array(0), says: /there are no bytes/ },
  { name: "half of the magic", file: TINY.slice(0, 4), says: /only 4 bytes/ },
  { name: "another magic", file: latin1("GIF89a...."), says: /byte 0 is 0x47/ },
  { name: "an npz file", file: latin1("PK\x03\x04......"), says: /npz/ },
  { name: "no version", file: TINY.slice(0, 7), says: /ends after 7 bytes, within its version/ },
  { name: "version 4.0", file: npy(dict("<f4", "(2,)"), [], 4), says: /version 4\.0/ },
  { name: "half of a length", file: TINY.slice(0, 9), says: /the length of its header/ },
  { name: "half of a header", file: TINY.slice(0, 40), says: /ends after 40 bytes/ },
  { name: "a length of 4 GiB", file: Uint8Array.from([0x93, 78, 85, 77, 80, 89, 2, 0, 255, 255, 255, 255]), says: /4294967295 bytes/ },
  { name: "half of the elements", file: TINY.slice(0, -1), says: /promises 8 bytes .* but 7 follow/ },
  { name: "an empty header", file: header(""), says: /ends at byte 10, where '\{'/ },
  { name: "no dictionary", file: header("[]"), says: /has "\[" at byte 10/ },
  { name: "a dictionary that does not end", file: header("{'descr': '<f4', "), says: /where a key in quotes should stand/ },
  { name: "text that does not end", file: header(`{'descr': '${"x".repeat(99)}`), says: /the quote that ends/ },
  { name: "an escape", file: header("{'de\\x73cr': '<f4'}"), says: /a plain ASCII character/ },
  { name: "Latin-1", file: header("{'descr': '<f\xe9'}"), says: /the byte 0xe9 at byte 23/ },
  { name: "two commas", file: header("{'descr': '<f4',,}"), says: /has "," at byte 26/ },
  { name: "no comma", file: header("{'descr': '<f4' 'shape': ()}"), says: /where '}' should stand/ },
  { name: "a missing key", file: header("{'descr': '<f4'}"), says: /lacks fortran_order and shape/ },
  { name: "an extra key", file: header("{'descr': '<f4', 'x': 1}"), says: /has the key 'x'/ },
  { name: "a key of every object", file: header("{'__proto__': '<f4'}"), says: /has the key '__proto__'/ },
  { name: "a key twice", file: header("{'descr': '<f4', 'descr': '<f4'}"), says: /gives 'descr' twice/ },
  { name: "something behind the dictionary", file: header(`${dict("<f4", "(2,)")};`), says: /nothing but blanks/ },
  { name: "a NUL behind the dictionary", file: header(`${dict("<f4", "(2,)")}\0`), says: /the byte 0x00/ },
  { name: "fortran_order 0", file: header(dict("<f4", "(2,)", "0")), says: /True or False/ },
  { name: "a list as shape", file: shaped("[2]"), says: /where '\(' should stand/ },
  { name: "a number as shape", file: shaped("2"), says: /where '\(' should stand/ },
  { name: "a number in brackets as shape", file: shaped("(2)"), says: /\(3,\)/ },
  { name: "a comma as shape", file: shaped("(,)"), says: /a number/ },
  { name: "a fraction", file: shaped("(2.0,)"), says: /has "\."/ },
  { name: "a hexadecimal number", file: shaped("(0x2,)"), says: /has "x"/ },
  { name: "True as a dimension", file: shaped("(True,)"), says: /a number/ },
  { name: "a negative dimension", file: shaped("(2, -3)"), says: /negative dimension, -3/ },
  { name: "65 dimensions", file: shaped(`(${"1, ".repeat(65)})`), says: /more than 64 dimensions/ },
  { name: "2^40 elements", file: shaped("(1099511627776,)"), code: "too-large", says: /1099511627776/ },
  { name: "2^32 elements", file: shaped("(65536, 65536)"), code: "too-large", says: /2\^32 - 1/ },
  { name: "a dimension of 400 digits", file: shaped(`(0, ${"9".repeat(400)})`), code: "too-large", says: /2\^53/ },
  { name: "64 dimensions of 2^40", file: shaped(`(${"1099511627776, ".repeat(64)})`), code: "too-large", says: /2\^32 - 1/ },
  { name: "2^32 - 1 elements", file: shaped("(4294967295,)"), says: /promises 17179869180 bytes/ },
  { name: "2^32 - 1 empty strings", file: header(dict("<U0", "(4294967295,)")), says: /strings of no characters/ },
  { name: "text of 2^29 - 1 characters", file: refused("<U536870911"), says: /promises 4294967288 bytes/ },
  { name: "text of 2^29 characters", file: refused("<U536870912"), says: /no data type that is read/ },
  { name: "text of no length", file: refused("<U"), says: /no data type that is read/ },
  { name: "text of a signed length", file: refused("<U+3"), says: /no data type that is read/ },
  { name: "a structured data type", file: header("{'descr': [('a', '<f4'), ('b', '<i8')], 'fortran_order': False, 'shape': (2,)}"), says: /structured/ },
  { name: "Python objects", file: refused("|O"), says: /'\|O', is Python objects, which need pickle/ },
  { name: "byte strings", file: refused("|S3"), says: /byte strings/ },
  { name: "dates", file: refused("<M8[ns]"), says: /dates/ },
  { name: "durations", file: refused("<m8"), says: /durations/ },
  { name: "raw bytes", file: refused("|V8"), says: /only as V2/ },
  { name: "a long double", file: refused("<f16"), says: /'<f16', is no data type that is read; there are b1 U f2/ },
  { name: "two byte orders", file: refused("<>f4"), says: /no data type/ },
  { name: "an empty descr", file: refused(""), says: /no data type/ },
  { name: "a bool of 2", file: npy(dict("|b1", "(2, 2)"), [1, 0, 1, 2]), says: /byte 2 at \[1, 1\], but a bool is 0 or 1/ },
  { name: "a code point above the last", file: npy(dict("<U2", "(1,)"), [65, 0, 0, 0, 0, 0, 0x11, 0]), says: /0x110000 in the text at \[0\]/ },
  { name: "the greatest code, big-endian", file: npy(dict(">U1", "()"), [255, 255, 255, 255]), says: /0xffffffff/ },
  { name: "two halves of a character", file: npy(dict("<U2", "(1,)"), [0x3d, 0xd8, 0, 0, 0, 0xde, 0, 0]), says: /surrogate pair/ },
];

for (const { name, file, code = "malformed-file", says } of REFUSALS) {
  test(`${name}: ${code}`, () => {
    assert.throws(
      () => readNpy(file),
      (error) =>
        isTensorError(error, code) && says.test(error.message) && !/[.\n]$/.test(error.message),
    );
  });
}

test("text that ends in a NUL is not written", () => {
  const texts = tensor("string", [2, 1], ["a", "b\0"]);
  assert.throws(
    () => writeNpy(texts),
    (error) => isTensorError(error, "dtype") && /\[1, 0\] ends in a NUL/.test(error.message),
  );
});

test("arguments of another kind are told so", () => {
  // As from JavaScript, where no compiler looks.
  const foreign: Record<string, unknown> = { read: readNpy, write: writeNpy };
  const call = (name: string, value: unknown): unknown =>
    Reflect.apply(foreign[name] as () => unknown, null, [value]);
  for (const value of [undefined, null, "text", 7, {}, [0x93], new ArrayBuffer(8)]) {
    assert.throws(
      () => call("read", value),
      (error) => isTensorError(error, "malformed-file"),
    );
    assert.throws(
      () => call("write", value),
      (error) => isTensorError(error, "dtype"),
    );
  }
  const gone = new Uint8Array(8);
  structuredClone(gone.buffer, { transfer: [gone.buffer] });
  assert.throws(
    () => readNpy(gone),
    (error) => isTensorError(error, "malformed-file"),
  );
});

test("a promise that is not kept allocates nothing", { skip: WITHOUT_NODE }, () => {
  const before = process.memoryUsage().arrayBuffers;
  for (const shape of ["(1099511627776,)", "(4294967295,)", "(16777216,)", "(4096, 4096)"]) {
    for (const descr of ["<f8", ">U9", "|u1", "|b1"]) {
      for (const order of ["False", "True"]) {
        const file = npy(dict(descr, shape, order), new Uint8Array(100));
        assert.throws(
          () => readNpy(file),
          (error) => isTensorError(error, "too-large", "malformed-file"),
        );
      }
    }
  }
  const grown = process.memoryUsage().arrayBuffers - before;
  assert.ok(grown < 2 ** 20, `${grown} bytes were allocated`);
});

/** Pieces that mean something in a header, or nearly. */
const PIECES =
  "{ } ( ) , : ' \" \\ - L 9 0 007 99999999 1099511627776 99999999999999999999 True [('a', '<f4')] shape |O > U V2 \xff \0".split(
    " ",
  );

/** A place in the header's dictionary, or near the end, but seldom in the blanks between. */
function placeIn(file: Uint8Array, random: (below: number) => number): number {
  const places = [random(74), file.length - 1 - random(32), random(file.length)];
  return places[random(3)];
}

/** `file` with `piece` in front of the byte at `place`. */
const insert = (file: Uint8Array, place: number, piece: ArrayLike<number>): Uint8Array =>
  Uint8Array.from([...file.slice(0, place), ...Array.from(piece), ...file.slice(place)]);

const MUTATIONS: readonly ((file: Uint8Array, random: (below: number) => number) => Uint8Array)[] =
  [
    function flipBits(file, random) {
      for (let flips = random(3); flips >= 0; flips--)
        file[placeIn(file, random)] ^= 1 << random(8);
      return file;
    },
    function truncate(file, random) {
      return file.slice(0, placeIn(file, random));
    },
    function insertBytes(file, random) {
      const bytes = Array.from({ length: 1 + random(8) }, () => random(256));
      return insert(file, placeIn(file, random), bytes);
    },
    function changeDigit(file, random) {
      // A dimension or the size of an element becomes another.
      const digits = [...file.keys()].filter((i) => file[i] >= 0x30 && file[i] <= 0x39);
      file[digits[random(digits.length)]] = 0x30 + random(10);
      return file;
    },
    function editHeader(file, random) {
      // A piece is put between two characters, often behind a bracket or a digit, and the length set right.
      const piece = latin1(PIECES[random(PIECES.length)]);
      const places = [...file.keys()].filter(
        (i) => i > 12 && i < 80 && /[(\d]/.test(String.fromCharCode(file[i])),
      );
      const place = random(2) === 0 ? 12 + random(60) : places[random(places.length)] + 1;
      const length = (file[8] | (file[9] << 8)) + piece.length;
      file.set([length & 255, length >> 8], 8);
      return insert(file, place, piece);
    },
  ];

test("2,000 files broken at random give a tensor or a TensorError", (context) => {
  const random = randomFrom(20240229);
  const outcomes: Record<string, number> = { read: 0, "malformed-file": 0, "too-large": 0 };
  for (let run = 0; run < 2000; run++) {
    const whole = bytesIn(FILES[random(FILES.length)].file);
    const broken = MUTATIONS[run % MUTATIONS.length](whole, random);
    try {
      const read = readNpy(broken);
      assert.ok(read instanceof Tensor);
      assert.equal(read.data.length, read.size * DTYPES[read.dtype].lanes);
      assert.ok(equals(readNpy(writeNpy(read)), read), `run ${run} does not survive writing`);
      outcomes.read++;
    } catch (error) {
      if (!isTensorError(error, "malformed-file", "too-large")) throw error;
      outcomes[error.code]++;
    }
  }
  context.diagnostic(JSON.stringify(outcomes));
  assert.equal(outcomes.read + outcomes["malformed-file"] + outcomes["too-large"], 2000);
  assert.ok(outcomes.read > 200 && outcomes["malformed-file"] > 200 && outcomes["too-large"] > 0);
});
