import assert from "node:assert/strict";
import { test } from "node:test";
import {
  allocate,
  DTYPE_NAMES,
  DTYPES,
  reductionsOf,
  type DType,
  type Reduction,
  type Storage,
} from "../../src/core/tensor/dtype.ts";
import * as reference from "../support/reference.ts";
import { scatterND } from "../../src/core/operators/tuples.ts";
import { EXECUTOR, runPlain } from "../../src/core/call/run.ts";
import { run } from "../../src/core/functions.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor, Tensor } from "../../src/core/tensor/tensor.ts";
import { ENGINES } from "../support/engines.ts";

/** `data`, then each update in turn, gives `result`. Written as bits where a string of hex digits, else as a value. */
type Cell = number | bigint | string | boolean | readonly [Cell, Cell];
type Row = readonly [
  dtype: DType,
  reduction: Reduction,
  data: Cell,
  updates: readonly Cell[],
  result: Cell,
];

const NAN32 = "7fc00000";
const NAN64 = "7ff8000000000000";

// prettier-ignore
const ROWS: readonly Row[] = [
  // Floats: IEEE, rounded to the type at each step.
  ["float32", "add", 16777216, [1, 1], 16777216],
  ["float32", "add", 1e8, [1, -1e8], 0],
  ["float32", "add", "7f7fffff", ["7f7fffff"], Infinity],
  ["float32", "add", Infinity, [-Infinity], NAN32],
  ["float32", "add", -0, [-0], -0],
  ["float32", "add", -0, [0], 0],
  ["float32", "mul", 0.1, [0.1], "3c23d70b"],
  ["float32", "mul", "00000001", [0.5], 0],
  ["float32", "mul", 0, [-Infinity], NAN32],
  ["float32", "sub", 1, [1], 0],
  ["float32", "sub", Infinity, [Infinity], NAN32],
  ["float64", "add", 0.1, [0.2], 0.30000000000000004],
  ["float64", "add", 9007199254740992, [1, 1], 9007199254740992],
  ["float64", "mul", 1e200, [1e200], Infinity],
  // A NaN that a reduction produces is canonical, whatever came in; either operand gives it.
  ["float32", "add", "7fa00001", [1], NAN32],
  ["float32", "add", 1, ["ffc12345"], NAN32],
  ["float64", "mul", "fff8000000000001", [1], NAN64],
  ["float32", "max", NaN, [1], NAN32],
  ["float32", "max", 1, ["7fc00001"], NAN32],
  ["float32", "min", 1, [NaN, -5], NAN32],
  ["float64", "min", "7ff4000000000001", [-Infinity], NAN64],
  // max and min: -0 before 0.
  ["float32", "max", -0, [0], 0],
  ["float32", "max", 0, [-0], 0],
  ["float32", "min", 0, [-0], -0],
  ["float32", "min", -0, [0], -0],
  ["float64", "max", -Infinity, [-1e308, 5], 5],
  // Moves keep every bit, of signalling NaNs too.
  ["float32", "none", 1, ["7fa00001"], "7fa00001"],
  ["float64", "none", 1, ["7ff4dead0000beef"], "7ff4dead0000beef"],
  ["float16", "none", "3c00", ["7d01"], "7d01"],
  ["complex64", "none", [1, 2], [["7fa00001", -0]], ["7fa00001", -0]],
  // float16: 2048 + 1 is a tie that goes to even, at each step.
  ["float16", "add", "6800", ["3c00", "3c00"], "6800"],
  ["float16", "add", "6800", ["4000"], "6801"],
  ["float16", "add", "6800", ["4000", "3c00"], "6802"],
  ["float16", "add", "7bff", ["4b00", "4c00"], "7c00"],
  ["float16", "add", "7c00", ["3c00", "fc00"], "7e00"],
  ["float16", "add", "3c00", ["fd01", "3c00"], "7e00"],
  ["float16", "add", "8000", ["8000", "8000"], "8000"],
  ["float16", "add", "8001", ["0003", "8001"], "0001"],
  ["float16", "add", "7bff", ["4c00"], "7c00"],
  ["float16", "add", "7bff", ["4b00"], "7bff"],
  ["float16", "add", "0001", ["0001"], "0002"],
  ["float16", "mul", "0001", ["3800"], "0000"],
  ["float16", "mul", "0003", ["3800"], "0002"],
  ["float16", "mul", "3555", ["4200"], "3c00"],
  ["float16", "max", "8000", ["0000"], "0000"],
  ["float16", "min", "0000", ["8000"], "8000"],
  ["float16", "max", "7d01", ["3c00"], "7e00"],
  ["float16", "sub", "7c00", ["7c00"], "7e00"],
  ["float16", "sub", "3c00", ["3c01"], "9400"],
  // bfloat16: 256 + 1 is such a tie.
  ["bfloat16", "add", "4380", ["3f80", "3f80"], "4380"],
  ["bfloat16", "add", "4380", ["4000"], "4381"],
  ["bfloat16", "add", "7f7f", ["7f7f"], "7f80"],
  ["bfloat16", "mul", "3f81", ["3f81"], "3f82"],
  ["bfloat16", "min", "3f80", ["ff81"], "7fc0"],
  ["bfloat16", "mul", "0080", ["3f00"], "0040"],
  // Integers wrap; products keep their low bits, which a double would lose.
  ["int8", "add", 127, [1], -128],
  ["int8", "sub", -128, [1], 127],
  ["int8", "mul", 100, [3], 44],
  ["uint8", "add", 250, [10], 4],
  ["uint8", "sub", 0, [1], 255],
  ["uint8", "mul", 255, [255], 1],
  ["int16", "add", 32767, [1], -32768],
  ["int16", "mul", 300, [300], 24464],
  ["uint16", "mul", 65535, [65535], 1],
  ["int32", "add", 2147483647, [1], -2147483648],
  ["int32", "mul", 123456789, [987654321], -67153019],
  ["uint32", "mul", 4294967295, [4294967295], 1],
  ["uint32", "sub", 0, [1], 4294967295],
  ["int64", "add", 9223372036854775807n, [1n], -9223372036854775808n],
  ["int64", "add", 4294967295n, [1n], 4294967296n],
  ["int64", "sub", 4294967296n, [1n], 4294967295n],
  ["int64", "sub", -9223372036854775808n, [1n], 9223372036854775807n],
  ["int64", "mul", 3037000500n, [3037000500n], -9223372036709301616n],
  ["int64", "mul", -1n, [9223372036854775807n], -9223372036854775807n],
  ["uint64", "mul", 18446744073709551615n, [18446744073709551615n], 1n],
  ["uint64", "add", 18446744073709551615n, [2n], 1n],
  // Their order is that of their sign.
  ["int8", "max", -1, [1], 1],
  ["uint8", "max", 255, [1], 255],
  ["uint8", "min", 128, [127], 127],
  ["int16", "min", -32768, [32767], -32768],
  ["uint16", "max", 32768, [32767], 32768],
  ["int32", "max", -2147483648, [2147483647], 2147483647],
  ["uint32", "max", 2147483648, [2147483647], 2147483648],
  ["uint32", "min", 4294967295, [0], 0],
  ["int64", "max", -1n, [4294967296n], 4294967296n],
  ["int64", "min", -4294967297n, [-4294967296n], -4294967297n],
  ["uint64", "max", 9223372036854775808n, [9223372036854775807n], 9223372036854775808n],
  ["uint64", "min", 4294967295n, [4294967296n], 4294967295n],
  // Truth values.
  ...([[false, false], [false, true], [true, false], [true, true]] as const).flatMap(([a, b]): Row[] => [
    ["bool", "add", a, [b], a || b],
    ["bool", "mul", a, [b], a && b],
    ["bool", "max", a, [b], a || b],
    ["bool", "min", a, [b], a && b],
    ["bool", "sub", a, [b], a !== b],
  ]),
  // Complex: products and sums rounded one by one; order by real, then imaginary part.
  ["complex64", "add", [1, 2], [[3, -5]], [4, -3]],
  ["complex64", "sub", [1, 2], [[3, -5]], [-2, 7]],
  ["complex64", "mul", [1, 2], [[3, 4]], [-5, 10]],
  ["complex64", "mul", [1 + 2 ** -12, 1], [[1 + 2 ** -12, 1]], [2 ** -11, 2 + 2 ** -11]],
  ["complex128", "mul", [1 + 2 ** -30, 1], [[1 + 2 ** -30, 1]], [2 ** -29, 2 + 2 ** -29]],
  ["complex64", "mul", [Infinity, 0], [[0, 1]], [NAN32, Infinity]],
  ["complex64", "max", [1, 9], [[2, 0]], [2, 0]],
  ["complex64", "max", [2, 1], [[2, 3]], [2, 3]],
  ["complex128", "min", [2, 1], [[2, -3]], [2, -3]],
  ["complex64", "max", [NaN, 1], [[NaN, 2]], [NAN32, 1]],
  ["complex64", "max", [1, 1], [[0, NaN]], [0, NAN32]],
  ["complex64", "min", [1, NaN], [[0, 0]], [1, NAN32]],
  ["complex64", "max", [-0, 5], [[0, 1]], [-0, 5]],
  ["complex64", "max", [-0, 1], [[0, 1]], [0, 1]],
  ["complex64", "min", [0, 0], [[0, -0]], [0, -0]],
  // A mean counts what is there: the sum of all, over how many they are. That of integers is rounded down.
  ["float32", "mean", 1, [2, 6], 3],
  ["float32", "mean", 1, [1, -1], "3eaaaaab"],
  ["float32", "mean", -0, [-0], -0],
  ["float32", "mean", 1, ["7fa00001"], NAN32],
  ["float64", "mean", 1, [1, -1], "3fd5555555555555"],
  ["float16", "mean", "6800", ["3c00"], "6400"],
  ["bfloat16", "mean", "4380", ["3f80"], "4300"],
  ["int8", "mean", -3, [-4], -4],
  ["int8", "mean", 100, [100], -28],
  ["uint8", "mean", 5, [2], 3],
  ["uint32", "mean", 4294967295, [0], 2147483647],
  ["int64", "mean", -3n, [-4n], -4n],
  ["int64", "mean", 9007199254740993n, [9007199254740993n], 9007199254740993n],
  ["uint64", "mean", 18446744073709551615n, [0n], 9223372036854775807n],
  ["complex64", "mean", [1, 2], [[3, -5]], [2, -1.5]],
  ["complex128", "mean", [1, NaN], [[3, 1]], [2, NAN64]],
  // What has no arithmetic here is moved, every bit of it.
  ["float8e4m3fn", "none", "7f", ["ff"], "ff"],
  ["float8e5m2", "none", "00", ["7d"], "7d"],
  ["float4e2m1", "none", 0, [15], 15],
  ["int4", "none", 7, [-8], -8],
  ["uint2", "none", 0, [3], 3],
  ["int2", "none", 1, [-2], -2],
  // Text: appended in order, compared by code point (U+FFFF comes before U+10000, unlike in UTF-16).
  ["string", "none", "a", ["b", "c"], "c"],
  ["string", "add", "a", ["b", "", "c"], "abc"],
  ["string", "max", "a", ["ab", "B"], "ab"],
  ["string", "min", "b", ["a", "aa"], "a"],
  ["string", "max", "\u{ffff}", ["\u{10000}"], "\u{10000}"],
  ["string", "min", "\u{10000}", ["\u{ffff}"], "\u{ffff}"],
];

