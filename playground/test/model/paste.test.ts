/** Pasted text, as NumPy, torch, JavaScript and spreadsheets write arrays. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { DType } from "ndscatter";
import { withPaste, withText } from "../../src/reading/paste.ts";
import type { TensorText } from "../../src/values/state.ts";
import { textOf, tensorOf } from "../../src/values/tensor-text.ts";
import { tensorTexts } from "./states.ts";

const into = (dtype: DType) => ({ dtype, shape: [1], values: ["0"] });

type Row = readonly [
  text: string,
  dtype: DType,
  shape: readonly number[],
  values: string,
  as?: DType,
];

// prettier-ignore
const TAKEN: readonly Row[] = [
  ["[[1, 2], [3, 4]]", "float32", [2, 2], "1 2 3 4"],
  ["[[1, 2], [3, 4],]", "float32", [2, 2], "1 2 3 4"],
  ["((1, 2), (3, 4))", "int32", [2, 2], "1 2 3 4"],
  ["[(1, 2), (3, 4)]", "int32", [2, 2], "1 2 3 4"],
  ["(5,)", "int32", [1], "5"],
  ["(5)", "int32", [], "5"],
  ["7", "int32", [], "7"],
  ["{{1, 2}, {3, 4}}", "int32", [2, 2], "1 2 3 4"],
  ["[]", "float32", [0], ""],
  ["[[], []]", "float32", [2, 0], ""],
  ["array([[1, 2], [3, 4]], dtype=int64)", "int64", [2, 2], "1 2 3 4"],
  ["array([[1, 2],\n       [3, 4]], dtype=int64)", "float32", [2, 2], "1 2 3 4", "int64"],
  ["np.array([1., 2.5, -0., nan, inf], dtype=np.float16)", "float32", [5], "1 2.5 -0 nan inf", "float16"],
  ["array([], shape=(0, 3), dtype=float64)", "float32", [0, 3], "", "float64"],
  ["array(['a', \"b'c\", 'd\\n'], dtype='<U3')", "string", [3], "a b'c d\n"],
  ["array([ True, False])", "bool", [2], "true false"],
  ["array([1.+2.j, 0.-1.j], dtype=complex64)", "complex64", [2], "1+2j 0-1j"],
  ["[(1+2j), (3-4j)]", "complex128", [2], "1+2j 3-4j"],
  ["array(5)", "int32", [], "5"],
  ["[[1. 2.]\n [3. 4.]]", "float32", [2, 2], "1 2 3 4"],
  ["[np.float32(1.5), np.float32(2.0)]", "float32", [2], "1.5 2"],
  ["[np.True_, np.False_]", "bool", [2], "true false"],
  ["[np.nan, -np.inf]", "float32", [2], "nan -inf"],
  ["tensor([[1., 2.]], device='cuda:0', requires_grad=True)", "float32", [1, 2], "1 2"],
  ["tensor([1, 2], dtype=torch.int32)", "int64", [2], "1 2", "int32"],
  ["tensor([1, 2], dtype=torch.long)", "int32", [2], "1 2", "int64"],
  ["Array([1, 2], dtype=int32)", "int64", [2], "1 2", "int32"],
  ["<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>", "int64", [2], "1 2", "int32"],
  ["Float32Array(3) [ 1, 2.5, 3 ]", "float64", [3], "1 2.5 3", "float32"],
  ["new Float32Array([1, 2])", "float64", [2], "1 2", "float32"],
  ["Uint8Array [ 1, 2 ]", "int32", [2], "1 2", "uint8"],
  ["BigInt64Array(2) [ 1n, -2n ]", "int32", [2], "1 -2", "int64"],
  ["9223372036854775807", "int64", [], "9223372036854775807"],
  ["[0xff, 1_000]", "int32", [2], "255 1000"],
  ["1\t2\n3\t4\n", "int32", [2, 2], "1 2 3 4"],
  ["1, 2, 3", "int32", [3], "1 2 3"],
  ["1\n2\n3\n", "int32", [3], "1 2 3"],
  ["1,2;3,4", "int32", [2, 2], "1 2 3 4"],
  ["[1e-05, 1E3]", "float32", [2], "0.00001 1000"],
  ["[0.1]", "float32", [1], "0.1"],
  ["[\u22121]", "int32", [1], "-1"],
  // With the names that programs and prints give.
  ["x = np.array([[1,2],[3,4]])", "float32", [2, 2], "1 2 3 4"],
  ["const x = [[1, 2], [3, 4]];", "float32", [2, 2], "1 2 3 4"],
  ["x: Tensor = [1, 2]", "float32", [2], "1 2"],
  ["data: tensor([1., 2.])", "float32", [2], "1 2"],
  ["data: 1 2 3", "float32", [3], "1 2 3"],
  ["self.weight = 5", "float32", [], "5"],
  ["Parameter containing:\ntensor([[1., 2.],\n        [3., 4.]], requires_grad=True)", "float32", [2, 2], "1 2 3 4"],
  ["tensor([1., 2.], grad_fn=<AddBackward0>)", "float32", [2], "1 2"],
  ["tensor([], size=(0, 3), dtype=torch.int64)", "float32", [0, 3], "", "int64"],
  ["torch.LongTensor([1, 2])", "int64", [2], "1 2"],
  ["tf.constant([1, 2, 3, 4], shape=[2, 2])", "int32", [2, 2], "1 2 3 4"],
  ["tf.tensor2d([1, 2, 3, 4], [2, 2])", "int32", [2, 2], "1 2 3 4"],
  ["tensor(\"int32\", [2, 2], [1, 2, 3, 4])", "int32", [2, 2], "1 2 3 4"],
  ["array(5, dtype=int32)", "int64", [], "5", "int32"],
  ["np.array([1, 2], dtype=float)", "float32", [2], "1 2", "float64"],
];

for (const [text, dtype, shape, values, as = dtype] of TAKEN) {
  test(`taken: ${text}`, () => {
    const edited = withText(into(dtype), text);
    assert.deepEqual(edited, {
      input: { dtype: as, shape, values: values === "" ? [] : values.split(" ") },
    });
  });
}

test("an element that the data type cannot hold stays as it was written", () => {
  assert.deepEqual(withText(into("uint8"), "[1., 300]"), {
    input: { dtype: "uint8", shape: [2], values: ["1.", "300"] },
  });
});

// prettier-ignore
const REFUSED: readonly (readonly [text: string, sentence: RegExp])[] = [
  ["", /^line 1, column 1: expected a value, but the text ends$/],
  ["[1, 2", /^line 1, column 6: expected a value, but the text ends$/],
  ["[[1, 2],\n [3]]", /^line 2, column 2: expected a list of shape \[2\], like the first element, got .* \[1\]$/],
  ["[1, [2]]", /^line 1, column 5: expected an element, like the first element, got a list of shape \[1\]$/],
  ["[1, x]", /^line 1, column 5: "x" is not a value of float32$/],
  ["[1, , 2]", /^line 1, column 5: expected a value, got ,$/],
  ["[1, 2)]", /^line 1, column 6: expected \], got \)$/],
  ["[1, 2] 3", /^line 1, column 8: expected the end of the text, got 3$/],
  ["['a", /^line 1, column 2: the closing quote is missing$/],
  ["array([1, ..., 9])", /^line 1, column 11: the array is abbreviated with \.\.\.: print the whole array$/],
  ["[[[[[[1]]]]]]", /up to 5 axes/],
  ["[[[[[[[[[[1]]]]]]]]]]", /^line 1, column 10: brackets are nested 9 deep$/],
  ["[[1, 2],\n[3, 4], [5]]", /^line 2, column 9/],
  ["1 2\n3", /^line 2, column 1: expected a list of shape \[2\], like the first element, got .* \[1\]$/],
  ["array([1, 2], shape=(3,))", /says shape=\[3\], but has 2 elements/],
  ["np.random.rand(3)", /^line 1, column 1: np.random.rand is not supported here: print the array/],
  ["np.array([1, 2], ndmin=2)", /the argument ndmin is not supported here/],
  ["np.array([1, 2], dtype='datetime64')", /expected a data type/],
  ["np.array([1, 2]).astype(int)", /\.astype is not supported here/],
  ["np.array([1, 2]) * 2", /^line 1, column 18: expected the end of the text, got \*$/],
  ["[[1, 2][0], 3]", /expected a list of shape \[2\]/],
  ["array([1, 2], shape=(-3,))", /expected a size/],
  ["x = [np.sin(1)]", /^line 1, column 6: np.sin is not supported here/],
  ["[2*3]", /"2\*3" is not a value of float32/],
  ["x = ", /expected a value, but the text ends$/],
  [`[${"0,".repeat(20_001)}]`, /up to 20,000 elements/],
];

for (const [text, sentence] of REFUSED) {
  test(`refused: ${text.slice(0, 40)}`, () => {
    const edited = withText(into("float32"), text);
    assert.ok("error" in edited);
    assert.match(edited.error, sentence);
  });
}

test("20,000 elements are read", () => {
  const row = `[${"1.5, ".repeat(200)}]`;
  const edited = withText(into("float32"), `[${`${row},\n`.repeat(100)}]`);
  assert.ok("input" in edited);
  assert.deepEqual(edited.input.shape, [100, 200]);
});

test("what a tensor prints is read as the same tensor", () => {
  fc.assert(
    fc.property(
      tensorTexts(fc.constantFrom("bool", "string", "int8", "int64", "uint64", "uint4")),
      (text) => {
        // No floats, because only 8 digits of them are printed.
        const { tensor } = tensorOf(text, "it");
        const edited = withText(into("float64"), String(tensor));
        assert.ok("input" in edited, String(tensor));
        assert.deepEqual(edited.input, textOf(tensor));
      },
    ),
  );
});

for (const [name, text] of [
  ["calls", "array(".repeat(300_000)],
  ["a word", "a".repeat(1_999_999)],
  ["an argument", `array(1,${"a".repeat(1_000_000)}!b)`],
  ["an open text", `['${"a".repeat(1_999_990)}`],
  ["a closed text", `['${"a".repeat(1_999_990)}']`],
  ["escapes", `['${"\\n".repeat(900_000)}']`],
  ["names", `<tf.${"numpy=".repeat(300_000)}`],
] as const) {
  // Each takes less than half a second; quadratic time would be hours, and the limit of the whole run ends it.
  test(`the longest text that is taken, of ${name} only, is read`, () => {
    assert.ok(Object.keys(withText(into("float32"), text)).length > 0);
  });
}

const SQUARE = { dtype: "int32", shape: [2, 3], values: ["0", "1", "2", "3", "4", "5"] } as const;
const VECTOR = { dtype: "int32", shape: [3], values: ["0", "1", "2"] } as const;
const WORDS = { dtype: "string", shape: [2, 2], values: ["a", "b", "c", "d"] } as const;
const CUBE = { dtype: "int32", shape: [2, 2, 2], values: [..."01234567"] } as const;
const ONE = { dtype: "int32", shape: [], values: ["0"] } as const;

type Paste = readonly [
  input: TensorText,
  element: number | null,
  text: string,
  shape: readonly number[],
  values: string,
];

// prettier-ignore
const PASTES: readonly Paste[] = [
  [SQUARE, 0, "7,8,9", [2, 3], "7 8 9 3 4 5"],
  [SQUARE, 4, "7\t8", [2, 3], "0 1 2 3 7 8"],
  [SQUARE, 1, "7\t8\n9\t10\n", [2, 3], "0 7 8 3 9 10"],
  [SQUARE, 1, "7\n8", [2, 3], "0 7 2 3 8 5"],
  [SQUARE, 5, "7", [2, 3], "0 1 2 3 4 7"],
  [SQUARE, 5, "(7)", [2, 3], "0 1 2 3 4 7"],
  [SQUARE, 5, "np.int64(7)", [2, 3], "0 1 2 3 4 7"],
  [SQUARE, 5, "[7, 8]", [2], "7 8"],
  [SQUARE, null, "7,8,9", [3], "7 8 9"],
  [SQUARE, null, "7", [], "7"],
  [VECTOR, 1, "7 8", [3], "0 7 8"],
  [VECTOR, 0, "7\n8\n9", [3], "7 8 9"],
  [CUBE, 4, "8 9\n10 11", [2, 2, 2], "0 1 2 3 8 9 10 11"],
  [ONE, 0, "9", [], "9"],
  [WORDS, 0, "it's (so)", [2, 2], "it's (so)|b|c|d"],
  [WORDS, 0, "['x', 'y']", [2], "x|y"],
  [WORDS, 2, "x y, z", [2, 2], "a|b|x y, z|d"],
  [WORDS, 0, "x\ty\r\nz\tw\r\n", [2, 2], "x|y|z|w"],
];

for (const [input, element, text, shape, values] of PASTES) {
  test(`${JSON.stringify(text)} on element ${element} of [${input.shape.join(", ")}]`, () => {
    assert.deepEqual(withPaste(input, element, text), {
      input: { ...input, shape, values: values.split(input.dtype === "string" ? "|" : " ") },
    });
  });
}

// prettier-ignore
const PASTES_REFUSED: readonly (readonly [TensorText, number, string, RegExp])[] = [
  [SQUARE, 1, "7,8,9", /^the block \[1, 3\] at \[0, 1\] does not fit into \[2, 3\]: enlarge the tensor, or/],
  [SQUARE, 3, "7\n8", /^the block \[2, 1\] at \[1, 0\] does not fit/],
  [CUBE, 2, "8 9\n10 11", /^the block \[2, 2\] at \[0, 1, 0\] does not fit into \[2, 2, 2\]/],
  [SQUARE, 0, "7 8\n9", /^line 2, column 1: expected a list of shape \[2\]/],
  [SQUARE, 0, "7 x", /^line 1, column 3: "x" is not a value of int32$/],
  [SQUARE, 0, "", /expected a value/],
  [ONE, 0, "1 2", /does not fit into \[\]/],
];

for (const [input, element, text, sentence] of PASTES_REFUSED) {
  test(`refused: ${JSON.stringify(text)} on element ${element} of [${input.shape.join(", ")}]`, () => {
    const edited = withPaste(input, element, text);
    assert.ok("error" in edited);
    assert.match(edited.error, sentence);
  });
}
