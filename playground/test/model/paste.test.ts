/** Pasted text, as NumPy, torch, JavaScript and spreadsheets write arrays. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { DType } from "ndscatter";
import { withText } from "../../src/model/paste.ts";
import { textOf, tensorOf } from "../../src/model/tensor-text.ts";
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
  ["[[1, 2],\n [3]]", /^line 2, column 2: expected a list of the shape \[2\], as the first one is, got .* \[1\]$/],
  ["[1, [2]]", /^line 1, column 5: expected an element, as the first one is, got a list of the shape \[1\]$/],
  ["[1, x]", /^line 1, column 5: "x" is no value of float32$/],
  ["[1, , 2]", /^line 1, column 5: expected a value, got ,$/],
  ["[1, 2)]", /^line 1, column 6: expected \], got \)$/],
  ["[1, 2] 3", /^line 1, column 8: expected the end of the text, got 3$/],
  ["['a", /^line 1, column 2: there is no closing quote$/],
  ["array([1, ..., 9])", /^line 1, column 11: elements are left out here: print the whole array$/],
  ["[[[[[[1]]]]]]", /up to 5 axes/],
  ["[[[[[[[[[[1]]]]]]]]]]", /^line 1, column 10: brackets are nested 9 deep$/],
  ["[[1, 2],\n[3, 4], [5]]", /^line 2, column 9/],
  ["1 2\n3", /^line 2, column 1: expected a list of the shape \[2\], as the first one is, got .* \[1\]$/],
  ["array([1, 2], shape=(3,))", /says shape=\[3\], but has 2 elements/],
  [`[${"0,".repeat(20_001)}]`, /up to 20,000 elements/],
];

for (const [text, sentence] of REFUSED) {
  test(`refused: ${text.slice(0, 40)}`, () => {
    const edited = withText(into("float32"), text);
    assert.ok("error" in edited);
    assert.match(edited.error, sentence);
  });
}

test("20,000 elements are read in less than 5 s", () => {
  const start = performance.now();
  const row = `[${"1.5, ".repeat(200)}]`;
  const edited = withText(into("float32"), `[${`${row},\n`.repeat(100)}]`);
  assert.ok("input" in edited);
  assert.deepEqual(edited.input.shape, [100, 200]);
  // It takes 30 ms; quadratic time would be minutes.
  assert.ok(performance.now() - start < 5000);
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
  ["brackets", "[".repeat(1_999_999)],
  ["calls", "array(".repeat(300_000)],
  ["words", "new ".repeat(450_000)],
  ["commas", ",".repeat(1_999_999)],
  ["blanks", `1${" ".repeat(1_999_998)}`],
  ["a word", "a".repeat(1_999_999)],
  ["an argument", `array(1,${"a".repeat(1_000_000)}!b)`],
  ["an open text", `['${"a".repeat(1_999_990)}`],
  ["a closed text", `['${"a".repeat(1_999_990)}']`],
  ["escapes", `['${"\\n".repeat(900_000)}']`],
  ["names", `<tf.${"numpy=".repeat(300_000)}`],
  ["lines", "\n".repeat(1_999_999)],
] as const) {
  test(`the longest text that is taken, of ${name} only, is read in less than 10 s`, () => {
    const start = performance.now();
    withText(into("float32"), text);
    // Each takes less than half a second; quadratic time would be hours.
    assert.ok(performance.now() - start < 10_000);
  });
}

test("no text throws", () => {
  const pieces = fc.constantFrom(
    "[",
    "]",
    "(",
    ")",
    ",",
    "'",
    '"',
    "1",
    " ",
    "\n",
    "array",
    "dtype=",
    "x",
    "\\",
    "...",
    "Float32Array",
    "=",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: "binary" }),
        fc.array(pieces).map((all) => all.join("")),
      ),
      (text) => {
        const edited = withText(into("float32"), text);
        assert.ok("input" in edited ? edited.input.values.length >= 0 : edited.error.length > 0);
      },
    ),
    { numRuns: 1000 },
  );
});