/** A tensor of one axis with the cells as its elements. */
function tensorOf(dtype: DType, cells: readonly Cell[]): Tensor {
  const { bytes, lanes } = DTYPES[dtype];
  const data: Storage = allocate(dtype, cells.length);
  const parts = dtype === "string" ? cells : (cells.flat() as Cell[]);
  for (const [position, part] of parts.entries()) {
    if (typeof part === "string" && ArrayBuffer.isView(data)) {
      const width = bytes / lanes;
      const view = new DataView(data.buffer, position * width, width);
      for (let byte = 0; byte < width; byte++) {
        view.setUint8(byte, parseInt(part.slice(2 * (width - byte - 1)).slice(0, 2), 16));
      }
    } else {
      data[position] = (typeof part === "boolean" ? Number(part) : part) as never;
    }
  }
  return new Tensor(dtype, [cells.length], cells.length, data);
}

for (const [dtype, reduction, data, updates, result] of ROWS) {
  const show = (value: unknown) => String(value);
  test(`${dtype} ${show(data)} ${reduction} ${updates.map(show).join(` ${reduction} `)} is ${show(result)}`, () => {
    // Alone, and as slices of three and eight, which take other paths.
    for (const slice of [1, 3, 8]) {
      const repeat = (cell: Cell) => Array.from({ length: slice }, () => cell);
      const before = reshaped(tensorOf(dtype, repeat(data)), [1, slice]);
      const change = reshaped(tensorOf(dtype, updates.flatMap(repeat)), [updates.length, slice]);
      const expected = reshaped(tensorOf(dtype, repeat(result)), [1, slice]);
      const indices = tensor(
        "int64",
        [updates.length, 1],
        updates.map(() => 0),
      );
      for (const [name, engine] of Object.entries(ENGINES)) {
        const output = runPlain(engine[EXECUTOR], scatterND, [before, indices, change], {
          reduction,
        });
        if (!equals(output, expected)) assert.fail(`${name}: ${output} is not ${expected}`);
      }
      const output = reference.scatterND(before, indices, change, reduction);
      if (!equals(output, expected)) assert.fail(`reference: ${output} is not ${expected}`);
    }
  });
}

