/**
 * Exports a state as a NumPy program. For repeated targets, an assignment keeps the last update, and a function's `at`
 * method applies all updates in order.
 */

import { DTYPES, type DType, type Tensor } from "ndscatter";
import type { State } from "../values/state.ts";
import type { CallFacts } from "./call-facts.ts";
import { printPythonList, pythonProgram, pythonShape, type Library } from "./python.ts";

/** Returns Python code that prints the output, or only comments if a value must be corrected first. */
export const asNumPy = (state: State): string => pythonProgram(state, NUMPY);

/**
 * NumPy's data type names; types that NumPy lacks come from the package ml_dtypes. Strings become objects, because
 * NumPy's string type has a fixed maximum length.
 */
const NAMES: Readonly<Record<DType, string>> = {
  bool: "bool",
  string: "object",
  float16: "np.float16",
  bfloat16: "ml_dtypes.bfloat16",
  float32: "np.float32",
  float64: "np.float64",
  int8: "np.int8",
  int16: "np.int16",
  int32: "np.int32",
  int64: "np.int64",
  uint8: "np.uint8",
  uint16: "np.uint16",
  uint32: "np.uint32",
  uint64: "np.uint64",
  complex64: "np.complex64",
  complex128: "np.complex128",
  float8e4m3fn: "ml_dtypes.float8_e4m3fn",
  float8e4m3fnuz: "ml_dtypes.float8_e4m3fnuz",
  float8e5m2: "ml_dtypes.float8_e5m2",
  float8e5m2fnuz: "ml_dtypes.float8_e5m2fnuz",
  uint4: "ml_dtypes.uint4",
  int4: "ml_dtypes.int4",
  float4e2m1: "ml_dtypes.float4_e2m1fn",
  float8e8m0: "ml_dtypes.float8_e8m0fnu",
  uint2: "ml_dtypes.uint2",
  int2: "ml_dtypes.int2",
  float6e2m3: "ml_dtypes.float6_e2m3fn",
  float6e3m2: "ml_dtypes.float6_e3m2fn",
};

function printArray(input: Tensor): string {
  const { dtype, shape } = input;
  const name = NAMES[dtype];
  // In NumPy, an empty list has one axis, so the shape must be given.
  return shape.includes(0)
    ? `np.zeros(${pythonShape(shape)}, dtype=${name})`
    : `np.array(${printPythonList(input, "np")}, dtype=${name})`;
}

const UFUNCS = {
  add: "add",
  mean: "add",
  mul: "multiply",
  max: "maximum",
  min: "minimum",
  sub: "subtract",
} as const;

/**
 * Returns a line that applies updates to `target` at `where`. The function's `at` method applies updates one by one.
 */
function applied(facts: CallFacts, target: string, where: string, updates: string): string {
  const { reduction, data } = facts;
  if (reduction === "none") return `${target}[${where}] = ${updates}`;
  // NumPy does not support subtraction of booleans.
  const ufunc = data.dtype === "bool" && reduction === "sub" ? "logical_xor" : UFUNCS[reduction];
  return `np.${ufunc}.at(${target}, ${where}, ${updates})`;
}

function apply(facts: CallFacts): readonly string[] {
  const { names, reduction, isFresh, isScalar } = facts;
  const { data, output, updates } = names;
  const copy = `${output} = ${data}.copy()`;
  if (reduction === "none" || (!isFresh && reduction !== "mean")) {
    // NumPy would store the whole string array as one object in one element.
    return [copy, applied(facts, output, "at", isScalar ? `${updates}[()]` : updates)];
  }
  return [
    copy,
    `flat = np.arange(${data}.size).reshape(${data}.shape)[at].ravel()`,
    `values = ${updates}.ravel()`,
    ...(isFresh
      ? [
          "# The first update of each target replaces data; later updates are combined with it.",
          "_, first = np.unique(flat, return_index=True)",
          "later = np.delete(np.arange(flat.size), first)",
          `${output}.reshape(-1)[flat[first]] = values[first]`,
          applied(facts, `${output}.reshape(-1)`, "flat[later]", "values[later]"),
        ]
      : [applied(facts, `${output}.reshape(-1)`, "flat", "values")]),
    ...(reduction === "mean"
      ? [
          `count = np.bincount(flat, minlength=${data}.size).reshape(${data}.shape)${isFresh ? "" : " + 1"}`,
          ...division(facts),
        ]
      : []),
  ];
}

/** Divides sums by their counts. Integers are rounded down; other types are divided as doubles. */
function division({ names: { output }, data: { dtype } }: CallFacts): string[] {
  const { family } = DTYPES[dtype];
  const isWhole = family === "int" || family === "int64";
  const wide = family === "complex" ? "np.complex128" : "np.float64";
  const divided = isWhole
    ? dtype === "uint64"
      ? `${output}[hit] // count[hit].astype(np.uint64)`
      : `${output}[hit] // count[hit]`
    : `${output}[hit].astype(${wide}) / count[hit]`;
  return ["hit = count > 1", `${output}[hit] = (${divided}).astype(${output}.dtype)`];
}

const NUMPY: Library = {
  name: "NumPy",
  home: "np",
  refusal: () => null,
  imports: (inputs) => [
    ...(inputs.some((input) => input && NAMES[input.dtype].startsWith("ml_dtypes."))
      ? ["import ml_dtypes"]
      : []),
    "import numpy as np",
  ],
  tensor: printArray,
  remarks: () => [],
  print: (output) => `print(repr(${output}))`,
  copy: (data) => `${data}.copy()`,
  whole: ({ names, indices }) =>
    ["int32", "int64"].includes(indices?.dtype ?? "")
      ? `${names.indices}`
      : `${names.indices}.astype(np.int64)`,
  columns: (indices) => `np.moveaxis(${indices}, -1, 0)`,
  mesh: (shape) => `list(np.indices(${shape}, sparse=True))`,
  apply,
  emptyTuples(facts) {
    const { data, indices, output, updates } = facts.names;
    if (facts.form === "gather-tuples") {
      return [`${output} = np.broadcast_to(${data}, ${indices}.shape[:-1] + ${data}.shape)`];
    }
    return [
      "# Each empty tuple addresses all of data, here as row 0 of a one-row array.",
      `${output} = ${data}[np.newaxis].copy()`,
      `at = (np.zeros(${indices}.shape[:-1], dtype=int),)`,
      applied(facts, output, "at", updates),
      `${output} = ${output}[0]`,
    ];
  },
  gatherElements(facts) {
    const { names, axis } = facts;
    return [
      "# Along other axes, indices may be smaller than data.",
      `part = tuple(slice(None) if d == ${axis} else slice(n) for d, n in enumerate(${names.indices}.shape))`,
      `${names.output} = np.take_along_axis(${names.data}[part], ${NUMPY.whole(facts)}, ${axis})`,
    ];
  },
  gatherSlices: (facts) => [
    `${facts.names.output} = np.take(${facts.names.data}, ${NUMPY.whole(facts)}, axis=${facts.axis})`,
  ],
};
