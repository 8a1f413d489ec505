/** Elements as text, and what edits keep of them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { tensor, type DType } from "ndscatter";
import { printScalar } from "ndscatter/operators";
import { withDType, withShape, withValue } from "../../src/document/edit.ts";
import { parseScalar, printElement } from "../../src/values/scalar-text.ts";
import type { TensorText } from "../../src/values/state.ts";
import { elementsOf, tensorOf, textOf } from "../../src/values/tensor-text.ts";
import { tensorTexts } from "./states.ts";
import { coordinatesOf, positionOf } from "../../src/values/shape.ts";
import { anyText } from "../support/any-text.ts";

type Typed = readonly [dtype: DType, text: string, value: unknown];

// prettier-ignore
const TYPED: readonly Typed[] = [
  ["int32", "12", 12], ["int32", " -3 ", -3], ["int32", "+3", 3], ["int32", "0xff", 255], ["int32", "-0x10", -16],
  ["int32", "1_000", 1000], ["int32", "2.0", 2], ["int32", "1e3", 1000], ["int32", "3.", 3],
  ["int64", "9223372036854775807", 9223372036854775807n], ["int64", "-9007199254740993", -9007199254740993n],
  ["uint64", "18446744073709551615", 18446744073709551615n], ["int4", "-8", -8],
  ["float64", "1.", 1], ["float64", ".5", 0.5], ["float64", "-1e-3", -0.001], ["float64", "-0", -0],
  ["float64", "inf", Infinity], ["float64", "-Infinity", -Infinity], ["float64", "NaN", NaN],
  ["float32", "0.1", Math.fround(0.1)], ["float16", "2049", 2048], ["float32", "16777217", 16777216],
  // Rounded once: by way of a double it would be 2^60.
  ["float32", "1152921573326323713", 1152921642045800448],
  ["bool", "true", true], ["bool", "False", false], ["bool", "1", true], ["bool", "0", false],
  ["string", " 1 ", " 1 "], ["string", "", ""],
  ["complex64", "1+2j", [1, 2]], ["complex64", "-1.5e-3-2.5j", [Math.fround(-1.5e-3), -2.5]],
  ["complex64", "j", [0, 1]], ["complex64", "-j", [0, -1]], ["complex64", "3", [3, 0]],
  ["complex64", "(1-infj)", [1, -Infinity]],
  ["complex64", "1+2i", [1, 2]], ["complex64", "1 + 2j", [1, 2]], ["complex64", "[1, 2]", [1, 2]],
  ["complex64", "1e5j", [0, 1e5]], ["complex64", "1e+5-nanj", [1e5, NaN]], ["complex64", "1-0j", [1, -0]],
];

for (const [dtype, text, value] of TYPED) {
  test(`${JSON.stringify(text)} as ${dtype}`, () => {
    const { tensor: made, wrong } = tensorOf({ dtype, shape: [], values: [text] }, "it");
    assert.deepEqual(wrong, []);
    assert.deepEqual(elementsOf(made)[0], value);
  });
}

// prettier-ignore
const WRONG: readonly (readonly [DType, string])[] = [
  ["int32", ""], ["int32", "x"], ["int32", "1.5"], ["int32", "2147483648"], ["int32", "nan"], ["int32", "1 2"],
  ["int64", "9223372036854775808"], ["int4", "8"], ["uint8", "-1"], ["float32", "1,5"], ["float32", "1.2.3"],
  ["float32", "e5"], ["float32", "."], ["float32", "true"], ["float32", "--1"], ["bool", "2"], ["bool", "yes"],
  ["complex64", "1+2"],
  ["complex64", "1 2j"], ["complex64", "1+2j+3j"], ["complex64", "[1, 2, 3]"], ["complex64", "k"], ["float8e8m0", "0"],
  ["float64", "9".repeat(401)],
];

for (const [dtype, text] of WRONG) {
  test(`${JSON.stringify(text.slice(0, 20))} is no ${dtype}`, () => {
    const { tensor: made, wrong } = tensorOf({ dtype, shape: [2], values: ["1", text] }, "it");
    assert.deepEqual(
      wrong.map(({ at }) => at),
      [[1]],
    );
    assert.match(wrong[0].sentence, new RegExp(`^${dtype} cannot hold [^]{1,60}$`));
    assert.equal(made.size, 2);
  });
}

test("a tensor's text holds its elements, of every data type, except the bits of a NaN", () => {
  fc.assert(
    fc.property(tensorTexts(), (text) => {
      const { tensor: once } = tensorOf(text, "it");
      const written = textOf(once);
      const { tensor: again, wrong } = tensorOf(written, "it");
      assert.deepEqual(wrong, []);
      assert.deepEqual(elementsOf(again), elementsOf(once));
      assert.deepEqual(textOf(again), written);
    }),
  );
});

test("long text that is no number is refused in linear time", () => {
  const texts = [
    `${"1".repeat(398)}x`,
    `${"1_".repeat(199)}x`,
    `${"1+".repeat(199)}j`,
    "1e".repeat(199),
  ];
  const before = process.cpuUsage();
  for (const text of texts) {
    const values = Array<string>(5000).fill(text);
    for (const dtype of ["float32", "complex64"] as const) {
      assert.equal(tensorOf({ dtype, shape: [5000], values }, "it").wrong.length, 5000);
    }
  }
  // The processor's time, because other tests run beside this one. It takes two seconds; quadratic time would be minutes.
  assert.ok(process.cpuUsage(before).user < 10e6);
});

test("text never throws", () => {
  const dtypes = fc.constantFrom<DType>("float32", "int64", "bool", "complex64");
  const digits = fc
    .array(fc.constantFrom(..."0123456789.+-eEjinfa_x[](), "))
    .map((all) => all.join(""));
  fc.assert(
    fc.property(dtypes, fc.oneof(anyText(), digits), (dtype, text) => {
      const value = parseScalar(dtype, text);
      assert.ok(value !== undefined);
      tensorOf({ dtype, shape: [], values: [text] }, "it");
    }),
    { numRuns: 2000 },
  );
});

const SQUARE: TensorText = { dtype: "int32", shape: [2, 2], values: ["1", "2", "3", "4"] };

const shaped = (input: TensorText, shape: readonly number[]): TensorText => {
  const edited = withShape(input, shape);
  assert.ok("input" in edited);
  return edited.input;
};

// prettier-ignore
const SHAPES: readonly (readonly [shape: readonly number[], values: string])[] = [
  [[3, 2], "1 2 3 4 0 0"], [[2, 3], "1 2 0 3 4 0"], [[1, 2], "1 2"], [[2, 1], "1 3"], [[0, 2], ""],
  [[1, 2, 2], "1 2 3 4"], [[2, 2, 1], "1 2 3 4"], [[4], "1 2 3 4"],
  // An axis at the end: the first along it stays.
  [[2, 2, 2], "1 0 2 0 3 0 4 0"], [[2], "1 3"], [[], "1"],
  // Leading axes, aligned at the last.
  [[2, 1, 2], "1 2 3 4"], [[2, 3, 2], "1 2 3 4 0 0 0 0 0 0 0 0"], [[3], "1 2 0"],
];

for (const [shape, values] of SHAPES) {
  test(`[2, 2] as [${shape.join(", ")}]`, () => {
    assert.deepEqual(shaped(SQUARE, shape), {
      dtype: "int32",
      shape,
      values: values === "" ? [] : values.split(" "),
    });
  });
}

test("a shape that the page does not show is refused", () => {
  for (const shape of [
    [-1],
    [1.5],
    [1, 1, 1, 1, 1, 1],
    [200, 200],
    [2 ** 53],
    [0, 2 ** 32],
    [NaN],
  ]) {
    assert.ok("error" in withShape(SQUARE, shape), String(shape));
  }
});

test("growing and shrinking keep every value that stays, at its coordinates", () => {
  const dims = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(tensorTexts(), dims, (input, other) => {
      const shape = other.slice(0, input.shape.length);
      const grown = shaped(input, shape);
      for (const [position, value] of grown.values.entries()) {
        const at = coordinatesOf(position, shape);
        const isOld = at.every((coordinate, axis) => coordinate < input.shape[axis]);
        if (isOld) assert.equal(value, input.values[positionOf(at, input.shape)]);
        else assert.deepEqual(tensorOf({ ...input, shape: [], values: [value] }, "it").wrong, []);
      }
      const largest = shape.map((dim, axis) => Math.max(dim, input.shape[axis]));
      assert.deepEqual(shaped(shaped(input, largest), input.shape), input);
    }),
  );
});

test("an element gets another text, and nothing else changes", () => {
  assert.deepEqual(withValue(SQUARE, [1, 0], "x").values, ["1", "2", "x", "4"]);
  assert.deepEqual(SQUARE.values, ["1", "2", "3", "4"]);
  for (const at of [[2, 0], [0], [-1, 0], [0, 0.5], []])
    assert.equal(withValue(SQUARE, at, "x"), SQUARE);
});

test("another data type keeps what was typed, but converts booleans", () => {
  assert.deepEqual(withDType(SQUARE, "float32"), { ...SQUARE, dtype: "float32" });
  const bits: TensorText = { dtype: "int32", shape: [3], values: ["0", "1", "2"] };
  assert.deepEqual(withDType(bits, "bool").values, ["false", "true", "2"]);
  assert.deepEqual(withDType(withDType(bits, "bool"), "uint8").values, ["0", "1", "2"]);
  assert.deepEqual(withDType({ dtype: "string", shape: [1], values: [""] }, "int32").values, ["0"]);
});

test("the page reads the elements that it prints", () => {
  const values = [1e-45, 3.4028234663852886e38, -0, NaN, -Infinity, 0.1];
  const text = textOf(tensor("float32", [6], values));
  assert.deepEqual(text.values, ["1e-45", "3.4028235e+38", "-0", "nan", "-inf", "0.1"]);
});

test("a float32 has the text that the library prints", () => {
  const edges = [0, -0, 0.1, 0.3, 1e-6, 9e-7, 1e-7, 999999, 1e6, 1e7, 1e21, 1e-46, 16777217];
  const near = [1, 0.1, 1234.5, 99999.9, 0.000001, 8.5].flatMap((value) => {
    const [cell, bits] = [new Float32Array([value]), new Uint32Array(1)];
    // The floats on both sides of the value, too.
    return [-1, 0, 1].map((step) => {
      bits.set(new Uint32Array(cell.buffer));
      bits[0] += step;
      return new Float32Array(bits.buffer.slice(0))[0];
    });
  });
  let random = 1;
  const many = Array.from({ length: 5000 }, (_, i) => {
    random = (random * 1103515245 + 12345) % 2 ** 31;
    return Math.fround((random % 2 ** 20) / 2 ** (i % 24));
  });
  // The page writes infinities as NumPy does.
  assert.equal(printElement("float32", 1e39), "inf");
  for (const value of [...edges, ...near, ...many]) {
    for (const signed of [value, -value]) {
      assert.equal(printElement("float32", signed), printScalar("float32", signed), String(signed));
    }
  }
});