/** The bits of values in each float type: `payload` is a NaN with a payload, `negative` one with the sign bit. */
// prettier-ignore
const BITS: Readonly<Partial<Record<DType, Readonly<Record<string, string>>>>> = {
  float32: { "0.5": "3f000000", 1: "3f800000", 2: "40000000", 3: "40400000", 5: "40a00000", 0: "00000000", "-0": "80000000", nan: NAN32, payload: "7fc01234", negative: "ffc05678", tiny: "00000001" },
  float64: { "0.5": "3fe0000000000000", 1: "3ff0000000000000", 2: "4000000000000000", 3: "4008000000000000", 5: "4014000000000000", 0: "0000000000000000", "-0": "8000000000000000", nan: NAN64, payload: "7ff8000000001234", negative: "fff8000000005678", tiny: "0000000000000001" },
  float16: { "0.5": "3800", 1: "3c00", 2: "4000", 3: "4200", 5: "4500", 0: "0000", "-0": "8000", nan: "7e00", payload: "7e12", negative: "fe34", tiny: "0001" },
  bfloat16: { "0.5": "3f00", 1: "3f80", 2: "4000", 3: "4040", 5: "40a0", 0: "0000", "-0": "8000", nan: "7fc0", payload: "7fd1", negative: "ffd2", tiny: "0001" },
};

/**
 * Data, the updates, and the results of max and min as OpenVINO's reference implementation (`Model.evaluate` of
 * 2026.4.1) computes them in float32, float16 and bfloat16; it does not evaluate float64.
 */
// prettier-ignore
const COMPARED: Readonly<Record<"ScatterNDUpdate" | "ScatterElementsUpdate", readonly string[]>> = {
  // The value in data stays unless the update is greater or less.
  ScatterNDUpdate: [
    "1: nan = 1, 1", "nan: 1 = nan, nan", "0: -0 = 0, 0", "-0: 0 = -0, -0", "2: 3 = 3, 2",
    "payload: 0 = payload, payload", "0: negative = 0, 0", "payload: negative = payload, payload",
    "tiny: 0 = tiny, 0", "0: tiny = tiny, 0", "1: nan 2 nan = 2, 1", "nan: 3 nan = nan, nan",
    "0: -0 0 = 0, 0", "-0: 0 -0 = -0, -0", "1: nan 0.5 = 1, 0.5", "1: 5 nan = 5, 1",
  ],
  // The update stays unless the old value is greater or less.
  ScatterElementsUpdate: [
    "1: nan = nan, nan", "nan: 1 = 1, 1", "0: -0 = -0, -0", "-0: 0 = 0, 0", "2: 3 = 3, 2",
    "payload: 0 = 0, 0", "0: negative = negative, negative", "payload: negative = negative, negative",
    "tiny: 0 = tiny, 0", "0: tiny = tiny, 0", "1: nan 2 nan = nan, nan", "nan: 3 nan = nan, nan",
    "0: -0 0 = 0, 0", "-0: 0 -0 = -0, -0", "1: nan 0.5 = 0.5, 0.5", "1: 5 nan = nan, nan",
  ],
};

for (const [op, rows] of Object.entries(COMPARED)) {
  const isElements = op === "ScatterElementsUpdate";
  for (const [dtype, bits] of Object.entries(BITS) as [DType, Record<string, string>][]) {
    test(`${op} compares ${dtype} as OpenVINO's reference does`, () => {
      for (const row of rows) {
        const [data, updates, results] = row.split(/: | = /);
        const list = updates.split(" ").map((word) => bits[word]);
        for (const [at, reduction] of ["max", "min"].entries()) {
          const { length } = list;
          const zeros = Array.from({ length }, () => 0);
          const inputs = [
            tensorOf(dtype, [bits[data]]),
            tensor("int64", isElements ? [length] : [length, 1], zeros),
            tensorOf(dtype, list),
            ...(isElements ? [tensor("int64", [], 0)] : []),
          ];
          const node = {
            ...{ domain: "openvino", op, opset: isElements ? 12 : 15 },
            attributes: { reduction },
          };
          const expected = tensorOf(dtype, [bits[results.split(", ")[at]]]);
          for (const [name, engine] of Object.entries(ENGINES)) {
            const [output] = run(node, inputs, { engine });
            assert.ok(equals(output, expected), `${name}, ${reduction}, ${row}: ${output}`);
          }
        }
      }
    });
  }
}

const reshaped = ({ dtype, size, data }: Tensor, shape: readonly number[]) =>
  new Tensor(dtype, shape, size, data);

test("every data type has a row for each of its reductions", () => {
  for (const dtype of DTYPE_NAMES) {
    const { family } = DTYPES[dtype];
    for (const reduction of reductionsOf(dtype)) {
      const isTold = ROWS.some(
        ([other, word]) =>
          DTYPES[other].family === family && (word === reduction || reduction === "none"),
      );
      assert.ok(isTold, `${dtype} ${reduction}`);
    }
  }
});

test("no loop meets more than four array classes", () => {
  // Moves see bits of 1, 2 and 4 bytes and lists of text; integers are combined through the three signed classes.
  const classesOf = new Map<string, Set<unknown>>();
  for (const dtype of DTYPE_NAMES) {
    const { family, storage } = DTYPES[dtype];
    const classes = classesOf.get(family) ?? new Set();
    classesOf.set(family, classes.add(storage));
  }
  for (const [family, classes] of classesOf) {
    if (family !== "int") assert.ok(classes.size <= 4, `${family} meets ${classes.size}`);
  }
});
